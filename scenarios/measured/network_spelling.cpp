// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/network_spelling.hpp>

#include <algorithm>

namespace headroom {
namespace {

std::vector<NetworkSpelling> read_spellings(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  std::vector<NetworkSpelling> read;
  require_schema(table);
  static_cast<void>(table.text("id"));
  for (ConfigTable& each : table.tables("row")) {
    NetworkSpelling row;
    row.names = each.texts("names");
    row.networks = each.texts("networks");
    row.when = each.maybe_text("when").value_or("");
    row.evaluations = each.maybe_number("evaluations", {1e-3, 1e9}).value_or(1.0);
    row.evaluations_per_step = each.maybe_number("evaluations_per_step", {1e-3, 1e3}).value_or(0.0);
    if (auto sizes = each.maybe_table("sizes")) {
      for (const std::string_view name : sizes->keys()) {
        row.sizes.insert_or_assign(std::string{name}, sizes->integer(name));
      }
      sizes->finish();
    }
    row.runs = each.maybe_text("runs").value_or("");
    row.host_per_sample = each.maybe_quantity<Seconds>("host_per_sample").value_or(Seconds{});
    row.source = each.text("source");
    each.finish();
    read.push_back(std::move(row));
  }
  table.finish();
  return read;
}

}  // namespace

const std::vector<NetworkSpelling>& network_spellings(const ModelData& data) {
  return step_numbers(data, "network-rows", read_spellings);
}

const NetworkSpelling* spelling_of(const ModelData& data, const ServingConfiguration& run) {
  const auto asked = [&](const NetworkSpelling& row) {
    return row.when.empty() || std::any_of(run.options.begin(), run.options.end(), [&](const auto& option) {
             return option.second.find(row.when) != std::string::npos;
           });
  };
  for (const NetworkSpelling& row : network_spellings(data)) {
    if (std::find(row.names.begin(), row.names.end(), run.model) != row.names.end() && asked(row)) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace headroom
