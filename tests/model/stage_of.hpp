// SPDX-License-Identifier: Apache-2.0
// One stage of a known network on a known software: what the tests of stage memory share.
#pragma once

#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/workload/model_library.hpp>

#include "../support/model_data.hpp"

namespace headroom {

inline constexpr double gib = 0x1p30;

inline const MemoryStacks& stacks() {
  static const MemoryStacks all = memory_stacks(test::model_data());
  return all;
}

inline Architecture slice(std::string_view preset, std::int64_t layers, std::int64_t kv_heads) {
  Architecture arch = ModelLibrary::standard().find(preset);
  arch.layers = layers;
  arch.kv_heads = kv_heads;
  return arch;
}

inline Strategy strategy(int tp, int pp, int dp, int cp = 1, int vpp = 1) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.pp = static_cast<std::uint16_t>(pp);
  s.dp = static_cast<std::uint32_t>(dp);
  s.cp = static_cast<std::uint16_t>(cp);
  s.vpp = static_cast<std::uint16_t>(vpp);
  s.zero = 1;
  s.sequence_parallel = tp > 1;
  return s;
}

inline CompiledMemory compiled(const Architecture& arch,
                               std::string_view stack,
                               std::int64_t seq_len,
                               Precision precision = Precision::bf16,
                               MemoryOptions options = {},
                               std::string_view generation = "hopper") {
  const MemoryStack& software = stacks().find(stack);
  return compile_memory(arch, software, software.states_of(precision, generation), precision, options, seq_len,
                        Bytes{192 * gib});
}

inline StageMemory stage(const CompiledMemory& c, const Strategy& s, double micro_batches, std::int64_t index = 0) {
  return stage_memory(c, tabulate_memory(c, {s.tp, s.cp, s.ep, s.etp, s.micro_batch, s.sequence_parallel, s.recompute}),
                      s, micro_batches, index);
}

inline double states(const StageMemory& m) {
  return (m.bytes[MemoryTerm::weights] + m.bytes[MemoryTerm::gradients] + m.bytes[MemoryTerm::optimizer]).raw() / gib;
}
inline double in_gib(const StageMemory& m, MemoryTerm term) {
  return m.bytes[term].raw() / gib;
}

}  // namespace headroom
