// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/kernels/curve.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

double of_busiest_group(double sequences, double groups) noexcept {
  const double whole = std::floor(sequences);
  const double least = std::ceil(whole / groups);
  return least + (sequences - whole) * (std::ceil((whole + 1.0) / groups) - least);
}

double drafting_host(const IterationStack& stack, double sequences, double groups) noexcept {
  return (stack.draft_step + of_busiest_group(sequences, groups) * stack.draft_sequence).raw();
}

EngineLaunches engine_launches(const Replica& replica,
                               const IterationStack& stack,
                               const IterationPhysics& physics) noexcept {
  const Replica::Mxfp4Experts form = replica.mxfp4_experts();
  const Seconds own = form == Replica::Mxfp4Experts::unpacked ? stack.mxfp4_unpacked
                      : form == Replica::Mxfp4Experts::native ? stack.mxfp4_native
                                                              : Seconds{};
  EngineLaunches launches;
  launches.own_experts = own > Seconds{};
  launches.experts = replica.expert_layers() * (launches.own_experts ? own : stack.expert_layer);
  launches.indexers = replica.indexed_layers() * physics.indexer;
  return launches;
}

IterationTerms engine_terms(const Replica& replica,
                            const IterationMix& mix,
                            IterationTerms t,
                            const IterationStack& stack,
                            const IterationPhysics& physics) noexcept {
  using T = IterationTerm;
  // What an engine spares or adds around its products hides nothing of their arithmetic.
  double unpacking = 1.0;
  if (t[T::products] > 0.0) {
    const double written_out = t.written_out_products / t[T::products];
    const double many_rows = t.unpacked_products / t[T::products];
    // Few rows wait for their bytes, which a kernel made for packed weights may read faster than the plain kernel whose
    // curve it borrows; many rows multiply, which no packing makes faster.
    const double few = replica.weight_only() ? physics.weight_only : 1.0;
    const double many = std::max(1.0, few);
    unpacking = few + (many - few) * many_rows + (physics.written_out - 1.0) * written_out;
  }
  t[T::products] =
      std::max(stack.products * (replica.nvfp4() ? stack.nvfp4 : 1.0) * t[T::products], t.sustained_products) *
      unpacking;
  const EngineLaunches launched_here = engine_launches(replica, stack, physics);
  const double unfilled = t[T::experts] > 0.0 ? t.unfilled_experts / t[T::experts] : 0.0;
  t[T::experts] = (t[T::experts] - (launched_here.own_experts ? t.expert_launches : 0.0)) * stack.experts *
                  (replica.block_experts() ? 1.0 + (stack.block_experts - 1.0) * unfilled : 1.0) *
                  (replica.narrow_experts_wide() ? physics.weight_only : 1.0);
  t[T::decode_attention] =
      norm3(physics.decode_attention * t[T::decode_attention], stack.vector * t.decode_on_vector_units);
  t[T::prefill_attention] *= physics.prefill_attention;
  // Whatever the factors, no kernel beats its own bytes and arithmetic.
  t[T::products] = std::max(t[T::products], t.least_products);
  t[T::decode_attention] = std::max(t[T::decode_attention], t.least_decode);
  t[T::prefill_attention] = std::max(t[T::prefill_attention], t.least_prefill);
  t[T::all_reduce] *= physics.all_reduce;
  t[T::exchange] *= replica.dispatches(mix.chunks > 0.0) ? physics.all_to_all : physics.exchange;
  t[T::passes] *= physics.passes;
  const bool turns = replica.takes_turns(mix);
  if (turns) {
    // DeepSeek-AI 2024 (DeepSeek-V3), section 3.4: one half's dispatch and combine beside the other's attention and
    // experts.
    const double compute = t[T::products] + t[T::experts] + t[T::decode_attention] + t[T::prefill_attention] +
                           t[T::scan] + t[T::all_reduce] + t[T::passes];
    t[T::exchange] = std::max(0.0, t[T::exchange] - compute);
  }
  const double launched = turns ? 2.0 : 1.0;  // each half by itself
  const double layers = launched * replica.layers();
  const double special = launched * (launched_here.experts + launched_here.indexers).raw();
  double gaps = layers * stack.layer.raw() + special;
  if (mix.chunks > 0.0) {
    const double kernels = t.total();
    const bool called = replica.mxfp4_experts() == Replica::Mxfp4Experts::unpacked;
    const Seconds one_by_one = replica.prompt_kernels() * stack.prompt_launch +
                               replica.delta_layers() * stack.delta_layer +
                               (called ? replica.expert_layers() * stack.mxfp4_call : Seconds{});
    const double launches = std::max(layers * stack.layer.raw(), launched * one_by_one.raw()) + special;
    gaps = launches - physics.overlap * std::min(kernels, launches);
  }
  t[T::gaps] = gaps;
  const double groups = real(replica.layout().attention_groups());
  const double scheduled = of_busiest_group(mix.decodes, groups) + of_busiest_group(mix.chunks, groups);
  t[T::host] = (stack.step + scheduled * stack.sequence).raw();
  return t;
}

}  // namespace headroom
