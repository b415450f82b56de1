// SPDX-License-Identifier: Apache-2.0
// Launch lines of serving engines, and what they share.
#pragma once

#include <headroom/scenarios/launch/bench_load.hpp>
#include <headroom/scenarios/launch/launch_forms.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::launch {

/// Keys of a serving scenario. Additional keys: `launch.kind` ("serve"), `launch.checkpoint` (repository of the
/// network), `launch.replicas`, `launch.groups` (attention-DP), `launch.gpus_per_node`, and those of set_traffic().
[[nodiscard]] LaunchPlan serve_keys(const Scenario& scenario, const ServeScenario& serve);

[[nodiscard]] LaunchText vllm_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText sglang_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText tensorrt_llm_text(const LaunchPlan& plan);

/// Read the launch line of a script, and lengths and concurrency from its benchmark line. TensorRT-LLM has settings in
/// a separate YAML file, so its script is written but not read; the reader reports that.
void read_vllm_text(const ConfigSource& source, LaunchReading& reading);
void read_sglang_text(const ConfigSource& source, LaunchReading& reading);
void read_tensorrt_llm_text(const ConfigSource& source, LaunchReading& reading);

/// Writes --dtype and --quantization of vLLM and SGLang: 16- and 32-bit formats by name; fp8 is converted from a 16-bit
/// checkpoint; any other format is the checkpoint's, with a note.
void write_weights(LaunchWriting& writing);
/// Reads --dtype and --quantization; `auto` sets nothing.
void read_weights(const LaunchItems& items, LaunchReading& reading);
/// Writes or reads the cache's format. A 16-bit cache is `auto`, without a flag; `fp8` is the form's word; note_gaps
/// handles others. Reading needs the weights, whose width `auto` refers to.
void write_cache(LaunchWriting& writing, std::string_view flag, std::string_view fp8);
void read_cache(const LaunchItems& items, std::string_view flag, LaunchReading& reading);
/// Reads a memory fraction, 0 to 1.
void read_fraction(const LaunchItems& items, std::string_view flag, LaunchReading& reading);
void read_checkpoint(const ConfigValue& value, LaunchReading& reading);

/// Notes the keys that `form`, the engine, cannot express.
void note_serving_gaps(std::string_view form, LaunchWriting& writing);

/// Comment on the two commands of a file: "starts the server, 'bash FILE bench' ... loads it as the plan does". With
/// disaggregated prefill no single server gets the plan's load.
[[nodiscard]] std::string bench_promise(const LaunchPlan& plan);

/// Another spelling (`theirs`) of the flag `name`.
struct FlagAlias {
  std::string_view theirs, name;
};
/// Words after `words` in the command that contains them in that order; nullopt without one. Underscores in flags
/// become hyphens, and aliases such as "-tp" are replaced.
[[nodiscard]] std::optional<std::vector<ShellWord>> command_behind(const ShellScript& script,
                                                                   std::span<const std::string_view> words,
                                                                   std::span<const FlagAlias> aliases);
/// Whole file: notes, the checkpoint, and two commands; the argument `bench` selects the second.
struct ServeScript {
  std::vector<std::string> head;    ///< comment lines
  std::string before;               ///< lines before both commands
  std::vector<std::string> server;  ///< words, one option per entry
  std::vector<std::vector<std::string>> bench;
};
[[nodiscard]] LaunchText script_text(const LaunchPlan& plan, const LaunchWriting& writing, const ServeScript& script);

}  // namespace headroom::launch
