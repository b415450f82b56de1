// SPDX-License-Identifier: Apache-2.0
// Prompts that wait at an engine, from one iteration's start to the next: the Markov chain behind the screen's first
// tokens.
#pragma once

#include <headroom/model/serve/screen/length_strata.hpp>
#include <headroom/model/serve/screen/time_distribution.hpp>

#include <array>
#include <cstddef>

namespace headroom {

/// Seconds of an iteration by the prompt tokens in it, between knots that lie denser at few tokens.
class IterationCurve {
 public:
  static constexpr std::size_t knots = 33;
  /// Tokens of knot i.
  [[nodiscard]] static double tokens(std::size_t i, double most) noexcept;
  IterationCurve(double alone, double most, const std::array<double, knots>& mixed) noexcept
      : alone_{alone}, most_{most}, mixed_{mixed} {}
  /// Without prompts: of the decodes alone.
  [[nodiscard]] double alone() const noexcept { return alone_; }
  /// The most prompt tokens that an iteration takes.
  [[nodiscard]] double most() const noexcept { return most_; }
  /// With so many prompt tokens, above 0 and at most most().
  [[nodiscard]] double operator()(double tokens) const noexcept;

 private:
  double alone_, most_;
  std::array<double, knots> mixed_;
};

/// What comes to one engine.
struct PromptStream {
  double rate = 0.0;        ///< requests/s
  double dispersion = 1.0;  ///< variance over mean of the arrivals within an iteration; 1: Poisson
  Moments tokens;           ///< that have to be computed, of a prompt
  Strata strata{};          ///< of them
  bool one_by_one = false;  ///< an iteration holds one prompt
  double idle = 0.0;        ///< share of the time without prompts in which nothing decodes either
};

/// Backlog of prompt tokens at the start of an iteration, on a grid. An iteration takes what is there up to the budget,
/// and while it runs a compound number of tokens arrives (Bailey 1954's bulk service; the pmf by Panjer 1981). The
/// stationary distribution is exact on the grid (Grassmann, Taksar and Heyman 1985).
class BacklogChain {
 public:
  /// Precondition: rate x tokens x seconds of a full iteration is less than a full iteration's tokens.
  BacklogChain(const IterationCurve& curve, const PromptStream& stream) noexcept;

  [[nodiscard]] double mean_iteration() const noexcept { return mean_; }  ///< seconds, while the engine is busy
  [[nodiscard]] double without_prompts() const noexcept { return share_without_; }  ///< share of the iterations
  [[nodiscard]] double busy() const noexcept { return busy_; }                      ///< share of the time
  /// Times from arrival at the engine to the end of the iteration that ends the prompt; returns the mean length of that
  /// iteration.
  double first_tokens(TimeDistribution& times) const noexcept;

 private:
  static constexpr std::size_t states = 40;
  static constexpr std::size_t rows = 7;  ///< lengths of iterations for which arrivals are computed
  using Row = std::array<double, states>;

  void choose_step() noexcept;
  void fill_jumps() noexcept;
  /// Tokens that arrive within `seconds`; `beside` a request: of the others, seen by one that arrives in it.
  [[nodiscard]] Row arrivals(double seconds, bool beside) const noexcept;
  void fill_arrivals() noexcept;
  [[nodiscard]] Row between(const std::array<Row, rows>& knots, double seconds) const noexcept;
  void solve() noexcept;
  void add_transitions(std::size_t from, std::array<Row, states>& matrix) const noexcept;
  [[nodiscard]] double tokens(std::size_t state) const noexcept { return step_ * static_cast<double>(state); }
  /// Adds all that a request sees which arrives in an iteration of `running` seconds that leaves `left` tokens behind;
  /// returns the weighted length of its own iteration.
  double arrive_during(
      double running, double left, const Row& others, double weight, TimeDistribution& times) const noexcept;

  struct Moment;
  /// Adds the times of prompts of all strata that arrive at one moment; the same return.
  double end_prompts(const Moment& moment, TimeDistribution& times) const noexcept;

  const IterationCurve* curve_;
  const PromptStream* stream_;
  double step_ = 1.0;
  std::array<double, 129> quick_{};  ///< the curve at even steps up to its most
  Row seconds_{};                    ///< of an iteration, by state
  Row jumps_{}, graded_jumps_{};
  std::size_t largest_jump_ = 0;
  double shortest_ = 0.0, row_step_ = 1.0;
  std::array<Row, rows> all_{}, others_{};
  Row stationary_{};
  double idle_chance_ = 0.0;  ///< that an iteration is not followed by another, when nothing waits
  double mean_ = 0.0, share_without_ = 1.0, busy_ = 0.0, cycle_ = 0.0;
};

}  // namespace headroom
