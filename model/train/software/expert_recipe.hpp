// SPDX-License-Identifier: Apache-2.0
// How a training software runs layers of experts: how they are launched, which kernels exchange their tokens, whether
// their products are fused; and which of its published recipes do so for which release, SKU, network and precision.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Who launches the kernels of a layer of experts, and whether its shapes are known beforehand. Eager and partially
/// captured layers read back how many tokens each expert got, because their shapes depend on it (Megatron-Core,
/// moe_utils.py and token_dispatcher.py: tokens_per_expert goes to the host); static shapes and full graphs do not.
enum class ExpertLaunch : std::uint8_t {
  eager,           ///< the host launches every kernel
  static_shapes,   ///< the same with fixed shapes: a capacity that drops and pads, or buffers of a fixed size
  partial_graphs,  ///< attention, router and preprocessing are CUDA graphs (Megatron-Core, --cuda-graph-scope), or
                   ///< the last two alone
  full_graphs,     ///< all layers of a step are one CUDA graph, which fixed shapes allow
};
inline constexpr std::array<std::string_view, 4> expert_launch_names{"eager", "static-shapes", "partial-graphs",
                                                                     "full-graphs"};
[[nodiscard]] constexpr bool reads_back(ExpertLaunch launch) noexcept {
  return launch == ExpertLaunch::eager || launch == ExpertLaunch::partial_graphs;
}

/// What exchanges tokens with the ranks of their experts.
enum class ExpertDispatcher : std::uint8_t {
  alltoall,  ///< a collective of one copy for each of a token's experts; rows are permuted before and after it
  deepep,    ///< one copy for each rank that a token goes to, sent on inside a domain (DeepSeek-AI 2025, DeepEP)
  hybridep,  ///< the same, and rows arrive in their experts' order (DeepEP, branch hybrid-ep)
};
inline constexpr std::array<std::string_view, 3> expert_dispatcher_names{"alltoall", "deepep", "hybridep"};

/// What a job runs its experts with.
struct ExpertHabits {
  ExpertLaunch launch = ExpertLaunch::eager;
  ExpertDispatcher dispatcher = ExpertDispatcher::alltoall;
  bool fused_products = false;       ///< one kernel for both products of all local experts, activation and casts within
  bool one_launch = false;           ///< the products of all local experts are one kernel each
  bool eager_attention = false;      ///< partial graphs hold router and preprocessing alone
  bool overlaps = false;             ///< exchanges of one micro-batch run beside another's compute
  RecomputeParts recompute_parts{};  ///< of selective recomputation; empty: the software's habit
  bool predicts = false;             ///< the network's prediction modules are trained, where it has any
  double wide_layers = 0.0;          ///< last layers whose products stay in 16 bit in narrow recipes
  bool wide_mixers = false;          ///< in those, products of attention and of the experts' latents stay in 16 bit
  bool wide_modules = false;         ///< in those, prediction modules stay in 16 bit
  bool eight_bit_outputs = false;    ///< in 4-bit recipes, output projections of recurrent mixers stay in 8 bit
  std::optional<double> router_launches{};  ///< of a router's forward pass; nothing: the software's
  bool shared_beside = false;               ///< shared experts run on a stream of their own, beside exchanges
  bool consecutive = false;                 ///< a stand-in for the router gives a token experts that stand side by side
  bool by_recipe = false;                   ///< a recipe says it; else it is the default of software without one
  /// What training software mostly does on such GPUs, for a job of which nobody stated it and no recipe says it.
  bool usual = false;
};

/// The job that a recipe is looked up for.
struct ExpertJob {
  std::string_view release, device, model;
  Precision precision = Precision::bf16;
};

/// Recipes of one table [[experts]] of a stack. An empty list means any. A model matches by the start of its name, of
/// which letters and digits count.
struct ExpertRule {
  std::vector<std::string> releases, devices, models, precisions;
  ExpertHabits habits;
  std::string source;
  [[nodiscard]] bool holds_for(const ExpertJob& job) const noexcept;
};

/// The first rule that holds; without one, eager layers and the collective.
[[nodiscard]] ExpertHabits expert_habits(std::span<const ExpertRule> rules, const ExpertJob& job) noexcept;
[[nodiscard]] std::vector<ExpertRule> read_expert_rules(ConfigTable& root);

}  // namespace headroom
