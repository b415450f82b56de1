// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/tensor_path.hpp>
#include <headroom/model/train/step/step_parts.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

/// What a measured kernel has and a kernel in a step does not: a launch of its own, for the host runs ahead; droop, for
/// the step's clock is the SKU's level; casts, which are priced as passes.
void as_in_a_step(GemmCurve& curve) noexcept {
  curve[static_cast<std::size_t>(GemmParameter::launch)] = 0.0;
  curve[static_cast<std::size_t>(GemmParameter::droop)] = 0.0;
  curve[static_cast<std::size_t>(GemmParameter::quantise)] = 0.0;
}

/// Medians over the measured SKUs.
GemmCurve prior_curve() noexcept {
  return prior_values(gemm_parameters());
}

/// Weight gradients are read and written in fp32.
GemmFormat gradient_of(GemmFormat format) noexcept {
  constexpr double accumulated = 8.0;
  format.output_bytes = accumulated;
  return format;
}

/// What stays in 16 bit or more: attention, heads, convolutions; fp16 where the SKU has no bf16.
const GemmFormat& wide_format_of(const Device& device, Precision precision) noexcept {
  if (precision == Precision::fp32 || precision == Precision::tf32 || precision == Precision::fp16) {
    return *find_gemm_format(row_of(precision).name);
  }
  return *find_gemm_format(device.peak[static_cast<std::size_t>(Rate::bf16)] ? "bf16" : "fp16");
}

/// The release that was measured of the software's kernel, else the newest kernel that was, which `why` says.
TrainingAttentionModel step_attention(
    const ModelData& data, const Device& device, const GemmFormat& format, std::string_view kernel, std::string& why) {
  const CurveSet& set = training_attention_set(data, device);
  const AttentionImplementation* implementation = find_attention_implementation(kernel);
  if (implementation != nullptr && !implementation->measured_as.empty()) {
    implementation = find_attention_implementation(implementation->measured_as);
  }
  const auto measured = [&](const auto& curve) { return curve.provenance.engine == implementation->name; };
  if (implementation == nullptr ||
      std::none_of(set.training_attention.begin(), set.training_attention.end(), measured)) {
    implementation = &newest_training_attention(set);
  }
  const auto chosen = choose_training_attention(set, device, *implementation);
  why = std::string{implementation->name} + " on " + chosen.why;
  return {chosen.curve->values, kernel_device(device, format.rate), implementation->algorithm};
}

/// The newest kernel, for a software that does not say which it runs; none where it states one.
std::optional<TrainingAttentionModel> faster_attention(const ModelData& data,
                                                       const Device& device,
                                                       const GemmFormat& format,
                                                       std::string_view kernel,
                                                       double share,
                                                       std::string& why) {
  if (kernel != unstated_attention || share <= 0.0) {
    return std::nullopt;
  }
  std::string newest;
  const auto& implementation = newest_training_attention(training_attention_set(data, device));
  std::optional<TrainingAttentionModel> faster = step_attention(data, device, format, implementation.name, newest);
  why += ", in " + std::to_string(std::lround(100.0 * share)) + " % of such runs " + newest;
  return faster;
}

/// What the release and the device's exponentials make of a kernel's measured rate.
double attention_rate(const Device& device,
                      const StepStack& stack,
                      const StepPhysics& physics,
                      const StepLevel& level) noexcept {
  double rate = stack.attention * level.attention / level.wide;
  rate *= stack.attention_kernel == "cudnn-early" ? physics.early_cudnn : 1.0;
  // Nobody measured training kernels of this chip: they are those of chips with half its exponentials a clock.
  rate *= device.compute_capability == "10.3" ? physics.ultra_attention : 1.0;
  return rate;
}

/// Tensor cores that multiply 8-bit matrices in one layout alone (Micikevicius et al. 2022; cuBLAS, 8-bit products are
/// TN before Blackwell), so that a product with the transpose of a matrix needs a transposed copy.
bool needs_transposes(const Device& device) noexcept {
  return device.compute_capability.starts_with("8.") || device.compute_capability.starts_with("9.");
}

/// Bytes that pass memory for each 16-bit element that is cast to a narrow format. Blocks find their scale while they
/// are read; a scale of the tensor asks for its maximum first, so that NVFP4 is read twice (NVIDIA/TransformerEngine,
/// transformer_engine/pytorch/csrc/extensions/cast.cpp: nvte_group_hadamard_transform_amax, then the cast). FP8 with
/// one scale is read once where scales are delayed and twice where they are current: the mean of both; of frozen
/// products once.
double cast_bytes(Precision precision, double layouts) noexcept {
  constexpr double element = 2.0;
  if (precision == Precision::fp8) {
    return (layouts > 1.0 ? 1.5 : 1.0) * element + layouts * row_of(precision).weight_bytes;
  }
  return (precision == Precision::nvfp4 ? 2.0 : 1.0) * element + layouts * stored_bytes(precision);
}

}  // namespace

bool four_bit_recipe(Precision precision) noexcept {
  return precision == Precision::nvfp4 || precision == Precision::mxfp4;
}

bool narrow_recipe(Precision precision) noexcept {
  return precision == Precision::fp8 || precision == Precision::mxfp8 || four_bit_recipe(precision);
}

GemmModel step_product(
    const ModelData& data, const Device& device, std::string_view name, bool gradient, std::string& why) {
  const GemmFormat& format = *find_gemm_format(name);
  const KernelDevice limits = kernel_device(device, format.rate);
  GemmCurve curve = prior_curve();
  try {
    const CurveSet& set = find_curve_set(data, device);
    const auto chosen = choose_gemm(set, device, format);
    curve = chosen.curve->values;
    why = chosen.why;
  } catch (const ConfigError&) {
    why = "no kernels measured for " + device.id + " in " + std::string{name} + ": medians of the measured SKUs";
  }
  as_in_a_step(curve);
  return {curve, limits, gradient ? gradient_of(format) : format};
}

StepKernels::StepKernels(const ModelData& data,
                         const Device& device,
                         const StepStack& stack,
                         const StepPhysics& physics,
                         const StepLevel& level,
                         Precision precision)
    : physics_{physics},
      wide_format_{wide_format_of(device, precision)},
      narrow_format_{narrow_recipe(precision) ? *find_gemm_format("fp8") : wide_format_},
      narrow_{step_product(data, device, narrow_format_.name, false, narrow_why_)},
      narrow_gradient_{step_product(data, device, narrow_format_.name, true, narrow_why_)},
      wide_{step_product(data, device, wide_format_.name, false, wide_why_)},
      wide_gradient_{step_product(data, device, wide_format_.name, true, wide_why_)},
      fused_{step_attention(data, device, wide_format_, stack.attention_kernel, attention_why_)},
      scan_{data, device, wide_format_.rate},
      faster_{
          faster_attention(data, device, wide_format_, stack.attention_kernel, physics.fast_attention, attention_why_)},
      narrow_factor_{(narrow_recipe(precision) ? level.narrow : level.wide) * stack.gemm *
                     (four_bit_recipe(precision) ? physics.fp4_time : 1.0)},
      wide_factor_{level.wide * stack.gemm},
      attention_rate_{attention_rate(device, stack, physics, level)},
      casts_{narrow_recipe(precision)},
      transposes_{needs_transposes(device)},
      cast_both_{cast_bytes(precision, 2.0)},
      cast_one_{cast_bytes(precision, 1.0)},
      eight_casts_{cast_bytes(Precision::mxfp8, 2.0) / cast_bytes(precision, 2.0)},
      wide_peak_{device.peak_of(wide_format_.rate)},
      bandwidth_{physics.bandwidth * device.bandwidth()} {}

ProductTimes StepKernels::product(double m, double n, double k, double share, double gradient_share) const noexcept {
  ProductTimes t;
  t.forward = share * narrow_factor_ * narrow_.time({m, n, k});
  t.data_gradient = share * narrow_factor_ * narrow_.time({m, k, n});
  t.weight_gradient = gradient_share * narrow_factor_ * narrow_gradient_.time({n, k, m});
  if (casts_ && gradient_share > 0.0) {
    const double pass = physics_.cast * cast_both_ * share;
    t.casts_forward = Bytes{pass * (m * k + 0.5 * n * k)} / bandwidth_;
    t.casts_backward = Bytes{pass * m * n} / bandwidth_;
  } else if (casts_) {
    // Transposed copies of inputs and gradients are those of weight gradients; a frozen matrix lies in 8 bit already.
    const double pass = physics_.cast * share;
    t.casts_forward = Bytes{cast_one_ * pass * m * k} / bandwidth_;
    t.casts_backward = Bytes{pass * (cast_one_ * m * n + (transposes_ ? 2.0 * n * k : 0.0))} / bandwidth_;
  }
  return t;
}

void StepKernels::in_eight_bit(ProductTimes& t) const noexcept {
  for (Seconds* time : {&t.forward, &t.data_gradient, &t.weight_gradient}) {
    *time = *time / physics_.fp4_time;
  }
  t.casts_forward *= eight_casts_;
  t.casts_backward *= eight_casts_;
}

ProductTimes StepKernels::wide_product(
    double m, double n, double k, double share, double gradient_share) const noexcept {
  ProductTimes t;
  t.forward = share * wide_factor_ * wide_.time({m, n, k});
  t.data_gradient = share * wide_factor_ * wide_.time({m, k, n});
  t.weight_gradient = gradient_share * wide_factor_ * wide_gradient_.time({n, k, m});
  return t;
}

double StepKernels::unaligned_rows(const GemmShape& shape) const noexcept {
  const int halvings = row_halvings(shape, wide_format_);
  return std::pow(physics_.unaligned_rows, static_cast<double>(halvings) / most_row_halvings);
}

AttentionTimes StepKernels::attention(const AttentionShape& shape, bool narrow) const noexcept {
  const double rate = narrow ? attention_rate_ / physics_.fp8_attention : attention_rate_;
  const auto time = [&](AttentionPass pass) {
    const Seconds usual = fused_.time(shape, pass);
    if (!faster_) {
      return usual / rate;
    }
    // The median over such runs: the mean of the logarithm.
    return usual * std::pow(faster_->time(shape, pass) / usual, physics_.fast_attention) / rate;
  };
  return {time(AttentionPass::forward), time(AttentionPass::backward)};
}

AttentionTimes StepKernels::unfused(double pairs, double width, bool aligned, double element) const noexcept {
  const Seconds products =
      (aligned ? 1.0 : physics_.unaligned) * (Flops{4.0 * pairs * width} / (physics_.unfused_rate * wide_peak_));
  const Seconds passes = Bytes{0.5 * element * physics_.score_bytes * pairs} / bandwidth_;
  return {products + passes, 2.0 * products + 1.5 * passes};
}

Seconds wait_for_host(Seconds gpu, Seconds host) noexcept {
  constexpr double order = 5.0;
  const double larger = std::max(gpu.raw(), host.raw());
  if (larger <= 0.0) {
    return {};
  }
  const double sum = std::pow(gpu.raw() / larger, order) + std::pow(host.raw() / larger, order);
  return Seconds{larger * std::pow(sum, 1.0 / order)} - gpu;
}

Seconds overlapped(Seconds c, Seconds x, double o, double sig) noexcept {
  const Seconds both = std::min(c, x);
  return std::max(c + sig * o * both, x) + (1.0 - o) * both;
}

Seconds reached(const GroupCollectives* group,
                Collective collective,
                double bytes,
                const StepPhysics& physics,
                const StepStack& stack) noexcept {
  if (group == nullptr || bytes <= 0.0) {
    return {};
  }
  return group->time(collective, Bytes{bytes}).time /
         (group->view().domains > 1 ? physics.nic * stack.nic : stack.link);
}

double expert_launches(const StepPhysics& physics, Precision precision) noexcept {
  if (four_bit_recipe(precision)) {
    return 1.0 + physics.fp4_casts;
  }
  return precision == Precision::mxfp8 ? 1.0 + physics.block_casts
         : narrow_recipe(precision)    ? 1.0 + physics.tensor_casts
                                       : 1.0;
}

double largest_of(double n) noexcept {
  constexpr double alpha = 0.375;
  return normal_quantile((n - alpha) / (n - 2.0 * alpha + 1.0));
}

double board_wait(const Device& device, const StepPhysics& physics, double n) noexcept {
  if (!device.compute.board_spread || n <= straggler_free) {
    return 0.0;
  }
  return (device.compute.board_spread->value - physics.board_spread) * (largest_of(n) - largest_of(straggler_free));
}

StragglerWords straggler_words(const Device& device, const StepPhysics& physics, double n) noexcept {
  const auto& own = device.compute.board_spread;
  const double spread = own ? own->value : physics.board_spread;
  return {own ? "c log2(N / 8) of the rest + (s - usual) (largest of N - largest of 8) of compute"
              : "c log2(N / 8) of the rest",
          {"c", physics.straggler, Shown::fraction, physics.source},
          {"N", n, Shown::count, "GPUs"},
          {"s", spread, Shown::fraction,
           own ? std::string_view{own->source} : "of boards of a SKU that states none; c has it"},
          {"slowest of N", spread * largest_of(n), Shown::fraction, "of compute, over the mean board; Blom 1958"}};
}

double straggler_share(const StepPhysics& physics, double n) noexcept {
  const double more = physics.straggler * std::log2(std::max(1.0, n / straggler_free));
  return more / (1.0 + more);
}

Seconds compute_of(const Breakdown& time) noexcept {
  return time[Term::gemm] + time[Term::attention] + time[Term::scan] + time[Term::elementwise] + time[Term::recompute] +
         time[Term::head];
}

}  // namespace headroom
