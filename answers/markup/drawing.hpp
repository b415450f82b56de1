// SPDX-License-Identifier: Apache-2.0
// Pieces of SVG: lines, dots and text at a point, and the frame around a drawing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::report {

/// Size of a drawing, and the rectangle of its plot.
struct Frame {
  static constexpr double width = 860.0, height = 560.0;
  static constexpr double left = 90.0, top = 50.0, inner_width = 740.0, inner_height = 440.0;
};

/// A coordinate with one digit behind the point.
[[nodiscard]] std::string coordinate(double value);
/// `style`: attributes, such as class="grid".
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, std::string_view style);
[[nodiscard]] std::string label(double x, double y, std::string_view text, std::string_view style = {});
/// A dot that tells `words` when it is pointed at.
[[nodiscard]] std::string dot(double x, double y, double radius, std::string_view colour, std::string_view words = {});
/// The element around a drawing, with its style sheet and its title: text, .grid, and the rules of `style`.
/// `below`: height added under the frame.
[[nodiscard]] std::string drawing(std::string_view title,
                                  std::string_view style,
                                  std::string_view inside,
                                  double below = 0.0);

struct LegendEntry {
  std::string_view colour, name;
};
struct Legend {
  std::string svg;
  double below = 0.0;  ///< height that its rows take under the frame
};
/// Dots with names in rows below the plot, a new row where the next name would leave it.
[[nodiscard]] Legend legend(std::span<const LegendEntry> entries);

/// Names beside points, left out where they would cover one another; pointing at a dot tells every one's.
class Names {
 public:
  [[nodiscard]] std::string place(double x, double y, const std::string& text);

 private:
  struct Box {
    double left, right, y;
  };
  std::vector<Box> taken_;
};

}  // namespace headroom::report
