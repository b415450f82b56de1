// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/layers/layer_times.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace headroom {
namespace {

const AttentionFormat& attention_format(double cache_bytes) {
  return *find_attention_format(cache_bytes < 2.0 ? "bf16/fp8" : "bf16/bf16");
}

/// Volta and Turing multiply fp16 alone.
const GemmFormat& half_format(const Device& device) {
  return *find_gemm_format(device.peak[static_cast<std::size_t>(Rate::bf16)] ? "bf16" : "fp16");
}

std::string_view bound_name(const GemmTime& t) noexcept {
  return gemm_bound_names[static_cast<std::size_t>(t.bound)];
}

}  // namespace

struct LayerTimer::Models {
  KernelDevice narrow;  ///< at the rate of the weights' format
  KernelDevice wide;    ///< at 16 bit
  GemmModel product;
  GemmModel half;
  PrefillModel prefill;
  DecodeModel decode;
  TrainingAttentionModel training;
  MemoryModel memory;
  ScanModel scan;
  std::optional<MoeModel> experts;  ///< none: no layer of experts was measured on the set's SKU
  std::vector<std::string> sources;
};

namespace {

std::optional<MoeModel> make_experts(const CurveSet& set,
                                     const Device& device,
                                     const GemmFormat& format,
                                     std::vector<std::string>& sources) {
  try {
    const auto chosen = choose_moe(set, device, format);
    sources.push_back("experts: " + chosen.why);
    return MoeModel{chosen.curve->values, kernel_device(device, format.rate), format};
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

}  // namespace

LayerTimer::LayerTimer(const ModelData& data, const Device& device, const GemmFormat& format, double cache_bytes) {
  const CurveSet& set = find_curve_set(data, device);
  const GemmFormat& half = half_format(device);
  const AttentionFormat& attention = attention_format(cache_bytes);
  const KernelDevice narrow = kernel_device(device, format.rate);
  const KernelDevice wide = kernel_device(device, half.rate);
  const auto product = choose_gemm(set, device, format);
  const auto sixteen = choose_gemm(set, device, half);
  const auto prefill = choose_prefill(set, device, attention);
  const auto decode = choose_decode(set, device, attention);
  const ChosenMemory memory = choose_memory(set, device);
  const CurveSet& training_set = training_attention_set(data, device);
  const AttentionImplementation& implementation = newest_training_attention(training_set);
  const auto training = choose_training_attention(training_set, device, implementation);
  std::vector<std::string> sources{"gemm: " + product.why, "prefill: " + prefill.why, "decode: " + decode.why,
                                   "training attention: " + training.why, "passes: " + memory.why};
  const std::optional<MoeModel> experts = make_experts(set, device, format, sources);
  models_ = std::make_unique<Models>(Models{
      narrow, wide, GemmModel{product.curve->values, narrow, format}, GemmModel{sixteen.curve->values, wide, half},
      PrefillModel{prefill.curve->values, wide, attention}, DecodeModel{decode.curve->values, wide, attention},
      TrainingAttentionModel{training.curve->values, wide, implementation.algorithm}, MemoryModel{memory.values, wide},
      ScanModel{data, device, half.rate}, experts, std::move(sources)});
}

LayerTimer::~LayerTimer() = default;
LayerTimer::LayerTimer(LayerTimer&&) noexcept = default;
LayerTimer& LayerTimer::operator=(LayerTimer&&) noexcept = default;

const std::vector<std::string>& LayerTimer::sources() const noexcept {
  return models_->sources;
}

LayerKernelTime LayerTimer::time(const LayerKernel& kernel, LayerPhase phase) const {
  const Models& m = *models_;
  const bool backward = phase == LayerPhase::backward;
  switch (kernel.kind) {
    case LayerOpKind::product: {
      const bool half = backward || kernel.half;
      const GemmTime t = (half ? m.half : m.product).explain(kernel.gemm);
      return {t.total, bound_name(t), half ? m.wide.peak : m.narrow.peak};
    }
    case LayerOpKind::attention: {
      if (phase == LayerPhase::decode) {
        const DecodeTime t = m.decode.explain(kernel.attention);
        return {t.total, attention_bound_names[static_cast<std::size_t>(t.bound)], m.wide.peak};
      }
      if (phase == LayerPhase::prefill) {
        const PrefillTime t = m.prefill.explain(kernel.attention);
        return {t.total, attention_bound_names[static_cast<std::size_t>(t.bound)], m.wide.peak};
      }
      const AttentionPass pass = backward ? AttentionPass::backward : AttentionPass::forward;
      return {m.training.time(kernel.attention, pass), "compute", m.wide.peak};
    }
    case LayerOpKind::experts: {
      if (!m.experts) {
        throw ConfigError{
            "no layer of experts was measured on the SKU whose curves serve; state another with --curves"};
      }
      // Backward: gradients of inputs and of weights, each as much work as forward.
      const MoeTime t = m.experts->explain(kernel.experts, expert_load(kernel.experts, {Routing::uniform, 0.0}));
      return {(backward ? 2.0 : 1.0) * t.total, t.up + t.down > 0.5 * t.total ? "products" : "passes and launch",
              m.narrow.peak};
    }
    case LayerOpKind::scan:
      if (phase == LayerPhase::decode) {
        break;
      }
      return {backward                       ? m.scan.backward(kernel.scan)
              : phase == LayerPhase::forward ? m.scan.training_forward(kernel.scan)
                                             : m.scan.forward(kernel.scan),
              "unfused kernels", m.wide.peak};
    case LayerOpKind::activation:
    case LayerOpKind::pass:
    case LayerOpKind::reduction:
    case LayerOpKind::exchange: break;
  }
  return {m.memory.time({kernel.moved, Bytes{}, 0.0}), "memory", m.wide.peak};
}

}  // namespace headroom
