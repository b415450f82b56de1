// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace headroom {
namespace {

using Values = std::span<const Picoseconds>;

/// Interpolates between two knots; rounded down, so that equal inputs give equal sums in any order.
constexpr Picoseconds between(
    Picoseconds low, Picoseconds high, std::int64_t from, std::int64_t width, std::int64_t value) noexcept {
  const double share = static_cast<double>(value - from) / static_cast<double>(width);
  return low + truncated(share * static_cast<double>((high - low).count()));
}

Picoseconds along(const IterationTables::Axis& axis, Values values, std::int64_t at) noexcept {
  const std::size_t i = axis.below(at);
  if (i + 1 >= axis.at.size()) {
    return values[i];
  }
  return between(values[i], values[i + 1], axis.at[i], axis.at[i + 1] - axis.at[i], at);
}

/// A table of two dimensions at one value of the first: its values at knots j and j + 1 of the second.
struct Row {
  Picoseconds low{};
  Picoseconds high{};
};
Row row_of(const IterationTables::Axis& first,
           std::size_t columns,
           Values values,
           std::int64_t at,
           std::size_t j,
           std::size_t next) noexcept {
  const std::size_t i = first.below(at);
  const std::size_t up = std::min(i + 1, first.at.size() - 1);
  const auto column = [&](std::size_t c) {
    const Picoseconds low = values[i * columns + c];
    const Picoseconds high = values[up * columns + c];
    return up == i ? low : between(low, high, first.at[i], first.at[up] - first.at[i], at);
  };
  return {column(j), column(next)};
}

Picoseconds across(const IterationTables::Axis& first,
                   const IterationTables::Axis& second,
                   Values values,
                   std::int64_t one,
                   std::int64_t other) noexcept {
  const std::size_t j = second.below(other);
  const std::size_t next = std::min(j + 1, second.at.size() - 1);
  const Row row = row_of(first, second.at.size(), values, one, j, next);
  return next == j ? row.low : between(row.low, row.high, second.at[j], second.at[next] - second.at[j], other);
}

}  // namespace

std::size_t IterationTables::Axis::below(std::int64_t value) const noexcept {
  const auto above = std::upper_bound(at.begin(), at.end(), value);
  const auto found = above == at.begin() ? std::size_t{0} : static_cast<std::size_t>(above - at.begin()) - 1;
  return at.size() < 2 ? 0 : std::min(found, at.size() - 2);
}

IterationTables::IterationTables(Parts parts) : parts_{std::move(parts)} {}

/// Counts whole sequences as of_busiest_group() in engine_terms.hpp does.
Picoseconds IterationTables::host(std::int64_t decodes, std::int64_t chunks) const noexcept {
  const std::int64_t groups = parts_.groups;
  const std::int64_t busiest =
      groups == 1 ? decodes + chunks : (decodes + groups - 1) / groups + (chunks + groups - 1) / groups;
  return parts_.step + busiest * parts_.per_sequence;
}

DecodeLine IterationTables::decode_line(std::int64_t decodes, std::int64_t context) const noexcept {
  const Parts& p = parts_;
  const std::int64_t tokens = decodes * p.queries;
  const Picoseconds fixed = host(decodes, 0) + along(p.tokens, p.dense, tokens) + along(p.rows, p.head, tokens);
  const std::size_t knots = p.context_each.at.size();
  const std::size_t j = p.context_each.below(context / decodes);
  const std::size_t next = std::min(j + 1, knots - 1);
  const Row row = row_of(p.decodes, knots, p.decode, decodes, j, next);
  DecodeLine line;
  line.base = fixed + row.low;
  line.first = decodes * p.context_each.at[j];
  // The last segment continues: sequences longer than the tables keep its slope.
  line.end = next + 1 < knots ? decodes * p.context_each.at[next] : std::numeric_limits<std::int64_t>::max();
  if (next > j) {
    const std::int64_t keys = decodes * (p.context_each.at[next] - p.context_each.at[j]);
    line.per_key = (row.high - row.low + Picoseconds{keys / 2}) / keys;
  }
  return line;
}

ChunkAttention IterationTables::chunk(std::int64_t tokens, std::int64_t context) const noexcept {
  const Parts& p = parts_;
  return {across(p.chunk, p.chunk_context, p.chunk_work, tokens, context),
          across(p.chunk, p.chunk_context, p.chunk_alone, tokens, context)};
}

Picoseconds IterationTables::time(const IterationBatch& batch) const noexcept {
  if (batch.chunks == 0) {
    return batch.decodes == 0 ? Picoseconds{} : decode_line(batch.decodes, batch.context).at(batch.context);
  }
  const Parts& p = parts_;
  Picoseconds total = host(batch.decodes, batch.chunks);
  const std::int64_t decoded = batch.decodes * p.queries;
  total += along(p.tokens, p.dense_eager, decoded + batch.prompt_tokens);
  if (!p.draft_prompt.empty()) {
    total += along(p.tokens, p.draft_prompt, batch.prompt_tokens);
  }
  if (const std::int64_t rows = decoded + batch.ending; rows > 0) {
    total += along(p.rows, p.head, rows);
  }
  if (batch.decodes > 0) {
    const std::size_t alone = p.decodes.at.size() * p.context_each.at.size();
    const Values all{p.decode};
    total += across(p.decodes, p.context_each, all.subspan(all.size() > alone ? alone : 0), batch.decodes,
                    batch.context / batch.decodes);
  }
  return total + std::max(batch.attention.work, batch.attention.alone);
}

}  // namespace headroom
