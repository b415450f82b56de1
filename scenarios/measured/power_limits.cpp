// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/power_limits.hpp>
#include <headroom/scenarios/measured/serving_launches.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace headroom {
namespace {

struct PowerLimit {
  std::string round;               ///< part of the row's source: "v2.0"; empty: any
  std::vector<std::string> paths;  ///< of which the row's reference holds one: "SYSTEM/bert-99/Offline", or "SYSTEM"
  Watts watts{};
};

std::vector<PowerLimit> read_limits(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  std::vector<PowerLimit> all;
  for (ConfigTable& table : root.tables("limit")) {
    PowerLimit limit{table.maybe_text("round").value_or(""), {}, table.quantity<Watts>("limit")};
    const std::string system = table.text("system");
    for (const std::string& run : table.texts("runs")) {
      limit.paths.push_back(system + "/" + run);
    }
    if (limit.paths.empty()) {
      limit.paths.push_back(system);
    }
    table.finish();
    all.push_back(std::move(limit));
  }
  root.finish();
  return all;
}

}  // namespace

std::optional<Watts> published_power_limit(const ModelData& data, const RunRow& row) {
  const std::vector<PowerLimit>& all = step_numbers(data, "power-limits", read_limits);
  const auto found = std::find_if(all.begin(), all.end(), [&](const PowerLimit& limit) {
    return row.source.find(limit.round) != std::string::npos &&
           std::any_of(limit.paths.begin(), limit.paths.end(), [&](const std::string& path) {
             const std::size_t at = row.source_ref.find(path);
             return at != std::string::npos &&
                    (at + path.size() == row.source_ref.size() || row.source_ref[at + path.size()] == '/');
           });
  });
  return found == all.end() ? std::nullopt : std::optional{found->watts};
}

void limit_power(LaunchedRow& launched, const ModelData& data, const RunRow& row) {
  const std::optional<Watts> limit = published_power_limit(data, row);
  if (limit && launched.run.options.try_emplace("power_cap_w", shortest_text(limit->raw())).second) {
    launched.assumed +=
        (launched.assumed.empty() ? "" : "; ") + std::string{"GPUs limited to "} + format(*limit) + " (power-limits)";
  }
}

}  // namespace headroom
