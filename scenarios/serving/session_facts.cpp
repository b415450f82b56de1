// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/serving/session_facts.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

std::vector<SessionFlow> session_flows(const ServingTraffic& traffic,
                                       double replicas,
                                       Seconds queue,
                                       bool answers_kept) {
  std::vector<SessionFlow> flows;
  for (const RequestClass& c : traffic.classes) {
    const TrafficClass& t = c.traffic;
    flows.push_back({t.arrivals.rate / replicas, t.turns, t.prompt.mean, t.output.mean, t.think, queue, answers_kept});
  }
  return flows;
}

std::vector<SessionFacts> session_facts(const ServingTraffic& traffic,
                                        Hertz offered,
                                        const ServingMetrics& metrics,
                                        const PoolCounters& engines,
                                        std::int64_t block_tokens,
                                        bool answers_kept) {
  const double factor = offered / traffic.rate();
  const double count = std::max(1.0, real(engines.engines));
  const double in_use = metrics.prefill.iterations > 0 ? metrics.prefill.kv_mean : metrics.pool.kv_mean;
  const double spare = (1.0 - in_use) * real(engines.blocks * block_tokens) / count;
  std::vector<SessionFacts> facts;
  for (std::size_t i = 0; i < traffic.classes.size(); ++i) {
    const TrafficClass& t = traffic.classes[i].traffic;
    if (t.turns == 1) {
      continue;
    }
    SessionFacts one;
    one.name = traffic.classes.size() > 1 ? traffic.classes[i].name : std::string{};
    one.turns = t.turns;
    one.think = t.think;
    one.sessions_per_s = factor / real(t.turns) * t.arrivals.rate;
    const Seconds answer = metrics.classes.at(i).e2e.mean;
    const Seconds lasts = real(t.turns) * answer + (real(t.turns) - 1.0) * t.think;
    one.open = one.sessions_per_s * lasts;  // Little 1961
    one.new_prompt = t.prompt.mean;
    one.prompt = whole_prompt(t);
    one.caches = traffic.prefix_caching;
    if (one.caches) {
      // Of all classes together: they share the cache.
      const SessionHits hits =
          session_hits(session_flows(traffic, count / factor, metrics.all.queue.mean, answers_kept), spare);
      one.kept = hits.kept;
      one.found = hits.found;
    }
    facts.push_back(std::move(one));
  }
  return facts;
}

std::string SessionFacts::text() const {
  std::string text = (name.empty() ? "traffic.turns" : "traffic.class " + quoted(name) + ": turns") + " = " +
                     std::to_string(turns) + ": " + format_number(sessions_per_s.raw()) + " sessions/s, of which " +
                     format_number(open, 3) + " are open at a time, pauses included (Little's law); a prompt has " +
                     format_number(prompt) + " tokens on the mean, " + format_number(new_prompt) + " of them new";
  if (!caches) {
    return text + "; serving.prefix_caching is false, so that every prompt is computed whole";
  }
  return text + "; a cache whose blocks go in the order of their last use should keep them " +
         (std::isinf(kept.raw()) ? std::string{"for ever"} : "for " + format(kept)) + " and find " + percent(found) +
         " of the prompt tokens (Che, Tung and Wang 2002)";
}

}  // namespace headroom
