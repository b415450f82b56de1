// SPDX-License-Identifier: Apache-2.0
// exp, log and the like of the program: std:: names are those of core/elementary in every program that links the verbs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>

namespace {

using Wide = long double;  // the C library's, of at least 64 bits where this test looks

/// The largest distance of `ours` from `exact` in units of the last digit, over points between two ends.
double farthest(double (*ours)(double), const std::function<Wide(Wide)>& exact, double low, double high) {
  std::mt19937_64 random{11};
  std::uniform_real_distribution<double> point{low, high};
  double most = 0.0;
  for (int i = 0; i < 20000; ++i) {
    const double x = point(random);
    const Wide want = exact(x);
    const double unit = std::ldexp(1.0, std::ilogb(static_cast<double>(want)) - 52);
    most = std::max(most, static_cast<double>(std::fabs(static_cast<Wide>(ours(x)) - want) / unit));
  }
  return most;
}

}  // namespace

TEST_CASE("elementary functions are as near to the truth as their header says") {
  if (std::numeric_limits<Wide>::digits < 64) {
    MESSAGE("long double is no wider than double here");
    return;
  }
  CHECK(farthest([](double x) { return std::exp(x); }, [](Wide x) { return std::exp(x); }, -700.0, 700.0) < 0.51);
  CHECK(farthest([](double x) { return std::exp(x); }, [](Wide x) { return std::exp(x); }, -1.0, 1.0) < 0.51);
  CHECK(farthest([](double x) { return std::exp2(x); }, [](Wide x) { return std::exp2(x); }, -60.0, 60.0) < 0.51);
  CHECK(farthest([](double x) { return std::expm1(x); }, [](Wide x) { return std::expm1(x); }, -1.0, 1.0) < 0.7);
  CHECK(farthest([](double x) { return std::log(x); }, [](Wide x) { return std::log(x); }, 1e-9, 3.0) < 0.51);
  CHECK(farthest([](double x) { return std::log(x); }, [](Wide x) { return std::log(x); }, 0.99, 1.01) < 0.51);
  CHECK(farthest([](double x) { return std::log2(x); }, [](Wide x) { return std::log2(x); }, 0.1, 1e6) < 0.51);
  CHECK(farthest([](double x) { return std::log10(x); }, [](Wide x) { return std::log10(x); }, 0.1, 1e6) < 0.51);
  CHECK(farthest([](double x) { return std::log1p(x); }, [](Wide x) { return std::log1p(x); }, -0.5, 2.0) < 0.7);
  CHECK(farthest([](double x) { return std::cbrt(x); }, [](Wide x) { return std::cbrt(x); }, -1e3, 1e6) < 0.51);
  CHECK(farthest([](double x) { return std::pow(x, 0.37); },
                 [](Wide x) { return std::pow(x, static_cast<Wide>(0.37)); }, 0.0, 1e6) < 0.52);
  CHECK(farthest([](double x) { return std::pow(1.7, x); }, [](Wide x) { return std::pow(static_cast<Wide>(1.7), x); },
                 -900.0, 900.0) < 0.52);
  CHECK(farthest([](double x) { return std::hypot(x, 3.0); },
                 [](Wide x) { return std::hypot(x, static_cast<Wide>(3.0)); }, 0.0, 10.0) < 0.56);
  CHECK(farthest([](double x) { return std::sin(x); }, [](Wide x) { return std::sin(x); }, -100.0, 100.0) < 1.0);
  CHECK(farthest([](double x) { return std::cos(x); }, [](Wide x) { return std::cos(x); }, -100.0, 100.0) < 1.0);
  CHECK(farthest([](double x) { return std::lgamma(x); }, [](Wide x) { return std::lgamma(x); }, 0.01, 200.0) < 8.0);
  CHECK(farthest([](double x) { return std::tgamma(x); }, [](Wide x) { return std::tgamma(x); }, 0.01, 100.0) < 4.0);
  CHECK(farthest([](double x) { return std::erfc(x); }, [](Wide x) { return std::erfc(x); }, -5.0, 25.0) < 8.0);
}

TEST_CASE("elementary functions have the digits that were told to many places") {
  // The nearest doubles: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 1964, tables 1.1 and 6.1.
  volatile double one = 1.0;  // or the compiler puts its own result
  CHECK(std::exp(one) == 2.71828182845904523536);
  CHECK(std::log(2.0 * one) == 0.69314718055994530942);
  CHECK(std::log(10.0 * one) == 2.30258509299404568402);
  CHECK(std::log10(2.0 * one) == 0.30102999566398119521);
  CHECK(std::cbrt(2.0 * one) == 1.25992104989487316477);
  CHECK(std::pow(10.0, 0.5 * one) == 3.16227766016837933200);
  CHECK(std::tgamma(0.5 * one) == doctest::Approx(1.77245385090551602730).epsilon(1e-15));
}

TEST_CASE("elementary functions are exact where their result is a number of few digits") {
  for (int k = -1022; k < 1024; ++k) {
    const double power = std::ldexp(1.0, k);
    REQUIRE(std::exp2(static_cast<double>(k)) == power);
    REQUIRE(std::log2(power) == k);
  }
  for (int k = 0; k <= 22; ++k) {
    const double power = std::stod("1e" + std::to_string(k));
    REQUIRE(std::log10(power) == k);
    REQUIRE(std::pow(10.0, static_cast<double>(k)) == power);
  }
  for (double x = -3.0; x < 3.0; x += 0.01) {
    REQUIRE(std::pow(2.0, x) == std::exp2(x));  // compilers take the one for the other
  }
  double factorial = 1.0;
  for (int k = 1; k <= 22; ++k) {
    REQUIRE(std::tgamma(static_cast<double>(k)) == factorial);
    factorial *= k;
  }
  for (int k = -2000; k <= 2000; ++k) {
    REQUIRE(std::cbrt(static_cast<double>(k) * k * k) == k);
  }
  CHECK(std::lgamma(1.0) == 0.0);
  CHECK(std::lgamma(2.0) == 0.0);
}

TEST_CASE("elementary functions keep what C says of zero, infinity and no number") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  volatile double zero = 0.0;
  CHECK(std::exp(zero) == 1.0);
  CHECK(std::exp(710.0 + zero) == infinity);
  CHECK(std::exp(-746.0 + zero) == 0.0);
  CHECK(std::exp(-745.0 + zero) == 4.9406564584124654e-324);
  CHECK(std::exp(-infinity) == 0.0);
  CHECK(std::isnan(std::exp(nothing)));
  CHECK(std::expm1(-infinity) == -1.0);
  CHECK(std::expm1(1e-300 + zero) == 1e-300);
  CHECK(std::log(zero) == -infinity);
  CHECK(std::isnan(std::log(-1.0 + zero)));
  CHECK(std::log(infinity) == infinity);
  CHECK(std::log1p(-1.0 + zero) == -infinity);
  CHECK(std::log(std::numeric_limits<double>::denorm_min()) == doctest::Approx(-1074.0 * std::log(2.0)).epsilon(1e-15));
  CHECK(std::pow(zero, zero) == 1.0);
  CHECK(std::pow(nothing, zero) == 1.0);
  CHECK(std::pow(1.0 + zero, nothing) == 1.0);
  CHECK(std::pow(-2.0 + zero, 3.0 + zero) == -8.0);
  CHECK(std::isnan(std::pow(-2.0 + zero, 0.3 + zero)));
  CHECK(std::pow(zero, -1.0 + zero) == infinity);
  CHECK(std::pow(-zero, -3.0 + zero) == -infinity);
  CHECK(std::pow(-infinity, 3.0 + zero) == -infinity);
  CHECK(std::pow(0.5 + zero, infinity) == 0.0);
  CHECK(std::pow(-1.0 + zero, infinity) == 1.0);
  CHECK(std::pow(2.0 + zero, 1e300 + zero) == infinity);
  CHECK(std::hypot(infinity, nothing) == infinity);
  CHECK(std::hypot(3e200 + zero, 4e200 + zero) == doctest::Approx(5e200).epsilon(1e-15));
  CHECK(std::isnan(std::sin(infinity)));
  CHECK(std::lgamma(zero) == infinity);
  CHECK(std::erfc(-infinity) == 2.0);
  CHECK(std::erfc(infinity) == 0.0);
}
