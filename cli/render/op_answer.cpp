// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr double more = 1.1;

}  // namespace

Seconds OpAnswer::roofline() const noexcept {
  return std::max(work / limits.peak, moved / limits.bandwidth);
}

void add_effect(OpAnswer& a, std::string change, Seconds time) {
  a.effects.push_back({std::move(change), time / a.time});
}

void add_device_effects(OpAnswer& a, const TimeOn& time) {
  if (a.work > Flops{}) {
    KernelDevice peak = a.limits;
    peak.peak *= more;
    add_effect(a, "10 % more peak", time(peak));
  }
  KernelDevice bandwidth = a.limits;
  bandwidth.bandwidth *= more;
  add_effect(a, "10 % more bandwidth", time(bandwidth));
  KernelDevice units = a.limits;
  units.units = std::round(a.limits.units * more);
  units.peak *= units.units / a.limits.units;
  add_effect(a, "10 % more SMs", time(units));
  if (a.launch > Seconds{}) {
    add_effect(a, "fused into another kernel: no launch of its own", a.time - a.launch);
  }
}

void finish(OpAnswer& a, double p90) {
  a.low = a.time / (1.0 + p90);
  a.high = a.time * (1.0 + p90);
  std::stable_sort(a.effects.begin(), a.effects.end(),
                   [](const Effect& x, const Effect& y) { return x.time < y.time; });
}

}  // namespace headroom::cli
