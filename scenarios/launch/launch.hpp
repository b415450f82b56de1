// SPDX-License-Identifier: Apache-2.0
// Writes training and serving plans as launch files of other programs, and reads such files back as scenarios.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class LaunchForm : std::uint8_t {
  megatron,
  nemo,
  torchtitan,
  deepspeed,
  torchrun,
  slurm,
  vllm,
  sglang,
  tensorrt_llm,
  kubernetes,
  leaderworkerset,
  kserve,
  ray_serve
};
inline constexpr std::array<std::string_view, 13> launch_form_names{
    "megatron", "nemo",         "torchtitan", "deepspeed",       "torchrun", "slurm",    "vllm",
    "sglang",   "tensorrt-llm", "kubernetes", "leaderworkerset", "kserve",   "ray-serve"};
/// Whether the form serves: an engine's own script, or servers that a cluster starts. These forms come last in the
/// enum.
[[nodiscard]] constexpr bool serves(LaunchForm form) noexcept {
  return form >= LaunchForm::vllm;
}

/// What a form cannot express.
struct LaunchNote {
  std::string key;   ///< of the plan: "strategy.vpp"
  std::string text;  ///< "strategy.vpp = 3 (why)", the key with it
  /// Whether it is of the network itself: the launch trains or serves another.
  [[nodiscard]] bool of_network() const noexcept { return key == "model" || key.starts_with("model."); }
};

struct ExportedLaunch {
  std::string text;
  std::vector<LaunchNote> notes;  ///< also in the text's comments where the form has any
  bool has_comments = true;
};
/// Launch file of a training scenario under a strategy without open axes. Throws ConfigError when the form cannot
/// express it at all, e.g. GPUs that do not fill whole nodes.
[[nodiscard]] ExportedLaunch export_launch(const Scenario& scenario,
                                           const TrainScenario& train,
                                           const Strategy& strategy,
                                           LaunchForm form);

/// Launch file of a serving scenario for its engine or for a cluster that starts it, with the benchmark that would
/// check the plan. Throws ConfigError when the form belongs to another engine or cannot express the layout.
[[nodiscard]] ExportedLaunch export_launch(const Scenario& scenario, const ServeScenario& serve, LaunchForm form);

struct ImportRequest {
  std::optional<LaunchForm> from;        ///< absent: recognised from the text
  std::vector<std::string> assignments;  ///< "hardware.gpus=512": settings that override the file
  bool ignore_unknown = false;           ///< whether unknown flags become remarks instead of errors
};
struct ImportedLaunch {
  LaunchForm form = LaunchForm::megatron;
  Scenario scenario;
  std::string toml;                  ///< text of the scenario file
  std::vector<std::string> remarks;  ///< lines such as "FILE:LINE: ignored: --lr 3e-4"
};
/// Reads a launch file. Throws ConfigError with every problem: syntax, unknown flags, wrong values, contradictions,
/// missing settings, broken rules of the strategy. `sources` must outlive the scenario.
[[nodiscard]] ImportedLaunch import_launch(const ConfigSource& source,
                                           const ImportRequest& request,
                                           const Sources& sources);

/// Form of a text; nullopt when none is recognised.
[[nodiscard]] std::optional<LaunchForm> form_of(std::string_view text);

}  // namespace headroom
