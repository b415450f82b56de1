// SPDX-License-Identifier: Apache-2.0
// The part of the page of stated GPUs under fixed loads.
#include <headroom/answers/page/sections.hpp>
#include <headroom/core/number_words.hpp>

#include <vector>

namespace headroom::report {
namespace {

std::string points_table(const std::string& label, const std::vector<Place>& points) {
  HtmlTable table{label,
                  {"<<layout and settings", "in flight", "tokens/s per GPU", "tokens/s per user", "TTFT", "TPOT",
                   "requests/s", "per M out", "kept"}};
  table.kind("sortable");
  for (const Place& point : points) {
    std::vector<std::string> changes;
    for (const Place& change : point["changes"].items()) {
      changes.push_back(escaped(change.text()));
    }
    table.row({joined(changes), figure(point["in_flight"]), figure(middle(point["output_tokens_per_s_per_gpu"])),
               figure(middle(point["output_tokens_per_s_per_user"])), figure(middle(point["ttft_s"])),
               figure(middle(point["tpot_s"])), figure(middle(point["requests_per_s"])),
               figure(point["usd_per_million_output_tokens"]), figure(point["kept_probability"])});
  }
  return table.html();
}

}  // namespace

std::string box_section(const Documents& documents) {
  const Place box = documents.find("box");
  const std::vector<Place> points = box["points"].items();
  if (points.empty()) {
    return {};
  }
  std::vector<Place> front;
  for (const Place& point : points) {
    if (point["front"].is_true()) {
      front.push_back(point);
    }
  }
  return section("box", "Throughput against latency",
                 (box["complete"].is_true() ? "" : "Interrupted: the loads that were priced until then. ") +
                     figure(box["combinations"]) +
                     " layouts and settings at every load; of the front no other point has more tokens/s per GPU and "
                     "per user.",
                 chart("box-curve", box, "Tokens/s per GPU over tokens/s per user; the table has the numbers") +
                     points_table("Pareto front", front) + details("All points", points_table("all points", points)));
}

}  // namespace headroom::report
