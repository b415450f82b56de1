// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/gate/student.hpp>

#include <cmath>
#include <initializer_list>

namespace headroom {
namespace {

/// Continued fraction of the incomplete beta function (Abramowitz and Stegun 1964, 26.5.8) by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr int most = 300;
  const auto bounded = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1.0;
  double d = 1.0 / bounded(1.0 - (a + b) * x / (a + 1.0));
  double h = d;
  for (int i = 1; i <= most; ++i) {
    const double m = i;
    for (const double term : {m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))}) {
      d = 1.0 / bounded(1.0 + term * d);
      c = bounded(1.0 + term / c);
      h *= d * c;
    }
    if (std::abs(d * c - 1.0) < 1e-14) {
      break;
    }
  }
  return h;
}

/// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0 || x >= 1.0) {
    return x <= 0.0 ? 0.0 : 1.0;
  }
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

}  // namespace

double student_above(double t, double freedom) {
  const double both = incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
  return t > 0.0 ? 0.5 * both : 1.0 - 0.5 * both;
}

double student_quantile(double p, double freedom) {
  double low = 0.0;
  double high = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (student_above(middle, freedom) > p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace headroom
