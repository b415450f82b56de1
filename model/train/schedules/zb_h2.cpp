// SPDX-License-Identifier: Apache-2.0
// ZB-H2: ZB-H1 with twice its forward passes ahead and gradients of weights delayed by 2i micro-batches (Qi et al.
// 2023, section 2.3).
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/zero_bubble.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Qi et al. 2023, section 2.3: the bubble (p - 1)(F + B - 2W), else the fill. Below 2p - 1 micro-batches the drain
/// waits, a stage for every second one that is missing.
double closed_form(const PipelineShape& s, const PassLengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const std::int32_t missing = std::max(0, 2 * s.stages - 1 - s.micro_batches);
  const double waits = real(missing / 2);  // whole stages
  const double odd = real(missing % 2);
  const double trips = (p - 1.0 + waits + odd) / 2.0;
  const double delayed = std::min(m, 2.0 * p - 1.0) - 1.0;
  return std::max({PassChain{m + p - 1.0, m + p - 1.0, m - delayed, p - 1.0}.length(x),
                   PassChain{m + p - 1.0, m + waits, m, (p - 1.0 + waits) / 2.0}.length(x),
                   PassChain{m + p - 1.0, m + waits + odd, m - odd, trips}.length(x),
                   PassChain{m + p - 1.0 - odd, m + waits + odd, m, trips}.length(x)});
}

}  // namespace

constinit const ScheduleModel schedules::zb_h2{
    .name = "zb-h2",
    .title = "ZB-H2",
    .splits_backward = true,
    .order = [](const PipelineShape& shape,
                std::int32_t stage,
                std::vector<Pass>& out) { write_zero_bubble(shape, stage, 2, out); },
    .closed_form = closed_form,
    .in_flight = [](const StageInFlight& at) noexcept { return std::min(at.micro_batches, 2.0 * at.stages - 1.0); },
    .in_flight_source = "ZB-H2; Qi et al. 2023, section 2.3",
};

}  // namespace headroom
