// SPDX-License-Identifier: Apache-2.0
// Numbers and lists as text in sentences.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {

/// 0.123 as "12.3"; "-" if the share is NaN or infinite.
[[nodiscard]] std::string percent_number(double share, int digits = 3);
/// 0.123 as "12.3 %"; "-" if the share is NaN or infinite.
[[nodiscard]] std::string percent(double share, int digits = 3);
/// "80 %", "97.2 %", "over 99.9 %": a probability as people read it, the finer the surer.
[[nodiscard]] std::string probability_text(double probability);

/// "1 replica", "2 replicas"; `plural` is needed for irregular plurals: "2 batches".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun, std::string_view plural = {});

/// "tp, pp, cp".
[[nodiscard]] std::string listed(std::span<const std::string_view> names);

/// The parts in their order with `between` them.
[[nodiscard]] std::string joined(std::span<const std::string> parts, std::string_view between = ", ");
/// The same of what `text` says of each part.
template <class Range, class Text>
requires std::invocable<Text, decltype(*std::begin(std::declval<const Range&>()))>
[[nodiscard]] std::string joined(const Range& parts, Text text, std::string_view between = ", ") {
  std::string all;
  for (const auto& part : parts) {
    all += all.empty() ? std::string_view{} : between;
    all += std::invoke(text, part);
  }
  return all;
}

}  // namespace headroom
