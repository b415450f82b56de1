// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/attention_tiles.hpp>
#include <headroom/model/kernels/attention_training.hpp>

namespace headroom {
namespace {

constexpr std::size_t measured_implementations = 7;
constexpr std::array implementations{
    AttentionImplementation{"standard", AttentionAlgorithm::standard, {}},
    AttentionImplementation{"flash1", AttentionAlgorithm::fused, {}},
    AttentionImplementation{"flash2", AttentionAlgorithm::fused, {}},
    AttentionImplementation{"flash3", AttentionAlgorithm::fused, {}},
    AttentionImplementation{"cudnn", AttentionAlgorithm::fused, {}},
    AttentionImplementation{"triton", AttentionAlgorithm::fused, {}},
    AttentionImplementation{"xformers", AttentionAlgorithm::fused, {}},
    // Softwares may state these too; nobody measured them as such.
    AttentionImplementation{"cudnn-early", AttentionAlgorithm::fused, "cudnn"},
    AttentionImplementation{unstated_attention, AttentionAlgorithm::fused, "flash2"},
};
struct ImplementationAlias {
  std::string_view alias;
  std::string_view name;
};
constexpr std::array aliases{
    ImplementationAlias{"PyTorch", "standard"},        ImplementationAlias{"standard attention", "standard"},
    ImplementationAlias{"FlashAttention-1", "flash1"}, ImplementationAlias{"FlashAttention-2", "flash2"},
    ImplementationAlias{"FlashAttention-3", "flash3"}, ImplementationAlias{"cuDNN", "cudnn"},
    ImplementationAlias{"Triton", "triton"},           ImplementationAlias{"FA Triton", "triton"}};

constexpr double tile_rows = 128.0;
constexpr double score_bytes = 2.0;
/// FLOP per token, context and head_dim: forward scores and output; backward the scores again and four gradients.
constexpr double forward_flops = 4.0;
constexpr double backward_over_forward = 2.5;

// Priors: of the exponentials as in prefill, of the rest from fits to the published A100 and H100 kernels.
constexpr std::array<CurveParameter, training_attention_parameter_count> parameter_table{{
    {"compute", CurveUnit::share, 0.6, 0.0, 0.05, 1.0},
    {"backward", CurveUnit::share, 0.85, 0.2, 0.2, 2.0},
    {"exponential", CurveUnit::seconds, 0.045e-9, 0.5, 1e-12, 2e-9},
    {"cta", CurveUnit::seconds, 2e-6, 0.7, 1e-8, 1e-4},
    {"bandwidth", CurveUnit::share, 0.85, 0.1, 0.05, 1.0},
    {"mask", CurveUnit::share, 4.0, 0.3, 0.1, 20.0},
    {"copies", CurveUnit::share, 12.0, 0.5, 0.1, 100.0},
}};

}  // namespace

std::span<const AttentionImplementation> attention_implementations() noexcept {
  return std::span{implementations}.first(measured_implementations);
}

const AttentionImplementation* find_attention_implementation(std::string_view name) noexcept {
  for (const ImplementationAlias& alias : aliases) {
    if (alias.alias == name) {
      name = alias.name;
    }
  }
  const auto* const found = std::find_if(implementations.begin(), implementations.end(),
                                         [&](const AttentionImplementation& i) { return i.name == name; });
  return found == implementations.end() ? nullptr : found;
}

const std::array<CurveParameter, training_attention_parameter_count>& training_attention_parameters() noexcept {
  return parameter_table;
}

bool matters(TrainingAttentionParameter parameter, AttentionAlgorithm algorithm) noexcept {
  switch (parameter) {
    case TrainingAttentionParameter::exponential:
    case TrainingAttentionParameter::cta: return algorithm == AttentionAlgorithm::fused;
    case TrainingAttentionParameter::bandwidth:
    case TrainingAttentionParameter::mask:
    case TrainingAttentionParameter::copies: return algorithm == AttentionAlgorithm::standard;
    case TrainingAttentionParameter::compute:
    case TrainingAttentionParameter::backward:
    case TrainingAttentionParameter::count: break;
  }
  return true;
}

Flops training_attention_flops(const AttentionShape& s, AttentionPass pass) noexcept {
  const double pairs = s.tokens * s.context * (s.causal ? 0.5 : 1.0);
  const double passes = pass == AttentionPass::forward    ? 1.0
                        : pass == AttentionPass::backward ? backward_over_forward
                                                          : 1.0 + backward_over_forward;
  return Flops{passes * forward_flops * s.batch * s.heads * pairs * s.head_dim};
}

Bytes training_attention_memory(const AttentionShape& s, AttentionAlgorithm algorithm) noexcept {
  const double rows = s.batch * s.heads * s.tokens;
  // Maximum and sum of a row are stored as one 4-byte logarithm.
  return algorithm == AttentionAlgorithm::fused ? Bytes{4.0 * rows}
                                                : Bytes{(6.0 * score_bytes + 1.0) * rows * s.context};
}

TrainingAttentionModel::TrainingAttentionModel(const TrainingAttentionCurve& curve,
                                               const KernelDevice& device,
                                               AttentionAlgorithm algorithm) noexcept
    : curve_{curve},
      algorithm_{algorithm},
      units_{device.units},
      flop_time_{1.0 / (value(TrainingAttentionParameter::compute) * device.peak.raw())},
      byte_time_{1.0 / (value(TrainingAttentionParameter::bandwidth) * device.bandwidth.raw())} {}

TrainingAttentionTime TrainingAttentionModel::fused(const AttentionShape& s, bool backward) const noexcept {
  using P = TrainingAttentionParameter;
  const double tiles = std::ceil(s.tokens / tile_rows);
  const double heads = s.batch * s.heads;
  const double x = heads * tiles / units_;
  const double flops = backward ? forward_flops * backward_over_forward / value(P::backward) : forward_flops;
  const double compute = flops * tile_rows * block_keys * s.head_dim * units_ * flop_time_;
  const double softmax = value(P::exponential) * tile_rows * block_keys;
  const double blocks = heads * attention_blocks(s, tiles, tile_rows).all / units_;
  const double whole = std::ceil(x) / x;
  TrainingAttentionTime t;
  t.compute = Seconds{whole * blocks * compute};
  t.softmax = Seconds{whole * blocks * softmax};
  t.fixed = Seconds{whole * x * value(P::cta)};
  t.total = t.fixed + Seconds{whole * blocks * norm3(compute, softmax)};
  return t;
}

TrainingAttentionTime TrainingAttentionModel::standard(const AttentionShape& s, bool backward) const noexcept {
  using P = TrainingAttentionParameter;
  const double pairs = s.batch * s.heads * s.tokens * s.context;
  const double pass = score_bytes * pairs * byte_time_;
  const double product = 2.0 * pairs * s.head_dim * flop_time_ / (backward ? value(P::backward) : 1.0);
  const double products = backward ? 4.0 : 2.0;
  const double others = backward ? 3.0 : 2.0 + (s.causal ? value(P::mask) : 0.0);
  const double queries = score_bytes * s.batch * s.heads * s.tokens * s.head_dim * byte_time_;
  const double copies = (backward ? 2.0 : 1.0) * value(P::copies) * queries;
  TrainingAttentionTime t;
  t.compute = Seconds{products * product};
  t.memory = Seconds{(products + others) * pass + copies};
  t.total = Seconds{products * norm3(product, pass) + others * pass + copies};
  return t;
}

TrainingAttentionTime TrainingAttentionModel::explain(const AttentionShape& s, AttentionPass pass) const noexcept {
  const auto one = [&](bool backward) {
    return algorithm_ == AttentionAlgorithm::fused ? fused(s, backward) : standard(s, backward);
  };
  if (pass != AttentionPass::both) {
    return one(pass == AttentionPass::backward);
  }
  const TrainingAttentionTime a = one(false);
  const TrainingAttentionTime b = one(true);
  return {a.total + b.total, a.compute + b.compute, a.softmax + b.softmax, a.fixed + b.fixed, a.memory + b.memory};
}

Seconds TrainingAttentionModel::bound(const AttentionShape& s, AttentionPass pass) const noexcept {
  const double forward = attention_flops(s).raw() * flop_time_;
  const double products = algorithm_ == AttentionAlgorithm::fused ? backward_over_forward : 2.0;
  const double backward = forward * products / value(TrainingAttentionParameter::backward);
  return Seconds{(pass == AttentionPass::backward ? 0.0 : forward) + (pass == AttentionPass::forward ? 0.0 : backward)};
}

}  // namespace headroom
