// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/question/change.hpp>

namespace headroom {

Changes changes_to(const Strategy& s) {
  Changes all;
  if (s.order != RankOrder::tp_cp_dp_pp) {
    all.emplace_back(Knob::order, s.order);
  }
  all.emplace_back(Knob::tp, s.tp);
  all.emplace_back(Knob::pp, s.pp);
  for (const auto& [knob, ranks] : {std::pair{Knob::vpp, s.vpp}, {Knob::cp, s.cp}, {Knob::ep, s.ep}}) {
    if (ranks > 1) {
      all.emplace_back(knob, ranks);
    }
  }
  if (!s.etp_open && (s.tp > 1 || s.ep > 1 || s.etp > 1)) {
    all.emplace_back(Knob::etp, s.etp);
  }
  all.emplace_back(Knob::micro_batch, s.micro_batch);
  all.emplace_back(Knob::recompute, s.recompute);
  if (s.parts.any()) {
    all.emplace_back(Knob::recompute_parts, s.parts);
  }
  if (s.recompute == Recompute::full && s.recompute_block > 1) {
    all.emplace_back(Knob::recompute_block, s.recompute_block);
  }
  all.emplace_back(Knob::zero, s.zero);
  if (s.shard_ranks > 0) {
    all.emplace_back(Knob::shard_ranks, s.shard_ranks);
  }
  if (s.tp > 1) {
    all.emplace_back(Knob::sequence_parallel, s.sequence_parallel);
  }
  if (s.cp > 1 && s.cp_form != CpForm::unstated) {
    all.emplace_back(Knob::cp_form, s.cp_form);
  }
  if (s.schedule != usual_schedule) {
    all.emplace_back(Knob::schedule, s.schedule);
  }
  if (s.ep > 1) {
    all.emplace_back(Knob::overlap_experts, s.overlap_experts);
  }
  if (s.cuda_graphs) {
    all.emplace_back(Knob::cuda_graphs, true);
  }
  return all;
}

}  // namespace headroom
