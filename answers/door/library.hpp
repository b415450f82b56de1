// SPDX-License-Identifier: Apache-2.0
// What questions are read against.
#pragma once

#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <string>
#include <vector>

namespace headroom {

/// SKUs, nodes, clusters, prices, models, networks, software, engines, curves and fitted numbers: those of the binary,
/// a user's folders over them. Nothing that an answer is made of is kept beside it, so that two libraries answer side
/// by side. Must outlive every question that was read with it.
struct QuestionLibrary {
  Sources sources;
  NetworkLibrary networks;

  /// What ships, files of `folders` over it; earlier folders win. Broken files are told when they are asked for.
  [[nodiscard]] static QuestionLibrary of(const UserFolders& folders);
  /// Of HEADROOM_DATA_DIR and the user's configuration folder. ConfigError where a file of theirs is broken.
  [[nodiscard]] static QuestionLibrary standard();
};

}  // namespace headroom
