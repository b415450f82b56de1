// SPDX-License-Identifier: Apache-2.0
// A fitted curve as an entry of a curve file.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>

#include <string>

namespace headroom {

/// One curve as fitted, with the kernels it was fitted on.
struct FittedGroup {
  KernelGroup group;
  CurveProblem problem;
  CurveFit fit;
  int folds = 0;

  /// Of folds held out, else of the kernels fitted.
  [[nodiscard]] const CurveErrors& judged() const noexcept { return fit.held_out.n > 0 ? fit.held_out : fit.fitted; }
  [[nodiscard]] const std::vector<double>& judged_errors() const noexcept {
    return fit.held_out_errors.empty() ? fit.fitted_errors : fit.held_out_errors;
  }
};

/// "2.55 us", "512 KiB", "0.9021": four digits, as a curve file holds them.
[[nodiscard]] std::string value_text(const CurveParameter& parameter, double value);

/// The table of a curve file that holds curves of a kind: any pass over memory shares that of quantise passes.
[[nodiscard]] std::string curve_table(const KernelGroup& group);

/// "[[gemm]]" with provenance, errors and "[gemm.values]".
[[nodiscard]] std::string curve_toml(const FittedGroup& fitted, const std::string& source, const std::string& date);

}  // namespace headroom
