// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/drawing.hpp>
#include <headroom/answers/markup/html.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace headroom::report {

std::string coordinate(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return "<line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1) + "\" x2=\"" + coordinate(x2) + "\" y2=\"" +
         coordinate(y2) + "\" " + std::string{style} + "/>\n";
}

std::string label(double x, double y, std::string_view text, std::string_view style) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" " + std::string{style} + ">" + escaped(text) +
         "</text>\n";
}

std::string dot(double x, double y, double radius, std::string_view colour, std::string_view words) {
  const std::string circle = "<circle cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) + "\" r=\"" +
                             std::to_string(std::lround(radius)) + "\" fill=\"" + std::string{colour} + "\"";
  return words.empty() ? circle + "/>\n" : circle + "><title>" + escaped(words) + "</title></circle>\n";
}

std::string drawing(std::string_view title, std::string_view style, std::string_view inside, double below) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 " +
         std::to_string(std::lround(Frame::height + below)) +
         "\" font-family=\"sans-serif\" "
         "font-size=\"12\">\n<style>text{fill:#222}.grid{stroke:#ddd}" +
         std::string{style} + "svg{background:#fff}</style>\n" + label(Frame::left, 28.0, title, "font-size=\"16\"") +
         std::string{inside} + "</svg>\n";
}

Legend legend(std::span<const LegendEntry> entries) {
  constexpr double first_row = 544.0, row = 18.0, letter = 6.6, beside = 34.0, drop = 4.0;
  Legend legend;
  double x = Frame::left;
  for (const LegendEntry& entry : entries) {
    const double width = beside + letter * static_cast<double>(entry.name.size());
    if (x > Frame::left && x + width > Frame::left + Frame::inner_width + beside) {
      x = Frame::left;
      legend.below += row;
    }
    const double y = first_row + legend.below;
    legend.svg += dot(x, y, 5.0, entry.colour) + label(x + 10.0, y + drop, entry.name);
    x += width;
  }
  return legend;
}

std::string Names::place(double x, double y, const std::string& text) {
  constexpr double height = 11.0;
  constexpr double letter = 5.5;
  const double right = x + letter * static_cast<double>(text.size());
  const bool covers = std::any_of(taken_.begin(), taken_.end(), [&](const Box& b) {
    return x < b.right && b.left < right && std::abs(y - b.y) < height;
  });
  if (covers || right > Frame::left + Frame::inner_width + 20.0) {
    return {};
  }
  taken_.push_back({x, right, y});
  return label(x, y, text, "font-size=\"10\"");
}

}  // namespace headroom::report
