// SPDX-License-Identifier: Apache-2.0
// The tables of a replica, filled from its kernels and its engine's habits.
#pragma once

#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/replica/drafting.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>
#include <functional>

namespace headroom {

/// How far the tables reach; beyond their last knots they go on with the last slope.
struct TableReach {
  std::int64_t sequences = 1024;  ///< that decode together
  std::int64_t tokens = 8192;     ///< of an iteration
  std::int64_t keys = 32768;      ///< of a sequence
  /// Tokens of a usual chunk: under attention-DP an iteration's prompts lie in as many groups as there are such chunks.
  /// 0: as many as a group takes.
  std::int64_t chunk = 0;
};

/// Knots are powers of two and three halves of them, so that values between differ by at most the straight line across
/// half a doubling. A few thousand kernels are priced: some milliseconds. `clock` slows what multiplies: products and
/// prompts' attention of iterations that hold prompts (a power cap; docs/money.md).
[[nodiscard]] IterationTables make_iteration_tables(const Replica& replica,
                                                    const IterationStack& stack,
                                                    const IterationPhysics& physics,
                                                    const TableReach& reach = {},
                                                    double clock = 1.0);

/// The same with the kernels' terms of the caller's, who may have priced them before; with `drafting` of an engine that
/// speculates: each decode is a sequence with its draft, proposed and verified.
using MixTerms = std::function<IterationTerms(const IterationMix&)>;
[[nodiscard]] IterationTables make_iteration_tables(const Replica& replica,
                                                    const IterationStack& stack,
                                                    const IterationPhysics& physics,
                                                    const TableReach& reach,
                                                    double clock,
                                                    const MixTerms& terms,
                                                    const Drafting* drafting = nullptr);

/// An iteration of a closed form by tables: chunks are alike, numbers are rounded to whole ones.
[[nodiscard]] double table_seconds(const IterationTables& tables, const IterationMix& mix) noexcept;

}  // namespace headroom
