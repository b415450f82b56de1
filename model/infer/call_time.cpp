// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/power/power.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

[[nodiscard]] double power_norm(double a, double b, double p) noexcept {
  const double larger = std::max(a, b);
  return larger > 0.0 ? larger * std::pow(1.0 + std::pow(std::min(a, b) / larger, p), 1.0 / p) : 0.0;
}

/// Seconds of one step along k, over that at 16 bit: vector units and TF32 take longer, 8-bit kernels half.
[[nodiscard]] constexpr double step_of(CallFormat format) noexcept {
  return format == CallFormat::eight ? 0.5 : format == CallFormat::half ? 1.0 : 1.6;
}

/// The latency of a kernel whose few tiles each walk all of k: split over 4 or 16 blocks it pays one or two reductions,
/// whose blocks add in any order. A deterministic one does not split (NVIDIA, cuBLAS documentation, section 2.1.4,
/// "Results Reproducibility": cublasSetAtomicsMode).
[[nodiscard]] double chain_time(double k, double step, bool deterministic) noexcept {
  const double z = step * k;
  if (deterministic) {
    return z;
  }
  return std::min({z, z / 4.0 + 3e-6, z / 16.0 + 6e-6});
}

struct Shape {
  double m, n, k, groups;
};
[[nodiscard]] Shape shape_of(const CallOp& op, double batch) noexcept {
  return {op.grows == BatchGrows::rows ? op.m * batch : op.m, op.n, op.grows == BatchGrows::depth ? op.k * batch : op.k,
          op.grows == BatchGrows::groups ? op.groups * batch : op.groups};
}

/// The share of the peak that long products of the kind reach, over that of plain ones.
[[nodiscard]] double kind_share(const CallOp& op,
                                const CallPhysics& physics,
                                const CallSetting& s,
                                bool fuses) noexcept {
  const auto format = static_cast<std::size_t>(s.format);
  switch (op.kind) {
    case CallOpKind::convolution:
    case CallOpKind::winograd: return (s.training ? physics.convolution_training : physics.convolution)[format];
    case CallOpKind::grouped: return (s.training ? physics.grouped_training : physics.grouped)[format];
    case CallOpKind::product: return fuses ? physics.attention_fused : physics.attention;
    default: return 1.0;
  }
}

[[nodiscard]] double product_seconds(const CallOp& op,
                                     double batch,
                                     double elements,
                                     const CallDevice& d,
                                     const CallPhysics& physics,
                                     const CallSetting& s,
                                     bool fuses) noexcept {
  const Shape x = shape_of(op, batch);
  const bool fp32 = s.format == CallFormat::fp32;
  const bool eight = s.format == CallFormat::eight;
  const double k0 = (s.training ? physics.depth_training : physics.depth) * (fp32 ? 0.2 : 1.0);
  const double m0 = (s.training ? physics.rows_training : physics.rows) * (fp32    ? 0.5
                                                                           : eight ? physics.rows_8bit
                                                                                   : 1.0);
  const double multiplications = op.kind == CallOpKind::winograd && fp32 ? physics.winograd : 1.0;
  const double flop = 2.0 * x.m * x.n * x.k * x.groups * multiplications;
  const double over_peak =
      (1.0 + k0 / x.k) * (1.0 + m0 / x.m) * (1.0 + m0 / x.n) / (d.product * kind_share(op, physics, s, fuses));
  const double compute = flop / d.peak.raw() * (1.0 + d.units * (over_peak - 1.0));
  const double activations = elements * batch * s.element * (eight ? physics.bytes_8bit : 1.0);
  const double weights = op.weights * (op.weight_gradient ? 4.0 : s.weight);
  const double memory = (activations + weights) / (d.bandwidth_share * d.bandwidth.raw());
  return power_norm(power_norm(compute, memory, physics.norm),
                    chain_time(x.k, d.step.raw() * step_of(s.format), s.deterministic) / op.beside, physics.norm);
}

[[nodiscard]] double depthwise_seconds(
    const CallOp& op, double batch, const CallDevice& d, const CallPhysics& physics, const CallSetting& s) noexcept {
  const Shape x = shape_of(op, batch);
  const double bytes = (op.in + op.out) * batch * s.element + op.weights * s.weight;
  const double reached = s.training ? physics.depthwise_bytes_training : physics.depthwise_bytes;
  const double memory = bytes / (reached * d.bandwidth_share * d.bandwidth.raw());
  const double vector_rate = d.vector_rate.raw() * (s.format == CallFormat::half ? 2.0 : 1.0);
  const double share = s.training ? physics.depthwise_flop_training : physics.depthwise_flop;
  const double work = 2.0 * x.m * x.n * x.k * x.groups / (share * vector_rate);
  return std::max(memory, work);
}

/// Of one op of the list: seconds on the GPU and kernels.
struct OpCost {
  double seconds = 0.0, kernels = 0.0;
};
[[nodiscard]] OpCost cost_of(const CallOp& op,
                             double samples,
                             const CallDevice& d,
                             const CallPhysics& physics,
                             const NetworkEngine& engine,
                             const CallSetting& s) noexcept {
  const double batch = op.grows == BatchGrows::nothing ? 1.0 : samples;
  const bool fuses = engine.fused_attention && op.in_attention;
  const double scores = fuses ? op.scores : 0.0;
  if (op.kind == CallOpKind::depthwise) {
    return {depthwise_seconds(op, batch, d, physics, s), op.launches};
  }
  if (multiplies(op.kind)) {
    const double elements = std::max(op.in + op.out - scores, 0.0);
    const double computed = fuses && op.causal ? 0.5 : 1.0;
    // A fused kernel stands for the two products around the softmax.
    return {computed * product_seconds(op, batch, elements, d, physics, s, fuses),
            fuses ? 0.5 * op.launches : op.launches};
  }
  if (fuses && op.kind == CallOpKind::softmax) {
    return {};
  }
  const FusedOp f = fused(engine.fusion, op.kind);
  const double scale = s.training ? engine.elementwise_training : engine.elementwise;
  const double bytes = f.passes_of(op) * op.traffic * (op.in + op.out) * batch * s.element * scale;
  return {bytes / (d.bandwidth_share * d.bandwidth.raw()), f.launches_of(op) * op.launches};
}

/// The clock that a board's power leaves of products, over that of the silicon's board with the most power for its
/// rate: dynamic power is C V^2 f, and boards of one silicon differ in watts a multiprocessor and hertz.
[[nodiscard]] double held_clock(const Device& device, const CallSilicon& silicon, const CallPhysics& physics) {
  const auto& rate = device.peak[static_cast<std::size_t>(Rate::fp32_vector)];
  if (silicon.watts_per_teraflops <= 0.0 || !rate || !device.power.tdp) {
    return 1.0;
  }
  const double needed = physics.draw * silicon.watts_per_teraflops * 1e-12 * rate->value.raw();
  return capped_clock(device.power.tdp->value.raw() / needed, physics.voltage);
}

}  // namespace

CallDevice call_device(
    const Device& device, const CallRates& rates, const NetworkEngine& engine, CallFormat format, bool training) {
  const CallSilicon* silicon = rates.silicon_of(device.compute_capability);
  if (silicon == nullptr) {
    silicon = rates.silicon_of(device.generation);
  }
  if (silicon == nullptr) {
    throw ConfigError{"no network was measured on GPUs like '" + device.id + "' (" + device.generation +
                      (device.compute_capability.empty() ? "" : ", compute capability " + device.compute_capability) +
                      "): stacks/step/network-calls.toml has no silicon of it"};
  }
  const auto at = static_cast<std::size_t>(format);
  const std::optional<double> share =
      training && silicon->product_training[at] ? silicon->product_training[at] : silicon->product[at];
  if (!share) {
    throw ConfigError{"'" + device.id + "' runs no products in " + std::string{call_format_names[at]}};
  }
  constexpr std::array<Rate, call_format_names.size()> rate{Rate::fp32_vector, Rate::tf32, Rate::fp16, Rate::int8};
  CallDevice resolved;
  resolved.peak = device.peak_of(rate[at]);
  // Of 8-bit units the faster are used: B300 has a twentieth of its FP8 rate left for INT8.
  if (const auto& fp8 = device.peak[static_cast<std::size_t>(Rate::fp8)]; format == CallFormat::eight && fp8) {
    resolved.peak = std::max(resolved.peak, fp8->value);
  }
  resolved.vector_rate = device.peak_of(Rate::fp32_vector);
  resolved.bandwidth = device.bandwidth();
  resolved.product =
      *share * early_rate(engine, device.compute_capability) * held_clock(device, *silicon, rates.physics);
  const auto& units = device.compute.dense_flop_per_clock_per_unit;
  if (format == CallFormat::half && silicon->whole_units > 0.0 && units) {
    resolved.units = std::min(1.0, static_cast<double>(units->value) / silicon->whole_units);
  }
  resolved.assumed = silicon->assumed[at];
  resolved.bandwidth_share = training ? silicon->bandwidth_training : silicon->bandwidth;
  resolved.step = silicon->step;
  return resolved;
}

Seconds kernel_time(const CallOp& op,
                    double batch,
                    const CallDevice& device,
                    const CallPhysics& physics,
                    const NetworkEngine& engine,
                    const CallSetting& setting) noexcept {
  return Seconds{cost_of(op, batch, device, physics, engine, setting).seconds};
}

CallTime call_time(std::span<const CallOp> ops,
                   double batch,
                   const CallDevice& device,
                   const CallPhysics& physics,
                   const NetworkEngine& engine,
                   const CallSetting& setting) noexcept {
  CallTime t;
  double launches = setting.launches;
  for (const CallOp& op : ops) {
    const OpCost cost = cost_of(op, batch, device, physics, engine, setting);
    const Seconds time{cost.seconds * op.count};
    (multiplies(op.kind) ? t.products : t.passes) += time;
    if (op.kind == CallOpKind::recurrent) {
      t.gaps += op.count / op.beside * physics.recurrent_gap;  // one kernel loops over the steps
      launches += cost.kernels;
    } else {
      t.gaps += op.count * cost.kernels * physics.gap;
      launches += op.count * cost.kernels;
    }
  }
  if (setting.training) {
    t.products *= physics.training;
    t.passes *= physics.training;
    t.gaps *= physics.training;
  }
  t.launches = launches;
  const double autocast = setting.autocast ? engine.autocast : 1.0;
  t.call = 0.5 * engine.call;
  t.host = launches * setting.host * autocast * engine.launch + t.call;
  const double gpu = t.gpu().raw();
  t.waited = Seconds{power_norm(gpu, t.host.raw(), engine.overlap) - gpu};
  if (engine.input && setting.input_bytes > 0.0) {
    t.input = Bytes{setting.input_bytes * batch} / *engine.input;
  }
  t.beside = batch * setting.host_per_sample;
  return t;
}

}  // namespace headroom
