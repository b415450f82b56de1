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

/// Of `share` of the time at the datasheet's rates.
ServingUse use_of(const IterationTerms& terms,
                  const LeastIteration& least,
                  double reading,
                  double multiplying) noexcept {
  ServingUse use;
  use.read = std::min(1.0, reading) * least.bandwidth();
  use.multiplied = std::min(1.0, multiplying) * least.wide_peak();
  use.scaled_experts = least.scaled_experts() ? terms[IterationTerm::experts] / terms.total() : 0.0;
  return use;
}

/// Seconds that an iteration reads for, at the datasheet's bandwidth.
double read_time(const LeastIteration& least, const IterationMix& mix) noexcept {
  return (least.weights_read(mix.tokens(), ExpertsRead::expected) + least.cache_read(mix)) / least.bandwidth() /
         Seconds{1.0};
}

}  // namespace

ServingUse phase_use(const IterationTerms& terms, const LeastIteration& least, const IterationMix& mix) noexcept {
  const double total = terms.total();
  return use_of(terms, least, read_time(least, mix) / total, least.multiply_time(mix).raw() / total);
}

ServingUse serving_use(const IterationTerms& terms,
                       const LeastIteration& least,
                       const SteadyLoad& load,
                       const SteadyState& state) noexcept {
  const IterationMix decode = decode_mix(load);
  IterationMix prompt;
  prompt.chunks = prompt.ending = 1.0;
  prompt.chunk_tokens = prompt.chunk_keys = load.isl;
  const double iterations = state.requests_per_s * load.steps() / decode.decodes;
  const double multiplied =
      iterations * least.multiply_time(decode).raw() + state.requests_per_s * least.multiply_time(prompt).raw();
  return use_of(terms, least, iterations * read_time(least, decode), multiplied / load.stages);
}

}  // namespace headroom
