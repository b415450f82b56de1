// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/rate_curve.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace headroom {

RateCurve::RateCurve() = default;

const char* RateCurve::problem(Seconds period, std::span<const Point> points) {
  if (!(period > Seconds{0.0}) || !std::isfinite(period.raw())) {
    return "the period must be a time above 0";
  }
  double largest = 0.0;
  Seconds last{0.0};
  for (const Point& point : points) {
    if (!(point.at >= last) || point.at > period) {
      return "points must come by time, from 0 to the period";
    }
    if (!(point.rate >= 0.0) || !std::isfinite(point.rate)) {
      return "rates must be numbers from 0 on";
    }
    last = point.at;
    largest = std::max(largest, point.rate);
  }
  return largest > 0.0 ? nullptr : "no rate is above 0";
}

RateCurve::RateCurve(Seconds period, std::span<const Point> points) : period_{period.raw()} {
  double mass = 0.0;
  const auto piece = [&](double from, double to, double rate, double end_rate) {
    if (to > from) {
      pieces_.push_back({from, rate, (end_rate - rate) / (to - from), mass});
      mass += 0.5 * (rate + end_rate) * (to - from);
    }
  };
  piece(0.0, points.front().at.raw(), points.front().rate, points.front().rate);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    piece(points[i].at.raw(), points[i + 1].at.raw(), points[i].rate, points[i + 1].rate);
  }
  piece(points.back().at.raw(), period_, points.back().rate, points.back().rate);
  const double mean = mass / period_;
  for (Piece& one : pieces_) {
    one.rate /= mean;
    one.slope /= mean;
    one.mass /= mean;
  }
}

RateCurve RateCurve::sinusoid(Seconds period, double amplitude) {
  constexpr int pieces = 720;
  std::vector<Point> points;
  for (int i = 0; i <= pieces; ++i) {
    const double share = static_cast<double>(i) / pieces;
    points.push_back({period * share, std::max(1.0 + amplitude * std::sin(2.0 * std::numbers::pi * share), 0.0)});
  }
  points.back().at = period;
  return {period, points};
}

RateCurve RateCurve::bursts(Seconds period, Seconds length, double factor) {
  const std::vector<Point> points{{Seconds{0.0}, factor}, {length, factor}, {length, 1.0}, {period, 1.0}};
  return {period, points};
}

Seconds RateCurve::when(Seconds mass) const noexcept {
  if (period_ == 0.0) {
    return mass;
  }
  // The mean is 1, so that the mass of a period equals its length.
  const double periods = std::floor(mass.raw() / period_);
  const double left = mass.raw() - periods * period_;
  auto found = std::upper_bound(pieces_.begin(), pieces_.end(), left,
                                [](double value, const Piece& piece) { return value < piece.mass; });
  const Piece& piece = *(found == pieces_.begin() ? found : found - 1);
  const double m = left - piece.mass;
  // Solves slope/2 x^2 + rate x = m in the form without cancellation.
  const double root = std::sqrt(std::max(piece.rate * piece.rate + 2.0 * piece.slope * m, 0.0));
  const double sum = piece.rate + root;
  return Seconds{periods * period_ + piece.at + (sum > 0.0 ? 2.0 * m / sum : 0.0)};
}

double RateCurve::peak() const noexcept {
  double largest = pieces_.empty() ? 1.0 : 0.0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const double end = i + 1 < pieces_.size() ? pieces_[i + 1].at : period_;
    largest = std::max({largest, pieces_[i].rate, pieces_[i].rate + pieces_[i].slope * (end - pieces_[i].at)});
  }
  return largest;
}

}  // namespace headroom
