// SPDX-License-Identifier: Apache-2.0
// The start-up log of a serving engine: what it says of its KV cache, and the memory of a plan put right by it.
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

/// What lines of a log may state. Of several ranks' lines the smallest cache and the largest of all else counts.
enum class LogFact : std::uint8_t {
  tokens,  ///< that the KV pool holds
  blocks,  ///< the same in blocks
  pool,    ///< bytes on a GPU
  keys,
  values,       ///< the two halves of the pool, bytes on a GPU
  weights,      ///< bytes on a GPU
  activations,  ///< bytes, the peak of the profiling run
  graphs,       ///< bytes of CUDA graphs
  fraction,     ///< the memory fraction that the engine was given
  tp,           ///< as the engine counts tensor ranks
  pp,
  block_tokens,
  longest,      ///< tokens of the longest sequence
  concurrency,  ///< such sequences that the pool holds
  device,       ///< bytes that the engine saw of the GPU
};
inline constexpr std::size_t log_facts = static_cast<std::size_t>(LogFact::device) + 1;

/// Facts with the line that each stands in; bytes are bytes.
struct EngineLog {
  std::string file;
  Engine engine = Engine::vllm;
  struct Fact {
    double value = 0.0;
    int line = 0;  ///< 0: not said
  };
  std::array<Fact, log_facts> facts{};
  [[nodiscard]] const Fact& operator[](LogFact fact) const noexcept { return facts[static_cast<std::size_t>(fact)]; }
  [[nodiscard]] bool says(LogFact fact) const noexcept { return (*this)[fact].line > 0; }
};

/// Reads the lines of one engine; lines that say nothing of memory are passed over. ConfigError when no line says how
/// large the KV cache is: it lists those that are looked for, or names the engine whose log this is.
[[nodiscard]] EngineLog read_engine_log(const ConfigSource& source, Engine engine);

/// Puts the memory of `serve` right: the KV pool is the log's, its CUDA graphs and activations too where it says them,
/// and the framework takes what is left. The interval becomes the log's rounding. Notes say what had been predicted and
/// by how much the log differs. ConfigError where the log is of another layout
/// or SKU, or its cache of another width.
[[nodiscard]] std::vector<std::string> calibrate_memory(const EngineLog& log, ServeScenario& serve);

}  // namespace headroom
