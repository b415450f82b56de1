// SPDX-License-Identifier: Apache-2.0
// The parts of the page of tenants on one card.
#include <headroom/answers/page/sections.hpp>

#include <string>
#include <vector>

namespace headroom::report {
namespace {

std::string ways_table(const std::vector<Place>& ways) {
  HtmlTable table{"ways to share",
                  {"<way", "<", "cards", "mean speed", "all at work", "kernels run", "stranded memory",
                   "stranded GPU-h/day", "price"}};
  for (const Place& way : ways) {
    table.row({escaped(way["way"].text()),
               way["holds"].is_true()      ? "holds"
               : way["possible"].is_true() ? "misses promises"
                                           : "impossible",
               figure(way["cards"]), figure(way["mean_speed"]), figure(way["together"]), figure(way["used"]),
               figure(way["stranded_bytes"]), figure(way["stranded_gpu_hours_per_day"]), figure(way["usd_per_s"])});
  }
  return table.html();
}

std::string tenants_html(const Place& way) {
  HtmlTable table{"tenants under " + way["way"].text(),
                  {"<tenant", "<slice", "memory cap", "speed", "at work", "p50", "p95", "p99", "card-h/day",
                   "steps/day", "pays", "price"}};
  for (const Place& tenant : way["tenants"].items()) {
    table.row({escaped(tenant["name"].text()), escaped(tenant["profile"].text()), figure(tenant["cap_bytes"]),
               figure(tenant["speed"]), figure(tenant["under_way"]), figure(tenant["latency_p50_s"]),
               figure(tenant["latency_p95_s"]), figure(tenant["latency_p99_s"]), figure(tenant["card_hours_per_day"]),
               figure(tenant["steps_per_day"]), figure(tenant["paid"]), figure(tenant["usd_per_s"])});
  }
  return table.empty() ? std::string{}
                       : "<h3>" + escaped("Tenants under " + way["way"].text()) + "</h3>\n" + table.html();
}

}  // namespace

std::string sharing_answer(const Documents& documents) {
  const Place sharing = documents.find("sharing");
  if (!sharing.there()) {
    return {};
  }
  const Place plan = sharing["plan"];
  return verdict_line(sharing["verdict"].text() == "feasible" ? "fits" : "no", sharing["verdict_text"].text()) +
         headline_numbers({{"of their speed alone", plan["mean_speed"], ""},
                           {"stranded memory", plan["stranded_bytes"], ""},
                           {"stranded GPU-hours a day", plan["stranded_gpu_hours_per_day"], ""},
                           {"the cards cost", plan["usd_per_s"], ""}},
                          "");
}

std::string sharing_section(const Documents& documents) {
  const Place sharing = documents.find("sharing");
  const std::vector<Place> ways = sharing["ways"].items();
  if (ways.empty()) {
    return {};
  }
  std::string reasons;
  for (const Place& way : ways) {
    const std::string why = text_list(way["why_not"]);
    reasons += why.empty() ? "" : "<h3>" + escaped("Against " + way["way"].text()) + "</h3>\n" + why;
  }
  std::string body =
      chart("sharing", sharing, "Bars of the tenants' mean speed; the table has the numbers", ways.size()) +
      ways_table(ways) + tenants_html(sharing["plan"]) + reasons;
  const std::string assumed = text_list(sharing["assumptions"]), notes = text_list(sharing["notes"]);
  body += assumed.empty() ? "" : "<h3>Assumed</h3>\n" + assumed;
  body += notes.empty() ? "" : "<h3>Notes</h3>\n" + notes;
  return section("sharing", "Ways to share the card", "", body);
}

}  // namespace headroom::report
