// SPDX-License-Identifier: Apache-2.0
// How files that users name are opened, and how much of them is read. Limits count the bytes actually read, because
// pipes and the files of /proc state no size.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>

namespace headroom {

/// A text and its name in messages.
struct ConfigSource {
  std::string file;
  std::string text;
};

/// Upper bounds in bytes: of a file that is held in memory, and of a file that is read row by row.
inline constexpr std::uint64_t most_text = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t most_rows_text = std::uint64_t{4} << 30U;

/// How long a pipe may have no writer before it is refused. A pipe with a writer is waited for without limit.
inline constexpr std::chrono::milliseconds pipe_patience{3000};

/// Reads a whole file or pipe. ConfigError with the reason and the way out if it is missing, a folder, a device or a
/// socket, may not be read, is larger than `most` bytes, or is a pipe without a writer for `patience`.
[[nodiscard]] ConfigSource read_file(const std::string& path,
                                     std::uint64_t most = most_text,
                                     std::chrono::milliseconds patience = pipe_patience);

/// Reads a file or pipe as a stream. Throws ConfigError where read_file() would: in the constructor for a file that
/// cannot be opened, during reading for one that breaks off or is too large.
class InputFile : public std::istream {
 public:
  explicit InputFile(const std::string& path, std::uint64_t most = most_text);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  /// Whether the file can be read again from its start: a pipe cannot, and must not be opened twice.
  [[nodiscard]] bool rewinds() const noexcept;
  /// The whole text, held in memory; ConfigError above `most_text` bytes.
  [[nodiscard]] std::string text();

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

/// Reads a line as std::getline does; ConfigError at line `number` of `file` if it is longer than `most` bytes.
bool read_line(std::istream& stream, std::string& line, const std::string& file, int number, std::size_t most);

}  // namespace headroom
