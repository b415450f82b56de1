// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/curve_problem.hpp>
#include <headroom/calibrate/moe_problem.hpp>
#include <headroom/calibrate/probe_plan.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/cost/curve_library.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace headroom {
namespace {

/// Starts differ in the latency of the K chain, which is four times longer on Ampere and Ada than on Hopper and later:
/// the one parameter whose basin a fit cannot leave.
std::vector<std::vector<double>> gemm_starts() {
  std::vector<std::vector<double>> starts;
  for (const double chain : {1.0e-9, 4.0e-9}) {
    std::vector<double> start;
    for (const CurveParameter& p : gemm_parameters()) {
      start.push_back(p.prior);
    }
    start[static_cast<std::size_t>(GemmParameter::chain)] = chain;
    starts.push_back(std::move(start));
  }
  return starts;
}

GemmShape gemm_shape(const KernelRow& row) {
  return {row.shape[0], row.shape[1], row.shape[2]};
}

CurveProblem gemm_problem(const KernelGroup& group, const Device& device) {
  const GemmFormat& format = known_format(group);
  CurveProblem problem;
  problem.parameters = gemm_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  problem.fixed[static_cast<std::size_t>(GemmParameter::quantise)] = !format.quantises;
  problem.starts = gemm_starts();
  const KernelDevice limits = kernel_device(device, format.rate);
  const double copies = benchmark_copies(group.engine);
  problem.predict = [&group, limits, format, copies](std::span<const double> values, std::span<const std::size_t> which,
                                                     std::span<double> seconds) {
    GemmCurve curve{};
    std::copy(values.begin(), values.end(), curve.begin());
    const GemmModel model{curve, limits, format, Residency::benchmark, copies};
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = model.time(gemm_shape(*group.rows[which[i]])).raw();
    }
  };
  return problem;
}

/// The model's own name of a measured format.
std::string model_format(KernelKind kind, const std::string& format) {
  if (kind == KernelKind::gemm || kind == KernelKind::moe) {
    const GemmFormat* known = find_gemm_format(format);
    return known == nullptr ? format : std::string{known->name};
  }
  return format;
}

/// What divides the kernels of one engine, version and format further: family and routing of MoE, op of a pass.
std::pair<std::string, std::string> kernel_and_routing(KernelKind kind, const KernelRow& row) {
  const std::size_t comma = row.variant.find(", ");
  if (comma == std::string::npos) {
    return {};
  }
  const std::string first = row.variant.substr(0, comma);
  if (kind == KernelKind::moe) {
    return {moe_family(first), moe_routing_class(std::string_view{row.variant}.substr(comma + 2))};
  }
  return {first, ""};
}

}  // namespace

const GemmFormat& known_format(const KernelGroup& group) {
  const GemmFormat* format = find_gemm_format(group.format);
  if (format == nullptr) {
    std::string known;
    for (const GemmFormat& f : gemm_formats()) {
      known += (known.empty() ? "" : ", ") + std::string{f.name};
    }
    throw ConfigError{"format " + quoted(group.format) + " is not known; known are " + known};
  }
  return *format;
}

std::vector<KernelGroup> group_kernels(std::span<const KernelFile> files) {
  using Key = std::tuple<KernelKind, std::string, std::string, std::string, std::string, std::string>;
  std::map<Key, KernelGroup> groups;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      const std::string format = model_format(file.kind, row.format);
      const auto [kernel, routing] = kernel_and_routing(file.kind, row);
      KernelGroup& group = groups[{file.kind, row.engine, format, kernel, routing, row.version}];
      group.kind = file.kind;
      group.engine = row.engine;
      group.version = row.version;
      group.format = format;
      group.kernel = kernel;
      group.routing = routing;
      group.rows.push_back(&row);
    }
  }
  std::vector<KernelGroup> sorted;
  sorted.reserve(groups.size());
  for (auto& [key, group] : groups) {
    sorted.push_back(std::move(group));
  }
  return sorted;
}

CurveProblem curve_problem(const KernelGroup& group, const Device& device) {
  CurveProblem problem;
  switch (group.kind) {
    case KernelKind::gemm: problem = gemm_problem(group, device); break;
    case KernelKind::moe: problem = moe_problem(group, device); break;
    case KernelKind::quantize: problem = quantise_problem(group, device); break;
    case KernelKind::prefill:
    case KernelKind::decode:
    case KernelKind::count:
      throw ConfigError{"kernels of kind " + std::string{kernel_kind_names[static_cast<std::size_t>(group.kind)]} +
                        " cannot be fitted yet"};
  }
  for (const KernelRow* row : group.rows) {
    problem.measured.push_back(row->latency);
    problem.shapes.push_back(shape_hash(*row));
  }
  return problem;
}

std::vector<std::size_t> probe_kernels(const KernelGroup& group) {
  std::vector<std::size_t> which;
  if (group.kind != KernelKind::gemm) {
    return which;
  }
  const std::vector<ProbeShape> shapes = probe_shapes();
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const GemmShape at = gemm_shape(*group.rows[i]);
    const auto same = [&](const ProbeShape& s) {
      return at.m == static_cast<double>(s.m) && at.n == static_cast<double>(s.n) && at.k == static_cast<double>(s.k);
    };
    if (std::any_of(shapes.begin(), shapes.end(), same)) {
      which.push_back(i);
    }
  }
  return which;
}

}  // namespace headroom
