// SPDX-License-Identifier: Apache-2.0
// A file of kernels, one after another: [[op]] with a kind and the options of `headroom op` as keys.
#pragma once

#include <headroom/cli/render/op_answer.hpp>

#include <string>
#include <vector>

namespace headroom::cli {

struct ChainStep {
  std::string name;  ///< of the key `name`, else the kind
  const OpKind* kind = nullptr;
  OpQuestion question;
  std::int64_t repeat = 1;
};

/// Reads a file such as
///
///     schema = 1
///     [[op]]
///     kind = "gemm"
///     m = 4096
///     n = 4096
///     k = 4096
///
/// ConfigError with every problem, each at its place.
[[nodiscard]] std::vector<ChainStep> read_chain(const std::string& path);

}  // namespace headroom::cli
