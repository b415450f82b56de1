// SPDX-License-Identifier: Apache-2.0
// One drawing of the laboratory: lines and points over two axes, with marks where something changes.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

struct LabPoint {
  double x = 0.0, y = 0.0;
  std::string name;  ///< told beside a point of LineStyle::points; may be empty
};

enum class LineStyle : std::uint8_t { solid, dashed, steps, points };

struct LabLine {
  std::string name;
  LineStyle style = LineStyle::solid;
  std::vector<LabPoint> points;  ///< ascending in x
};

/// A value of x at which something changes: a capacity, a crossover.
struct LabMark {
  double x = 0.0;
  std::string name;
};

/// An axis in raw SI; `hint` says how people read its numbers.
struct LabAxis {
  std::string title;
  Hint hint = Hint::number;
  bool logarithmic = false;
};

struct LabChart {
  std::string title;
  LabAxis x, y;
  std::vector<LabLine> lines;
  std::vector<LabMark> marks;
};

/// One self-contained SVG drawing. Points of a logarithmic axis that are not positive are left out.
[[nodiscard]] std::string lab_drawing(const LabChart& chart);

}  // namespace headroom
