// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/copy_problem.hpp>
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/memory_ops.hpp>
#include <headroom/model/kernels/roofline.hpp>

namespace headroom {
namespace {

KernelDevice memory_of(const Device& device) {
  const auto& units = device.compute.units;
  const auto& l2 = device.memory.l2;
  if (!units || !l2) {
    throw ConfigError{device.id + " lacks compute.units or memory.l2 in the catalog; state them in an overlay of it"};
  }
  return {FlopsPerSecond{1.0}, device.bandwidth(), static_cast<double>(units->value), l2->value};
}

}  // namespace

CurveProblem copy_problem(std::span<const CopyRow> rows, const Device& device, std::span<const PassRow> reductions) {
  CurveProblem problem;
  problem.parameters = memory_parameters();
  problem.fixed.assign(problem.parameters.size(), false);
  for (const MemoryParameter p :
       {MemoryParameter::block, MemoryParameter::residency, MemoryParameter::residency_gain}) {
    problem.fixed[static_cast<std::size_t>(p)] = p != MemoryParameter::block || reductions.empty();
  }
  const KernelDevice limits = memory_of(device);
  std::vector<MemoryOp> passes;
  for (const CopyRow& row : rows) {
    const Bytes moved{static_cast<double>(row.bytes)};
    passes.push_back({0.5 * moved, 0.5 * moved, 0.0});
    problem.measured.push_back(row.latency);
    problem.roofline.push_back(least_time(Flops{}, moved, limits.peak, limits.bandwidth, limits.l2));
    KernelRow shape;
    shape.shape[0] = static_cast<double>(row.bytes);
    problem.shapes.push_back(shape_hash(shape));
  }
  for (const PassRow& row : reductions) {
    const PassProbe& p = row.probe;
    passes.push_back(
        {Bytes{static_cast<double>(p.read())}, Bytes{static_cast<double>(p.written())}, static_cast<double>(p.rows())});
    problem.measured.push_back(row.latency);
    problem.roofline.push_back(least_time(Flops{}, passes.back().moved(), limits.peak, limits.bandwidth, limits.l2));
    KernelRow shape;
    shape.shape[0] = static_cast<double>(p.array_bytes);
    shape.shape[1] = static_cast<double>(p.width);
    problem.shapes.push_back(shape_hash(shape));
  }
  predict_passes(problem, std::move(passes), limits, Residency::memory);
  return problem;
}

}  // namespace headroom
