// SPDX-License-Identifier: Apache-2.0
// Megatron-LM's arguments as a bash array, one argument a line.
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/launch/megatron_core.hpp>

#include <algorithm>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

ConfigValue placed_word(std::string text, Position at, const std::shared_ptr<const std::string>& file) {
  ConfigValue value = word_value(text);
  value.at = value.key_at = at;
  value.file = file;
  return value;
}

/// Adds a word to the last item's value. The value's place is its first word's; the key's place is the flag's.
void add_word(std::vector<LaunchItem>& items, ConfigValue word) {
  ConfigValue& value = items.back().value;
  if (value.kind == Kind::boolean) {
    word.key_at = value.key_at;
    value = std::move(word);
    return;
  }
  if (value.kind == Kind::text) {
    ConfigValue list;
    list.kind = Kind::array;
    list.at = value.at;
    list.key_at = value.key_at;
    list.file = value.file;
    list.items.push_back(std::move(value));
    value = std::move(list);
  }
  value.items.push_back(std::move(word));
}

std::string shell_value(const ConfigValue& value) {
  return shell_quoted(value.kind == Kind::text ? value.text : value_text(value));
}

}  // namespace

ShellScript script_of(const ConfigSource& source,
                      Assignments assignments,
                      const std::map<std::string, std::string>& known) {
  Diagnostics diagnostics;
  ShellScript script = read_shell(source.text, source.file, assignments, known, diagnostics);
  diagnostics.throw_if_any();
  return script;
}

LaunchItems items_of_words(std::span<const ShellWord> words, LaunchReading& reading) {
  const auto file = std::make_shared<const std::string>(reading.file);
  std::vector<LaunchItem> items;
  for (const ShellWord& word : words) {
    if (word.text.starts_with("--") && word.text.size() > 2) {
      const std::size_t equals = word.text.find('=');
      ConfigValue there = flag_value(true);
      there.at = there.key_at = word.at;
      there.file = file;
      items.push_back({word.text.substr(0, equals), there});
      if (equals != std::string::npos) {
        add_word(items, placed_word(word.text.substr(equals + 1), word.at, file));
      }
    } else if (items.empty()) {
      reading.problem(word.at, "unexpected " + quoted(word.text) + " in front of the first argument");
    } else {
      add_word(items, placed_word(word.text, word.at, file));
    }
  }
  return LaunchItems{std::move(items)};
}

std::vector<std::string> words_of_items(const LaunchItems& items) {
  std::vector<std::string> words;
  for (const LaunchItem& item : items.all()) {
    if (item.value.kind == Kind::boolean && item.value.boolean) {
      words.push_back(item.name);
    } else if (item.value.kind == Kind::array) {
      const std::string list = joined(
          item.value.items,
          [&](const ConfigValue& entry) { return (entry.kind == Kind::text ? entry.text : value_text(entry)); }, ",");
      words.push_back(item.name + " " + shell_quoted(list));
    } else if (item.value.kind != Kind::boolean && item.value.kind != Kind::null) {
      words.push_back(item.name + " " + shell_value(item.value));
    }
  }
  return words;
}

std::string comment_head(const LaunchPlan& plan,
                         const std::vector<std::string>& head,
                         const std::vector<LaunchNote>& notes) {
  std::string text = "# " + shown(plan.word("name", "a scenario")) + "\n";
  for (const std::string& line : head) {
    text += "# " + line + "\n";
  }
  for (const LaunchNote& note : notes) {
    text += "# not expressed: " + shown(note.text) + "\n";
  }
  return text;
}

std::string continued(const std::vector<std::string>& words) {
  return joined(words, " \\\n  ") + "\n";
}

LaunchText megatron_text(const LaunchPlan& plan) {
  const LaunchWriting writing = write_megatron(plan, false);
  std::string text = comment_head(plan,
                                  {"Megatron-LM arguments: source this file, then",
                                   "pretrain_gpt.py \"${MEGATRON_ARGS[@]}\" with data, tokenizer and learning rate"},
                                  writing.notes);
  text += "MEGATRON_ARGS=(\n";
  for (const std::string& word : words_of_items(writing.items)) {
    text += "  " + word + "\n";
  }
  return {text + ")\n", writing.notes};
}

void read_megatron_text(const ConfigSource& source, LaunchReading& reading) {
  // A defined array is the argument list; a bare list of arguments parses as a command without a program.
  const ShellScript script = script_of(source, Assignments::variables, {});
  std::vector<ShellWord> words;
  for (const ShellCommand& command : script.commands) {
    words.insert(words.end(), command.words.begin(), command.words.end());
  }
  for (const ShellCommand& array : script.arrays) {
    words.insert(words.end(), array.words.begin(), array.words.end());
  }
  // The name of the training script before its arguments does not matter.
  const auto first = std::find_if(words.begin(), words.end(), [](const auto& w) { return w.text.starts_with("--"); });
  const bool scripted = std::any_of(words.begin(), first, [](const auto& w) { return w.text.ends_with(".py"); });
  words.erase(words.begin(), scripted ? first : words.begin());
  read_megatron(items_of_words(words, reading), Absent::is_default, reading);
}

}  // namespace headroom::launch
