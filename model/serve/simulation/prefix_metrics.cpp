// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/prefix_metrics.hpp>

#include <algorithm>
#include <vector>

namespace headroom {

double PrefixMetrics::hit_share() const noexcept {
  std::int64_t found = pool;
  for (const Tier& tier : tiers) {
    found += tier.tokens;
  }
  return share(found);
}

PrefixMetrics prefix_metrics(const RequestLoad& load, const FleetResult& result, std::int64_t warm_up) {
  PrefixMetrics m;
  std::vector<double> loading, ttft;
  for (auto i = static_cast<std::size_t>(warm_up); i < result.hits.size(); ++i) {
    const PrefixHits& hits = result.hits[i];
    const RequestTimes& times = result.requests[i];
    if (times.refused || times.started == never) {
      continue;
    }
    ++m.requests;
    m.prompt_tokens += load.requests[i].prompt_tokens;
    m.shareable += load.prefixes.whole_tokens(i, load.prefixes.of(i).size(), 1);
    // The last token of a prompt is always computed.
    m.pool += std::min(hits.pool, load.requests[i].prompt_tokens - 1);
    for (std::size_t t = 0; t < PrefixHits::most_tiers; ++t) {
      m.tiers[t].tokens += hits.tiers[t];
      m.tiers[t].loaded += hits.loaded[t];
      m.tiers[t].requests += hits.loaded[t] > 0 ? 1 : 0;
    }
    if (hits.loading > Picoseconds{0}) {
      ++m.loads;
      loading.push_back(seconds_of(hits.loading));
      if (times.first_token != never) {
        ttft.push_back(seconds_of(times.first_token - times.arrival));
      }
    }
  }
  m.loading = time_summary(loading);
  m.ttft_loaded = time_summary(ttft);
  return m;
}

}  // namespace headroom
