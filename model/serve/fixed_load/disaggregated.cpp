// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/model/serve/fixed_load/disaggregated.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// What one more round of the fixed point may change, relative, when it is done.
constexpr double enough = 1e-6;
constexpr int most_rounds = 500;

/// A prompt that meets no other: its iterations alone.
double alone(const DisaggregatedPool& prefill) {
  SteadyLoad lone = prefill.load;
  lone.batch = lone.concurrency = lone.stages = 1.0;
  return closed_loop(prefill.step, lone, {}).ttft.raw();
}

/// Requests at a replica beyond its places: E[(X - places)+]. A router that takes turns leaves X at the mean, one that
/// draws replicas makes it binomial; launches do not say which theirs does, and the mean of both stands for either.
double waiting_for_place(double requests, double replicas, double places) {
  const double mean = requests / replicas;
  if (places <= 0.0) {
    return 0.0;
  }
  const double in_turns = std::max(0.0, mean - places);
  if (replicas <= 1.0) {
    return in_turns;
  }
  const double share = 1.0 / replicas;
  const double variance = mean * (1.0 - share);
  constexpr double normal_from = 100.0;  // beyond it a binomial is a normal to a hundredth of its deviation
  if (variance > normal_from) {
    const double deviation = std::sqrt(variance);
    const double z = (places - mean) / deviation;
    constexpr double root_two_pi = 2.5066282746310002;
    const double drawn = deviation * (std::exp(-0.5 * z * z) / root_two_pi - z * (1.0 - normal_share(z)));
    return 0.5 * (in_turns + drawn);
  }
  // E[(X - n)+] = mean - n + E[(n - X)+], a sum over fewer than n requests.
  double probability = std::exp(requests * std::log1p(-share));
  double excess = mean - places;
  for (double x = 0.0; x < places && x <= requests; x += 1.0) {
    excess += (places - x) * probability;
    probability *= std::max(0.0, requests - x) / (x + 1.0) * share / (1.0 - share);
  }
  return 0.5 * (in_turns + std::max(0.0, excess));
}

}  // namespace

SteadyState disaggregated_loop(const DisaggregatedPool& prefill,
                               const DisaggregatedPool& decode,
                               double clients,
                               Seconds transfer,
                               const SteadyHabits& habits) {
  const double each = 1.0 / (prefill.replicas * prefill_pool(prefill.step, prefill.load).requests_per_s);
  const double first = alone(prefill);
  const double outputs = std::max(0.0, decode.load.osl - 1.0);
  SteadyLoad load = decode.load;
  SteadyState s;
  double queued = 0.0;
  double decoding = clients;
  double rate = 0.0;
  double wait = 0.0;
  double place = 0.0;
  for (int round = 0; round < most_rounds; ++round) {
    const double late = waiting_for_place(decoding, decode.replicas, decode.places);
    const double running = decoding / decode.replicas - late;
    load.batch = std::max(std::min(1.0, clients / decode.replicas), running);
    s = decode_pool(decode.step, load, habits);
    wait = each * (clients - 1.0) / clients * queued;
    place = late > 0.0 ? late / running * outputs * s.tpot.raw() : 0.0;
    // A cache is sent once the prompt that waits behind it, of a worker that is busy, has been launched.
    const double behind = habits.late_results
                              ? std::min(1.0, rate * each) * first *
                                    std::min(1.0, prefill.load.groups * prefill.load.chunk / prefill.load.isl)
                              : 0.0;
    const double to_first =
        habits.request.raw() + first + wait + behind + transfer.raw() + habits.steps * s.tpot.raw() + place;
    const double next = clients / (to_first + outputs * s.tpot.raw());
    s.ttft = Seconds{to_first + habits.burst * 0.5 * (clients - 1.0) * each / decode.load.waves};
    const bool done = std::abs(next - rate) <= enough * next;
    rate = next;
    if (done) {
      break;
    }
    // Halves of old and new, because queue and rate push each other to and fro.
    queued = 0.5 * queued + 0.5 * std::min(clients, rate * (wait + each));
    decoding = 0.5 * decoding + 0.5 * std::min(clients, rate * (place + outputs * s.tpot.raw()));
  }
  if (habits.holds_first && outputs > 0.0) {
    const double steps = std::min(decode.load.client.stream_interval - 1.0, outputs / load.step_tokens);
    const double held = steps * load.step_tokens * s.tpot.raw();
    s.ttft += Seconds{held};
    s.tpot = Seconds{s.tpot.raw() - held / outputs};
  }
  s.prompt_share = std::min(1.0, rate * each);
  s.requests_per_s = rate;
  s.output_tokens_per_s = rate * decode.load.osl;
  return s;
}

}  // namespace headroom
