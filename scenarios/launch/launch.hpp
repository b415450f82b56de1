// SPDX-License-Identifier: Apache-2.0
// Plans as launch files of other programs, training and serving, and such files back as scenarios.
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
  tensorrt_llm
};
inline constexpr std::array<std::string_view, 9> launch_form_names{
    "megatron", "nemo", "torchtitan", "deepspeed", "torchrun", "slurm", "vllm", "sglang", "tensorrt-llm"};
/// Whether the form launches a serving engine.
[[nodiscard]] constexpr bool serves(LaunchForm form) noexcept {
  return form >= LaunchForm::vllm;
}

struct ExportedLaunch {
  std::string text;
  /// What the form does not express, "strategy.vpp = 3 (why)"; also in the text's comments, but for JSON.
  std::vector<std::string> notes;
  bool has_comments = true;
};
/// A training scenario under a strategy whose axes are closed. ConfigError where the form cannot say it at all: GPUs
/// that do not fill whole nodes on a launch line.
[[nodiscard]] ExportedLaunch export_launch(const Scenario& scenario,
                                           const TrainScenario& train,
                                           const Strategy& strategy,
                                           LaunchForm form);

/// A serving scenario for its engine, with the benchmark that would check the plan. ConfigError where the form is
/// another engine's, or has no flag for the layout.
[[nodiscard]] ExportedLaunch export_launch(const Scenario& scenario, const ServeScenario& serve, LaunchForm form);

struct ImportRequest {
  std::optional<LaunchForm> from;        ///< blank: guessed from the text
  std::vector<std::string> assignments;  ///< "hardware.gpus=512": what the file does not say; they win
  bool ignore_unknown = false;           ///< flags nobody knows are remarked instead of refused
};
struct ImportedLaunch {
  LaunchForm form = LaunchForm::megatron;
  Scenario scenario;
  std::string toml;                  ///< the scenario file
  std::vector<std::string> remarks;  ///< "FILE:LINE: ignored: --lr 3e-4"
};
/// Reads a launch file. ConfigError with every problem at once: syntax, unknown flags, wrong values, contradictions,
/// what is missing, rules of the strategy that are broken. `sources` must outlive the scenario.
[[nodiscard]] ImportedLaunch import_launch(const ConfigSource& source,
                                           const ImportRequest& request,
                                           const Sources& sources);

/// The form that a text has; nullopt: none is recognised.
[[nodiscard]] std::optional<LaunchForm> form_of(std::string_view text);

}  // namespace headroom
