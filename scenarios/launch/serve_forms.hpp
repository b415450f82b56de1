// SPDX-License-Identifier: Apache-2.0
// Launch lines of serving engines, what they share.
#pragma once

#include <headroom/scenarios/launch/bench_load.hpp>
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

/// A serving scenario as keys. Beside those of a scenario: `launch.kind` ("serve"), `launch.checkpoint`, the repository
/// that the network was read from, `launch.replicas`, `launch.groups` (attention-DP), `launch.gpus_per_node`, and those
/// of set_traffic().
[[nodiscard]] LaunchPlan serve_keys(const Scenario& scenario, const ServeScenario& serve);

[[nodiscard]] LaunchText vllm_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText sglang_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText tensorrt_llm_text(const LaunchPlan& plan);

/// Each reads the launch line of a script, and of its benchmark line lengths and concurrency. TensorRT-LLM's settings
/// lie in a YAML file beside its line: it is written and not read, which the reader says.
void read_vllm_text(const ConfigSource& source, LaunchReading& reading);
void read_sglang_text(const ConfigSource& source, LaunchReading& reading);
void read_tensorrt_llm_text(const ConfigSource& source, LaunchReading& reading);

/// --dtype, --quantization of vLLM and SGLang: 16- and 32-bit formats by name; fp8 is made from a 16-bit checkpoint
/// while loading; any other comes with the checkpoint, which is noted.
void write_weights(LaunchWriting& writing);
/// The reverse; `auto` says nothing.
void read_weights(const LaunchItems& items, LaunchReading& reading);
/// A cache as wide as the 16-bit format is `auto`: no flag. `fp8` is the form's word; others are left to note_gaps.
/// Read after the weights, whose width `auto` is.
void write_cache(LaunchWriting& writing, std::string_view flag, std::string_view fp8);
void read_cache(const LaunchItems& items, std::string_view flag, LaunchReading& reading);
/// A share as a number between 0 and 1.
void read_fraction(const LaunchItems& items, std::string_view flag, LaunchReading& reading);
void read_checkpoint(const ConfigValue& value, LaunchReading& reading);

/// Notes the keys without a place in `form`, the engine's name.
void note_serving_gaps(std::string_view form, LaunchWriting& writing);

/// What the two commands of a file do: "starts the server, 'bash FILE bench' ... loads it as the plan does". With
/// prompts on servers of their own no single server gets the plan's load.
[[nodiscard]] std::string bench_promise(const LaunchPlan& plan);

/// Another spelling of a flag.
struct FlagAlias {
  std::string_view theirs, name;
};
/// The words of the command that holds `words` in that order, from behind them; nullopt: there is none. Underscores in
/// flags are hyphens, "-tp" and its like are spelled out.
[[nodiscard]] std::optional<std::vector<ShellWord>> command_behind(const ShellScript& script,
                                                                   std::span<const std::string_view> words,
                                                                   std::span<const FlagAlias> aliases);
/// The whole file: what is not expressed, the checkpoint, and the two commands, of which an argument `bench` takes the
/// second.
struct ServeScript {
  std::vector<std::string> head;    ///< comments
  std::string before;               ///< lines in front of both commands
  std::vector<std::string> server;  ///< words, one option an entry
  std::vector<std::vector<std::string>> bench;
};
[[nodiscard]] LaunchText script_text(const LaunchPlan& plan, const LaunchWriting& writing, const ServeScript& script);

}  // namespace headroom::launch
