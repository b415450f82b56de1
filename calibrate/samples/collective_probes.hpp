// SPDX-License-Identifier: Apache-2.0
// Collectives as probes: which groups and sizes are measured, what they hold in memory, and their samples as CSV.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Those that NCCL has and a probe measures, in order; all-to-all is made of grouped sends and receives, send_recv is
/// a ring in which every rank sends its buffer to the next (nccl-tests, sendrecv).
inline constexpr std::array probed_collectives{
    Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::broadcast,
    Collective::reduce,     Collective::all_to_all, Collective::send_recv};

/// As nccl-tests and the files of measured collectives spell it: "alltoall", "sendrecv", else its own name.
[[nodiscard]] std::string_view nccl_op(Collective collective) noexcept;

/// "all_reduce x8 4096 B".
[[nodiscard]] std::string name_of(const CollectiveProbe& probe);

/// Device memory of one rank: a buffer to send from and one to receive into.
[[nodiscard]] Bytes memory_of(const CollectiveProbe& probe) noexcept;

/// Sizes of the groups on a node of `gpus`: 2, 4, 8 and so on below it, and all of them; none for one.
[[nodiscard]] std::vector<std::int64_t> group_sizes(std::int64_t gpus);

/// Every collective on every group from 512 B to 4 GiB in steps of two; `quick`: pairs and the whole node, in steps of
/// four. Buffers that are cut among the ranks are rounded down to 16 elements a rank, as nccl-tests does.
[[nodiscard]] std::vector<CollectiveProbe> plan_collectives(std::int64_t gpus, bool quick);

/// The least time that the datasheet's scale-up links allow: what a rank must send, in-switch reduction allowed, at
/// the rate of one direction. nullopt where the datasheet has no such link or joins fewer GPUs.
[[nodiscard]] std::optional<Seconds> least_time_of(const CollectiveProbe& probe, const Device& datasheet) noexcept;

/// bytes / latency x the bus factor of nccl-tests (doc/PERFORMANCE.md).
[[nodiscard]] BytesPerSecond bus_bandwidth(const CollectiveProbe& probe, Seconds latency) noexcept;

/// The samples that are collectives: nccl.csv, in the columns of other measured collectives (nccl_version, op, gpus,
/// dtype, bytes, latency_us), and for people nccl_bus.csv with algbw, busbw, what NCCL itself expected and which
/// algorithm and protocol it said it took (empty: it does not say). Neither when there is none.
[[nodiscard]] std::vector<FolderFile> collective_files(std::span<const Sample> samples,
                                                       const std::string& nccl_version);

/// The second of them.
inline constexpr std::string_view collective_bus_file = "nccl_bus.csv";

}  // namespace headroom
