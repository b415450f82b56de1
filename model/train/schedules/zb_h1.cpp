// SPDX-License-Identifier: Apache-2.0
// ZB-H1: the passes of 1F1B with the gradients of weights moved into its bubble, stage i's by i micro-batches (Qi et
// al. 2023, section 2.3).
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/zero_bubble.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Qi et al. 2023, section 2.3, with B of the input alone: the bubble (p - 1)(F + B - W) while W is the shorter, else
/// the fill or the drain. The last chain is the steady rate when sends outlast half a W.
double closed_form(const PipelineShape& s, const PassLengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const double few = std::max(p - m, 0.0);
  const double delayed = std::min(m, p) - 1.0;
  const double ramp = round_trips(std::min(s.micro_batches, s.stages + 1) - 1, s.stages);
  const double steady = round_trips(s.micro_batches - 1, s.stages);
  const double steady_weights = s.micro_batches > s.stages ? m - steady : 1.0;
  const double filled = m > p ? p - 1.0 : std::max(p - 2.0, 0.0);
  return std::max({PassChain{m + p - 1.0, m + p - 1.0, m - delayed, p - 1.0 + ramp}.length(x),
                   PassChain{m + p - 1.0, m + few, m, filled}.length(x) + (std::min(m, p) - 1.0) * x.there,
                   PassChain{m + few, m + p - 1.0, m, p - 1.0}.length(x),
                   PassChain{m + p - 1.0, m + p - 1.0, steady_weights, p - 1.0 + steady}.length(x)});
}

}  // namespace

constinit const ScheduleModel schedules::zb_h1{
    .name = "zb-h1",
    .title = "ZB-H1",
    .splits_backward = true,
    .order = [](const PipelineShape& shape,
                std::int32_t stage,
                std::vector<Pass>& out) { write_zero_bubble(shape, stage, 1, out); },
    .closed_form = closed_form,
    .in_flight = [](const StageInFlight& at) noexcept { return std::min(at.micro_batches, at.stages); },
    .in_flight_source = "ZB-H1; Qi et al. 2023, section 2.3",
};

}  // namespace headroom
