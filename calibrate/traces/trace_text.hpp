// SPDX-License-Identifier: Apache-2.0
// The text of a trace as a stream of characters, unpacked on the way where it is gzip.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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

  /// The next character, 0 at the end. ConfigError with the place in the file where packed bytes are damaged or break
  /// off, and where the text is larger than `most`.
  [[nodiscard]] char peek() {
    if (next_ == end_) {
      fill();
    }
    return next_ == end_ ? '\0' : *next_;
  }
  char take() {
    const char c = peek();
    next_ += next_ == end_ ? 0 : 1;
    return c;
  }
  /// Characters taken so far.
  [[nodiscard]] std::uint64_t taken() const noexcept { return before_ + static_cast<std::uint64_t>(next_ - begin_); }
  /// Line and column of the next character, from 1.
  [[nodiscard]] Position place() const;

 private:
  void fill();

  struct Packed;
  std::unique_ptr<Packed> packed_;
  const char *begin_ = nullptr, *next_ = nullptr, *end_ = nullptr;
  std::uint64_t before_ = 0;  ///< characters of the buffers before this one
  std::uint64_t lines_ = 0;   ///< ended in them
  std::uint64_t line_ = 0;    ///< where the line began that their end is in, in characters from the start
};

}  // namespace headroom
