// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/fixed_load/serving_use.hpp>

#include <algorithm>

namespace headroom {

IterationMix decode_mix(const SteadyLoad& load) noexcept {
  IterationMix mix;
  mix.decodes = std::max(1.0, load.batch / load.stages);
  mix.keys = load.isl + 0.5 * load.osl;
  mix.queries = load.queries;
  return mix;
}

namespace {

ServingUse shares_of(const IterationTerms& terms) noexcept {
  using T = IterationTerm;
  const double total = terms.total();
  ServingUse use;
  use.communication = (terms[T::all_reduce] + terms[T::exchange] + terms[T::stages]) / total;
  use.waiting = (terms[T::gaps] + terms[T::host]) / total;
  use.kernels = std::max(0.0, 1.0 - use.communication - use.waiting);
  return use;
}

}  // namespace

ServingUse phase_use(const IterationTerms& terms, const LeastIteration& least, const IterationMix& mix) noexcept {
  ServingUse use = shares_of(terms);
  use.arithmetic = std::min(1.0, least.multiply_time(mix).raw() / terms.total());
  return use;
}

ServingUse serving_use(const IterationTerms& terms,
                       const LeastIteration& least,
                       const SteadyLoad& load,
                       const SteadyState& state) noexcept {
  ServingUse use = shares_of(terms);
  const IterationMix decode = decode_mix(load);
  IterationMix prompt;
  prompt.chunks = prompt.ending = 1.0;
  prompt.chunk_tokens = prompt.chunk_keys = load.isl;
  const double iterations = state.requests_per_s * load.steps() / decode.decodes;
  const double multiplied =
      iterations * least.multiply_time(decode).raw() + state.requests_per_s * least.multiply_time(prompt).raw();
  use.arithmetic = std::min(1.0, multiplied / load.stages);
  return use;
}

}  // namespace headroom
