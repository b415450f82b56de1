// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/source_levels.hpp>
#include <headroom/scenarios/validation/worst_rows.hpp>

#include <cmath>
#include <limits>
#include <map>

namespace headroom {
namespace {

constexpr double no_level = std::numeric_limits<double>::quiet_NaN();

/// Sum and number of values whose mean is asked.
struct Mean {
  double sum = 0.0;
  std::size_t n = 0;
  void add(double value) noexcept {
    sum += value;
    ++n;
  }
  [[nodiscard]] double value() const noexcept { return n > 0 ? sum / static_cast<double>(n) : no_level; }
};

/// A prediction with its row, whose time is asked as a ratio and whose error is asked in the row's own unit.
struct Predicted {
  const ScoredRow* row = nullptr;
  double value = 0.0;
  [[nodiscard]] double time() const noexcept { return std::pow(value / row->measured, time_sign(row->metric)); }
  /// Error once the time is divided by `level`.
  [[nodiscard]] double error(double level) const noexcept {
    return std::abs(std::pow(time() / level, time_sign(row->metric)) - 1.0);
  }
};

double mean_error(std::span<const Predicted> predictions, double level) {
  Mean mean;
  for (const Predicted& p : predictions) {
    mean.add(p.error(level));
  }
  return mean.value();
}

double level_of(std::span<const Predicted> predictions) {
  std::vector<double> times;
  for (const Predicted& p : predictions) {
    times.push_back(p.time());
  }
  return median(times);
}

/// Fills what repeated runs say: rows of one metric whose cells are equal.
void compare_repeats(SourceLevel& level, std::span<const Predicted> predictions) {
  std::vector<bool> done(predictions.size());
  Mean distance;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    std::vector<double> values;
    Mean mean;
    for (std::size_t j = i; j < predictions.size() && !done[i]; ++j) {
      const ScoredRow& one = *predictions[i].row;
      const ScoredRow& other = *predictions[j].row;
      if (!done[j] && one.metric == other.metric && *one.run == *other.run) {
        done[j] = j > i;
        values.push_back(other.measured);
        mean.add(other.measured);
      }
    }
    for (const double value : values) {
      if (values.size() > 1) {
        distance.add(std::abs(value / mean.value() - 1.0));
      }
    }
  }
  level.repeated_rows = distance.n;
  level.run_to_run = distance.value();
}

}  // namespace

std::vector<SourceLevel> source_levels(std::span<const ScoredRow> rows) {
  struct Part {
    std::vector<Predicted> fitted, left_out;
  };
  std::map<std::string, Part> sources;
  for (const ScoredRow& row : rows) {
    if (is_time(row) && row.prediction.status == RowStatus::ok) {
      Part& part = sources[row.source];
      part.fitted.push_back({&row, row.prediction.predicted});
      if (std::isfinite(row.left_out)) {
        part.left_out.push_back({&row, row.left_out});
      }
    }
  }
  std::vector<SourceLevel> levels;
  for (const auto& [source, part] : sources) {
    SourceLevel level{source, part.fitted.size(), mean_error(part.fitted, 1.0),
                      mean_error(part.fitted, level_of(part.fitted))};
    level.left_out = mean_error(part.left_out, 1.0);
    level.left_out_level = part.left_out.empty() ? no_level : mean_error(part.left_out, level_of(part.left_out));
    compare_repeats(level, part.fitted);
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace headroom
