// SPDX-License-Identifier: Apache-2.0
// Text of a fitted curve as an entry of a curve file.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>

#include <string>

namespace headroom {

/// A fitted curve with its kernels.
struct FittedGroup {
  KernelGroup group;
  CurveProblem problem;
  CurveFit fit;
  int folds = 0;

  /// Held-out errors of a cross-validation, else the errors of the fitted kernels.
  [[nodiscard]] const CurveErrors& judged() const noexcept { return fit.held_out.n > 0 ? fit.held_out : fit.fitted; }
  [[nodiscard]] const std::vector<double>& judged_errors() const noexcept {
    return fit.held_out_errors.empty() ? fit.fitted_errors : fit.held_out_errors;
  }
};

/// Value with four digits, as in a curve file: "2.55 us", "512 KiB", "0.9021".
[[nodiscard]] std::string value_text(const CurveParameter& parameter, double value);

/// Table of a curve file for this kind of curve; all passes over memory share that of quantise passes.
[[nodiscard]] std::string curve_table(const KernelGroup& group);

/// Entry "[[gemm]]" with source, errors and "[gemm.values]".
[[nodiscard]] std::string curve_toml(const FittedGroup& fitted, const std::string& source, const std::string& date);

}  // namespace headroom
