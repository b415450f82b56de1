// SPDX-License-Identifier: Apache-2.0
// Groups runs by their question in little memory: in a large file most questions occur once.
#pragma once

#include <headroom/scenarios/validation/text_numbers.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// `Run` is the kept part of a run, `Told` what is reported about a question. Nothing is kept for questions with fewer
/// than `least` runs.
template <class Run, class Told>
class QuestionBook {
 public:
  using Runs = std::vector<const Run*>;

  explicit QuestionBook(std::uint32_t least) : least_{least} {}

  /// Adds a run of the question `words`. `told` creates the question's `Told`, equal for all its runs.
  template <class MakeTold>
  void add(std::string_view words, const Run& run, const MakeTold& told) {
    const TextNumbers::Mention question = numbers_.mention(words);
    runs_.push_back(run);
    questions_.push_back(question.number);
    if (question.times == least_) {
      told_.push_back({words_.keep(words), question.number, told()});
    }
  }

  /// Calls `each` for all questions with at least `least` runs, ordered by their words; runs keep their order of
  /// arrival.
  template <class Each>
  void visit(const Each& each) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t run = 0; run < runs_.size(); ++run) {
      if (numbers_.times(questions_[run]) >= least_) {
        order.push_back(run);
      }
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{questions_[a], a} < std::pair{questions_[b], b};
    });
    std::vector<const Question*> sorted;
    sorted.reserve(told_.size());
    for (const Question& question : told_) {
      sorted.push_back(&question);
    }
    std::sort(sorted.begin(), sorted.end(), [](const Question* a, const Question* b) { return a->words < b->words; });
    Runs runs;
    for (const Question* question : sorted) {
      runs.clear();
      auto at = std::lower_bound(order.begin(), order.end(), question->number,
                                 [&](std::uint32_t run, std::uint32_t number) { return questions_[run] < number; });
      for (; at != order.end() && questions_[*at] == question->number; ++at) {
        runs.push_back(&runs_[*at]);
      }
      each(question->told, runs);
    }
  }

 private:
  struct Question {
    std::string_view words;
    std::uint32_t number = 0;
    Told told{};
  };
  std::uint32_t least_;
  TextNumbers numbers_;
  std::deque<Run> runs_;                 ///< a deque, so that elements do not move
  std::deque<std::uint32_t> questions_;  ///< question of each run
  std::deque<Question> told_;
  KeptTexts words_;
};

}  // namespace headroom
