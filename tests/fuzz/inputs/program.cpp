// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace headroom::fuzz {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  if (stream.peek() != std::ifstream::traits_type::eof()) {
    text << stream.rdbuf();
  }
  return text.str();
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream{file, std::ios::binary} << text;
}

Reply ask(const std::filesystem::path& binary,
          const std::vector<std::string>& words,
          const std::filesystem::path& folder,
          const std::filesystem::path& home,
          const std::filesystem::path& data,
          const Limits& limits) {
  const std::string out = (home / "stdout").string();
  const std::string err = (home / "stderr").string();
  std::vector<std::string> environment{"HOME=" + home.string(), "COLUMNS=100000", "PATH=/usr/bin:/bin", "LC_ALL=C"};
  if (!data.empty()) {
    environment.push_back("HEADROOM_DATA_DIR=" + data.string());
  }
  // All that the child needs is ready before it exists: other threads of this program may hold the allocator's lock.
  std::vector<char*> variables;
  for (std::string& variable : environment) {
    variables.push_back(variable.data());
  }
  variables.push_back(nullptr);
  const std::string program = binary.string();
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const auto limit = [](auto resource, rlim_t soft, rlim_t hard) {
      const rlimit bound{soft, hard};
      setrlimit(resource, &bound);
    };
    limit(RLIMIT_CPU, limits.processor_seconds, limits.processor_seconds + 1);
    limit(RLIMIT_FSIZE, limits.file_bytes, limits.file_bytes);
    limit(RLIMIT_CORE, 0, 0);
    if (limits.address_bytes > 0) {
      limit(RLIMIT_AS, limits.address_bytes, limits.address_bytes);
    }
    alarm(limits.wall_seconds);
    const int null = open("/dev/null", O_RDONLY);
    const int to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int told = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (null < 0 || to < 0 || told < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 ||
        dup2(told, STDERR_FILENO) < 0 || chdir(folder.c_str()) != 0) {
      _exit(126);
    }
    execve(program.c_str(), arguments.data(), variables.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) {
    throw std::runtime_error{"no process for " + program};
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  Reply reply;
  reply.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  reply.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  reply.out = text_of(out);
  reply.err = text_of(err);
  reply.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return reply;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    bool plain = !word.empty();
    for (const char c : word) {
      plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                        std::string_view{"-_./=,:+@%"}.find(c) != std::string_view::npos);
    }
    line += line.empty() ? "" : " ";
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      line += c == '\'' ? "'\\''" : std::string(1, c);
    }
    line += '\'';
  }
  return line;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ') {
      if (open) {
        words.push_back(word);
      }
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) {
    words.push_back(word);
  }
  return words;
}

}  // namespace headroom::fuzz
