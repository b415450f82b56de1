// SPDX-License-Identifier: Apache-2.0
// One engine of a screened pool: its iterations, its saturation, and its state at a rate.
#pragma once

#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/screen/backlog_chain.hpp>
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>

namespace headroom {

/// Mean work of the requests that an engine of a given role receives.
struct EngineWork {
  Moments prompt, output;     ///< tokens
  double cached_share = 0.0;  ///< share (0 to 1) of a prompt that is cached and not computed
};

/// Closed forms of one engine. All times are in seconds.
class ScreenEngine {
 public:
  ScreenEngine(const IterationTables& tables,
               const EngineSettings& settings,
               EngineRole role,
               const EngineWork& work) noexcept;

  /// Most sequences that places and blocks hold at once.
  [[nodiscard]] double most() const noexcept { return most_; }
  /// Requests/s with all places taken: completions per iteration over its length.
  [[nodiscard]] double saturation() const noexcept;
  /// Decode iterations per request.
  [[nodiscard]] double steps() const noexcept { return steps_; }
  [[nodiscard]] const Moments& prompt() const noexcept { return prompt_; }  ///< tokens to compute
  [[nodiscard]] const Strata& prompt_strata() const noexcept { return strata_; }
  [[nodiscard]] bool prompts_alone() const noexcept { return alone_; }
  [[nodiscard]] bool decodes() const noexcept { return steps_ > 0.0; }
  [[nodiscard]] bool prefills() const noexcept { return role_ != EngineRole::decode; }

  /// Seconds of an iteration of `decodes` sequences without prompts.
  [[nodiscard]] double decode_time(double decodes) const noexcept;
  /// Seconds of an iteration with `tokens` prompt tokens, beside the decodes if the rules mix them.
  [[nodiscard]] double prompt_time(double decodes, double tokens) const noexcept;
  /// Seconds of an iteration by its prompt tokens, at a mean number of decodes.
  [[nodiscard]] IterationCurve curve(double decodes) const noexcept;
  /// Mean seconds of an iteration while prompts arrive at `rate` requests/s and sequences decode.
  [[nodiscard]] double mean_iteration(double decodes, double rate) const noexcept;

 private:
  [[nodiscard]] double batch_time(std::int64_t decodes, double tokens) const noexcept;
  [[nodiscard]] double budget(double decodes) const noexcept;
  /// Cached times of iterations with 1, 2, ... prompts beside `decodes`.
  class PromptCounts;

  const IterationTables* tables_;
  EngineSettings settings_;
  EngineRole role_;
  Moments prompt_;
  Strata strata_{};
  double keys_ = 1.0;  ///< mean keys of a decoding sequence
  double steps_ = 0.0;
  double most_ = 1.0;
  double cached_ = 0.0;
  /// Prompts recomputed per request when the pool is full: growing outputs take the blocks of the newest sequences,
  /// whose tokens must then be computed again.
  double again_ = 0.0;
  bool alone_ = false;
  double attention_work_ = 0.0;   ///< ps per prompt token
  double attention_alone_ = 0.0;  ///< ps per mean prompt
};

}  // namespace headroom
