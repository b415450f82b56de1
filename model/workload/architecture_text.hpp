// SPDX-License-Identifier: Apache-2.0
// An architecture as the TOML of a preset.
#pragma once

#include <headroom/model/workload/architecture.hpp>

#include <string>

namespace headroom {

/// What read_architecture reads back to the same counts; keys at their defaults are left out.
[[nodiscard]] std::string architecture_toml(const Architecture& architecture);

}  // namespace headroom
