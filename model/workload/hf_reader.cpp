// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/hf_reader.hpp>

#include <array>

namespace headroom {
namespace {

using Kind = ConfigValue::Kind;

std::string named(std::string_view key) {
  return "'" + std::string{key} + "'";
}

std::string all(HfKeys keys) {
  std::string text = named(*keys.begin());
  if (keys.size() > 1) {
    text += " (or ";
    for (auto key = keys.begin() + 1; key != keys.end(); ++key) {
      text += (key == keys.begin() + 1 ? "'" : ", '") + std::string{*key} + "'";
    }
    text += ")";
  }
  return text;
}

std::string number_text(double number) {
  return shortest_text(number);
}
std::string number_text(std::int64_t number) {
  return std::to_string(number);
}

template <class T>
bool lies_in(T number, Range<T> range) {
  return number >= range.low && number <= range.high;  // what is no number does not
}

template <class T>
std::string outside(std::string_view key, T number, Range<T> range) {
  return named(key) + " is " + number_text(number) + "; it must be " + number_text(range.low) + " to " +
         number_text(range.high);
}

/// No number that memory or time follows from: the import goes on.
constexpr const char* left_blank = "; it is left blank";

const ConfigValue* walk(const ConfigValue& table, std::string_view path) {
  const std::size_t dot = path.find('.');
  const ConfigValue* value = table.find(path.substr(0, dot));
  if (value == nullptr || value->kind == Kind::null || dot == std::string_view::npos) {
    return value != nullptr && value->kind == Kind::null ? nullptr : value;
  }
  return value->kind == Kind::table ? walk(*value, path.substr(dot + 1)) : nullptr;
}

}  // namespace

HfReader::HfReader(const ConfigValue& root, std::string file, Diagnostics& diagnostics, Diagnostics& remarks)
    : root_{&root}, file_{std::move(file)}, diagnostics_{&diagnostics}, remarks_{&remarks} {
  for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
    const ConfigValue* value = root.find(key);
    if (value != nullptr && value->kind == Kind::table && !value->entries.empty()) {
      nested_ = value;
      break;
    }
  }
}

const ConfigValue* HfReader::look(std::string_view path) const {
  if (nested_ != nullptr) {
    if (const ConfigValue* value = walk(*nested_, path)) {
      return value;
    }
  }
  return walk(*root_, path);
}

HfReader::Found HfReader::pick(HfKeys keys) const {
  for (const std::string_view key : keys) {
    if (const ConfigValue* value = look(key)) {
      return {value, key};
    }
  }
  return {};
}

const ConfigValue* HfReader::find(HfKeys keys) const {
  return pick(keys).value;
}

void HfReader::add(const ConfigValue* value, std::string message) {
  diagnostics_->add(file_,
                    value != nullptr     ? value->at
                    : nested_ != nullptr ? nested_->at
                                         : root_->at,
                    std::move(message));
}

void HfReader::problem(HfKeys keys, std::string message) {
  add(find(keys), std::move(message));
}

std::optional<std::int64_t> HfReader::whole(const Found& found) {
  const ConfigValue& value = *found.value;
  // A Python float such as 4.0 is written where an integer is meant.
  const bool is_whole = value.kind == Kind::number && value.number >= 0.0 && value.number < 1e15 &&
                        value.number == static_cast<double>(static_cast<std::int64_t>(value.number));
  if (value.kind != Kind::integer && !is_whole) {
    add(&value, named(found.key) + " must be an integer, not " + std::string{kind_name(value.kind)});
    return std::nullopt;
  }
  return is_whole ? static_cast<std::int64_t>(value.number) : value.integer;
}

std::optional<double> HfReader::number(const Found& found) {
  const ConfigValue& value = *found.value;
  if (value.kind != Kind::integer && value.kind != Kind::number) {
    add(&value, named(found.key) + " must be a number, not " + std::string{kind_name(value.kind)});
    return std::nullopt;
  }
  return value.kind == Kind::integer ? static_cast<double>(value.integer) : value.number;
}

std::optional<std::int64_t> HfReader::maybe(HfKeys keys, Range<std::int64_t> range) {
  const Found found = pick(keys);
  const std::optional<std::int64_t> number = found.value == nullptr ? std::nullopt : whole(found);
  if (number && !lies_in(*number, range)) {
    add(found.value, outside(found.key, *number, range));
    return std::nullopt;
  }
  return number;
}

std::int64_t HfReader::size(HfKeys keys) {
  if (!has(keys)) {
    add(nullptr, "missing key " + all(keys) + ", an integer");
    return 1;
  }
  return maybe(keys).value_or(1);
}

std::int64_t HfReader::size_or(HfKeys keys, std::int64_t fallback, Range<std::int64_t> range) {
  return maybe(keys, range).value_or(fallback);
}

std::optional<double> HfReader::maybe_detail(HfKeys keys, Range<double> range) {
  const Found found = pick(keys);
  const std::optional<double> value = found.value == nullptr ? std::nullopt : number(found);
  if (value && !lies_in(*value, range)) {
    remarks_->add(file_, found.value->at, outside(found.key, *value, range) + left_blank);
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> HfReader::maybe_detail(HfKeys keys, Range<std::int64_t> range) {
  const Found found = pick(keys);
  const std::optional<std::int64_t> value = found.value == nullptr ? std::nullopt : whole(found);
  if (value && !lies_in(*value, range)) {
    remarks_->add(file_, found.value->at, outside(found.key, *value, range) + left_blank);
    return std::nullopt;
  }
  return value;
}

std::optional<bool> HfReader::maybe_flag(HfKeys keys) {
  const auto [value, key] = pick(keys);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->kind != Kind::boolean) {
    add(value, named(key) + " must be true or false, not " + std::string{kind_name(value->kind)});
    return std::nullopt;
  }
  return value->boolean;
}

bool HfReader::is_line(std::string_view key, const ConfigValue& value) {
  if (const std::optional<std::string_view> character = first_unprintable(value.text)) {
    add(&value, named(key) + " is " + quoted(value.text) + "; it must be one line of printable text, without " +
                    quoted(*character));
    return false;
  }
  return true;
}

std::string HfReader::text_or(HfKeys keys, std::string_view fallback) {
  const auto [value, key] = pick(keys);
  if (value == nullptr) {
    return std::string{fallback};
  }
  if (value->kind != Kind::text) {
    add(value, named(key) + " must be a string, not " + std::string{kind_name(value->kind)});
    return std::string{fallback};
  }
  return is_line(key, *value) ? value->text : std::string{fallback};
}

std::vector<std::string> HfReader::words(HfKeys keys) {
  std::vector<std::string> result;
  const auto [value, key] = pick(keys);
  if (value == nullptr) {
    return result;
  }
  if (value->kind != Kind::array) {
    add(value, named(key) + " must be an array of strings, not " + std::string{kind_name(value->kind)});
    return result;
  }
  bool wrong = false;
  for (const ConfigValue& item : value->items) {
    if (item.kind != Kind::text) {
      add(&item, named(key) + " must hold strings, not " + std::string{kind_name(item.kind)});
      wrong = true;
    } else if (!is_line(key, item)) {
      wrong = true;
    }
    result.push_back(item.text);
  }
  return wrong ? std::vector<std::string>{} : result;
}

std::vector<std::int64_t> HfReader::integers(HfKeys keys, Range<std::int64_t> range) {
  std::vector<std::int64_t> result;
  const auto [value, key] = pick(keys);
  if (value == nullptr) {
    return result;
  }
  if (value->kind != Kind::array) {
    add(value, named(key) + " must be an array of integers, not " + std::string{kind_name(value->kind)});
    return result;
  }
  bool wrong = false;
  for (const ConfigValue& item : value->items) {
    if (item.kind != Kind::integer || item.integer < range.low || item.integer > range.high) {
      add(&item,
          named(key) + " must hold integers of " + std::to_string(range.low) + " to " + std::to_string(range.high));
      wrong = true;
    }
    result.push_back(item.integer);
  }
  return wrong ? std::vector<std::int64_t>{} : result;
}

std::vector<std::string> HfReader::words_per_layer(HfKeys keys, std::int64_t layers) {
  std::vector<std::string> result = words(keys);
  if (!result.empty() && static_cast<std::int64_t>(result.size()) != layers) {
    problem(keys, named(pick(keys).key) + " has " + std::to_string(result.size()) + " elements for " +
                      std::to_string(layers) + " layers");
    result.clear();
  }
  return result;
}

std::vector<std::int64_t> HfReader::integers_per_layer(HfKeys keys, std::int64_t layers) {
  std::vector<std::int64_t> result = integers(keys);
  if (!result.empty() && static_cast<std::int64_t>(result.size()) != layers) {
    problem(keys, named(pick(keys).key) + " has " + std::to_string(result.size()) + " elements for " +
                      std::to_string(layers) + " layers");
    result.clear();
  }
  return result;
}

}  // namespace headroom
