// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/probes_simulated.hpp>
#include <headroom/calibrate/measure/unit_laws.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/laboratory/banks.hpp>
#include <headroom/model/laboratory/divergence.hpp>
#include <headroom/model/laboratory/latency_hiding.hpp>

#include <cstddef>
#include <vector>

namespace headroom {
namespace {

bool has_half_rate(const SimulatedDevice& device) {
  return device.datasheet.peak[static_cast<std::size_t>(Rate::bf16)].has_value();
}

template <class Probe>
AttentionShape shape_of(const Probe& p, std::int64_t tokens, std::int64_t context, bool causal) {
  AttentionShape shape;
  shape.batch = static_cast<double>(p.batch);
  shape.tokens = static_cast<double>(tokens);
  shape.context = static_cast<double>(context);
  shape.heads = static_cast<double>(p.heads);
  shape.kv_heads = static_cast<double>(p.kv_heads);
  shape.head_dim = static_cast<double>(p.head_dim);
  shape.causal = causal;
  return shape;
}

/// Of a pass that reads so many bytes and writes next to nothing.
double reading_time(const SimulatedDevice& device, double bytes) {
  const KernelDevice limits{FlopsPerSecond{1.0}, device.datasheet.bandwidth(), static_cast<double>(device.facts.sms),
                            device.facts.l2};
  return MemoryModel{device.copy, limits}.time({Bytes{bytes}, Bytes{}, 0.0}).raw();
}

}  // namespace

std::optional<double> simulated_time(const SimulatedDevice& device, const AttentionProbe& p) {
  if (!has_half_rate(device)) {
    return std::nullopt;
  }
  const TrainingAttentionModel model{prior_values(training_attention_parameters()),
                                     kernel_device(device.datasheet, Rate::bf16), AttentionAlgorithm::fused};
  return model
      .time(shape_of(p, p.tokens, p.tokens, p.causal), p.backward ? AttentionPass::backward : AttentionPass::forward)
      .raw();
}

std::optional<double> simulated_time(const SimulatedDevice& device, const DecodeProbe& p) {
  if (!has_half_rate(device)) {
    return std::nullopt;
  }
  const DecodeModel model{prior_values(decode_parameters()), kernel_device(device.datasheet, Rate::bf16),
                          *find_attention_format("bf16/bf16")};
  return model.time(shape_of(p, 1, p.context, true)).raw();
}

std::optional<double> simulated_time(const SimulatedDevice& device, const PassProbe& p) {
  const KernelDevice limits{FlopsPerSecond{1.0}, device.datasheet.bandwidth(), static_cast<double>(device.facts.sms),
                            device.facts.l2};
  const double kernels = p.op == PassOp::chain ? static_cast<double>(chain_steps) : 1.0;
  const double rows = p.op == PassOp::reduce ? static_cast<double>(p.rows()) : 0.0;
  const MemoryOp pass{Bytes{static_cast<double>(p.read()) / kernels}, Bytes{static_cast<double>(p.written()) / kernels},
                      rows};
  return kernels * MemoryModel{device.copy, limits}.time(pass).raw();
}

std::optional<double> simulated_time(const SimulatedDevice& device, const TransferProbe& p) {
  const bool pageable =
      p.op == TransferOp::h2d_pageable || p.op == TransferOp::d2h_pageable || p.op == TransferOp::both_pageable;
  const BytesPerSecond rate = pageable ? device.pageable : device.pinned;
  if (rate <= BytesPerSecond{} || is_peer(p.op)) {
    return std::nullopt;
  }
  // Both directions at once take as long as one, because the link is full duplex.
  return (device.transfer + Bytes{static_cast<double>(p.bytes)} / rate).raw();
}

std::optional<double> simulated_time(const SimulatedDevice& device, const UnitProbe& p) {
  constexpr double sector = 32.0;
  constexpr double word = 16.0;
  const auto sms = static_cast<double>(device.facts.sms);
  const auto count = static_cast<double>(p.count);
  const double launch = device.copy[static_cast<std::size_t>(MemoryParameter::launch)];
  const double ctas = sms * static_cast<double>(probes::unit_blocks_per_sm);
  const double threads = ctas * static_cast<double>(probes::unit_block_threads);
  const double warps = count / static_cast<double>(warp_lanes);
  switch (p.op) {
    case UnitOp::stride: return reading_time(device, sector * warps * static_cast<double>(sectors_of_warp(p.width)));
    case UnitOp::offset: return reading_time(device, sector * warps * static_cast<double>(sectors_of_warp(1)));
    case UnitOp::random: return reading_time(device, sector * count);
    case UnitOp::banks: {
      const auto& clock = device.datasheet.compute.clock;
      const double loads = threads / sms / static_cast<double>(warp_lanes) * count;  // of warps, on an SM; one a clock
      return clock ? std::optional{launch + loads * static_cast<double>(conflict_degree(p.width, AccessUnit{}.banks)) /
                                                clock->value.raw()}
                   : std::nullopt;
    }
    case UnitOp::diverge: {
      const auto& peak = device.datasheet.peak[static_cast<std::size_t>(Rate::fp32_vector)];
      const std::vector<double> paths(static_cast<std::size_t>(p.width), 1.0);
      return peak ? std::optional{launch +
                                  divergence_of_paths(paths).time * (Flops{2.0 * threads * count} / peak->value).raw()}
                  : std::nullopt;
    }
    case UnitOp::occupancy: {
      const auto block = static_cast<double>(probes::unit_small_block_threads);
      const double blocks = p.width > 0 ? static_cast<double>(p.width)
                                        : static_cast<double>(threads_of_sm(device.facts.capability)) / block;
      const BytesPerSecond most =
          device.copy[static_cast<std::size_t>(MemoryParameter::bandwidth)] * device.datasheet.bandwidth();
      return device.load > Seconds{}
                 ? std::optional{launch + (Bytes{word * count} /
                                           bandwidth_reached({most, device.load, sms}, Bytes{word * block * blocks}))
                                              .raw()}
                 : std::nullopt;
    }
    case UnitOp::grid_sync:
      return device.sync > Seconds{}
                 ? std::optional{grid_sync_time(device.sync, device.arrival, sms * static_cast<double>(p.width)).raw()}
                 : std::nullopt;
    case UnitOp::atomics:
      return device.update > Seconds{}
                 ? std::optional{launch + atomic_time(threads * count, static_cast<double>(p.width), device.update,
                                                      device.updates)
                                              .raw()}
                 : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace headroom
