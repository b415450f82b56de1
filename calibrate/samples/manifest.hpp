// SPDX-License-Identifier: Apache-2.0
// What a folder of samples was measured on, with and how: manifest.toml beside the CSV files. No UUID or serial number
// is written, so that a folder can be handed on.
#pragma once

#include <headroom/calibrate/probe/host_reading.hpp>
#include <headroom/calibrate/samples/probe_run.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  std::optional<HostReading> host;  ///< none: the device is simulated
  ProbeEffort effort;
  std::optional<double> precision;  ///< of a calibration: its rule for the interval of a median
  bool complete = true;             ///< false: a calibration that has not ended
  std::vector<std::string> unmet;   ///< probes that the rule was not met for, and why
};

/// What a sample depends on but the probe itself, by name: device, board, software, limits. Two folders that differ
/// here were not measured under the same conditions.
using Conditions = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Conditions conditions_of(const Manifest& manifest);
/// Their digest: the same conditions have the same, a changed driver another.
[[nodiscard]] std::string conditions_digest(const Manifest& manifest);
/// "driver 580.82.07 in A, 570.86 in B; ..." for what differs; empty: nothing does. cuDNN and NCCL count
/// where both have them.
[[nodiscard]] std::string differences(const Conditions& a, const Conditions& b);

/// TOML with `schema = 1`, `kind = "probe"`; keys are in docs/probes.md.
[[nodiscard]] std::string manifest_toml(const Manifest& manifest, const ProbeRun& run);

/// What manifest_toml wrote, but for the readings of clocks. ConfigError with every problem.
[[nodiscard]] Manifest read_manifest(std::string_view text, const std::string& file);

/// Whether `text` is a manifest that manifest_toml could have written: its schema and kind.
[[nodiscard]] bool is_manifest(std::string_view text) noexcept;

/// Now, UTC, to the second.
[[nodiscard]] std::string utc_now();

}  // namespace headroom
