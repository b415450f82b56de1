// SPDX-License-Identifier: Apache-2.0
// docs/accuracy.md with a fit behind it.
#pragma once

#include <headroom/calibrate/stacks/fit_step.hpp>

#include <span>
#include <string>

namespace headroom::cli {

/// The page of errors of the numbers that the binary ships with, beside those of a fit that never saw a row's source.
[[nodiscard]] std::string fit_page(const StepFit& fit,
                                   std::span<const RunFile> files,
                                   const Sources& sources,
                                   const std::string& command);

}  // namespace headroom::cli
