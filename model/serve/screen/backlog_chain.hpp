// SPDX-License-Identifier: Apache-2.0
// The backlog of prompts at an engine by iterations: the Markov chain behind the screen's first tokens.
#pragma once

#include <headroom/model/serve/screen/length_strata.hpp>
#include <headroom/model/serve/screen/time_distribution.hpp>

#include <array>
#include <cstddef>

namespace headroom {

/// Seconds of an iteration as a function of its prompt tokens; the knots are denser at few tokens.
class IterationCurve {
 public:
  static constexpr std::size_t knots = 33;
  /// Prompt tokens of knot i.
  [[nodiscard]] static double tokens(std::size_t i, double most) noexcept;
  IterationCurve(double alone, double most, const std::array<double, knots>& mixed) noexcept
      : alone_{alone}, most_{most}, mixed_{mixed} {}
  /// Seconds of an iteration without prompts.
  [[nodiscard]] double alone() const noexcept { return alone_; }
  /// Most prompt tokens of an iteration.
  [[nodiscard]] double most() const noexcept { return most_; }
  /// Seconds of an iteration with `tokens` prompt tokens, 0 < tokens <= most().
  [[nodiscard]] double operator()(double tokens) const noexcept;

 private:
  double alone_, most_;
  std::array<double, knots> mixed_;
};

/// The stream of prompts to one engine.
struct PromptStream {
  double rate = 0.0;        ///< rate in requests/s
  double dispersion = 1.0;  ///< variance over mean of the arrivals within an iteration; 1: Poisson
  Moments tokens;           ///< tokens of a prompt that must be computed
  Strata strata{};          ///< strata of `tokens`
  bool one_by_one = false;  ///< an iteration holds at most one prompt
  double idle = 0.0;        ///< share of the time without prompts in which nothing decodes either
};

/// The backlog of prompt tokens at the start of an iteration, on a grid. An iteration takes the backlog up to the
/// budget; meanwhile a compound number of tokens arrives (bulk service: Bailey 1954; its pmf: Panjer 1981). The
/// stationary distribution is exact on the grid (Grassmann, Taksar and Heyman 1985).
class BacklogChain {
 public:
  /// Precondition: a full iteration takes more tokens than arrive during it on average.
  BacklogChain(const IterationCurve& curve, const PromptStream& stream) noexcept;

  /// Mean seconds of an iteration while the engine is busy.
  [[nodiscard]] double mean_iteration() const noexcept { return mean_; }
  /// Share of the iterations that hold no prompts.
  [[nodiscard]] double without_prompts() const noexcept { return share_without_; }
  [[nodiscard]] double busy() const noexcept { return busy_; }  ///< share of the time in which the engine is busy
  /// Adds the times from arrival at the engine to the end of the iteration that completes the prompt; returns the mean
  /// seconds of that iteration.
  double first_tokens(TimeDistribution& times) const noexcept;

 private:
  static constexpr std::size_t states = 40;
  static constexpr std::size_t rows = 7;  ///< iteration lengths for which arrivals are computed
  using Row = std::array<double, states>;

  void choose_step() noexcept;
  void fill_jumps() noexcept;
  /// Distribution of the tokens that arrive within `seconds`. `beside`: as seen by a request that arrives among them.
  [[nodiscard]] Row arrivals(double seconds, bool beside) const noexcept;
  void fill_arrivals() noexcept;
  [[nodiscard]] Row between(const std::array<Row, rows>& knots, double seconds) const noexcept;
  void solve() noexcept;
  void add_transitions(std::size_t from, std::array<Row, states>& matrix) const noexcept;
  [[nodiscard]] double tokens(std::size_t state) const noexcept { return step_ * static_cast<double>(state); }
  /// Adds the times of requests that arrive in an iteration of `running` seconds that leaves `left` tokens behind;
  /// returns the weighted length of their own iterations.
  double arrive_during(
      double running, double left, const Row& others, double weight, TimeDistribution& times) const noexcept;

  struct Moment;
  /// Adds the times of prompts of all strata that arrive at one moment; returns their iterations' weighted length.
  double end_prompts(const Moment& moment, TimeDistribution& times) const noexcept;

  const IterationCurve* curve_;
  const PromptStream* stream_;
  double step_ = 1.0;
  std::array<double, 129> quick_{};  ///< iteration seconds at even steps of tokens up to most()
  Row seconds_{};                    ///< seconds of an iteration by state
  Row jumps_{}, graded_jumps_{};
  std::size_t largest_jump_ = 0;
  double shortest_ = 0.0, row_step_ = 1.0;
  std::array<Row, rows> all_{}, others_{};
  Row stationary_{};
  double idle_chance_ = 0.0;  ///< probability that no iteration follows, given an empty backlog
  double mean_ = 0.0, share_without_ = 1.0, busy_ = 0.0, cycle_ = 0.0;
};

}  // namespace headroom
