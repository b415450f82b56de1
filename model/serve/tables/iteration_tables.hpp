// SPDX-License-Identifier: Apache-2.0
// What one iteration of a serving engine takes on one replica, as tables: all that a scheduler or a screen asks of the
// cost model.
#pragma once

#include <headroom/model/serve/time/simulated_time.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Attention of one chunk of a prompt: what it adds to a step that is full of such work, and what it takes alone, when
/// its blocks do not fill the device.
struct ChunkAttention {
  Picoseconds work{};
  Picoseconds alone{};
};

/// What a scheduler puts into one iteration: sequences that decode a token each, or as many as the tables say, and
/// chunks of prompts beside them.
struct IterationBatch {
  std::int64_t decodes = 0;        ///< sequences that decode
  std::int64_t context = 0;        ///< keys of all of them together
  std::int64_t prompt_tokens = 0;  ///< new tokens of all chunks
  std::int64_t chunks = 0;
  std::int64_t ending = 0;     ///< chunks that end their prompt: each gives a first token
  ChunkAttention attention{};  ///< of the chunks: `work` summed, `alone` the largest

  void add(std::int64_t tokens, bool ends, const ChunkAttention& cost) noexcept {
    prompt_tokens += tokens;
    ++chunks;
    ending += ends ? 1 : 0;
    attention.work += cost.work;
    attention.alone = cost.alone > attention.alone ? cost.alone : attention.alone;
  }
};

/// A step of decodes alone, linear in the keys of all its sequences: time = base + per_key (context - first), for
/// first <= context < end.
struct DecodeLine {
  Picoseconds base{};
  Picoseconds per_key{};
  std::int64_t first = 0;
  std::int64_t end = 0;
  [[nodiscard]] constexpr Picoseconds at(std::int64_t context) const noexcept {
    return base + per_key * (context - first);
  }
};

/// The tables of one replica: fixed once made, asked from any thread, without heap.
class IterationTables {
 public:
  /// Knots of a table over one number; the last one's slope goes on beyond it.
  struct Axis {
    std::vector<std::int64_t> at;  ///< increasing, from 0 or 1 on
    /// The knot at or below `value`, and the last but one at most.
    [[nodiscard]] std::size_t below(std::int64_t value) const noexcept;
  };

  /// What fills the tables; vectors are knots of the first axis times knots of the second.
  struct Parts {
    Axis tokens;                           ///< of a step
    std::vector<Picoseconds> dense;        ///< products, experts, all-reduces and passes, graph replayed; by tokens
    std::vector<Picoseconds> dense_eager;  ///< the same in a step that holds prompts
    Axis rows;                             ///< tokens that are sampled
    std::vector<Picoseconds> head;         ///< language head and sampler
    Axis decodes, context_each;            ///< sequences, and keys of each
    std::vector<Picoseconds> decode;       ///< attention of a decode step
    Axis chunk, chunk_context;             ///< tokens of a chunk, and keys that its last token sees
    std::vector<Picoseconds> chunk_work, chunk_alone;
    /// Tokens of a sequence that decodes: 1, and the draft that is verified beside it. Axes of tokens count them all.
    std::int64_t queries = 1;
    /// Prompts through a draft model, beside their attention; by tokens. Empty: there is none. What drafting takes of a
    /// step of decodes is part of `decode`.
    std::vector<Picoseconds> draft_prompt;
    Picoseconds step{};          ///< of the host, a step
    Picoseconds per_sequence{};  ///< of the host, a sequence of its group
    /// Attention groups that sequences are dealt to, each with a host of its own: the busiest one's time counts.
    std::int64_t groups = 1;
  };
  explicit IterationTables(Parts parts);

  /// Steps of `decodes` sequences whose keys are `context` in all, for as long as they stay on one line.
  /// Precondition: decodes >= 1, context >= decodes.
  [[nodiscard]] DecodeLine decode_line(std::int64_t decodes, std::int64_t context) const noexcept;
  /// Attention of a chunk of `tokens` whose last token sees `context` keys: context = tokens at the start of a prompt.
  [[nodiscard]] ChunkAttention chunk(std::int64_t tokens, std::int64_t context) const noexcept;
  /// Any iteration; without chunks exactly decode_line().at(context).
  [[nodiscard]] Picoseconds time(const IterationBatch& batch) const noexcept;

 private:
  [[nodiscard]] Picoseconds host(std::int64_t decodes, std::int64_t chunks) const noexcept;

  Parts parts_;
};

}  // namespace headroom
