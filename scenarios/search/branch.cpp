// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/model/train/memory/memory_bound.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/scenarios/search/branch.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/training/offload.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace headroom {
namespace {

/// Whether the tensor and context ranks of a layer lie inside the data ranks and those inside the stages: where they
/// stand then hangs on neither.
bool ranks_within_data(RankOrder order) noexcept {
  const auto& axes = axes_of(order).axes;
  return axes[axes.size() - 2] == Axis::dp && pipeline_outermost(order);
}

/// What no strategy of a table, stages and micro-batches takes less of.
struct LeastTimes {
  Seconds step{}, computing{};
  [[nodiscard]] LeastTimes with_bubble(double share) const noexcept { return {(1.0 + share) * step, computing}; }
};

/// What a schedule's bubble adds to a stage's passes at least, as a share of them: (p - 1)/(v m) where its stages wait
/// for one another, for the slowest is no faster than the mean (Narayanan et al. 2021, section 2.2).
double least_bubble(const SearchJob& job,
                    const ScheduleForm& form,
                    std::int64_t stages,
                    double micro_batches) noexcept {
  const bool waits = stages > 1 && model_of(form.schedule).waits_for_stages &&
                     placement_of(form.schedule, stages) == StagePlacement::looped;
  // Passes through stages that are stated are simulated: a slow first one is waited for by nobody.
  if (!waits || states_stages(job.space->base()) || job.compiled.step->pricer().recipe().without.has(Term::bubble)) {
    return 0.0;
  }
  return (real(stages) - 1.0) / (form.vpp * micro_batches);
}

/// The least of all schedules of the stages.
double least_bubble(const SearchJob& job, const Stages& stages, double micro_batches) noexcept {
  double least = std::numeric_limits<double>::infinity();
  for (const ScheduleForm& form : stages.schedules) {
    least = std::min(least, least_bubble(job, form, stages.pp, micro_batches));
  }
  return stages.schedules.empty() ? 0.0 : least;
}

/// Products and passes over memory of the stage that sets the pace: it holds the mean number of layers or more, or, for
/// each layer fewer, as much more of the head, which is all products.
LeastTimes least_times(const StepModel& model,
                       const StepTable& table,
                       std::int64_t stages,
                       double micro_batches) noexcept {
  constexpr double rounding = 1.0 - 1e-9;  // sums in another order
  const StepRecipe& r = model.pricer().recipe();
  const LayerTimes& l = table.layer;
  const auto of_pass = [](const LayerPass& pass) { return pass.gemm + pass.attention + pass.elementwise; };
  const Seconds layer = of_pass(l.forward) + of_pass(l.backward) + l.recompute;
  // A level above 1 stretches less of a step that also waits for data.
  const double level = r.without.has(Term::measured_level) ? 1.0 : std::min(1.0, r.measured.factor);
  return {model.least_time(table, stages, micro_batches),
          rounding * level * micro_batches * model.layers() / real(stages) * layer};
}

/// Layer tables of one layout, built on first use: stages, shards and ZeRO share them.
class LayoutTables {
 public:
  LayoutTables(const SearchJob& job, const LayerRanks& layout, bool with_memory)
      : job_{job}, layout_{layout}, with_memory_{with_memory} {}

  LayerTable& of(const Stages& stages, std::uint16_t micro_batch, const LayerSettings& form) {
    const auto [found, is_new] = tables_.try_emplace(key_of_table(stages, micro_batch, form));
    LayerTable& table = found->second;
    if (is_new) {
      const LayerKey key = key_of(job_.space->strategy(layout_, stages, micro_batch, form, 0, {}, 1));
      table.step = job_.compiled.step->tabulate_layers(key, products_of(key));
      if (with_memory_) {
        table.memory = tabulate_memory(job_.compiled.memory, key);
      }
    }
    return table;
  }

 private:
  /// All that a table of this layout depends on; stages only where they, or the data ranks that follow from them,
  /// part the ranks of a layer.
  [[nodiscard]] std::uint64_t key_of_table(const Stages& stages,
                                           std::uint16_t micro_batch,
                                           const LayerSettings& form) const noexcept {
    const std::uint64_t pp = ranks_within_data(layout_.order) ? 0 : stages.pp;
    return pp << 44U | std::uint64_t{micro_batch} << 16U | static_cast<std::uint64_t>(form.cp_form) << 8U |
           std::uint64_t{form.parts.bits()} << 36U | static_cast<std::uint64_t>(form.recompute) << 4U |
           (form.sequence_parallel ? 4U : 0U) | (form.overlap_experts ? 2U : 0U) | (form.cuda_graphs ? 1U : 0U);
  }

  /// Of a layout the products hang on the micro-batch alone.
  const StepModel::RankProducts& products_of(const LayerKey& key) {
    auto& products = products_[key.micro_batch];
    if (!products) {
      products = job_.compiled.step->products(key);
    }
    return *products;
  }

  const SearchJob& job_;
  const LayerRanks& layout_;
  bool with_memory_;
  std::unordered_map<std::uint64_t, LayerTable> tables_;  ///< which stay where they are
  std::unordered_map<std::uint16_t, std::shared_ptr<const StepModel::RankProducts>> products_;
};

class LayoutSearch {
 public:
  LayoutSearch(const BranchContext& context,
               const LayerRanks& layout,
               Incumbents& found,
               SearchCounts& counts,
               BrokenExample& broken)
      : context_{context},
        job_{*context.job},
        layout_{layout},
        found_{found},
        counts_{counts},
        broken_{broken},
        tables_{job_, layout, true} {}

  void run(const LayoutBound& least) {
    const std::vector<Stages> all = job_.space->stages(layout_);
    if (context_.bounded && excluded(least, all)) {
      return;
    }
    for (const Stages& stages : all) {
      if (breaks_a_rule(stages)) {
        continue;
      }
      groups_.assign(stages.shard_ranks.size(), std::nullopt);
      for (const std::uint16_t micro_batch : stages.micro_batches) {
        for (const LayerSettings& form : stages.forms) {
          search_form(stages, micro_batch, form);
        }
      }
    }
  }

  /// The first strategy of the fewest stages that surely fits: the smallest micro-batch, the usual schedule, states
  /// over all data ranks where the first ZeRO stage is not enough.
  void run_plain() {
    for (const Stages& stages : job_.space->stages(layout_)) {
      if (breaks_a_rule(stages)) {
        continue;
      }
      groups_.assign(stages.shard_ranks.size(), std::nullopt);
      for (const std::uint8_t zero : stages.zeros) {
        for (const LayerSettings& form : stages.forms) {
          if (price_plain(stages, form, zero)) {
            return;
          }
        }
      }
    }
  }

 private:
  bool price_plain(const Stages& stages, const LayerSettings& form, std::uint8_t zero) {
    const std::uint16_t micro_batch = stages.micro_batches.front();
    LayerTable& table = tables_.of(stages, micro_batch, form);
    const Strategy s = strategy(stages, micro_batch, form, stages.shard_ranks.front(), stages.schedules.front(), zero);
    SharedSplits splits;
    splits.begin(job_.compiled, table, s);
    if (!has_room(splits, s)) {
      return false;
    }
    table.step.take_groups(groups(stages, 0));
    return price(splits, table, traffic_of(job_.compiled, table, s));
  }

  /// Whether one of the strategy's splits surely fits; counted if not. By how much it falls short is of interest while
  /// none is found.
  bool has_room(SharedSplits& splits, const Strategy& s) {
    const bool any = splits.fits(s, job_.room, found_.found() ? job_.room : any_room);
    const bool host = any && host_is_short(job_.train(), splits.own().estimate) && splits.fits_alone(job_.room);
    return any && !host ? true : fits(splits.own());
  }

  /// Whether nothing of the whole layout can matter; counted if so.
  bool excluded(const LayoutBound& least, const std::vector<Stages>& all) {
    Strategy s = job_.space->base();
    s.tp = layout_.tp;
    s.cp = layout_.cp;
    s.ep = layout_.ep;
    s.pp = 0;  // of no one layout of stages
    SubtreeBound bound;
    bound.layout.job = job_.index;
    bound.layout.rental = job_.rental;
    bound.layout.strategy = s;
    bound_run(bound, least.step);
    bound.goal = least.goal;
    bound.front = least_coordinates({least.step, Seconds{}}, Bytes{});
    bound.kinds = kinds_of_parallelism(s);
    if (!found_.excludes(bound)) {
      return false;
    }
    for (const Stages& stages : all) {
      counts_.bound_time += stages.strategies();
    }
    return true;
  }

  /// Rules that every strategy of the stages breaks: GPUs, heads, sequence, experts.
  bool breaks_a_rule(const Stages& stages) {
    Strategy s = strategy(stages, stages.micro_batches.front(), stages.forms.front(), 0, {}, stages.zeros.front());
    s.micro_batch = 1;
    s.vpp = 1;
    s.schedule = usual_schedule;
    s.cp_form = CpForm::unstated;
    s.sequence_parallel = false;
    s.first_stage_layers = s.last_stage_layers = 0;
    TrainingShape shape = job_.train().work.shape;
    shape.global_batch = s.dp;
    const Legality rule = check(job_.compiled.architecture, shape, s);
    if (rule.verdict == Verdict::feasible) {
      return false;
    }
    counts_.broken += stages.strategies();
    remember_broken(s, rule);
    return true;
  }

  void remember_broken(const Strategy& s, const Legality& rule) {
    Candidate candidate;
    candidate.job = job_.index;
    candidate.rental = job_.rental;
    candidate.strategy = s;
    if (!broken_.candidate || better(candidate, *broken_.candidate)) {
      broken_.candidate = candidate;
      broken_.rule = rule;
    }
  }

  [[nodiscard]] Strategy strategy(const Stages& stages,
                                  std::uint16_t micro_batch,
                                  const LayerSettings& form,
                                  std::uint16_t shard_ranks,
                                  const ScheduleForm& schedule,
                                  std::uint8_t zero) const noexcept {
    return job_.space->strategy(layout_, stages, micro_batch, form, shard_ranks, schedule, zero);
  }

  /// The groups of the stages and one of their shards: large jobs take long to look at, so that only what is priced
  /// is looked at.
  const StepTable& groups(const Stages& stages, std::size_t shard) {
    std::optional<StepTable>& groups = groups_[shard];
    if (!groups) {
      const Strategy s = strategy(stages, 1, stages.forms.front(), stages.shard_ranks[shard], {}, 1);
      groups.emplace();
      job_.compiled.step->regroup(key_of(s), *groups);
    }
    return *groups;
  }

  [[nodiscard]] double micro_batches(const Stages& stages, std::uint16_t micro_batch) const noexcept {
    return real(job_.train().work.shape.global_batch) / (real(stages.dp) * micro_batch);
  }

  void search_form(const Stages& stages, std::uint16_t micro_batch, const LayerSettings& form) {
    LayerTable& table = tables_.of(stages, micro_batch, form);
    const double m = micro_batches(stages, micro_batch);
    of_schedule_.resize(std::max(of_schedule_.size(), stages.schedules.size()));
    for (OfSchedule& schedule : of_schedule_) {
      schedule.begun = false;
    }
    if (context_.bounded) {
      const LeastTimes passes = least_times(*job_.compiled.step, table.step, stages.pp, m);
      // The form at its smallest, states over all data ranks, and at its simplest.
      const Strategy smallest = strategy(stages, micro_batch, form, 0, {}, stages.zeros.back());
      hold_least(smallest, table, m);
      of_form_ = bound_of(smallest, passes.with_bubble(least_bubble(job_, stages, m)));
      if (excluded(of_form_, stages.zeros.front(), least_memory(smallest, table), stages.under_form())) {
        return;
      }
      for (std::size_t i = 0; i < stages.schedules.size(); ++i) {
        const double bubble = least_bubble(job_, stages.schedules[i], stages.pp, m);
        of_schedule_[i].bound = bound_of(smallest, passes.with_bubble(bubble));
      }
    }
    for (const std::uint8_t zero : stages.zeros) {
      search_zero(stages, micro_batch, form, zero, table);
    }
  }

  void search_zero(const Stages& stages,
                   std::uint16_t micro_batch,
                   const LayerSettings& form,
                   std::uint8_t zero,
                   LayerTable& table) {
    for (std::size_t i = 0; i < stages.shard_ranks.size(); ++i) {
      const std::uint16_t shard = stages.shard_ranks[i];
      if (i > 0 && zero == 0) {
        continue;  // nothing is sharded: one of them stands for all
      }
      const Strategy open = strategy(stages, micro_batch, form, shard, {}, zero);
      const Bytes memory = context_.bounded ? least_memory(open, table) : Bytes{};
      if (context_.bounded && excluded(of_form_, zero, memory, stages.schedules.size())) {
        continue;
      }
      std::optional<StepTraffic> traffic;
      for (std::size_t k = 0; k < stages.schedules.size(); ++k) {
        OfSchedule& of = of_schedule_[k];
        if (context_.bounded && stages.schedules.size() > 1 && excluded(of.bound, zero, memory, 1)) {
          continue;
        }
        Strategy s = open;
        s.schedule = stages.schedules[k].schedule;
        s.vpp = stages.schedules[k].vpp;
        if (!of.begun) {
          of.splits.begin(job_.compiled, table, s);
          of.begun = true;
        }
        if (of.splits.broken() && found_.found()) {
          ++counts_.broken;
          continue;
        }
        if (!has_room(of.splits, s)) {
          continue;
        }
        if (!traffic) {
          table.step.take_groups(groups(stages, i));
          traffic = traffic_of(job_.compiled, table, s);
        }
        price(of.splits, table, *traffic);
      }
    }
  }

  /// What the splits of a form's strategies into stages hold at least.
  void hold_least(const Strategy& s, const LayerTable& table, double m) noexcept {
    const CompiledMemory& memory = job_.compiled.memory;
    const OpenSplits open = open_splits(job_.compiled, table, s);
    least_[0] = least_holding(memory, table.memory, s, m);
    for (std::size_t i = 0; i < open.count; ++i) {
      least_[i + 1] = least_holding(memory, table.memory, open.strategies[i], m);
    }
    splits_ = open.count + 1;
  }

  /// The least of them at the strategy's ZeRO stage and shards.
  [[nodiscard]] Bytes least_memory(const Strategy& s, const LayerTable& table) const noexcept {
    return least_device(job_.compiled.memory, table.memory, s, std::span{least_}.first(splits_));
  }

  /// What no strategy of the layout and stages of `s` that takes at least these times can beat; its memory and ZeRO
  /// stage are open.
  [[nodiscard]] SubtreeBound bound_of(const Strategy& s, const LeastTimes& least) const noexcept {
    SubtreeBound bound;
    bound.layout.job = job_.index;
    bound.layout.rental = job_.rental;
    bound.layout.strategy = s;
    bound_run(bound, least.step);
    bound.goal = job_.least(context_.objective->minimize, least.step, {}, least.computing);
    bound.front = least_coordinates(least, {});
    bound.kinds = kinds_of_parallelism(s);
    return bound;
  }

  /// Whether nothing within the bound that takes at least this memory, at ZeRO stages from `zero`, can matter; counted
  /// if so.
  bool excluded(SubtreeBound& bound, std::uint8_t zero, Bytes memory, std::uint64_t strategies) {
    if (memory > job_.room && (found_.found() || memory.raw() >= found_.shortfall(Limit::memory))) {
      counts_.bound_memory += strategies;
      return true;
    }
    bound.zero = zero;
    if (context_.objective->minimize == Goal::memory) {
      bound.goal = memory.raw();
    }
    for (std::size_t i = 0; i < context_.front.size(); ++i) {
      if (context_.front[i] == Goal::memory) {
        bound.front[i] = memory.raw();
      }
    }
    if (found_.excludes(bound)) {
      counts_.bound_time += strategies;
      return true;
    }
    return false;
  }

  void bound_run(SubtreeBound& bound, Seconds step) const noexcept {
    bound.time = job_.least_time(step);
    bound.spent = job_.spent(bound.time);
    bound.strain = job_.strain(step);
  }

  [[nodiscard]] FrontPoint least_coordinates(const LeastTimes& least, Bytes memory) const noexcept {
    FrontPoint point{};
    for (std::size_t i = 0; i < context_.front.size(); ++i) {
      point[i] = job_.least(context_.front[i], least.step, memory, least.computing);
    }
    return point;
  }

  [[nodiscard]] FrontPoint coordinates(const Estimate& e) const noexcept {
    FrontPoint point{};
    for (std::size_t i = 0; i < context_.front.size(); ++i) {
      point[i] = job_.value(context_.front[i], e);
    }
    return point;
  }

  [[nodiscard]] Candidate candidate_of(const Strategy& s, const Estimate& e) const noexcept {
    Candidate candidate;
    candidate.job = job_.index;
    candidate.rental = job_.rental;
    candidate.strategy = s;
    candidate.step = e.step;
    candidate.memory = e.device.high;
    candidate.time = job_.run_time(e.step);
    candidate.spent = job_.spent(candidate.time);
    candidate.strain = job_.strain(e.step);
    return candidate;
  }

  /// Whether the strategy is legal and surely fits; counted if not. Once a plan is found nobody asks what came closest.
  bool fits(const StageSplit& split) {
    const Strategy& s = split.strategy;
    const Estimate& e = split.estimate;
    if (e.micro_batches <= 0) {
      ++counts_.broken;
      if (!found_.found()) {
        remember_broken(s, {e.verdict, e.broke, e.limit});
      }
      return false;
    }
    const bool device = e.device.high <= job_.room;
    if (device && !host_is_short(job_.train(), e)) {
      return true;
    }
    ++counts_.no_room;
    if (!found_.found()) {
      const Bytes needed = device ? host_need(job_.train(), e) : e.device.high;
      found_.fell_short(device ? Limit::host_memory : Limit::memory, candidate_of(s, e), needed.raw());
    }
    return false;
  }

  /// Prices the fastest split that fits, whose stages are simulated where they are stated; whether any fits the host.
  bool price(SharedSplits& splits, const LayerTable& table, const StepTraffic& traffic) {
    const Strategy& own = splits.own().strategy;
    const bool stated = states_stages(own) && !own.stages_open;
    const StageSplit split = stated ? splits.shortest(table_for(job_.compiled, own), job_.room, traffic)
                                    : splits.shortest(table, job_.room, traffic);
    if (!fits(split)) {
      return false;
    }
    const Strategy& s = split.strategy;
    const Estimate& e = split.estimate;
    ++counts_.priced;
    Candidate candidate = candidate_of(s, e);
    candidate.goal = job_.value(context_.objective->minimize, e);
    candidate.front = coordinates(e);
    if (keeps_limits(candidate)) {
      found_.consider(candidate);
    }
    return true;
  }

  bool keeps_limits(const Candidate& candidate) {
    const Objective& o = *context_.objective;
    const double time = job_.line(Goal::time, candidate.step, candidate.memory);
    if (o.deadline && time > o.deadline->raw()) {
      ++counts_.too_slow;
      found_.fell_short(Limit::deadline, candidate, time);
      return false;
    }
    const double dollars = job_.line(Goal::cost, candidate.step, candidate.memory);
    if (o.budget && dollars > o.budget->raw()) {
      ++counts_.too_dear;
      found_.fell_short(Limit::budget, candidate, dollars);
      return false;
    }
    return true;
  }

  const BranchContext& context_;
  const SearchJob& job_;
  const LayerRanks& layout_;
  Incumbents& found_;
  SearchCounts& counts_;
  BrokenExample& broken_;
  /// A schedule of the form at hand.
  struct OfSchedule {
    bool begun = false;
    SharedSplits splits;  ///< of a schedule that is begun
    SubtreeBound bound;
  };

  LayoutTables tables_;
  std::vector<std::optional<StepTable>> groups_;  ///< of the stages at hand, by shard
  // Of the form at hand
  SubtreeBound of_form_;
  std::vector<OfSchedule> of_schedule_;
  std::array<LeastHolding, 1 + most_splits> least_;
  std::size_t splits_ = 0;  ///< of `least_`
};

}  // namespace

SearchCounts& SearchCounts::operator+=(const SearchCounts& o) noexcept {
  priced += o.priced;
  no_room += o.no_room;
  broken += o.broken;
  bound_time += o.bound_time;
  bound_memory += o.bound_memory;
  too_slow += o.too_slow;
  too_dear += o.too_dear;
  return *this;
}

LayoutBound bound_layout(const BranchContext& context, const LayerRanks& layout) {
  const SearchJob& job = *context.job;
  LayoutTables tables{job, layout, false};
  LayoutBound least{std::numeric_limits<double>::infinity(), Seconds{std::numeric_limits<double>::infinity()}};
  const double batch = real(job.train().work.shape.global_batch);
  for (const Stages& stages : job.space->stages(layout)) {
    for (const std::uint16_t micro_batch : stages.micro_batches) {
      for (const LayerSettings& form : stages.forms) {
        if (form.recompute != stages.forms.front().recompute) {
          continue;  // recomputation only adds time, and the least of it stands first
        }
        const LayerTable& table = tables.of(stages, micro_batch, form);
        const double m = batch / (real(stages.dp) * micro_batch);
        const LeastTimes times =
            least_times(*job.compiled.step, table.step, stages.pp, m).with_bubble(least_bubble(job, stages, m));
        least.step = std::min(least.step, times.step);
        least.goal = std::min(least.goal, job.least(context.objective->minimize, times.step, {}, times.computing));
      }
    }
  }
  if (context.objective->minimize == Goal::memory) {
    least.goal = 0.0;
  }
  return least;
}

void price_plain(const BranchContext& context,
                 const LayerRanks& layout,
                 Incumbents& found,
                 SearchCounts& counts,
                 BrokenExample& broken) {
  LayoutSearch{context, layout, found, counts, broken}.run_plain();
}

void search_layout(const BranchContext& context,
                   const LayerRanks& layout,
                   const LayoutBound& least,
                   Incumbents& found,
                   SearchCounts& counts,
                   BrokenExample& broken) {
  LayoutSearch{context, layout, found, counts, broken}.run(least);
}

}  // namespace headroom
