// SPDX-License-Identifier: Apache-2.0
// Parts of a load and a fleet that no launch file can express, in words with their numbers.
#pragma once

#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstdint>
#include <string>

namespace headroom::launch {

/// "8 turns of a session, 5.00 s between them", per class if there are several; empty without sessions.
[[nodiscard]] std::string turn_words(const ServingTraffic& traffic);

/// "4 groups of 512 tokens, 50.0 % of the requests", per class if there are several; empty without shared prefixes.
[[nodiscard]] std::string prefix_words(const ServingTraffic& traffic);
/// "50.0 % of a prompt", per class if there are several; empty without cached prompts.
[[nodiscard]] std::string cached_words(const ServingTraffic& traffic);
/// "8.00 to 72.0 req/s over 24.0 h".
[[nodiscard]] std::string curve_words(const LoadCurve& curve);
/// "10.0 % of the attempts fail, 3 of a request at most, 1.00 s before the second".
[[nodiscard]] std::string retry_words(const ClientRetries& retries);
/// "3 replicas of tp 4, 12 GPUs"; `each`: GPUs per replica.
[[nodiscard]] std::string prefill_words(const DisaggregatedPrefill& prefill, std::int64_t each);
/// "at 70.0 % of what replicas saturate at, 5.00 min to start one, 1 replica at least".
[[nodiscard]] std::string scaling_words(const AutoscaleQuestion& question);
/// "cpu 932 GiB; disk 3.64 TiB at 10.0 GB/s".
[[nodiscard]] std::string tier_words(const KvOffload& offload);

}  // namespace headroom::launch
