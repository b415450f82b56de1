// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/moe_problem.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {
namespace {

/// Word in a kernel's name and its family; the first match decides.
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

std::array<double, 4> model_of(const KernelRow& row) {
  return {row.shape[1], row.shape[2], row.shape[3], row.shape[4]};
}

MoeShape moe_shape(const KernelRow& row, const std::vector<std::array<double, 4>>& gateless) {
  MoeShape s{row.shape[0], row.shape[1], row.shape[2], row.shape[3], row.shape[4], row.shape[5], row.shape[6], true};
  s.gated = std::find(gateless.begin(), gateless.end(), model_of(row)) == gateless.end();
  return s;
}

/// Distribution of tokens, the part of a row's variant after the kernel.
std::string_view distribution_of(const KernelRow& row) {
  const std::string_view variant = row.variant;
  const std::size_t comma = variant.rfind(", ");
  return comma == std::string_view::npos ? variant : variant.substr(comma + 2);
}

/// A measured layer and the loads of its experts, which no parameter changes.
struct Layer {
  MoeShape shape;
  ExpertLoad load;
  bool drawn = false;  ///< whether the loads are means over random draws
};

/// A long loop may be limited by L2 or by filling the pipeline: two separate minima.
std::vector<std::vector<double>> moe_starts() {
  const std::vector<double> start = priors_of(moe_parameters());
  std::vector<double> other = start;
  other[static_cast<std::size_t>(MoeParameter::l2_rate)] = 2.5;
  other[static_cast<std::size_t>(MoeParameter::fill)] = 600.0;
  return {start, other};
}

Layer layer_of(const KernelRow& row, const std::vector<std::array<double, 4>>& gateless) {
  const MoeShape shape = moe_shape(row, gateless);
  const std::optional<MoeRouting> routing = parse_routing(distribution_of(row));
  if (!routing) {
    throw ConfigError{"line " + std::to_string(row.line) + ": distribution " +
                      quoted(std::string{distribution_of(row)}) + " must be balanced, uniform or power_law_ALPHA"};
  }
  return {shape, expert_load(shape, *routing), routing->kind == Routing::power_law};
}

/// Lower bound: both products at peak; tokens and active experts' weights moved once. With a power law only what every
/// draw has counts: the rows of an average rank, on as few experts as hold one row of each token.
Seconds layer_roofline(const Layer& layer, const KernelDevice& limits, const GemmFormat& format) {
  const MoeShape& s = layer.shape;
  const double expert = (s.gated ? 3.0 : 2.0) * s.hidden * s.inter / s.tp;
  const double rows = layer.drawn ? s.tokens * s.topk / s.ep : layer.load.rows;
  const double active = layer.drawn ? std::ceil(rows / s.tokens) : layer.load.active;
  const Bytes moved{active * expert * format.weight_bytes + 2.0 * s.tokens * s.hidden * 2.0};
  return least_time(Flops{2.0 * rows * expert}, moved, limits.peak, limits.bandwidth, limits.l2);
}

/// A quantise pass, or the search for its scale, over m rows of k elements.
MemoryOp pass_of(const KernelRow& row, bool scan, bool by_row) {
  MemoryOp op = scan ? scan_for_scale(row.shape[0], row.shape[1], 2.0) : quantise(row.shape[0], row.shape[1], 2.0, 1.0);
  op.rows = by_row ? row.shape[0] : 0.0;
  return op;
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

std::vector<std::array<double, 4>> gateless_models(std::span<const KernelFile> files) {
  std::vector<std::array<double, 4>> models;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      const bool named = file.kind == KernelKind::moe && row.variant.find("nongated") != std::string::npos;
      if (named && std::find(models.begin(), models.end(), model_of(row)) == models.end()) {
        models.push_back(model_of(row));
      }
    }
  }
  return models;
}

CurveProblem moe_problem(const KernelGroup& group, const Device& device) {
  const GemmFormat& format = known_format(group);
  CurveProblem problem;
  problem.parameters = moe_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  problem.starts = moe_starts();
  const KernelDevice limits = kernel_device(device, format.rate);
  std::vector<Layer> layers;
  layers.reserve(group.rows.size());
  for (const KernelRow* row : group.rows) {
    layers.push_back(layer_of(*row, group.gateless));
    problem.roofline.push_back(layer_roofline(layers.back(), limits, format));
  }
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
  // vLLM's kernels use a CTA per row; the other engines' run over all elements.
  const bool by_row = group.engine == "vllm";
  const bool scan = group.kernel == "computescale";
  CurveProblem problem;
  problem.parameters = memory_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  problem.fixed[static_cast<std::size_t>(MemoryParameter::block)] = !by_row;
  const KernelDevice limits = kernel_device(device, Rate::bf16);
  std::vector<MemoryOp> passes;
  passes.reserve(group.rows.size());
  for (const KernelRow* row : group.rows) {
    passes.push_back(pass_of(*row, scan, by_row));
    problem.roofline.push_back(least_time(Flops{}, passes.back().moved(), limits.peak, limits.bandwidth, limits.l2));
  }
  predict_passes(problem, std::move(passes), limits, Residency::benchmark);
  return problem;
}

}  // namespace headroom
