// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/kernels/curve_text.hpp>
#include <headroom/core/quantity_text.hpp>

#include <array>
#include <cstdio>

namespace headroom {
namespace {

/// Four digits without separators of thousands, for TOML.
std::string digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace

std::string value_text(const CurveParameter& parameter, double value) {
  if (parameter.unit == CurveUnit::share) {
    return digits(value);
  }
  if (parameter.unit == CurveUnit::bytes) {
    return digits(value / 1024.0) + " KiB";
  }
  return value < 1e-7   ? digits(value * 1e9) + " ns"
         : value < 1e-3 ? digits(value * 1e6) + " us"
                        : digits(value * 1e3) + " ms";
}

std::string curve_table(const KernelGroup& group) {
  if (is_collective(group.kind)) {
    return std::string{collective_table(group)};
  }
  return group.kind == KernelKind::quantize ? "memory"
                                            : std::string{kernel_kind_names[static_cast<std::size_t>(group.kind)]};
}

std::string curve_toml(const FittedGroup& fitted, const std::string& source, const std::string& date) {
  const CurveErrors& e = fitted.judged();
  const KernelGroup& group = fitted.group;
  const std::string table = curve_table(group);
  std::string text = "[[" + table + "]]\n";
  text += "engine = \"" + group.engine + "\"\nversion = \"" + group.version + "\"\nformat = \"" + group.format + "\"\n";
  text += group.kernel.empty() ? "" : "kernel = \"" + group.kernel + "\"\n";
  text += group.routing.empty() ? "" : "routing = \"" + group.routing + "\"\n";
  text += fitted.problem.hosts > 1 ? "hosts = " + std::to_string(fitted.problem.hosts) + "\n" : "";
  text += "source = \"" + source + "\"\ndate = \"" + date +
          "\"\nrows = " + std::to_string(fitted.problem.measured.size()) + "\nfolds = " + std::to_string(fitted.folds) +
          "\n";
  text += "mape = " + format_number(e.mape) + "\nmedian = " + format_number(e.median) +
          "\np90 = " + format_number(e.p90) + "\nbias = " + format_number(e.bias) + "\n[" + table + ".values]\n";
  for (std::size_t i = 0; i < fitted.problem.parameters.size(); ++i) {
    const CurveParameter& p = fitted.problem.parameters[i];
    const std::string value = value_text(p, fitted.fit.result.parameters[i].value);
    text += std::string{p.name} + " = " + (p.unit == CurveUnit::share ? value : "\"" + value + "\"") + "\n";
  }
  return text;
}

}  // namespace headroom
