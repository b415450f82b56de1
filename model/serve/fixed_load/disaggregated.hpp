// SPDX-License-Identifier: Apache-2.0
// Clients of a disaggregated deployment in closed form: a pool of replicas that compute prompts, a transfer of the
// cache, and a pool that decodes (Zhong et al. 2024, DistServe; Patel et al. 2024, Splitwise).
#pragma once

#include <headroom/model/serve/fixed_load/steady_state.hpp>

namespace headroom {

/// One of the two pools. `load` is that of one replica: lengths, chunk, groups and stages.
struct DisaggregatedPool {
  IterationCost step;
  SteadyLoad load;
  double replicas = 1.0;
  double places = 0.0;  ///< sequences that a replica decodes at once at most; 0: as many as come
};

/// `clients` (>= 1), each of which sends its next request when the last has ended. All rates are of the deployment:
/// @code
/// tpot = T(b / replicas) / step_tokens of the decode pool, without prompts
/// ttft = request + one prompt alone + queue + behind + transfer + steps tpot + burst (clients - 1) / 2 prefills /
/// waves
///        + place + response
/// rate = clients / (ttft without burst and response + (osl - 1) tpot)
/// queue = S (clients - 1) / clients Q, Q = rate (queue + S), S the time of a prompt in full iterations over the
/// replicas
///         (approximate mean value analysis of a closed network: Schweitzer 1979; Reiser and Lavenberg 1980)
/// behind = S rate one prompt alone where a worker hands on what an iteration gave once the next one is launched
/// b = rate (osl - 1) tpot (Little 1961)
/// place = replicas E[(X - places)+] / rate, X the requests at a replica: the mean of a router that takes turns (X the
///         mean) and one that draws a replica (X binomial), of which launches do not say which theirs is
/// response = (stream_interval - 1) iterations where a decoding engine holds a first piece until it is full
/// @endcode
/// so that a pool of prompts that is too small holds the requests back, and the decode pool runs fewer of them.
[[nodiscard]] SteadyState disaggregated_loop(const DisaggregatedPool& prefill,
                                             const DisaggregatedPool& decode,
                                             double clients,
                                             Seconds transfer,
                                             const SteadyHabits& habits);

}  // namespace headroom
