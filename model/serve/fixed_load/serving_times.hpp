// SPDX-License-Identifier: Apache-2.0
// Times of a serving plan under a fixed load: the replica, its engine's habits and the closed loop together.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>

#include <string>
#include <vector>

namespace headroom {

struct ServingTimes {
  SteadyState state;          ///< of a replica, at the concurrency
  Seconds prompt_alone{};     ///< a first token with nobody else there
  IterationTerms decode;      ///< of an iteration of the whole batch
  IterationTerms prompt;      ///< of one that holds a single prompt, or the first chunk of it
  double step_tokens = 1.0;   ///< that the iteration gives of a sequence; more than 1 with a draft
  Seconds decode_drafting{};  ///< on top of `decode`, where tokens are drafted
  Seconds prompt_drafting{};  ///< on top of `prompt`, where the draft is a model
  Seconds least_decode{};     ///< that iteration at the datasheet's bandwidth and peak, whatever experts tokens meet
  bool least_reads = true;    ///< then, rather than multiplies
  bool reads = true;          ///< the same where tokens meet as many experts as even routing has them meet
  double requests_per_s = 0.0, output_tokens_per_s = 0.0;  ///< of all replicas
  std::vector<std::string> sources;                        ///< the measured kernels behind it
};

/// The requests of a client that sends a new one whenever one ends; ten in all for each in flight, as the published
/// benchmarks send, so that the first burst weighs a tenth. `memory` is serve_memory()'s answer. ConfigError where no
/// measured kernel or link serves. Precondition: memory is feasible.
[[nodiscard]] ServingTimes serving_times(const Architecture& architecture,
                                         const Device& device,
                                         const Node* node,
                                         const ServingStack& engine,
                                         const ServingWorkload& work,
                                         const ServingEstimate& memory,
                                         ExplainRecorder* recorder = nullptr);

/// "decode attention 41 %, products 33 %, all-reduce 12 %": the three largest.
[[nodiscard]] std::string largest_terms(const IterationTerms& terms);

}  // namespace headroom
