// SPDX-License-Identifier: Apache-2.0
// When a job of records ends that units work on side by side: GPUs that call a network, or replicas of a language
// model.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/inference/batch_plan.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// What takes a chunk of the records and works on it alone.
struct JobUnit {
  double called = 0.0;                                   ///< records a second of one, at the middle of its interval
  double fed = std::numeric_limits<double>::infinity();  ///< records a second that its input brings
  double slow = 0.0, fast = 0.0;  ///< standard deviation of ln(called), below and above its middle
  std::int64_t gpus = 1;          ///< of one: the loss of any loses the chunk
  std::string_view name = "GPU";
};

/// A job on some units, at any point of the distribution of their rate.
class JobTime {
 public:
  /// `job` lives as long as this.
  JobTime(const BatchJob& job, const JobUnit& unit) noexcept;

  /// Records a second of one unit where calls take exp(z s) times their middle.
  [[nodiscard]] double rate(double z) const noexcept;
  /// Share of a unit's time that counts. A chunk of c seconds under interruptions of rate l, each of which starts it
  /// again after a new start of s, takes (e^(l c) - 1) (1 / l + s) on the mean (Daly 2006, equation 9, without
  /// checkpoints). A unit of g GPUs is interrupted g times as often as one.
  [[nodiscard]] double useful(double z) const noexcept;
  /// Interruptions in the time of one chunk.
  [[nodiscard]] double interruptions_of_chunk() const noexcept { return interruptions_ * chunk_ / rate(0.0); }
  [[nodiscard]] double chunk() const noexcept { return chunk_; }  ///< records
  [[nodiscard]] double chunks() const noexcept;

  /// Rounds of chunks: the last ones leave units without work.
  [[nodiscard]] double seconds(std::int64_t units, double z) const noexcept;
  [[nodiscard]] Seconds quantile(std::int64_t units, double share) const noexcept;
  [[nodiscard]] double probability(std::int64_t units, Seconds deadline) const noexcept;
  /// The fewest units whose job ends by the deadline with that probability; 0 where chunks do not divide so far.
  [[nodiscard]] std::int64_t fewest(Seconds deadline, double share) const noexcept;

 private:
  const BatchJob& job_;
  JobUnit unit_;
  double chunk_, interruptions_;
};

/// What is asked of a job beside its records.
struct JobTerms {
  const BatchJob& job;
  std::optional<std::int64_t> gpus;  ///< nothing: the fewest that keep the deadline
  double confidence = 0.8;
  std::optional<DollarsPerSecond> price;  ///< of one GPU
};

/// GPUs, time and price of a job on such units. `broken`: what no number of them mends; empty: nothing. Of stated GPUs
/// as many units work as they make, one at least.
[[nodiscard]] JobPlan size_job(const JobTerms& asked, const JobUnit& unit, const std::string& broken = {});

}  // namespace headroom
