// SPDX-License-Identifier: Apache-2.0
// Files of measured kernels as the command line names them, and those that no device could have run.
#pragma once

#include <headroom/calibrate/kernels/score_kernels.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// Reads every file; ConfigError with all problems of all of them.
[[nodiscard]] std::vector<KernelFile> read_kernel_files(const std::vector<std::string>& paths,
                                                        std::optional<KernelKind> kind);
/// Kernels that the datasheet does not allow, few of them spelled out; empty when there are none.
[[nodiscard]] std::string too_fast_text(const std::vector<TooFast>& kernels);

}  // namespace headroom::cli
