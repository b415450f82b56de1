// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/measured/serving_layouts.hpp>

#include <cstdint>

namespace headroom {
namespace {

constexpr std::int64_t most_ranks = 16;  ///< two nodes of eight: no published layout of one replica has more

}  // namespace

bool leaves_layout_open(const ServingConfiguration& run) noexcept {
  return !run.tp && !run.ep && run.gpus && !run.disaggregated && run.options.find("pool") == run.options.end();
}

std::vector<ServingConfiguration> possible_layouts(const ServingConfiguration& run, const Architecture& network) {
  std::vector<ServingConfiguration> layouts;
  const std::int64_t gpus = run.gpus.value_or(1);
  for (std::int64_t ranks = 1; ranks <= most_ranks && ranks <= gpus; ranks *= 2) {
    if (gpus % ranks != 0) {
      continue;
    }
    ServingConfiguration layout = run;
    layout.pp = run.pp.value_or(1);
    layout.tp = ranks;
    layout.dp.reset();
    if (network.heads % ranks == 0) {
      layouts.push_back(layout);
    }
    if (ranks > 1 && network.mla && network.moe && network.moe->experts % ranks == 0) {
      layout.options["attention_dp"] = "1";
      layouts.push_back(layout);
    }
  }
  return layouts;
}

}  // namespace headroom
