// SPDX-License-Identifier: Apache-2.0
// How sure a plan's times are, on what that rests, and where the question lies outside of it.
#pragma once

#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <string>
#include <vector>

namespace headroom {

/// A class that a question is of, with its errors alone.
struct ClassBasis {
  RunClass run_class = RunClass::dense;
  ClassErrors errors;
};

/// A fact that would narrow a plan's interval.
struct NarrowingFact {
  std::string what;    ///< "one measured run of this job (--runs)"
  double width = 0.0;  ///< the 80 % width that it would leave, relative
};

struct PlanConfidence {
  RunClass run_class = RunClass::dense;
  ClassErrors errors;  ///< of the class, at least those of every other class that the question is of
  /// The class, then wide experts where the question has such.
  std::vector<ClassBasis> basis;
  double width = 0.0;  ///< 80 % of `errors`, narrowed by the user's own runs
  /// What of the question nobody measured: "1 024 GPUs: the largest measured run had 512". The width stays as it is.
  std::vector<std::string> outside;
  std::vector<NarrowingFact> narrowing;  ///< the facts that would narrow it most, the narrowest first
  [[nodiscard]] bool wide_experts() const noexcept { return basis.size() > 1; }
  /// "SKU whose kernels nobody measured, with experts that tokens meet over NICs, between NVLink domains".
  [[nodiscard]] std::string classes() const;
};

/// `wide_experts`: the ranks of experts lie in several NVLink domains.
[[nodiscard]] PlanConfidence confidence_of(const TrainScenario& train,
                                           const Confidence& table,
                                           bool wide_experts = false);

/// What the posterior of the fitted numbers is asked for a question of this class.
[[nodiscard]] StepUnknown unknown_of(const TrainScenario& train, RunClass run_class);

/// Whether a strategy puts the ranks of experts into several NVLink domains of its job.
[[nodiscard]] bool exchanges_between_domains(const Strategy& strategy, const JobGroups& groups);

/// 80 % width of the ratio of two predicted times: the truth lies within ratio / (1 + w) .. ratio (1 + w). Of plans
/// that share class, SKU and software the level of their errors cancels and twice the variance around it stays, ln(1 +
/// w) = z sqrt(2) shape, z = 1.2816 of a normal; other plans err apart, ln^2(1 + w) = sum of ln^2(1 + width)
/// (docs/confidence.md, "Two plans").
[[nodiscard]] double ratio_width(const PlanConfidence& a, const PlanConfidence& b, bool same_level) noexcept;
/// Whether two questions share classes, SKU and software.
[[nodiscard]] bool same_level(const TrainScenario& a,
                              const PlanConfidence& of_a,
                              const TrainScenario& b,
                              const PlanConfidence& of_b) noexcept;

}  // namespace headroom
