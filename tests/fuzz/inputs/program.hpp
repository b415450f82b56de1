// SPDX-License-Identifier: Apache-2.0
// The binary under limits, in a folder of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace headroom::fuzz {

/// What a command may use before it counts as broken.
struct Limits {
  unsigned processor_seconds = 10;
  unsigned wall_seconds = 300;                        ///< a machine may be busy with other things
  std::size_t address_bytes = std::size_t{2} << 30U;  ///< 0: as much as there is, which sanitizers need
  std::size_t file_bytes = std::size_t{256} << 20U;   ///< of one file or stream
};

struct Reply {
  int code = -1;   ///< -1: ended by a signal
  int signal = 0;  ///< 0: none
  std::string out, err;
  double seconds = 0.0;  ///< of processor time
};

/// `binary WORDS` at home in `home` and in the folder `folder`, nothing on stdin, streams in files of `home`. `data`:
/// the folder of HEADROOM_DATA_DIR; empty: none.
[[nodiscard]] Reply ask(const std::filesystem::path& binary,
                        const std::vector<std::string>& words,
                        const std::filesystem::path& folder,
                        const std::filesystem::path& home,
                        const std::filesystem::path& data,
                        const Limits& limits);

/// The bytes of a file; nothing where there is none.
[[nodiscard]] std::string text_of(const std::filesystem::path& file);
/// Writes a file and the folders that it lies in.
void write_text(const std::filesystem::path& file, const std::string& text);

/// Words as a shell takes them.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);
/// Words of a line with '...' and "..."; no other rule of a shell.
[[nodiscard]] std::vector<std::string> words_of(const std::string& line);

}  // namespace headroom::fuzz
