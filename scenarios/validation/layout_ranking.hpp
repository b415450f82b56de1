// SPDX-License-Identifier: Apache-2.0
// Compares how the model and the measurements rank layouts: published serving rows with the same network, SKU, engine,
// format and load, measured under several layouts.
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

/// Score of a group of questions: "all", a metric, an engine or a source.
struct LayoutScore {
  std::string group;
  std::size_t questions = 0;
  std::size_t layouts = 0;  ///< number of layouts over all questions
  double tau = 0.0;         ///< mean Kendall's tau over the questions
  double tau_median = 0.0;
};

/// Ranks the predicted serving rows, times and rates separately. A layout is GPUs, tp, pp, ep, dp and attention-DP;
/// rows that agree in everything else form a question, which needs at least three layouts. "all" comes first; empty
/// without questions.
class LayoutBook {
 public:
  LayoutBook();
  void add(const ScoredRow& row);
  [[nodiscard]] std::vector<LayoutScore> scores() const;

 private:
  /// The part of a run that is kept.
  struct Run {
    std::uint32_t layout = 0;  ///< number in layouts_
    double predicted = 0.0, measured = 0.0;
  };
  /// What all runs of a question share; the views point into names_.
  struct Load {
    std::string_view metric, engine, source;
  };
  [[nodiscard]] std::string_view name(const std::string& text) { return *names_.insert(text).first; }

  QuestionBook<Run, Load> questions_;
  TextNumbers layouts_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace headroom
