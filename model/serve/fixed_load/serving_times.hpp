// SPDX-License-Identifier: Apache-2.0
// Times of a serving plan under a fixed load, from the replica, its engine's parameters and the closed loop.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>

#include <string>
#include <vector>

namespace headroom {

class ModelData;

struct ServingTimes {
  SteadyState state;                    ///< state of one replica at the concurrency
  Seconds prompt_alone{};               ///< time to first token of a request that is alone
  IterationTerms decode;                ///< terms of an iteration of the whole batch
  IterationTerms prompt;                ///< terms of an iteration with a single prompt, or its first chunk
  EngineLaunches launches;              ///< part of the launch gaps of `decode`
  ServingUse use;                       ///< what a GPU does meanwhile, for its power
  ServingUse use_prompts, use_decodes;  ///< the same while prompts alone run, and decodes alone
  double step_tokens = 1.0;             ///< tokens per sequence and iteration; more than 1 with a draft
  Seconds decode_drafting{};            ///< drafting time in addition to `decode`
  Seconds drafting_host{};              ///< of it, the host's where the engine does not overlap drafts
  Seconds prompt_drafting{};            ///< drafting time of a prompt in addition to `prompt`, if the draft is a model
  Seconds least_decode{};   ///< bound of the decode iteration from datasheet bandwidth and peak, for any routing
  bool least_reads = true;  ///< `least_decode` is limited by reading, not by multiplying
  bool reads = true;        ///< the decode iteration under even routing is limited by reading
  /// Rates of all replicas. Of a pool that decodes the input is what others have computed, of one that prefills the
  /// output is what others will.
  double requests_per_s = 0.0, output_tokens_per_s = 0.0, input_tokens_per_s = 0.0;
  std::vector<std::string> sources;  ///< the measured kernels used
};

/// Times for closed-loop clients, each of which sends a new request when one ends; ten requests per client in total, as
/// the published benchmarks send, so that the first burst weighs a tenth; of a pool of one phase at full load
/// (steady_state.hpp). `memory` is the result of serve_memory().
/// ConfigError if no measured kernel or link applies. Precondition: memory is feasible.
[[nodiscard]] ServingTimes serving_times(const ModelData& data,
                                         const Architecture& architecture,
                                         const Device& device,
                                         const Node* node,
                                         const ServingStack& engine,
                                         const ServingWorkload& work,
                                         const ServingEstimate& memory,
                                         ExplainRecorder* recorder = nullptr);

/// The three largest terms: "decode attention 41 %, products 33 %, all-reduce 12 %".
[[nodiscard]] std::string largest_terms(const IterationTerms& terms);

}  // namespace headroom
