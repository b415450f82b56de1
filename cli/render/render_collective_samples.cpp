// SPDX-License-Identifier: Apache-2.0
// What a run of probes found of collectives: one row a collective and group.
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/calibrate/samples/probe_run.hpp>
#include <headroom/cli/render/render_probe.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace headroom::cli {

std::string collective_samples_text(const ProbeRun& run) {
  struct Found {
    std::size_t sizes = 0;
    Seconds shortest{};
    BytesPerSecond best{};
    Bytes at{};
    double over_prediction = 0.0;  ///< measured over what NCCL expects, where the bus is best; 0: it told nothing
  };
  constexpr double micro = 1e-6;
  constexpr double giga = 1e9;
  std::map<std::pair<std::int64_t, Collective>, Found> all;
  for (const Sample& sample : run.samples) {
    const auto* probe = std::get_if<CollectiveProbe>(&sample.probe);
    if (probe == nullptr) {
      continue;
    }
    Found& found = all[{probe->ranks, probe->collective}];
    found.shortest = found.sizes == 0 ? sample.latency : std::min(found.shortest, sample.latency);
    ++found.sizes;
    if (const BytesPerSecond bus = bus_bandwidth(*probe, sample.latency); bus > found.best) {
      found.best = bus;
      found.at = Bytes{static_cast<double>(probe->bytes)};
      found.over_prediction = sample.predicted > Seconds{} ? sample.latency / sample.predicted : 0.0;
    }
  }
  if (all.empty()) {
    return {};
  }
  Table table{{"collective, NCCL", "GPUs", "sizes", "shortest us", "best bus GB/s", "at", "over NCCL's own time"}};
  for (const auto& [key, found] : all) {
    table.row({std::string{name_of(key.second)}, std::to_string(key.first), std::to_string(found.sizes),
               format_number(found.shortest.raw() / micro), format_number(found.best.raw() / giga), format(found.at),
               found.over_prediction > 0.0 ? format_number(found.over_prediction) : ""});
  }
  return table.text() + "\n";
}

}  // namespace headroom::cli
