// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/session_facts.hpp>
#include <headroom/scenarios/serving/session_pace.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Of a replica, which has its part of the traffic: one of `parts`.
Seconds pace_of(const SimulatedReplica& replica, bool prompts, const ServingTraffic& traffic, double parts) {
  const double requests_per_s = traffic.rate().raw() / parts;
  const ServingTraffic::Lengths lengths = traffic.lengths();
  const EngineSettings& engine = replica.engine;
  const double room = real(engine.blocks * engine.block_tokens) / (lengths.prompt + lengths.output);
  const double most = std::clamp(room, 1.0, real(engine.max_num_seqs));
  const double each = 1.0 / real(std::max<std::int64_t>(replica.lanes, 1));
  const double keys = lengths.prompt + 0.5 * lengths.output;
  const auto decodes = [&](double sequences) {
    IterationBatch batch;
    batch.decodes = std::max<std::int64_t>(1, std::llround(sequences));
    batch.context = std::llround(real(batch.decodes) * keys);
    return batch;
  };
  const double pool = real(engine.blocks * engine.block_tokens);
  // What running requests leave of the pool keeps what idle sessions left.
  const auto computed = [&](double sequences) {
    if (!traffic.prefix_caching) {
      return lengths.prompt;
    }
    const std::vector<SessionFlow> flows = session_flows(traffic, parts, Seconds{}, true);
    const double found = session_hits(flows, std::max(0.0, pool - sequences * keys)).found;
    return std::max(lengths.computed, (1.0 - found) * lengths.prompt);
  };
  const auto token = [&](double sequences) {
    IterationBatch batch = decodes(sequences);
    const double alone = seconds_of(replica.tables->time(batch));
    if (!prompts) {
      return alone;
    }
    const double fresh = computed(sequences);
    const auto chunk = static_cast<std::int64_t>(std::clamp(fresh, 1.0, real(engine.max_num_tokens)));
    batch.add(chunk, true, replica.tables->chunk(chunk, std::max(chunk, std::int64_t{std::llround(lengths.prompt)})));
    const double added = std::max(0.0, seconds_of(replica.tables->time(batch)) - alone) * fresh / real(chunk);
    return alone + sequences / lengths.output * added;
  };
  constexpr int rounds = 40;  // from one sequence up: it grows towards the smallest solution
  double sequences = 1.0;
  double seconds = token(sequences);
  for (int i = 0; i < rounds; ++i) {
    const double next = std::clamp(each * requests_per_s * lengths.output * seconds, 1.0, most);
    if (std::abs(next - sequences) < 0.5) {
      break;
    }
    sequences = next;
    seconds = token(sequences);
  }
  return Seconds{seconds};
}

}  // namespace

std::vector<Seconds> session_pace(const ServeScenario& scenario,
                                  const ServedReplica& served,
                                  std::int64_t replicas,
                                  double factor) {
  std::vector<Seconds> paces;
  const ServingTraffic& traffic = *scenario.traffic;
  if (!traffic.has_turns()) {
    return paces;
  }
  for (std::size_t model = 0; model <= served.beside.size(); ++model) {
    const ServingTraffic own = served.beside.empty() ? traffic : traffic.of_model(model);
    if (own.classes.empty() || std::isinf(own.rate().raw())) {
      paces.push_back(usual_token);
      continue;
    }
    paces.push_back(
        pace_of(served.of(model).simulated, !served.prefill, own, real(std::max<std::int64_t>(replicas, 1)) / factor));
  }
  return paces;
}

}  // namespace headroom
