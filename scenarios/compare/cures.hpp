// SPDX-License-Identifier: Apache-2.0
// A measured speed-up below the number of GPUs: how much of the step it leaves to communication, what the model says of
// it, and what would help, each change priced anew.
#pragma once

#include <headroom/scenarios/compare/scaling.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::scaling {

/// "3x on 8 GPUs over one": throughput over that of `of` GPUs.
struct MeasuredSpeedup {
  double speedup = 1.0;
  std::int64_t gpus = 1;
  std::int64_t of = 1;
};

/// One change and the scenario priced with it.
struct Cure {
  std::string what;  ///< in words: "a larger batch per GPU"
  Changes changes;
  std::string verdict;    ///< "fits", or why it cannot be
  bool fits = false;      ///< surely
  bool answered = false;  ///< it fits, or may
  Seconds step{};
  double samples_per_second = 0.0;
  double communication = 0.0;  ///< exposed, of the step
  double gain = 0.0;           ///< throughput over that of the scenario - 1
  /// The measured speed-up where its communication and its compute shrink as the predicted ones do; nullopt where the
  /// model predicts no communication.
  std::optional<double> speedup;
};

struct SpeedupAnswer {
  MeasuredSpeedup measured;
  double communication = 0.0;            ///< of the measured step: share_beyond_division
  Plan base;                             ///< the scenario at the measured number of GPUs
  std::optional<double> predicted;       ///< speed-up by the model; nullopt where the smaller count breaks a rule
  double predicted_communication = 0.0;  ///< exposed, of the predicted step
  std::vector<Cure> cures;               ///< largest gain first; what does not fit last
};

/// ConfigError with every problem of the measurement at once, in the words of the options: a speed-up that is not above
/// zero or above the number of GPUs, counts that are none; for a scenario that cannot be priced at that count, and as
/// scaling_curve().
[[nodiscard]] SpeedupAnswer explain_speedup(const Scenario& scenario, const MeasuredSpeedup& measured);

}  // namespace headroom::scaling
