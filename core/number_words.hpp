// SPDX-License-Identifier: Apache-2.0
// Numbers and lists as text in sentences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// 0.123 as "12.3"; "-" if the share is NaN or infinite.
[[nodiscard]] std::string percent_number(double share, int digits = 3);
/// 0.123 as "12.3 %"; "-" if the share is NaN or infinite.
[[nodiscard]] std::string percent(double share, int digits = 3);

/// "1 replica", "2 replicas"; `plural` is needed for irregular plurals: "2 batches".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun, std::string_view plural = {});

/// The parts in order, separated by `between`.
[[nodiscard]] std::string joined(std::span<const std::string> parts, std::string_view between = ", ");

}  // namespace headroom
