// SPDX-License-Identifier: Apache-2.0
// What forms about memory ask of a SKU: how its memories serve a warp, and at which rates.
#pragma once

#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/model/laboratory/access.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// How global and shared memory serve a warp.
struct ServedBy {
  AccessUnit unit;
  std::optional<Bytes> first_cache;  ///< of an SM, with what shared memory could take of it
  std::string_view local_level;      ///< what its shared memory is called among the levels
  std::string_view local_mark;       ///< the same, short
  std::string_view last_cache;       ///< and the cache that all SMs share
  std::string source;
};
/// Of the SKU's architecture, or of NVIDIA's Ampere where none was named. ConfigError for a device that has no warps.
[[nodiscard]] ServedBy served_by(const LabBench& bench);

/// SMs of the SKU and their clock. ConfigError naming every number that the catalog lacks.
struct UnitClock {
  double units = 0.0;
  Hertz clock{};
};
[[nodiscard]] UnitClock unit_clock(const Device& device);

/// What streams of a SKU reach.
struct MemoryRates {
  BytesPerSecond memory{};     ///< that measured passes sustain, or the catalog's
  BytesPerSecond datasheet{};  ///< the catalog's
  std::string why;             ///< a sentence
};
[[nodiscard]] MemoryRates memory_rates(const LabBench& bench);

/// --elements or --bytes: what a kernel needs, in elements of so many bytes; nullopt where neither was given. A
/// problem: both, or no SKU to time them on.
[[nodiscard]] std::optional<Bytes> needed_bytes(FormReader& in, double element);

}  // namespace headroom::cli
