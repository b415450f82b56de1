// SPDX-License-Identifier: Apache-2.0
// What a serving engine does with a GPU's memory: its fraction and what that is of, its limits, what it keeps aside.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
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

enum class Engine : std::uint8_t { vllm, tensorrt_llm, sglang };
inline constexpr std::array<std::string_view, 3> engine_names{"vllm", "tensorrt-llm", "sglang"};
/// As their makers spell them.
inline constexpr std::array<std::string_view, 3> engine_titles{"vLLM", "TensorRT-LLM", "SGLang"};
/// Their options for the longest sequence, whose default is the model's positions.
inline constexpr std::array<std::string_view, 3> length_flags{"--max-model-len", "--max_seq_len", "--context-length"};

/// What a memory fraction is a fraction of: all that a program sees (vLLM), what is free once the engine is loaded
/// (TensorRT-LLM), or the part that weights and KV cache may take of what is free before loading (SGLang).
enum class FractionOf : std::uint8_t { total, free, fixed_share };
inline constexpr std::array<std::string_view, 3> fraction_of_names{"total", "free", "static"};

/// What a stack's memory was compared with: measured rows, start-up logs, or nothing yet.
enum class MemoryBasis : std::uint8_t { rows, logs, nothing };
inline constexpr std::array<std::string_view, 3> memory_basis_names{"rows", "logs", "nothing"};

/// The numbers of a stack that the hot path reads.
struct EngineMemory {
  FractionOf fraction_of = FractionOf::total;
  std::array<double, 5> fraction{};  ///< default, by log2 of tp
  std::int64_t block_tokens = 1;     ///< tokens of one KV block (Kwon et al. 2023)
  double wide_bytes = 0.0;           ///< activation per scheduled token and FFN unit, 16-bit GEMM
  double quantised_bytes = 0.0;      ///< the same with quantised GEMM
  double logit_bytes = 0.0;          ///< activation per sequence and vocabulary entry
  Bytes framework{};                 ///< context, runtime, workspaces
  Bytes framework_per_doubling{};    ///< more for each doubling of the replica's ranks
  Bytes graphs{};                    ///< CUDA graphs
  Bytes uncertainty{};               ///< of the KV pool, 80 %
};

struct ServingStack {
  std::string id, name, file;
  Engine engine = Engine::vllm;
  EngineMemory memory;
  MemoryBasis basis = MemoryBasis::nothing;
  std::int64_t max_num_seqs = 1;
  std::int64_t max_num_tokens = 1;
  std::int64_t large_max_num_seqs = 0;  ///< 0: the same on every device
  std::int64_t large_max_num_tokens = 0;
  Bytes large_from{};
  std::string large_except;  ///< a generation
  /// Releases that it stands for: as measured rows spell the engine, and versions from `from` on but before `before`.
  std::string base;  ///< stack that it inherits from; empty: none
  std::vector<std::string> names;
  std::string from, before;
  std::string release;  ///< that was asked for; empty: the current one
  /// Mean prompt of the data that a benchmark's harness sends each model, by id; rows of such runs leave it out.
  std::map<std::string, double, std::less<>> prompts;
  SchedulerRules scheduler;
  IterationStack time;
  std::vector<FormerExperts> former_experts;
  std::vector<AllToAllRule> all_to_all;  ///< the first that holds for a layout; none: an all-gather
  std::string fraction_source, limits_source, activation_source, framework_source, graphs_source, uncertainty_source;

  /// The engine's own default at a tp; between the powers of two the lower one's.
  [[nodiscard]] double default_fraction(std::int64_t tp) const noexcept;
  [[nodiscard]] std::int64_t default_max_num_seqs(const Device& device) const;
  [[nodiscard]] std::int64_t default_max_num_tokens(const Device& device) const;
  /// The families that a release ran alone; none of one that is empty or no number, which is the current one.
  [[nodiscard]] std::vector<ExpertFamily> expert_families(std::string_view version) const;
  /// Whether a request holds the blocks of its whole output from its start.
  [[nodiscard]] bool reserves_output() const noexcept { return scheduler.reservation == Reservation::whole; }
};

[[nodiscard]] ServingStack read_serving_stack(const ConfigValue& root,
                                              const std::string& file,
                                              Diagnostics& diagnostics);

/// The embedded stack of an engine's current release, user folders first. ConfigError when it is broken.
[[nodiscard]] ServingStack find_serving_stack(Engine engine);
/// The embedded stack of one of its releases. ConfigError when the text starts with no number.
[[nodiscard]] ServingStack find_serving_stack(Engine engine, std::string_view version);

/// Every stack, each with what it inherits.
[[nodiscard]] std::vector<ServingStack> serving_stacks();

/// What stands for the kernels of a release of the engine; routing is that of the physics.
[[nodiscard]] EngineKernels engine_kernels(const ServingStack& stack,
                                           const IterationPhysics& physics,
                                           std::string_view version);

/// The stack of an engine and version as rows spell them: of those with the name the one whose versions hold it, else
/// the one without bounds. nullptr: no stack has the name. Versions compare number by number ("0.10" > "0.9").
[[nodiscard]] const ServingStack* stack_of_release(std::span<const ServingStack> stacks,
                                                   std::string_view engine,
                                                   std::string_view version) noexcept;

}  // namespace headroom
