// SPDX-License-Identifier: Apache-2.0
// What questions are read against.
#pragma once

#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/question/scenario.hpp>

namespace headroom {

/// SKUs, nodes, clusters, prices, models and networks: those of the binary, a user's folders over them. Must outlive
/// every question that was read with it.
struct QuestionLibrary {
  Sources sources;
  NetworkLibrary networks;

  /// Of HEADROOM_DATA_DIR and the user's configuration folder. ConfigError where a file of theirs is broken.
  [[nodiscard]] static QuestionLibrary standard();
};

}  // namespace headroom
