// SPDX-License-Identifier: Apache-2.0
// What one SM or compute unit of an architecture holds and how it hands it out: warps, registers, shared memory, tensor
// memory, with the latencies of what lies behind it. One file of catalog/architectures each.
#pragma once

#include <headroom/hardware/catalog/device.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Facts of one unit: an SM of NVIDIA, a compute unit of AMD. A warp stands for a wavefront too, a block for a
/// workgroup, shared memory for LDS. Registers are of 32 bits.
struct UnitLimits {
  std::string id, name, file, notes;
  std::vector<std::string> aliases;  ///< the compute capability, "8.0", among them
  std::string vendor, generation;

  struct Threads {
    Sourced<std::int64_t> warp;  ///< threads of a warp
    Sourced<std::int64_t> warps_per_unit;
    Sourced<std::int64_t> blocks_per_unit;
    std::optional<Sourced<std::int64_t>> barriers_per_unit;  ///< blocks of more than one warp, where they are fewer
    Sourced<std::int64_t> per_unit;
    Sourced<std::int64_t> per_block;
    Sourced<std::int64_t> schedulers;  ///< parts of the unit, each with its own warps and share of the registers
  } threads;

  struct Registers {
    Sourced<std::int64_t> per_unit;
    Sourced<std::int64_t> per_block;
    Sourced<std::int64_t> per_thread;
    Sourced<std::int64_t> granularity;  ///< registers of a warp come in multiples of it
  } registers;

  struct Shared {
    Sourced<Bytes> per_unit;
    Sourced<Bytes> per_block;                          ///< the most, which a kernel opts in to
    Sourced<Bytes> per_block_default;                  ///< without opting in
    std::optional<Sourced<Bytes>> reserved_per_block;  ///< taken of each block beside its own
    Sourced<Bytes> granularity;
    std::optional<Sourced<std::vector<Bytes>>> carve_outs;  ///< sizes it can be cut to, ascending; absent: it is fixed
    std::optional<Sourced<Bytes>> with_l1;                  ///< the array that it shares with L1
    Sourced<std::int64_t> banks;
    Sourced<Bytes> bank_width;
    std::optional<Sourced<std::int64_t>> bytes_per_clock;  ///< reads, all banks together
  } shared;

  struct Cache {
    Sourced<Bytes> sector;  ///< least that is fetched
    Sourced<Bytes> line;
    std::optional<Sourced<Bytes>> l1;  ///< where it is an array of its own
  } cache;

  struct Cluster {
    std::optional<Sourced<std::int64_t>> portable;  ///< blocks; absent: there are no clusters
    std::optional<Sourced<std::int64_t>> most;      ///< blocks, where a kernel opts in to a size that is not portable
  } cluster;

  std::optional<Sourced<bool>> tma;  ///< whether bulk copies run beside the threads

  struct TensorMemory {
    Sourced<std::int64_t> columns;
    Sourced<std::int64_t> lanes;
    Sourced<Bytes> cell;                  ///< of one column in one lane
    Sourced<std::int64_t> least_columns;  ///< of an allocation; those above are its doublings
    [[nodiscard]] Bytes size() const;
  };
  std::optional<TensorMemory> tensor_memory;

  /// Of a lone chain of loads. The memory's is time, since its own clock sets it; the others follow the unit's clock.
  struct Latency {
    std::optional<Sourced<Seconds>> memory;
    std::optional<Sourced<std::int64_t>> l2_cycles, l1_cycles, shared_cycles;
  } latency;

  std::vector<std::string> unused_sources;
};

/// Reads one architecture; problems are added to `diagnostics`.
[[nodiscard]] UnitLimits read_unit_limits(const ConfigValue& document,
                                          const std::string& file,
                                          Diagnostics& diagnostics);

/// The spelling of a device's architecture in the catalog: its compute capability, or its generation where it has none.
[[nodiscard]] const std::string& architecture_of(const Device& device);

}  // namespace headroom
