// SPDX-License-Identifier: Apache-2.0
// How far to trust the numbers: past errors of the class, runs like this one, how terms came about, and sources.
#include <headroom/answers/page/sections.hpp>

#include <cmath>

namespace headroom::report {
namespace {

std::string classes_table(const Place& accuracy) {
  HtmlTable table{"past errors by class",
                  {"<past errors of", "half within", "80 % within", "90 % within", "rows", "sources", "<<how"}};
  for (const Place& c : accuracy["classes"].items()) {
    const bool ours = c["class"].text() == accuracy["class"].text();
    table.row({escaped(c["text"].text()), figure(c["width_50"]), figure(c["width_80"]), figure(c["width_90"]),
               figure(c["rows"]), figure(c["sources"]), escaped(c["source"].text())},
              ours ? "ours" : "");
  }
  return table.html();
}

std::string nearest_table(const Place& nearest) {
  HtmlTable table{"measured runs like this one",
                  {"<measured runs like this one", "away", "GPUs", "<SKU", "<software", "theirs", "ours", "<",
                   "our step is off by", "<source"}};
  for (const Place& run : nearest["runs"].items()) {
    table.row({escaped(run["model"].text()), figure(run["distance"]) + "&times;", figure(run["gpus"]),
               escaped(run["gpu"].text()), escaped(run["framework"].text()), figure(run["measured"]),
               figure(run["predicted"]), escaped(run["metric"].text() == "mfu" ? "MFU" : run["unit"].text()),
               figure(run["step_error"]), run["own"].is_true() ? "yours" : escaped(run["source"].text())});
  }
  return table.html();
}

std::string nearest_lead(const Place& nearest) {
  if (!nearest.there() || nearest["runs"].items().empty()) {
    return {};
  }
  return paragraph("note", figure(nearest["within_radius"]) + " measured runs lie within a factor of " +
                               figure(nearest["radius"]) +
                               " of this question; the nearest are shown. Above zero our step was too slow.");
}

std::string own_runs_note(const Place& own) {
  if (!own.there()) {
    return {};
  }
  HtmlTable unused{"rows of yours that were not used", {"<not used", "rows", "<why"}};
  for (const Place& u : own["not_used"].items()) {
    unused.row({escaped(u["what"].text()), figure(u["rows"]), escaped(u["why"].text())});
  }
  return paragraph("note", figure(own["runs"]) + " runs of yours on " + escaped(own["gpu"].text()) + " under " +
                               escaped(own["software"].text()) + ": our step was off by " + figure(own["step_error"]) +
                               "; they move the numbers behind this plan, and its step to " +
                               figure(own["step_factor"]) + " of what it was.") +
         unused.html();
}

std::string source_row(std::string_view what, const std::string& source) {
  return source.empty() ? std::string{} : "<dt>" + escaped(what) + "</dt><dd>" + escaped(source) + "</dd>\n";
}

}  // namespace

std::string text_list(const Place& array) {
  std::string list;
  for (const Place& item : array.items()) {
    list += item.is_text() ? "<li>" + escaped(item.text()) + "</li>\n" : "";
  }
  return list.empty() ? list : "<ul>\n" + list + "</ul>\n";
}

std::string member_table(const std::string& label, const Place& object) {
  HtmlTable table{label, {"<", "", "<80 % interval"}};
  std::string notes;
  for (const std::string& name : object.members()) {
    const Place value = object[name];
    const Place mid = middle(value);
    if (value.is_text() && value.text().empty()) {
      continue;
    }
    if (value.is_text()) {
      notes += paragraph("note", escaped(label_of(name)) + ": " + escaped(value.text()));
    } else if (mid.is_number() || mid.is_text() || !mid.text().empty()) {
      table.row({escaped(label_of(name)), figure(mid), range(value)});
    }
  }
  return table.html() + notes;
}

std::string accuracy_section(const Documents& documents) {
  const Place plan = plan_of(documents);
  const Place accuracy = documents.find("accuracy");
  const Place basis = plan["confidence_basis"];
  if (!accuracy.there() || !basis.there()) {
    return {};
  }
  const auto counted = [](const Place& errors) {
    return figure(errors["rows"]) + " rows of " + figure(errors["sources"]) + " sources";
  };
  const Place wide = basis["wide-experts"];
  const std::string lead =
      wide.there()
          ? "Of the errors of this class, " + counted(basis) + ", and those of experts that tokens meet over NICs, " +
                counted(wide) + ", the wider count: 80 % lay within " + figure(basis["width_80"]) +
                " of what was measured. The bands hold at least 50, 80 and 90 % of either."
          : "80 % of this class of prediction lay within " + figure(basis["width_80"]) +
                " of what was measured: " + counted(basis) + ". The bands hold 50, 80 and 90 % of those errors.";
  const std::string outside = text_list(basis["outside_measured"]);
  return section(
      "accuracy", "How far off this has been", lead,
      chart("accuracy", plan, "Past errors of the class as bands, and our error on the nearest measured runs",
            plan["nearest_runs"]["runs"].items().size() + 1) +
          (outside.empty() ? "" : paragraph("note warn", "Outside of what was measured:") + outside) +
          own_runs_note(plan["own_runs"]) + nearest_lead(plan["nearest_runs"]) + nearest_table(plan["nearest_runs"]) +
          classes_table(accuracy));
}

std::string explain_section(const Documents& documents) {
  std::string body;
  for (const Place& entry : plan_of(documents)["explain"].items()) {
    HtmlTable inputs{"inputs of " + entry["name"].text(), {"<symbol", "raw SI", "<<source"}};
    for (const Place& input : entry["inputs"].items()) {
      inputs.row({escaped(input["symbol"].text()), figure(input["value"]), escaped(input["source"].text())});
    }
    const std::string reference = entry["reference"].text();
    body += details(words(entry["name"].text()),
                    paragraph("formula", figure(entry["value"]) + " = " + escaped(entry["formula"].text()) +
                                             (reference.empty() ? "" : " <cite>" + escaped(reference) + "</cite>")) +
                        inputs.html());
  }
  return section("explain", "How each number came about", "Values here are in raw SI.", body);
}

std::string sources_section(const Documents& documents) {
  const Place plan = bearer_of(documents);
  std::string body = text_list(plan["assumed"]) + text_list(plan["assumptions"]) + text_list(plan["notes"]);
  body = body.empty() ? body : "<h3>Assumed</h3>\n" + body;
  std::string sources =
      source_row("price", plan["price_source"].text()) + source_row("price", plan["money"]["price_source"].text()) +
      source_row("price", plan["cost"]["price_source"].text()) +
      source_row(plan["times_source"].there() ? "interval of replicas and dollars" : "interval of times",
                 plan["interval_source"].text()) +
      source_row("interval of times", plan["times_source"].text()) +
      source_row("interval of memory", plan["memory_interval_source"].text()) +
      source_row("interval of the KV cache", plan["kv_capacity_interval_source"].text()) +
      source_row("energy", plan["energy"]["source"].text()) +
      source_row("failures", plan["goodput"]["rate_source"].text());
  for (const Place& note : documents.find("roofline")["notes"].items()) {
    sources += source_row("ops of a layer", note.text());
  }
  for (const std::string& what : documents.left_out) {
    sources += source_row("not shown", what);
  }
  body += sources.empty() ? sources : "<h3>Sources</h3>\n<dl>\n" + sources + "</dl>\n";
  return section("sources", "Assumptions and sources", "", body);
}

}  // namespace headroom::report
