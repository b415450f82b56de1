// SPDX-License-Identifier: Apache-2.0
// What a folder of samples was measured on, with and how: manifest.toml beside the CSV files. No UUID or serial number
// is written, so that a folder can be handed on.
#pragma once

#include <headroom/calibrate/probe_run.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct Manifest {
  std::string headroom;  ///< "0.1.0"
  std::string date;      ///< "2026-11-20T12:00:00Z"
  bool quick = false;
  std::vector<std::string> files;
  ProbeDevice device;
  std::string catalog_id;    ///< empty: the catalog does not know the device
  std::string nvml_missing;  ///< why there are no clocks; empty: there are
  DeviceSettings settings;
  ProbeEffort effort;
};

/// TOML with `schema = 1`, `kind = "probe"`; keys are in docs/probes.md.
[[nodiscard]] std::string manifest_toml(const Manifest& manifest, const ProbeRun& run);

/// Whether `text` is a manifest that manifest_toml could have written: its schema and kind.
[[nodiscard]] bool is_manifest(std::string_view text) noexcept;

/// Now, UTC, to the second.
[[nodiscard]] std::string utc_now();

}  // namespace headroom
