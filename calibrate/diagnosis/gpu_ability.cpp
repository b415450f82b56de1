// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/gpu_ability.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

namespace headroom {

void tell_abilities(const Catalog& catalog, std::span<TracedRank> ranks) {
  for (TracedRank& rank : ranks) {
    if (rank.gpu.empty() || catalog.why_no_device(rank.gpu)) {
      continue;
    }
    const Device& device = catalog.device(rank.gpu);
    const auto& tensor = device.peak[static_cast<std::size_t>(Rate::bf16)];
    const auto& plain = device.peak[static_cast<std::size_t>(Rate::fp32_vector)];
    if (tensor && plain) {
      rank.ability = GpuAbility{tensor->value, plain->value};
    }
  }
}

}  // namespace headroom
