// SPDX-License-Identifier: Apache-2.0
// Fleets and loads on which the screen is held against the simulation.
#pragma once

#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::test {

/// A model on its GPUs in round numbers, in microseconds: an iteration reads `weights`, multiplies `token` for each
/// token, reads `key` for each key, prompts' attention takes `attention` for each pair, the host `step` and `sequence`.
struct RoundNumbers {
  double weights = 0.0, token = 0.0, key = 0.0, attention = 0.0, step = 0.0, sequence = 0.0;
};

inline IterationTables round_tables(const RoundNumbers& n) {
  const auto us = [](double value) { return picoseconds(value * 1e-6); };
  IterationTables::Parts p;
  for (std::int64_t i = 1; i <= 16384; i *= 2) {
    p.tokens.at.push_back(i);
    p.dense.push_back(us(std::max(n.weights, n.token * static_cast<double>(i))));
    p.dense_eager.push_back(p.dense.back() + us(1000.0));
    p.chunk.at.push_back(i);
  }
  for (std::int64_t i = 1; i <= 1024; i *= 2) {
    p.rows.at.push_back(i);
    p.head.push_back(us(200.0 + 0.5 * static_cast<double>(i)));
    p.decodes.at.push_back(i);
  }
  for (std::int64_t keys = 1; keys <= 131'072; keys *= 2) {
    p.context_each.at.push_back(keys);
    p.chunk_context.at.push_back(keys);
  }
  for (const std::int64_t sequences : p.decodes.at) {
    for (const std::int64_t keys : p.context_each.at) {
      p.decode.push_back(us(200.0 + n.key * static_cast<double>(sequences * keys)));
    }
  }
  for (const std::int64_t tokens : p.chunk.at) {
    for (const std::int64_t keys : p.chunk_context.at) {
      p.chunk_work.push_back(us(n.attention * static_cast<double>(tokens * keys)));
      p.chunk_alone.push_back(p.chunk_work.back() + us(100.0));
    }
  }
  p.step = us(n.step);
  p.per_sequence = us(n.sequence);
  return IterationTables{p};
}

struct ScreenTables {
  IterationTables large = round_tables({15'000.0, 35.0, 0.032, 5e-4, 250.0, 25.0});  ///< a 70B on four GPUs
  IterationTables small = round_tables({5'000.0, 18.0, 0.04, 2e-4, 400.0, 12.0});    ///< an 8B on one
  IterationTables sparse = round_tables({1'500.0, 4.0, 0.005, 5e-5, 1000.0, 20.0});  ///< few active parameters
};

inline ServingFleet screen_fleet(const IterationTables& tables, const SchedulerRules& rules, std::int64_t replicas) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.engine.rules = rules;
  fleet.pool.engine.blocks = 60'000;
  fleet.pool.replicas = replicas;
  return fleet;
}

struct ScreenCase {
  std::string name;
  ServingFleet fleet;
  TrafficClass traffic;
};

/// Tables x schedulers x lengths; one replica and four, Poisson and gamma gaps of cv 2, a pool of blocks that runs
/// short.
inline std::vector<ScreenCase> screen_cases(const ScreenTables& tables) {
  const auto law = [](double mean, double cv, std::int64_t most) {
    return LengthLaw{
        .shape = cv > 0.0 ? LengthShape::lognormal : LengthShape::fixed, .mean = mean, .cv = cv, .most = most};
  };
  const std::vector<std::pair<std::string, std::pair<LengthLaw, LengthLaw>>> lengths{
      {"conversation", {law(1155, 1.0, 16'000), law(211, 0.8, 4'000)}},
      {"equal", {law(1024, 0.0, 16'000), law(256, 0.0, 4'000)}},
      {"long prompts", {law(4000, 0.8, 16'000), law(100, 0.5, 4'000)}},
      {"long answers", {law(200, 1.0, 16'000), law(800, 0.7, 4'000)}}};
  const std::vector<std::pair<std::string, const IterationTables*>> models{
      {"large", &tables.large}, {"small", &tables.small}, {"sparse", &tables.sparse}};
  const std::vector<std::pair<std::string, SchedulerRules>> engines{
      {"vllm-v1", vllm_v1}, {"vllm-v0", vllm_v0}, {"sglang", sglang}, {"tensorrt-llm", tensorrt_llm_no_evict}};
  std::vector<ScreenCase> cases;
  for (const auto& [model, table] : models) {
    for (const auto& [engine, rules] : engines) {
      for (const auto& [length, laws] : lengths) {
        ScreenCase one{model + ", " + engine + ", " + length, screen_fleet(*table, rules, 1), {}};
        one.traffic.prompt = laws.first;
        one.traffic.output = laws.second;
        cases.push_back(one);
        one.fleet.pool.replicas = 4;
        cases.push_back(one);
        one.fleet.pool.replicas = 1;
        one.traffic.arrivals.gaps = GapShape::gamma;
        one.traffic.arrivals.cv = 2.0;
        cases.push_back(one);
        one.traffic.arrivals = {};
        one.fleet.pool.engine.blocks = 8'000;
        cases.push_back(one);
      }
    }
  }
  return cases;
}

}  // namespace headroom::test
