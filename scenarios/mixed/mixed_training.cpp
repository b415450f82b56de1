// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/mixed/mixed_training.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {
namespace {

/// What m micro-batches of a rank take on one SKU.
struct RankTime {
  bool possible = false;
  std::string why;               ///< not possible: what it breaks
  Seconds compute{};             ///< all but the exposed data-parallel traffic
  Seconds data{};                ///< that traffic
  double low = 1.0, high = 1.0;  ///< ends of the step's interval over its middle
  Interval<Bytes> memory;
  double fits = 0.0;
};

std::string reason_of(const Plan& plan) {
  const auto& train = std::get<TrainPlan>(plan.answer);
  return train.problems.empty() ? train.verdict
                                : joined(
                                      train.problems, [](const Problem& one) { return one.text; }, "; ");
}

/// Times of a pool's ranks with settings that all pools share.
class PoolTimes {
 public:
  PoolTimes(const MixedQuestion& question, std::size_t pool, Changes settings, const Strategy& strategy)
      : base_{&question.pools[pool].alone},
        settings_{std::move(settings)},
        replica_{std::int64_t{strategy.tp} * strategy.pp * strategy.cp},
        micro_batch_{strategy.micro_batch},
        gpus_{question.gpus} {
    // Pools meet over their NICs. A job that one SKU's scale-up domain would hold is priced on two domains there.
    const auto& train = std::get<TrainScenario>(base_->question);
    apart_ = gpus_ <= train.domain ? (2 * train.domain + replica_ - 1) / replica_ * replica_ : 0;
  }

  const RankTime& at(std::int64_t micro_batches) {
    const auto [found, fresh] = times_.try_emplace(micro_batches);
    if (fresh) {
      found->second = priced(micro_batches);
    }
    return found->second;
  }

  /// The most micro-batches that are done by then and can be; 0: none. They take longer the more they are.
  std::int64_t most_by(Seconds deadline, std::int64_t most) {
    std::int64_t low = 0;
    std::int64_t high = most;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      const RankTime& time = at(next_possible(middle, high));
      if (time.possible && time.compute <= deadline) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    while (low > 0 && !at(low).possible) {
      --low;
    }
    return low;
  }

 private:
  /// Interleaved schedules take some numbers alone.
  std::int64_t next_possible(std::int64_t micro_batches, std::int64_t most) {
    while (micro_batches < most && !at(micro_batches).possible) {
      ++micro_batches;
    }
    return micro_batches;
  }

  [[nodiscard]] Plan plan(std::int64_t gpus, std::int64_t micro_batches) const {
    Changes changes = settings_;
    changes.emplace_back(Knob::gpus, gpus);
    changes.emplace_back(Knob::global_batch, micro_batches * micro_batch_ * (gpus / replica_));
    if (std::get<TrainScenario>(base_->question).stated.strategy.dp) {
      changes.emplace_back(Knob::dp, gpus / replica_);
    }
    return price_plan(changed(*base_, changes));
  }

  [[nodiscard]] RankTime priced(std::int64_t micro_batches) const {
    RankTime time;
    const Plan whole = plan(gpus_, micro_batches);
    const auto& train = std::get<TrainPlan>(whole.answer);
    time.possible = whole.feasible();
    time.memory = train.memory;
    time.fits = whole.chance_to_fit().value_or(0.0);
    if (!time.possible) {
      time.why = reason_of(whole);
      return time;
    }
    if (whole.part == PlanPart::memory || train.estimate.step <= Seconds{}) {
      throw ConfigError{"a mix of SKUs needs the step's time, and no curve describes the kernels of " +
                        std::get<TrainScenario>(base_->question).device.id + " for it"};
    }
    time.data = train.estimate.time[Term::dp_comm];
    time.compute = train.estimate.step - time.data;
    if (apart_ > 0) {
      const Plan apart = plan(apart_, micro_batches);
      time.data = std::get<TrainPlan>(apart.answer).estimate.time[Term::dp_comm];
    }
    time.low = train.step.low / train.step.mid;
    time.high = train.step.high / train.step.mid;
    return time;
  }

  const Scenario* base_;
  Changes settings_;
  std::int64_t replica_, micro_batch_, gpus_, apart_ = 0;
  std::map<std::int64_t, RankTime> times_;
};

/// Settings that one pool would take, and the times of every pool with them.
struct Settings {
  Strategy strategy;
  std::vector<PoolTimes> pools;
};

class MixedPlanner {
 public:
  explicit MixedPlanner(MixedQuestion question) {
    out_.question = std::move(question);
    const auto& train = first();
    out_.global_batch = train.work.shape.global_batch;
    out_.tokens = train.tokens;
    replica_ = std::int64_t{train.strategy.tp} * train.strategy.pp * train.strategy.cp;
    out_.dp = out_.question.gpus / replica_;
    for (const MixedPool& pool : out_.question.pools) {
      dp_.push_back(pool.gpus / replica_);
    }
  }

  MixedTraining run() {
    for (Settings& settings : candidates()) {
      std::vector<SplitStep> splits{equal(settings), balanced(settings)};
      if (is_better(splits)) {
        out_.splits = std::move(splits);
        out_.strategy = settings.strategy;
        taken_ = std::move(settings);
      }
    }
    if (out_.splits.empty()) {
      out_.why = refusal_.empty() ? "no pool can run the job" : refusal_;
      return std::move(out_);
    }
    out_.strategy.dp = static_cast<std::uint32_t>(out_.dp);
    if (out_.best() == nullptr) {
      out_.why = out_.splits.back().why;
    }
    for (std::size_t i = 0; i < dp_.size(); ++i) {
      out_.pools.push_back(pool_of(i));
    }
    add_notes();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const TrainScenario& first() const {
    return std::get<TrainScenario>(out_.question.pools.front().alone.question);
  }
  [[nodiscard]] const Device& device(std::size_t pool) const {
    return std::get<TrainScenario>(out_.question.pools[pool].alone.question).device;
  }

  /// What each pool would run with alone, each once. All ranks run with the same.
  std::vector<Settings> candidates() {
    std::vector<Settings> found;
    const std::int64_t whole = (out_.global_batch + out_.dp - 1) / out_.dp * out_.dp;
    for (std::size_t i = 0; i < dp_.size(); ++i) {
      const Plan plan =
          price_plan(changed(out_.question.pools[i].alone, std::vector<Change>{Change{Knob::global_batch, whole}}));
      const auto& train = std::get<TrainPlan>(plan.answer);
      if (!plan.feasible()) {
        refusal_ += (refusal_.empty() ? "" : "; ") + device(i).id + ": " + reason_of(plan);
      }
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const Settings& other) { return other.strategy == train.strategy; });
      if (!plan.feasible() || known) {
        continue;
      }
      Settings settings{train.strategy, {}};
      for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
        settings.pools.emplace_back(out_.question, pool, changes_to(train.strategy), train.strategy);
      }
      found.push_back(std::move(settings));
    }
    if (!refusal_.empty()) {
      found.clear();  // the pool that holds no rank of the job is in the mix
    }
    return found;
  }

  [[nodiscard]] static double rate_of(const std::vector<SplitStep>& splits) {
    double most = 0.0;
    for (const SplitStep& split : splits) {
      most = std::max(most, split.tokens_per_s);
    }
    return most;
  }
  [[nodiscard]] bool is_better(const std::vector<SplitStep>& splits) const {
    return out_.splits.empty() || rate_of(splits) > rate_of(out_.splits);
  }

  SplitStep equal(Settings& settings) {
    const std::int64_t of_all = out_.dp * settings.strategy.micro_batch;
    SplitStep split;
    if (out_.global_batch % of_all != 0) {
      split.why = "the global batch of " + std::to_string(out_.global_batch) + " is no multiple of dp " +
                  std::to_string(out_.dp) + " x micro-batch " + std::to_string(int{settings.strategy.micro_batch});
      return split;
    }
    return told(settings, std::move(split), std::vector<std::int64_t>(dp_.size(), out_.global_batch / of_all));
  }

  SplitStep balanced(Settings& settings) {
    SplitStep split;
    split.split = BatchSplit::balanced;
    const std::int64_t micro_batch = settings.strategy.micro_batch;
    if (out_.global_batch % micro_batch != 0) {
      split.why = "the global batch of " + std::to_string(out_.global_batch) + " is no multiple of micro-batch " +
                  std::to_string(micro_batch);
      return split;
    }
    const std::int64_t all = out_.global_batch / micro_batch;
    if (all < out_.dp) {
      split.why =
          std::to_string(all) + " micro-batches are fewer than the " + std::to_string(out_.dp) + " data-parallel ranks";
      return split;
    }
    // The least deadline is one of the times of whole micro-batches: each pool's are gone through by bisection.
    std::vector<std::int64_t> best;
    Seconds least{};
    for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
      std::int64_t low = 1;
      std::int64_t high = all;
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (within(settings, settings.pools[pool].at(middle), all).empty()) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      const RankTime& last = settings.pools[pool].at(low);
      const std::vector<std::int64_t> counts = within(settings, last, all);
      if (!counts.empty() && (best.empty() || last.compute < least)) {
        best = counts;
        least = last.compute;
      }
    }
    if (best.empty()) {
      split.why = "no numbers of whole micro-batches give every pool one and hold in its memory";
      return split;
    }
    return told(settings, std::move(split), trimmed(settings, std::move(best), all));
  }

  /// What each pool's ranks do by a pool's time; empty: too few, or none of a pool.
  std::vector<std::int64_t> within(Settings& settings, const RankTime& deadline, std::int64_t all) {
    std::vector<std::int64_t> counts;
    std::int64_t sum = 0;
    for (std::size_t pool = 0; pool < dp_.size() && deadline.possible; ++pool) {
      counts.push_back(settings.pools[pool].most_by(deadline.compute, all));
      sum += dp_[pool] * counts.back();
      if (counts.back() == 0) {
        return {};
      }
    }
    return sum >= all ? counts : std::vector<std::int64_t>{};
  }

  /// Without rounds that the batch does not need, of the pool that is done last first.
  std::vector<std::int64_t> trimmed(Settings& settings, std::vector<std::int64_t> counts, std::int64_t all) {
    std::int64_t spare = -all;
    for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
      spare += dp_[pool] * counts[pool];
    }
    for (bool changed = true; changed;) {
      changed = false;
      std::size_t last = dp_.size();
      for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
        const bool can = counts[pool] > 1 && dp_[pool] <= spare && settings.pools[pool].at(counts[pool] - 1).possible;
        if (can && (last == dp_.size() ||
                    settings.pools[pool].at(counts[pool]).compute > settings.pools[last].at(counts[last]).compute)) {
          last = pool;
        }
      }
      if (last < dp_.size()) {
        --counts[last];
        spare -= dp_[last];
        changed = true;
      }
    }
    return counts;
  }

  SplitStep told(Settings& settings, SplitStep split, const std::vector<std::int64_t>& counts) {
    Seconds compute{};
    Seconds data{};
    for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
      const RankTime& time = settings.pools[pool].at(counts[pool]);
      if (!time.possible) {
        split.why += (split.why.empty() ? "" : "; ") + device(pool).id + ": " + time.why;
        continue;
      }
      split.pools.push_back({counts[pool], time.compute + time.data, 0.0});
      split.slowest = time.compute > compute ? pool : split.slowest;
      split.slowest_links = time.data > data ? pool : split.slowest_links;
      compute = std::max(compute, time.compute);
      data = std::max(data, time.data);
    }
    if (!split.why.empty()) {
      return split;
    }
    const Seconds step = compute + data;
    const RankTime& slowest = settings.pools[split.slowest].at(counts[split.slowest]);
    split.step = {slowest.low * step, step, slowest.high * step};
    const double tokens = real(out_.global_batch) * real(first().work.shape.seq_len);
    split.tokens_per_s = tokens / step.raw();
    double all = 0.0;
    for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
      split.pools[pool].idle = 1.0 - split.pools[pool].own / step;
      all += real(dp_[pool] * counts[pool]);
    }
    split.idle_slots = static_cast<std::int64_t>(all) - out_.global_batch / settings.strategy.micro_batch;
    split.loss = 1.0 - split.tokens_per_s / own_paces(settings);
    add_run(split);
    return split;
  }

  /// Tokens a second of the pools side by side, each at its own pace with the equal split's micro-batches.
  double own_paces(Settings& settings) {
    const std::int64_t sequences = settings.strategy.micro_batch;
    const std::int64_t even =
        std::max<std::int64_t>(1, (out_.global_batch + out_.dp * sequences - 1) / (out_.dp * sequences));
    double rate = 0.0;
    for (std::size_t pool = 0; pool < dp_.size(); ++pool) {
      const RankTime& time = settings.pools[pool].at(even);
      if (time.possible) {
        rate +=
            real(dp_[pool] * even * sequences) * real(first().work.shape.seq_len) / (time.compute + time.data).raw();
      }
    }
    return rate;
  }

  void add_run(SplitStep& split) const {
    const std::optional<DollarsPerSecond> price = out_.question.price();
    if (price) {
      split.per_million_tokens = cost_per_million(*price, Hertz{split.tokens_per_s});
    }
    if (out_.tokens > 0.0) {
      split.duration = Seconds{out_.tokens / split.tokens_per_s};
      split.lost_gpu_hours = split.loss * real(out_.question.gpus) * split.duration->raw() / 3600.0;
      if (price) {
        split.cost = *price * *split.duration;
      }
    }
  }

  TrainedPool pool_of(std::size_t i) {
    TrainedPool pool;
    pool.dp = dp_[i];
    const SplitStep* const best = out_.best();
    const std::int64_t count = best != nullptr ? best->pools[i].micro_batches : 1;
    const RankTime& time = taken_->pools[i].at(count);
    pool.memory = time.memory;
    pool.fits_probability = time.fits;
    try {
      const Scenario& alone = out_.question.pools[i].alone;
      Changes changes{{Knob::gpus, out_.question.pools[i].gpus}};
      if (std::get<TrainScenario>(alone.question).stated.strategy.dp) {
        changes.emplace_back(Knob::dp, dp_[i]);
      }
      const Plan plan = price_plan(changed(alone, changes));
      const auto& train = std::get<TrainPlan>(plan.answer);
      if (plan.feasible()) {
        pool.alone_step = train.step;
        pool.alone_tokens_per_s = train.tokens_per_s.mid;
      } else {
        pool.alone_verdict = reason_of(plan);
      }
    } catch (const ConfigError& error) {
      pool.alone_verdict = error.diagnostics().front().message;
    }
    return pool;
  }

  void add_notes() {
    out_.notes.emplace_back(
        "each replica lies in one pool; ranks of data parallelism alone meet across SKUs, over their NICs, and a "
        "collective ends when the slowest rank has come and the narrowest link is through");
    out_.notes.emplace_back(
        "all ranks run with one micro-batch and one recomputation: those of the pool with which the mix is fastest");
    if (const SplitStep* const split = out_.of(BatchSplit::balanced); split != nullptr && split->why.empty()) {
      out_.notes.emplace_back(
          "a balanced split needs software that weighs gradients by the sequences of each rank and takes a number of "
          "micro-batches for each; few training programs do by themselves");
    }
  }

  MixedTraining out_;
  std::vector<std::int64_t> dp_;
  std::int64_t replica_ = 1;
  std::string refusal_;
  std::optional<Settings> taken_;
};

}  // namespace

const SplitStep* MixedTraining::best() const noexcept {
  const SplitStep* best = nullptr;
  for (const SplitStep& split : splits) {
    if (split.why.empty() && (best == nullptr || split.tokens_per_s > best->tokens_per_s)) {
      best = &split;
    }
  }
  return best;
}

const SplitStep* MixedTraining::of(BatchSplit split) const noexcept {
  const auto found = std::find_if(splits.begin(), splits.end(), [&](const SplitStep& s) { return s.split == split; });
  return found == splits.end() ? nullptr : &*found;
}

std::optional<std::size_t> MixedTraining::better_alone() const noexcept {
  const SplitStep* const taken = best();
  std::optional<std::size_t> better;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const double most = better ? pools[*better].alone_tokens_per_s : taken != nullptr ? taken->tokens_per_s : 0.0;
    if (pools[i].alone_tokens_per_s > most) {
      better = i;
    }
  }
  return better;
}

MixedTraining plan_mixed_training(MixedQuestion question) {
  return MixedPlanner{std::move(question)}.run();
}

}  // namespace headroom
