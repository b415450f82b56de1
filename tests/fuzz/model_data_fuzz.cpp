// SPDX-License-Identifier: Apache-2.0
// Any text as a data file of the model: a preset, curves of kernels or collectives, a transport, a training software or
// an engine. It is read, or refused with its problems. The first byte chooses the kind.
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/model/workload/parameters.hpp>

#include "require.hpp"
#include <cmath>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Chosen chosen{data, size, 7};
  try {
    const ConfigValue root = parse_toml(chosen.text, "f.toml");
    Diagnostics diagnostics;
    switch (chosen.which) {
      case 0: {
        const Architecture arch = read_architecture(ConfigTable{root, "", diagnostics});
        diagnostics.throw_if_any();
        fuzz::require(std::isfinite(count_parameters(arch).total));
        break;
      }
      case 1: static_cast<void>(read_curve_set(root, "f.toml", diagnostics)); break;
      case 2: static_cast<void>(read_collective_set(root, "f.toml", diagnostics)); break;
      case 3: static_cast<void>(read_transport(root, "f.toml", diagnostics)); break;
      case 4: static_cast<void>(read_memory_stack(root, "f.toml", diagnostics)); break;
      case 5: static_cast<void>(read_serving_stack(root, "f.toml", diagnostics)); break;
      default: static_cast<void>(read_rough_stack(root, "f.toml", diagnostics));
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
