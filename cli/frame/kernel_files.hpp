// SPDX-License-Identifier: Apache-2.0
// Files of measured kernels named on the command line, with a check against the datasheet.
#pragma once

#include <headroom/calibrate/kernels/score_kernels.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Reads every file. Throws ConfigError with the problems of all files.
[[nodiscard]] std::vector<KernelFile> read_kernel_files(const std::vector<std::string>& paths,
                                                        std::optional<KernelKind> kind);
/// Warning about kernels that the datasheet rules out, with a few examples; empty without any.
[[nodiscard]] std::string too_fast_text(const std::vector<TooFast>& kernels);

}  // namespace headroom::cli
