// SPDX-License-Identifier: Apache-2.0
// Tables of the time of one iteration of a serving engine on one replica, for schedulers and screens.
#pragma once

#include <headroom/model/serve/time/simulated_time.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Attention of one chunk of a prompt. `work`: time it adds to a step full of such work. `alone`: time it takes by
/// itself, when its blocks do not fill the device.
struct ChunkAttention {
  Picoseconds work{};
  Picoseconds alone{};
};

/// The contents of one iteration: decoding sequences (one token each, or the tables' `queries`) and chunks of prompts.
struct IterationBatch {
  std::int64_t decodes = 0;        ///< decoding sequences
  std::int64_t context = 0;        ///< keys of all decoding sequences together
  std::int64_t prompt_tokens = 0;  ///< new tokens of all chunks
  std::int64_t chunks = 0;
  std::int64_t ending = 0;     ///< chunks that complete their prompt and yield a first token
  ChunkAttention attention{};  ///< of the chunks: `work` summed, `alone` the largest

  void add(std::int64_t tokens, bool ends, const ChunkAttention& cost) noexcept {
    prompt_tokens += tokens;
    ++chunks;
    ending += ends ? 1 : 0;
    attention.work += cost.work;
    attention.alone = cost.alone > attention.alone ? cost.alone : attention.alone;
  }
};

/// A step of decodes alone, linear in the keys of all sequences: base + per_key (context - first) for first <= context
/// < end.
struct DecodeLine {
  Picoseconds base{};
  Picoseconds per_key{};
  std::int64_t first = 0;
  std::int64_t end = 0;
  [[nodiscard]] constexpr Picoseconds at(std::int64_t context) const noexcept {
    return base + per_key * (context - first);
  }
};

/// The tables of one replica: immutable, safe to use from any thread, without heap allocation.
class IterationTables {
 public:
  /// Knots of one table dimension; the last slope continues beyond the last knot.
  struct Axis {
    std::vector<std::int64_t> at;  ///< increasing, starting at 0 or 1
    /// Index of the knot at or below `value`, at most the last but one.
    [[nodiscard]] std::size_t below(std::int64_t value) const noexcept;
  };

  /// The contents of the tables. Two-dimensional vectors hold the first axis times the second.
  struct Parts {
    Axis tokens;                           ///< tokens of a step
    std::vector<Picoseconds> dense;        ///< products, experts, all-reduces and passes in a replayed graph, by tokens
    std::vector<Picoseconds> dense_eager;  ///< as `dense`, for steps with prompts
    Axis rows;                             ///< tokens that are sampled
    std::vector<Picoseconds> head;         ///< language head and sampler, by rows
    Axis decodes, context_each;            ///< decoding sequences, and keys per sequence
    /// Attention of a decode step, and its drafting; behind these, where they differ, the same of steps with prompts.
    std::vector<Picoseconds> decode;
    Axis chunk, chunk_context;  ///< tokens of a chunk, and keys that its last token sees
    std::vector<Picoseconds> chunk_work, chunk_alone;
    /// Tokens of a decoding sequence per step: 1 plus the verified draft. Axes of tokens count them all.
    std::int64_t queries = 1;
    /// Time of prompts in a draft model without their attention, by tokens; empty: no draft model. Drafting in steps of
    /// decodes is part of `decode`.
    std::vector<Picoseconds> draft_prompt;
    Picoseconds step{};          ///< host time per step
    Picoseconds per_sequence{};  ///< host time per sequence of its group
    /// Attention groups among which sequences are divided, each with its own host process; the busiest counts.
    std::int64_t groups = 1;
  };
  explicit IterationTables(Parts parts);

  /// Times of steps of `decodes` sequences with `context` keys in total, as far as they stay on one line. Precondition:
  /// decodes >= 1, context >= decodes.
  [[nodiscard]] DecodeLine decode_line(std::int64_t decodes, std::int64_t context) const noexcept;
  /// Attention of a chunk of `tokens` whose last token sees `context` keys (context = tokens at the start of a prompt).
  [[nodiscard]] ChunkAttention chunk(std::int64_t tokens, std::int64_t context) const noexcept;
  /// Time of any iteration; without chunks exactly decode_line().at(context).
  [[nodiscard]] Picoseconds time(const IterationBatch& batch) const noexcept;

 private:
  [[nodiscard]] Picoseconds host(std::int64_t decodes, std::int64_t chunks) const noexcept;

  Parts parts_;
};

}  // namespace headroom
