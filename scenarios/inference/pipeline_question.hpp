// SPDX-License-Identifier: Apache-2.0
// What a scenario says of the way of its samples to the GPU and from it, beside DataFeed.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/pipeline/stage_graph.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

struct PipelineQuestion {
  std::vector<PipelineStage> stages;
  double spread = 0.0;                          ///< of the loading of a batch: standard deviation over mean
  std::optional<BytesPerSecond> pageable_link;  ///< of copies from memory that is not pinned
  std::int64_t copies = 1;                      ///< in which a batch crosses the link
  Seconds copy_latency{};                       ///< of each
  std::optional<std::int64_t> host_links;       ///< that the GPUs of a host share
  std::optional<Bytes> set;                     ///< the data set as it lies in storage
  std::optional<Bytes> cache;                   ///< of a host, for the data set
  std::optional<BytesPerSecond> cache_bandwidth;
  std::int64_t epochs = 1;
  std::optional<Bytes> shard;                      ///< samples lie in files of this size; nothing: each in its own
  std::optional<double> iops;                      ///< reads a second of a host
  std::optional<BytesPerSecond> memory_bandwidth;  ///< of a host
  bool direct = false;                             ///< storage or NIC write to the GPU past the host
  Bytes result{};                                  ///< of a sample, as it leaves the network
};

}  // namespace headroom
