// SPDX-License-Identifier: Apache-2.0
// The request rate of a trace over time, in parts of equal length.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/screen/autoscaling.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

/// Defaults for the parts of a trace: 50 requests a part on average, 60 s at least, and 1,440 parts at most. The number
/// of requests in such a part varies by 14 % if they arrive at random.
inline constexpr std::int64_t requests_of_a_bin = 50;
inline constexpr Seconds shortest_bin{60.0};
inline constexpr std::int64_t usual_bins = 1440;
/// Upper bound on the number of parts that a scenario may ask for.
inline constexpr std::int64_t most_bins = 10'000;

/// Number of parts, at least 1, for a trace of `requests` over `span`: the whole number nearest to span / bin, or the
/// default if `bin` is not given. Precondition: span is above 0.
[[nodiscard]] std::int64_t bins_of(std::int64_t requests, Seconds span, std::optional<Seconds> bin) noexcept;

/// Number of requests in each part. A request on the boundary of two parts counts in the later one, the last request in
/// the last part. Preconditions: the requests are in order of arrival, they do not all arrive at once, and bins >= 1.
[[nodiscard]] std::vector<std::int64_t> counts_of(std::span<const Request> trace, std::int64_t bins);

/// The rate of each part divided by the mean rate, constant within a part. The curve covers `span` and does not repeat.
/// Preconditions: as of counts_of().
[[nodiscard]] LoadCurve curve_of(std::span<const Request> trace, Seconds span, std::int64_t bins);

/// The trace with its rate made constant. Each arrival moves to the time by which a constant mean rate would have
/// brought as many requests (the inverse of the time change of Cinlar 1975, section 4.7). Lengths and order stay, and
/// so do the gaps within a part relative to the part's mean gap. Preconditions: as of counts_of().
[[nodiscard]] std::vector<Request> at_one_rate(std::vector<Request> trace, std::int64_t bins);

}  // namespace headroom
