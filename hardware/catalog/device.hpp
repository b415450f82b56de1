// SPDX-License-Identifier: Apache-2.0
// A SKU as its catalog file states it: peak rates, memory, power and links, each number with its source.
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

/// A number of the catalog with its source and place.
template <class T>
struct Sourced {
  T value{};
  std::string source;  ///< description of the source, not its tag
  /// True if the number was written from memory instead of re-read at its source.
  bool recalled = false;
  std::string file;
  Position at;
};

/// Arithmetic rates of a device. Tensor rates are without sparsity; *_vector are the ordinary units.
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

/// Everything the catalog knows of one SKU, per GPU and never per superchip. Link rates are of one direction.
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
  std::string curves;  ///< id of the measured SKU whose kernel curves apply: its own or its generation's; empty: none

  struct Compute {
    std::optional<Sourced<std::int64_t>> units;
    std::optional<Sourced<Hertz>> clock;
    /// FLOP per clock and unit on the 16-bit tensor path, without sparsity
    std::optional<Sourced<std::int64_t>> dense_flop_per_clock_per_unit;
    /// Standard deviation of a board's time of products across boards of the SKU, over their mean
    std::optional<Sourced<double>> board_spread;
  } compute;

  RateTable peak;    ///< peak rates without sparsity, FLOP/s
  RateTable sparse;  ///< vendor's peak rates with 2:4 sparsity, FLOP/s; checked by lint, never used in a time

  struct Memory {
    std::optional<Sourced<Bytes>> marketed;
    std::optional<Sourced<Bytes>> usable;
    std::optional<Sourced<Bytes>> visible;  ///< total of cudaMemGetInfo: nvidia-smi's total less the driver's own part
    std::optional<Sourced<BytesPerSecond>> bandwidth;
    std::optional<Sourced<std::int64_t>> bus_width;  ///< width in bits
    std::optional<Sourced<BytesPerSecond>> pin_rate;
    std::optional<Sourced<Bytes>> l2;
    std::optional<Sourced<Bytes>> shared_per_unit;
    std::optional<Sourced<std::int64_t>> registers_per_unit;
    std::optional<Sourced<std::int64_t>> max_warps_per_unit;
    std::optional<Sourced<std::int64_t>> max_blocks_per_unit;
  } memory;

  struct Power {
    std::optional<Sourced<Watts>> tdp;
    std::optional<Sourced<Watts>> idle;  ///< power at rest; unset: a share of the TDP is assumed
    bool of_superchip = false;
  } power;

  struct ScaleUp {
    std::string link;
    LinkTopology topology = LinkTopology::none;
    std::int64_t domain = 1;  ///< GPUs that the link reaches, including this one
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

  std::string partitions;  ///< id of the scheme by which the card can be cut into slices; empty: it cannot

  /// What a slice of a card keeps of the card. Its own numbers stand where those of a card stand.
  struct Slice {
    std::string card;           ///< id
    std::string profile;        ///< "1g.10gb"
    std::int64_t per_card = 1;  ///< slices of this profile that one card has
    double share = 1.0;         ///< part of the card that it takes from others: of compute or of memory, the larger one
    double compute = 1.0;       ///< its SMs over the card's
    double memory = 1.0;        ///< its part of the card's memory, bandwidth and L2
    bool mig = true;            ///< an instance of NVIDIA's MIG; else a partition of AMD's
    std::optional<Sourced<std::int64_t>> copy_engines, decoders, jpeg, ofa;
  };
  std::optional<Slice> slice;

  struct LintException {
    std::string check;
    std::string reason;
    Position at;
  };
  std::vector<LintException> lint_exceptions;

  /// Source tags of the file that no number uses; lint reports them.
  std::vector<std::string> unused_sources;

  /// Peak of a rate without sparsity, FLOP/s. ConfigError with the SKU's known rates if it has none.
  [[nodiscard]] FlopsPerSecond peak_of(Rate rate) const;
  /// Memory that a plan may fill: the usable capacity if known, else the marketed one. ConfigError if neither is known.
  [[nodiscard]] const Sourced<Bytes>& capacity() const;
  /// Total memory that a program sees and engines take fractions of: `visible` if known, else capacity().
  [[nodiscard]] const Sourced<Bytes>& visible_capacity() const;
  /// Memory bandwidth, bytes/s. ConfigError if the catalog has none.
  [[nodiscard]] BytesPerSecond bandwidth() const;
};

/// Reads one SKU; problems are added to `diagnostics`.
[[nodiscard]] Device read_device(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);

}  // namespace headroom
