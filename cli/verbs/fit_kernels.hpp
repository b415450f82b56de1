// SPDX-License-Identifier: Apache-2.0
// `headroom fit FILES --gpu G`: measured kernels in, the SKU's curves out.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

[[nodiscard]] Outcome fit_kernels(const Arguments& arguments);

}  // namespace headroom::cli
