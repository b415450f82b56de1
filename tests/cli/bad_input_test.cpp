// SPDX-License-Identifier: Apache-2.0
// Every case of tests/bad_input: the exit code, the exact messages on stderr, and nothing half-printed on stdout.
#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

/// Key lines ("args: ...", "exit: 2", "expect: ...", "stdout: ...", "name: ...", "escapes: yes", "also: NAME=TEXT"),
/// then "---" and the input text.
struct Case {
  std::string args, name = "input.toml", body;
  int exit = 2;
  bool escapes = false;
  std::vector<std::string> expected, out, also;
};

std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1, 1) == "x") {
      result += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (text[i] == '\\' && text.substr(i + 1, 1) == "n") {
      result += '\n';
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string read(const fs::path& path) {
  std::ifstream stream{path, std::ios::binary};
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Case parse(const fs::path& path) {
  Case result;
  std::istringstream stream{read(path)};
  std::string line;
  while (std::getline(stream, line) && line != "---") {
    const std::size_t colon = line.find(": ");
    const std::string key = line.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (key == "args") result.args = value;
    if (key == "exit") result.exit = std::stoi(value);
    if (key == "name") result.name = value;
    if (key == "escapes") result.escapes = true;
    if (key == "expect") result.expected.push_back(value);
    if (key == "stdout") result.out.push_back(value);
    if (key == "also") result.also.push_back(value);
  }
  std::ostringstream rest;
  if (stream.peek() != std::istringstream::traits_type::eof()) {
    rest << stream.rdbuf();
  }
  result.body = result.escapes ? unescaped(rest.str()) : rest.str();
  return result;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

}  // namespace

TEST_CASE("every bad input is refused with its own message and leaves nothing behind") {
  const fs::path folder = fs::path{HEADROOM_SOURCE_DIR} / "tests/bad_input";
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder}) {
    if (entry.path().extension() == ".case") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 80);
  const headroom::test::ScratchFolder scratch;
  const fs::path work = scratch.path() / "case";
  for (const fs::path& file : files) {
    const Case c = parse(file);
    CAPTURE(file.filename().string());
    fs::create_directories(work);
    write(work / c.name, c.body);
    for (const std::string& also : c.also) {
      const std::size_t equals = also.find('=');
      write(work / also.substr(0, equals), unescaped(also.substr(equals + 1)));
    }
    const std::string args = replaced(c.args, "{file}", c.name);
    const std::string command = "cd '" + work.string() +
                                "' && env -u HEADROOM_DATA_DIR -u XDG_CONFIG_HOME COLUMNS=100000 HOME='" +
                                work.string() + "' '" + HEADROOM_BINARY + "' " + args + " > out.txt 2> err.txt";
    const int status = std::system(command.c_str());
    CHECK((status >> 8) == c.exit);
    const std::string out = read(work / "out.txt");
    const std::vector<std::string> err = lines_of(read(work / "err.txt"));
    CHECK(err == c.expected);
    if (c.exit == 2) {
      const std::size_t format = args.rfind("--format ");
      const bool for_programs = format != std::string::npos && args.substr(format).starts_with("--format json");
      CHECK((for_programs ? out.find("headroom.error/1") != std::string::npos : out.empty()));
    }
    for (const std::string& part : c.out) {
      CHECK_MESSAGE(out.find(part) != std::string::npos, part, "\nnot in\n", out);
    }
    fs::remove_all(work);
  }
}
