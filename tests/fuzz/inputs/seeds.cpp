// SPDX-License-Identifier: Apache-2.0
#include "seeds.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace headroom::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Bytes that an escaped text of tests/bad_input stands for.
std::string unescaped(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") == 0 && i + 3 < text.size()) {
      result += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (text.compare(i, 2, "\\n") == 0) {
      result += '\n';
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

class Loader {
 public:
  Loader(fs::path binary, fs::path source, fs::path made)
      : binary_{std::move(binary)}, source_{std::move(source)}, made_{std::move(made)} {}

  Seeds load() {
    read_overview();
    for (const std::string& verb : seeds_.verbs) {
      read_help(verb);
    }
    for (const fs::path& file : sorted(source_ / "tests/golden", ".transcript")) {
      for (const std::string& line : lines_of(text_of(file))) {
        if (line.starts_with("$ headroom ")) {
          add(words_of(line.substr(11)));
        }
      }
    }
    for (const fs::path& file : sorted(source_ / "tests/bad_input", ".case")) {
      read_case(file);
    }
    for (const std::string& line : lines_of(text_of(source_ / "tests/fuzz/inputs/commands.txt"))) {
      if (!line.empty() && !line.starts_with("#")) {
        read_command(line);
      }
    }
    for (std::size_t i = 0; i < seeds_.all.size(); ++i) {
      seeds_.of_verb[seeds_.all[i].words.front()].push_back(i);
    }
    for (const std::string& verb : seeds_.verbs) {
      if (seeds_.of_verb[verb].empty()) {
        throw std::runtime_error{"the verb '" + verb +
                                 "' has neither an example in its help nor a line in "
                                 "tests/fuzz/inputs/commands.txt"};
      }
    }
    std::erase_if(seeds_.of_verb, [&](const auto& entry) {
      return std::find(seeds_.verbs.begin(), seeds_.verbs.end(), entry.first) == seeds_.verbs.end();
    });
    for (const auto& [key, values] : seeds_.vocabulary.keys) {
      seeds_.vocabulary.key_names.push_back(key);
    }
    return std::move(seeds_);
  }

 private:
  static std::vector<fs::path> sorted(const fs::path& folder, const std::string& extension) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator{folder}) {
      if (entry.path().extension() == extension) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  [[nodiscard]] Reply asked(const std::vector<std::string>& words) const {
    return ask(binary_, words, made_, made_, {}, Limits{60, 120, 0});
  }

  /// Verbs are the lines of two blanks and a word before the examples; but the server's, which does not end, and whose
  /// requests are those of the target `wire`.
  void read_overview() {
    for (const std::string& line : lines_of(asked({"--help"}).out)) {
      if (line.starts_with("examples:")) {
        break;
      }
      if (line.starts_with("  ") && line[2] != ' ') {
        const std::string verb = line.substr(2, line.find(' ', 2) - 2);
        if (verb != "web") {
          seeds_.verbs.push_back(verb);
        }
      }
    }
    if (seeds_.verbs.empty()) {
      throw std::runtime_error{binary_.string() + " --help names no verbs"};
    }
  }

  void read_help(const std::string& verb) {
    for (const std::string& line : lines_of(asked({verb, "--help"}).out)) {
      if (line.starts_with("  -")) {
        const std::string spelling = line.substr(2, line.find_first_of(" ", 2) - 2);
        const std::string name = spelling.substr(spelling.find(',') == std::string::npos ? 0 : spelling.find(',') + 1);
        if (name != "--help" && name != "--output") {
          seeds_.vocabulary.options_of[verb].push_back(name);
          // "a|b|c": values that the help itself names.
          std::string choices = line.substr(2 + spelling.size());
          choices.erase(0, choices.find_first_not_of(' '));
          choices = choices.substr(0, choices.find(' '));
          if (choices.find('|') != std::string::npos) {
            std::istringstream words{choices};
            for (std::string word; std::getline(words, word, '|');) {
              seeds_.vocabulary.options[name].push_back(word);
            }
          }
        }
      }
      if (line.starts_with("  headroom " + verb)) {
        add(words_of(line.substr(11, line.find(" > ") - 11)));
      }
    }
  }

  /// The name of a file of the source tree, or of a made one; empty: none.
  [[nodiscard]] fs::path found(const std::string& name) const {
    if (name.empty() || name.front() == '/' || name.find("..") != std::string::npos || name == ".") {
      return {};
    }
    std::error_code none;
    if (fs::exists(made_ / name, none)) {
      return made_ / name;
    }
    // A bare word may be a verb that has a folder's name.
    return name.find('/') != std::string::npos && fs::exists(source_ / name, none) ? source_ / name : fs::path{};
  }

  void add_inputs(Seed& seed, const std::string& name, const fs::path& from) {
    if (fs::is_regular_file(from)) {
      seed.inputs.push_back({name, from});
      return;
    }
    for (const auto& entry : fs::recursive_directory_iterator{from}) {
      if (entry.is_regular_file()) {
        seed.inputs.push_back({(fs::path{name} / fs::relative(entry.path(), from)).string(), entry.path()});
      }
    }
    std::sort(seed.inputs.begin(), seed.inputs.end(), [](const Input& a, const Input& b) { return a.name < b.name; });
  }

  /// Learns from a command's words: options and assigned keys with their values.
  void learn(const Seed& seed) {
    for (std::size_t i = 1; i < seed.words.size(); ++i) {
      const std::string& word = seed.words[i];
      if (!seed.words[i - 1].starts_with("--")) {
        continue;
      }
      seeds_.vocabulary.options[seed.words[i - 1]].push_back(word);
      if (seed.words[i - 1] == "--set" && word.find('=') != std::string::npos) {
        seeds_.vocabulary.keys[word.substr(0, word.find('='))].push_back(word.substr(word.find('=') + 1));
      }
    }
    for (const Input& input : seed.inputs) {
      if (known_.insert(input.source.string() + input.text).second) {
        seeds_.files.push_back(input);
        if ((seed.words.front() == "plan" || seed.words.front() == "simulate") && input.name.ends_with(".toml") &&
            !input.name.starts_with("data/")) {
          learn_keys(input.text.empty() ? text_of(input.source) : input.text);
        }
      }
    }
  }

  void learn_keys(const std::string& text) {
    std::string table;
    for (const std::string& line : lines_of(text)) {
      const std::size_t equals = line.find(" = ");
      if (line.starts_with("[")) {
        table = line.substr(1, line.find(']') - 1);
        table = table.starts_with("[") ? "" : table + ".";
      } else if (equals != std::string::npos && equals > 0 && !line.starts_with("#")) {
        const std::string key = table + line.substr(0, equals);
        if (key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.0123456789") == std::string::npos) {
          seeds_.vocabulary.keys[key].push_back(line.substr(equals + 3, line.find("  #", equals) - equals - 3));
        }
      }
    }
  }

  void add(std::vector<std::string> words) {
    if (words.empty()) {
      return;
    }
    Seed seed{std::move(words), {}};
    for (const std::string& word : seed.words) {
      const std::string name = word.substr(word.find('=') == std::string::npos ? 0 : word.find('=') + 1);
      const fs::path file = found(name);
      const bool given =
          std::any_of(seed.inputs.begin(), seed.inputs.end(), [&](const Input& input) { return input.name == name; });
      if (!file.empty() && !given) {
        add_inputs(seed, name, file);
      }
    }
    keep(std::move(seed));
  }

  void keep(Seed seed) {
    learn(seed);
    seeds_.all.push_back(std::move(seed));
  }

  void read_case(const fs::path& file) {
    const std::string text = text_of(file);
    const std::size_t rule = text.find("\n---");
    std::string name = "input.toml";
    std::string line;
    bool escaped = false;
    Seed seed;
    seed.refused = true;
    for (const std::string& head : lines_of(text.substr(0, rule))) {
      const std::size_t colon = head.find(": ");
      const std::string key = head.substr(0, colon);
      const std::string value = colon == std::string::npos ? "" : head.substr(colon + 2);
      if (key == "args") line = value;
      if (key == "name") name = value;
      if (key == "escapes") escaped = true;
      if (key == "also") {
        seed.inputs.push_back({value.substr(0, value.find('=')), {}, unescaped(value.substr(value.find('=') + 1))});
      }
    }
    const std::string body = rule == std::string::npos ? "" : text.substr(std::min(rule + 5, text.size()));
    if (!body.empty()) {
      seed.inputs.push_back({name, {}, escaped ? unescaped(body) : body});
    }
    for (std::size_t at = line.find("{file}"); at != std::string::npos; at = line.find("{file}", at)) {
      line.replace(at, 6, name);
    }
    if (line.find_first_of("|><;&$") == std::string::npos) {  // only what needs no shell
      seed.words = words_of(line);
      if (!seed.words.empty() && seed.words.front() != "env") {
        keep(std::move(seed));
      }
    }
  }

  /// A line of commands.txt.
  void read_command(std::string line) {
    constexpr std::string_view makes = "make ";
    if (line.starts_with(makes)) {
      const std::vector<std::string> words = words_of(line.substr(makes.size()));
      for (const std::string& word : words) {
        if (const fs::path file = found(word); fs::is_regular_file(file) && !fs::exists(made_ / word)) {
          write_text(made_ / word, text_of(file));
        }
      }
      if (const Reply reply = asked(words); reply.code != 0) {
        throw std::runtime_error{"'headroom " + line.substr(makes.size()) + "' of commands.txt fails: " + reply.err};
      }
      return;
    }
    const std::size_t open = line.find('{');
    if (open == std::string::npos) {
      add(words_of(line));
      return;
    }
    const std::size_t close = line.find('}', open);
    const std::string pattern = line.substr(open + 1, close - open - 1);
    const fs::path folder = source_ / fs::path{pattern}.parent_path();
    bool any = false;
    for (const auto& entry : sorted(folder, fs::path{pattern}.extension().string())) {
      if (fnmatch(fs::path{pattern}.filename().c_str(), entry.filename().c_str(), 0) != 0) {
        continue;
      }
      any = true;
      std::string one = line;
      const std::size_t start = one.rfind(' ', open) == std::string::npos ? 0 : one.rfind(' ', open) + 1;
      const std::string word = one.substr(start, open - start);  // "data/gpus/" in front of the file
      if (word.starts_with("data/")) {
        one.erase(start, close + 2 - start);
      } else {
        one.replace(open, close + 1 - open, fs::relative(entry, source_).string());
      }
      for (std::size_t at = one.find("ID"); at != std::string::npos; at = one.find("ID")) {
        one.replace(at, 2, entry.stem().string());
      }
      if (word.starts_with("data/")) {
        Seed seed{words_of(one), {{word + entry.filename().string(), entry}}, true};
        keep(std::move(seed));
      } else {
        add(words_of(one));
      }
    }
    if (!any) {
      throw std::runtime_error{"no file is '" + pattern + "' of commands.txt"};
    }
  }

  fs::path binary_, source_, made_;
  Seeds seeds_;
  std::set<std::string> known_;
};

}  // namespace

Seeds load_seeds(const fs::path& binary, const fs::path& source, const fs::path& made) {
  return Loader{binary, source, made}.load();
}

}  // namespace headroom::fuzz
