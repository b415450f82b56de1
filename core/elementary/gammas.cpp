// SPDX-License-Identifier: Apache-2.0
// The gamma function, its logarithm, and the complement of the error function.
#include <headroom/core/elementary/elementary.hpp>
#include <headroom/core/elementary/kernels.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headroom::elementary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 0x1.921fb54442d18p+1;
constexpr double to_whole = 0x1.8p52;  // a sum with it is rounded to a whole number

/// zeta(k) - 1 for k = 2, 3, ...: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", 1964, table 23.3.
constexpr std::array<double, 28> zeta_less_one{
    0.6449340668482264,    0.2020569031595943,     0.08232323371113819,   0.03692775514336993,   0.01734306198444914,
    0.008349277381922827,  0.00407735619794434,    0.0020083928260822143, 0.0009945751278180853, 0.0004941886041194645,
    0.0002460865533080483, 0.00012271334757848915, 6.124813505870483e-05, 3.058823630702049e-05, 1.528225940865187e-05,
    7.637197637899763e-06, 3.81729326499984e-06,   1.908212716553939e-06, 9.539620338727962e-07, 4.769329867878064e-07,
    2.38450502727733e-07,  1.1921992596531106e-07, 5.960818905125948e-08, 2.980350351465228e-08, 1.4901554828365043e-08,
    7.45071178983543e-09,  3.725334024788457e-09,  1.862659723513049e-09};
constexpr double one_less_euler = 0x1.b0ee6072093cep-2;

/// log gamma(2 + z) for |z| <= 1/2. Same book, 6.1.33.
double beside_two(double z) {
  double series = 0.0;
  for (int k = static_cast<int>(zeta_less_one.size()) + 1; k >= 2; --k) {
    const double term = zeta_less_one[static_cast<std::size_t>(k - 2)] / k;
    series = z * ((k % 2 == 0 ? term : -term) + series);
  }
  return z * (one_less_euler + series);
}

/// (x - 1) (x - 2) ... down to what lies in [3/2, 5/2], which is left in `x`.
Pair falling(double& x) {
  Pair whole{1.0, 0.0};
  while (x > 2.5) {
    x -= 1.0;  // exact for x < 2^52 above one
    whole = whole * Pair{x, 0.0};
  }
  return whole;
}

/// log gamma(x) for x >= 12 in a pair: the series of Stirling, same book, 6.1.40.
Pair by_stirling(double x) {
  constexpr Pair half_log_of_two_pi{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  const double y = 1.0 / x;
  const double s = y * y;
  const double series =
      y *
      (1.0 / 12.0 + s * (-1.0 / 360.0 +
                         s * (1.0 / 1260.0 +
                              s * (-1.0 / 1680.0 + s * (1.0 / 1188.0 + s * (-691.0 / 360360.0 + s * (1.0 / 156.0)))))));
  return log_pair(x) * sum(x, -0.5) + Pair{-x, 0.0} + half_log_of_two_pi + Pair{series, 0.0};
}

/// sin(pi x) of x that is not whole.
double sine_of_half_turns(double x) {
  const double whole = (x + to_whole) - to_whole;
  const double size = sine(pi * (x - whole));
  return static_cast<std::int64_t>(whole) % 2 == 0 ? size : -size;
}
bool is_whole(double x) {
  return x <= -0x1p51 || (x + to_whole) - to_whole == x;
}

}  // namespace

double logarithm_of_gamma(double x) noexcept {
  if (x != x || x == infinity) {
    return x;
  }
  if (x <= 0.0) {
    if (x == -infinity || is_whole(x)) {
      return infinity;
    }
    const double sine_there = sine_of_half_turns(x);
    return logarithm(pi / (sine_there < 0.0 ? -sine_there : sine_there)) - logarithm_of_gamma(1.0 - x);
  }
  if (x < 0.5) {
    return logarithm_of_gamma(1.0 + x) - logarithm(x);
  }
  if (x < 1.5) {
    return beside_two(x - 1.0) - logarithm_of_more(x - 1.0);
  }
  if (x < 12.0) {
    const Pair factors = falling(x);
    return beside_two(x - 2.0) + (log_pair(factors.high).high + factors.low / factors.high);
  }
  return x > 0x1p1014 ? infinity : by_stirling(x).high;
}

double gamma(double x) noexcept {
  if (x != x || x > 171.7) {
    return x != x ? x : infinity;
  }
  if (x <= 0.0) {
    if (x == 0.0) {
      return 1.0 / x;
    }
    return x == -infinity || is_whole(x) ? std::numeric_limits<double>::quiet_NaN()
                                         : pi / (sine_of_half_turns(x) * gamma(1.0 - x));
  }
  if (x < 1.5) {
    return gamma(1.0 + x) / x;
  }
  if (x > 24.0) {
    const Pair log = by_stirling(x);
    return exp_pair(log.high, log.low);
  }
  const Pair factors = falling(x);
  return factors.high * exponential(beside_two(x - 2.0));
}

double error_complement(double x) noexcept {
  if (x != x) {
    return x;
  }
  if (x < 0.0) {
    return 2.0 - error_complement(-x);
  }
  if (x > 27.3) {
    return 0.0;
  }
  // (1 + 2x) e^(x^2) erfc(x) as Chebyshev polynomials of (x - 3.75) / (x + 3.75), which takes [0, infinity) to [-1, 1]:
  // M. M. Shepherd, J. G. Laframboise, Mathematics of Computation 36 (153), 1981. Their coefficients to double
  // precision are the cosine sums of the function at the zeros of the 64th polynomial.
  constexpr std::array<double, 28> coefficients{
      2.3551578691348034 / 2.0, -0.004590054580646478,   -0.08424913336651792,    0.05920993999819189,
      -0.026658668435305753,    0.009074997670705265,    -0.002413163540417608,   0.0004907758365258086,
      -6.916973302501207e-05,   4.13902798607301e-06,    7.740383066198491e-07,   -2.1886401049234386e-07,
      1.0764999465671004e-08,   4.521959811218372e-09,   -7.754400208830589e-10,  -6.31808834088002e-11,
      2.8687950109363422e-11,   1.945586855042697e-13,   -9.654696748073274e-13,  3.2525481506828756e-14,
      3.347811949739705e-14,    -1.8645628767814072e-15, -1.2507950603417642e-15, 7.418233442194908e-17,
      5.068146013060458e-17,    -2.2370961931509366e-18, -2.187392880138644e-18,  2.6706260050636183e-20};
  const double t = (x - 3.75) / (x + 3.75);
  double next = 0.0;
  double after = 0.0;
  for (std::size_t k = coefficients.size() - 1; k > 0; --k) {  // Clenshaw's recurrence
    const double now = 2.0 * t * next - after + coefficients[k];
    after = next;
    next = now;
  }
  const Pair square = product(x, x);
  return (t * next - after + coefficients[0]) / (1.0 + 2.0 * x) * exp_pair(-square.high, -square.low);
}

}  // namespace headroom::elementary
