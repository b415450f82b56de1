// SPDX-License-Identifier: Apache-2.0
// A SKU as its catalog file states it: peaks by rate, memory, power and links, each number with its source.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A number, where it comes from, and whether it was re-read there or only remembered.
template <class T>
struct Sourced {
  T value{};
  std::string source;  ///< spelled out, not the tag
  bool recalled = false;
  std::string file;
  Position at;
};

/// The arithmetic rates a device may have. Tensor rates are dense; *_vector are the ordinary units.
enum class Rate : std::uint8_t { fp64, tf32, fp16, bf16, fp8, int8, fp4, fp32_vector, fp64_vector, count };
inline constexpr std::size_t rate_count = static_cast<std::size_t>(Rate::count);
inline constexpr std::array<std::string_view, rate_count> rate_names{"fp64", "tf32", "fp16",        "bf16",       "fp8",
                                                                     "int8", "fp4",  "fp32_vector", "fp64_vector"};
[[nodiscard]] constexpr std::string_view name_of(Rate rate) {
  return rate_names[static_cast<std::size_t>(rate)];
}

enum class DeviceKind : std::uint8_t { gpu, accelerator, cpu };
inline constexpr std::array<std::string_view, 3> device_kind_names{"gpu", "accelerator", "cpu"};

/// How the GPUs of one scale-up domain are joined.
enum class LinkTopology : std::uint8_t { none, fabric_switch, full_mesh, cube_mesh, bridge, direct, pcie };
inline constexpr std::array<std::string_view, 7> link_topology_names{"none",   "switch", "full-mesh", "cube-mesh",
                                                                     "bridge", "direct", "pcie"};

using RateTable = std::array<std::optional<Sourced<FlopsPerSecond>>, rate_count>;

/// Everything the catalog knows about one SKU. Per GPU, never per superchip; link rates in one direction.
struct Device {
  std::string id;
  std::string name;
  std::vector<std::string> aliases;
  std::string vendor;
  DeviceKind kind = DeviceKind::gpu;
  std::string generation;
  std::int64_t year = 0;
  std::string compute_capability;
  std::string notes;
  std::string file;
  std::string curves;  ///< id of the measured SKU whose kernel curves serve: its own, or its generation's; empty: none

  struct Compute {
    std::optional<Sourced<std::int64_t>> units;
    std::optional<Sourced<Hertz>> clock;
    std::optional<Sourced<std::int64_t>> dense_flop_per_clock_per_unit;  ///< 16-bit tensor path
  } compute;

  RateTable peak;    ///< dense
  RateTable sparse;  ///< what the vendor prints with 2:4 sparsity; never priced, only checked

  struct Memory {
    std::optional<Sourced<Bytes>> marketed;
    std::optional<Sourced<Bytes>> usable;
    std::optional<Sourced<Bytes>> visible;  ///< total of cudaMemGetInfo: less than nvidia-smi's by the driver's part
    std::optional<Sourced<BytesPerSecond>> bandwidth;
    std::optional<Sourced<std::int64_t>> bus_width;  ///< bits
    std::optional<Sourced<BytesPerSecond>> pin_rate;
    std::optional<Sourced<Bytes>> l2;
    std::optional<Sourced<Bytes>> shared_per_unit;
    std::optional<Sourced<std::int64_t>> registers_per_unit;
    std::optional<Sourced<std::int64_t>> max_warps_per_unit;
    std::optional<Sourced<std::int64_t>> max_blocks_per_unit;
  } memory;

  struct Power {
    std::optional<Sourced<Watts>> tdp;
    std::optional<Sourced<Watts>> idle;  ///< drawn with nothing to do; none: a share of the TDP
    bool of_superchip = false;
  } power;

  struct ScaleUp {
    std::string link;
    LinkTopology topology = LinkTopology::none;
    std::int64_t domain = 1;  ///< GPUs reachable over the link, itself included
    std::optional<Sourced<std::int64_t>> links;
    std::optional<Sourced<BytesPerSecond>> link_rate;
    std::optional<Sourced<BytesPerSecond>> per_gpu;
    std::optional<Sourced<BytesPerSecond>> per_pair;
  } scale_up;

  struct Pcie {
    std::int64_t generation = 0;
    std::int64_t lanes = 0;
    std::optional<Sourced<BytesPerSecond>> rate;
  } pcie;

  std::vector<std::string> mig_profiles;

  struct LintException {
    std::string check;
    std::string reason;
    Position at;
  };
  std::vector<LintException> lint_exceptions;

  /// Source tags of the file that no number uses: a lint finding.
  std::vector<std::string> unused_sources;

  /// The dense peak of a rate; ConfigError naming the SKU and the rates it has when there is none.
  [[nodiscard]] FlopsPerSecond peak_of(Rate rate) const;
  /// What a plan may fill: usable capacity when known, else the marketed decimal one. ConfigError when neither is.
  [[nodiscard]] const Sourced<Bytes>& capacity() const;
  /// What a program sees as the total and engines take fractions of: `visible` when known, else capacity().
  [[nodiscard]] const Sourced<Bytes>& visible_capacity() const;
  /// ConfigError when the catalog has none.
  [[nodiscard]] BytesPerSecond bandwidth() const;
};

/// Reads one SKU; every problem goes to `diagnostics`.
[[nodiscard]] Device read_device(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);

}  // namespace headroom
