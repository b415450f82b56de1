// SPDX-License-Identifier: Apache-2.0
// Does the serving model rank layouts as the measurements do? Published rows of one network, SKU, engine, format and
// load that were measured under several layouts.
#pragma once

#include <headroom/scenarios/validation/question_book.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Questions of "all", of a metric, an engine or a source.
struct LayoutScore {
  std::string group;
  std::size_t questions = 0;
  std::size_t layouts = 0;  ///< of all questions together
  double tau = 0.0;         ///< Kendall's, the mean over the questions
  double tau_median = 0.0;
};

/// Of the serving rows that were predicted, times and rates apart. A question has three layouts or more: GPUs, tp, pp,
/// ep, dp and attention-DP; all else that a row states of its load is the question's. "all" first; empty without any.
[[nodiscard]] std::vector<LayoutScore> rank_layouts(std::span<const ScoredRow> rows);

/// The same of rows that come one by one and are let go.
class LayoutBook {
 public:
  LayoutBook();
  void add(const ScoredRow& row);
  [[nodiscard]] std::vector<LayoutScore> scores() const;

 private:
  /// What is kept of a run.
  struct Run {
    std::uint32_t layout = 0;  ///< number of layouts_
    double predicted = 0.0, measured = 0.0;
  };
  /// What the runs of a question have in common.
  struct Load {
    std::string_view metric, engine, source;  ///< of names_
  };
  [[nodiscard]] std::string_view name(const std::string& text) { return *names_.insert(text).first; }

  QuestionBook<Run, Load> questions_;
  TextNumbers layouts_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace headroom
