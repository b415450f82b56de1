// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>

#include <cassert>

namespace headroom {
namespace {

double closed_form(const PipelineShape& s, const PassLengths& x) noexcept {
  return s.stages == 1 ? real(s.micro_batches) * s.chunks * x.both() : model_of(s.schedule).closed_form(s, x);
}

BrokenRule divides(ScheduleRule rule, std::int64_t number, std::int64_t by) noexcept {
  return by == 1 || number % by == 0 ? BrokenRule{} : BrokenRule{rule, number, by};
}

}  // namespace

std::array<BrokenRule, 3> order_rules(Schedule schedule, std::int64_t stages, std::int64_t micro_batches) noexcept {
  const OrderRules& rules = model_of(schedule).rules;
  const std::int64_t least = rules.micro_batches_a_stage * stages;
  const bool enough = micro_batches == 0 || micro_batches >= least;
  return {divides(ScheduleRule::stages_multiple, stages, rules.stages_multiple),
          divides(ScheduleRule::micro_batches_multiple, micro_batches, rules.micro_batches_multiple),
          enough ? BrokenRule{} : BrokenRule{ScheduleRule::micro_batches_a_stage, micro_batches, least}};
}

ScheduleRule broken_rule(const PipelineShape& s) noexcept {
  if (s.stages < 1 || s.chunks < 1 || s.micro_batches < 1) {
    return ScheduleRule::counts_positive;
  }
  if (s.chunks != chunks_of(s.schedule, s.chunks)) {
    return ScheduleRule::chunks_fixed;
  }
  for (const BrokenRule& broken : order_rules(s.schedule, s.stages, s.micro_batches)) {
    if (broken.rule != ScheduleRule::none) {
      return broken.rule;
    }
  }
  return ScheduleRule::none;
}

Seconds pipeline_time(const PipelineShape& s, const StageCosts& stage) noexcept {
  assert(broken_rule(s) == ScheduleRule::none);
  PassLengths lengths{stage};
  if (!s.blocking_sends || s.stages == 1) {
    return Seconds{closed_form(s, lengths)};
  }
  const double ends = lengths.sends();  // the ends of the pipeline send one way
  lengths.keep_sends_inside();
  return Seconds{closed_form(s, lengths) - ends};
}

}  // namespace headroom
