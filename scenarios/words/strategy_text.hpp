// SPDX-License-Identifier: Apache-2.0
// A strategy in one line, and what a job states beside it.
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/words/told_apart.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace headroom {

/// "tp 4, pp 8, dp 32, micro-batch 1, ZeRO 1, recompute none, sequence parallel". Settings at their usual value are
/// left out.
[[nodiscard]] std::string strategy_text(const Strategy& strategy);
/// The same, each setting a word.
[[nodiscard]] Words strategy_words(const Strategy& strategy);

/// "4", "true", "selective"; "-" where no word stands for it.
template <class Field>
[[nodiscard]] std::string field_text(const Field& field, const Strategy& strategy) {
  const auto value = field.of(strategy);
  if constexpr (std::is_same_v<decltype(value), const bool>) {
    return value ? "true" : "false";
  } else {
    const auto number = static_cast<std::size_t>(value);
    return field.words.empty()           ? std::to_string(number)
           : number < field.words.size() ? std::string{field.words[number]}
                                         : "-";
  }
}

/// The settings that are told by their fields alone and are not as usual.
template <class See>
void for_each_told_field(const Strategy& strategy, See see) {
  constexpr Strategy usual;
  for_each_strategy_field([&](const auto& field) {
    if (!field.told.empty() && field.of(strategy) != field.of(usual)) {
      see(field);
    }
  });
}

struct MemoryOptions;
/// A key of a scenario, its path and its value as the scenario spells it.
struct StatedKey {
  std::string_view path;
  std::string value;  ///< empty: not stated
};
/// What is said of parts that run again, kept activations, exchanges of experts and averaged weights.
[[nodiscard]] std::vector<StatedKey> stated_recipe(const MemoryOptions& options);
/// Those that are stated: ", recompute parts layernorm mla_up_proj, dispatch fp8"; empty: none is.
[[nodiscard]] std::string stated_recipe_text(const MemoryOptions& options);

}  // namespace headroom
