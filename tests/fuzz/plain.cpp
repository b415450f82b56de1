// SPDX-License-Identifier: Apache-2.0
// Every target of libFuzzer without libFuzzer: `fuzz_corpora FOLDER` runs the files of FOLDER/TARGET through each
// target, `fuzz_corpora TARGET FILE...` one target on files. A finding ends the program as it ends the fuzzer.
#include "targets.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// HEADROOM_FUZZ_TARGETS(X): X(NAME) for each target, whose entry is fuzz_NAME.
#define DECLARED(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
HEADROOM_FUZZ_TARGETS(DECLARED)
#undef DECLARED

namespace {

namespace fs = std::filesystem;
using Entry = int (*)(const std::uint8_t*, std::size_t);

const std::vector<std::pair<std::string, Entry>>& targets() {
#define LISTED(name) {#name, fuzz_##name},
  static const std::vector<std::pair<std::string, Entry>> all{HEADROOM_FUZZ_TARGETS(LISTED)};
#undef LISTED
  return all;
}

void feed(Entry target, std::string_view text) {
  target(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// The file as it is, cut at each tenth, and with a byte turned in each tenth.
void feed_file(Entry target, const fs::path& file) {
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  std::ostringstream stream;
  stream << std::ifstream{file, std::ios::binary}.rdbuf();
  const std::string text = stream.str();
  feed(target, text);
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const std::size_t at = text.size() * tenth / 10;
    feed(target, std::string_view{text}.substr(0, at));
    if (at < text.size()) {
      std::string turned = text;
      turned[at] = static_cast<char>(static_cast<unsigned char>(turned[at]) ^ (1U << (tenth % 8)));
      feed(target, turned);
    }
  }
}

int feed_folders(const fs::path& folder) {
  int without = 0;
  for (const auto& [name, target] : targets()) {
    std::vector<fs::path> files;
    if (fs::is_directory(folder / name)) {
      for (const auto& entry : fs::directory_iterator{folder / name}) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      feed_file(target, file);
    }
    if (files.empty()) {
      std::fprintf(stderr, "no seeds of %s: put a file into %s\n", name.c_str(), (folder / name).c_str());
      ++without;
    }
  }
  return without == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words{argv + 1, argv + argc};
  if (words.size() == 1) {
    return feed_folders(words.front());
  }
  for (const auto& [name, target] : targets()) {
    if (!words.empty() && words.front() == name) {
      for (std::size_t i = 1; i < words.size(); ++i) {
        feed_file(target, words[i]);
      }
      return 0;
    }
  }
  std::fprintf(stderr, "fuzz_corpora FOLDER, or fuzz_corpora TARGET FILE...\n");
  return 2;
}
