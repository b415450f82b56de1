// SPDX-License-Identifier: Apache-2.0
// Physical quantities as types: seconds, bytes, FLOP, dollars, joules and their quotients, at zero cost.
#pragma once

#include <type_traits>

namespace headroom {

/// A double with the dimension second^S byte^B flop^F dollar^D joule^J, stored in the unprefixed unit. Only equal
/// dimensions add and compare; products and quotients combine exponents, and a dimensionless result is a plain double.
/// Prefixes (GB, GiB, Gb) exist only in quantity_text.
template <int S, int B, int F, int D, int J>
class Quantity {
 public:
  constexpr Quantity() noexcept = default;
  explicit constexpr Quantity(double raw) noexcept : raw_{raw} {}

  [[nodiscard]] constexpr double raw() const noexcept { return raw_; }

  constexpr Quantity& operator+=(Quantity other) noexcept {
    raw_ += other.raw_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) noexcept {
    raw_ -= other.raw_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) noexcept {
    raw_ *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) noexcept {
    raw_ /= divisor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept { return Quantity{a.raw_ + b.raw_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) noexcept { return Quantity{a.raw_ - b.raw_}; }
  friend constexpr Quantity operator-(Quantity a) noexcept { return Quantity{-a.raw_}; }
  friend constexpr Quantity operator*(Quantity a, double k) noexcept { return Quantity{a.raw_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) noexcept { return Quantity{k * a.raw_}; }
  friend constexpr Quantity operator/(Quantity a, double k) noexcept { return Quantity{a.raw_ / k}; }

  // Written out because g++ 12 compiles max(a, b) on a defaulted <=> into compare-and-branch chains.
  friend constexpr bool operator==(Quantity a, Quantity b) noexcept { return a.raw_ == b.raw_; }
  friend constexpr bool operator!=(Quantity a, Quantity b) noexcept { return a.raw_ != b.raw_; }
  friend constexpr bool operator<(Quantity a, Quantity b) noexcept { return a.raw_ < b.raw_; }
  friend constexpr bool operator>(Quantity a, Quantity b) noexcept { return a.raw_ > b.raw_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) noexcept { return a.raw_ <= b.raw_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) noexcept { return a.raw_ >= b.raw_; }

 private:
  double raw_ = 0.0;
};

template <int S, int B, int F, int D, int J>
[[nodiscard]] constexpr auto make_quantity(double raw) noexcept {
  if constexpr (S == 0 && B == 0 && F == 0 && D == 0 && J == 0) {
    return raw;
  } else {
    return Quantity<S, B, F, D, J>{raw};
  }
}

template <int S1, int B1, int F1, int D1, int J1, int S2, int B2, int F2, int D2, int J2>
[[nodiscard]] constexpr auto operator*(Quantity<S1, B1, F1, D1, J1> a, Quantity<S2, B2, F2, D2, J2> b) noexcept {
  return make_quantity<S1 + S2, B1 + B2, F1 + F2, D1 + D2, J1 + J2>(a.raw() * b.raw());
}

template <int S1, int B1, int F1, int D1, int J1, int S2, int B2, int F2, int D2, int J2>
[[nodiscard]] constexpr auto operator/(Quantity<S1, B1, F1, D1, J1> a, Quantity<S2, B2, F2, D2, J2> b) noexcept {
  return make_quantity<S1 - S2, B1 - B2, F1 - F2, D1 - D2, J1 - J2>(a.raw() / b.raw());
}

template <int S, int B, int F, int D, int J>
[[nodiscard]] constexpr auto operator/(double k, Quantity<S, B, F, D, J> a) noexcept {
  return make_quantity<-S, -B, -F, -D, -J>(k / a.raw());
}

using Seconds = Quantity<1, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;
using Dollars = Quantity<0, 0, 0, 1, 0>;
using Joules = Quantity<0, 0, 0, 0, 1>;
using Hertz = Quantity<-1, 0, 0, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0, 0>;
using FlopsPerByte = Quantity<0, -1, 1, 0, 0>;
using DollarsPerSecond = Quantity<-1, 0, 0, 1, 0>;
using DollarsPerJoule = Quantity<0, 0, 0, 1, -1>;
using DollarsPerByte = Quantity<0, -1, 0, 1, 0>;
using DollarsPerByteSecond = Quantity<-1, -1, 0, 1, 0>;
using Watts = Quantity<-1, 0, 0, 0, 1>;

static_assert(sizeof(Seconds) == sizeof(double) && std::is_trivially_copyable_v<Seconds>);

inline constexpr Seconds hour{3600.0};
inline constexpr Seconds day{86400.0};
inline constexpr Seconds common_year{365.0 * 86400.0};  ///< 8760 hours, twelve months of 730 hours

}  // namespace headroom
