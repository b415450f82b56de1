// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_serving_memory.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <span>

namespace headroom {
namespace {

constexpr std::size_t unknowns = 3;
using Constants = std::array<double, unknowns>;

/// A row as a linear equation: capacity = at_zero - sum(slope x constant).
struct Line {
  double at_zero = 0.0;
  Constants slope{};
  double measured = 0.0;
  std::string gpu;
  std::int64_t tp = 1;
  [[nodiscard]] double capacity(const Constants& c) const {
    double sum = at_zero;
    for (std::size_t i = 0; i < unknowns; ++i) {
      sum -= slope[i] * c[i];
    }
    return sum;
  }
};

ServingStack with(ServingStack stack, const Constants& c) {
  stack.memory.quantised_bytes = c[0];
  stack.memory.framework = Bytes{c[1]};
  stack.memory.framework_per_doubling = Bytes{c[2]};
  return stack;
}

constexpr Constants unit{1.0, 0x1p30, 0x1p30};

/// Linear equation of a row; nullopt when a model cannot predict the row.
std::optional<Line> line_of(ServingRowModel& zero, std::span<ServingRowModel> moved, const RunRow& row) {
  const std::optional<double> at_zero = zero.exact_capacity(row.serving);
  if (!at_zero) {
    return std::nullopt;
  }
  Line line{*at_zero, {}, row.measured, row.serving.gpu, row.serving.tp.value_or(1)};
  for (std::size_t i = 0; i < unknowns; ++i) {
    const std::optional<double> at_unit = moved[i].exact_capacity(row.serving);
    if (!at_unit) {
      return std::nullopt;
    }
    line.slope[i] = (*at_zero - *at_unit) / unit[i];
  }
  return line;
}

std::vector<Line> lines_of(std::span<const RunFile> files, Engine engine, const Sources& sources) {
  const ServingStack stack = find_serving_stack(sources.data, engine);
  ServingRowModel zero{sources};
  zero.set_stack(with(stack, {}));
  std::array<ServingRowModel, unknowns> moved{ServingRowModel{sources}, ServingRowModel{sources},
                                              ServingRowModel{sources}};
  for (std::size_t i = 0; i < unknowns; ++i) {
    Constants c{};
    c[i] = unit[i];
    moved[i].set_stack(with(stack, c));
  }
  std::vector<Line> lines;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      if (file.form != RowForm::serving || row.metric != "max_concurrent_sequences" || row.doubted ||
          engine_of(row.serving.engine) != engine) {
        continue;
      }
      if (std::optional<Line> line = line_of(zero, moved, row)) {
        lines.push_back(std::move(*line));
      }
    }
  }
  return lines;
}

/// Solves the normal equations by elimination with pivoting, in units of bytes and GiB.
Constants least_squares(const std::vector<Line>& lines) {
  std::array<std::array<double, unknowns + 1>, unknowns> a{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < unknowns; ++i) {
      const double slope = line.slope[i] * unit[i];
      for (std::size_t j = 0; j < unknowns; ++j) {
        a[i][j] += slope * line.slope[j] * unit[j];
      }
      a[i][unknowns] += slope * (line.at_zero - (line.measured + 0.5));
    }
  }
  for (std::size_t i = 0; i < unknowns; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i + 1; k < unknowns; ++k) {
      pivot = std::abs(a[k][i]) > std::abs(a[pivot][i]) ? k : pivot;
    }
    std::swap(a[i], a[pivot]);
    if (std::abs(a[i][i]) < 1e-9) {
      throw ConfigError{
          "these rows cannot tell activations, framework and communicators apart: they need quantised "
          "weights and more than one tp"};
    }
    for (std::size_t k = 0; k < unknowns; ++k) {
      const double factor = k == i ? 0.0 : a[k][i] / a[i][i];
      for (std::size_t j = i; j <= unknowns; ++j) {
        a[k][j] -= factor * a[i][j];
      }
    }
  }
  Constants c{};
  for (std::size_t i = 0; i < unknowns; ++i) {
    c[i] = unit[i] * a[i][unknowns] / a[i][i];
  }
  return c;
}

ServingMemoryErrors errors_of(const std::vector<Line>& lines, const Constants& c) {
  ServingMemoryErrors e;
  std::vector<double> misses;
  for (const Line& line : lines) {
    const double capacity = line.capacity(c);
    const double whole = std::floor(capacity);
    e.mape += std::abs(whole / line.measured - 1.0);
    e.within_one += std::abs(whole - line.measured) <= 1.0 ? 1 : 0;
    // Error of the pool beyond the measured whole sequences, turned into GiB by the slope of one GiB.
    const double beyond = std::max({line.measured - capacity, capacity - (line.measured + 1.0), 0.0});
    misses.push_back(beyond / line.slope[1]);
  }
  e.n = lines.size();
  e.mape /= static_cast<double>(std::max<std::size_t>(1, e.n));
  e.pool_miss = Bytes{misses.empty() ? 0.0 : quantile(misses, 0.8)};
  return e;
}

template <class Belongs>
void add_group(const std::string& name,
               const std::vector<Line>& lines,
               const Constants& all,
               Belongs belongs,
               ServingMemoryFit& fit) {
  std::vector<Line> inside;
  std::vector<Line> others;
  for (const Line& line : lines) {
    (belongs(line) ? inside : others).push_back(line);
  }
  ServingMemoryGroup group{name, errors_of(inside, all), {}};
  if (others.size() >= 10) {
    try {
      group.left_out = errors_of(inside, least_squares(others));
    } catch (const ConfigError&) {
      group.left_out = {};  // the other rows cannot separate the constants
    }
  }
  fit.groups.push_back(std::move(group));
}

}  // namespace

ServingMemoryFit fit_serving_memory(std::span<const RunFile> files, Engine engine, const Sources& sources) {
  const std::vector<Line> lines = lines_of(files, engine, sources);
  if (lines.size() < 10) {
    throw ConfigError{"only " + std::to_string(lines.size()) + " row(s) hold max_concurrent_sequences of " +
                      std::string{engine_titles[static_cast<std::size_t>(engine)]} + "; ten are needed"};
  }
  const Constants c = least_squares(lines);
  ServingMemoryFit fit{{c[0], Bytes{c[1]}, Bytes{c[2]}}, {}};
  fit.groups.push_back({"all", errors_of(lines, c), {}});
  std::set<std::string> gpus;
  std::set<std::int64_t> tps;
  for (const Line& line : lines) {
    gpus.insert(line.gpu);
    tps.insert(line.tp);
  }
  for (const std::string& gpu : gpus) {
    add_group(
        "gpu=" + gpu, lines, c, [&](const Line& line) { return line.gpu == gpu; }, fit);
  }
  for (const std::int64_t tp : tps) {
    add_group(
        "tp=" + std::to_string(tp), lines, c, [&](const Line& line) { return line.tp == tp; }, fit);
  }
  return fit;
}

}  // namespace headroom
