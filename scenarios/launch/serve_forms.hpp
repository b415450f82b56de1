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
/// network), `launch.replicas`, `launch.groups` (attention-DP), `launch.gpus_per_node`, `launch.vendor` (of the SKU),
/// `launch.exchange` (the engine's word for the kernels by which tokens meet their experts, where its launch chooses
/// them) and those of set_traffic().
[[nodiscard]] LaunchPlan serve_keys(const Scenario& scenario, const ServeScenario& serve);

[[nodiscard]] LaunchText vllm_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText sglang_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText tensorrt_llm_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText kubernetes_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText leaderworkerset_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText kserve_text(const LaunchPlan& plan);
[[nodiscard]] LaunchText ray_serve_text(const LaunchPlan& plan);

/// Who spreads a replica over several hosts: the engine's own launch line, or the form around it.
enum class HostsBy : bool { engine, form };
/// Write an engine's options, the model and the address apart; note what they cannot say of ranks and load.
void write_vllm(LaunchWriting& writing, HostsBy hosts);
void write_sglang(LaunchWriting& writing);
/// Returns the YAML of the options that have no flag.
[[nodiscard]] std::string write_tensorrt_llm(LaunchWriting& writing);
/// Words of the engines' benchmarks of a running server, whose model is "$MODEL".
[[nodiscard]] std::vector<std::string> vllm_bench(const BenchLoad& load);
[[nodiscard]] std::vector<std::string> sglang_bench(BenchLoad load);
[[nodiscard]] std::vector<std::string> tensorrt_llm_bench(const BenchLoad& load);

/// Read the launch line of a script, and lengths and concurrency from its benchmark line. TensorRT-LLM has settings in
/// a separate YAML file, so its script is written but not read; the reader reports that.
void read_vllm_text(const ConfigSource& source, LaunchReading& reading);
void read_sglang_text(const ConfigSource& source, LaunchReading& reading);
void read_tensorrt_llm_text(const ConfigSource& source, LaunchReading& reading);
void read_cluster_text(const ConfigSource& source, LaunchReading& reading);  ///< always refused, with the way out

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

/// One server a replica, as a cluster starts them.
struct Replicas {
  LaunchPlan one;              ///< the plan with one replica, and with the whole load
  std::int64_t count = 1;      ///< replicas, spare ones too
  std::int64_t spare = 0;      ///< of them
  std::int64_t gpus = 1;       ///< of a replica
  std::int64_t hosts = 1;      ///< of a replica
  std::int64_t host_gpus = 1;  ///< GPUs of a replica on each of its hosts
};
/// Throws ConfigError when a replica of several hosts does not fill them.
[[nodiscard]] Replicas replicas_of(const LaunchPlan& plan);

/// An id as a name of Kubernetes: at most 50 lower-case letters, digits and inner hyphens (RFC 1123, section 2.1).
[[nodiscard]] std::string cluster_name(std::string_view id);

/// The resource by which a pod asks for a GPU: its vendor's, "nvidia.com/gpu"; of an instance of MIG the name of its
/// profile, "nvidia.com/mig-1g.10gb" (NVIDIA's device plugin, strategy mixed).
[[nodiscard]] std::string gpu_resource(const LaunchPlan& plan);

/// Name of the checkpoint: its repository, else the id of the network.
[[nodiscard]] std::string checkpoint_of(const LaunchPlan& plan);

/// A word of a pod's command as it is: Kubernetes replaces $(NAME) in arguments and takes $$ for $.
[[nodiscard]] std::string pod_word(std::string word);

/// "repository:tag" of an engine's release; `tag` precedes its number. Without a release the tag is latest, with a
/// note.
[[nodiscard]] std::string engine_image(std::string repository, std::string_view tag, LaunchWriting& writing);

/// A list of texts.
[[nodiscard]] ConfigValue words_value(const std::vector<std::string>& words);

/// Options as words of a process, unquoted: "--tensor-parallel-size", "8".
[[nodiscard]] std::vector<std::string> arguments_of_items(const LaunchItems& items);

/// A benchmark of the whole load at an address as one line of a comment.
[[nodiscard]] std::string bench_comment(const Replicas& replicas,
                                        std::vector<std::string> words,
                                        const std::string& address);

/// Sentence on the replicas at the head of a file: "2 replicas of 8 GPUs, 1 of them spare".
[[nodiscard]] std::string replica_words(const Replicas& replicas);

}  // namespace headroom::launch
