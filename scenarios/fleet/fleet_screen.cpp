// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/fixed_load/serving_times.hpp>
#include <headroom/model/serve/screen/screened_size.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/fleet/fleet_sizing.hpp>
#include <headroom/scenarios/serving/session_facts.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace headroom {
namespace {

ConfigError too_many(Hertz rate) {
  return ConfigError{"takes more than " + format_count(real(most_replicas)) + " replicas for " +
                     format_number(rate.raw()) + " req/s: lower the rate, or take faster GPUs, links or drafts"};
}

/// Lengths of the turns of some sessions.
std::vector<Request> sampled_turns(const TrafficClass& traffic) {
  constexpr std::int64_t sessions = 500;
  constexpr std::int64_t most = 20'000;
  const std::int64_t count = std::max(traffic.turns, std::min(sessions * traffic.turns, most));
  return whole_sessions({&traffic, 1}, count, 1).requests;
}

}  // namespace

std::vector<TailObjective> all_objectives(const ServingTraffic& traffic) {
  std::vector<TailObjective> all;
  for (const RequestClass& c : traffic.classes) {
    for (const TailObjective& one : c.objectives) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const TailObjective& other) {
        return other.metric == one.metric && other.quantile == one.quantile;
      });
      if (same == all.end()) {
        all.push_back(one);
      } else {
        same->limit = std::max(same->limit, one.limit);
      }
    }
  }
  return all;
}

ScreenTraffic screened_traffic(const ServingTraffic& traffic, bool answers_kept) {
  if (!traffic.traced) {
    std::vector<TrafficClass> classes;
    for (const RequestClass& c : traffic.classes) {
      classes.push_back(c.traffic);
      // Of prompts with ids the most that caches can find; the simulation says what they do.
      classes.back().cached_share =
          traffic.prefix_caching ? most_cached(c.traffic, answers_kept) / whole_prompt(c.traffic) : 0.0;
      if (c.traffic.turns > 1) {
        classes.back().lengths = sampled_turns(c.traffic);
      }
    }
    return screen_traffic(classes);
  }
  std::vector<Request> requests = traffic.traced->trace.requests;
  for (Request& request : requests) {
    request.cached_tokens = traffic.prefix_caching ? request.cached_tokens : 0;
  }
  TrafficClass all;
  all.arrivals.rate = traffic.traced->rate;
  double gaps = 0.0, squares = 0.0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const double gap = seconds_of(requests[i].arrival - requests[i - 1].arrival);
    gaps += gap;
    squares += gap * gap;
  }
  const double n = real(static_cast<std::int64_t>(requests.size())) - 1.0;
  const double mean = gaps / n;
  const double variance = std::max(0.0, squares / n - mean * mean);
  if (mean > 0.0 && variance > 0.0) {
    all.arrivals.gaps = GapShape::gamma;
    all.arrivals.cv = std::sqrt(variance) / mean;
  }
  all.lengths = std::move(requests);
  return screen_traffic(std::vector<TrafficClass>{all});
}

ScreenTraffic screened_traffic(const ServeScenario& s, const ServedReplica& served) {
  const bool answers_kept = !s.fleet || !s.fleet->prefill;
  ScreenTraffic traffic = screened_traffic(*s.traffic, answers_kept);
  if (!s.traffic->has_turns() || !s.traffic->prefix_caching) {
    return traffic;
  }
  const double most = traffic.cached_share;
  const std::vector<SessionFlow> all = session_flows(*s.traffic, 1.0, Seconds{}, answers_kept);
  const double found = session_hits(all, std::numeric_limits<double>::infinity()).found;
  constexpr int rounds = 4;  // what is found sets the number of replicas, and that what is found
  for (int i = 0; i < rounds && found > 0.0; ++i) {
    const std::int64_t replicas =
        s.fleet->replicas.value_or(screened_replicas(s, served, traffic).value_or(busy_replicas(s, served, traffic)));
    const ServingFleet fleet = serving_fleet(s, served, replicas, replicas);
    const ServingScreen screened = screen(fleet, traffic);
    if (screened.overloaded) {
      break;
    }
    const EngineSettings& engine = fleet.prefill ? fleet.prefill->engine : fleet.pool.engine;
    const auto& prompts = fleet.prefill ? screened.prefill : screened.pool;
    const double used = prompts.batch * (traffic.prompt.mean + 0.5 * traffic.output.mean);
    const double spare = std::max(0.0, real(engine.blocks * engine.block_tokens) - used);
    const Seconds queue{prompts.wait_share * prompts.wait.raw()};
    const double now = session_hits(session_flows(*s.traffic, real(replicas), queue, answers_kept), spare).found;
    traffic.cached_share = most * std::min(1.0, now / found);
  }
  return traffic;
}

ServingFleet unit_of(const ServeScenario& s, const ServedReplica& served) {
  ServingFleet unit = serving_fleet(s, served, 1, 1);
  if (unit.prefill) {
    unit.prefill->replicas = 1;
  }
  return unit;
}

std::optional<std::int64_t> screened_replicas(const ServeScenario& s,
                                              const ServedReplica& served,
                                              ScreenTraffic traffic,
                                              double slow) {
  traffic.rate = slow * traffic.rate;
  std::vector<TailObjective> objectives = all_objectives(*s.traffic);
  for (TailObjective& one : objectives) {
    one.limit = one.limit / slow;
  }
  const ScreenedSize size = screened_size(unit_of(s, served), traffic, objectives, most_replicas);
  return size.units > 0 ? std::optional{size.units} : std::nullopt;
}

double prompt_share(const ServeScenario& s, const ServingScreen& screened) {
  ServingWorkload w = s.work;
  w.gpus = w.layout.gpus();
  w.concurrency = std::max<std::int64_t>(1, std::llround(screened.pool.batch));
  w.max_seq_len = w.isl + w.osl;
  const ServingEstimate memory = serve_memory(s.architecture, s.device, s.engine, w);
  if (memory.verdict != Verdict::feasible) {
    return 0.0;
  }
  const Node* node = s.host ? &*s.host : nullptr;
  const double share = serving_times(*s.data, s.architecture, s.device, node, s.engine, w, memory).state.prompt_share;
  // What a prefix cache holds takes no time.
  const ServingTraffic::Lengths lengths = s.traffic->lengths();
  const double computed = share * lengths.computed / lengths.prompt;
  return computed / (computed + 1.0 - share);
}

MixScreen screen_mix(const ServeScenario& s, const ServedReplica& served) {
  double replicas = 0.0;
  double prompts = 0.0;
  for (std::size_t i = 0; i < model_count(s); ++i) {
    const ServeScenario one = alone(s, i);
    const ScreenTraffic traffic = screened_traffic(*one.traffic);
    const std::int64_t enough = busy_replicas(one, served.of(i), traffic);
    const ServingScreen screened = screen(serving_fleet(one, served.of(i), enough), traffic);
    const double needed = real(enough) * (traffic.rate / screened.saturation);
    replicas += needed;
    prompts += needed * prompt_share(one, screened);
  }
  if (!(replicas < real(most_replicas))) {
    throw too_many(s.traffic->rate());
  }
  return {static_cast<std::int64_t>(std::floor(replicas)) + 1, s.traffic->rate() / replicas, prompts / replicas};
}

std::int64_t first_size(const ServeScenario& s, const ServedReplica& served) {
  if (!s.beside.empty()) {
    return screen_mix(s, served).replicas;
  }
  const ScreenTraffic traffic = screened_traffic(s, served);
  const std::optional<std::int64_t> found = screened_replicas(s, served, traffic);
  return found ? *found : busy_replicas(s, served, traffic);
}

std::int64_t busy_replicas(const ServeScenario& s, const ServedReplica& served, const ScreenTraffic& traffic) {
  const double least = std::floor(traffic.rate / screened_saturation(unit_of(s, served), traffic)) + 1.0;
  if (!(least <= real(most_replicas))) {
    throw too_many(traffic.rate);
  }
  return static_cast<std::int64_t>(least);
}

}  // namespace headroom
