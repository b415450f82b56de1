// SPDX-License-Identifier: Apache-2.0
// Files of measured kernels named on the command line, with a check against the datasheet.
#pragma once

#include <headroom/calibrate/kernels/score_kernels.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/validation/budget.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// Reads the files of measured kernels that the command names, of --kind where it is stated, of profiles the kernels of
/// the device `id`; ConfigError with all problems of all of them.
[[nodiscard]] std::vector<KernelFile> read_kernel_files(const Arguments& arguments, std::string_view id);
/// A sentence for each op of a profile that was left out.
[[nodiscard]] std::vector<std::string> passed_over(std::span<const KernelFile> files);

/// Scores those files: `score` predicts them, `remarks` ends the text.
[[nodiscard]] Outcome score_kernel_files(const Arguments& arguments,
                                         std::string_view id,
                                         const std::function<Validation(std::span<const KernelFile>)>& score,
                                         const std::function<std::string(std::span<const KernelFile>)>& remarks = {});

/// The bars of --budget; none without it.
[[nodiscard]] std::vector<BudgetBar> budget_of(const Arguments& arguments);
/// Tells every bar that the validation misses, and fails with exit code 1 where there is one.
void tell_missed_bars(const Validation& validation, const std::vector<BudgetBar>& bars, Outcome& outcome);

/// Kernels that the datasheet does not allow, few of them spelled out; empty when there are none.
[[nodiscard]] std::string too_fast_text(const std::vector<TooFast>& kernels);

}  // namespace headroom::cli
