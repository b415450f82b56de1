// SPDX-License-Identifier: Apache-2.0
// Parameters of a step with numbers of their own, for tests of its equations: what a fit moves, moves none of these.
#pragma once

#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/train/software/step_stack.hpp>

namespace headroom::test {

/// Overlaps nothing and reaches the measured rates. `host` is a layer's, forward.
[[nodiscard]] inline StepStack stated_stack() {
  StepStack stack;
  stack.host = Seconds{350e-6};
  stack.elementwise = 1.05;
  stack.gemm = 1.0;
  stack.accumulation_bytes = 9.2;
  stack.dp_overlap = stack.tp_overlap = 0.0;
  stack.p2p_exposed = 0.3;
  stack.attention_kernel = "flash2";
  stack.attention = 0.8;
  stack.link = stack.nic = 1.0;
  stack.gradient_bytes = 4.0;
  stack.source = "stated by the test";
  return stack;
}

/// The habits of a software in memory, with the step's times as stated here.
[[nodiscard]] inline MemoryStack stated_software(const MemoryStack& software, const StepStack& stack) {
  MemoryStack own = software;
  own.time = {stack, stack};
  return own;
}

/// Of every SKU alike: 16-bit products at 1.1 times the measured kernels, attention 1.2 times as fast.
[[nodiscard]] inline StepParameters stated_parameters() {
  StepParameters all;
  StepPhysics& p = all.physics;
  p.bandwidth = 0.78;
  p.unfused_rate = 0.6;
  p.score_bytes = 11.8;
  p.unaligned = 20.0;
  p.logit_bytes = 28.0;
  p.overlap_slowdown = 0.15;
  p.expert_overlap = 1.0;
  p.straggler = 0.0094;
  p.cast = 1.0;
  p.fp8_host = 0.85;
  p.fp4_time = 0.5;
  p.tp_host = 0.1;
  p.latent_launches = 5.0;
  p.collective_launches = 11.0;
  p.count_launches = 4.0;
  p.nic = 0.9;
  p.cp_overlap = 0.51;
  p.exchange = Seconds{15e-6};
  p.optimizer_bytes = 40.0;
  p.compiled = 0.75;
  p.async_tp = 0.7;
  p.graph_node = Seconds{0.5e-6};
  p.graph_nodes = 16.0;
  p.offload_overlap = 0.9;
  p.host_update = Seconds{0.257e-9};
  p.adapter_passes = 1.0;
  p.host_update_bytes = 30.0;
  p.host_bandwidth = 0.46;
  p.power_clock = 0.4;
  p.early_cudnn = 0.85;
  p.fast_attention = 0.6;
  p.ultra_attention = 1.3;
  p.fp8_attention = 0.75;
  const ConfigValue levels = parse_toml(R"(
schema = 1
id = "levels"
[levels.any]
products_16_bit = 1.1
products_8_bit = 1.0
attention = 1.2
source = "stated by the test"
)",
                                        "levels.toml");
  Diagnostics diagnostics;
  all.levels = StepLevels::read(levels, "levels.toml", diagnostics);
  diagnostics.throw_if_any();
  return all;
}

}  // namespace headroom::test
