// SPDX-License-Identifier: Apache-2.0
// What the laws of scaling promise of a share that workers divide, by themselves: no scenario, no model of a machine.
#pragma once

#include <headroom/scenarios/compare/laws.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::scaling {

/// A parallel share and the counts at which the laws are asked, in the words of the options.
struct LawRequest {
  double parallel = 1.0;             ///< f, of the time on one worker by Amdahl, on the workers by Gustafson
  std::vector<std::int64_t> counts;  ///< workers; put in order, each once
  double least = 0.1;                ///< gain of another doubling that makes it worth its workers
  std::optional<double> measured;    ///< speed-up over one worker that somebody measured
  std::optional<std::int64_t> at;    ///< workers that it was measured on; the largest count where none is stated
};

struct LawPoint {
  std::int64_t workers = 1;
  double amdahl = 1.0;     ///< speed-up at the same work
  double gustafson = 1.0;  ///< work in the same time, over that of one worker
  double doubling = 1.0;   ///< gain of twice the workers by Amdahl: its speed-up over this - 1
  [[nodiscard]] double amdahl_efficiency() const noexcept { return amdahl / static_cast<double>(workers); }
  [[nodiscard]] double gustafson_efficiency() const noexcept { return gustafson / static_cast<double>(workers); }
};

/// A measured speed-up beside the law.
struct MeasuredShare {
  std::int64_t workers = 1;
  double speedup = 1.0;
  double amdahl = 1.0;  ///< that the law promises there
  double serial = 0.0;  ///< karp_flatt()
};

struct LawCurve {
  LawRequest request;
  std::vector<LawPoint> points;           ///< in order of growing counts
  std::optional<double> limit;            ///< of Amdahl's speed-up, 1 / (1 - f); nullopt: there is none
  std::optional<double> last_doubling;    ///< first_poor_doubling()
  std::optional<MeasuredShare> measured;  ///< where a speed-up was
};

/// The least whole count of workers beyond which another doubling gains less than `least` by Amdahl's law: with a time
/// of (1 - f) + f / N the gain f / N / (2 (1 - f) + f / N) is below g from N = f (1 - g) / (2 g (1 - f)) on. At least
/// 1; nullopt: no count, where everything divides.
[[nodiscard]] std::optional<double> first_poor_doubling(double parallel, double least) noexcept;

/// The share that did not divide, by what was measured: e = (1 / S - 1 / N) / (1 - 1 / N) (Karp and Flatt 1990,
/// equation 2). It is what Amdahl's law fitted to the one point leaves. Two workers or more.
[[nodiscard]] double karp_flatt(const Speedup& measured) noexcept;

/// ConfigError with every problem of the request at once.
[[nodiscard]] LawCurve law_curve(LawRequest request);

}  // namespace headroom::scaling
