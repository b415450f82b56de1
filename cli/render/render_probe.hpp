// SPDX-License-Identifier: Apache-2.0
// What a run of probes measured, as text.
#pragma once

#include <string>

namespace headroom {
struct Device;
struct Manifest;
struct ProbeRun;
}  // namespace headroom

namespace headroom::cli {

/// `device` is the catalog's entry, for shares of its datasheet; nullptr when it has none.
[[nodiscard]] std::string probe_text(const Manifest& manifest, const ProbeRun& run, const Device* device);
/// Of each collective and group the shortest time and the best bus bandwidth; nothing where none was measured.
[[nodiscard]] std::string collective_samples_text(const ProbeRun& run);

}  // namespace headroom::cli
