// SPDX-License-Identifier: Apache-2.0
// What published rows mean by the name of a network: model/stacks/step/network-rows.toml.
#pragma once

#include <headroom/model/workload/op_list.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

struct NetworkSpelling {
  std::vector<std::string> names;
  std::vector<std::string> networks;  ///< ids; several where columns do not say which
  std::string when;                   ///< text in a row's options that asks for it; empty: none
  double evaluations = 1.0;           ///< of the network for a sample
  double evaluations_per_step = 0.0;  ///< for each of the row's `steps`; 0: no step
  NetworkSizes sizes;                 ///< that no column states
  std::string runs;                   ///< what the publication runs and no column states ("xla"); empty: nothing
  Seconds host_per_sample{};          ///< serial work of its host beside the network: boxes, masks
  std::string source;
};

[[nodiscard]] const std::vector<NetworkSpelling>& network_spellings(const ModelData& data);
/// The one that a row means; nullptr where its name is no published spelling.
[[nodiscard]] const NetworkSpelling* spelling_of(const ModelData& data, const ServingConfiguration& run);

}  // namespace headroom
