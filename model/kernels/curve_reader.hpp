// SPDX-License-Identifier: Apache-2.0
// Reads fitted curves from TOML: provenance and a table of values each.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

inline constexpr Range<double> curve_fraction{0.0, 100.0};
inline constexpr Range<double> curve_signed_fraction{-100.0, 100.0};

[[nodiscard]] inline CurveProvenance read_provenance(ConfigTable& table) {
  CurveProvenance p;
  p.engine = table.text("engine");
  p.version = table.text("version");
  p.format = table.text("format");
  p.kernel = table.maybe_text("kernel").value_or("");
  p.routing = table.maybe_text("routing").value_or("");
  p.hosts = table.maybe_integer("hosts", {1, 65'536}).value_or(1);
  p.source = table.text("source");
  p.date = table.text("date");
  p.rows = table.integer("rows");
  p.folds = table.integer("folds");
  p.mape = table.number("mape", curve_fraction);
  p.median = table.number("median", curve_fraction);
  p.p90 = table.number("p90", curve_fraction);
  p.bias = table.number("bias", curve_signed_fraction);
  return p;
}

[[nodiscard]] inline double read_value(ConfigTable& table, const CurveParameter& parameter) {
  switch (parameter.unit) {
    case CurveUnit::seconds: return table.quantity<Seconds>(parameter.name).raw();
    case CurveUnit::bytes: return table.quantity<Bytes>(parameter.name).raw();
    case CurveUnit::share: break;
  }
  return table.number(parameter.name, {1e-12, 1e12});
}

/// Reads every [[key]] of the document: provenance and a table of values.
template <std::size_t N>
[[nodiscard]] std::vector<FittedCurve<N>> read_curves(ConfigTable& root,
                                                      std::string_view key,
                                                      const std::array<CurveParameter, N>& parameters) {
  std::vector<FittedCurve<N>> curves;
  for (ConfigTable& table : root.tables(key)) {
    FittedCurve<N> curve;
    curve.provenance = read_provenance(table);
    ConfigTable values = table.table("values");
    for (std::size_t i = 0; i < N; ++i) {
      curve.values[i] = read_value(values, parameters[i]);
    }
    values.finish();
    table.finish();
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace headroom
