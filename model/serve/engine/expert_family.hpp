// SPDX-License-Identifier: Apache-2.0
// The family of measured kernels on which an engine runs its experts, where that is not the fastest.
#pragma once

#include <string>

namespace headroom {

/// Experts of `format` on SKUs of `generation` run only on the kernels of one family.
struct ExpertFamily {
  std::string format;      ///< format of the curves: "w4a16_mxfp4"
  std::string generation;  ///< device generation: "hopper"
  std::string kernel;      ///< kernel family: "marlin"
};

/// The family that releases before `before` ran; `before` introduced a faster one.
struct FormerExperts : ExpertFamily {
  std::string before, source;
};

}  // namespace headroom
