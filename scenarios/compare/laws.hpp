// SPDX-License-Identifier: Apache-2.0
// The laws of scaling, what a measured speed-up says by them, and where another GPU stops being worth its price.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace headroom::scaling {

inline constexpr std::int64_t most_gpus = 10'000'000;  ///< as scenarios are read

/// Throughput of `workers` over that of one; of a series, workers and throughput over those of its smallest count.
struct Speedup {
  double workers = 1.0;
  double speedup = 1.0;
};

/// A law's share and how far the law is off.
struct LawFit {
  double f = 0.0;       ///< above 1: the series scales better than its smallest count allows
  double misfit = 0.0;  ///< root mean square of time by the law / time - 1
};

/// Amdahl's law (1967): n workers are 1 / ((1 - f) + f / n) times as fast as one at the same work, `f` the share of the
/// time that they divide. Least squares of (time by the law / time - 1), which is linear in f, so that all counts weigh
/// alike. Counts of one worker tell nothing; nullopt when there is no other.
[[nodiscard]] std::optional<LawFit> fit_amdahl(std::span<const Speedup> points) noexcept;
/// Gustafson's law (1988): (1 - f) + f n where the work grows with the workers. Least squares of (speed-up by the law /
/// speed-up - 1).
[[nodiscard]] std::optional<LawFit> fit_gustafson(std::span<const Speedup> points) noexcept;

/// Share of the step that n workers with a speed-up of S spend on what one worker does not have: with 1/S = 1/n + c,
/// c S = 1 - S/n. Negative when S is above n.
[[nodiscard]] constexpr double share_beyond_division(double speedup, double workers) noexcept {
  return 1.0 - speedup / workers;
}

/// What a count of GPUs achieves. Series are in order of growing counts.
struct Output {
  std::int64_t gpus = 1;
  double per_second = 0.0;  ///< samples or tokens
};

/// What the GPUs added since the count before bring, over what each of those brought: ((R' - R) / (N' - N)) / (R / N).
/// The first has none: 1.
[[nodiscard]] std::vector<double> marginal_efficiencies(std::span<const Output> series);

/// The smallest count whose marginal efficiency is below `least`: where to have stopped before. nullopt: none is.
[[nodiscard]] std::optional<std::int64_t> stopping_count(std::span<const Output> series, double least);
/// The largest count whose marginal efficiency is `least` or more; nullopt for an empty series.
[[nodiscard]] std::optional<std::int64_t> knee(std::span<const Output> series, double least);

/// What the laws say of a series.
struct SeriesLaws {
  std::vector<double> speedup, efficiency, marginal;  ///< of each count, the first two over the smallest's
  std::optional<LawFit> amdahl, gustafson;
  std::optional<std::int64_t> knee, stop;  ///< of two counts or more
};
[[nodiscard]] SeriesLaws laws_of(std::span<const Output> series, double least);

/// What may be spent: on the whole run, or by the hour.
struct Budget {
  std::optional<Dollars> run;
  std::optional<DollarsPerSecond> rate;
};

/// Dollars of `work` samples at this throughput.
[[nodiscard]] Dollars cost_of(const Output& output, DollarsPerSecond price_per_gpu, double work) noexcept;

/// Whether the budget pays for this count.
[[nodiscard]] bool pays(const Budget& budget,
                        const Output& output,
                        DollarsPerSecond price_per_gpu,
                        double work) noexcept;

/// Of all counts that the budget pays for (a run's cost need not grow with its GPUs) the largest that is worth it:
/// from the smallest of them upwards, the next whose GPUs beyond those taken so far bring at least `least_per_dollar`
/// samples for a dollar of theirs. nullopt when the budget pays for none.
[[nodiscard]] std::optional<std::int64_t> most_useful_gpus(std::span<const Output> series,
                                                           DollarsPerSecond price_per_gpu,
                                                           const Budget& budget,
                                                           double work,
                                                           double least_per_dollar);

}  // namespace headroom::scaling
