// SPDX-License-Identifier: Apache-2.0
// Which questions are answered in milliseconds and which may take until their limit.
#pragma once

#include <headroom/answers/wire/request.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom::cli {

enum class QuestionCost : std::uint8_t { light, heavy };
inline constexpr std::size_t question_costs = 2;

/// By the words of the request, without reading it as JSON: light are lists, schemas, imports and a plan or an
/// explanation of a stated layout under a stated load. Heavy are searches, simulations, curves and comparisons; plans
/// whose layout is blank, which is searched; open loads, pools, clusters and whatever else says none of the words of a
/// light one. A wrong guess costs time alone: a question is answered the same by either kind of process.
[[nodiscard]] QuestionCost cost_of(WireVerb verb, std::string_view request) noexcept;

}  // namespace headroom::cli
