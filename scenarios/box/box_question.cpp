// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/box/box_question.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/open_stages.hpp>
#include <headroom/scenarios/keys/bounds.hpp>
#include <headroom/scenarios/search/axes.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace headroom {
namespace {

/// Promises of [slo]. Of a load that stands still there are means; percentiles are of requests that arrive.
MeanPromises read_promises(const ConfigValue& slo, Diagnostics& diagnostics) {
  MeanPromises promised;
  ConfigTable table{slo, "slo", diagnostics};
  promised.ttft = table.maybe_quantity<Seconds>("ttft_mean", {shortest_span, longest_span});
  promised.tpot = table.maybe_quantity<Seconds>("tpot_mean", {shortest_span, longest_span});
  promised.e2e = table.maybe_quantity<Seconds>("e2e_mean", {shortest_span, longest_span});
  for (const ConfigEntry& entry : slo.entries) {
    if (entry.key.find("_p") != std::string::npos) {
      const std::string mean = entry.key.substr(0, entry.key.find("_p")) + "_mean";
      table.problem(entry.key, quoted(entry.key) +
                                   " is of requests that arrive ([traffic]); a fixed load is answered "
                                   "in means: state " +
                                   quoted(mean));
      static_cast<void>(table.value(entry.key));
    }
  }
  table.finish();
  return promised;
}

}  // namespace

std::uint64_t BoxQuestion::combinations() const noexcept {
  return headroom::combinations(axes);
}

bool asks_for_box(const ConfigValue& root) noexcept {
  const ConfigValue* const kind = root.find("kind");
  return kind != nullptr && kind->kind == ConfigValue::Kind::text && kind->text == "serve" &&
         root.find("traffic") == nullptr && (root.find("search") != nullptr || root.find("slo") != nullptr);
}

BoxQuestion read_box(const ConfigValue& root, const std::string& file, const Sources& sources) {
  BoxQuestion q;
  ConfigValue base = root;
  base.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "search" || entry.key == "slo"; });
  q.base = {std::make_shared<const ConfigValue>(std::move(base)), file, &sources};
  Diagnostics diagnostics;
  q.axes = read_fleet_axes(root, sources.catalog, diagnostics);
  const auto of_loads = [](const Changes& axis) { return axis.front().knob == Knob::concurrency; };
  if (const auto loads = std::find_if(q.axes.begin(), q.axes.end(), of_loads); loads != q.axes.end()) {
    q.loads = std::move(*loads);
    q.axes.erase(loads);
    std::sort(q.loads.begin(), q.loads.end(), [](const Change& a, const Change& b) {
      return std::get<std::int64_t>(a.value) < std::get<std::int64_t>(b.value);
    });
  }
  if (const ConfigValue* const hardware = root.find("hardware");
      hardware != nullptr && hardware->kind == ConfigValue::Kind::table && hardware->find("gpus") == nullptr) {
    ConfigTable{*hardware, "hardware", diagnostics}.missing(
        "gpus", " in [hardware], an integer: a curve over fixed loads is of a stated number of GPUs");
  }
  if (const ConfigValue* const slo = root.find("slo")) {
    if (slo->kind == ConfigValue::Kind::table) {
      q.promised = read_promises(*slo, diagnostics);
    } else {
      diagnostics.add(slo->file ? *slo->file : file, slo->at,
                      "'slo' is a table, not " + std::string{kind_name(slo->kind)});
    }
  }
  diagnostics.throw_if_any();
  free_stages(root, q.base, q.axes);
  free_experts(root, q.base, q.axes);
  const std::uint64_t points = times_up_to_most(q.combinations(), std::max<std::uint64_t>(1, q.loads.size()));
  if (points > most_box_points) {
    throw ConfigError{"[search] makes " + std::to_string(points) + " loads of layouts and settings, above " +
                      std::to_string(most_box_points) + "; list fewer values"};
  }
  return q;
}

}  // namespace headroom
