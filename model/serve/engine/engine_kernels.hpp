// SPDX-License-Identifier: Apache-2.0
// The measured kernels that represent those of a serving engine.
#pragma once

#include <headroom/model/kernels/grouped_gemm.hpp>
#include <headroom/model/serve/engine/all_to_all_rule.hpp>
#include <headroom/model/serve/engine/expert_family.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Whose measured kernels represent an engine's on SKUs of one generation.
struct GenerationKernels {
  std::string generation;  ///< device generation: "blackwell"
  std::string curves;      ///< engine of the curves
  std::string source;
};

/// The measured kernels that represent an engine's own.
struct EngineKernels {
  std::string curves;  ///< engine of the curves: "trtllm", "vllm"
  MoeRouting routing;  ///< how tokens choose experts
  /// Formats for which the release had a single family of expert kernels; for all others the fastest runs.
  std::vector<ExpertFamily> families;
  std::vector<AllToAllRule> all_to_all;  ///< the engine's rules (expert_exchange.hpp)
  /// Generations on whose SKUs another engine's products, attention, experts and passes stand for this one's.
  std::vector<GenerationKernels> generations{};
};

}  // namespace headroom
