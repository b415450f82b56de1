// SPDX-License-Identifier: Apache-2.0
// Opens libheadroom_probes.so, which alone knows CUDA, and measures through it.
#pragma once

#include <headroom/calibrate/probe.hpp>

#include <memory>

namespace headroom {

/// The library named by HEADROOM_PROBES_LIBRARY, else libheadroom_probes.so where the loader finds it (beside the
/// binary's build, ../lib of an installed one, the system's folders).
/// Throws DeviceError: no library, another ABI version, no driver, no such device, a device this build has no kernels
/// for.
[[nodiscard]] std::unique_ptr<Prober> open_prober(std::int64_t device);

}  // namespace headroom
