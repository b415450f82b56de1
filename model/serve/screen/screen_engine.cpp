// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/screen/screen_engine.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace headroom {
namespace {

std::int64_t whole(double value) noexcept {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(value)));
}

}  // namespace

ScreenEngine::ScreenEngine(const IterationTables& tables,
                           const EngineSettings& settings,
                           EngineRole role,
                           const EngineWork& work) noexcept
    : tables_{&tables}, settings_{settings}, role_{role} {
  cached_ = work.cached_share * work.prompt.mean;
  prompt_ = {std::max(1.0, work.prompt.mean - cached_), work.prompt.cv};
  strata_ = lognormal_strata(prompt_);
  alone_ = settings.rules.order == PromptOrder::before_decodes;
  if (role != EngineRole::prefill) {
    steps_ = (work.output.mean - 1.0) / settings.speculation.tokens_per_step();
  }
  // A sequence is observed with probability proportional to its output, at a uniform point in it: E[o^2] / (2 E[o]).
  const double aged = role == EngineRole::prefill ? 0.0 : 0.5 * work.output.second() / work.output.mean;
  keys_ = work.prompt.mean + aged;
  const bool whole_output = settings.rules.reservation == Reservation::whole;
  const double held = (work.prompt.mean + (whole_output ? 2.0 : 1.0) * aged) / real(settings.block_tokens) + 0.5;
  // A request that does not fit yet leaves blocks unused; waiting requests are larger than average, by their cv.
  const double admitted = (work.prompt.mean + (whole_output ? work.output.mean : 0.0)) / real(settings.block_tokens);
  const double waste = admitted * (1.0 + work.prompt.cv * work.prompt.cv);
  const double pool = std::max(real(settings.blocks) - waste, 0.9 * real(settings.blocks)) / held;
  most_ = std::max(1.0, std::min(real(settings.max_num_seqs), pool));
  if (pool < real(settings.max_num_seqs) && !whole_output && settings.rules.eviction == Eviction::recompute &&
      role == EngineRole::both) {
    again_ = work.output.mean / prompt_.mean;
  }
  for (std::size_t i = 0; i < strata_count; ++i) {
    const double tokens = std::max(1.0, strata_[i]);
    const double keys = tokens + cached_ * tokens / prompt_.mean;
    // For chunks the mean of first and last: attention is linear in the keys.
    const double chunk = settings.rules.chunked ? std::min(tokens, real(settings.max_num_tokens)) : tokens;
    const ChunkAttention last = tables.chunk(whole(chunk), whole(keys));
    const ChunkAttention start = tables.chunk(whole(chunk), whole(keys - tokens + chunk));
    const double pieces = 0.5 * tokens / chunk;
    attention_work_ += stratum_weight(i) * pieces * real((start.work + last.work).count()) / prompt_.mean;
    attention_alone_ += stratum_weight(i) * pieces * real((start.alone + last.alone).count());
  }
}

double ScreenEngine::budget(double decodes) const noexcept {
  const double most = real(settings_.max_num_tokens);
  return alone_ ? most : std::max(most - decodes * real(1 + settings_.speculation.draft), 1.0);
}

double ScreenEngine::batch_time(std::int64_t decodes, double tokens) const noexcept {
  IterationBatch batch;
  batch.decodes = decodes;
  batch.context = static_cast<std::int64_t>(real(decodes) * keys_);
  if (tokens > 0.0) {
    batch.prompt_tokens = whole(tokens);
    batch.chunks = whole(tokens / prompt_.mean);
    batch.ending = batch.chunks;
    batch.attention.work = truncated(tokens * attention_work_);
    batch.attention.alone = truncated(std::min(1.0, tokens / prompt_.mean) * attention_alone_);
  }
  return 1e-12 * real(tables_->time(batch).count());
}

double ScreenEngine::decode_time(double decodes) const noexcept {
  const double b = std::max(decodes, 1.0);
  const auto below = static_cast<std::int64_t>(b);
  const double low = batch_time(below, 0.0);
  const double part = b - real(below);
  return part > 0.0 ? low + part * (batch_time(below + 1, 0.0) - low) : low;
}

double ScreenEngine::prompt_time(double decodes, double tokens) const noexcept {
  if (alone_ || decodes <= 0.0) {
    return batch_time(0, tokens);
  }
  const auto below = static_cast<std::int64_t>(decodes);
  const double low = batch_time(below, tokens);
  const double part = decodes - real(below);
  return part > 0.0 ? low + part * (batch_time(below + 1, tokens) - low) : low;
}

IterationCurve ScreenEngine::curve(double decodes) const noexcept {
  // If requests are prompts alone, places limit the prompts of an iteration.
  const double most = std::min(budget(decodes), this->decodes() ? budget(decodes) : most_ * prompt_.mean);
  std::array<double, IterationCurve::knots> mixed{};
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    mixed[i] = prompt_time(decodes, IterationCurve::tokens(i, most));
  }
  return {decodes > 0.0 ? decode_time(decodes) : mixed[0], most, mixed};
}

class ScreenEngine::PromptCounts {
 public:
  PromptCounts(const ScreenEngine& engine, double decodes) noexcept
      : engine_{engine}, decodes_{decodes}, full_{engine.budget(decodes)} {}
  /// Mean over Poisson numbers of prompts, with `alone` for none; large numbers are taken at their mean.
  [[nodiscard]] double mean(double alone, double prompts) noexcept {
    if (prompts > 6.0) {
      return with(prompts);
    }
    double chance = std::exp(-prompts);
    double left = 1.0 - chance;
    double sum = chance * alone;
    for (std::size_t k = 1; k < most && left > 1e-5; ++k) {
      if (k > known_) {
        times_[k] = with(static_cast<double>(k));
        known_ = k;
      }
      chance *= prompts / static_cast<double>(k);
      sum += chance * times_[k];
      left -= chance;
    }
    return sum + std::max(left, 0.0) * times_[known_];
  }

 private:
  static constexpr std::size_t most = 14;
  [[nodiscard]] double with(double count) const noexcept {
    const double tokens = count * engine_.prompt_.mean;
    const double fullest = engine_.prompt_time(decodes_, std::min(tokens, full_));
    // The excess lengthens later iterations by its share of a full iteration's prompts.
    const double alone = decodes_ > 0.0 ? engine_.decode_time(decodes_) : 0.0;
    return tokens <= full_ ? fullest : fullest + (tokens / full_ - 1.0) * (fullest - alone);
  }
  const ScreenEngine& engine_;
  double decodes_, full_;
  std::array<double, most> times_{};
  std::size_t known_ = 0;
};

double ScreenEngine::saturation() const noexcept {
  if (!decodes()) {
    const double prompts = std::min(most_, std::max(1.0, budget(0.0) / prompt_.mean));
    const double tokens = std::min(prompts * prompt_.mean, budget(0.0));
    return tokens / prompt_.mean / prompt_time(0.0, tokens);
  }
  if (!prefills()) {
    return most_ / steps_ / decode_time(most_);
  }
  if (alone_) {
    const double ended = most_ / steps_;
    return ended / (decode_time(most_) + PromptCounts{*this, 0.0}.mean(0.0, ended * (1.0 + again_)));
  }
  const double ended = most_ / (steps_ + 1.0);
  const double decodes = most_ - ended;
  const double prompts = ended * (1.0 + again_);
  if (prompts * prompt_.mean < budget(decodes)) {
    return ended / PromptCounts{*this, decodes}.mean(decode_time(decodes), prompts);
  }
  // If the budget binds, d = steps x k decodes and k prompts fill it.
  const double k = real(settings_.max_num_tokens) / (prompt_.mean + steps_ * real(1 + settings_.speculation.draft));
  return k / prompt_time(steps_ * k, k * prompt_.mean);
}

double ScreenEngine::mean_iteration(double decodes, double rate) const noexcept {
  const double alone = decode_time(decodes);
  if (!prefills() || rate <= 0.0) {
    return alone;
  }
  PromptCounts prompts{*this, alone_ ? 0.0 : decodes};
  double time = alone;
  for (int i = 0; i < 30; ++i) {
    const double next = alone_ ? alone + prompts.mean(0.0, rate * time) : prompts.mean(alone, rate * time);
    if (std::abs(next - time) < 1e-3 * time) {
      return next;
    }
    time = next;
  }
  return time;
}

}  // namespace headroom
