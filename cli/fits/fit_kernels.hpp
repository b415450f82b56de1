// SPDX-License-Identifier: Apache-2.0
// `headroom fit FILES --gpu G`: fits the SKU's curves to measured kernels.
#pragma once

#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

[[nodiscard]] Outcome fit_kernels(const Arguments& arguments);

}  // namespace headroom::cli
