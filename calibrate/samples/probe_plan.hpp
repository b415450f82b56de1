// SPDX-License-Identifier: Apache-2.0
// Which probes a device gets: shapes, sizes and counts, and how many copies keep the data out of L2.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

struct ProbeChoice {
  bool gemm = true, copy = true, launch = true, attention = true, decode = true, memory = true, transfer = true;
  std::optional<bool> collectives;  ///< unset: where the process sees several GPUs
  std::vector<GemmType> types{GemmType::bf16, GemmType::fp16, GemmType::tf32, GemmType::fp8};
  bool quick = false;  ///< fewer shapes and sizes, no sustained runs
  bool full = false;   ///< many more shapes and sizes of attention, decode, memory and transfer

  /// One that chooses nothing yet.
  [[nodiscard]] static ProbeChoice none() {
    ProbeChoice choice;
    choice.gemm = choice.copy = choice.launch = choice.attention = choice.decode = choice.memory = choice.transfer =
        false;
    choice.collectives = false;
    return choice;
  }
};

struct ProbePlan {
  std::vector<Probe> probes;
  std::vector<Skipped> skipped;  ///< what the device cannot do or hold
  ProbeEffort effort;
};

struct ProbeShape {
  std::int64_t m = 1, n = 1, k = 1;
};

/// The 48 shapes: m 1 to 8192 on eight weights, from one that only launches (128 x 64) to one that fills the device.
[[nodiscard]] std::vector<ProbeShape> probe_shapes();

/// The fewest copies of `bytes` that together exceed twice the L2; at least `least`. Zero L2 is taken as unknown: 256
/// MiB.
[[nodiscard]] std::int64_t rotation_copies(std::int64_t bytes, Bytes l2, std::int64_t least = 1);

/// The families beside products, copies and launches that a choice names; what a device cannot do is skipped.
[[nodiscard]] std::vector<Probe> chosen_kinds(const ProbeDevice& device, const ProbeChoice& choice);

/// Device memory a probe allocates, its 32 MiB of workspace included.
[[nodiscard]] Bytes memory_of(const Probe& probe);

/// Short probes first, sustained runs last, so that the short ones meet a device that is not hot.
[[nodiscard]] ProbePlan plan_probes(const ProbeDevice& device, const ProbeChoice& choice);

}  // namespace headroom
