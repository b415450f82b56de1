// SPDX-License-Identifier: Apache-2.0
// The posterior of a fit as plans read it: covariance of the numbers, and how runs weigh them.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/calibrate/stacks/step_parameters.hpp>
#include <headroom/model/train/errors/posterior.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A fitted run, as its uncertainty depends on it.
struct WeighedRun {
  StepOwner owner;
  StepKind kind = StepKind::dense;
  bool hosts = false;              ///< several hosts
  double weight = 1.0;             ///< in the fit
  double residual = 0.0;           ///< ln(predicted/measured) less its family's level, in the whole fit
  std::vector<double> derivative;  ///< of ln(predicted) by each knob behind it
  std::vector<std::size_t> behind;
};

/// Makes posteriors of one fit, with all runs or without some.
class PosteriorMaker {
 public:
  /// `stacks`: ids of all software; `known`: the fit's knobs. Both must outlive the maker.
  PosteriorMaker(const StepKnobs& knobs, std::vector<std::string> stacks, std::vector<WeighedRun> runs);
  /// `out`: runs that the result has not seen; empty: none.
  [[nodiscard]] StepPosterior of(const HierarchicalResult& result, const std::vector<bool>& out) const;
  [[nodiscard]] StepUnknown unknown(std::size_t run) const;
  /// Derivatives of ln(predicted) of a run by each key of the posterior.
  [[nodiscard]] std::vector<double> derivatives(std::size_t run) const;

 private:
  const StepKnobs& knobs_;
  std::vector<std::string> stacks_;
  std::vector<WeighedRun> runs_;
  std::vector<std::string> keys_;         ///< of all knobs, each once
  std::vector<std::size_t> key_of_knob_;  ///< index into keys_
  StepPosterior frame_;                   ///< what does not depend on the result
};

/// One left-out run: |ln(predicted/measured)| over the standard deviation that it was given.
struct ScaledError {
  StepKind kind = StepKind::dense;
  std::size_t family = 0;
  std::string source;
  double ratio = 0.0;
};
/// Quantiles by kind, in which each family weighs alike; a kind with runs of fewer than three sources takes those of
/// all. Nothing where there are no errors.
void set_quantiles(std::span<const ScaledError> errors, StepPosterior& posterior);

}  // namespace headroom
