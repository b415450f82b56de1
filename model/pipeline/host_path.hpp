// SPDX-License-Identifier: Apache-2.0
// The way of a sample from storage to a GPU: what reads, caches and copies take of it.
#pragma once

#include <headroom/core/quantity.hpp>

namespace headroom {

/// t = copies x each + bytes / link (Hockney 1994, equation 1). Precondition: link above 0.
[[nodiscard]] Seconds copy_time(Bytes bytes, double copies, Seconds each, BytesPerSecond link) noexcept;

/// How many times as long a copy takes while others of the GPUs behind its link to the host run beside it.
struct SharedLink {
  double at_once = 1.0;  ///< all of them
  double p99 = 1.0;      ///< 99 of 100 copies take no longer, where each of the others copies `busy` of its time
};
/// `gpus` GPUs share `links` evenly. The number of others that copy is binomial. Precondition: both at least 1.
[[nodiscard]] SharedLink shared_link(double gpus, double links, double busy) noexcept;

/// Reads of a data set of which a cache holds a part, in random order.
struct CachedReads {
  double hit = 0.0;                 ///< share that the cache holds
  BytesPerSecond first{}, later{};  ///< of the first epoch, and of those after it
  /// Over `epochs` of them.
  [[nodiscard]] BytesPerSecond over(double epochs) const noexcept;
};
/// BW = 1 / (h / cache + (1 - h) / storage): the harmonic mean of both. A cache of rate 0 takes no time. Precondition:
/// set and storage above 0.
[[nodiscard]] CachedReads cached_reads(Bytes set, Bytes cache, BytesPerSecond storage, BytesPerSecond cached) noexcept;

/// What a sample moves over the memory of its host: written by the card that reads it from storage and read by the copy
/// to the GPU; where cores work on it also read and written by them. Nothing where the card writes to the GPU itself
/// (GPUDirect Storage, GPUDirect RDMA).
[[nodiscard]] Bytes host_memory_traffic(Bytes stored, Bytes fed, bool worked_on, bool direct) noexcept;

}  // namespace headroom
