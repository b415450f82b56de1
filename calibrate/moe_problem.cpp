// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/moe_problem.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/cost/curve_library.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// A word of a kernel's name and the family it tells; the first that occurs decides.
struct Family {
  std::string_view word;
  std::string_view name;
};
constexpr std::array families{
    Family{"marlin", "marlin"},
    Family{"deepgemm", "deepgemm"},
    Family{"min_latency", "min-latency"},
    Family{"flashinfer_trtllm", "trtllm-gen"},
    Family{"triton", "triton"},
    Family{"cutlass", "cutlass"},
    Family{"nongated", "cutlass"},
    Family{"vllm_fused_moe", "triton"},
    Family{"xpu", "xpu"},
    Family{"moe_torch_flow", "default"},
};

MoeShape moe_shape(const KernelRow& row) {
  MoeShape s{row.shape[0], row.shape[1], row.shape[2], row.shape[3], row.shape[4], row.shape[5], row.shape[6], true};
  s.gated = row.variant.find("nongated") == std::string::npos;
  return s;
}

/// The distribution stands behind the kernel in a row's variant.
std::string_view distribution_of(const KernelRow& row) {
  const std::string_view variant = row.variant;
  const std::size_t comma = variant.rfind(", ");
  return comma == std::string_view::npos ? variant : variant.substr(comma + 2);
}

/// One measured layer, with the loads that no parameter changes.
struct Layer {
  MoeShape shape;
  ExpertLoad load;
};

/// A long loop can be bound by L2 or by the pipeline's fill: two basins.
std::vector<std::vector<double>> moe_starts() {
  std::vector<double> start;
  for (const CurveParameter& p : moe_parameters()) {
    start.push_back(p.prior);
  }
  std::vector<double> other = start;
  other[static_cast<std::size_t>(MoeParameter::l2_rate)] = 2.5;
  other[static_cast<std::size_t>(MoeParameter::fill)] = 600.0;
  return {start, other};
}

Layer layer_of(const KernelRow& row) {
  const MoeShape shape = moe_shape(row);
  const std::optional<MoeRouting> routing = parse_routing(distribution_of(row));
  if (!routing) {
    throw ConfigError{"line " + std::to_string(row.line) + ": distribution " +
                      quoted(std::string{distribution_of(row)}) + " must be balanced, uniform or power_law_ALPHA"};
  }
  return {shape, expert_load(shape, *routing)};
}

}  // namespace

std::string moe_family(std::string_view kernel) {
  for (const Family& family : families) {
    if (kernel.find(family.word) != std::string_view::npos) {
      return std::string{family.name};
    }
  }
  return std::string{kernel};
}

std::string moe_routing_class(std::string_view distribution) {
  return distribution.substr(0, 5) == "power" ? "power-law" : std::string{distribution};
}

CurveProblem moe_problem(const KernelGroup& group, const Device& device) {
  const GemmFormat& format = known_format(group);
  CurveProblem problem;
  problem.parameters = moe_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  std::vector<Layer> layers;
  layers.reserve(group.rows.size());
  for (const KernelRow* row : group.rows) {
    layers.push_back(layer_of(*row));
  }
  problem.starts = moe_starts();
  const KernelDevice limits = kernel_device(device, format.rate);
  problem.predict = [layers = std::move(layers), limits, format](
                        std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds) {
    MoeCurve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    const MoeModel model{curve, limits, format, Residency::benchmark};
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Layer& layer = layers[which[i]];
      seconds[i] = model.time(layer.shape, layer.load).raw();
    }
  };
  return problem;
}

CurveProblem quantise_problem(const KernelGroup& group, const Device& device) {
  // vLLM's kernels give each row a CTA; the other engines' run over all elements.
  const bool by_row = group.engine == "vllm";
  const bool scan = group.kernel == "computescale";
  CurveProblem problem;
  problem.parameters = memory_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  problem.fixed[static_cast<std::size_t>(MemoryParameter::block)] = !by_row;
  const KernelDevice limits = kernel_device(device, Rate::bf16);
  problem.predict = [&group, limits, by_row, scan](std::span<const double> values, std::span<const std::size_t> which,
                                                   std::span<double> seconds) {
    MemoryCurve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    const MemoryModel model{curve, limits, Residency::benchmark};
    for (std::size_t i = 0; i < which.size(); ++i) {
      const KernelRow& row = *group.rows[which[i]];
      MemoryOp op =
          scan ? scan_for_scale(row.shape[0], row.shape[1], 2.0) : quantise(row.shape[0], row.shape[1], 2.0, 1.0);
      op.rows = by_row ? row.shape[0] : 0.0;
      seconds[i] = model.time(op).raw();
    }
  };
  return problem;
}

}  // namespace headroom
