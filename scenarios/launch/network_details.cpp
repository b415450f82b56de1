// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/launch/network_details.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

/// Value of a key that the network does not state.
using Usual = std::variant<std::monostate, std::string_view, std::int64_t, double>;

struct Detail {
  std::string_view key;  ///< a key, or a prefix that ends in '*'
  Usual usual = {};      ///< monostate: not known
};
constexpr std::int64_t none = 0;
constexpr std::array details{
    Detail{"model.norm_eps"},
    Detail{"model.activation"},
    Detail{"model.positions", "rope"},
    Detail{"model.rope_base"},
    Detail{"model.rope_base_local", none},
    Detail{"model.rope_share", 1.0},
    Detail{"model.rope_scaling.kind", "none"},
    Detail{"model.rope_scaling.mscale_all", 0.0},
    Detail{"model.rope_scaling.*"},
    Detail{"model.moe.score"},
    Detail{"model.moe.normalized"},
    Detail{"model.moe.scale", 1.0},
    Detail{"model.moe.groups", none},
    Detail{"model.moe.top_groups", none},
};

const Detail* detail_of(std::string_view key) noexcept {
  const auto* found = std::find_if(details.begin(), details.end(), [&](const Detail& d) {
    return d.key.ends_with('*') ? key.starts_with(d.key.substr(0, d.key.size() - 1)) : d.key == key;
  });
  return found == details.end() ? nullptr : found;
}

std::optional<ConfigValue> usual_value(const Detail& detail) {
  if (const auto* word = std::get_if<std::string_view>(&detail.usual)) {
    return word_value(*word);
  }
  if (const auto* count = std::get_if<std::int64_t>(&detail.usual)) {
    return count_value(*count);
  }
  const auto* number = std::get_if<double>(&detail.usual);
  return number == nullptr ? std::nullopt : std::optional{number_value(*number)};
}

std::optional<ConfigValue> value_of(const LaunchPlan& plan, std::string_view key) {
  const ConfigValue* value = plan.find(key);
  return value != nullptr ? std::optional{*value} : usual_value(*detail_of(key));
}

/// Launch forms do not distinguish GELU from its tanh approximation.
bool alike(const ConfigValue& a, const ConfigValue& b) {
  const bool gelu =
      a.kind == Kind::text && b.kind == Kind::text && a.text.starts_with("gelu") && b.text.starts_with("gelu");
  return gelu || same_value(a, b);
}

}  // namespace

bool is_detail(std::string_view key) noexcept {
  return detail_of(key) != nullptr;
}

std::vector<std::string> different_details(const LaunchPlan& launch, const LaunchPlan& preset) {
  std::vector<std::string> keys;
  const bool stretched = launch.word("model.rope_scaling.kind", "none") != "none";
  for (const ConfigEntry& entry : launch.entries()) {
    const bool of_nothing = entry.key.starts_with("model.rope_scaling.") && !entry.key.ends_with(".kind") && !stretched;
    if (!is_detail(entry.key) || of_nothing) {
      continue;
    }
    const std::optional<ConfigValue> theirs = value_of(preset, entry.key);
    if (theirs ? !alike(entry.value, *theirs) : static_cast<bool>(entry.value.file)) {
      keys.push_back(entry.key);
    }
  }
  return keys;
}

void drop_usual_details(LaunchPlan& plan) {
  plan.erase_if([](const ConfigEntry& entry) {
    const Detail* detail = detail_of(entry.key);
    const std::optional<ConfigValue> usual = detail == nullptr ? std::nullopt : usual_value(*detail);
    return usual && same_value(entry.value, *usual);
  });
}

void drop_network(LaunchPlan& plan) {
  plan.erase_if([](const ConfigEntry& entry) { return entry.key.starts_with("model."); });
}

void take_preset(const std::string& id, const LaunchPlan& preset, const ConfigValue& at, LaunchReading& reading) {
  std::vector<ConfigEntry> own;
  for (const std::string& key : different_details(reading.plan, preset)) {
    const ConfigValue ours = *reading.plan.find(key);
    const std::optional<ConfigValue> theirs = value_of(preset, key);
    reading.remark(ours.file ? ours : at, key + " = " + value_text(ours) +
                                              (ours.file ? "" : ", for the file does not say it") + "; " + id +
                                              (theirs ? " has " + value_text(*theirs) : " does not state it"));
    own.emplace_back(key, ours);
  }
  drop_network(reading.plan);
  ConfigValue named = word_value(id);
  named.file = at.file;
  named.at = named.key_at = at.at;
  reading.plan.erase("model");  // replaced by a table with the name and the differences
  reading.plan.set(own.empty() ? "model" : "model.base", std::move(named));
  for (ConfigEntry& entry : own) {
    if (!entry.value.file) {  // defaults of the software get the network's place
      entry.value.file = at.file;
      entry.value.at = entry.value.key_at = at.at;
    }
    reading.plan.set(entry.key, std::move(entry.value));
  }
}

}  // namespace headroom::launch
