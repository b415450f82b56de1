// SPDX-License-Identifier: Apache-2.0
// P. T. P. Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM
// Transactions on Mathematical Software 16 (4), 1990: x is 2^k z, z times a short number 1/c of a table is 1 + r, and
// log x is k ln 2 + log c + a series of r. Here r is exact, for 1/c has so few digits, and the leading terms are pairs.
#include <headroom/core/elementary/elementary.hpp>
#include <headroom/core/elementary/kernels.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headroom::elementary {
namespace {

constexpr int pieces = 128;
constexpr std::uint64_t least_bits = 0x3fe6000000000000;  // 0.6875: z lies between it and twice as much
constexpr double grid = 1024.0;                           // 1/c is a whole number of its parts
constexpr double sheet = 0x1p-42;                         // k ln 2 and log c are whole numbers of it, and so their sum

struct Piece {
  double inverse = 1.0;  ///< 1/c
  double high = 0.0;     ///< log c, a whole number of `sheet`
  double low = 0.0;      ///< the rest
};

constexpr double rounded(double x) {
  return static_cast<double>(static_cast<std::int64_t>(x < 0.0 ? x - 0.5 : x + 0.5));
}

/// log x of x in [1/2, 2] by the series of the inverse hyperbolic tangent in pairs: 2 (t + t^3/3 + ...), t =
/// (x-1)/(x+1).
constexpr Pair log_by_series(double x) {
  const Pair t = Pair{x - 1.0, 0.0} / sum(x, 1.0);
  const Pair square = t * t;
  Pair term = t;
  Pair whole = t;
  for (int n = 3; n <= 75; n += 2) {
    term = term * square;
    whole = whole + term / Pair{static_cast<double>(n), 0.0};
  }
  return {2.0 * whole.high, 2.0 * whole.low};
}

constexpr std::array<Piece, pieces> make_table() {
  std::array<Piece, pieces> table{};
  for (int i = 0; i < pieces; ++i) {
    const double from = from_bits(least_bits + (static_cast<std::uint64_t>(i) << 45U));
    const double to = from_bits(least_bits + (static_cast<std::uint64_t>(i + 1) << 45U));
    // On both sides of one r is x - 1, and the logarithm keeps all its digits.
    const bool beside_one = from == 1.0 || to == 1.0;
    const double inverse = beside_one ? 1.0 : rounded(grid * 2.0 / (from + to)) / grid;
    const Pair log = log_by_series(inverse);
    const double high = rounded(-log.high / sheet) * sheet;
    const Pair rest = Pair{-log.high, -log.low} + Pair{-high, 0.0};
    table[static_cast<std::size_t>(i)] = {inverse, high, rest.high};
  }
  return table;
}
constexpr std::array<Piece, pieces> table = make_table();

constexpr double ln2_high = rounded(ln2.high / sheet) * sheet;
constexpr double ln2_low = (ln2.high - ln2_high) + ln2.low;

constexpr Pair inverse_of_ln2{0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
constexpr Pair inverse_of_ln10{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of an x that has no logarithm.
double log_of_none(double x) {
  return x == 0.0 ? -infinity : x < 0.0 ? std::numeric_limits<double>::quiet_NaN() : x;
}

bool has_log(double x) {
  return x > 0.0 && x < infinity;
}

}  // namespace

namespace {

/// x as 2^k z, and z times 1/c as 1 + r.
struct Reduced {
  double k = 0.0;
  Piece piece;
  double wide = 0.0;  ///< r is the sum of both, neither of them rounded
  double fine = 0.0;
};

Reduced reduced(double x) {
  Reduced out;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    out.k = -54.0;
  }
  const std::uint64_t bits = to_bits(x);
  const std::uint64_t above = bits - least_bits;
  out.k += static_cast<double>(static_cast<std::int64_t>(above) >> 52);
  const double z = from_bits(bits - (above & (std::uint64_t{0xfff} << 52U)));
  out.piece = table[static_cast<std::size_t>((above >> 45U) % pieces)];
  const double z_high = from_bits(to_bits(z) & ~((std::uint64_t{1} << 21U) - 1));
  out.wide = z_high * out.piece.inverse - 1.0;
  out.fine = (z - z_high) * out.piece.inverse;
  return out;
}

/// (log(1 + r) - r + r^2 / 2) / r^3: the next term, r^11 / 11, is below 2^-73 of r.
double series_of(double r, double square) {
  return (1.0 / 3.0 + r * (-1.0 / 4.0)) +
         square * ((1.0 / 5.0 + r * (-1.0 / 6.0)) +
                   square * ((1.0 / 7.0 + r * (-1.0 / 8.0)) + square * (1.0 / 9.0 + r * (-1.0 / 10.0))));
}

}  // namespace

Pair log_pair(double x) {
  const Reduced z = reduced(x);
  const Pair r = sum(z.wide, z.fine);
  const double r1 = r.high;
  const Pair square = product(r1, r1);
  const Pair with_r = sum(z.k * ln2_high + z.piece.high, r1);
  const Pair with_square = sum(with_r.high, -0.5 * square.high);
  const double low = ((with_r.low + with_square.low) + (r.low - (r1 * r.low + 0.5 * square.low))) +
                     ((z.k * ln2_low + z.piece.low) + square.high * r1 * series_of(r1, square.high));
  return sum_of_ordered(with_square.high, low);
}

double logarithm(double x) noexcept {
  if (!has_log(x)) {
    return log_of_none(x);
  }
  const Reduced z = reduced(x);
  const double r = z.wide + z.fine;
  const double square = r * r;
  const Pair high = sum_of_ordered(z.k * ln2_high + z.piece.high, r);  // the first is zero or the larger
  const double low = (high.low + (z.fine - (r - z.wide))) + (z.k * ln2_low + z.piece.low);
  return high.high + (low + square * (r * series_of(r, square) - 0.5));
}

double logarithm_of_two(double x) noexcept {
  return has_log(x) ? (log_pair(x) * inverse_of_ln2).high : log_of_none(x);
}

double logarithm_of_ten(double x) noexcept {
  return has_log(x) ? (log_pair(x) * inverse_of_ln10).high : log_of_none(x);
}

double logarithm_of_more(double x) noexcept {
  if (x > -0x1p-54 && x < 0x1p-54) {
    return x;
  }
  const Pair more = sum(1.0, x);
  if (!has_log(more.high)) {
    return log_of_none(more.high);
  }
  const Pair log = log_pair(more.high);
  return log.high + (log.low + more.low / more.high);
}

}  // namespace headroom::elementary
