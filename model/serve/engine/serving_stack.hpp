// SPDX-License-Identifier: Apache-2.0
// How a serving engine uses a GPU's memory: its memory fraction, its limits, and what it reserves.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/engine/engine_list.hpp>
#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// What an engine does in all of its releases.
struct EngineHabits {
  std::string length_option;           ///< option for the longest sequence; the default is the model's maximum position
  bool chunks_prompts = true;          ///< prompts are chunked unless the engine is told otherwise
  bool narrows_cache = false;          ///< the KV cache is fp8 where weights are 8 or 4 bits wide
  bool tokens_hold_sequences = false;  ///< max_num_tokens below max_num_seqs is refused at start
};

/// The base of a memory fraction: all memory that a program sees (vLLM), what is free after loading (TensorRT-LLM), or
/// what is free before loading, of which weights and KV cache may take the fraction (SGLang).
enum class FractionOf : std::uint8_t { total, free, fixed_share };
inline constexpr std::array<std::string_view, 3> fraction_of_names{"total", "free", "static"};

/// The evidence behind a stack's memory: measured rows, start-up logs, or none yet.
enum class MemoryBasis : std::uint8_t { rows, logs, nothing };
inline constexpr std::array<std::string_view, 3> memory_basis_names{"rows", "logs", "nothing"};

/// The numbers of a stack that the hot path reads.
struct EngineMemory {
  FractionOf fraction_of = FractionOf::total;
  std::array<double, 5> fraction{};  ///< default memory fraction (0 to 1), by log2 of tp
  std::int64_t block_tokens = 1;     ///< tokens of one KV block (Kwon et al. 2023)
  double wide_bytes = 0.0;           ///< activation bytes per scheduled token and FFN unit with 16-bit GEMM
  double quantised_bytes = 0.0;      ///< activation bytes per scheduled token and FFN unit with quantised GEMM
  double logit_bytes = 0.0;          ///< activation bytes per sequence and vocabulary entry
  Bytes framework{};                 ///< bytes of context, runtime and workspaces
  Bytes framework_per_doubling{};    ///< additional bytes per doubling of the replica's ranks
  Bytes graphs{};                    ///< bytes of CUDA graphs
  Bytes uncertainty{};               ///< half-width of the 80 % interval of the KV pool
};

struct ServingStack {
  std::string id, name, file;
  Engine engine = Engine::vllm;
  EngineHabits habits;
  EngineMemory memory;
  MemoryBasis basis = MemoryBasis::nothing;
  std::int64_t max_num_seqs = 1;
  std::int64_t max_num_tokens = 1;
  std::int64_t large_max_num_seqs = 0;  ///< limit on devices from `large_from` on; 0: as on all devices
  std::int64_t large_max_num_tokens = 0;
  /// Memory from which a device takes the large limits.
  Bytes large_from{};
  std::string large_except;  ///< generation that never takes the large limits
  /// Releases that the stack represents: `names` as rows spell the engine, versions >= `from` and < `before`.
  std::string base;  ///< stack that it inherits from; empty: none
  std::vector<std::string> names;
  std::string from, before;
  /// Word before the number that these bounds compare, in versions that list what a container holds ("TensorRT 10.8,
  /// CUDA 12.8"); empty: a version is its number.
  std::string component;
  std::string release;  ///< requested release; empty: the current one
  /// Mean prompt tokens of a benchmark's data by model id, for rows that do not state them.
  std::map<std::string, double, std::less<>> prompts;
  SchedulerRules scheduler;
  IterationStack time;
  std::vector<FormerExperts> former_experts;
  std::vector<GenerationKernels> generation_kernels;
  SharedExperts shared_experts;
  JoinedNorms joined_norms;
  std::vector<AllToAllRule> all_to_all;  ///< the first rule that matches a layout applies; none: an all-gather
  std::string fraction_source, limits_source, activation_source, framework_source, graphs_source, uncertainty_source;

  /// The engine's default fraction at a tp; between powers of two that of the lower one.
  [[nodiscard]] double default_fraction(std::int64_t tp) const noexcept;
  [[nodiscard]] std::int64_t default_max_num_seqs(const Device& device) const;
  [[nodiscard]] std::int64_t default_max_num_tokens(const Device& device) const;
  /// Families that a release was limited to; none for the current release, which is an empty or non-numeric version.
  [[nodiscard]] std::vector<ExpertFamily> expert_families(std::string_view version) const;
  /// Most tokens of an iteration in which a release runs shared experts beside the routed ones; 0: it never does.
  [[nodiscard]] double shared_beside(std::string_view version) const;
  /// Whether a release joins a norm over all heads with the reduction of its sums.
  [[nodiscard]] bool joins_norms(std::string_view version) const;
  /// The rules of `all_to_all` that a release has; all of them for the current release, as above.
  [[nodiscard]] std::vector<AllToAllRule> exchange_rules(std::string_view version) const;
  /// Whether a request reserves the blocks of its whole output at the start.
  [[nodiscard]] bool reserves_output() const noexcept { return scheduler.reservation == Reservation::whole; }
};

[[nodiscard]] ServingStack read_serving_stack(const ConfigValue& root,
                                              const std::string& file,
                                              Diagnostics& diagnostics);

/// The stack of an engine's current release. ConfigError if it is invalid.
[[nodiscard]] const ServingStack& find_serving_stack(const ModelData& data, Engine engine);
/// The stack of one of the engine's releases. ConfigError if the version does not start with a number.
[[nodiscard]] ServingStack find_serving_stack(const ModelData& data, Engine engine, std::string_view version);

/// All stacks, each merged with its bases. ConfigError with all that is wrong in them.
[[nodiscard]] const std::vector<ServingStack>& serving_stacks(const ModelData& data);

/// The kernels that represent a release of the engine, with the routing exponent of `physics`.
[[nodiscard]] EngineKernels engine_kernels(const ServingStack& stack,
                                           const IterationPhysics& physics,
                                           std::string_view version);

/// The stack of an engine and version as rows spell them: among the stacks with the name, the one whose bounds contain
/// the version, else the one without bounds. nullptr if no stack has the name. Versions compare numerically ("0.10" >
/// "0.9").
[[nodiscard]] const ServingStack* stack_of_release(std::span<const ServingStack> stacks,
                                                   std::string_view engine,
                                                   std::string_view version) noexcept;

}  // namespace headroom
