// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to a replica: network, device, engine and limits. serving_times.hpp and
// serving_simulated.hpp add the load.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/client_facts.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Text of an option of a row; empty when absent.
[[nodiscard]] std::string row_option(const ServingConfiguration& run, std::string_view key);
/// Number of an option of a row; nullopt when absent or not a positive number.
[[nodiscard]] std::optional<double> row_number(const ServingConfiguration& run, std::string_view key);

/// Replicas that a row's layout describes: all, or the decode or prefill replicas of a disaggregated deployment.
enum class RowPool : std::uint8_t { whole, decode, prefill };
/// Pool of a row. For a disaggregated deployment that names none, the columns describe the decode pool.
[[nodiscard]] RowPool pool_of(const ServingConfiguration& run);

/// Layout of the columns. Attention-DP with a blank ep runs attention and experts over all tensor ranks: TensorRT-LLM's
/// enable_attention_dp, whose published rows state tp alone.
[[nodiscard]] ServingLayout row_layout(const ServingConfiguration& run);

/// Mean length over the nominal one where lengths are drawn uniformly from `range_ratio` of it to all of it.
[[nodiscard]] double mean_of_nominal(const ServingConfiguration& run);

/// The limit that a run's operator set on each GPU's power; nullopt: none is known.
[[nodiscard]] std::optional<Watts> power_cap_of(const ServingConfiguration& run);

/// Facts of the launch and the client that a row's options state (serving_launches.hpp).
[[nodiscard]] ClientFacts client_facts(const ServingConfiguration& run);

/// Whether iterations with prompts have no decodes: by the engine's rules, unless the launch mixes them (SGLang
/// --enable-mixed-chunk; the option `mixed_chunks`).
[[nodiscard]] bool prompts_first(const ServingStack& stack, const ServingConfiguration& run);

/// Drafts of a row that states how many tokens it drafts and by what, at the acceptance that is published of its model,
/// else of all models (model/serve/engine/draft_acceptance.hpp).
struct RowDrafts {
  std::int64_t drafted = 0;  ///< tokens of a step; 0: none are drafted
  /// Probability that a drafted token is accepted after its predecessors, and the mean tokens that a step yields.
  struct Accepted {
    double probability = 0.0;
    double tokens = 1.0;
  };
  Accepted accepted, low, high;  ///< of the published models in the mean, and where 80 % of them lie
  /// What drafting takes of an iteration of decodes that verifies nothing: one layer a drafted token (DeepSeek-AI 2024,
  /// DeepSeek-V3, section 2.2: a module of multi-token prediction is one layer, and shares embedding and head), and of
  /// EAGLE's heads the language head too (Li et al. 2025, section 3.1).
  double share = 0.0;
  std::string of;             ///< models that the acceptance rests on
  std::int64_t verified = 0;  ///< tokens of a step that are verified, of drafts as a tree; 0: those drafted and one
  bool overlapped = false;    ///< the launch has the scheduler work beside drafts (SGLANG_ENABLE_SPEC_V2)
  /// At the accepted tokens.
  [[nodiscard]] Speculation speculation() const noexcept { return {drafted, accepted.probability, 0, overlapped}; }
  /// All drafts of a step, which no acceptance exceeds.
  [[nodiscard]] Accepted most() const noexcept { return {1.0, static_cast<double>(1 + drafted)}; }
  [[nodiscard]] double queries() const noexcept { return static_cast<double>(verified > 0 ? verified : 1 + drafted); }
};

/// Network, device, engine and layout of a row.
struct PlacedRow {
  std::shared_ptr<const Replica> replica;
  std::shared_ptr<const LeastIteration> least;
  const ServingStack* stack = nullptr;
  const Architecture* arch = nullptr;
  RowPool pool = RowPool::whole;
  ServingLayout layout;
  std::int64_t replicas = 1;    ///< replicas of the pool
  double clock = 1.0;           ///< of what multiplies under the run's power cap, over the uncapped clock
  double isl = 1.0, osl = 1.0;  ///< mean tokens per request
  std::int64_t beams = 1;       ///< answers that a request decodes side by side over its one prompt (beam search)
  /// Tokens of cache that a request takes when `share` (0 to 1) of its answer is written.
  [[nodiscard]] double held_tokens(double share) const noexcept {
    return isl + static_cast<double>(beams) * share * osl;
  }
  RowDrafts drafts;
  CompiledServingMemory memory;
  ServingLimits limits;  ///< complete but for sequence_tokens, which the load decides
};

/// Cache of what rows share: replicas, stacks, presets.
class ServingPlaces {
 public:
  explicit ServingPlaces(const Sources& sources);
  /// Places a row; nullopt, with the reason in `refusal`, when that is impossible.
  [[nodiscard]] std::optional<PlacedRow> place(const ServingConfiguration& run, RowPrediction& refusal);
  /// The SKU of a row; nullptr where the catalog has none.
  [[nodiscard]] const Device* device_of(const ServingConfiguration& run) { return devices_.find(run.gpu).device; }
  [[nodiscard]] const Architecture* network_of(const ServingConfiguration& run) { return architecture(run, true); }
  [[nodiscard]] const ModelData& data() const noexcept { return sources_.data; }
  [[nodiscard]] const Catalog& catalog() const noexcept { return sources_.catalog; }
  [[nodiscard]] const std::vector<ServingStack>& stacks() const noexcept { return stacks_; }
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + architectures_.size() + kernels_.size(); }

 private:
  struct Kernels {
    std::shared_ptr<const Replica> replica;
    std::shared_ptr<const LeastIteration> least;
    std::string refused;  ///< reason when there is no replica
  };
  const Architecture* architecture(const ServingConfiguration& run, bool windows);
  /// The SKU's reference node; nullptr for cards whose reference node lacks peer access, so that they get it.
  [[nodiscard]] const Node* usual_node(const Device& device) const;
  /// What a row's launch and client change of its engine's kernels.
  struct RowKernels {
    bool gathers = false;  ///< tokens are gathered, whatever kernels of dispatch the engine has for such a layout
    bool filters = false;  ///< requests sample with top-p
  };
  const Kernels& kernels(const Architecture& arch,
                         const Device& device,
                         const ServingStack& stack,
                         std::string_view version,
                         const ServingLayout& layout,
                         const ReplicaFormats& formats,
                         const RowKernels& run);

  const Sources& sources_;
  RowDevices devices_;
  const std::vector<ServingStack>& stacks_;
  std::map<std::string, std::shared_ptr<const Architecture>, std::less<>> architectures_;
  std::map<std::string, Kernels, std::less<>> kernels_;
};

/// Whether a row leaves its layout open: a number of GPUs, and no tensor-parallel ranks.
[[nodiscard]] bool leaves_layout_open(const ServingConfiguration& run) noexcept;

/// The row with each layout that its GPUs, heads and experts allow: tensor-parallel ranks in powers of two within a
/// node, and for latent attention with experts attention-DP over as many.
[[nodiscard]] std::vector<ServingConfiguration> possible_layouts(const ServingConfiguration& run,
                                                                 const Architecture& network);

}  // namespace headroom
