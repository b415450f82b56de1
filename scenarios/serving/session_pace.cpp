// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/session_pace.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

Seconds pace_of(const SimulatedReplica& replica, bool prompts, const ServingTraffic& traffic, double requests_per_s) {
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
  const double tokens = std::max(1.0, std::min(lengths.computed, real(engine.max_num_tokens)));
  const auto token = [&](double sequences) {
    IterationBatch batch = decodes(sequences);
    const double alone = seconds_of(replica.tables->time(batch));
    if (!prompts) {
      return alone;
    }
    const auto chunk = static_cast<std::int64_t>(tokens);
    batch.add(chunk, true, replica.tables->chunk(chunk, std::llround(std::max(tokens, lengths.prompt))));
    const double added = std::max(0.0, seconds_of(replica.tables->time(batch)) - alone) * lengths.computed / tokens;
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
    if (own.classes.empty()) {
      paces.push_back(usual_token);
      continue;
    }
    const double rate = factor * own.rate().raw() / real(std::max<std::int64_t>(replicas, 1));
    paces.push_back(pace_of(served.of(model).simulated, !served.prefill, own, rate));
  }
  return paces;
}

}  // namespace headroom
