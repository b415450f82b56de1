// SPDX-License-Identifier: Apache-2.0
// Statistics of scored rows that are let go: what groups need of a row is some numbers, and the names of its groups are
// kept once for all rows that share them.
#pragma once

#include <headroom/scenarios/validation/scored_row.hpp>
#include <headroom/scenarios/validation/text_numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace headroom {

/// Statistics of a baseline or of the model over the supported rows of a group.
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
  double left_out_mape = 0.0;     ///< of the rows predicted without their source; NaN without any
  std::size_t left_out_rows = 0;  ///< those
  /// Supported share of what can be scored: rejected rows are out of both.
  [[nodiscard]] double coverage() const noexcept {
    return n > rejected ? static_cast<double>(supported) / static_cast<double>(n - rejected) : 0.0;
  }
};

/// How many rows there are, and why some were not scored: "unsupported: no kv_heads".
struct RowTally {
  std::size_t rows = 0, supported = 0;
  std::map<std::string, std::size_t> reasons;
};

class ScoreBook {
 public:
  /// Rows of one `share` have one row's weight between them; without one a row has its own.
  void add(const ScoredRow& row, const std::optional<std::string>& share = std::nullopt);

  /// Of every group that a row names, over all metrics and by metric: "all" first, the others by name.
  [[nodiscard]] std::vector<GroupScore> groups() const;
  /// What a row weighs among all that were added: rows by their order.
  [[nodiscard]] double weight(std::uint32_t row) const;
  [[nodiscard]] const RowTally& tally() const noexcept { return tally_; }

 private:
  /// What is kept of a row.
  struct Record {
    double measured = 0.0, predicted = 0.0, roofline = 0.0;
    std::uint32_t metric = 0;
    RowStatus status = RowStatus::unsupported;
    bool within = false;
    [[nodiscard]] double error() const noexcept { return predicted / measured - 1.0; }
  };
  using Members = std::vector<std::uint32_t>;  ///< rows, ascending

  [[nodiscard]] GroupScore score(const std::string& group, const std::string& metric, const Members& members) const;
  [[nodiscard]] double best_constant(const Members& rows, std::uint32_t metric) const;
  [[nodiscard]] double left_out(std::uint32_t row) const;

  std::deque<Record> records_;  ///< grows without moving what it has
  std::map<std::string, std::uint32_t, std::less<>> metrics_, names_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets_;  ///< of group names
  std::deque<std::uint32_t> set_;                             ///< by row
  TextNumbers shares_;
  std::deque<std::uint32_t> share_;                    ///< by row, where rows share
  std::unordered_map<std::uint32_t, double> weights_;  ///< of rows whose own is not 1
  std::unordered_map<std::uint32_t, double> left_out_;
  RowTally tally_;
};

}  // namespace headroom
