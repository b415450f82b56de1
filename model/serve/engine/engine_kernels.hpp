// SPDX-License-Identifier: Apache-2.0
// Which measured kernels stand for a serving engine's own.
#pragma once

#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/serve/engine/all_to_all_rule.hpp>
#include <headroom/model/serve/engine/expert_family.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Which measured kernels stand for an engine's.
struct EngineKernels {
  std::string curves;  ///< engine of the curves: "trtllm", "vllm"
  MoeRouting routing;  ///< how tokens choose experts
  /// Where a release had no more than one family of its kernels of experts; elsewhere the fastest runs.
  std::vector<ExpertFamily> families;
  std::vector<AllToAllRule> all_to_all;  ///< of the engine (expert_exchange.hpp)
};

}  // namespace headroom
