// SPDX-License-Identifier: Apache-2.0
// The text of a trace piece by piece, unpacked on the way where it is gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headroom {

class TraceText {
 public:
  /// Most bytes of text that are read: a trace of one rank for some minutes.
  static constexpr std::uint64_t most = std::uint64_t{16} << 30U;

  /// ConfigError where the file cannot be opened (InputFile).
  explicit TraceText(const std::string& path);
  ~TraceText();
  TraceText(const TraceText&) = delete;
  TraceText& operator=(const TraceText&) = delete;
  TraceText(TraceText&&) = delete;
  TraceText& operator=(TraceText&&) = delete;

  /// The next piece, which stays until another is asked for; empty at the end. ConfigError where packed bytes are
  /// damaged or break off, and where the text is larger than `most`.
  [[nodiscard]] std::string_view next();

 private:
  struct Packed;
  std::unique_ptr<Packed> packed_;
  std::uint64_t given_ = 0;  ///< characters so far
};

}  // namespace headroom
