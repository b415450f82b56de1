// SPDX-License-Identifier: Apache-2.0
// Many collectives one after another as text and members: fused into buckets, beside a backward pass, compressed.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/laboratory/lab_answer.hpp>
#include <headroom/model/collectives/collective_series.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What is asked beside one collective.
struct SeriesQuestion {
  std::int64_t count = 1;
  std::optional<Bytes> bucket;
  bool best_bucket = false;
  std::optional<Seconds> backward;
  std::optional<GradientCompression> compress;

  /// Whether there is anything to say of buckets.
  [[nodiscard]] bool of_buckets() const noexcept { return count > 1 || bucket || best_bucket || backward; }
};

struct CompressedSeries {
  GradientCompression form;
  SentCollective sent;  ///< of all buffers
  Bytes bytes{}, error_feedback{}, per_rank{};
  Bucketing time;
};

struct SeriesAnswer {
  SeriesQuestion question;
  CollectiveSeries series;
  Bucketing alone;  ///< a collective a buffer
  Bucketing fused;  ///< as asked, or the best
  std::vector<Bucketing> sizes;
  std::vector<CompressedSeries> forms;  ///< fp32 first
};

/// Time of a collective of a buffer.
using TimeOfCollective = std::function<Seconds(Collective, Bytes)>;

[[nodiscard]] SeriesAnswer answer_series(const SeriesQuestion& question,
                                         Collective collective,
                                         std::int64_t ranks,
                                         Bytes each,
                                         const TimeOfCollective& time);
/// Empty where nothing was asked.
[[nodiscard]] std::string series_text(const SeriesAnswer& answer);
/// The same as tables of a page.
[[nodiscard]] std::vector<LabTable> series_tables(const SeriesAnswer& answer);
/// Members "series" and "compression".
[[nodiscard]] Value series_document(const SeriesAnswer& answer);

}  // namespace headroom::cli
