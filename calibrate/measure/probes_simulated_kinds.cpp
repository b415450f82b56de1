// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/probes_simulated.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/kernels/curve_library.hpp>

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

}  // namespace headroom
