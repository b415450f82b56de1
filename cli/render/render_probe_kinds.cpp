// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/cli/render/render_probe_kinds.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <variant>
#include <vector>

namespace headroom::cli {
namespace {

/// One family of probes: what a sample of it does a second.
struct Family {
  std::string name, unit;
  double amount = 0.0;  ///< of one launch, in units of the rate
};

struct FamilyOf {
  static constexpr double tera = 1e12;
  static constexpr double giga = 1e9;

  Family operator()(const AttentionProbe& p) const {
    return {p.backward ? "attention backward, cuDNN" : "attention forward, cuDNN", "TFLOP/s", p.flops().raw() / tera};
  }
  Family operator()(const DecodeProbe& p) const {
    return {"decode attention", "GB/s", static_cast<double>(p.cache_bytes()) / giga};
  }
  Family operator()(const PassProbe& p) const {
    return {std::string{pass_op_names[static_cast<std::size_t>(p.op)]}, "GB/s", static_cast<double>(p.moved()) / giga};
  }
  Family operator()(const TransferProbe& p) const {
    return {std::string{transfer_op_names[static_cast<std::size_t>(p.op)]}, "GB/s",
            static_cast<double>(p.crossed()) / giga};
  }
  Family operator()(const LayerProbe& p) const {
    const std::string name = "layer " + std::string{probed_pass_names[static_cast<std::size_t>(p.op)]};
    return is_decode(p.op) ? Family{name, "GB/s", read_bytes_of(p).raw() / giga}
                           : Family{name, "TFLOP/s", flops_of(p).raw() / tera};
  }
  template <class Other>
  Family operator()(const Other& /*has a table of its own*/) const {
    return {};
  }
};

struct Found {
  Family family;
  std::size_t probes = 0;
  Seconds shortest{};
  double best = 0.0;
  std::string at;
};

}  // namespace

std::string kinds_table(const ProbeRun& run) {
  std::vector<Found> rows;
  for (const Sample& sample : run.samples) {
    const Family family = std::visit(FamilyOf{}, sample.probe);
    if (family.name.empty()) {
      continue;
    }
    const auto same = [&](const Found& row) { return row.family.name == family.name; };
    auto row = std::find_if(rows.begin(), rows.end(), same);
    if (row == rows.end()) {
      rows.push_back({family, 0, sample.latency, 0.0, ""});
      row = rows.end() - 1;
    }
    ++row->probes;
    row->shortest = std::min(row->shortest, sample.latency);
    if (const double rate = family.amount / sample.latency.raw(); rate > row->best) {
      row->best = rate;
      row->at = name_of(sample.probe);
    }
  }
  if (rows.empty()) {
    return "";
  }
  constexpr double micro = 1e-6;
  Table table{{"attention, passes, transfers, layers", "probes", "shortest us", "best", "", "at"}};
  for (const Found& row : rows) {
    table.row({row.family.name, std::to_string(row.probes), format_number(row.shortest.raw() / micro),
               format_number(row.best), row.family.unit, row.at});
  }
  return table.text() + "\n";
}

}  // namespace headroom::cli
