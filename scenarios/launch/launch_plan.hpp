// SPDX-License-Identifier: Apache-2.0
// What is launched, as scenario keys with their values: what every launch form is written from and read into.
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

[[nodiscard]] ConfigValue nothing();  ///< null

/// As TOML writes it: 8, true, "full", ["a", "b"].
[[nodiscard]] std::string value_text(const ConfigValue& value);
/// Of one kind and equal, places apart; an integer equals the same number.
[[nodiscard]] bool same_value(const ConfigValue& a, const ConfigValue& b);

/// Dotted scenario keys ("strategy.tp", "model.moe.experts") in the order they were set. Beside the keys of a scenario
/// there are `launch.gpus_per_node` and `launch.nodes`, which a scenario says through its node, `launch.model`, the id
/// of the network whose numbers stand in `model.*`, `launch.own_network` where the scenario changes them, and
/// `training.offload.optimizer` and `.activations`, the two words of that array.
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

/// A training scenario with its open axes closed as `strategy` says.
[[nodiscard]] LaunchPlan plan_of(const Scenario& scenario, const TrainScenario& train, const Strategy& strategy);

/// a b of what a file states and nobody has judged yet: 0 where either is not above 0, the largest integer where the
/// product is beyond it.
[[nodiscard]] std::int64_t product(std::int64_t a, std::int64_t b) noexcept;

/// Tokens of an optimizer step; 0 where sequence or batch are not known.
[[nodiscard]] double tokens_of_step(const LaunchPlan& plan);

/// Keys below `model.` of a network, but for how its checkpoint is stored.
void set_network(const Architecture& architecture, LaunchPlan& plan);

/// The plan as a scenario document; every value keeps its place, and what is missing is missed at the start of `file`.
[[nodiscard]] ConfigValue document_of(const LaunchPlan& plan, const std::string& file);

/// A scenario document as TOML, with `comments` above it, one a line.
[[nodiscard]] std::string document_text(const ConfigValue& document, const std::vector<std::string>& comments);

}  // namespace headroom::launch
