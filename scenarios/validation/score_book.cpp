// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/score_book.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace headroom {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += weights[i] * values[i];
    weight += weights[i];
  }
  return weight > 0.0 ? sum / weight : none;
}

ErrorSummary summary_of(std::span<const double> errors, std::span<const double> weights) {
  std::vector<double> sizes(errors.size());
  std::transform(errors.begin(), errors.end(), sizes.begin(), [](double e) { return std::abs(e); });
  return {weighted_mean(sizes, weights), weighted_median(sizes, weights), quantile(sizes, 0.9),
          weighted_median(errors, weights)};
}

/// Number of a name; a new name gets the next number.
template <class Names, class Name>
std::uint32_t number_of(Names& names, const Name& name) {
  return names.try_emplace(name, static_cast<std::uint32_t>(names.size())).first->second;
}

/// Groups of unmarked rows that are all rows of theirs say nothing more.
void drop_repeated(std::vector<GroupScore>& scores) {
  std::map<std::string, std::size_t, std::less<>> rows;
  for (const GroupScore& g : scores) {
    if (g.metric.empty()) {
      rows.emplace(g.group, g.n);
    }
  }
  std::erase_if(scores, [&](const GroupScore& g) {
    if (!g.group.ends_with(unmarked_rows)) {
      return false;
    }
    const auto whole = rows.find(g.group.substr(0, g.group.size() - unmarked_rows.size()));
    const auto some = rows.find(g.group);
    return whole != rows.end() && some != rows.end() && whole->second == some->second;
  });
}

}  // namespace

void ScoreBook::add(const ScoredRow& row, const std::optional<std::string>& share) {
  const auto number = static_cast<std::uint32_t>(records_.size());
  const RowPrediction& p = row.prediction;
  records_.push_back({row.measured, p.predicted, p.roofline, number_of(metrics_, row.metric), p.status,
                      row.measured >= p.low && row.measured <= p.high});
  std::vector<std::uint32_t> groups;
  groups.reserve(row.groups.size());
  for (const std::string& group : row.groups) {
    groups.push_back(number_of(names_, group));
  }
  set_.push_back(number_of(sets_, groups));
  if (share) {
    share_.push_back(shares_.mention(*share).number);
  } else if (row.weight != 1.0) {
    weights_.emplace(number, row.weight);
  }
  if (std::isfinite(row.left_out)) {
    left_out_.emplace(number, row.left_out);
  }
  if (std::isfinite(row.told[0])) {
    told_.emplace(number, row.told);
  }
  ++tally_.rows;
  tally_.supported += p.status == RowStatus::ok ? 1 : 0;
  if (p.status != RowStatus::ok) {
    ++tally_.reasons[std::string{row_status_names[static_cast<std::size_t>(p.status)]} + ": " + p.why];
  }
}

double ScoreBook::weight(std::uint32_t row) const {
  if (!share_.empty()) {
    return 1.0 / static_cast<double>(shares_.times(share_[row]));
  }
  const auto own = weights_.find(row);
  return own == weights_.end() ? 1.0 : own->second;
}

double ScoreBook::left_out(std::uint32_t row) const {
  const auto found = left_out_.find(row);
  return found == left_out_.end() ? none : found->second;
}

/// The constant c with the least mean |c roofline/measured - 1|: a weighted median of measured/roofline with weights
/// roofline/measured.
double ScoreBook::best_constant(const Members& rows, std::uint32_t metric) const {
  std::vector<double> ratios;
  std::vector<double> weights;
  for (const std::uint32_t row : rows) {
    const Record& r = records_[row];
    if (r.metric == metric) {
      ratios.push_back(r.measured / r.roofline);
      weights.push_back(weight(row) * r.roofline / r.measured);
    }
  }
  return weighted_median(ratios, weights);
}

/// Computes one list of values at a time, because a list of a million rows takes megabytes.
GroupScore ScoreBook::score(const std::string& group, const std::string& metric, const Members& members) const {
  GroupScore result{group, metric, members.size()};
  Members rows;
  for (const std::uint32_t row : members) {
    const RowStatus status = records_[row].status;
    if (status == RowStatus::ok) {
      rows.push_back(row);
    }
    result.rejected += status == RowStatus::rejected ? 1 : 0;
  }
  result.supported = rows.size();
  const auto values_of = [&](auto value) {
    std::vector<double> values(rows.size());
    std::transform(rows.begin(), rows.end(), values.begin(), [&](std::uint32_t row) { return value(records_[row]); });
    return values;
  };
  // Each metric has its own constant, since rates and times differ.
  std::map<std::uint32_t, double> constants;
  for (const std::uint32_t row : rows) {
    constants.emplace(records_[row].metric, 0.0);
  }
  for (auto& [number, constant] : constants) {
    constant = best_constant(rows, number);
  }
  std::vector<double> weights(rows.size());
  std::transform(rows.begin(), rows.end(), weights.begin(), [&](std::uint32_t row) { return weight(row); });
  result.model = summary_of(values_of([](const Record& r) { return r.error(); }), weights);
  result.constant = summary_of(
      values_of([&](const Record& r) { return constants[r.metric] * r.roofline / r.measured - 1.0; }), weights);
  result.roofline = summary_of(values_of([](const Record& r) { return r.roofline / r.measured - 1.0; }), weights);
  result.within_interval = weighted_mean(values_of([](const Record& r) { return r.within ? 1.0 : 0.0; }), weights);
  result.kendall_tau = constants.size() == 1 ? kendall_tau(values_of([](const Record& r) { return r.predicted; }),
                                                           values_of([](const Record& r) { return r.measured; }))
                                             : none;
  std::vector<double> left, left_weights;
  for (const std::uint32_t row : left_out_.empty() ? Members{} : rows) {
    if (const double predicted = left_out(row); std::isfinite(predicted)) {
      left.push_back(std::abs(predicted / records_[row].measured - 1.0));
      left_weights.push_back(weight(row));
    }
  }
  result.left_out_mape = weighted_mean(left, left_weights);
  result.left_out_rows = left.size();
  for (std::size_t given = 0; given < result.told.size(); ++given) {
    std::vector<double> errors, told_weights;
    for (const std::uint32_t row : told_.empty() ? Members{} : rows) {
      if (const auto told = told_.find(row); told != told_.end() && std::isfinite(told->second[given])) {
        errors.push_back(told->second[given]);
        told_weights.push_back(weight(row));
      }
    }
    result.told[given] = weighted_mean(errors, told_weights);
  }
  return result;
}

std::vector<GroupScore> ScoreBook::groups() const {
  std::vector<Members> of_set(sets_.size());
  for (std::uint32_t row = 0; row < records_.size(); ++row) {
    of_set[set_[row]].push_back(row);
  }
  std::vector<Members> sets_of(names_.size());  // sets that contain each name
  for (const auto& [groups, set] : sets_) {
    for (const std::uint32_t group : groups) {
      sets_of[group].push_back(set);
    }
  }
  std::vector<std::string_view> metric_names(metrics_.size());
  for (const auto& [metric, number] : metrics_) {
    metric_names[number] = metric;
  }
  std::vector<GroupScore> scores;
  for (const auto& [name, number] : names_) {
    Members members;
    for (const std::uint32_t set : sets_of[number]) {
      members.insert(members.end(), of_set[set].begin(), of_set[set].end());
    }
    std::sort(members.begin(), members.end());
    scores.push_back(score(name, "", members));
    std::map<std::string_view, Members> by_metric;
    for (const std::uint32_t row : members) {
      by_metric[metric_names[records_[row].metric]].push_back(row);
    }
    for (const auto& [metric, some] : by_metric) {
      scores.push_back(score(name, std::string{metric}, some));
    }
  }
  drop_repeated(scores);
  std::stable_partition(scores.begin(), scores.end(), [](const GroupScore& g) { return g.group == "all"; });
  return scores;
}

}  // namespace headroom
