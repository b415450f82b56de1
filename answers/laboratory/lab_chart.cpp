// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/laboratory/lab_chart.hpp>
#include <headroom/answers/markup/drawing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

using report::Frame;

constexpr std::array<std::string_view, 10> colours{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b",
                                                   "#e377c2", "#ff7f0e", "#17becf", "#7f7f7f", "#bcbd22"};

/// Where values of one axis stand between two ends of the plot.
class Scale {
 public:
  Scale(const LabAxis& axis, double low, double high, double from, double to)
      : axis_{&axis}, low_{of(low)}, high_{of(high)}, from_{from}, to_{to} {}

  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!axis_->logarithmic || value > 0.0); }
  [[nodiscard]] double operator()(double value) const {
    return from_ + (to_ - from_) * std::clamp((of(value) - low_) / (high_ - low_), 0.0, 1.0);
  }
  /// Values at which the axis is told: round ones.
  [[nodiscard]] std::vector<double> ticks() const { return axis_->logarithmic ? powers() : steps(); }
  [[nodiscard]] std::string told(double value) const { return figure_text(value, axis_->hint); }

 private:
  /// Multiples of 1, 2 or 5 times a power of ten, some six of them.
  [[nodiscard]] std::vector<double> steps() const {
    constexpr double wanted = 6.0;
    const double rough = (high_ - low_) / wanted;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double step = rough > 5.0 * power ? 10.0 * power : rough > 2.0 * power ? 5.0 * power : 2.0 * power;
    std::vector<double> values;
    const double slack = 1e-9 * step;
    for (double at = std::ceil((low_ - slack) / step) * step; at <= high_ + slack; at += step) {
      values.push_back(at);
    }
    return values;
  }
  /// Whole powers, of two for bytes, else of ten; 2 and 5 times them where two decades or less are shown.
  [[nodiscard]] std::vector<double> powers() const {
    constexpr double most = 9.0;
    constexpr double slack = 1e-9;
    const bool binary = axis_->hint == Hint::bytes;
    const double unit = binary ? std::log10(2.0) : 1.0;
    const double stride = std::max(1.0, std::ceil((high_ - low_) / unit / most)) * unit;
    const bool between = !binary && high_ - low_ <= 2.0;
    std::vector<double> values;
    for (double at = std::floor(low_ / stride) * stride; at <= high_ + slack; at += stride) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double place = at + std::log10(factor);
        if ((factor == 1.0 || between) && place >= low_ - slack && place <= high_ + slack) {
          values.push_back(std::pow(10.0, place));
        }
      }
    }
    return values;
  }

  [[nodiscard]] double of(double value) const { return axis_->logarithmic ? std::log10(value) : value; }

  const LabAxis* axis_;
  double low_, high_, from_, to_;
};

struct AxisRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value, bool logarithmic) {
    if (std::isfinite(value) && (!logarithmic || value > 0.0)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  /// With a margin, and from nought where that is near.
  [[nodiscard]] AxisRange widened(bool logarithmic) const {
    constexpr double margin = 0.08;
    if (!(low <= high)) {
      return {1.0, 10.0};
    }
    if (logarithmic) {
      return low == high ? AxisRange{low / 2.0, high * 2.0}
                         : AxisRange{low / std::pow(high / low, margin / 2.0), high * std::pow(high / low, margin)};
    }
    const double from = low > 0.0 && low < 0.5 * high ? 0.0 : low;
    return from == high ? AxisRange{from - 1.0, high + 1.0} : AxisRange{from, high + margin * (high - from)};
  }
};

std::string path_of(const LabLine& line, const Scale& x, const Scale& y, std::string_view colour) {
  std::string points;
  double last = 0.0;
  for (const LabPoint& p : line.points) {
    if (!x.shows(p.x) || !y.shows(p.y)) {
      continue;
    }
    if (line.style == LineStyle::steps && !points.empty()) {
      points += report::coordinate(x(p.x)) + "," + report::coordinate(last) + " ";
    }
    last = y(p.y);
    points += report::coordinate(x(p.x)) + "," + report::coordinate(last) + " ";
  }
  return "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + std::string{colour} + "\"" +
         (line.style == LineStyle::dashed ? " stroke-dasharray=\"6 4\"" : "") + " points=\"" + points + "\"/>\n";
}

/// The name of a mark at the top of the plot, lower where others stand there.
std::string mark_name(report::Names& names, double x, const std::string& name) {
  constexpr double row = 12.0;
  constexpr int rows = 5;
  std::string text;
  for (int i = 1; i <= rows && text.empty(); ++i) {
    text = names.place(x, Frame::top + row * i, name);
  }
  return text;
}

}  // namespace

std::string lab_drawing(const LabChart& chart) {
  AxisRange across;
  AxisRange up;
  for (const LabLine& line : chart.lines) {
    for (const LabPoint& p : line.points) {
      across.take(p.x, chart.x.logarithmic);
      up.take(p.y, chart.y.logarithmic);
    }
  }
  across = across.widened(chart.x.logarithmic);
  up = up.widened(chart.y.logarithmic);
  const Scale x{chart.x, across.low, across.high, Frame::left, Frame::left + Frame::inner_width};
  const Scale y{chart.y, up.low, up.high, Frame::top + Frame::inner_height, Frame::top};
  std::string svg;
  for (const double value : x.ticks()) {
    svg += report::line(x(value), Frame::top, x(value), Frame::top + Frame::inner_height, "class=\"grid\"") +
           report::label(x(value), Frame::top + Frame::inner_height + 18.0, x.told(value), "text-anchor=\"middle\"");
  }
  for (const double value : y.ticks()) {
    svg += report::line(Frame::left, y(value), Frame::left + Frame::inner_width, y(value), "class=\"grid\"") +
           report::label(Frame::left - 6.0, y(value) + 4.0, y.told(value), "text-anchor=\"end\"");
  }
  svg += report::label(Frame::left + 0.5 * Frame::inner_width, Frame::top + Frame::inner_height + 34.0, chart.x.title,
                       "text-anchor=\"middle\"") +
         report::label(Frame::left, Frame::top - 6.0, chart.y.title);
  report::Names names;
  for (const LabMark& mark : chart.marks) {
    if (x.shows(mark.x) && mark.x >= across.low && mark.x <= across.high) {
      svg += report::line(x(mark.x), Frame::top, x(mark.x), Frame::top + Frame::inner_height, "class=\"mark\"") +
             mark_name(names, x(mark.x) + 4.0, mark.name);
    }
  }
  std::vector<report::LegendEntry> entries;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const LabLine& line = chart.lines[i];
    const std::string_view colour = colours[i % colours.size()];
    if (line.style != LineStyle::points) {
      svg += path_of(line, x, y, colour);
    } else {
      for (const LabPoint& p : line.points) {
        if (x.shows(p.x) && y.shows(p.y)) {
          svg += report::dot(x(p.x), y(p.y), 4.0, colour,
                             (p.name.empty() ? line.name : p.name) + ": " + x.told(p.x) + ", " + y.told(p.y)) +
                 names.place(x(p.x) + 6.0, y(p.y) + 4.0, p.name);
        }
      }
    }
    entries.push_back({colour, line.name});
  }
  const report::Legend legend = report::legend(entries);
  return report::drawing(chart.title, ".mark{stroke:#888;stroke-dasharray:3 3}", svg + legend.svg, legend.below);
}

}  // namespace headroom
