// SPDX-License-Identifier: Apache-2.0
// How often to save: published approximations, and the optimum of the exact expected time.
#pragma once

#include <headroom/scenarios/goodput/checkpoint.hpp>

namespace headroom::goodput {

/// Training time between saves that loses least, to first order: sqrt(2 C M), with C the stall of a save and M the mean
/// time between failures (Young 1974).
[[nodiscard]] Seconds young_interval(Seconds stall, Seconds mtbf) noexcept;

/// Training time between saves that loses least, to higher order: sqrt(2 C M) (1 + 1/3 sqrt(C / 2M) + 1/9 C / 2M) - C
/// for C < 2M, else M (Daly 2006, equation 37).
[[nodiscard]] Seconds daly_interval(Seconds stall, Seconds mtbf) noexcept;

/// Expected time of the run over its work, with exponential failures at any moment, restarts included: (M / tau)
/// e^(R/M) (e^((tau + C)/M) - 1) (Daly 2006, equation 20).
/// An asynchronous save completes w (`lag`) after its stall; a failure before that loses one more interval. The next
/// complete save is L = tau + C away from a complete one, and L + w from a restart. With E0 = M e^(R/M) (e^((L + w)/M)
/// - 1) after a failure, E1 = (1 - e^(-L/M)) (M e^(R/M) + E0), which is e^(w/M) times equation 20.
struct WallFactor {
  Seconds mtbf{}, interval{}, stall{}, lag{}, recovery{};
  [[nodiscard]] double value() const noexcept;
};

/// Interval of least expected time: the root of (1 - tau/M) e^((tau + C)/M) = 1, where the derivative of equation 20
/// vanishes; at least the write time of an asynchronous save, since writes do not overlap. Bisected to 1e-12. Restart
/// time and lag do not change the optimum.
[[nodiscard]] Seconds best_interval(const CheckpointTime& save, Seconds mtbf) noexcept;

}  // namespace headroom::goodput
