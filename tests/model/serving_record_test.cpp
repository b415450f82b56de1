// SPDX-License-Identifier: Apache-2.0
// The record of a simulation tells what its times and counters tell, and the trace tells the record.
#include <headroom/core/json_reader.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>
#include <headroom/model/serve/simulation/simulation_trace.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using namespace headroom;
using test::near;

namespace {

constexpr std::int64_t ms = 1'000'000'000;
constexpr std::int64_t count = 1500;

IterationTables usual() {
  return test::simple_tables({5 * ms, ms / 10, ms / 100, 100, 0});
}

RequestLoad load_of(double rate) {
  TrafficClass one;
  one.arrivals.rate = Hertz{rate};
  one.prompt = {.shape = LengthShape::lognormal, .mean = 600, .cv = 1.0, .most = 4000};
  one.output = {.shape = LengthShape::lognormal, .mean = 100, .cv = 1.0, .most = 2000};
  return open_load({&one, 1}, count, 1);
}

ServingFleet fleet_of(const IterationTables& tables, const SchedulerRules& rules) {
  ServingFleet fleet;
  fleet.pool.tables = &tables;
  fleet.pool.replicas = 2;
  fleet.pool.engine.rules = rules;
  fleet.pool.engine.max_num_seqs = 32;
  fleet.pool.engine.max_num_tokens = 2048;
  fleet.pool.engine.blocks = 500;  // runs short
  fleet.front_end = Picoseconds{3 * ms + 1};
  return fleet;
}

/// Every kind of fleet that the simulation knows.
std::vector<std::pair<std::string, ServingFleet>> fleets(const IterationTables& tables) {
  std::vector<std::pair<std::string, ServingFleet>> all;
  for (std::size_t i = 0; i < schedulers.size(); ++i) {
    all.emplace_back(scheduler_names[i], fleet_of(tables, schedulers[i]));
  }
  ServingFleet one = fleet_of(tables, vllm_v1);
  one.pool.engine.rules.eviction = Eviction::swap;
  one.pool.engine.swap_per_block = Picoseconds{ms / 1000};
  all.emplace_back("swap", one);
  one = fleet_of(tables, vllm_v1);
  one.pool.engine.speculation = {2, 0.6, 4};
  all.emplace_back("speculation", one);
  one = fleet_of(tables, vllm_v1);
  one.pool.lanes = 2;
  one.pool.engine.blocks = 1000;
  all.emplace_back("lanes", one);
  one = fleet_of(tables, vllm_v1);
  one.routing = RequestRouting::shared_queue;
  one.pool.engine.max_num_seqs = 4;
  all.emplace_back("shared queue", one);
  one = fleet_of(tables, vllm_v1);
  one.prefill = one.pool;
  one.prefill->replicas = 3;
  one.prefill->engine.blocks = 4000;
  one.transfer = {Bytes{1e5}, BytesPerSecond{1e10}, Seconds{1e-3}};
  all.emplace_back("disaggregated", one);
  return all;
}

SimulationRecord record_of(const ServingFleet& fleet,
                           const RequestLoad& load,
                           FleetResult& result,
                           const RecordLimits& limits = {0, count, 1'000'000}) {
  SimulationRecord record{limits};
  result = simulate(fleet, load, &record);
  return record;
}

using Lives = std::map<std::uint32_t, std::vector<SimulationRecord::Span>>;

Lives lives_of(const SimulationRecord& record) {
  Lives lives;
  for (const SimulationRecord::Span& span : record.spans()) {
    lives[span.request].push_back(span);
  }
  return lives;
}

Picoseconds sum_of(const std::vector<SimulationRecord::Span>& life, RequestPhase phase) {
  Picoseconds sum{0};
  for (const SimulationRecord::Span& span : life) {
    sum += span.phase == phase ? span.end - span.begin : Picoseconds{0};
  }
  return sum;
}

double number_of(const ConfigValue& event, std::string_view key) {
  const ConfigValue* value = event.find(key);
  REQUIRE(value != nullptr);
  REQUIRE((value->kind == ConfigValue::Kind::number || value->kind == ConfigValue::Kind::integer));
  return value->kind == ConfigValue::Kind::number ? value->number : static_cast<double>(value->integer);
}

std::string text_of(const ConfigValue& event, std::string_view key) {
  const ConfigValue* value = event.find(key);
  REQUIRE(value != nullptr);
  REQUIRE(value->kind == ConfigValue::Kind::text);
  return value->text;
}

}  // namespace

TEST_CASE("the parts of a recorded request's life follow each other and add up to its times to the picosecond") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0);
  for (const auto& [name, fleet] : fleets(tables)) {
    CAPTURE(name);
    FleetResult result;
    const SimulationRecord record = record_of(fleet, load, result);
    CHECK(record.recorded_requests() == count);
    CHECK(record.spans_left_out() == 0);
    const Lives lives = lives_of(record);
    REQUIRE(lives.size() == static_cast<std::size_t>(count));
    std::int64_t preempted = 0;
    for (const auto& [id, life] : lives) {
      const RequestTimes& times = result.requests[id];
      REQUIRE(life.front().begin == times.arrival);
      REQUIRE(life.back().end == times.finished);
      for (std::size_t i = 1; i < life.size(); ++i) {
        REQUIRE(life[i].begin == life[i - 1].end);
      }
      REQUIRE(sum_of(life, RequestPhase::queue) == times.started - times.arrival);
      preempted += std::count_if(life.begin(), life.end(),
                                 [](const auto& span) { return span.phase == RequestPhase::preempted; });
      if (times.preemptions == 0) {
        REQUIRE(sum_of(life, RequestPhase::prefill) == times.first_token - times.started);
        const Picoseconds sent = sum_of(life, RequestPhase::transfer) + sum_of(life, RequestPhase::decode_queue);
        REQUIRE(sum_of(life, RequestPhase::decode) + sent == times.finished - times.first_token);
        REQUIRE((sent > Picoseconds{0}) == (fleet.prefill && load.requests[id].output_tokens > 1));
      }
      REQUIRE(std::none_of(life.begin(), life.end(), [](const auto& span) { return span.open; }));
    }
    CHECK(preempted <= result.pool.sum.preemptions + result.prefill.sum.preemptions);
    if (result.pool.sum.preemptions > 0) {
      CHECK(preempted > 0);
    }
  }
}

TEST_CASE("slices of an engine never overlap, and with the counters they are what the pool counted") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0);
  std::int64_t preemptions = 0;
  for (const auto& [name, fleet] : fleets(tables)) {
    CAPTURE(name);
    FleetResult result;
    const SimulationRecord record = record_of(fleet, load, result);
    CHECK(record.iterations_left_out() == 0);
    REQUIRE(record.engines().size() == static_cast<std::size_t>(result.pool.engines + result.prefill.engines));
    std::vector<Picoseconds> ends(record.engines().size(), Picoseconds{0});
    for (const bool prefill : {false, true}) {
      const PoolCounters& pool = prefill ? result.prefill : result.pool;
      std::int64_t iterations = 0;
      std::int64_t prompts = 0;
      std::int64_t peak = 0;
      Picoseconds busy{0};
      std::vector<std::int64_t> batches(pool.sum.batch.size(), 0);
      for (const SimulationRecord::Slice& slice : record.slices()) {
        const auto engine = static_cast<std::size_t>(slice.engine);
        if (record.engines()[engine].prefill != prefill) {
          continue;
        }
        REQUIRE(slice.begin >= ends[engine]);
        REQUIRE(slice.begin <= slice.last);
        REQUIRE(slice.last < slice.end);
        REQUIRE((slice.iterations == 1) == (slice.begin == slice.last));
        ends[engine] = slice.end;
        iterations += slice.iterations;
        prompts += slice.prompt_tokens;
        peak = std::max(peak, slice.blocks);
        busy += slice.end - slice.begin;
        batches.at(static_cast<std::size_t>(slice.decodes + slice.chunks)) += slice.iterations;
      }
      CHECK(iterations == pool.sum.iterations);
      CHECK(prompts == pool.sum.prompt_tokens);
      CHECK(peak == pool.peak_blocks);
      CHECK(busy == pool.sum.busy);
      CHECK(batches == pool.sum.batch);
    }
    preemptions += result.pool.sum.preemptions;
  }
  CHECK(preemptions > 100);  // the pools did run short
}

TEST_CASE("the count of waiting requests is that of the requests whose life says that they wait") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0);
  for (const auto& [name, given] : fleets(tables)) {
    if (given.prefill) {
      continue;  // places of its queues are of two pools
    }
    CAPTURE(name);
    ServingFleet fleet = given;
    fleet.front_end = Picoseconds{0};
    FleetResult result;
    const SimulationRecord record = record_of(fleet, load, result);
    CHECK(record.waiting_left_out() == 0);
    // +1 where a wait begins, -1 where it ends, all queues together.
    std::map<Picoseconds, std::int64_t> changes;
    for (const SimulationRecord::Span& span : record.spans()) {
      if (span.phase == RequestPhase::queue || span.phase == RequestPhase::preempted) {
        ++changes[span.begin];
        --changes[span.end];
      }
    }
    std::map<std::int32_t, std::int64_t> now;
    std::size_t next = 0;
    std::int64_t expected = 0;
    std::int64_t most = 0;
    const auto samples = record.waiting();
    for (const auto& [time, change] : changes) {
      expected += change;
      for (; next < samples.size() && samples[next].time <= time; ++next) {
        now[samples[next].engine] = samples[next].count;
      }
      std::int64_t waiting = 0;
      for (const auto& [engine, waits] : now) {
        waiting += waits;
      }
      REQUIRE(waiting == expected);
      most = std::max(most, waiting);
    }
    CHECK(most > 1);
  }
}

TEST_CASE("a record changes nothing, keeps what it was asked to and counts the rest") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0);
  const ServingFleet fleet = fleet_of(tables, vllm_v1);
  FleetResult result;
  const SimulationRecord record = record_of(fleet, load, result, {400, 50, 300});
  const FleetResult plain = simulate(fleet, load);
  CHECK(plain.end == result.end);
  CHECK(plain.pool.sum.gaps == result.pool.sum.gaps);
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    REQUIRE(plain.requests[i].finished == result.requests[i].finished);
  }
  CHECK(record.recorded_requests() == 50);
  const Lives lives = lives_of(record);
  REQUIRE(lives.size() == 50);
  CHECK(lives.begin()->first == 400);
  CHECK(lives.rbegin()->first == 449);
  REQUIRE(record.slices().size() == 300);
  CHECK(record.slices().front().end > load.requests[399].arrival);
  CHECK(record.slices().front().begin <= load.requests[401].arrival + fleet.front_end);
  CHECK(record.iterations() + record.iterations_left_out() == plain.pool.sum.iterations);
  CHECK(record.iterations_left_out() > 0);
  for (const SimulationRecord::Waiting& waits : record.waiting()) {
    REQUIRE(waits.time <= record.slices().back().end);
  }
  // Nothing is asked for, nothing is kept.
  const SimulationRecord none = record_of(fleet, load, result, {0, 0, 0});
  CHECK(none.slices().empty());
  CHECK(none.spans().empty());
  CHECK(none.iterations_left_out() == plain.pool.sum.iterations);
}

TEST_CASE("requests that a horizon cuts off are recorded up to the last event") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0);
  ServingFleet fleet = fleet_of(tables, vllm_v1);
  fleet.horizon = load.requests[700].arrival;
  FleetResult result;
  const SimulationRecord record = record_of(fleet, load, result);
  std::int64_t open = 0;
  for (const auto& [id, life] : lives_of(record)) {
    const bool answered = result.requests[id].finished != never;
    REQUIRE((!answered || !life.back().open));  // what began with the last event has no length and is not kept
    REQUIRE(life.back().end == (answered ? result.requests[id].finished : result.end));
    open += answered ? 0 : 1;
  }
  CHECK(open > 1);
}

TEST_CASE("the trace is JSON that Perfetto reads: slices side by side, requests opened and closed, named processes") {
  const IterationTables tables = usual();
  const RequestLoad load = load_of(20.0);
  for (const auto& [name, fleet] : fleets(tables)) {
    CAPTURE(name);
    FleetResult result;
    const SimulationRecord record = record_of(fleet, load, result, {0, 40, 400});
    const ConfigValue trace = parse_json(simulation_trace(record, load), "trace.json");
    const ConfigValue* left = trace.find("otherData");
    REQUIRE(left != nullptr);
    CHECK(number_of(*left, "requests") == 40.0);
    CHECK(number_of(*left, "requests_left_out") == static_cast<double>(count - 40));
    CHECK(number_of(*left, "iterations_left_out") == static_cast<double>(record.iterations_left_out()));
    const ConfigValue* events = trace.find("traceEvents");
    REQUIRE(events != nullptr);
    std::map<double, std::string> processes;
    std::map<std::pair<double, double>, double> ends;
    std::map<std::pair<double, std::string>, std::vector<std::string>> open;
    std::map<std::string, double> time_of;
    double slices = 0.0;
    double iterations = 0.0;
    double blocks = 0.0;
    for (const ConfigValue& event : events->items) {
      const std::string phase = text_of(event, "ph");
      const double pid = number_of(event, "pid");
      if (phase == "M") {
        if (text_of(event, "name") == "process_name") {
          processes[pid] = text_of(*event.find("args"), "name");
        }
        continue;
      }
      REQUIRE(processes.count(pid) == 1);
      const double at = number_of(event, "ts");
      if (phase == "X") {
        double& end = ends[{pid, number_of(event, "tid")}];
        REQUIRE(at >= end - 1e-6);
        end = at + number_of(event, "dur");
        slices += 1.0;
        iterations += number_of(*event.find("args"), "iterations");
      } else if (phase == "C") {
        if (text_of(event, "name").starts_with("KV blocks in use")) {
          blocks = std::max(blocks, number_of(*event.find("args"), "blocks"));
        }
      } else {
        auto& stack = open[{pid, text_of(*event.find("id2"), "local")}];
        if (phase == "b") {
          stack.push_back(text_of(event, "name"));
          if (stack.size() == 2) {
            time_of[stack.back()] -= at;
          }
        } else {
          REQUIRE(phase == "e");
          REQUIRE(!stack.empty());
          REQUIRE(stack.back() == text_of(event, "name"));
          if (stack.size() == 2) {
            time_of[stack.back()] += at;
          }
          stack.pop_back();
        }
      }
    }
    for (const auto& [request, stack] : open) {
      REQUIRE(stack.empty());
    }
    CHECK(slices == 400.0);
    CHECK(iterations == static_cast<double>(record.iterations()));
    std::int64_t most = 0;
    for (const SimulationRecord::Slice& slice : record.slices()) {
      most = std::max(most, slice.blocks);
    }
    CHECK(blocks == static_cast<double>(most));
    Picoseconds decoding{0};
    for (const auto& [id, life] : lives_of(record)) {
      decoding += sum_of(life, RequestPhase::decode);
    }
    CHECK(time_of["decode"] == near(static_cast<double>(decoding.count()) / 1e6));
    CHECK(processes.size() == static_cast<std::size_t>(fleet.pool.replicas + (fleet.prefill ? 3 : 0) + 1));
  }
}

TEST_CASE("a stretch of decodes is one slice of the trace, with its count") {
  const IterationTables tables = usual();
  ServingFleet fleet = fleet_of(tables, vllm_v1);
  fleet.pool.replicas = 1;
  RequestLoad load;
  load.requests = {{Picoseconds{0}, 100, 21, 0, 0}};
  FleetResult result;
  const SimulationRecord record = record_of(fleet, load, result);
  REQUIRE(record.slices().size() == 2);
  CHECK(record.slices()[0].prompt_tokens == 100);
  CHECK(record.slices()[1].iterations == 20);
  const std::string trace = simulation_trace(record, load);
  CHECK(trace.find("\"name\": \"prefill\", \"ph\": \"X\"") != std::string::npos);
  CHECK(trace.find("\"name\": \"decode x 20\", \"ph\": \"X\"") != std::string::npos);
}
