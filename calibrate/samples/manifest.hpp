// SPDX-License-Identifier: Apache-2.0
// Conditions of a folder of samples: manifest.toml next to the CSV files. Contains no UUID or serial number, so that a
// folder can be shared.
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
  std::string nvml_missing;  ///< reason why there are no clocks; empty: there are
  DeviceSettings settings;
  std::optional<HostReading> host;  ///< absent: the device is simulated
  ProbeEffort effort;
  std::optional<double> precision;  ///< a calibration's limit for the relative half-width of a median's interval
  bool complete = true;             ///< false: a calibration that has not ended
  std::vector<std::string> unmet;   ///< probes that did not reach the precision, with the reason
};

/// Named conditions of a sample other than its probe: device, board, software, limits. Two folders are comparable when
/// they are equal.
using Conditions = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Conditions conditions_of(const Manifest& manifest);
/// Digest of the conditions; equal for equal conditions.
[[nodiscard]] std::string conditions_digest(const Manifest& manifest);
/// Differences as "driver 580.82.07 in A, 570.86 in B; ..."; empty when there are none. cuDNN and NCCL are compared
/// only when both sides have them.
[[nodiscard]] std::string differences(const Conditions& a, const Conditions& b);

/// TOML with `schema = 1`, `kind = "probe"`; keys are in docs/probes.md.
[[nodiscard]] std::string manifest_toml(const Manifest& manifest, const ProbeRun& run);

/// Reads the text of manifest_toml, except the readings of clocks. Throws ConfigError with every problem.
[[nodiscard]] Manifest read_manifest(std::string_view text, const std::string& file);

/// Whether `text` has the schema and kind of a manifest.
[[nodiscard]] bool is_manifest(std::string_view text) noexcept;

/// Current UTC time in seconds, "2026-11-20T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace headroom
