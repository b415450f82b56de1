// SPDX-License-Identifier: Apache-2.0
// Statistics of rows that are not kept: a few numbers per row, and each set of group names only once.
#pragma once

#include <headroom/scenarios/validation/scored_row.hpp>
#include <headroom/scenarios/validation/text_numbers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headroom {

/// Errors of the model or of a baseline over the supported rows of a group, as shares.
struct ErrorSummary {
  double mape = 0.0, median_ape = 0.0, p90_ape = 0.0, bias = 0.0;
};

struct GroupScore {
  std::string group;
  std::string metric;  ///< empty: all metrics
  std::size_t n = 0, supported = 0, rejected = 0;
  ErrorSummary model{}, constant{}, roofline{};
  double within_interval = 0.0;
  double kendall_tau = 0.0;       ///< NaN when the group mixes metrics or is too small
  double left_out_mape = 0.0;     ///< MAPE of rows predicted without their source; NaN without any
  std::size_t left_out_rows = 0;  ///< number of rows predicted without their source
  std::array<double, 2> told{};   ///< the same with 1 or 3 other runs of a family given; NaN without any
  /// Supported share of the rows that are not rejected, 0 to 1.
  [[nodiscard]] double coverage() const noexcept {
    return n > rejected ? static_cast<double>(supported) / static_cast<double>(n - rejected) : 0.0;
  }
};

/// Behind the name of a group: those of its rows that no mark doubts (row_marks.hpp).
inline constexpr std::string_view unmarked_rows = ", unmarked";

/// Number of rows, and the reasons why some were not scored: "unsupported: no kv_heads".
struct RowTally {
  std::size_t rows = 0, supported = 0;
  std::map<std::string, std::size_t> reasons;
};

class ScoreBook {
 public:
  /// Adds a row. Rows with the same `share` together weigh as much as one row; without a share a row weighs 1.
  void add(const ScoredRow& row, const std::optional<std::string>& share = std::nullopt);

  /// Scores of every group that rows name, over all metrics and per metric: "all" first, the others by name.
  [[nodiscard]] std::vector<GroupScore> groups() const;
  /// Weight of the row that was added at this position.
  [[nodiscard]] double weight(std::uint32_t row) const;
  [[nodiscard]] const RowTally& tally() const noexcept { return tally_; }

 private:
  /// The kept part of a row.
  struct Record {
    double measured = 0.0, predicted = 0.0, roofline = 0.0;
    std::uint32_t metric = 0;
    RowStatus status = RowStatus::unsupported;
    bool within = false;
    [[nodiscard]] double error() const noexcept { return predicted / measured - 1.0; }
  };
  using Members = std::vector<std::uint32_t>;  ///< row numbers, ascending

  [[nodiscard]] GroupScore score(const std::string& group, const std::string& metric, const Members& members) const;
  [[nodiscard]] double best_constant(const Members& rows, std::uint32_t metric) const;
  [[nodiscard]] double left_out(std::uint32_t row) const;

  std::deque<Record> records_;  ///< a deque, so that elements do not move
  std::map<std::string, std::uint32_t, std::less<>> metrics_, names_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets_;  ///< number of each set of group names
  std::deque<std::uint32_t> set_;                             ///< set of each row
  TextNumbers shares_;
  std::deque<std::uint32_t> share_;                    ///< share of each row, where rows have one
  std::unordered_map<std::uint32_t, double> weights_;  ///< weights that differ from 1
  std::unordered_map<std::uint32_t, double> left_out_;
  std::unordered_map<std::uint32_t, std::array<double, 2>> told_;
  RowTally tally_;
};

}  // namespace headroom
