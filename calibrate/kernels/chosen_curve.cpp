// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/chosen_curve.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {
namespace {

constexpr std::array host_parameters{CurveParameter{"host", CurveUnit::seconds, 20e-6, 0.7, 0.5e-6, 5e-3}};

/// The curve fitted to the very kernels of a group: engine, format, kernel and routing; nullptr: nobody fitted it.
template <std::size_t N>
const FittedCurve<N>* own_curve(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const auto at = std::find_if(curves.begin(), curves.end(), [&](const FittedCurve<N>& c) {
    const CurveProvenance& p = c.provenance;
    return p.engine == group.engine && p.format == group.format && p.kernel == group.kernel &&
           p.routing == group.routing;
  });
  return at == curves.end() ? nullptr : &*at;
}

template <std::size_t N>
std::optional<ScoredCurve> own_values(const std::vector<FittedCurve<N>>& curves, const KernelGroup& group) {
  const FittedCurve<N>* found = own_curve(curves, group);
  return found == nullptr ? std::nullopt : std::optional{scored_curve(*found)};
}

/// The engine whose curve is asked for: the group's own, for a profile any where the set has none of it.
template <std::size_t N>
std::string_view engine_of(const KernelGroup& group, const std::vector<FittedCurve<N>>& curves) {
  const bool measured = std::any_of(curves.begin(), curves.end(),
                                    [&](const FittedCurve<N>& c) { return c.provenance.engine == group.engine; });
  return group.profiled && !measured ? std::string_view{} : group.engine;
}

}  // namespace

ScoredCurve curve_of(const KernelGroup& group, const CurveSet& set, const Device& device) {
  const GemmFormat* format = find_gemm_format(group.format);
  if (group.kind == KernelKind::gemm && format != nullptr) {
    return scored_curve(*choose_gemm(set, device, *format, engine_of(group, set.gemm)).curve);
  }
  const AttentionFormat* attention = find_attention_format(group.format);
  if (group.kind == KernelKind::prefill && attention != nullptr) {
    return scored_curve(*choose_prefill(set, device, *attention, engine_of(group, set.prefill)).curve);
  }
  if (group.kind == KernelKind::decode && attention != nullptr) {
    return scored_curve(*choose_decode(set, device, *attention, engine_of(group, set.decode)).curve);
  }
  const AttentionImplementation* implementation = find_attention_implementation(group.engine);
  if (group.kind == KernelKind::training_attention && implementation != nullptr) {
    return scored_curve(*choose_training_attention(set, device, *implementation).curve);
  }
  if (group.kind == KernelKind::moe && group.profiled && format != nullptr) {
    const std::string_view engine = engine_of(group, set.moe);
    return scored_curve(*choose_moe(set, device, *format, Routing::balanced, engine).curve);
  }
  if (group.kind == KernelKind::pass) {
    const ChosenMemory chosen = choose_memory(set, device);
    return {{chosen.values.begin(), chosen.values.end()}, chosen.p90};
  }
  const std::optional<ScoredCurve> own = group.kind == KernelKind::moe        ? own_values(set.moe, group)
                                         : group.kind == KernelKind::quantize ? own_values(set.memory, group)
                                                                              : std::nullopt;
  if (own) {
    return *own;
  }
  if (is_collective(group.kind)) {
    throw ConfigError{"collectives are scored with 'headroom collective FILE.csv --gpu " + device.id + "'"};
  }
  throw ConfigError{"kernels of kind " + std::string{kernel_kind_names[static_cast<std::size_t>(group.kind)]} +
                    " in format " + group.format + (group.kernel.empty() ? "" : " by " + group.kernel) +
                    (group.routing.empty() ? "" : " with " + group.routing + " routing") + " have no curve of " +
                    set.id};
}

CurveProblem call_problem(const ModelData& data, const KernelGroup& group, const Device& device) {
  KernelGroup kernels = group;
  kernels.op.clear();
  CurveProblem problem = curve_problem(data, kernels, device);
  const ScoredCurve curve = curve_of(kernels, find_curve_set(data, device), device);
  std::vector<std::size_t> all(group.rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<double> times(all.size());
  problem.predict(curve.values, all, times);
  problem.parameters = host_parameters;
  problem.fixed.clear();
  problem.starts.clear();
  problem.predict = [times = std::move(times)](std::span<const double> values, std::span<const std::size_t> which,
                                               std::span<double> seconds) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = norm8(times[which[i]], values[0]);
    }
  };
  return problem;
}

}  // namespace headroom
