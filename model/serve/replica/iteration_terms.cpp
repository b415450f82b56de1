// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/replica/iteration_terms.hpp>

#include <numeric>

namespace headroom {

void IterationTerms::double_all() noexcept {
  for (double& term : seconds) {
    term *= 2.0;
  }
  for (double* part : {&decode_on_vector_units, &least_products, &least_decode, &least_prefill, &sustained_products,
                       &unpacked_products, &written_out_products, &expert_launches, &unfilled_experts}) {
    *part *= 2.0;
  }
}

double IterationTerms::total() const noexcept {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

}  // namespace headroom
