// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/drawing.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render_roofline.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace headroom {
namespace {

using report::label;
using report::line;

Seconds phase_time(const RooflineReport& report, const std::string& phase) {
  Seconds sum{};
  for (const RooflineRow& row : report.rows) {
    if (row.phase == phase) {
      sum += static_cast<double>(row.layers) * row.time;
    }
  }
  return sum;
}

/// The lower of the two roofs at the row's intensity.
FlopsPerSecond roof(const RooflineReport& report, const RooflineRow& row) {
  return std::min(row.peak, row.intensity() * report.bandwidth);
}

/// What the op reaches of the roof above it; of passes without work, of the bandwidth.
double of_roof(const RooflineReport& report, const RooflineRow& row) {
  return row.work > Flops{} ? row.rate() / roof(report, row) : (row.moved / row.time) / report.bandwidth;
}

std::vector<std::string> phases(const RooflineReport& report) {
  std::vector<std::string> found;
  for (const RooflineRow& row : report.rows) {
    if (std::find(found.begin(), found.end(), row.phase) == found.end()) {
      found.push_back(row.phase);
    }
  }
  return found;
}

/// Log-log coordinates of the drawing.
struct Plot {
  static constexpr double left = report::Frame::left, top = report::Frame::top;
  static constexpr double width = report::Frame::inner_width, height = report::Frame::inner_height;
  double x0 = -1.0, x1 = 4.0;   ///< decades of FLOP/B
  double y0 = 10.0, y1 = 15.5;  ///< decades of FLOP/s

  [[nodiscard]] double x(double intensity) const {
    return left + width * (std::clamp(std::log10(intensity), x0, x1) - x0) / (x1 - x0);
  }
  [[nodiscard]] double y(double rate) const {
    return top + height * (1.0 - (std::clamp(std::log10(rate), y0, y1) - y0) / (y1 - y0));
  }
};

Plot plot_of(const RooflineReport& report) {
  Plot plot;
  double low = std::log10(report.peak.raw());
  plot.y1 = std::ceil(2.0 * (std::log10(report.peak.raw()) + 0.15)) / 2.0;
  for (const RooflineRow& row : report.rows) {
    if (row.work > Flops{}) {
      low = std::min(low, std::log10(row.rate().raw()));
      plot.x0 = std::min(plot.x0, std::floor(std::log10(row.intensity().raw())));
      plot.x1 = std::max(plot.x1, std::ceil(std::log10(row.intensity().raw())));
    }
  }
  plot.y0 = std::floor(low - 0.2);
  return plot;
}

/// "100 TFLOP/s" of a whole power of ten.
std::string decade(double power) {
  constexpr std::array<std::string_view, 3> prefixes{"G", "T", "P"};
  const auto step = static_cast<std::size_t>(std::clamp((power - 9.0) / 3.0, 0.0, 2.0));
  const double value = std::pow(10.0, power - 9.0 - 3.0 * static_cast<double>(step));
  return std::to_string(std::llround(value)) + " " + std::string{prefixes[step]} + "FLOP/s";
}

std::string axes(const Plot& plot) {
  std::string svg;
  for (int power = static_cast<int>(plot.x0); power <= static_cast<int>(plot.x1); ++power) {
    const double d = power;
    const double x = plot.x(std::pow(10.0, d));
    svg += line(x, Plot::top, x, Plot::top + Plot::height, "class=\"grid\"");
    svg += label(x, Plot::top + Plot::height + 18.0, format_number(std::pow(10.0, d)), "text-anchor=\"middle\"");
  }
  for (int power = static_cast<int>(plot.y0); power <= static_cast<int>(plot.y1); ++power) {
    const double d = power;
    const double y = plot.y(std::pow(10.0, d));
    svg += line(Plot::left, y, Plot::left + Plot::width, y, "class=\"grid\"");
    svg += label(Plot::left - 6.0, y + 4.0, decade(d), "text-anchor=\"end\"");
  }
  return svg + label(Plot::left + 0.5 * Plot::width, Plot::top + Plot::height + 38.0, "FLOP per byte of memory traffic",
                     "text-anchor=\"middle\"");
}

/// A slope up to the peak and the flat roof behind it.
std::string slope(const Plot& plot,
                  FlopsPerSecond peak,
                  BytesPerSecond bandwidth,
                  const std::string& name,
                  const std::string& style) {
  const double start = std::max(std::pow(10.0, plot.x0), std::pow(10.0, plot.y0) / bandwidth.raw());
  const double ridge = (peak / bandwidth).raw();
  return line(plot.x(start), plot.y(start * bandwidth.raw()), plot.x(ridge), plot.y(peak.raw()), style) +
         label(plot.x(start) + 8.0, plot.y(start * bandwidth.raw()) - 10.0, name);
}

}  // namespace

std::string roofline_text(const RooflineReport& report) {
  std::string text = report.title + "\npeak " + format(report.peak) + ", memory " + format(report.bandwidth) +
                     ", L2 about " + format(report.l2) + "; ridge " +
                     format_number((report.peak / report.bandwidth).raw()) + " FLOP/B\n";
  for (const std::string& phase : phases(report)) {
    const Seconds all = phase_time(report, phase);
    Table table{{phase, "layers", "time", "share %", "GFLOP", "moved", "FLOP/B", "rate", "of roof %", "<bound by"}};
    for (const RooflineRow& row : report.rows) {
      if (row.phase != phase) {
        continue;
      }
      const bool works = row.work > Flops{};
      table.row({row.op, std::to_string(row.layers), format(row.time),
                 percent_number(static_cast<double>(row.layers) * row.time / all),
                 works ? format_number(row.work.raw() / 1e9) : "-", format(row.moved),
                 works ? format_number(row.intensity().raw()) : "-",
                 works ? format(row.rate()) : format(row.moved / row.time), percent_number(of_roof(report, row)),
                 row.bound});
    }
    text += "\n" + table.text(0) + phase + " of all layers: " + format(all) + "\n";
  }
  for (const std::string& note : report.notes) {
    text += (&note == &report.notes.front() ? "\n" : "") + note + "\n";
  }
  return text;
}

Value roofline_document(const RooflineReport& report) {
  return object("schema"_m = "headroom.roofline/1", "title"_m = report.title, "gpu"_m = report.gpu,
                "peak_flop_per_s"_m = report.peak, "bandwidth_bytes_per_s"_m = report.bandwidth,
                "l2_bytes_per_s"_m = report.l2, "ridge_flop_per_byte"_m = report.peak / report.bandwidth,
                "rows"_m = list(report.rows,
                                [&](const RooflineRow& r) {
                                  const bool works = r.work > Flops{};
                                  return row("phase"_m = r.phase, "op"_m = r.op, "layers"_m = r.layers,
                                             "time_s"_m = r.time, "flop"_m = r.work, "moved_bytes"_m = r.moved,
                                             "flop_per_byte"_m = works ? Value{r.intensity()} : Value{},
                                             "flop_per_s"_m = works ? Value{r.rate()} : Value{},
                                             "of_roof"_m = share(of_roof(report, r)), "bound"_m = r.bound);
                                }),
                "notes"_m = report.notes);
}

std::string roofline_csv(const RooflineReport& report) {
  std::string text = "phase,op,layers,time_us,flop,moved_bytes,flop_per_byte,flop_per_s,of_roof,bound\n";
  for (const RooflineRow& row : report.rows) {
    const bool works = row.work > Flops{};
    text += csv_field(row.phase) + "," + csv_field(row.op) + "," + std::to_string(row.layers) + "," +
            format_number(row.time.raw() * 1e6, 6) + "," + format_number(row.work.raw(), 6) + "," +
            format_number(row.moved.raw(), 6) + "," + (works ? format_number(row.intensity().raw(), 6) : "") + "," +
            (works ? format_number(row.rate().raw(), 6) : "") + "," + format_number(of_roof(report, row), 4) + "," +
            csv_field(row.bound) + "\n";
  }
  return text;
}

std::string roofline_svg(const RooflineReport& report) {
  constexpr std::array<std::string_view, 4> colours{"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};
  const Plot plot = plot_of(report);
  std::string svg = axes(plot);
  svg += slope(plot, report.peak, report.bandwidth, "memory " + format(report.bandwidth), "class=\"roof\"");
  svg += slope(plot, report.peak, report.l2, "L2 about " + format(report.l2), "class=\"l2\"");
  const double ridge = (report.peak / report.l2).raw();
  svg += line(plot.x(ridge), plot.y(report.peak.raw()), Plot::left + Plot::width, plot.y(report.peak.raw()),
              "class=\"roof\"");
  svg += label(Plot::left + Plot::width - 4.0, plot.y(report.peak.raw()) - 6.0, "peak " + format(report.peak),
               "text-anchor=\"end\"");
  const std::vector<std::string> all = phases(report);
  report::Names names;
  for (const RooflineRow& row : report.rows) {
    if (row.work <= Flops{}) {
      continue;
    }
    const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), row.phase) - all.begin());
    const double x = plot.x(row.intensity().raw());
    const double y = plot.y(row.rate().raw());
    svg += report::dot(x, y, 4.0, colours[at % colours.size()],
                       row.phase + " " + row.op + ": " + format(row.time) + ", " + format(row.rate())) +
           names.place(x + 6.0, y + 4.0, row.op);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = Plot::left + 120.0 * static_cast<double>(i);
    svg += report::dot(x, 544.0, 5.0, colours[i % colours.size()]) + label(x + 10.0, 548.0, all[i]);
  }
  return report::drawing(report.title,
                         ".roof{stroke:#222;stroke-width:2}"
                         ".l2{stroke:#888;stroke-width:1.5;stroke-dasharray:6 4}",
                         svg);
}

}  // namespace headroom
