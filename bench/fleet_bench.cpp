// SPDX-License-Identifier: Apache-2.0
// Speed of the fleet simulation: requests and iterations per second on one core at 70 % load, next to other simulators.
// Exit code 1 below the bars.
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/saturation.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/traffic/request_trace.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

using namespace headroom;

namespace {

constexpr double requests_bar = 50'000.0;
constexpr double iterations_bar = 100'000.0;
constexpr std::int64_t requests = 500'000;
/// Vidur 7d47513 with lengths of the same trace on one core: 650 to 900 requests/s, 4,000 to 5,000 iterations/s.
constexpr double vidur_requests = 900.0;

Picoseconds microseconds(double value) {
  return picoseconds(value * 1e-6);
}

/// A dense 70B on 4 H100 in round numbers: 15 ms to read the weights, 8-bit products at 35 us per token, 25 us of host
/// time, 320 kB of cache per token at 10 TB/s; as many knots as fitted tables have.
IterationTables seventy_billion() {
  IterationTables::Parts p;
  for (std::int64_t n = 1; n <= 16384; n *= 2) {
    p.tokens.at.push_back(n);
    p.dense.push_back(microseconds(std::max(15'000.0, 35.0 * static_cast<double>(n))));
    p.dense_eager.push_back(p.dense.back() + microseconds(1000.0));
  }
  for (std::int64_t n = 1; n <= 1024; n *= 2) {
    p.rows.at.push_back(n);
    p.head.push_back(microseconds(200.0 + 0.5 * static_cast<double>(n)));
    p.decodes.at.push_back(n);
  }
  for (std::int64_t keys = 1; keys <= 131'072; keys *= 2) {
    p.context_each.at.push_back(keys);
    p.chunk_context.at.push_back(keys);
  }
  for (const std::int64_t n : p.decodes.at) {
    for (const std::int64_t keys : p.context_each.at) {
      p.decode.push_back(microseconds(200.0 + 0.032 * static_cast<double>(n * keys)));
    }
  }
  for (std::int64_t n = 1; n <= 16384; n *= 2) {
    p.chunk.at.push_back(n);
    for (const std::int64_t keys : p.chunk_context.at) {
      p.chunk_work.push_back(microseconds(5e-4 * static_cast<double>(n * keys)));
      p.chunk_alone.push_back(p.chunk_work.back() + microseconds(100.0));
    }
  }
  p.step = microseconds(250.0);
  p.per_sequence = microseconds(25.0);
  return IterationTables{p};
}

/// The trace's lengths, or a lognormal with its published means without a trace file.
TrafficClass conversation(const std::string& path) {
  TrafficClass traffic;
  if (std::filesystem::exists(path)) {
    traffic.lengths = load_request_trace(path).requests;
    std::printf("lengths: %zu requests of %s\n", traffic.lengths.size(), path.c_str());
    return traffic;
  }
  traffic.prompt = {.shape = LengthShape::lognormal, .mean = 1155.0, .cv = 1.0, .most = 14'050};
  traffic.output = {.shape = LengthShape::lognormal, .mean = 211.0, .cv = 0.8, .most = 1'000};
  std::printf("lengths: lognormal, 1155 tokens in and 211 out (%s is absent)\n", path.c_str());
  return traffic;
}

struct Speed {
  double requests = 0.0, iterations = 0.0;
};

/// Median of five runs with metrics, in CPU time, which other load on the machine does not change.
Speed measure(const ServingFleet& fleet, const RequestLoad& load, ServingMetrics& metrics) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    metrics = serving_metrics(load, simulate(fleet, load));
    times.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::sort(times.begin(), times.end());
  const double time = times[2];
  return {static_cast<double>(load.requests.size()) / time, static_cast<double>(metrics.pool.iterations) / time};
}

/// Only rows whose name holds these words are run.
std::string asked_words;
int rows_run = 0;

/// `trace`: scale the trace's own gaps instead of using a Poisson process.
bool row(const std::string& name, const ServingFleet& fleet, TrafficClass traffic, double busy, bool trace = false) {
  if (name.find(asked_words) == std::string::npos) {
    return true;
  }
  ++rows_run;
  const double capacity = saturation(fleet, {&traffic, 1}, 20'000 * fleet.pool.replicas, 1).raw();
  traffic.arrivals.rate = Hertz{busy * capacity};
  const Hertz rate = traffic.arrivals.rate;
  const auto copies = requests / std::max<std::int64_t>(static_cast<std::int64_t>(traffic.lengths.size()), 1);
  const RequestLoad load = trace ? trace_load(traffic.lengths, rate, copies) : open_load({&traffic, 1}, requests, 2);
  ServingMetrics metrics;
  const Speed speed = measure(fleet, load, metrics);
  std::printf(
      "%-34s %6.1f req/s %5.0f %%  batch %5.1f  ttft p50 %4.0f p99 %5.0f ms  tpot %4.1f ms | %9.0f req/s "
      "(%4.0fx Vidur) %10.0f iterations/s\n",
      name.c_str(), busy * capacity, busy * 100.0, metrics.pool.batch_mean, metrics.all.ttft.p50.raw() * 1e3,
      metrics.all.ttft.p99.raw() * 1e3, metrics.all.tpot.mean.raw() * 1e3, speed.requests,
      speed.requests / vidur_requests, speed.iterations);
  return speed.requests >= requests_bar && speed.iterations >= iterations_bar;
}

bool run(const std::string& trace) {
  const IterationTables tables = seventy_billion();
  const TrafficClass traffic = conversation(trace);
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.blocks = 40'000;
  bool good = row("vLLM V1, one replica", fleet, traffic, 0.7);
  good = row("vLLM V1, one replica", fleet, traffic, 0.95) && good;
  if (!traffic.lengths.empty()) {
    good = row("vLLM V1, arrivals of the trace", fleet, traffic, 0.7, true) && good;
  }
  ServingFleet variant = fleet;
  variant.pool.engine.rules = sglang;
  good = row("SGLang, one replica", variant, traffic, 0.7) && good;
  variant.pool.engine.rules = tensorrt_llm_no_evict;
  good = row("TensorRT-LLM, no eviction", variant, traffic, 0.7) && good;
  variant = fleet;
  variant.pool.replicas = 16;
  good = row("vLLM V1, 16 replicas", variant, traffic, 0.7) && good;
  variant = fleet;
  variant.pool.engine.blocks = 6'000;
  good = row("vLLM V1, a pool that runs short", variant, traffic, 0.95) && good;
  variant = fleet;
  variant.pool.engine.speculation = {3, 0.7, 1};
  good = row("vLLM V1, drafts that cost nothing", variant, traffic, 0.7) && good;
  if (rows_run == 0) {
    std::printf("no row's name holds '%s'\n", asked_words.c_str());
    return false;
  }
  std::printf("bars: %.0f requests/s and %.0f iterations/s a core: %s\n", requests_bar, iterations_bar,
              good ? "met" : "MISSED");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    asked_words = argc > 2 ? argv[2] : "";
    return run(argc > 1 ? argv[1] : "../shared/data/traces/azure_llm_2023_conv.csv") ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
