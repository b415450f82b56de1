// SPDX-License-Identifier: Apache-2.0
// Which family of measured kernels an engine runs its experts on, where it is not the fastest.
#pragma once

#include <string>

namespace headroom {

/// Experts of `format` on SKUs of `generation` run on the kernels of one family alone.
struct ExpertFamily {
  std::string format;      ///< of the curves: "w4a16_mxfp4"
  std::string generation;  ///< "hopper"
  std::string kernel;      ///< "marlin"
};

/// The family that releases ran before `before`, which brought a faster one.
struct FormerExperts : ExpertFamily {
  std::string before, source;
};

}  // namespace headroom
