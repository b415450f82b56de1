// SPDX-License-Identifier: Apache-2.0
// Runs the built binary as a user would: through a shell, with no data of the user's own in sight.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace headroom::test {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  std::ostringstream text;
  if (stream.peek() != std::ifstream::traits_type::eof()) {
    text << stream.rdbuf();
  }
  return text.str();
}

/// A folder of its own for one test, removed at its end: test executables of several build trees run at once.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "headroom-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error{"no scratch folder " + name};
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

struct Run {
  int code = -1;  ///< -1: ended by a signal
  std::string out, err;
};

/// `headroom ARGUMENTS` in `folder`; the arguments are read by the shell, so quotes work as typed.
inline Run run_headroom(const std::string& arguments, const std::filesystem::path& folder = HEADROOM_SOURCE_DIR) {
  const ScratchFolder home;
  const std::string out = (home.path() / "out").string();
  const std::string err = (home.path() / "err").string();
  const std::string command = "cd '" + folder.string() +
                              "' && exec env -u HEADROOM_DATA_DIR -u XDG_CONFIG_HOME HOME='" + home.path().string() +
                              "' '" + HEADROOM_BINARY + "' " + arguments + " >'" + out + "' 2>'" + err + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
}

}  // namespace headroom::test
