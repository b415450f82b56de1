// SPDX-License-Identifier: Apache-2.0
// Files that users name: one way to open them, and how much is read of them. Limits count the bytes that were read, for
// what a file says of its size is no limit: pipes and the files of /proc state none.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>

namespace headroom {

/// A text and the name to use for it in messages.
struct ConfigSource {
  std::string file;
  std::string text;
};

/// The most that is read of a file that is held in memory, and of rows that are read one after the other.
inline constexpr std::uint64_t most_text = std::uint64_t{64} << 20U;
inline constexpr std::uint64_t most_rows_text = std::uint64_t{4} << 30U;

/// How long a pipe may be without a writer before it is refused. One that has a writer is waited for.
inline constexpr std::chrono::milliseconds pipe_patience{3000};

/// Reads a whole file or pipe. ConfigError with the reason and the way out: it is missing, a folder, a device or a
/// socket, may not be read, is larger than `most`, or is a pipe that nobody writes to.
[[nodiscard]] ConfigSource read_file(const std::string& path,
                                     std::uint64_t most = most_text,
                                     std::chrono::milliseconds patience = pipe_patience);

/// The same read as a stream, part by part. Reading throws ConfigError where read_file() would: at once for what cannot
/// be opened, later for what breaks off or is too large.
class InputFile : public std::istream {
 public:
  explicit InputFile(const std::string& path, std::uint64_t most = most_text);
  ~InputFile() override;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  /// Whether it can be read once more from its start: a pipe cannot, and must not be opened twice.
  [[nodiscard]] bool rewinds() const noexcept;
  /// All of it, held in memory: ConfigError above `most_text`.
  [[nodiscard]] std::string text();

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

/// A line without its end, as std::getline; ConfigError at `file`, line `number`, where it is longer than `most` bytes.
bool read_line(std::istream& stream, std::string& line, const std::string& file, int number, std::size_t most);

}  // namespace headroom
