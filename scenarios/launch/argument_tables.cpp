// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/launch/argument_tables.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_arguments() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace launch {
namespace {

/// Leading numbers of "v0.5.10.post1" as {0, 5, 10}; empty when it starts with none.
std::vector<std::int64_t> numbers_of(std::string_view release) {
  std::vector<std::int64_t> numbers;
  const char* at = release.data() + (release.starts_with('v') ? 1 : 0);
  const char* const end = release.data() + release.size();
  while (at != end) {
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc{}) {
      break;
    }
    numbers.push_back(number);
    if (read.ptr == end || *read.ptr != '.') {
      break;
    }
    at = read.ptr + 1;
  }
  return numbers;
}

std::vector<std::string> texts_of(const ConfigValue& array) {
  std::vector<std::string> texts;
  for (const ConfigValue& item : array.items) {
    texts.push_back(item.text);
  }
  return texts;
}

ArgumentTable table_of(const ConfigValue& document) {
  ArgumentTable table;
  table.program = document.find("program")->text;
  table.from = document.find("from")->text;
  table.state = document.find("state")->text;
  table.date = document.find("date")->text;
  table.sources = texts_of(*document.find("source"));
  const ConfigValue* negated = document.find("negated");
  table.negated = negated != nullptr && negated->boolean;
  for (const ConfigEntry& entry : document.entries) {
    if (entry.key == "words") {
      for (const ConfigEntry& option : entry.value.entries) {
        for (std::string& word : texts_of(option.value)) {
          table.words[option.key].insert(std::move(word));
        }
      }
    } else if (entry.value.kind == ConfigValue::Kind::table) {
      for (std::string& name : texts_of(*entry.value.find("names"))) {
        table.names[entry.key].insert(std::move(name));
      }
    }
  }
  return table;
}

std::vector<ArgumentTable> read_tables() {
  std::vector<ArgumentTable> tables;
  for (const EmbeddedFile& file : embedded::embedded_arguments().files) {
    tables.push_back(table_of(parse_toml(file.text, std::string{file.name})));
  }
  std::stable_sort(tables.begin(), tables.end(), [](const ArgumentTable& a, const ArgumentTable& b) {
    return a.program != b.program ? a.program < b.program : numbers_of(a.from) < numbers_of(b.from);
  });
  return tables;
}

/// Which release knows an option that another lacks: "0.12 has it", "0.8 had it"; empty: none.
std::string elsewhere(const ArgumentTable& table, std::string_view command, std::string_view name) {
  std::string text;
  bool behind = false;
  for (const ArgumentTable& other : argument_tables()) {
    behind = behind || &other == &table;
    if (other.program == table.program && other.has(command, name)) {
      text = other.from + (behind ? " has it" : " had it");
      if (behind) {
        break;
      }
    }
  }
  return text;
}

}  // namespace

bool ArgumentTable::has(std::string_view command, std::string_view name) const {
  const auto found = names.find(command);
  if (found == names.end()) {
    return false;
  }
  constexpr std::string_view no = "--no-";
  return found->second.contains(name) ||
         (negated && name.starts_with(no) && found->second.contains("--" + std::string{name.substr(no.size())}));
}

bool ArgumentTable::takes(std::string_view name, std::string_view word) const {
  const auto found = words.find(name);
  return found == words.end() || found->second.contains(word);
}

std::span<const ArgumentTable> argument_tables() {
  static const std::vector<ArgumentTable> tables = read_tables();
  return tables;
}

const ArgumentTable* arguments_of(std::string_view program, std::string_view release) {
  const std::vector<std::int64_t> wanted = numbers_of(release);
  if (!release.empty() && wanted.empty()) {
    return nullptr;
  }
  const ArgumentTable* found = nullptr;
  for (const ArgumentTable& table : argument_tables()) {
    if (table.program == program && (release.empty() || numbers_of(table.from) <= wanted)) {
      found = &table;
    }
  }
  return found;
}

void note_arguments(std::string_view program, std::string_view command, LaunchWriting& writing) {
  const std::string release = writing.plan.word("serving.engine_version");
  const ArgumentTable* table = arguments_of(program, release);
  if (table == nullptr) {
    return;
  }
  for (const LaunchItem& item : writing.items.all()) {
    if (!table->has(command, item.name)) {
      const std::string known = elsewhere(*table, command, item.name);
      const std::string lacking = item.name + ": " + std::string{program} + " " +
                                  (release.empty() ? table->from : release) + " has no such argument";
      writing.notes.push_back({item.name, lacking + (known.empty() ? "" : ", " + known) + "; take it out by hand"});
    } else if (!table->takes(item.name, item.value.text)) {
      const bool itself = release.empty() || release == table->from;
      const std::string asked = std::string{program} + " " + (release.empty() ? table->from : release);
      writing.notes.push_back(
          {item.name, item.name + ": " + asked +
                          (itself ? "" : ", by the words of " + table->from + " that hold for it,") +
                          " takes no word " + item.value.text + "; known are " +
                          joined(table->words.find(item.name)->second, [](const std::string& word) { return word; })});
    }
  }
}

}  // namespace launch
}  // namespace headroom
