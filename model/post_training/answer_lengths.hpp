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

/// Tokens of the longest of `count` answers on the mean: the integral of Q(u^(1/count)) over u, Q the quantiles
/// (David and Nagaraja 2003, section 2.1), by the middles of 32 strata.
[[nodiscard]] double longest_of(const AnswerLengths& lengths, std::int64_t count);

/// The middles of `count` equal strata, shortest first: a batch as it comes on the mean, its longest answer at
/// 1 - 1 / (2 count). Empty for no answers.
[[nodiscard]] std::vector<double> stratified_lengths(const AnswerLengths& lengths, std::int64_t count);

/// Standard deviation of cut answers over their mean: sqrt(E[min(X, c)^2] - m^2) / m, with
/// E[min(X, c)^2] = exp(2 mu + 2 s^2) F((ln c - mu - 2 s^2) / s) + c^2 (1 - F((ln c - mu) / s)).
[[nodiscard]] double cut_spread(const AnswerLengths& lengths);

/// Tokens of the fullest of `ranks` data ranks over the mean's, each of which gets `each` sequences of a mini-batch as
/// they come: the highest of `ranks` sums that are near normal lies sqrt(2 ln ranks) deviations above their mean
/// (Gumbel 1958, section 4.2.3), and none below its longest sequence. `prompt`: tokens in front of every answer. Dealt
/// out by their tokens, no rank is fuller than the longest sequence makes it.
[[nodiscard]] double rank_imbalance(
    const AnswerLengths& lengths, double prompt, double ranks, double each, bool balanced);

/// Share of answers that are cut, 0 to 1.
[[nodiscard]] double cut_share(const AnswerLengths& lengths);

}  // namespace headroom
