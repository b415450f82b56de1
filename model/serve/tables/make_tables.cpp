// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

using Axis = IterationTables::Axis;

/// Knots 1, 2, 3, 4, 6, 8, 12 ... up to `last`, which is always a knot.
Axis knots(std::int64_t last, std::int64_t first = 1) {
  Axis axis;
  for (std::int64_t power = 1; power < last; power *= 2) {
    for (const std::int64_t knot : {power, power + power / 2}) {
      if (knot >= first && knot < last && (axis.at.empty() || knot > axis.at.back())) {
        axis.at.push_back(knot);
      }
    }
  }
  axis.at.push_back(last);
  return axis;
}

class TableWriter {
 public:
  TableWriter(const Replica& replica,
              const IterationStack& stack,
              const IterationPhysics& physics,
              double clock,
              const MixTerms& kernels,
              const Drafting* drafting,
              std::int64_t beams)
      : replica_{replica},
        stack_{stack},
        physics_{physics},
        clock_{clock},
        kernels_{kernels},
        drafting_{drafting},
        beams_{beams} {}

  IterationTables::Parts write(const TableReach& reach) const {
    const double groups = real(replica_.layout().attention_groups());
    const double usual = std::max(1.0, reach.chunk > 0 ? real(reach.chunk) : real(reach.tokens) / groups);
    IterationTables::Parts p;
    p.queries = drafting_ != nullptr ? drafting_->queries() : beams_;
    p.tokens = knots(std::max<std::int64_t>(reach.tokens, reach.sequences * p.queries));
    for (const std::int64_t tokens : p.tokens.at) {
      p.dense.push_back(picoseconds(dense(decodes(tokens, 1))));
      p.dense_eager.push_back(picoseconds(dense(prompts(real(tokens), usual, groups))));
      if (drafting_ != nullptr && drafting_->has_model()) {
        p.draft_prompt.push_back(picoseconds(draft_dense(tokens)));
      }
    }
    p.rows = knots(std::max<std::int64_t>(2, reach.sequences * p.queries));
    for (const std::int64_t rows : p.rows.at) {
      p.head.push_back(picoseconds(terms(decodes(rows, 1))[IterationTerm::head]));
    }
    p.decodes = knots(std::max<std::int64_t>(2, reach.sequences));
    p.context_each = knots(reach.keys);
    add_decodes(p, false);
    if (differs_beside(p.decodes.at.back(), p.context_each.at.back())) {
      add_decodes(p, true);
    }
    p.chunk = knots(reach.tokens);
    p.chunk_context = knots(reach.keys);
    for (const std::int64_t tokens : p.chunk.at) {
      const std::int64_t together =
          std::max<std::int64_t>(1, full_step / tokens) * replica_.layout().attention_groups();
      for (const std::int64_t keys : p.chunk_context.at) {
        const std::int64_t seen = std::max(tokens, keys);
        p.chunk_work.push_back(picoseconds(prefill(together, tokens, seen) / real(together)));
        p.chunk_alone.push_back(picoseconds(prefill(1, tokens, seen)));
      }
    }
    p.step = picoseconds(stack_.step.raw());
    p.per_sequence = picoseconds(real(beams_) * stack_.sequence.raw());
    p.groups = replica_.layout().attention_groups();
    return p;
  }

 private:
  static constexpr std::int64_t full_step = 16384;  ///< prompt tokens that certainly fill a device

  static IterationMix decodes(std::int64_t sequences, std::int64_t keys) noexcept {
    IterationMix mix;
    mix.decodes = real(sequences);
    mix.keys = real(keys);
    return mix;
  }
  static IterationMix chunks(std::int64_t count, std::int64_t tokens, std::int64_t keys) noexcept {
    IterationMix mix;
    mix.chunks = real(count);
    mix.chunk_tokens = real(tokens);
    mix.chunk_keys = real(keys);
    return mix;
  }
  /// Chunks of prompts with `tokens` in total, one in each group that has any.
  static IterationMix prompts(double tokens, double usual, double groups) noexcept {
    IterationMix mix;
    mix.chunks = std::clamp(tokens / usual, 1.0, groups);
    mix.chunk_tokens = mix.chunk_keys = tokens / mix.chunks;
    return mix;
  }
  [[nodiscard]] IterationTerms terms(const IterationMix& mix, TablePoint point = TablePoint::whole) const noexcept {
    IterationTerms t = engine_terms(replica_, mix, kernels_(mix, point), stack_, physics_);
    if (mix.chunks > 0.0) {
      t[IterationTerm::products] /= clock_;
      t[IterationTerm::experts] /= clock_;
      t[IterationTerm::prefill_attention] /= clock_;
    }
    return t;
  }
  void add_decodes(IterationTables::Parts& p, bool beside) const {
    for (const std::int64_t sequences : p.decodes.at) {
      for (const std::int64_t keys : p.context_each.at) {
        p.decode.push_back(picoseconds(decode(sequences, keys, beside)));
      }
    }
  }
  /// The decodes, and a prompt of one token, whose attention is a term of its own, in the same iteration.
  static IterationMix with_prompt(IterationMix mix) noexcept {
    mix.chunks = mix.chunk_tokens = mix.chunk_keys = 1.0;
    return mix;
  }
  /// Whether attention of decodes takes another time with prompts in the step: by the kernels, whatever the factors on
  /// them.
  [[nodiscard]] bool differs_beside(std::int64_t sequences, std::int64_t keys) const noexcept {
    const IterationMix alone = decodes(sequences, keys);
    return kernels_(alone, TablePoint::attention)[IterationTerm::decode_attention] !=
           kernels_(with_prompt(alone), TablePoint::attention)[IterationTerm::decode_attention];
  }
  /// Seconds of a decode step's attention and all of its drafting, with prompts in the step or without.
  [[nodiscard]] double decode(std::int64_t sequences, std::int64_t keys, bool beside) const noexcept {
    IterationMix mix = decodes(sequences * beams_, keys);
    mix = beside ? with_prompt(mix) : mix;
    double drafted = 0.0;
    if (drafting_ != nullptr) {
      mix.queries = real(drafting_->queries());
      drafted = drafting_->decode_seconds(mix.decodes, mix.keys);
    }
    return terms(mix, TablePoint::attention)[IterationTerm::decode_attention] + drafted;
  }
  [[nodiscard]] double prefill(std::int64_t count, std::int64_t tokens, std::int64_t keys) const noexcept {
    const IterationMix mix = chunks(count, tokens, keys);
    const double drafted = drafting_ != nullptr ? drafting_->prompt_terms(mix)[IterationTerm::prefill_attention] : 0.0;
    return terms(mix, TablePoint::attention)[IterationTerm::prefill_attention] + drafted;
  }
  /// Seconds of a prompt in the draft model, without its attention.
  [[nodiscard]] double draft_dense(std::int64_t tokens) const noexcept {
    const IterationTerms t = drafting_->prompt_terms(chunks(1, tokens, tokens));
    return t.total() - t[IterationTerm::prefill_attention];
  }
  /// Seconds of everything that depends only on the tokens of an iteration.
  [[nodiscard]] double dense(const IterationMix& mix) const noexcept {
    const IterationTerms t = terms(mix);
    return t.total() - t[IterationTerm::decode_attention] - t[IterationTerm::prefill_attention] -
           t[IterationTerm::head] - t[IterationTerm::host];
  }

  const Replica& replica_;
  const IterationStack& stack_;
  const IterationPhysics& physics_;
  double clock_;
  const MixTerms& kernels_;
  const Drafting* drafting_;
  std::int64_t beams_;
};

std::int64_t whole(double value) noexcept {
  return static_cast<std::int64_t>(std::llround(value));
}

}  // namespace

IterationTerms priced_terms(const Replica& replica, const IterationMix& mix, TablePoint point) noexcept {
  return point == TablePoint::attention ? replica.attention(mix) : replica.terms(mix);
}

IterationTables make_iteration_tables(const Replica& replica,
                                      const IterationStack& stack,
                                      const IterationPhysics& physics,
                                      const TableReach& reach,
                                      double clock) {
  return make_iteration_tables(replica, stack, physics, reach, clock, [&](const IterationMix& mix, TablePoint point) {
    return priced_terms(replica, mix, point);
  });
}

IterationTables make_iteration_tables(const Replica& replica,
                                      const IterationStack& stack,
                                      const IterationPhysics& physics,
                                      const TableReach& reach,
                                      double clock,
                                      const MixTerms& terms,
                                      const Drafting* drafting,
                                      std::int64_t beams) {
  return IterationTables{TableWriter{replica, stack, physics, clock, terms, drafting, beams}.write(reach)};
}

double table_seconds(const IterationTables& tables, const IterationMix& mix) noexcept {
  IterationBatch batch;
  batch.decodes = whole(mix.decodes);
  batch.context = whole(mix.decodes * mix.keys);
  batch.chunks = mix.chunks > 0.0 ? std::max<std::int64_t>(1, whole(mix.chunks)) : 0;
  if (batch.chunks > 0) {
    batch.prompt_tokens = whole(mix.chunks * mix.chunk_tokens);
    batch.ending = whole(mix.ending);
    const ChunkAttention each = tables.chunk(whole(mix.chunk_tokens), whole(mix.chunk_keys));
    batch.attention = {batch.chunks * each.work, each.alone};
  }
  return 1e-12 * real(tables.time(batch).count());
}

}  // namespace headroom
