// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/answer_lengths.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

double normal_share(double z) noexcept {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// Inverse by bisection: lengths are made once a question, and 60 halvings are exact.
double normal_quantile(double p) noexcept {
  double low = -9.0, high = 9.0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_share(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double sigma_of(double spread) noexcept {
  return std::sqrt(std::log1p(spread * spread));
}

/// ln of the median for which the cut lengths have their mean.
double median_of(const AnswerLengths& a) noexcept {
  const double sigma = sigma_of(a.spread);
  double low = std::log(a.mean) - sigma * sigma - 1.0, high = std::log(a.most) + 8.0 * sigma + 1.0;
  for (int i = 0; i < 80; ++i) {
    const double middle = 0.5 * (low + high);
    (cut_mean(middle, sigma, a.most) < a.mean ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

bool all_alike(const AnswerLengths& a) noexcept {
  return a.spread <= 0.0 || a.mean >= 0.999 * a.most;
}

}  // namespace

double cut_mean(double mu, double sigma, double most) noexcept {
  const double z = (std::log(most) - mu) / sigma;
  return std::exp(mu + 0.5 * sigma * sigma) * normal_share(z - sigma) + most * normal_share(-z);
}

double answer_quantile(const AnswerLengths& lengths, double p) {
  if (all_alike(lengths)) {
    return std::min(lengths.mean, lengths.most);
  }
  return std::min(lengths.most, std::exp(median_of(lengths) + sigma_of(lengths.spread) * normal_quantile(p)));
}

std::vector<double> stratified_lengths(const AnswerLengths& lengths, std::int64_t count) {
  std::vector<double> all;
  if (count <= 0) {
    return all;
  }
  all.reserve(static_cast<std::size_t>(count));
  const bool alike = all_alike(lengths);
  const double mu = alike ? 0.0 : median_of(lengths);
  const double sigma = sigma_of(lengths.spread);
  for (std::int64_t i = 0; i < count; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    all.push_back(std::max(1.0, alike ? std::min(lengths.mean, lengths.most)
                                      : std::min(lengths.most, std::exp(mu + sigma * normal_quantile(p)))));
  }
  return all;
}

double longest_of(const AnswerLengths& lengths, std::int64_t count) {
  if (all_alike(lengths) || count <= 1) {
    return std::min(lengths.mean, lengths.most);
  }
  constexpr int strata = 32;
  const double mu = median_of(lengths), sigma = sigma_of(lengths.spread);
  double sum = 0.0;
  for (int i = 0; i < strata; ++i) {
    const double p = std::pow((i + 0.5) / strata, 1.0 / static_cast<double>(count));
    sum += std::min(lengths.most, std::exp(mu + sigma * normal_quantile(p)));
  }
  return sum / strata;
}

double cut_spread(const AnswerLengths& lengths) {
  if (all_alike(lengths)) {
    return 0.0;
  }
  const double mu = median_of(lengths), s = sigma_of(lengths.spread), cut = std::log(lengths.most);
  const double second = std::exp(2.0 * mu + 2.0 * s * s) * normal_share((cut - mu - 2.0 * s * s) / s) +
                        lengths.most * lengths.most * normal_share((mu - cut) / s);
  return std::sqrt(std::max(0.0, second - lengths.mean * lengths.mean)) / lengths.mean;
}

double rank_imbalance(const AnswerLengths& lengths, double prompt, double ranks, double each, bool balanced) {
  if (ranks <= 1.0 || each <= 0.0) {
    return 1.0;
  }
  const double mean = prompt + lengths.mean;
  const double longest = prompt + answer_quantile(lengths, 1.0 - 0.5 / (ranks * each));
  const double spread = cut_spread(lengths) * lengths.mean / mean;
  const double sums = balanced ? 1.0 : 1.0 + spread * std::sqrt(2.0 * std::log(ranks) / each);
  return std::max({1.0, sums, longest / (each * mean)});
}

double cut_share(const AnswerLengths& lengths) {
  if (all_alike(lengths)) {
    return lengths.mean >= 0.999 * lengths.most ? 1.0 : 0.0;
  }
  return normal_share((median_of(lengths) - std::log(lengths.most)) / sigma_of(lengths.spread));
}

}  // namespace headroom
