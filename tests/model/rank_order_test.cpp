// SPDX-License-Identifier: Apache-2.0
// The order of axes: which ranks form a group, and what that does to a step.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <map>
#include <set>
#include <string>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

/// A rank's place on each axis, taken apart by the name of the order.
std::map<std::string, std::int64_t> place_of(std::int64_t rank, std::string_view name, const Degrees& d) {
  const std::map<std::string, std::int64_t> degrees{{"tp", d.tp}, {"cp", d.cp}, {"dp", d.dp}, {"pp", d.pp}};
  std::map<std::string, std::int64_t> place;
  for (std::size_t at = 0; at < name.size(); at += 3) {
    const std::string axis{name.substr(at, 2)};
    place[axis] = rank % degrees.at(axis);
    rank /= degrees.at(axis);
  }
  return place;
}

using Group = std::set<std::int64_t>;

/// Rank 0's group: all ranks whose places differ on `axes` alone.
Group by_places(std::string_view name, const Degrees& d, const std::set<std::string>& axes) {
  Group group;
  for (std::int64_t rank = 0; rank < d.ranks(); ++rank) {
    bool same = true;
    for (const auto& [axis, place] : place_of(rank, name, d)) {
      same = same && (axes.count(axis) > 0 || place == 0);
    }
    if (same) {
      group.insert(rank);
    }
  }
  return group;
}

Group by_form(const GroupForm& form) {
  Group group;
  for (std::int64_t i = 0; i < form.size(); ++i) {
    group.insert(i / form.ranks * form.apart + i % form.ranks * form.stride);
  }
  return group;
}

Architecture network(bool moe) {
  Architecture arch;
  arch.id = "plain";
  arch.layers = 24;
  arch.hidden = 4096;
  arch.heads = arch.kv_heads = 32;
  arch.head_dim = 128;
  arch.ffn_hidden = 16384;
  arch.vocab = 51200;
  if (moe) {
    arch.moe = Moe{};
    arch.moe->experts = 8;
    arch.moe->top_k = 2;
    arch.moe->expert_ffn_hidden = 4096;
  }
  return arch;
}

CompiledTraining compiled(std::int64_t gpus, bool moe = false) {
  const Device& device = catalog().device("h100-sxm-80gb");
  TrainingWorkload work;
  work.shape = {gpus, 2048, 512};
  work.states = adam_states(Precision::bf16);
  static const MemoryStacks stacks = memory_stacks(test::model_data());
  return compile(network(moe), device,
                 std::make_shared<const JobGroups>(test::model_data(), device,
                                                   JobHosts{catalog().node("dgx-h100"), 0, {}, {}}, gpus),
                 test::stated_software(stacks.find("megatron-lm"), test::stated_stack()), work,
                 test::stated_parameters());
}

Strategy layout(int tp, int cp, int dp, int pp, RankOrder order) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.cp = static_cast<std::uint16_t>(cp);
  s.dp = static_cast<std::uint32_t>(dp);
  s.pp = static_cast<std::uint16_t>(pp);
  s.order = order;
  return s;
}

Estimate price(const CompiledTraining& c, const Strategy& s) {
  return evaluate(c, tabulate(c, key_of(s)), s);
}

}  // namespace

TEST_CASE("every order's groups are the ranks whose places differ on the group's axes alone") {
  for (std::size_t i = 0; i < rank_order_names.size(); ++i) {
    for (const Degrees& d :
         {Degrees{2, 3, 4, 5, 1, 1}, Degrees{2, 1, 4, 3, 1, 1}, Degrees{1, 4, 1, 2, 1, 1}, Degrees{4, 2, 2, 1, 1, 1}}) {
      const std::string_view name = rank_order_names[i];
      CAPTURE(name);
      const RankGroups groups = groups_of(static_cast<RankOrder>(i), d);
      CHECK(by_form(groups.tensor) == by_places(name, d, {"tp"}));
      CHECK(by_form(groups.context) == by_places(name, d, {"cp"}));
      CHECK(by_form(groups.stages) == by_places(name, d, {"pp"}));
      CHECK(by_form(groups.data) == by_places(name, d, {"dp", "cp"}));
    }
  }
}

TEST_CASE("experts divide the ranks of a stage anew, and never reach into another") {
  const Degrees d{2, 1, 8, 3, 4, 2};
  for (std::size_t i = 0; i < rank_order_names.size(); ++i) {
    const auto order = static_cast<RankOrder>(i);
    CAPTURE(name_of(order));
    const InsideStages inside = inside_stages(order, d);
    if (inside.dense != inside.experts) {
      CHECK(order == RankOrder::tp_cp_pp_dp);  // etp ep = 8 ranks inside the stages, tp cp = 2
      continue;
    }
    const RankGroups groups = groups_of(order, d);
    const Group stage = by_places(name_of(order), d, {"tp", "cp", "dp"});
    for (const GroupForm& form : {groups.experts, groups.expert_data}) {
      for (const std::int64_t rank : by_form(form)) {
        CHECK(stage.count(rank) == 1);
      }
    }
    CHECK(groups.experts.size() * groups.expert_data.size() * d.etp == 16);
  }
}

TEST_CASE("an order is spelled with the place of ep or without, as fabric show has it") {
  CHECK(find_rank_order("tp-cp-dp-pp") == RankOrder::tp_cp_dp_pp);
  CHECK(find_rank_order("tp-cp-ep-dp-pp") == RankOrder::tp_cp_dp_pp);
  CHECK(find_rank_order("tp-cp-ep-pp-dp") == RankOrder::tp_cp_pp_dp);
  CHECK(find_rank_order("pp-tp-cp-dp") == RankOrder::pp_tp_cp_dp);
  for (const char* wrong : {"", "tp", "tp-cp-dp", "tp-cp-dp-pp-", "tp-cp-dp-ppp", "tpcpdppp", "tp-cp-pp-ep-dp"}) {
    CAPTURE(wrong);
    CHECK_FALSE(find_rank_order(wrong));
  }
  for (std::size_t i = 0; i < rank_order_names.size(); ++i) {
    const AxisOrder& axes = axes_of(static_cast<RankOrder>(i));
    CHECK(find_rank_order(to_text(axes)) == static_cast<RankOrder>(i));
    CHECK_NOTHROW(static_cast<void>(parse_axis_order(to_text(axes))));
  }
}

TEST_CASE("a share of split data ranks is whole runs, or part of one") {
  const GroupForm data{4, 2, 3, 32};  // four data ranks side by side, three times
  const auto half = shard_groups(data, 2);
  REQUIRE(half);
  CHECK(half->shard == GroupForm{2, 2});
  CHECK(half->replicas == GroupForm{2, 4, 3, 32});
  const auto run = shard_groups(data, 4);
  REQUIRE(run);
  CHECK(run->shard == GroupForm{4, 2});
  CHECK(run->replicas == GroupForm{3, 32});
  const auto all = shard_groups(data, 12);
  REQUIRE(all);
  CHECK(all->shard == data);
  CHECK(all->replicas.size() == 1);
  CHECK_FALSE(shard_groups(data, 6));
  const auto plain = shard_groups({8, 4}, 2);
  REQUIRE(plain);
  CHECK(plain->replicas == GroupForm{4, 8});
}

TEST_CASE("stages side by side push the tensor ranks out of the host: communication of the step grows") {
  const CompiledTraining c = compiled(32);
  const Estimate usual = price(c, layout(8, 1, 1, 4, RankOrder::tp_cp_dp_pp));
  const Estimate swapped = price(c, layout(8, 1, 1, 4, RankOrder::pp_tp_cp_dp));
  CHECK(swapped.time[Term::tp_comm] > 3.0 * usual.time[Term::tp_comm]);
  CHECK(swapped.time[Term::pp_comm] < usual.time[Term::pp_comm]);
  CHECK(swapped.step > usual.step);
  CHECK(swapped.memory.total() == usual.memory.total());
}

TEST_CASE("stages before data: sends stay in the host, gradients leave it") {
  const CompiledTraining c = compiled(32);
  const Strategy usual = layout(2, 1, 4, 4, RankOrder::tp_cp_dp_pp);
  const Strategy staged = layout(2, 1, 4, 4, RankOrder::tp_cp_pp_dp);
  const StepTable near_data = c.step->tabulate(key_of(usual));
  const StepTable near_stages = c.step->tabulate(key_of(staged));
  CHECK(near_data.stages->view().domains == 4);
  CHECK(near_data.data->view().domains == 1);
  CHECK(near_stages.stages->view().domains == 1);
  CHECK(near_stages.data->view().domains == 4);
  CHECK(price(c, staged).time[Term::pp_comm] < price(c, usual).time[Term::pp_comm]);
  CHECK(price(c, staged).time[Term::dp_comm] > price(c, usual).time[Term::dp_comm]);
}

TEST_CASE("tables of one model keep orders and numbers of stages apart") {
  const CompiledTraining c = compiled(64);
  const Strategy wide = layout(8, 1, 2, 4, RankOrder::pp_tp_cp_dp);
  const Strategy deep = layout(8, 1, 1, 8, RankOrder::pp_tp_cp_dp);
  // tp is 4 and 8 GPUs apart: two ranks of a group share a host, or none.
  CHECK(c.step->tabulate(key_of(wide)).layer.forward.tp.raw() !=
        near(c.step->tabulate(key_of(deep)).layer.forward.tp.raw()));
  const Strategy usual = layout(8, 1, 2, 4, RankOrder::tp_cp_dp_pp);
  CHECK(c.step->tabulate(key_of(usual)).layer.forward.tp < c.step->tabulate(key_of(wide)).layer.forward.tp);
  // One table serves every pp while stages are outermost.
  CHECK(key_of(usual).pp == 0);
  CHECK(key_of(wide).pp == 4);
}

TEST_CASE("what an order cannot do is refused with its numbers") {
  const TrainingShape shape{64, 2048, 512};
  Strategy s = layout(2, 1, 8, 4, RankOrder::tp_cp_pp_dp);
  s.etp = 2;
  s.ep = 4;
  const Legality experts = check(network(true), shape, s);
  CHECK(experts.verdict == Verdict::experts_straddle_stages);
  CHECK(experts.broke == 8.0);
  CHECK(experts.limit == 2.0);
  s.ep = 1;  // the experts' ranks inside the stages are the tensor ranks
  CHECK(check(network(true), shape, s).verdict == Verdict::feasible);
  s.ep = 4;
  s.order = RankOrder::tp_cp_dp_pp;
  CHECK(check(network(true), shape, s).verdict == Verdict::feasible);
  Strategy shared = layout(1, 4, 4, 4, RankOrder::tp_cp_pp_dp);
  shared.zero = 3;
  shared.shard_ranks = 8;  // two whole runs of four
  CHECK(check(network(false), shape, shared).verdict == Verdict::feasible);
  shared = layout(1, 4, 3, 4, RankOrder::tp_cp_pp_dp);
  shared.shard_ranks = 6;
  const Legality share = check(network(false), {48, 2048, 510}, shared);
  CHECK(share.verdict == Verdict::shard_ranks_straddle);
  CHECK(share.broke == 6.0);
  CHECK(share.limit == 4.0);
}
