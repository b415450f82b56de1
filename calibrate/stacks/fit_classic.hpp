// SPDX-License-Identifier: Apache-2.0
// Fits the laws of classic machine learning, video, simulators and policies to measured rows, and estimates their error
// on SKUs and processors that were no part of the fit.
#pragma once

#include <headroom/calibrate/stacks/fit_errors.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A number of stacks/step/classic.toml or media.toml, in SI units.
struct ClassicNumber {
  std::string name;     ///< "level", as its table calls it
  double before = 0.0;  ///< in the file
  double fitted = 0.0;
};
/// One law, whose numbers are fitted together on the rows that it answers.
struct ClassicLawFit {
  std::string law;  ///< "trees.catboost.gpu"
  std::vector<ClassicNumber> numbers;
  FitErrors before, fitted, left_out;
  std::size_t machines = 0;
  double width = 0.0;  ///< of those left out 80 % lie within 1 / (1 + width) and 1 + width
};

/// Least squares of the logarithms, robust (robust_fit.hpp), from the numbers in the files; each law by itself. Each
/// SKU or processor is left out once where there are several. Laws without rows are left out.
[[nodiscard]] std::vector<ClassicLawFit> fit_classic(std::span<const RunFile> files,
                                                     const Sources& sources,
                                                     bool leave_out,
                                                     const std::function<void(std::string_view)>& progress = {});

}  // namespace headroom
