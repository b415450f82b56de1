// SPDX-License-Identifier: Apache-2.0
// How the tokens of attention-DP meet the ranks of their experts, and what a layer's exchange takes.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/collectives/collective_time.hpp>
#include <headroom/model/collectives/moe_all_to_all.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/all_to_all_rule.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// What is exchanged around one layer of experts.
struct ExchangedTokens {
  double own = 0.0;      ///< of the rank with the most
  double all = 0.0;      ///< of all ranks
  bool prompts = false;  ///< whether prompts are among them
};

/// Compiled for a group of expert ranks; asked without heap.
class ExpertExchange {
 public:
  struct Layer {
    double hidden = 1.0, top_k = 1.0, experts = 1.0;
    double sent = 2.0;  ///< bytes of an element on its way to its experts; results come back in two
    Precision activations = Precision::bf16;
    ExpertGroups groups{};
    ExpertPlaces places = ExpertPlaces::contiguous;
  };
  /// The first rule that holds for the ranks of `view` counts. `chosen`: the collectives of such ranks.
  ExpertExchange(const ModelData& data,
                 const Device& device,
                 const GroupView& view,
                 std::span<const AllToAllRule> rules,
                 const Layer& layer,
                 const ChosenCollectives& chosen);

  /// Seconds of one layer.
  ///   all-gather   every rank receives all tokens, and results are reduced and scattered (collective_time.hpp)
  ///   all-to-all   the measured kernels (moe_all_to_all.hpp); where nobody measured them on the SKU, own tokens to
  ///                the ranks of their experts (ranks_reached) and back, as sends over the same links
  ///                (collective_time.hpp)
  [[nodiscard]] double seconds(const ExchangedTokens& tokens) const noexcept;
  /// Whether the time is that of kernels which were measured over such ranks: neither bytes over links, nor, between
  /// hosts, kernels that were measured within one with the network at its prior.
  [[nodiscard]] bool measured(bool prompts) const noexcept;
  [[nodiscard]] const std::string& source() const noexcept { return source_; }

 private:
  /// Those of one exchange, in the order in which they run; none where the exchange is bytes over links.
  struct Kernels {
    std::vector<MoeExchangeModel> models;
    bool measured = false;  ///< all of them, over as many hosts as the ranks lie in
  };
  [[nodiscard]] Kernels kernels(const ModelData& data,
                                const Device& device,
                                std::span<const std::string> names,
                                std::string_view of);

  GroupCollectives collectives_;
  GroupView view_;
  Layer layer_;
  std::optional<AllToAllRule> rule_;
  Kernels decodes_, prompts_;
  std::string source_;
};

}  // namespace headroom
