// SPDX-License-Identifier: Apache-2.0
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
  for (int round = 0; round < most_rounds; ++round) {
    load.batch = std::max(std::min(1.0, clients / decode.replicas), decoding / decode.replicas);
    s = decode_pool(decode.step, load, habits);
    wait = each * (clients - 1.0) / clients * queued;
    const double to_first = habits.request.raw() + first + wait + transfer.raw() + habits.steps * s.tpot.raw();
    const double next = clients / (to_first + outputs * s.tpot.raw());
    s.ttft = Seconds{to_first + habits.burst * 0.5 * (clients - 1.0) * each / decode.load.waves};
    const bool done = std::abs(next - rate) <= enough * next;
    rate = next;
    if (done) {
      break;
    }
    // Halves of old and new, because queue and rate push each other to and fro.
    queued = 0.5 * queued + 0.5 * std::min(clients, rate * (wait + each));
    decoding = 0.5 * decoding + 0.5 * std::min(clients, rate * outputs * s.tpot.raw());
  }
  s.prompt_share = std::min(1.0, rate * each);
  s.requests_per_s = rate;
  s.output_tokens_per_s = rate * decode.load.osl;
  return s;
}

}  // namespace headroom
