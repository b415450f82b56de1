// SPDX-License-Identifier: Apache-2.0
// Runs the built binary as a user would: through a shell, with no data of the user's own in sight.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../support/scratch_folder.hpp"
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headroom::test {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream{path, std::ios::binary};
  std::ostringstream text;
  if (stream.peek() != std::ifstream::traits_type::eof()) {
    text << stream.rdbuf();
  }
  return text.str();
}

struct Run {
  int code = -1;  ///< -1: ended by a signal
  std::string out, err;
  double processor_seconds = 0.0;
  std::size_t peak_memory = 0;  ///< resident bytes; no less than the test's own when it began
};

/// `headroom ARGUMENTS` in `folder`; the arguments are read by the shell, so quotes work as typed. Lines are not fitted
/// to a terminal's width, so that what is looked for in them is not broken. `data`: a folder of the user's own SKUs and
/// models; empty: none.
inline Run run_headroom(const std::string& arguments,
                        const std::filesystem::path& folder = HEADROOM_SOURCE_DIR,
                        const std::filesystem::path& data = {}) {
  const ScratchFolder home;
  const std::string out = (home.path() / "out").string();
  const std::string err = (home.path() / "err").string();
  const std::string command = "cd '" + folder.string() +
                              "' && exec env -u HEADROOM_DATA_DIR -u XDG_CONFIG_HOME COLUMNS=100000 HOME='" +
                              home.path().string() + (data.empty() ? "" : "' HEADROOM_DATA_DIR='" + data.string()) +
                              "' '" + HEADROOM_BINARY + "' " + arguments + " >'" + out + "' 2>'" + err + "'";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) {
    throw std::runtime_error{"no shell to run " + command};
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err),
          seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<std::size_t>(used.ru_maxrss) * 1024};
}

/// In a child process: the binary in its place, at home in `folder`, as one that nobody told to ignore interrupts, or
/// as one that was told to ignore the signal `ignored`.
[[noreturn]] inline void become_headroom(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& folder,
                                         int ignored = 0) {
  std::signal(SIGINT, SIG_DFL);
  if (ignored != 0) {
    std::signal(ignored, SIG_IGN);
  }
  unsetenv("HEADROOM_DATA_DIR");
  unsetenv("XDG_CONFIG_HOME");
  setenv("COLUMNS", "100000", 1);  // lines as they are, whatever is looked for in them
  setenv("HOME", folder.c_str(), 1);
  std::vector<char*> words{const_cast<char*>(HEADROOM_BINARY)};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  execv(HEADROOM_BINARY, words.data());
  _exit(127);
}

/// The binary started and not waited for, its streams in files of `folder`; without a shell, so that a signal meets the
/// program itself.
inline pid_t start_headroom(const std::vector<std::string>& arguments,
                            const std::filesystem::path& folder,
                            int ignored = 0) {
  const pid_t child = fork();
  if (child != 0) {
    return child;
  }
  for (const auto& [name, descriptor] : {std::pair{"out", STDOUT_FILENO}, std::pair{"err", STDERR_FILENO}}) {
    const int file = open((folder / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) {
      _exit(126);
    }
  }
  become_headroom(arguments, folder, ignored);
}

/// Waits for what start_headroom() started.
inline Run ended(pid_t child, const std::filesystem::path& folder) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    throw std::runtime_error{"no such child"};
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder / "out"), read_text(folder / "err")};
}

/// The binary on a terminal of its own, whose bytes, both streams in their order, are the answer's `out`: as the
/// program sends them, before the terminal makes lines of them.
inline Run run_on_terminal(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  const int ours = posix_openpt(O_RDWR | O_NOCTTY);
  const bool open_for_both = ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0;
  const char* const name = open_for_both ? ptsname(ours) : nullptr;
  const int theirs = name == nullptr ? -1 : open(name, O_RDWR | O_NOCTTY);
  termios modes{};
  if (theirs < 0 || tcgetattr(theirs, &modes) != 0) {
    throw std::runtime_error{"no terminal"};
  }
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  tcsetattr(theirs, TCSANOW, &modes);
  const pid_t child = fork();
  if (child == 0) {
    if (dup2(theirs, STDOUT_FILENO) < 0 || dup2(theirs, STDERR_FILENO) < 0) {
      _exit(126);
    }
    close(ours);
    close(theirs);
    become_headroom(arguments, folder);
  }
  close(theirs);
  Run run;
  std::array<char, 4096> piece{};
  for (;;) {  // until the program has closed the terminal, which is an error of reading
    const ssize_t length = read(ours, piece.data(), piece.size());
    if (length <= 0) {
      break;
    }
    run.out.append(piece.data(), static_cast<std::size_t>(length));
  }
  close(ours);
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    throw std::runtime_error{"no such child"};
  }
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

/// How often a test kills the binary: as HEADROOM_KILLS says, which long tests set; `quick` without it.
inline int asked_kills(int quick) {
  const char* const asked = std::getenv("HEADROOM_KILLS");
  return asked == nullptr ? quick : std::atoi(asked);
}

/// Sanitizers multiply memory and keep what was freed: what a test says of it holds without them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_is_measured = false;
#else
inline constexpr bool memory_is_measured = true;
#endif

}  // namespace headroom::test
