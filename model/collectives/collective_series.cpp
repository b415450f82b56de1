// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/collectives/collective_series.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Buckets of a stated number of bytes each, the last as many as are left.
Bucketing in_buckets(Bytes total, Bytes bucket, Seconds backward, const TimeOfBytes& time) {
  constexpr double rounding = 1e-9;
  Bucketing b;
  b.bucket = std::min(bucket, total);
  b.buckets = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(total / b.bucket - rounding)));
  const auto full = static_cast<double>(b.buckets - 1);
  b.last = total - full * b.bucket;
  const Seconds each = b.buckets > 1 ? time(b.bucket) : Seconds{};
  const Seconds end = time(b.last);
  b.time = full * each + end;
  Seconds done{};
  for (std::int64_t i = 1; i < b.buckets; ++i) {
    done = std::max(done, static_cast<double>(i) * b.bucket / total * backward) + each;
  }
  b.exposed = std::max(done, backward) + end - backward;
  return b;
}

}  // namespace

Bucketing bucketed(const CollectiveSeries& series, Bytes bucket, Seconds backward, const TimeOfBytes& time) {
  constexpr double rounding = 1e-9;
  const Bytes whole =
      series.count > 1 ? std::max(1.0, std::floor(bucket / series.each + rounding)) * series.each : bucket;
  return in_buckets(series.total(), whole, backward, time);
}

Bucketing unfused(const CollectiveSeries& series, Seconds backward, const TimeOfBytes& time) {
  return in_buckets(series.total(), series.each, backward, time);
}

std::vector<Bucketing> bucket_sweep(const CollectiveSeries& series,
                                    Seconds backward,
                                    const TimeOfBytes& time,
                                    std::size_t most) {
  std::vector<Bucketing> sweep;
  if (series.count == 1) {
    for (double parts = 64.0; parts >= 1.0; parts /= 2.0) {
      sweep.push_back(bucketed(series, series.each / parts, backward, time));
    }
    return sweep;
  }
  // Factors of two, coarser ones where those were too many rows.
  double factor = 2.0;
  while (std::log(static_cast<double>(series.count)) / std::log(factor) + 2.0 > static_cast<double>(most)) {
    factor *= 2.0;
  }
  for (double buffers = 1.0; buffers < static_cast<double>(series.count); buffers *= factor) {
    sweep.push_back(bucketed(series, buffers * series.each, backward, time));
  }
  sweep.push_back(bucketed(series, series.total(), backward, time));
  return sweep;
}

Bucketing best_bucketing(const CollectiveSeries& series, Seconds backward, const TimeOfBytes& time) {
  constexpr std::int64_t most = 1024;
  Bucketing best = bucketed(series, series.total(), backward, time);
  const std::int64_t parts = series.count > 1 ? std::min(series.count, most) : most;
  for (std::int64_t k = 2; k <= parts; ++k) {
    const Bytes bucket = series.count > 1
                             ? std::ceil(static_cast<double>(series.count) / static_cast<double>(k)) * series.each
                             : series.each / static_cast<double>(k);
    const Bucketing now = bucketed(series, bucket, backward, time);
    if (now.exposed < best.exposed) {
      best = now;
    }
  }
  if (series.count > parts) {
    const Bucketing alone = unfused(series, backward, time);
    best = alone.exposed < best.exposed ? alone : best;
  }
  return best;
}

SentCollective compressed_collective(Collective collective,
                                     Bytes fp32,
                                     std::int64_t ranks,
                                     GradientCompression compression) noexcept {
  const Bytes sent = compressed_bytes(fp32, compression);
  if (compression.form == GradientForm::topk) {
    return {Collective::all_gather, static_cast<double>(ranks) * sent};
  }
  return {collective, sent};
}

}  // namespace headroom
