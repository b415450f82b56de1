// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/search/neighbours.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/training/offload.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

class NeighbourFinder {
 public:
  NeighbourFinder(const SearchQuestion& question, const SearchJob& job, const Candidate& plan)
      : axes_{question.axes.strategy}, job_{job}, plan_{plan.strategy} {
    base_ = evaluate(job.compiled, table_for(job.compiled, plan_), plan_);
  }

  std::vector<Neighbour> run() {
    ranks(StrategyAxis::tp, Knob::tp, plan_.tp);
    ranks(StrategyAxis::pp, Knob::pp, plan_.pp);
    ranks(StrategyAxis::cp, Knob::cp, plan_.cp);
    if (job_.train().architecture.moe) {
      ranks(StrategyAxis::ep, Knob::ep, plan_.ep);
    }
    if (plan_.pp > 1) {
      numbers(StrategyAxis::vpp, "vpp", &Strategy::vpp);
    }
    numbers(StrategyAxis::micro_batch, "micro_batch", &Strategy::micro_batch);
    words(StrategyAxis::recompute, "recompute", recompute_names, [this](Strategy& s, std::size_t i) {
      s.recompute = static_cast<Recompute>(i);
      s.recompute_block = 1;
      s.parts = s.recompute == plan_.recompute ? plan_.parts : RecomputeParts{};
    });
    zeros();
    if (plan_.tp > 1) {
      flag(StrategyAxis::sequence_parallel, "sequence_parallel", &Strategy::sequence_parallel);
    }
    if (plan_.ep > 1) {
      flag(StrategyAxis::overlap_experts, "overlap_experts", &Strategy::overlap_experts);
    }
    if (plan_.cp > 1) {
      words(StrategyAxis::cp_form, "cp_form", cp_form_names,
            [](Strategy& s, std::size_t i) { s.cp_form = static_cast<CpForm>(i); });
    }
    orders();
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool searched(StrategyAxis axis) const noexcept {
    const bool open = (axis == StrategyAxis::micro_batch && job_.train().micro_batch_open) ||
                      (axis == StrategyAxis::recompute && job_.train().recompute_open);
    return axes_[axis].free || open;
  }

  /// Data ranks follow, and what depends on the tensor ranks as a blank key would.
  void ranks(StrategyAxis axis, Knob knob, int now) {
    if (!searched(axis)) {
      return;
    }
    const TrainScenario& t = job_.train();
    for (const int value : {now / 2, now * 2}) {
      if (value < 1) {
        continue;
      }
      StatedStrategy stated = t.stated.strategy;
      for (const Change& change : changes_to(plan_)) {
        if (change.knob != Knob::recompute_parts) {
          state(change, stated);
        }
      }
      state({knob, value}, stated);
      stated.dp.reset();
      stated.overlap_experts = plan_.overlap_experts;
      Strategy s = resolve_strategy(stated, t.architecture, t.software.defaults, t.work.shape.gpus);
      s.vpp = s.pp > 1 ? s.vpp : std::uint16_t{1};
      s.shard_ranks = 0;
      s.parts = plan_.parts;
      std::string change = std::string{name_of(knob)} + " = " + std::to_string(value);
      change += s.dp != plan_.dp ? ", dp = " + std::to_string(s.dp) : "";
      change += s.vpp != plan_.vpp ? ", vpp = 1" : "";
      change += s.shard_ranks != plan_.shard_ranks ? ", shard_ranks = 0" : "";
      judge(std::move(change), s);
    }
  }

  void numbers(StrategyAxis axis, std::string_view name, std::uint16_t Strategy::*field) {
    if (!searched(axis)) {
      return;
    }
    for (const int value : {plan_.*field / 2, plan_.*field * 2}) {
      if (value >= 1) {
        Strategy s = plan_;
        s.*field = static_cast<std::uint16_t>(value);
        judge(std::string{name} + " = " + std::to_string(value), s);
      }
    }
  }

  template <std::size_t N, class Set>
  void words(StrategyAxis axis, std::string_view name, const std::array<std::string_view, N>& texts, Set set) {
    for (std::size_t i = 0; searched(axis) && i < N; ++i) {
      Strategy s = plan_;
      set(s, i);
      if (!(s == plan_)) {
        judge(std::string{name} + " = " + std::string{texts[i]}, s);
      }
    }
  }

  void flag(StrategyAxis axis, std::string_view name, bool Strategy::*field) {
    if (searched(axis)) {
      Strategy s = plan_;
      s.*field = !(plan_.*field);
      judge(std::string{name} + " = " + (s.*field ? "true" : "false"), s);
    }
  }

  void zeros() {
    for (int zero = 0; searched(StrategyAxis::zero) && zero <= 3; ++zero) {
      if (zero != plan_.zero && job_.train().software.shards(zero, plan_.pp > 1)) {
        Strategy s = plan_;
        s.zero = static_cast<std::uint8_t>(zero);
        judge("zero = " + std::to_string(zero), s);
      }
    }
  }

  void orders() {
    for (const RankOrder order : job_.train().software.orders) {
      if (searched(StrategyAxis::order) && order != plan_.order) {
        Strategy s = plan_;
        s.order = order;
        judge("order = " + std::string{name_of(order)}, s);
      }
    }
  }

  void judge(std::string change, Strategy s) {
    Neighbour n;
    n.change = std::move(change);
    const CompiledTraining& c = job_.compiled;
    s = with_open_stages(s);
    const Legality rule = check(c.architecture, job_.train().work.shape, s);
    if (rule.verdict != Verdict::feasible) {
      n.verdict = problem_of(rule, s.schedule).text;
      found_.push_back(std::move(n));
      return;
    }
    if (axes_[StrategyAxis::overlap_experts].any && s.overlap_experts && !runs_overlapped(job_.train(), s)) {
      n.verdict = job_.train().software.id + " does not overlap experts so";
      found_.push_back(std::move(n));
      return;
    }
    const LayerTable table = table_for(c, s);
    // As fast as it is, whether it fits or not.
    const Estimate e = shortest(c, table, s, any_room).estimate;
    n.memory = e.device.high;
    n.slower = e.step / base_.step - 1.0;
    n.why = difference_by_term(e.time, base_.time);
    if (e.device.high > job_.room) {
      n.verdict = "needs up to " + format(e.device.high) + " of " + format(job_.room);
    } else if (host_is_short(job_.train(), e)) {
      n.verdict = "needs " + format(host_need(job_.train(), e)) + " of " + format(*job_.train().host_memory) +
                  " of host memory per node";
    }
    // What changes nothing is no neighbour worth a line.
    if (std::abs(n.slower) > 1e-9 || !n.verdict.empty()) {
      found_.push_back(std::move(n));
    }
  }

  const StrategyAxes& axes_;
  const SearchJob& job_;
  const Strategy plan_;
  Estimate base_;
  std::vector<Neighbour> found_;
};

}  // namespace

std::vector<Neighbour> find_neighbours(const SearchQuestion& question, const SearchJob& job, const Candidate& plan) {
  return NeighbourFinder{question, job, plan}.run();
}

std::string difference_by_term(const Breakdown& time, const Breakdown& from) {
  constexpr double visible = 0.002;  // of the step
  constexpr std::size_t most = 2;
  std::vector<std::pair<Seconds, std::string_view>> differences;
  for (std::size_t i = 0; i < term_count; ++i) {
    const Seconds difference = time.exposed[i] - from.exposed[i];
    if (std::abs(difference / from.total()) > visible) {
      differences.emplace_back(difference, term_names[i]);
    }
  }
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.first.raw()) > std::abs(b.first.raw()); });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, differences.size()); ++i) {
    const auto& [difference, term] = differences[i];
    text += (text.empty() ? "" : ", ") + std::string{term} + (difference > Seconds{} ? " +" : " -") +
            format(Seconds{std::abs(difference.raw())});
  }
  return text;
}

}  // namespace headroom
