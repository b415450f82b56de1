// SPDX-License-Identifier: Apache-2.0
// Tables of iterations from a few constants, for tests of what schedules them.
#pragma once

#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>

namespace headroom::test {

/// An iteration takes `step`, `per_sequence` for each sequence in it, `per_prompt_token` for each new token of a prompt
/// and `per_key` for each key that decodes read; `bend` more for each key beyond `bend_at` a sequence, where a line of
/// decodes ends. All in picoseconds. `uneven` is added where it ends, so that slopes round and lines do not meet.
struct SimpleCosts {
  std::int64_t step = 0, per_sequence = 0, per_prompt_token = 0, per_key = 0, bend = 0, bend_at = 1000, uneven = 0;
};

inline IterationTables simple_tables(const SimpleCosts& costs) {
  const auto ps = [](std::int64_t value) { return Picoseconds{value}; };
  IterationTables::Parts parts;
  parts.tokens.at = {1};
  parts.dense = {ps(0)};
  parts.dense_eager = {ps(0)};
  parts.rows.at = {1};
  parts.head = {ps(0)};
  parts.decodes.at = {1, 1025};
  parts.context_each.at = {1, costs.bend_at, 2 * costs.bend_at};
  for (const std::int64_t n : parts.decodes.at) {
    for (const std::int64_t keys : parts.context_each.at) {
      const std::int64_t beyond = keys > costs.bend_at ? keys - costs.bend_at : 0;
      parts.decode.push_back(
          ps(n * (keys * costs.per_key + beyond * costs.bend) + (keys == costs.bend_at ? costs.uneven : 0)));
    }
  }
  parts.chunk.at = {0, 1 << 20};
  parts.chunk_context.at = {1};
  parts.chunk_work = {ps(0), ps((std::int64_t{1} << 20) * costs.per_prompt_token)};
  parts.chunk_alone = parts.chunk_work;
  parts.step = ps(costs.step);
  parts.per_sequence = ps(costs.per_sequence);
  return IterationTables{parts};
}

}  // namespace headroom::test
