// SPDX-License-Identifier: Apache-2.0
// A launch as scenario keys with values: every form is written from this and read into it.
#pragma once

#include <headroom/core/config_value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
struct Architecture;
struct Scenario;
struct Strategy;
struct TrainScenario;
}  // namespace headroom

namespace headroom::launch {

[[nodiscard]] ConfigValue nothing();  ///< a null value

/// Value in TOML syntax: 8, true, "full", ["a", "b"].
[[nodiscard]] std::string value_text(const ConfigValue& value);
/// Whether two values are equal and of one kind, whatever their places; an integer equals the same number.
[[nodiscard]] bool same_value(const ConfigValue& a, const ConfigValue& b);

/// Dotted scenario keys ("strategy.tp", "model.moe.experts") in the order in which they were set. Additional keys:
/// `launch.gpus_per_node` and `launch.nodes` (part of the node in a scenario), `launch.model` (id of the network whose
/// numbers are in `model.*`), `launch.own_network` (set when the scenario changes them), and
/// `training.offload.optimizer`, `.activations` and `.parameters` (the words of that array).
class LaunchPlan {
 public:
  [[nodiscard]] const ConfigValue* find(std::string_view key) const noexcept;
  [[nodiscard]] bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
  void set(std::string_view key, ConfigValue value);
  void erase(std::string_view key);
  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(entries_, predicate);
  }
  [[nodiscard]] std::int64_t count(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] double number(std::string_view key, double fallback) const;
  [[nodiscard]] std::string word(std::string_view key, std::string_view fallback = "") const;
  [[nodiscard]] bool flag(std::string_view key, bool fallback = false) const;
  [[nodiscard]] const std::vector<ConfigEntry>& entries() const noexcept { return entries_; }

 private:
  std::vector<ConfigEntry> entries_;
};

/// Keys of a training scenario whose open axes have the values of `strategy`.
[[nodiscard]] LaunchPlan plan_of(const Scenario& scenario, const TrainScenario& train, const Strategy& strategy);

/// a b for unchecked numbers of a file: 0 when either is not above 0, the largest integer on overflow.
[[nodiscard]] std::int64_t product(std::int64_t a, std::int64_t b) noexcept;

/// Tokens per optimizer step; 0 when sequence or batch is unknown.
[[nodiscard]] double tokens_of_step(const LaunchPlan& plan);

/// Sets the keys below `model.` of a network, except those of its checkpoint's format.
void set_network(const Architecture& architecture, LaunchPlan& plan);

/// The plan as a scenario document. Values keep their places; missing keys are reported at the start of `file`.
[[nodiscard]] ConfigValue document_of(const LaunchPlan& plan, const std::string& file);

/// A scenario document in TOML, with one line per comment above it.
[[nodiscard]] std::string document_text(const ConfigValue& document, const std::vector<std::string>& comments);

/// Trees made by hand, without places: a table in the order of its entries, and an array.
[[nodiscard]] ConfigValue table_value(std::vector<ConfigEntry> entries);
[[nodiscard]] ConfigValue list_value(std::vector<ConfigValue> items);

/// A table as a YAML document in block style. A text that YAML could take for anything else is quoted and escaped.
[[nodiscard]] std::string yaml_text(const ConfigValue& table);

}  // namespace headroom::launch
