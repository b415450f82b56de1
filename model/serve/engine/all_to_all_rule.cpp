// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/all_to_all_rule.hpp>

namespace headroom {

std::string_view exchange_spelling(Precision activations) noexcept {
  switch (activations) {
    case Precision::fp8:
    case Precision::mxfp8: return "fp8";
    case Precision::nvfp4: return "nvfp4";
    default: return "bfloat16";
  }
}

const AllToAllRule* rule_of(std::span<const AllToAllRule> rules, const ExchangeRanks& ranks) noexcept {
  for (const AllToAllRule& rule : rules) {
    const bool over = (rule.over == ExchangeOver::hosts) == ranks.over_nics;
    const bool spelled = rule.activations.empty() || rule.activations == exchange_spelling(ranks.activations);
    if (over && spelled && ranks.domain > rule.domain_above &&
        (!rule.beyond_top_k || real(ranks.ranks) > ranks.top_k)) {
      return &rule;
    }
  }
  return nullptr;
}

}  // namespace headroom
