// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/evaluate/least_step.hpp>

namespace headroom {
namespace {

/// The peak of the recipe's narrowest products. A framework's "fp32" may mean tf32 products, long its default.
FlopsPerSecond fastest_peak(const Device& device, Precision precision) {
  const Rate rate = row_of(precision).rate;
  const auto& tf32 = device.peak[static_cast<std::size_t>(Rate::tf32)];
  return rate == Rate::fp32_vector && tf32 ? std::max(tf32->value, device.peak_of(rate)) : device.peak_of(rate);
}

}  // namespace

LeastStep least_step(const CompiledTraining& c, const Device& device, const Strategy& s) {
  const double tokens = static_cast<double>(c.work.shape.global_batch) * c.seq_len;
  const Flops products = c.layers * c.gemm_per_token + c.head_per_token;
  const double causal = c.architecture.kind == ArchitectureKind::decoder ? 0.5 : 1.0;
  const Flops of_token = (1.0 + c.gemm_backward) * products + 3.0 * causal * c.layers * c.score_flops;
  const auto gpus = static_cast<double>(c.work.shape.gpus);

  LeastStep least;
  least.arithmetic = tokens / gpus * of_token / fastest_peak(device, c.work.precision);

  // A multiply-add of a token uses one weight. What L2 keeps from one pass to the next is not read again.
  const double weights = products.raw() / 2.0 / (static_cast<double>(s.tp) * s.pp * s.ep);
  const PrecisionRow& format = row_of(c.work.options.method == Method::qlora ? Precision::int4 : c.work.precision);
  const Bytes once{weights * format.weight_bytes};
  const Bytes kept = device.memory.l2 ? device.memory.l2->value : Bytes{};
  least.traffic = (once + std::max(Bytes{}, once - kept)) / device.bandwidth();
  return least;
}

}  // namespace headroom
