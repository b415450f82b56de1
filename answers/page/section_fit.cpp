// SPDX-License-Identifier: Apache-2.0
// The page of a fit: how far each curve is off and from what, every sample against its curve, what was measured under
// which conditions.
#include <headroom/answers/page/sections.hpp>

#include <string_view>
#include <vector>

namespace headroom::report {
namespace {

Place fit_of(const Documents& documents) {
  return documents.find("fit");
}

std::string parameter_table(const Place& curve) {
  HtmlTable table{"parameters of " + curve["curve"].text(), {"<parameter", "value", "+-", "<from"}};
  for (const Place& p : curve["parameters"].items()) {
    table.row({escaped(p["name"].text()), figure(p["value"]), figure(p["deviation"]),
               p["from_prior"].is_true() ? "its prior" : "the samples"});
  }
  return table.html();
}

}  // namespace

std::string fit_section(const Documents& documents) {
  const Place fit = fit_of(documents);
  HtmlTable table{"curves fitted",
                  {"<curve", "samples", "held out: mean", "half within", "80 % within", "on what was fitted", "far off",
                   "slower than the base", "<which"}};
  for (const Place& curve : fit["curves"].items()) {
    table.row({escaped(curve["curve"].text()), figure(curve["samples"]), figure(curve["mape"]),
               figure(curve["median_ape"]), figure(curve["within_80"]), figure(curve["mape_fitted"]),
               figure(curve["outliers"]), figure(curve["slower_than_base"]), escaped(curve["beside"].text())});
  }
  HtmlTable facts{"measured numbers", {"<measured", "<here", "<" + fit["base"].text(), "difference"}};
  for (const Place& fact : fit["facts"].items()) {
    facts.row({escaped(fact["what"].text()), escaped(fact["measured"].text()), escaped(fact["base"].text()),
               figure(fact["difference"])});
  }
  if (!fit.there()) {
    return {};
  }
  return section("fit", "Fit",
                 "Errors are of curves that never saw the shape: five folds, each left out in turn. 80 % of them are "
                 "smaller than the bound.",
                 table.html() + facts.html() + text_list(fit["left_out"]));
}

std::string curves_section(const Documents& documents) {
  std::string body;
  for (const Place& curve : fit_of(documents)["curves"].items()) {
    const std::string name = curve["curve"].text();
    body += "<h3>" + escaped(name) + "</h3>\n" +
            chart("fit-times", curve, "time by the curve against the time measured, " + name) +
            chart("fit-errors", curve, "error of each sample with the bound that holds 80 % of them, " + name) +
            details("Parameters", parameter_table(curve));
  }
  return section("curves", "Measured and fitted", "A point is a sample; hovering names it.", body);
}

std::string conditions_section(const Documents& documents) {
  const Place manifest = fit_of(documents)["manifest"];
  if (!manifest.there()) {
    return {};
  }
  std::string list;
  const auto row = [&](const std::string& name, const std::string& value) {
    list += value.empty() ? "" : "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
  };
  row("date", manifest["date"].text());
  row("board", manifest["board"].text());
  for (const Place& condition : manifest["conditions"].items()) {
    row(condition["name"].text(), condition["value"].text());
  }
  row("digest", manifest["digest"].text());
  row("headroom", manifest["headroom"].text());
  const std::string unmet = text_list(manifest["unmet"]);
  return section(
      "conditions", "Conditions", "The same conditions have the same digest; another driver has another.",
      "<dl>\n" + list + "</dl>\n" + (unmet.empty() ? "" : paragraph("note", "Not known as well as asked:") + unmet));
}

}  // namespace headroom::report
