// SPDX-License-Identifier: Apache-2.0
// From a measured row of a network that is no language model to a prediction: calls of a batch, closed loops of
// clients.
#pragma once

#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Predicts rows of networks and caches their ops. Where a row's columns leave open which of two engines ran (XLA or
/// not), it is predicted as the geometric mean of both, and its interval holds both.
class NetworkRowModel {
 public:
  explicit NetworkRowModel(const Sources& sources) : sources_{sources}, devices_{sources.catalog} {}
  /// Whether the catalog has a network by the row's name.
  [[nodiscard]] bool knows(const ServingConfiguration& run) const;
  /// The model sees nothing but the configuration.
  [[nodiscard]] RowPrediction predict(const ServingConfiguration& run, std::string_view metric);
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + ops_.size(); }

 private:
  struct Calls {
    std::vector<CallOp> ops;
    double input_bytes = 0.0;  ///< of one sample
    double flop = 0.0;         ///< of the same
    NetworkInference memory;
  };
  struct Asked;
  /// Samples a second of one GPU and seconds of a sample's answer.
  struct Pace {
    double rate = 0.0, seconds = 0.0, batch = 1.0;
  };
  [[nodiscard]] const Calls& calls_of(const std::string& id,
                                      const NetworkSizes& usual,
                                      const ServingConfiguration& run);
  [[nodiscard]] Pace pace_of(const Calls& calls,
                             const NetworkEngine& engine,
                             const CallDevice& device,
                             CallSetting setting,
                             Bytes memory,
                             const Asked& asked) const;

  const Sources& sources_;
  RowDevices devices_;
  std::map<std::string, Calls, std::less<>> ops_;
};

}  // namespace headroom
