// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

using namespace headroom;

namespace {

/// Kendall's tau-b by its definition, over all pairs.
double tau_of_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  double agree = 0, untied_a = 0, untied_b = 0;
  const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      agree += sign(a[i] - a[j]) * sign(b[i] - b[j]);
      untied_a += std::abs(sign(a[i] - a[j]));
      untied_b += std::abs(sign(b[i] - b[j]));
    }
  }
  return agree / std::sqrt(untied_a * untied_b);
}

}  // namespace

TEST_CASE("quantiles interpolate between order statistics, type 7") {
  const std::vector<double> v{4, 1, 3, 2};
  CHECK(quantile(v, 0.0) == 1.0);
  CHECK(quantile(v, 1.0) == 4.0);
  CHECK(median(v) == 2.5);
  CHECK(quantile(v, 0.9) == doctest::Approx(3.7));
  CHECK(std::isnan(median({})));
}

TEST_CASE("the weighted median is where half of the weight is reached") {
  const std::vector<double> v{1, 2, 3};
  CHECK(weighted_median(v, std::vector<double>{1, 1, 1}) == 2.0);
  CHECK(weighted_median(v, std::vector<double>{5, 1, 1}) == 1.0);
  CHECK(weighted_quantile(v, std::vector<double>{1, 1, 8}, 0.8) == 3.0);
}

TEST_CASE("MAPE is the mean of absolute errors") {
  CHECK(mean_absolute(std::vector<double>{-0.1, 0.3}) == doctest::Approx(0.2));
}

TEST_CASE("Kendall's tau equals its definition on random samples with ties") {
  std::mt19937 random{11};
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + random() % 40;
    std::vector<double> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = static_cast<double>(random() % 7);
      b[i] = static_cast<double>(random() % 5);
    }
    const double expected = tau_of_pairs(a, b);
    const double tau = kendall_tau(a, b);
    CHECK((std::isnan(expected) ? std::isnan(tau) : tau == doctest::Approx(expected)));
  }
  CHECK(kendall_tau(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}) == doctest::Approx(1.0));
  CHECK(kendall_tau(std::vector<double>{1, 2, 3}, std::vector<double>{3, 2, 1}) == doctest::Approx(-1.0));
}
