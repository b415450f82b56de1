// SPDX-License-Identifier: Apache-2.0
// Parameters of the laws of video, simulators and policies: model/stacks/step/media.toml.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom::classic {

/// An effect on the frames of a video, as its tables call it.
struct VideoEffect {
  std::string name, title;
  double lines = 720.0;  ///< of the frame that goes in, 16 to 9
  Bytes bytes{};         ///< that a frame moves
  [[nodiscard]] double pixels() const noexcept { return lines * lines * 16.0 / 9.0; }
};
struct SimulatorWork {
  std::string name, title;
  double substeps = 1.0, cameras = 0.0;
  Seconds contact{};  ///< of one environment's substep at 1 TB/s
};
struct PolicyModel {
  std::string name, title;
  double vision = 0.0, view_tokens = 0.0, language = 0.0, prompt = 0.0, action = 0.0;  ///< parameters and tokens
};

struct MediaNumbers {
  struct Video {
    double intensity = 0.0, width = 0.0, surfaces = 1.0, frame_bytes = 0.0;
    Bytes context{};
    std::vector<VideoEffect> effects;
  } video;
  struct Simulator {
    Seconds substep{}, camera{}, sample{}, learn{}, exchange{};
    double width = 0.0;
    std::vector<SimulatorWork> tasks;
  } simulator;
  struct Policy {
    double efficiency = 1.0, width = 0.0;
    Seconds step{};
    std::vector<PolicyModel> models;
  } policy;
};

[[nodiscard]] const MediaNumbers& media_numbers(const ModelData& data);

/// The entry of that name; nullptr: none.
template <class Each>
[[nodiscard]] const Each* of_name(const std::vector<Each>& all, std::string_view name) noexcept {
  for (const Each& each : all) {
    if (each.name == name) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace headroom::classic
