// SPDX-License-Identifier: Apache-2.0
// Measured kernels as fitting problems: the rows of one curve, and the model that predicts them.
#pragma once

#include <headroom/calibrate/kernels/fit_curve.hpp>
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/memory_ops.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// Kernels that share a curve: those of one engine, version and format, and for MoE of one family and routing. For
/// training attention the engine is the implementation.
struct KernelGroup {
  KernelKind kind = KernelKind::gemm;
  std::string engine, version;
  std::string format;     ///< format by the model's name
  std::string kernel;     ///< family of kernels for MoE, op for quantise passes; else empty
  std::string routing;    ///< "balanced" or "power-law" for MoE; else empty
  std::string op;         ///< of a profile's calls between events, whose host times differ by op; else empty
  bool profiled = false;  ///< of a profile, whose engine may have been measured on no SKU: any engine's curve serves
  /// For MoE: sizes (hidden, inter, top-k, experts) of models that some engine's kernel names mark as having no gate.
  /// Other engines' names do not say so, but a model has the same layers in every engine.
  std::vector<std::array<double, 4>> gateless;
  std::vector<const KernelRow*> rows;
  std::vector<const KernelRow*> outside;  ///< rows of shapes outside the model's fitted range (attention_in_range)
};

/// Groups sorted by engine and format. `files` must outlive the groups.
[[nodiscard]] std::vector<KernelGroup> group_kernels(std::span<const KernelFile> files);

/// Fitting problem of a group on a device; collectives need the node that joins the GPUs. The group must outlive the
/// problem. Throws ConfigError for a format unknown to the model or without a rate on the device.
[[nodiscard]] CurveProblem curve_problem(const ModelData& data,
                                         const KernelGroup& group,
                                         const Device& device,
                                         const Node* node = nullptr);

/// The group reduced to its kernels outside the fitted range.
[[nodiscard]] KernelGroup outside_of(const KernelGroup& group);
/// Format of a group. Throws ConfigError with the known formats for an unknown one.
[[nodiscard]] const GemmFormat& known_format(const KernelGroup& group);

/// Sets how the problem predicts: `passes` by the memory model of the device.
void predict_passes(CurveProblem& problem,
                    std::vector<MemoryOp> passes,
                    const KernelDevice& limits,
                    Residency residency);
/// A curve's parameters at their priors.
[[nodiscard]] std::vector<double> priors_of(std::span<const CurveParameter> parameters);

/// The kernels of a group that are among the shapes of a probe (probe_plan.hpp).
[[nodiscard]] std::vector<std::size_t> probe_kernels(const KernelGroup& group);

}  // namespace headroom
