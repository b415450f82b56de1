// SPDX-License-Identifier: Apache-2.0
// How often to save: the published approximations and the optimum of the exact expected time.
#pragma once

#include <headroom/scenarios/goodput/checkpoint.hpp>

namespace headroom::goodput {

/// Training between two saves that loses least, to first order: sqrt(2 C M), C the stall of a save, M the mean time
/// between failures (Young 1974).
[[nodiscard]] Seconds young_interval(Seconds stall, Seconds mtbf) noexcept;

/// The same to higher order: sqrt(2 C M) (1 + 1/3 sqrt(C / 2M) + 1/9 C / 2M) - C for C < 2M, else M (Daly 2006,
/// equation 37).
[[nodiscard]] Seconds daly_interval(Seconds stall, Seconds mtbf) noexcept;

/// Expected time of the run over its work, failures exponential and possible at any moment, restarts among them:
/// (M / tau) e^(R/M) (e^((tau + C)/M) - 1) (Daly 2006, equation 20).
/// An asynchronous save is whole w after its stall; a failure before that goes back one save more. From one that is
/// whole the next is L = tau + C away, after a failure L + w. With E0 = M e^(R/M) (e^((L + w)/M) - 1) after a failure,
/// E1 = (1 - e^(-L/M)) (M e^(R/M) + E0), which is e^(w/M) times equation 20.
struct WallFactor {
  Seconds mtbf{}, interval{}, stall{}, lag{}, recovery{};
  [[nodiscard]] double value() const noexcept;
};

/// The interval of least expected time: the root of (1 - tau/M) e^((tau + C)/M) = 1, where the derivative of equation
/// 20 vanishes, and at least the write of an asynchronous save, of which one is under way at a time. Bisected to
/// 1e-12. Neither restart nor lag moves it.
[[nodiscard]] Seconds best_interval(const CheckpointTime& save, Seconds mtbf) noexcept;

}  // namespace headroom::goodput
