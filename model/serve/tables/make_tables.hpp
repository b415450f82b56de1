// SPDX-License-Identifier: Apache-2.0
// Fills the tables of a replica from its kernels and its engine's parameters.
#pragma once

#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/replica/drafting.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>
#include <functional>

namespace headroom {

/// Extent of the tables; beyond it they continue with the last slope.
struct TableReach {
  std::int64_t sequences = 1024;  ///< sequences that decode together
  std::int64_t tokens = 8192;     ///< tokens of an iteration
  std::int64_t keys = 32768;      ///< keys of a sequence
  /// Tokens of a typical chunk: under attention-DP the prompts of an iteration occupy as many groups as there are such
  /// chunks. 0: as many tokens as a group takes.
  std::int64_t chunk = 0;
};

/// Knots at 2^k and 1.5 x 2^k, with linear interpolation between them. Prices a few thousand kernels in some
/// milliseconds. `clock` (0 to 1) slows what multiplies: products, and prompts' attention, of iterations with prompts
/// (a power cap; docs/money.md).
[[nodiscard]] IterationTables make_iteration_tables(const Replica& replica,
                                                    const IterationStack& stack,
                                                    const IterationPhysics& physics,
                                                    const TableReach& reach = {},
                                                    double clock = 1.0);

/// Tables from kernel terms that the caller may have priced before. With `drafting`, for an engine that speculates:
/// each decode is a sequence with its draft, proposed and verified; without, it has
/// `beams` answers, each of which reads the cache.
/// The second argument asks for attention alone, which is all that most of a table's points need.
enum class TablePoint : std::uint8_t { whole, attention };
using MixTerms = std::function<IterationTerms(const IterationMix&, TablePoint)>;
/// Priced by the replica, here and now.
[[nodiscard]] IterationTerms priced_terms(const Replica& replica, const IterationMix& mix, TablePoint point) noexcept;
[[nodiscard]] IterationTables make_iteration_tables(const Replica& replica,
                                                    const IterationStack& stack,
                                                    const IterationPhysics& physics,
                                                    const TableReach& reach,
                                                    double clock,
                                                    const MixTerms& terms,
                                                    const Drafting* drafting = nullptr,
                                                    std::int64_t beams = 1);

/// Seconds of a closed form's iteration from the tables; chunks are alike, and numbers are rounded to whole ones.
[[nodiscard]] double table_seconds(const IterationTables& tables, const IterationMix& mix) noexcept;

}  // namespace headroom
