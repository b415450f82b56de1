// SPDX-License-Identifier: Apache-2.0
// One copy between a host and a GPU as bandwidth tests make it: pinned or pageable memory, copy engines or a kernel
// that copies. The numbers are those of stacks/step/host-copies.toml.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// What of a copy changes its time.
struct HostCopy {
  Bytes bytes{1073741824.0};    ///< above 0
  bool to_device = true;        ///< else to the host
  bool pinned = true;           ///< else pageable: the driver copies it into pinned buffers first
  bool kernel = false;          ///< loads and stores of a kernel copy it, no copy engine
  bool both = false;            ///< another copy of equal size runs the other way
  bool write_combined = false;  ///< host memory that no cache holds
  bool allocates = false;       ///< the host's memory is allocated, and touched first, within the time
  bool remote = false;          ///< host memory of the socket that the GPU does not hang on
};

/// The machine that the copy runs on.
struct HostCopyMachine {
  int pcie = 0;                        ///< generation of 16 lanes; 0: `link` says it
  std::optional<BytesPerSecond> link;  ///< what copies of a machine with a coherent link between CPU and GPU reach
  bool guest = false;                  ///< in a virtual machine
  bool hip = false;                    ///< AMD's runtime
};

/// The constants, each with its source in the file.
struct HostCopyNumbers {
  double pinned = 0.0;            ///< share of the link's rate that copies of pinned memory reach
  double both = 0.0;              ///< of it, each way, where copies run both ways
  double guest = 0.0;             ///< of it in a virtual machine
  double remote = 0.0;            ///< of it to the other socket's memory
  double write_combined = 0.0;    ///< of a coherent link's rate
  BytesPerSecond staging{};       ///< of the driver's copy into pinned buffers, by one core
  BytesPerSecond first_touch{};   ///< of pages that are allocated and touched
  BytesPerSecond kernel_reads{};  ///< most of what a kernel's loads fetch from a host: those in flight over the latency
  Bytes reach{};                  ///< what the GPU's translations of host addresses hold
  BytesPerSecond missing{};       ///< of loads whose translation has to be fetched
  Seconds hip_start{};            ///< of a copy of AMD's runtime
  double width = 0.0;             ///< 80 % of measured rates lie within a factor of 1 / (1 + width) .. 1 + width
};
[[nodiscard]] const HostCopyNumbers& host_copy_numbers(const ModelData& data);

/// 16 lanes of a generation: 8 GT/s x 16 x 128 / 130 of the third, twice that of each later one (PCI Express Base
/// Specification). Precondition: 3 or above.
[[nodiscard]] BytesPerSecond pcie_rate(int generation) noexcept;

/// Rate of the copy, its bytes over all of its time:
///
///     engine  = pinned x link, x both, guest, remote where they hold
///     staged  = 1 / (1 / engine + 1 / staging)                   pageable over PCIe: one after the other
///     kernel  = min(pinned x link, kernel_reads), of bytes beyond `reach` at `missing`, as harmonic means are (loads
///     of
///               a host wait for their answers: Little 1961)
///     time    = start + bytes / rate + bytes / first_touch
///
/// A coherent link reads pageable memory as it reads pinned.
[[nodiscard]] BytesPerSecond host_copy_rate(const HostCopy& copy,
                                            const HostCopyMachine& machine,
                                            const HostCopyNumbers& numbers) noexcept;

}  // namespace headroom
