// SPDX-License-Identifier: Apache-2.0
// Many collectives one after another: fused into buckets, beside a backward pass, of compressed gradients.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/collectives/collective.hpp>
#include <headroom/model/collectives/gradient_compression.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace headroom {

/// Time of one collective of a buffer.
using TimeOfBytes = std::function<Seconds(Bytes)>;

/// `count` buffers of `each` bytes, reduced one after another. One buffer may be cut; of several, whole ones are fused.
struct CollectiveSeries {
  Bytes each{};
  std::int64_t count = 1;
  [[nodiscard]] Bytes total() const noexcept { return static_cast<double>(count) * each; }
};

/// A series in buckets. The gradients of a backward pass come at an even rate, so that a bucket may start once its
/// share of the pass is over and the bucket before it is done (Li et al. 2020, PyTorch Distributed, section 3.2.3):
/// end_i = max(end_(i-1), backward sum_(j<=i) b_j / sum b) + T(b_i).
struct Bucketing {
  Bytes bucket{};            ///< of all but the last
  std::int64_t buckets = 1;  ///< number of them
  Bytes last{};
  Seconds time{};     ///< of all of them, one after another
  Seconds exposed{};  ///< what is left after the backward pass; all of the time where there is none
};
/// The series in buckets of `bucket` bytes, at most its total. A bucket of several buffers holds whole ones, one at
/// least. `backward`: zero where nothing runs beside. At most 2^24 buckets.
[[nodiscard]] Bucketing bucketed(const CollectiveSeries& series,
                                 Bytes bucket,
                                 Seconds backward,
                                 const TimeOfBytes& time);

/// The series without fusing.
[[nodiscard]] Bucketing unfused(const CollectiveSeries& series, Seconds backward, const TimeOfBytes& time);

/// Sizes for a table, smallest first: powers of two of buffers, or halves of one buffer down to 1/64, at most
/// `most` rows.
[[nodiscard]] std::vector<Bucketing> bucket_sweep(const CollectiveSeries& series,
                                                  Seconds backward,
                                                  const TimeOfBytes& time,
                                                  std::size_t most = 10);

/// The number of equal buckets, up to 1,024 or one for each buffer, that leaves least exposed; of those alike the
/// fewest.
[[nodiscard]] Bucketing best_bucketing(const CollectiveSeries& series, Seconds backward, const TimeOfBytes& time);

/// The collective and its buffer that a compressed one becomes. Ranks keep other elements each, which no all-reduce
/// adds: their lists are gathered by all, n times as many bytes (Renggli et al. 2019, SparCML, section 5).
struct SentCollective {
  Collective collective = Collective::all_reduce;
  Bytes buffer{};
};
[[nodiscard]] SentCollective compressed_collective(Collective collective,
                                                   Bytes fp32,
                                                   std::int64_t ranks,
                                                   GradientCompression compression) noexcept;

}  // namespace headroom
