// SPDX-License-Identifier: Apache-2.0
// Schedules that engines' own schedulers formed (tests/conformance), step by step against the simulated engine.
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/replica_cache.hpp>

#include <doctest/doctest.h>

#include "serving_case.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace headroom;

namespace {

struct Asked {
  std::int64_t arrival = 0, prompt = 0, output = 0, group = -1, shared = 0;
};

struct Load {
  std::int64_t block = 0, blocks = 0, sequences = 0, tokens = 0;
  bool chunked = true, caching = false;
  std::vector<Asked> requests;
};

/// By step: what each request in it computed, in order of request.
using Schedule = std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>>;

std::ifstream opened(const std::string& name) {
  std::ifstream file{std::string{HEADROOM_SOURCE_DIR} + "/tests/conformance/" + name};
  REQUIRE(file.is_open());
  return file;
}

std::vector<Load> recorded_loads() {
  std::vector<Load> loads;
  std::ifstream file = opened("loads.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    if (line.starts_with("load ")) {
      Load load;
      std::string word;
      std::int64_t number = 0;
      words >> word >> number >> load.block >> load.blocks >> load.sequences >> load.tokens >> load.chunked >>
          load.caching;
      loads.push_back(load);
    } else if (!line.starts_with('#')) {
      Asked asked;
      words >> asked.arrival >> asked.prompt >> asked.output;
      if (std::int64_t group = 0; words >> group) {
        asked.group = group;
        words >> asked.shared;
      }
      loads.back().requests.push_back(asked);
    }
  }
  return loads;
}

std::vector<Schedule> recorded_schedules(const std::string& name) {
  std::vector<Schedule> schedules;
  std::ifstream file = opened(name);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    std::istringstream words{line};
    std::size_t load = 0;
    std::uint32_t request = 0;
    words >> load >> request;
    schedules.resize(std::max(schedules.size(), load + 1));
    for (std::string run; words >> run;) {
      std::istringstream parts{run};
      std::size_t first = 0;
      std::int64_t tokens = 0;
      char mark = 0;
      parts >> first >> mark;
      std::size_t last = first;
      if (mark == '-') {
        parts >> last >> mark;
      }
      parts >> tokens;
      Schedule& schedule = schedules[load];
      schedule.resize(std::max(schedule.size(), last + 1));
      for (std::size_t step = first; step <= last; ++step) {
        schedule[step].emplace_back(request, tokens);
      }
    }
  }
  return schedules;
}

/// Ids for every whole block of the prompts of a load whose groups share prefixes.
PromptPrefixes prefixes_of(const Load& load, std::int64_t block) {
  PromptPrefixes prefixes;
  prefixes.id_tokens = block;
  prefixes.first.push_back(0);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> shared;
  for (const Asked& asked : load.requests) {
    for (std::int64_t at = 0; at < asked.prompt / block; ++at) {
      const bool common = at < asked.shared / block;
      const auto found = common ? shared.find({asked.group, at}) : shared.end();
      const std::uint32_t id = found != shared.end() ? found->second : prefixes.distinct++;
      if (common) {
        shared.insert({{asked.group, at}, id});
      }
      prefixes.ids.push_back(id);
    }
    prefixes.first.push_back(static_cast<std::uint32_t>(prefixes.ids.size()));
  }
  return prefixes;
}

Schedule simulated(const Load& load, SchedulerRules rules, std::size_t most_steps) {
  EngineSettings settings;
  settings.rules = rules;
  settings.rules.chunked = load.chunked;
  settings.rules.remembers = rules.remembers && load.caching;
  settings.max_num_seqs = load.sequences;
  settings.max_num_tokens = load.tokens;
  const bool by_token = rules.order == PromptOrder::before_decodes;  // SGLang's pages of one token
  settings.block_tokens = by_token ? 1 : load.block;
  settings.blocks = by_token ? load.blocks * load.block : load.blocks;
  const std::size_t n = load.requests.size();
  std::vector<Sequence> sequences(n);
  std::vector<RequestTimes> times(n);
  for (std::size_t i = 0; i < n; ++i) {
    sequences[i].prompt = static_cast<std::int32_t>(load.requests[i].prompt);
    sequences[i].output = static_cast<std::int32_t>(load.requests[i].output);
  }
  const IterationTables tables = test::simple_tables({.step = 1'000});
  SimulatedEngine engine{tables, settings, EngineRole::both, sequences, times};

  const bool shares =
      std::any_of(load.requests.begin(), load.requests.end(), [](const Asked& one) { return one.shared > 0; });
  std::optional<PromptPrefixes> prefixes;
  std::optional<ReplicaCache> cache;
  std::vector<PrefixState> states(n);
  std::vector<PrefixHits> hits(n);
  std::vector<std::int32_t> sizes;
  if (shares && load.caching) {
    prefixes = prefixes_of(load, settings.block_tokens);
    cache.emplace(*prefixes, states, hits, sizes, settings.blocks, settings.block_tokens, nullptr, 0);
    engine.cache_in(&*cache);
  }

  Schedule schedule;
  std::vector<ScheduledTokens> scheduled;
  std::size_t next = 0;
  Picoseconds now{0};
  while (schedule.size() < most_steps) {
    for (; next < n && load.requests[next].arrival <= static_cast<std::int64_t>(schedule.size()); ++next) {
      engine.submit(static_cast<std::uint32_t>(next), now);
    }
    engine.start(now);
    if (next == n && engine.outstanding() == 0 && !engine.iterates()) {
      break;
    }
    schedule.emplace_back();
    if (!engine.iterates()) {
      now += Picoseconds{1'000};
      continue;
    }
    engine.only_one();
    engine.scheduled(scheduled);
    for (const ScheduledTokens& one : scheduled) {
      schedule.back().emplace_back(one.id, one.tokens);
    }
    std::sort(schedule.back().begin(), schedule.back().end());
    now = engine.next_event();
    engine.complete();
  }
  return schedule;
}

struct Agreement {
  std::int64_t steps = 0, equal = 0;
  std::string first;  ///< of the loads that differ, where each first does
};

Agreement agreement(const std::string& name, const SchedulerRules& rules, bool always_chunked) {
  std::vector<Load> loads = recorded_loads();
  const std::vector<Schedule> schedules = recorded_schedules(name);
  REQUIRE(loads.size() == 500);
  REQUIRE(schedules.size() == loads.size());
  Agreement agreement;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    loads[i].chunked = loads[i].chunked || always_chunked;
    const Schedule& want = schedules[i];
    const Schedule got = simulated(loads[i], rules, 2 * want.size() + 100);
    bool differs = false;
    for (std::size_t step = 0; step < std::max(want.size(), got.size()); ++step) {
      const bool equal = step < want.size() && step < got.size() && want[step] == got[step];
      agreement.equal += equal ? 1 : 0;
      if (!equal && !differs) {
        differs = true;
        agreement.first += std::to_string(i) + ":" + std::to_string(step) + " ";
      }
    }
    agreement.steps += static_cast<std::int64_t>(std::max(want.size(), got.size()));
  }
  return agreement;
}

/// `differ`: steps that differed when the release was recorded (tests/conformance/README.md). The acceptance is 99 %; a
/// few steps more than recorded is a rule that changed.
void check(const std::string& name, const SchedulerRules& rules, std::int64_t differ, bool always_chunked = false) {
  const Agreement found = agreement(name, rules, always_chunked);
  INFO(name << ": " << found.equal << " of " << found.steps << " steps equal");
  CAPTURE(found.first);
  CHECK(found.steps > 80'000);
  CHECK(static_cast<double>(found.equal) >= 0.99 * static_cast<double>(found.steps));
  constexpr std::int64_t few = 5;
  CHECK(found.steps - found.equal <= differ + few);
}

/// A load on one engine that never runs more than one iteration at a time.
std::vector<RequestTimes> one_by_one(const IterationTables& tables,
                                     const EngineSettings& settings,
                                     const RequestLoad& load) {
  std::vector<Sequence> sequences(load.requests.size());
  std::vector<RequestTimes> times(load.requests.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    sequences[i].prompt = load.requests[i].prompt_tokens;
    sequences[i].output = load.requests[i].output_tokens;
    sequences[i].prefix = load.requests[i].cached_tokens;
  }
  SimulatedEngine engine{tables, settings, EngineRole::both, sequences, times};
  std::size_t next = 0;
  for (Picoseconds now{0}; now != never;) {
    if (engine.iterates() && engine.next_event() == now) {
      engine.complete();
    }
    for (; next < times.size() && load.requests[next].arrival <= now; ++next) {
      engine.submit(static_cast<std::uint32_t>(next), now);
    }
    if (!engine.iterates()) {
      engine.start(now);
      engine.only_one();
    }
    const Picoseconds arrival = next < times.size() ? load.requests[next].arrival : never;
    now = std::min(engine.iterates() ? engine.next_event() : never, arrival);
  }
  return times;
}

}  // namespace

TEST_CASE("vLLM 0.8.5 schedules the same requests and tokens as the simulated engine") {
  check("vllm-0.8.5.txt", vllm_v1, 29, true);  // V1 of this release splits prompts whatever the option says
}

TEST_CASE("vLLM 0.11.0 schedules the same requests and tokens as the simulated engine") {
  check("vllm-0.11.0.txt", vllm_v1, 29);
}

TEST_CASE("vLLM 0.23.0 schedules the same requests and tokens as the simulated engine") {
  check("vllm-0.23.0.txt", vllm_v1_async, 133);
}

TEST_CASE("SGLang 0.4.6 schedules the same requests and tokens as the simulated engine") {
  SchedulerRules rules = sglang_overlap;
  rules.future.put_back_for = 20;
  rules.future.counts_done_output = true;
  check("sglang-0.4.6.txt", rules, 120);
}

TEST_CASE("SGLang 0.5.2 schedules the same requests and tokens as the simulated engine") {
  SchedulerRules rules = sglang_overlap;
  rules.future.counts_done_output = true;
  check("sglang-0.5.2.txt", rules, 120);
}

TEST_CASE("SGLang 0.5.9 schedules the same requests and tokens as the simulated engine") {
  check("sglang-0.5.9.txt", sglang_overlap, 122);
}

TEST_CASE("the engine that estimates future tokens takes as long in stretches as iteration by iteration") {
  std::int64_t put_back = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    test::Case c = test::any_case(seed);
    CAPTURE(seed);
    EngineSettings& engine = c.engine;
    engine.rules = sglang_overlap;
    engine.rules.future.most_prompt = 40;
    engine.rules.chunked = seed % 5 != 0;
    engine.speculation = {};
    engine.watermark_blocks = 0;
    engine.blocks += 2 + 100 / engine.block_tokens;
    engine.recv_interval = seed % 4 == 0 ? 3 : 1;
    const IterationTables tables = test::simple_tables(c.costs);
    ServingFleet fleet;
    fleet.pool = {&tables, engine, 1, 1};
    REQUIRE(problems(fleet, c.load).empty());
    const FleetResult got = simulate(fleet, c.load);
    const std::vector<RequestTimes> want = one_by_one(tables, engine, c.load);
    bool same = true;
    for (std::size_t i = 0; i < want.size(); ++i) {
      same = same && got.requests[i].started == want[i].started && got.requests[i].first_token == want[i].first_token &&
             got.requests[i].finished == want[i].finished && got.requests[i].finished != never;
      put_back += got.requests[i].preemptions;
    }
    REQUIRE(same);
  }
  CHECK(put_back > 500);
}
