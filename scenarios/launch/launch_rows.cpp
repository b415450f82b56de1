// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/launch/launch_rows.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

ConfigValue parsed(std::string_view toml) {
  ConfigValue value = parse_toml("value = " + std::string{toml}, "table").entries.front().value;
  value.at = value.key_at = {};
  value.file.reset();
  return value;
}

/// A value as the user would type it, for messages: words unquoted, arrays separated by spaces.
std::string plain(const ConfigValue& value) {
  if (value.kind == Kind::text) {
    return value.text;
  }
  if (value.kind == Kind::array) {
    const std::string text = joined(
        value.items, [&](const ConfigValue& item) { return plain(item); }, " ");
    return text;
  }
  return value_text(value);
}

/// The whole text as an integer; nullopt when anything else is in it.
std::optional<std::int64_t> whole_integer(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end && !text.empty() ? std::optional{value} : std::nullopt;
}

const LaunchRow* row_named(std::span<const LaunchRow> rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const LaunchRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

void read_row(const LaunchRow& row, const LaunchItem& item, LaunchReading& reading) {
  if (row.kind == RowKind::count) {
    const bool launch_alone = row.key.starts_with("launch.");
    if (const auto count = reading.count_of(item.name, item.value, launch_alone ? machine_count : any_count)) {
      return reading.state(row.key, count_value(*count), item.value);
    }
  } else if (row.kind == RowKind::word) {
    std::vector<std::string_view> choices;
    for (const LaunchWord& word : row.words) {
      choices.push_back(word.theirs);
    }
    if (const auto word = reading.choice_of(item.name, item.value, choices)) {
      const auto at = std::find(choices.begin(), choices.end(), *word) - choices.begin();
      const std::string_view ours = row.words[static_cast<std::size_t>(at)].ours;
      const bool flag = ours == "true" || ours == "false";
      return reading.state(row.key, flag ? flag_value(ours == "true") : word_value(ours), item.value);
    }
  } else if (row.kind == RowKind::yes || row.kind == RowKind::no) {
    if (const auto flag = reading.flag_of(item.name, item.value)) {
      return reading.state(row.key, flag_value(*flag == (row.kind == RowKind::yes)), item.value);
    }
  } else {
    return;
  }
  reading.failed.emplace(row.key);
}

/// Whether `passed` has the name or, as "checkpoint.*", its prefix.
bool is_passed(std::string_view name, std::span<const std::string_view> passed) {
  return std::any_of(passed.begin(), passed.end(), [&](std::string_view known) {
    return known.ends_with(".*") ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
}

/// Name of a key in messages; `launch.` keys are not scenario keys and are described in words.
std::string told(std::string_view key) {
  if (!key.starts_with("launch.")) {
    return std::string{key};
  }
  std::string words{key.substr(7)};
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

/// Whether a key applies: keys of experts need a network with experts.
bool applies(std::string_view key, const LaunchPlan& plan) {
  return (!key.starts_with("model.moe.") && key != "strategy.ep" && key != "strategy.overlap_experts") ||
         plan.has("model.moe.experts");
}

}  // namespace

namespace {

void add_leaves(const ConfigValue& table, const std::string& prefix, LaunchItems& items) {
  for (const ConfigEntry& entry : table.entries) {
    if (entry.value.kind == Kind::table) {
      add_leaves(entry.value, prefix + entry.key + ".", items);
    } else {
      items.put(prefix + entry.key, entry.value);
    }
  }
}

}  // namespace

LaunchItems items_of_document(const ConfigValue& document) {
  LaunchItems items;
  add_leaves(document, "", items);
  return items;
}

ConfigValue nested(const LaunchItems& items) {
  ConfigValue root;
  for (const LaunchItem& item : items.all()) {
    ConfigValue* table = &root;
    std::string_view path = item.name;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
      const std::string key{path.substr(0, dot)};
      if (table->find(key) == nullptr) {
        table->entries.emplace_back(key, ConfigValue{});
      }
      table = table->find(key);
      path.remove_prefix(dot + 1);
    }
    table->entries.emplace_back(std::string{path}, item.value);
  }
  return root;
}

const ConfigValue* LaunchItems::find(std::string_view name) const noexcept {
  const auto found = std::find_if(items_.rbegin(), items_.rend(), [&](const auto& item) { return item.name == name; });
  return found == items_.rend() ? nullptr : &found->value;
}

void LaunchReading::problem(const ConfigValue& at, std::string message) {
  diagnostics.add(at.file ? *at.file : file, at.at, std::move(message));
}

void LaunchReading::remark(const ConfigValue& at, const std::string& text) {
  const std::string line = at.at.line > 0 ? ":" + std::to_string(at.at.line) : "";  // options have no line
  remarks.push_back((at.file ? *at.file : file) + line + ": " + text);
}

bool LaunchReading::stated(std::string_view key) const noexcept {
  const ConfigValue* found = plan.find(key);
  return found != nullptr && found->file;
}

void LaunchReading::state(std::string_view key, ConfigValue value, const ConfigValue& at) {
  value.file = at.file ? at.file : std::make_shared<const std::string>(file);
  value.at = value.key_at = at.at;
  const ConfigValue* before = plan.find(key);
  if (stated(key) && !same_value(*before, value)) {
    failed.emplace(key);
    return problem(value, told(key) + " = " + value_text(value) + " here, " + value_text(*before) + " in line " +
                              std::to_string(before->at.line) + "; leave one");
  }
  plan.set(key, std::move(value));
}

void LaunchReading::assume(std::string_view key, ConfigValue value) {
  if (!plan.has(key) && failed.count(key) == 0) {
    plan.set(key, std::move(value));
  }
}

std::string LaunchReading::called(std::string_view name) const {
  const auto found = spelled.find(name);
  return quoted(found == spelled.end() ? name : std::string_view{found->second});
}

std::optional<std::int64_t> LaunchReading::count_of(std::string_view name,
                                                    const ConfigValue& value,
                                                    Range<std::int64_t> range) {
  std::optional<std::int64_t> count;
  if (value.kind == Kind::integer) {
    count = value.integer;
  } else if (value.kind == Kind::text) {
    count = whole_integer(value.text);
    if (!count && value.text.find('$') != std::string::npos) {
      problem(value, called(name) + " is " + quoted(value.text) +
                         ", which nothing here sets; write its value, or state the key with --set");
      return std::nullopt;
    }
  }
  if (!count) {
    problem(value, value.kind == Kind::boolean
                       ? called(name) + " needs an integer"
                       : called(name) + " is " + quoted(plain(value)) + "; it must be an integer");
  } else if (*count < range.low || *count > range.high) {
    const bool open = range.high >= positive.high;
    problem(value, called(name) + " is " + std::to_string(*count) + "; it must be " +
                       (open ? "at least " + std::to_string(range.low)
                             : std::to_string(range.low) + " to " + std::to_string(range.high)));
    return std::nullopt;
  }
  return count;
}

std::optional<double> LaunchReading::number_of(std::string_view name, const ConfigValue& value, Range<double> range) {
  std::optional<double> number;
  if (value.kind == Kind::integer || value.kind == Kind::number) {
    number = value.kind == Kind::integer ? static_cast<double>(value.integer) : value.number;
  } else if (value.kind == Kind::text) {
    number = whole_real(value.text);
  }
  if (!number || !std::isfinite(*number)) {
    problem(value, called(name) + " is " + quoted(plain(value)) + "; it must be a number");
    return std::nullopt;
  }
  if (*number < range.low || *number > range.high) {
    problem(value, called(name) + " is " + quoted(plain(value)) + "; it must be " +
                       value_text(number_value(range.low)) + " to " + value_text(number_value(range.high)));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> LaunchReading::flag_of(std::string_view name, const ConfigValue& value) {
  if (value.kind == Kind::boolean) {
    return value.boolean;
  }
  const std::string word = plain(value);
  if (word == "true" || word == "True" || word == "false" || word == "False") {
    return word == "true" || word == "True";
  }
  if (word.starts_with('$')) {
    remark(value, "ignored: " + word + ", which nothing here sets");  // a word after a flag that takes no value
    return true;
  }
  problem(value, called(name) + " is " + quoted(word) + "; it must be true or false");
  return std::nullopt;
}

std::optional<std::string> LaunchReading::word_of(std::string_view name, const ConfigValue& value) {
  if (value.kind == Kind::array && !value.items.empty()) {
    const std::string first = plain(value.items.front());
    const bool equal = std::all_of(value.items.begin(), value.items.end(),
                                   [&](const ConfigValue& item) { return plain(item) == first; });
    if (equal) {
      return first;
    }
  } else if (value.kind == Kind::text || value.kind == Kind::integer) {
    return plain(value);
  }
  problem(value, value.kind == Kind::boolean
                     ? called(name) + " needs a word"
                     : called(name) + " is " + quoted(plain(value)) + "; one word for all layers is known here");
  return std::nullopt;
}

void LaunchReading::take_count(const LaunchItems& items,
                               std::string_view name,
                               std::string_view key,
                               Range<std::int64_t> range) {
  const ConfigValue* item = items.find(name);
  if (const auto count = item == nullptr ? std::nullopt : count_of(name, *item, range)) {
    state(key, count_value(*count), *item);
  }
}

void LaunchReading::take_flag(const LaunchItems& items, std::string_view name, std::string_view key) {
  const ConfigValue* item = items.find(name);
  if (const auto flag = item == nullptr ? std::nullopt : flag_of(name, *item)) {
    state(key, flag_value(*flag), *item);
  }
}

std::optional<std::string> LaunchReading::choice_of(std::string_view name,
                                                    const ConfigValue& value,
                                                    std::span<const std::string_view> choices) {
  const std::optional<std::string> word = word_of(name, value);
  if (!word || std::find(choices.begin(), choices.end(), *word) != choices.end()) {
    return word;
  }
  problem(value,
          called(name) + " is " + quoted(*word) + "; known here: " + listed(choices) + suggestion(*word, choices));
  return std::nullopt;
}

void read_rows(std::span<const LaunchRow> rows,
               std::span<const std::string_view> passed,
               const LaunchItems& items,
               LaunchReading& reading) {
  for (const LaunchItem& item : items.all()) {
    if (const LaunchRow* row = row_named(rows, item.name)) {
      read_row(*row, item, reading);
      continue;
    }
    const std::string text =
        item.name + (item.value.kind == Kind::boolean && item.value.boolean ? std::string{} : " " + plain(item.value));
    if (is_passed(item.name, passed)) {
      reading.remark(item.value, "ignored: " + text);
    } else if (reading.ignore_unknown) {
      reading.remark(item.value, "ignored, not known: " + text);
    } else {
      std::vector<std::string_view> names{passed.begin(), passed.end()};
      for (const LaunchRow& row : rows) {
        names.push_back(row.name);
      }
      const Position at = item.value.key_at.line > 0 ? item.value.key_at : item.value.at;
      const std::string nearest = suggestion(item.name, names);
      reading.problem(at, "unknown " + quoted(item.name) + nearest + (nearest.empty() ? ";" : "") +
                              " --ignore-unknown reads the file without it");
    }
  }
}

void read_absent(std::span<const LaunchRow> rows, const LaunchItems& items, LaunchReading& reading) {
  for (const LaunchRow& row : rows) {
    if (!row.absent.empty() && !items.has(row.name) && applies(row.key, reading.plan)) {
      reading.assume(row.key, parsed(row.absent));
    }
  }
}

void LaunchWriting::put_flag(std::string_view name, bool flag) {
  if (flag || explicitly) {
    items.put(name, flag_value(flag));
  }
}

void LaunchWriting::note(std::string_view key, const std::string& value, std::string_view why) {
  notes.push_back({std::string{key}, std::string{key} + " = " + value + " (" + std::string{why} + ")"});
}

void LaunchWriting::miss(std::string_view key, std::string_view why) {
  if (const ConfigValue* value = plan.find(key)) {
    cover(key);
    note(key, value_text(*value), why);
  }
}

void LaunchWriting::lack(std::string_view key) {
  notes.push_back({std::string{key}, std::string{key} + ": the model's file does not state it"});
}

void write_rows(std::span<const LaunchRow> rows, LaunchWriting& writing) {
  for (const LaunchRow& row : rows) {
    const ConfigValue* value = row.key.empty() ? nullptr : writing.plan.find(row.key);
    if (value == nullptr || row.kind == RowKind::special || writing.covered.count(row.key) > 0) {
      continue;
    }
    if (!row.absent.empty() && !writing.explicitly && same_value(*value, parsed(row.absent))) {
      writing.cover(row.key);
      continue;
    }
    if (row.kind == RowKind::count) {
      writing.put(row.name, *value);
    } else if (row.kind == RowKind::word) {
      const std::string ours = plain(*value);
      const auto found =
          std::find_if(row.words.begin(), row.words.end(), [&](const auto& w) { return w.ours == ours; });
      if (found == row.words.end()) {
        continue;  // note_gaps reports it
      }
      writing.put_word(row.name, found->theirs);
    } else {
      const bool flag = value->boolean == (row.kind == RowKind::yes);
      if (!flag && !writing.explicitly && !row.absent.empty()) {
        continue;  // a bare flag cannot express the opposite
      }
      writing.put_flag(row.name, flag);
    }
    writing.cover(row.key);
  }
}

void note_gaps(std::span<const LaunchGap> gaps, std::string_view form, LaunchWriting& writing) {
  constexpr std::array of_every_form{
      LaunchGap{"name", "", ""},
      LaunchGap{"launch.*", "", ""},
      LaunchGap{"strategy.dp", "", ""},  // world size over the other axes
      LaunchGap{"hardware.gpus", "", "the launch line says it"},
      LaunchGap{"hardware.*", "", "not the launch's to say"},
      LaunchGap{"training.dispatcher", "\"alltoall\"", "the form has no word for it"},
      LaunchGap{"training.expert_launch", "\"eager\"", "the form has no word for it"},
  };
  for (const ConfigEntry& entry : writing.plan.entries()) {
    if (writing.covered.count(entry.key) > 0) {
      continue;
    }
    const auto gap_in = [&](std::span<const LaunchGap> table) -> const LaunchGap* {
      const auto gap = std::find_if(table.begin(), table.end(), [&](const LaunchGap& g) {
        return g.key.ends_with('*') ? entry.key.starts_with(g.key.substr(0, g.key.size() - 1)) : entry.key == g.key;
      });
      return gap == table.end() ? nullptr : &*gap;
    };
    const LaunchGap* own = gap_in(gaps);
    const LaunchGap* gap = own != nullptr ? own : gap_in(of_every_form);
    if (gap != nullptr &&
        (gap->why.empty() || (!gap->implied.empty() && same_value(entry.value, parsed(gap->implied))))) {
      continue;
    }
    writing.note(entry.key, value_text(entry.value),
                 gap != nullptr ? std::string{gap->why} : std::string{form} + " has no key for it");
  }
}

}  // namespace headroom::launch
