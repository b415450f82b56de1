// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/fleet/fleet_comparison.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

/// A key by its path and its value, in the order of a document.
using Leaves = std::vector<std::pair<std::string, std::string>>;

std::string leaf_text(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::text: return value.text;
    case ConfigValue::Kind::boolean: return value.boolean ? "true" : "false";
    case ConfigValue::Kind::integer: return std::to_string(value.integer);
    case ConfigValue::Kind::number: return value.text.empty() ? shortest_text(value.number) : value.text;
    case ConfigValue::Kind::null: return "-";
    case ConfigValue::Kind::array:
    case ConfigValue::Kind::table: break;
  }
  return {};
}

/// Elements of arrays by their position: "traffic.class.0.name".
void add_leaves(const ConfigValue& value, const std::string& path, Leaves& leaves) {
  if (value.kind == ConfigValue::Kind::table) {
    for (const ConfigEntry& entry : value.entries) {
      add_leaves(entry.value, path.empty() ? entry.key : path + "." + entry.key, leaves);
    }
  } else if (value.kind == ConfigValue::Kind::array) {
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      add_leaves(value.items[i], path + "." + std::to_string(i), leaves);
    }
  } else {
    leaves.emplace_back(path, leaf_text(value));
  }
}

/// What a plan's question states, with what its first option chose; names of documents are no part of a question.
Leaves leaves_of(const FleetPlan& plan) {
  Leaves leaves;
  add_leaves(*plan.question->document, "", leaves);
  std::erase_if(
      leaves, [](const auto& leaf) { return leaf.first == "name" || leaf.first == "base" || leaf.first == "schema"; });
  return leaves;
}

/// Those whose values are not all the same; "-" where one states none.
std::vector<DifferingKey> differing(const std::vector<ComparedFleet>& fleets) {
  std::vector<DifferingKey> keys;
  for (std::size_t i = 0; i < fleets.size(); ++i) {
    for (auto& [path, value] : leaves_of(fleets[i].plan)) {
      auto key =
          std::find_if(keys.begin(), keys.end(), [&name = path](const DifferingKey& each) { return each.key == name; });
      if (key == keys.end()) {
        keys.push_back({path, std::vector<std::string>(fleets.size(), "-")});
        key = keys.end() - 1;
      }
      key->values[i] = std::move(value);
    }
  }
  std::erase_if(keys, [](const DifferingKey& key) {
    return std::all_of(key.values.begin(), key.values.end(),
                       [&](const std::string& value) { return value == key.values.front(); });
  });
  return keys;
}

}  // namespace

double FleetComparison::goal(std::size_t fleet) const {
  const FleetOption& best = fleets[fleet].plan.options.front();
  return priced ? best.per_million_output_of_all.mid.raw() : real(best.gpus) / best.mean_rate.raw();
}

FleetComparison compare_fleets(const std::vector<AskedFleet>& asked,
                               const FleetPlanOptions& options,
                               std::vector<RefusedPlan> refused) {
  if (asked.empty() || asked.size() + refused.size() < 2) {
    throw ConfigError{"a comparison holds two fleets or more side by side; 'headroom plan' answers one"};
  }
  FleetComparison comparison;
  comparison.refused = std::move(refused);
  for (const AskedFleet& one : asked) {
    comparison.fleets.push_back({one.file, plan_fleet(one, options)});
    comparison.complete = comparison.complete && comparison.fleets.back().plan.complete;
  }
  comparison.keys = differing(comparison.fleets);
  comparison.priced = true;
  for (std::size_t i = 0; i < comparison.fleets.size(); ++i) {
    const FleetPlan& plan = comparison.fleets[i].plan;
    if (plan.feasible()) {
      comparison.ranking.push_back(i);
      comparison.priced = comparison.priced && plan.options.front().per_hour.raw() > 0.0;
    }
  }
  std::stable_sort(comparison.ranking.begin(), comparison.ranking.end(),
                   [&](std::size_t a, std::size_t b) { return comparison.goal(a) < comparison.goal(b); });
  return comparison;
}

}  // namespace headroom
