// SPDX-License-Identifier: Apache-2.0
// Opens libheadroom_probes.so, which alone knows CUDA, and measures through it.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <memory>
#include <optional>
#include <string>

namespace headroom {

/// The library that an environment variable names instead of the real one; nullopt: it is not set. ConfigError where
/// the path does not begin at the root.
[[nodiscard]] std::optional<std::string> library_of(const char* variable);

/// Of the library named by HEADROOM_PROBES_LIBRARY, else of libheadroom_probes.so beside the running program or where
/// both are installed (../lib). No other folder is looked into: neither the current one nor the loader's.
/// Throws DeviceError: no library, another ABI version, no driver, no such device, a device this build has no kernels
/// for.
[[nodiscard]] std::unique_ptr<Prober> open_prober(std::int64_t device);

}  // namespace headroom
