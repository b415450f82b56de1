// SPDX-License-Identifier: Apache-2.0
// Lengths of sampled answers: a long tail, cut at the most tokens that the rollout allows.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom {

/// Lognormal lengths (lengths of answers are products of many factors; Limpert, Stahel and Abbt 2001, table 2), cut at
/// `most`: min(X, most) has the stated mean, and X the stated spread.
struct AnswerLengths {
  double mean = 1.0;    ///< tokens, of what is sampled, cut answers among them; above 0
  double most = 1.0;    ///< tokens of the longest answer; at least the mean
  double spread = 0.0;  ///< standard deviation over mean of the answers if none were cut; 0: all alike
};

/// E[min(X, most)] of a lognormal X with median exp(mu):
/// exp(mu + s^2/2) F((ln most - mu - s^2) / s) + most (1 - F((ln most - mu) / s)), F of the standard normal.
[[nodiscard]] double cut_mean(double mu, double sigma, double most) noexcept;

/// Tokens of the answer that a share `p` (0 to 1) of all do not exceed.
[[nodiscard]] double answer_quantile(const AnswerLengths& lengths, double p);

/// The middles of `count` equal strata, shortest first: a batch as it comes on the mean, its longest answer at
/// 1 - 1 / (2 count). Empty for no answers.
[[nodiscard]] std::vector<double> stratified_lengths(const AnswerLengths& lengths, std::int64_t count);

/// Share of answers that are cut, 0 to 1.
[[nodiscard]] double cut_share(const AnswerLengths& lengths);

}  // namespace headroom
