// SPDX-License-Identifier: Apache-2.0
// Random small engines under random small loads.
#pragma once

#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include "serving_tables.hpp"
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace headroom::test {

struct Case {
  SimpleCosts costs;
  EngineSettings engine;
  RequestLoad load;
  std::string text;
};

inline std::int64_t any(RandomStream& random, std::int64_t low, std::int64_t high) {
  return low + random.below(high - low + 1);
}

/// Small pools, small budgets and short gaps, so that every rule is met.
inline Case any_case(std::uint64_t seed) {
  RandomStream random{seed};
  Case c;
  c.costs = {any(random, 1, 2000), any(random, 0, 50),  any(random, 0, 20), any(random, 0, 3),
             any(random, 0, 3),    any(random, 2, 400), any(random, 0, 200)};
  EngineSettings& e = c.engine;
  const std::array rules{vllm_v1, vllm_v0, sglang, tensorrt_llm_no_evict, tensorrt_llm_max_utilization};
  const std::int64_t rule = any(random, 0, 6);
  if (rule < 5) {
    e.rules = rules[static_cast<std::size_t>(rule)];
  } else {
    e.rules = {static_cast<PromptOrder>(any(random, 0, 1)), static_cast<Reservation>(any(random, 0, 2)),
               Eviction::recompute, any(random, 0, 1) == 1, any(random, 0, 1) == 1};
  }
  if (any(random, 0, 3) == 0) {
    e.rules.overlap = Overlap::holds_ended;
    e.rules.whole_prompt_fits = any(random, 0, 1) == 1;
  }
  if (RandomStream own{seed, 1}; any(own, 0, 3) == 0) {  // apart, so that the other draws do not depend on it
    e.rules.chunked = false;
    e.rules.passes_over = true;
  }
  if (RandomStream own{seed, 2}; any(own, 0, 2) == 0) {
    e.late_results = true;
  }
  if (any(random, 0, 2) == 0) {
    e.rules.eviction = Eviction::swap;
    e.swap_per_block = Picoseconds{any(random, 0, 300)};
  }
  if (any(random, 0, 3) == 0) {
    e.speculation = {any(random, 1, 4), random.uniform(), seed};
  }
  e.block_tokens = any(random, 1, 20);
  e.max_num_seqs = any(random, 1, 12);
  e.max_num_tokens = e.max_num_seqs * (1 + e.speculation.draft) + any(random, 0, 60);
  e.watermark_blocks = any(random, 0, 3);
  const std::int64_t longest = any(random, 2, 300);
  const bool tight = any(random, 0, 1) == 0;
  e.blocks = (2 * longest + e.speculation.draft) / e.block_tokens + 1 + any(random, 0, tight ? 8 : 200);
  c.text = "rule " + std::to_string(rule) + (e.rules.passes_over ? ", passes over" : "") + ", eviction " +
           std::to_string(static_cast<int>(e.rules.eviction)) + ", draft " + std::to_string(e.speculation.draft) +
           ", blocks " + std::to_string(e.blocks) + " of " + std::to_string(e.block_tokens) + ", sequences " +
           std::to_string(e.max_num_seqs) + ", tokens " + std::to_string(e.max_num_tokens) + ", watermark " +
           std::to_string(e.watermark_blocks);
  Picoseconds at{0};
  const std::int64_t gap = any(random, 0, 200'000);
  for (std::int64_t i = any(random, 1, 40); i > 0; --i) {
    Request request;
    at += Picoseconds{any(random, 0, gap)};
    request.arrival = at;
    request.prompt_tokens = static_cast<std::int32_t>(any(random, 1, longest));
    request.output_tokens = static_cast<std::int32_t>(any(random, 1, longest));
    request.cached_tokens = static_cast<std::int32_t>(any(random, 0, 3) == 0 ? any(random, 0, longest) : 0);
    c.load.requests.push_back(request);
  }
  return c;
}

}  // namespace headroom::test
