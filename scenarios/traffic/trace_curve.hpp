// SPDX-License-Identifier: Apache-2.0
// The rate of a trace over its time: equal parts of the trace, each with its number of requests.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/screen/autoscaling.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

/// Parts of a trace where no length is stated: with so many requests on average, no shorter, and no more of them. Of 50
/// requests that come at random the number varies by 14 %.
inline constexpr std::int64_t requests_of_a_bin = 50;
inline constexpr Seconds shortest_bin{60.0};
inline constexpr std::int64_t usual_bins = 1440;
/// Most parts that may be stated.
inline constexpr std::int64_t most_bins = 10'000;

/// Number of equal parts of a trace of `requests` over `span`: as near to `bin` as whole parts come, or as above; one
/// at least. Precondition: span above 0.
[[nodiscard]] std::int64_t bins_of(std::int64_t requests, Seconds span, std::optional<Seconds> bin) noexcept;

/// Requests of each part; those on an edge are of the later part, the last request of the last. Precondition: requests
/// in order of arrival that do not all come at once, bins >= 1.
[[nodiscard]] std::vector<std::int64_t> counts_of(std::span<const Request> trace, std::int64_t bins);

/// Rate of each part over the mean rate, a constant a part, over `span`; it does not repeat. Preconditions: as of
/// counts_of().
[[nodiscard]] LoadCurve curve_of(std::span<const Request> trace, Seconds span, std::int64_t bins);

/// The requests with every part at the mean rate: each arrival at the share of the trace's requests that its part's
/// constant rate brings until then (the inverse of the time change of Cinlar 1975, section 4.7). Lengths, order and the
/// gaps inside of a part, relative to its mean gap, stay. Preconditions: as of counts_of().
[[nodiscard]] std::vector<Request> at_one_rate(std::vector<Request> trace, std::int64_t bins);

}  // namespace headroom
