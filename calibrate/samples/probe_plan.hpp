// SPDX-License-Identifier: Apache-2.0
// Probes for a device: shapes, sizes and counts, and enough copies to keep the data out of L2.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

struct ProbeChoice {
  bool gemm = true, copy = true, launch = true, attention = true, decode = true, memory = true, transfer = true;
  bool unit = true;
  bool layer = false;               ///< layers as sequences of kernels: when asked, and in the full set
  std::optional<bool> collectives;  ///< absent: when the process sees several GPUs
  std::vector<GemmType> types{GemmType::bf16, GemmType::fp16, GemmType::tf32, GemmType::fp8};
  bool quick = false;  ///< fewer shapes and sizes, no sustained runs
  bool full = false;   ///< many more shapes and sizes of attention, decode, memory and transfer

  /// A choice without any probes.
  [[nodiscard]] static ProbeChoice none() {
    ProbeChoice choice;
    choice.gemm = choice.copy = choice.launch = choice.attention = choice.decode = choice.memory = choice.transfer =
        choice.unit = false;
    choice.collectives = false;
    return choice;
  }
};

struct ProbePlan {
  std::vector<Probe> probes;
  std::vector<Skipped> skipped;  ///< probes that the device cannot run or hold, with the reason
  ProbeEffort effort;
};

struct ProbeShape {
  std::int64_t m = 1, n = 1, k = 1;
};

/// The 48 shapes: m from 1 to 8192 with eight weights, from one that is all launch overhead (128 x 64) to one that
/// fills the device.
[[nodiscard]] std::vector<ProbeShape> probe_shapes();

/// Fewest copies of `bytes` that together exceed twice the L2, at least `least`. An L2 of zero means unknown and is
/// taken as 256 MiB.
[[nodiscard]] std::int64_t rotation_copies(std::int64_t bytes, Bytes l2, std::int64_t least = 1);

/// Probes of attention, decode, memory, transfer and units in a choice, as far as the device supports them.
[[nodiscard]] std::vector<Probe> chosen_kinds(const ProbeDevice& device, const ProbeChoice& choice);

/// Device memory that a probe allocates, its 32 MiB of workspace included.
[[nodiscard]] Bytes memory_of(const Probe& probe);

/// Plans short probes before sustained runs, so that the short ones meet a cool device.
[[nodiscard]] ProbePlan plan_probes(const ProbeDevice& device, const ProbeChoice& choice);

}  // namespace headroom
