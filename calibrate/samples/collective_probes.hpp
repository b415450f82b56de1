// SPDX-License-Identifier: Apache-2.0
// Collectives as probes: groups and sizes to measure, memory use, and samples as CSV.
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

/// Collectives that NCCL provides and a probe measures, in order. All-to-all consists of grouped sends and receives; in
/// send_recv every rank sends its buffer to the next in a ring (nccl-tests, sendrecv).
inline constexpr std::array probed_collectives{
    Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::broadcast,
    Collective::reduce,     Collective::all_to_all, Collective::send_recv};

/// Spelling in nccl-tests and in files of measured collectives: "alltoall", "sendrecv", else its own name.
[[nodiscard]] std::string_view nccl_op(Collective collective) noexcept;

/// "all_reduce x8 4096 B".
[[nodiscard]] std::string name_of(const CollectiveProbe& probe);

/// Device memory of one rank: a send buffer and a receive buffer.
[[nodiscard]] Bytes memory_of(const CollectiveProbe& probe) noexcept;

/// Sizes of the groups on a node with `gpus` GPUs: the powers of two from 2, and all GPUs; none for a single GPU.
[[nodiscard]] std::vector<std::int64_t> group_sizes(std::int64_t gpus);

/// Every collective on every group from 512 B to 4 GiB in steps of 2; with `quick` only pairs and the whole node, in
/// steps of 4. Buffers split among ranks are rounded down to 16 elements per rank, as in nccl-tests.
[[nodiscard]] std::vector<CollectiveProbe> plan_collectives(std::int64_t gpus, bool quick);

/// Lower bound from the datasheet's scale-up links: what a rank must send, with reduction in the switch, at the rate of
/// one direction. nullopt when the datasheet has no such link or joins fewer GPUs.
[[nodiscard]] std::optional<Seconds> least_time_of(const CollectiveProbe& probe, const Device& datasheet) noexcept;

/// Bus bandwidth: bytes / latency x the bus factor of nccl-tests (doc/PERFORMANCE.md).
[[nodiscard]] BytesPerSecond bus_bandwidth(const CollectiveProbe& probe, Seconds latency) noexcept;

/// Files of the samples that are collectives: nccl.csv with nccl_version, op, gpus, dtype, bytes, latency_us, and for
/// people nccl_bus.csv with algbw, busbw, the latency that NCCL predicts, and its algorithm and protocol (empty when
/// unknown). Empty without collectives.
[[nodiscard]] std::vector<FolderFile> collective_files(std::span<const Sample> samples,
                                                       const std::string& nccl_version);

/// Name of the file with bus bandwidths.
inline constexpr std::string_view collective_bus_file = "nccl_bus.csv";

}  // namespace headroom
