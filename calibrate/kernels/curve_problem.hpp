// SPDX-License-Identifier: Apache-2.0
// Measured kernels as problems to fit: which rows belong to one curve, and the model that predicts them.
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

/// The kernels of one engine, version and format (of MoE also one family and routing), which share a curve. Of training
/// attention the engine is the implementation.
struct KernelGroup {
  KernelKind kind = KernelKind::gemm;
  std::string engine, version;
  std::string format;   ///< as the model names it
  std::string kernel;   ///< of MoE the family of kernels, of quantise passes the op; else empty
  std::string routing;  ///< of MoE "balanced" or "power-law"
  /// Of MoE: sizes (hidden, inter, top-k, experts) of models that some engine's kernel names say have no gate. Not
  /// every engine's names do, and a model has the same layers everywhere.
  std::vector<std::array<double, 4>> gateless;
  std::vector<const KernelRow*> rows;
  std::vector<const KernelRow*> outside;  ///< of shapes beyond what the model is fitted on (attention_in_range)
};

/// Sorted by engine and format. The rows must outlive the groups.
[[nodiscard]] std::vector<KernelGroup> group_kernels(std::span<const KernelFile> files);

/// The problem of one group on a device. The group must outlive the problem. ConfigError for a format that no model
/// knows or a device that lacks its rate. Collectives need the node that joins the GPUs.
[[nodiscard]] CurveProblem curve_problem(const KernelGroup& group, const Device& device, const Node* node = nullptr);

/// The same group made of its kernels beyond the range of the fit.
[[nodiscard]] KernelGroup outside_of(const KernelGroup& group);
/// The format of a group; ConfigError naming those known when it is none.
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
