// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/search/axes.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

namespace headroom {
namespace {

constexpr std::string_view forms =
    "a list [1, 2, 4], a range \"1..16\", \"8..1024 x2\" or \"0..64 step 8\", one value, or \"any\"";

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

/// The row of an axis in the table of keys: what it takes, and whether it knows "any".
const Key& row_of_axis(std::string_view axis) {
  return key_of("search." + std::string{axis}, Kinds::train);
}

/// Freed by strategy = "any". Static buffers of graphs are not known, so that nobody gets them unasked.
constexpr bool freed_with_all(StrategyAxis axis) noexcept {
  return axis != StrategyAxis::cuda_graphs;
}

/// In the order in which jobs are made, the first outermost.
constexpr std::array job_axes{
    Knob::model,     Knob::gpu,     Knob::node,      Knob::cluster,  Knob::gpus,      Knob::prices,
    Knob::market,    Knob::region,  Knob::power_cap, Knob::software, Knob::precision, Knob::global_batch,
    Knob::optimizer, Knob::offload, Knob::overlap,   Knob::async_tp, Knob::compile,
};

bool is_any(const ConfigValue& value) {
  return value.kind == ConfigValue::Kind::text && value.text == "any";
}

/// The items of a list, or the value itself as a list of one.
std::vector<const ConfigValue*> items_of(const ConfigValue& value) {
  std::vector<const ConfigValue*> items;
  if (value.kind == ConfigValue::Kind::array) {
    for (const ConfigValue& item : value.items) {
      items.push_back(&item);
    }
  } else {
    items.push_back(&value);
  }
  return items;
}

/// The value as it was written, or what kind of value it is.
std::string shown(const ConfigValue& item) {
  switch (item.kind) {
    case ConfigValue::Kind::text: return quoted(item.text);
    case ConfigValue::Kind::number: return format_number(item.number);
    case ConfigValue::Kind::boolean: return item.boolean ? "true" : "false";
    default: return std::string{kind_name(item.kind)};
  }
}

class AxesReader {
 public:
  AxesReader(ConfigTable& search, const ConfigValue& root) : search_{search}, root_{root} {}

  FreedAxes run() {
    const bool all = read_all();
    freed_.all = all;
    for (std::size_t i = 0; i < strategy_axis_count; ++i) {
      const std::string_view key = strategy_axis_names[i];
      const auto which = static_cast<StrategyAxis>(i);
      AxisValues& axis = freed_.strategy[which];
      if (const ConfigValue* value = search_.value(key)) {
        refuse_stated(key, "strategy", key);
        read_values(key, *value, row_of_axis(key), axis);
      } else if (all && freed_with_all(which) && !stated("strategy", key)) {
        axis.free = axis.any = true;
      }
    }
    for (const Knob knob : job_axes) {
      const Key& row = row_of_axis(name_of(knob));
      if (const ConfigValue* value = search_.value(row.name())) {
        read_job(knob, row, *value);
      }
    }
    search_.finish();
    return std::move(freed_);
  }

 private:
  /// strategy = "any"
  bool read_all() {
    const ConfigValue* value = search_.value("strategy");
    if (value != nullptr && !is_any(*value)) {
      search_.problem("strategy", "'strategy' is \"any\" or left out; single axes have keys of their own");
    }
    return value != nullptr;
  }

  [[nodiscard]] bool stated(std::string_view table, std::string_view key) const {
    const ConfigValue* found = root_.find(table);
    return found != nullptr && found->find(key) != nullptr;
  }

  void refuse_stated(std::string_view axis, std::string_view table, std::string_view key) {
    const bool at_root = table.empty();
    if (at_root ? root_.find(key) != nullptr : stated(table, key)) {
      search_.problem_at_key(axis, quoted((at_root ? "" : std::string{table} + ".") + std::string{key}) +
                                       " is fixed by the scenario and freed by [search]: drop one of the two");
    }
  }

  /// Numbers of a list, a range or one value, each checked against the axis.
  std::vector<std::int64_t> read_numbers(std::string_view key, const ConfigValue& value, Range<std::int64_t> range) {
    std::vector<std::int64_t> numbers;
    for (const ConfigValue* item : items_of(value)) {
      if (item->kind == ConfigValue::Kind::integer) {
        numbers.push_back(item->integer);
        continue;
      }
      std::vector<std::int64_t> several;
      if (item->kind == ConfigValue::Kind::text) {
        several = parse_range(item->text);
      }
      if (several.empty()) {
        const bool range = item->kind == ConfigValue::Kind::text && item->text.find("..") != std::string::npos;
        std::string what = reversed_range_text(item->text);
        if (what.empty()) {
          what = range ? ", a range without values: it runs upward, by \" x2\" or more or by \" step 1\" or more"
                       : ", no whole number";
        }
        search_.problem(key, quoted(key) + " holds " + shown(*item) + what + "; an axis is " + std::string{forms});
        return {};
      }
      numbers.insert(numbers.end(), several.begin(), several.end());
    }
    for (const std::int64_t number : numbers) {
      if (number < range.low || number > range.high) {
        search_.problem(key, quoted(key) + " holds " + std::to_string(number) + ", outside of " +
                                 std::to_string(range.low) + " to " + std::to_string(range.high));
        return {};
      }
    }
    if (numbers.empty() || numbers.size() > most_axis_values) {
      search_.problem(key, quoted(key) + (numbers.empty() ? " is an empty list" : " holds more than 4096 values") +
                               "; an axis is " + std::string{forms});
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }

  /// The numbers of words, or of true and false.
  std::vector<std::int64_t> read_words(std::string_view key, const ConfigValue& value, const Key& row) {
    const bool boolean = row.type == KeyType::boolean_axis;
    std::vector<std::int64_t> numbers;
    for (const ConfigValue* item : items_of(value)) {
      if (boolean && item->kind == ConfigValue::Kind::boolean) {
        numbers.push_back(item->boolean ? 1 : 0);
        continue;
      }
      const auto found = item->kind == ConfigValue::Kind::text
                             ? std::find(row.choices.begin(), row.choices.end(), item->text)
                             : row.choices.end();
      if (found == row.choices.end()) {
        const std::string choices = boolean ? "true, false" : listed(row.choices);
        search_.problem(key, quoted(key) + " holds " + shown(*item) + ", none of " + choices +
                                 (item->kind == ConfigValue::Kind::text ? suggestion(item->text, row.choices) : ""));
        return {};
      }
      numbers.push_back(found - row.choices.begin());
    }
    if (numbers.empty()) {
      search_.problem(key, quoted(key) + " is an empty list");
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }

  void read_values(std::string_view key, const ConfigValue& value, const Key& row, AxisValues& axis) {
    axis.free = true;
    axis.any = is_any(value);
    if (axis.any) {
      return;
    }
    const std::vector<std::int64_t> numbers =
        row.type == KeyType::number_axis ? read_numbers(key, value, integers_of(row)) : read_words(key, value, row);
    axis.values.assign(numbers.begin(), numbers.end());
  }

  void read_job(Knob knob, const Key& row, const ConfigValue& value) {
    JobAxis axis{row.name(), knob, is_any(value), {}};
    const std::string_view key = path_of(knob);
    const std::size_t dot = key.find('.');
    const bool at_root = dot == std::string_view::npos;
    refuse_stated(row.name(), at_root ? "" : key.substr(0, dot), at_root ? key : key.substr(dot + 1));
    if (axis.any && !row.any) {
      search_.problem(row.name(), quoted(row.name()) + " needs a list: \"any\" is not known for it");
    } else if (!axis.any && row.type == KeyType::number_axis) {
      for (const std::int64_t number : read_numbers(row.name(), value, integers_of(row))) {
        axis.values.emplace_back(knob, number);
      }
    } else if (!axis.any) {
      read_job_words(row, value, axis);
    }
    freed_.jobs.push_back(std::move(axis));
  }

  void read_job_words(const Key& row, const ConfigValue& value, JobAxis& axis) {
    const std::string_view name = row.name();
    const bool boolean = row.type == KeyType::boolean_axis;
    // The same job twice would be the same plan twice.
    const auto add = [&](Change change) {
      if (std::find(axis.values.begin(), axis.values.end(), change) == axis.values.end()) {
        axis.values.push_back(std::move(change));
      }
    };
    for (const ConfigValue* item : items_of(value)) {
      if (boolean && item->kind == ConfigValue::Kind::boolean) {
        add({axis.knob, item->boolean});
      } else if (!boolean && item->kind == ConfigValue::Kind::text) {
        add(axis.knob == Knob::offload ? Change{axis.knob, offload_list(item->text)}
                                       : change_to(axis.knob, item->text));
      } else {
        search_.problem(name, quoted(name) + " holds " + std::string{kind_name(item->kind)} + "; it takes " +
                                  (boolean ? "true and false" : "names in quotes"));
        return;
      }
    }
    if (axis.values.empty()) {
      search_.problem(name, quoted(name) + " is an empty list");
    }
  }

  /// "none", "optimizer", "activations" or both with a plus between.
  std::vector<Offload> offload_list(const std::string& text) {
    if (text == "optimizer") {
      return {Offload::optimizer};
    }
    if (text == "activations") {
      return {Offload::activations};
    }
    if (text == "optimizer+activations") {
      return {Offload::optimizer, Offload::activations};
    }
    if (text != "none") {
      search_.problem("offload", "'offload' holds " + quoted(text) +
                                     ", none of none, optimizer, activations, optimizer+activations");
    }
    return {};
  }

  ConfigTable& search_;
  const ConfigValue& root_;
  FreedAxes freed_;
};

}  // namespace

std::vector<std::int64_t> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return {};
  }
  std::string_view rest = text.substr(dots + 2);
  std::int64_t factor = 1;
  std::int64_t step = 1;
  if (const std::size_t by = rest.find(" x"); by != std::string_view::npos) {
    factor = whole(rest.substr(by + 2)).value_or(0);
    rest = rest.substr(0, by);
    if (factor < 2) {
      return {};
    }
  } else if (const std::size_t stepped = rest.find(" step "); stepped != std::string_view::npos) {
    step = whole(rest.substr(stepped + 6)).value_or(0);
    rest = rest.substr(0, stepped);
  }
  const auto low = whole(text.substr(0, dots));
  const auto high = whole(rest);
  const bool small = low && high && std::max({-*low, *high, factor, step}) < 1'000'000'000'000;
  if (!small || *low > *high || step < 1 || (factor > 1 && *low < 1)) {
    return {};
  }
  std::vector<std::int64_t> values;
  for (std::int64_t v = *low; values.size() <= most_axis_values; v = factor > 1 ? v * factor : v + step) {
    values.push_back(v);
    const bool last = factor > 1 ? v > *high / factor : v > *high - step;
    if (last) {
      break;
    }
  }
  return values;
}

std::string reversed_range_text(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return {};
  }
  const std::string_view first = text.substr(0, dots);
  const std::string_view rest = text.substr(dots + 2);
  const std::string_view last = rest.substr(0, rest.find(' '));
  const std::optional<std::int64_t> high = whole(first);
  const std::optional<std::int64_t> low = whole(last);
  return low && high && *low < *high ? ", a range that is reversed: it runs upward, \"" + std::string{last} + ".." +
                                           std::string{first} + std::string{rest.substr(last.size())} + "\""
                                     : std::string{};
}

FreedAxes read_axes(ConfigTable& search, const ConfigValue& root) {
  return AxesReader{search, root}.run();
}

}  // namespace headroom
