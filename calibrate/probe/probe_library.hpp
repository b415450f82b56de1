// SPDX-License-Identifier: Apache-2.0
// Opens libheadroom_probes.so, the only part that uses CUDA, and measures through it.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Path of a library from an environment variable, for use instead of the real one; nullopt when not set. Throws
/// ConfigError when the path is not absolute.
[[nodiscard]] std::optional<std::string> library_of(const char* variable);

/// Path of a library next to the program or as installed; nullopt where it is in neither place. Never a bare name,
/// which the loader would resolve by the folder that the program is called from.
[[nodiscard]] std::optional<std::string> beside_program(std::string_view library);

/// Opens the library named by HEADROOM_PROBES_LIBRARY, else libheadroom_probes.so next to the program or in ../lib. No
/// other folder is searched, neither the current one nor the loader's. Throws DeviceError: no library, wrong ABI
/// version, no driver, no such device, or a device that this build has no kernels for.
[[nodiscard]] std::unique_ptr<Prober> open_prober(std::int64_t device);

}  // namespace headroom
