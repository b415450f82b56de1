// SPDX-License-Identifier: Apache-2.0
// Faces of a series of GPU counts, and of a measured speed-up explained.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/compare/cures.hpp>
#include <headroom/scenarios/compare/law_curve.hpp>
#include <headroom/scenarios/compare/scaling.hpp>

#include <string>

namespace headroom {

[[nodiscard]] std::string scaling_text(const Scenario& scenario, const scaling::Curve& curve);
/// Schema "headroom.scale/1": raw SI, the unit in the key.
[[nodiscard]] Value scaling_document(const Scenario& scenario, const scaling::Curve& curve);
/// One row a count.
[[nodiscard]] std::string scaling_csv(const Scenario& scenario, const scaling::Curve& curve);

/// Throughput that somebody measured at growing counts of GPUs, and what the laws say of it.
struct MeasuredSeries {
  std::string file;
  std::vector<scaling::Output> series;
  double least = 0.5;  ///< marginal efficiency that makes a count worth its GPUs
};
[[nodiscard]] std::string measured_series_text(const MeasuredSeries& measured);
/// Schema "headroom.measured_scale/1".
[[nodiscard]] Value measured_series_document(const MeasuredSeries& measured);

/// The laws of a parallel share by themselves.
[[nodiscard]] std::string law_text(const scaling::LawCurve& curve);
/// Schema "headroom.laws/1".
[[nodiscard]] Value law_document(const scaling::LawCurve& curve);
/// One row a count.
[[nodiscard]] std::string law_csv(const scaling::LawCurve& curve);

[[nodiscard]] std::string speedup_text(const Scenario& scenario, const scaling::SpeedupAnswer& answer);
/// Schema "headroom.speedup/1".
[[nodiscard]] Value speedup_document(const Scenario& scenario, const scaling::SpeedupAnswer& answer);

}  // namespace headroom
