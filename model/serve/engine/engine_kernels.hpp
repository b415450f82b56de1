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

/// Shared experts that an engine runs at the same time as the routed ones, in a stream of their own or in the same
/// grouped kernel, while an iteration holds decodes alone: a captured graph has both streams, a prompt's launches none.
struct SharedExperts {
  double most_tokens = 0.0;  ///< of an iteration on a rank of attention; 0: one after the other, always
  std::string from, source;  ///< `from`: the first release that does so; empty: all
};

/// Norms over all heads of queries or keys, of which tensor ranks have a part each: a kernel that sums, the reduction
/// over the ranks and the norm itself, or all three in one.
struct JoinedNorms {
  bool joined = false;
  std::string from, source;  ///< `from`: the first release that joins them; empty: all
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
  double shared_beside = 0.0;  ///< SharedExperts::most_tokens of the release
  bool joined_norms = false;   ///< JoinedNorms::joined of the release
  /// Bytes that the engine moves for each logit of a sampled row to filter it by top-p or top-k; 0: nobody asks for
  /// that.
  double filter_bytes = 0.0;
};

}  // namespace headroom
