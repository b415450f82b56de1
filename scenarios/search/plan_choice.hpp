// SPDX-License-Identifier: Apache-2.0
// Which plan of a set is taken: the least by the goal, or a simpler one that costs hardly more goal, time and money.
// Independent of the order in which plans come.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// Coordinates of the front; those beyond the goals asked for stay zero.
using FrontPoint = std::array<double, 4>;

/// A strategy of a job with what it costs.
struct Candidate {
  std::uint32_t job = 0;
  std::uint32_t rental = 0;  ///< jobs that rent the same GPUs the same way share it
  Strategy strategy;
  Seconds step{};
  Bytes memory{};       ///< upper end of what the device shows
  double goal = 0.0;    ///< what is minimised, in its own unit
  Seconds time{};       ///< of the run, or of a million tokens where no run is stated
  double spent = 0.0;   ///< dollars of that time; GPU-seconds where nothing is priced
  double strain = 0.0;  ///< its step over the longest that keeps deadline and budget at the slow end; 0 without either
  FrontPoint front{};
};
[[nodiscard]] bool same_plan(const Candidate& a, const Candidate& b) noexcept;
/// By goal, time, money, step, memory; then by job and strategy, so that no two are equal.
[[nodiscard]] bool better(const Candidate& a, const Candidate& b) noexcept;

/// What no strategy of a subtree can beat; all of it is of one layout.
struct SubtreeBound {
  Candidate layout;  ///< its job, rental and ranks
  double goal = 0.0;
  Seconds time{};
  double spent = 0.0;
  double strain = 0.0;
  FrontPoint front{};
  int kinds = 0;  ///< of parallelism, at least
  int zero = 0;   ///< stage, at least
};

/// Fewer kinds of parallelism first, then lower ZeRO stages.
inline constexpr std::size_t simplicity_classes = 5 * 4;
[[nodiscard]] constexpr std::size_t simplicity_class(int kinds, int zero) noexcept {
  return static_cast<std::size_t>(4 * kinds + zero);
}

class PlanChoice {
 public:
  /// The share that simplicity may cost, of the goal, of the time and of the money each.
  explicit PlanChoice(double simplicity) : simplicity_{simplicity} {}

  /// True when it changes what is known.
  bool consider(const Candidate& candidate);
  [[nodiscard]] bool empty() const noexcept { return !least_; }
  /// Whether no plan of the subtree can be taken.
  [[nodiscard]] bool excludes(const SubtreeBound& bound) const noexcept;
  /// Of those within `simplicity` of the least in goal, time and money those of fewest kinds, and of these the one of
  /// the lowest ZeRO stage, which beside kinds of parallelism may cost a fifth of `simplicity`. Needs one.
  [[nodiscard]] const Candidate& taken() const noexcept;
  /// Needs one.
  [[nodiscard]] const Candidate& least() const noexcept { return *least_; }
  /// Appends every plan that is kept.
  void list(std::vector<Candidate>& plans) const;

 private:
  [[nodiscard]] bool near(double share, const Candidate& from, const Candidate& plan) const noexcept;

  double simplicity_;
  std::optional<Candidate> least_;
  /// By class the plans near the least goal that no other of the class is as good as in goal, time and money.
  std::array<std::vector<Candidate>, simplicity_classes> simple_;
};

}  // namespace headroom
