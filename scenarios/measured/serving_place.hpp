// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to a replica: which network on which device, by which engine, within
// which limits. The load is serving_times.hpp's and serving_simulated.hpp's.
#pragma once

#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/replica/replica.hpp>
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

/// An option of a row; empty when it is absent.
[[nodiscard]] std::string row_option(const ServingConfiguration& run, std::string_view key);
/// An option's number; nullopt when it is absent or no positive number.
[[nodiscard]] std::optional<double> row_number(const ServingConfiguration& run, std::string_view key);

/// Which replicas a row's layout is of: all, or those of a disaggregated deployment that decode or that prefill.
enum class RowPool : std::uint8_t { whole, decode, prefill };
/// Of a deployment that names no pool the layout is that of the decoding one (COLUMNS.md).
[[nodiscard]] RowPool pool_of(const ServingConfiguration& run);

/// The layout of the columns. Attention-DP whose ep is blank runs attention and experts over all its tensor ranks:
/// TensorRT-LLM's enable_attention_dp, whose published rows state tp alone.
[[nodiscard]] ServingLayout row_layout(const ServingConfiguration& run);

/// What a row runs on.
struct PlacedRow {
  std::shared_ptr<const Replica> replica;
  std::shared_ptr<const LeastIteration> least;
  const ServingStack* stack = nullptr;
  const Architecture* arch = nullptr;
  RowPool pool = RowPool::whole;
  ServingLayout layout;
  std::int64_t replicas = 1;    ///< of the pool
  double isl = 1.0, osl = 1.0;  ///< mean tokens
  CompiledServingMemory memory;
  ServingLimits limits;  ///< but for sequence_tokens, which is the load's
};

/// Keeps what rows share: replicas, stacks, presets.
class ServingPlaces {
 public:
  explicit ServingPlaces(const Sources& sources);
  /// nullopt: `refusal` says why.
  [[nodiscard]] std::optional<PlacedRow> place(const ServingConfiguration& run, RowPrediction& refusal);
  [[nodiscard]] const std::vector<ServingStack>& stacks() const noexcept { return stacks_; }
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + architectures_.size() + kernels_.size(); }

 private:
  struct Kernels {
    std::shared_ptr<const Replica> replica;
    std::shared_ptr<const LeastIteration> least;
    std::string refused;  ///< why there is none
  };
  const Architecture* architecture(const ServingConfiguration& run, bool windows);
  /// The SKU's reference node; for cards whose reference box lacks peer access none, which gives it to them.
  [[nodiscard]] const Node* usual_node(const Device& device) const;
  const Kernels& kernels(const Architecture& arch,
                         const Device& device,
                         const ServingStack& stack,
                         std::string_view version,
                         const ServingLayout& layout,
                         const ReplicaFormats& formats);

  const Sources& sources_;
  RowDevices devices_;
  std::vector<ServingStack> stacks_;
  std::map<std::string, std::shared_ptr<const Architecture>, std::less<>> architectures_;
  std::map<std::string, Kernels, std::less<>> kernels_;
};

}  // namespace headroom
