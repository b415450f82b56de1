// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

LeastIteration::LeastIteration(const Architecture& arch,
                               const Device& device,
                               const ServingLayout& layout,
                               const ReplicaFormats& formats) {
  // Stages take turns on one iteration, so that together they read what a single stage of all layers would.
  const ServingLayout layers{layout.tp, 1, layout.ep};
  rank_ = compile_serving_memory(arch, device, EngineMemory{}, layers, formats.weights, formats.cache).stages[0];
  if (arch.moe) {
    top_k_ = real(arch.moe->top_k);
    experts_ = real(arch.moe->experts);
  }
  groups_ = real(layout.attention_groups());
  const ParameterCount parameters = count_parameters(arch);
  const double tp = real(layout.tp);
  if (!arch.tied_embeddings) {
    rank_.weights -= Bytes{2.0 * parameters.embedding / tp};  // rows of it are looked up, no more
  }
  selected_ = arch.mla && arch.mla->index_heads > 0 ? 2048.0 : HUGE_VAL;
  const double head = real(arch.vocab) * real(arch.hidden);
  const KernelFormats kernels = kernel_formats(arch, device, formats);
  rate_ = kernels.product->rate;
  peak_ = device.peak_of(rate_);
  for (const GemmFormat* format : kernels.experts) {
    if (device.peak_of(format->rate) > peak_) {
      rate_ = format->rate;
      peak_ = device.peak_of(rate_);
    }
  }
  const auto& bf16 = device.peak[static_cast<std::size_t>(Rate::bf16)];
  const auto& fp16 = device.peak[static_cast<std::size_t>(Rate::fp16)];
  wide_peak_ = bf16 ? bf16->value : fp16 ? fp16->value : peak_;
  const bool blocks = formats.weights == Precision::fp8 ? arch.fp8_blocks : row_of(formats.weights).scale_bytes > 0.0;
  scaled_experts_ = arch.moe.has_value() && blocks;
  flop_time_ = 2.0 * std::max(0.0, parameters.active_matrices - head) / tp / peak_.raw();
  head_time_ = 2.0 * head / tp / peak_.raw();
  byte_time_ = 1.0 / device.bandwidth().raw();
}

Bytes LeastIteration::weights_read(double tokens, ExpertsRead experts) const noexcept {
  if (experts_ <= 0.0) {
    return rank_.weights;
  }
  // Of the experts that one token meets a rank may hold none.
  const double idle = experts == ExpertsRead::least ? 1.0 : std::pow(1.0 - top_k_ / experts_, tokens);
  return rank_.weights - idle * rank_.experts;
}

Bytes LeastIteration::cache_read(const IterationMix& mix) const noexcept {
  return mix.decodes / groups_ * rank_.sequence(std::min(mix.keys, selected_), 1.0);
}

Seconds LeastIteration::multiply_time(const IterationMix& mix) const noexcept {
  return Seconds{(mix.tokens() * flop_time_ + (mix.decodes * mix.queries + mix.ending) * head_time_) / groups_};
}

bool LeastIteration::reads(const IterationMix& mix, ExpertsRead experts) const noexcept {
  const Bytes moved = weights_read(mix.tokens(), experts) + cache_read(mix);
  return moved.raw() * byte_time_ >= multiply_time(mix).raw();
}

double LeastIteration::time(const IterationMix& mix, ExpertsRead experts) const noexcept {
  const Bytes moved = weights_read(mix.tokens(), experts) + cache_read(mix);
  return std::max(moved.raw() * byte_time_, multiply_time(mix).raw());
}

}  // namespace headroom
