// SPDX-License-Identifier: Apache-2.0
// What a step spends its time on beside its products: the regime by which errors are told.
#pragma once

#include <headroom/model/estimate/estimate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace headroom {

/// `compute` holds products, attention and scans, those of recomputation and of the head with them.
enum class StepRegime : std::uint8_t { compute, communication, memory_traffic, host, bubble };
inline constexpr std::array<std::string_view, 5> step_regime_names{"compute", "communication", "memory traffic", "host",
                                                                   "bubble"};

/// Share of the step, 0 to 1, below which no part beside compute names the regime.
inline constexpr double least_regime_share = 0.15;

/// The largest exposed part beside compute, by share of the step; `compute` where none reaches least_regime_share.
[[nodiscard]] constexpr StepRegime regime_of(const Breakdown& time) noexcept {
  std::array<Seconds, step_regime_names.size()> parts{};
  const auto add = [&](StepRegime regime, std::initializer_list<Term> terms) {
    for (const Term term : terms) {
      parts[static_cast<std::size_t>(regime)] += time[term];
    }
  };
  add(StepRegime::communication, {Term::tp_comm, Term::cp_comm, Term::ep_comm, Term::pp_comm, Term::dp_comm});
  add(StepRegime::memory_traffic, {Term::elementwise, Term::optimizer, Term::offload});
  add(StepRegime::host, {Term::host, Term::host_sync, Term::data});
  add(StepRegime::bubble, {Term::bubble, Term::straggler});
  StepRegime regime = StepRegime::compute;
  Seconds most = least_regime_share * time.total();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] >= most) {
      most = parts[i];
      regime = static_cast<StepRegime>(i);
    }
  }
  return regime;
}

}  // namespace headroom
