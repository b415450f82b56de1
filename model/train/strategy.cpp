// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/strategy.hpp>

namespace headroom {
namespace {

bool divides(std::int64_t divisor, std::int64_t number) noexcept {
  return divisor > 0 && number % divisor == 0;
}

Legality broken(Verdict verdict, std::int64_t number, std::int64_t limit) noexcept {
  return {verdict, static_cast<double>(number), static_cast<double>(limit)};
}

}  // namespace

Legality check(const Architecture& arch, const TrainingShape& shape, const Strategy& s) noexcept {
  const std::int64_t model_ranks = std::int64_t{s.tp} * s.pp * s.cp;
  if (model_ranks * s.dp != shape.gpus) {
    return broken(Verdict::gpus_not_divisible, shape.gpus, model_ranks);
  }
  if (!divides(s.tp, arch.heads)) {
    return broken(Verdict::heads_not_divisible, arch.heads, s.tp);
  }
  // Fewer key-value heads than tp ranks are replicated, which needs whole copies.
  if (!divides(s.tp, arch.kv_heads) && !divides(arch.kv_heads, s.tp)) {
    return broken(Verdict::kv_heads_not_divisible, arch.kv_heads, s.tp);
  }
  // Embedding and loss may stand for a layer each on the end stages, as in Megatron's uneven splits.
  if (std::int64_t{s.pp} * s.vpp > arch.layers + 2) {
    return broken(Verdict::layers_too_few, arch.layers, std::int64_t{s.pp} * s.vpp);
  }
  const std::int64_t sequence_ranks = std::int64_t{s.cp} * (s.sequence_parallel ? s.tp : 1);
  if (!divides(sequence_ranks, shape.seq_len)) {
    return broken(Verdict::sequence_not_divisible, shape.seq_len, sequence_ranks);
  }
  const std::int64_t batch_ranks = std::int64_t{s.dp} * s.micro_batch;
  if (!divides(batch_ranks, shape.global_batch)) {
    return broken(Verdict::batch_not_divisible, shape.global_batch, batch_ranks);
  }
  if (s.vpp > 1 && !divides(s.pp, shape.global_batch / batch_ranks)) {
    return broken(Verdict::micro_batches_too_few, shape.global_batch / batch_ranks, s.pp);
  }
  if (s.ep > 1 && (!arch.moe || !divides(s.ep, arch.moe->experts))) {
    return broken(Verdict::experts_not_divisible, arch.moe ? arch.moe->experts : 1, s.ep);
  }
  if (s.ep > 1 && !divides(std::int64_t{s.ep} * s.etp, std::int64_t{s.dp} * s.cp * s.tp)) {
    return broken(Verdict::expert_groups_misfit, std::int64_t{s.dp} * s.cp * s.tp, std::int64_t{s.ep} * s.etp);
  }
  return {};
}

}  // namespace headroom
