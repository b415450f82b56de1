// SPDX-License-Identifier: Apache-2.0
// One engine of a screened pool: its iterations, the most it answers, and its state at a rate.
#pragma once

#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/screen/backlog_chain.hpp>
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>

namespace headroom {

/// What requests are to an engine of some role, on average.
struct EngineWork {
  Moments prompt, output;     ///< tokens
  double cached_share = 0.0;  ///< of prompts; not computed
};

/// Closed forms of one engine. All times in seconds.
class ScreenEngine {
 public:
  ScreenEngine(const IterationTables& tables,
               const EngineSettings& settings,
               EngineRole role,
               const EngineWork& work) noexcept;

  /// Sequences that places and blocks hold at once.
  [[nodiscard]] double most() const noexcept { return most_; }
  /// Requests/s with all places taken: completions of an iteration over its length.
  [[nodiscard]] double saturation() const noexcept;
  /// Decode iterations of a request.
  [[nodiscard]] double steps() const noexcept { return steps_; }
  [[nodiscard]] const Moments& prompt() const noexcept { return prompt_; }  ///< tokens to compute
  [[nodiscard]] const Strata& prompt_strata() const noexcept { return strata_; }
  [[nodiscard]] bool prompts_alone() const noexcept { return alone_; }
  [[nodiscard]] bool decodes() const noexcept { return steps_ > 0.0; }
  [[nodiscard]] bool prefills() const noexcept { return role_ != EngineRole::decode; }

  /// An iteration of `decodes` sequences, without prompts.
  [[nodiscard]] double decode_time(double decodes) const noexcept;
  /// One that holds prompt tokens; with the decodes beside them where the rules mix.
  [[nodiscard]] double prompt_time(double decodes, double tokens) const noexcept;
  /// Iterations by their prompt tokens at a mean number of decodes.
  [[nodiscard]] IterationCurve curve(double decodes) const noexcept;
  /// Mean length of an iteration in which prompts arrive at `rate` and sequences decode.
  [[nodiscard]] double mean_iteration(double decodes, double rate) const noexcept;

 private:
  [[nodiscard]] double batch_time(std::int64_t decodes, double tokens) const noexcept;
  [[nodiscard]] double budget(double decodes) const noexcept;
  /// Iterations of 1, 2, ... prompts beside `decodes`, as far as they were asked.
  class PromptCounts;

  const IterationTables* tables_;
  EngineSettings settings_;
  EngineRole role_;
  Moments prompt_;
  Strata strata_{};
  double keys_ = 1.0;  ///< of a sequence that decodes, mean
  double steps_ = 0.0;
  double most_ = 1.0;
  double cached_ = 0.0;
  /// Prompts computed again for each request when the pool is full: what outputs grow by takes the blocks of the newest
  /// sequences, and those tokens have to be computed again.
  double again_ = 0.0;
  bool alone_ = false;
  double attention_work_ = 0.0;   ///< ps a prompt token
  double attention_alone_ = 0.0;  ///< ps of a mean prompt
};

}  // namespace headroom
