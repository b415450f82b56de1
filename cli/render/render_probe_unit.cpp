// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/measure/unit_comparison.hpp>
#include <headroom/cli/render/render_probe_unit.hpp>
#include <headroom/core/quantity_text.hpp>

#include <variant>
#include <vector>

namespace headroom::cli {

std::string unit_table(const ProbeRun& run) {
  std::vector<UnitTiming> timings;
  for (const Sample& sample : run.samples) {
    if (const auto* unit = std::get_if<UnitProbe>(&sample.probe)) {
      timings.push_back({*unit, sample.latency});
    }
  }
  if (timings.empty()) {
    return "";
  }
  constexpr double micro = 1e-6;
  const auto micros = [](Seconds time) { return format_number(time.raw() / micro); };
  Table table{{"habits of an SM", "measured us", "formula us", "measured / formula", "<formula"}};
  for (const UnitComparison& c : compared_with_laws(timings)) {
    table.row({name_of(c.measured.probe), micros(c.measured.time), c.formula ? micros(*c.formula) : "-",
               c.formula ? format_number(c.measured.time / *c.formula) : "-", c.formula ? c.law : "-"});
  }
  return table.text() + "\n";
}

}  // namespace headroom::cli
