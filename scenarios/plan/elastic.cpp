// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/plan/elastic.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::uint16_t most_micro_batch = 8;

std::int64_t model_ranks(const Strategy& s) noexcept {
  return std::int64_t{s.tp} * s.pp * s.cp;
}

Strategy with_data_ranks(Strategy s, std::int64_t dp) noexcept {
  s.dp = static_cast<std::uint32_t>(dp);
  return s;
}

/// Micro-batches to try: the plan's own first.
std::vector<std::uint16_t> micro_batches(const Strategy& s, std::int64_t of_rank) {
  std::vector<std::uint16_t> sizes;
  if (of_rank % s.micro_batch == 0) {
    sizes.push_back(s.micro_batch);
  }
  for (std::uint16_t size = 1; size <= most_micro_batch; ++size) {
    if (of_rank % size == 0 && size != s.micro_batch) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

/// Whether some micro-batch makes a legal plan of the batch on so many data ranks.
bool runs_on(const Architecture& arch, TrainingShape shape, const Strategy& s, std::int64_t dp) {
  if (dp < 1 || shape.global_batch % dp != 0) {
    return false;
  }
  shape.gpus = model_ranks(s) * dp;
  Strategy tried = with_data_ranks(s, dp);
  const std::vector<std::uint16_t> sizes = micro_batches(s, shape.global_batch / dp);
  return std::any_of(sizes.begin(), sizes.end(), [&](std::uint16_t size) {
    tried.micro_batch = size;
    return check(arch, shape, tried).verdict == Verdict::feasible;
  });
}

std::int64_t usable_below(const Architecture& arch, const TrainingShape& shape, const Strategy& s, std::int64_t most) {
  for (std::int64_t dp = most / model_ranks(s); dp >= 1; --dp) {
    if (runs_on(arch, shape, s, dp)) {
      return dp * model_ranks(s);
    }
  }
  return 0;
}

/// The plan's own micro-batch where it fits, else the fastest that does, else that of least memory.
void choose_micro_batch(const CompiledTraining& compiled, ElasticCount& count) {
  const Strategy asked = count.strategy;
  bool found = false;  // one that fits
  Bytes least{1e300};
  for (const std::uint16_t size : micro_batches(asked, compiled.work.shape.global_batch / asked.dp)) {
    Strategy s = asked;
    s.micro_batch = size;
    const Estimate e = evaluate(compiled, table_for(compiled, s), s);
    if (e.step <= Seconds{}) {
      continue;  // breaks a rule
    }
    const bool fits = e.verdict == Verdict::feasible;
    if (fits ? !found || e.step < count.estimate.step : !found && e.device.high < least) {
      count.strategy = s;
      count.estimate = e;
      least = e.device.high;
      found = fits;
    }
    if (fits && size == asked.micro_batch) {
      return;
    }
  }
}

void refuse(const TrainScenario& t, const Strategy& s, ElasticCount& count) {
  const std::int64_t dp = count.gpus / model_ranks(s);
  const std::int64_t batch = t.work.shape.global_batch;
  count.usable_gpus = usable_below(t.architecture, t.work.shape, s, count.gpus);
  if (count.gpus % model_ranks(s) != 0) {
    count.why_not = "they do not divide by tp x pp x cp = " + std::to_string(model_ranks(s));
    return;
  }
  if (batch % dp != 0) {
    count.why_not = "global batch " + format_count(real(batch)) + " does not divide by dp " + std::to_string(dp);
    const std::int64_t below = batch / dp * dp, above = below + dp;
    count.nearest_batches = below > 0 ? std::vector{below, above} : std::vector{above};
    if (above - batch < batch - below) {
      std::reverse(count.nearest_batches.begin(), count.nearest_batches.end());
    }
    return;
  }
  TrainingShape shape = t.work.shape;
  shape.gpus = count.gpus;
  const Legality rule = check(t.architecture, shape, with_data_ranks(s, dp));
  count.why_not = verdict_text(rule.verdict, rule.broke, rule.limit, s.schedule);
}

}  // namespace

std::pair<std::int64_t, std::int64_t> usable_counts(const Architecture& arch,
                                                    const TrainingShape& shape,
                                                    const Strategy& s) {
  const std::int64_t dp = shape.gpus / model_ranks(s);
  for (std::int64_t above = dp + 1; above <= 2 * dp; ++above) {
    if (runs_on(arch, shape, s, above)) {
      return {usable_below(arch, shape, s, shape.gpus), above * model_ranks(s)};
    }
  }
  return {usable_below(arch, shape, s, shape.gpus), 0};
}

ElasticCount replan(const TrainScenario& train, const ElasticBasis& basis, std::int64_t gpus) {
  ElasticCount count;
  count.gpus = gpus;
  const std::int64_t dp = gpus / model_ranks(basis.strategy);
  if (gpus % model_ranks(basis.strategy) != 0 || !runs_on(train.architecture, train.work.shape, basis.strategy, dp)) {
    refuse(train, basis.strategy, count);
    return count;
  }
  TrainScenario changed = train;
  changed.work.shape.gpus = gpus;
  count.strategy = with_data_ranks(basis.strategy, dp);
  count.usable_gpus = gpus;
  try {
    const TrainQuestion question = compile_question(changed, basis.part, nullptr, basis.without);
    choose_micro_batch(question.compiled, count);
    const Estimate& e = count.estimate;
    count.accumulation = train.work.shape.global_batch / (dp * count.strategy.micro_batch);
    count.verdict = verdict_text(e.verdict, e.broke, e.limit, count.strategy.schedule);
    if (question.compiled.timed) {
      count.step = widened(e.step, basis.width);
      count.tokens_per_s =
          widened(real(train.work.shape.global_batch) * question.compiled.seq_len / e.step.raw(), basis.width);
      count.kept = basis.step / e.step;
    }
  } catch (const ConfigError& error) {
    count.why_not = error.diagnostics().front().message;  // a cluster that so many GPUs do not fill
    count.usable_gpus = 0;
  }
  return count;
}

}  // namespace headroom
