// SPDX-License-Identifier: Apache-2.0
// Other plans than this one: what a search found, other numbers of GPUs, several scenarios side by side.
#include <headroom/answers/page/sections.hpp>
#include <headroom/core/number_words.hpp>

#include <array>

namespace headroom::report {
namespace {

struct Column {
  std::string_view member, title;
};
/// What searches minimise, as their documents name it.
constexpr std::array goals{Column{"cost_usd", "cost"},
                           Column{"time_s", "whole run"},
                           Column{"step_time_s", "step"},
                           Column{"energy_j", "energy"},
                           Column{"gpu_hours_per_million_samples", "GPU-hours per M samples"},
                           Column{"memory_bytes", "memory up to"}};

std::string joined_lines(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) {
    line += (line.empty() ? "" : ", ") + escaped(text);
  }
  return line;
}

/// What a plan's job has beside GPUs and strategy: "training.precision = fp8".
std::vector<std::string> job_words(const Place& listed) {
  std::vector<std::string> texts;
  for (const Place& assignment : listed["assignments"].items()) {
    const std::string text = assignment.text();
    if (!text.starts_with("strategy.") && !text.starts_with("hardware.gpu")) {
      texts.push_back(text);
    }
  }
  return texts;
}

std::string plan_words(const Place& listed) {
  std::vector<std::string> texts = strategy_words(listed["strategy"]);
  for (std::string& text : job_words(listed)) {
    texts.push_back(std::move(text));
  }
  return figure(listed["gpus"]) + " &times; " + escaped(listed["gpu"].text()) + ": " + joined_lines(texts);
}

std::string listed_table(const std::string& label, const std::vector<Place>& plans) {
  HtmlTable table{label,
                  {"<<plan", "cost", "whole run", "step", "energy", "GPU-hours per M samples", "memory up to",
                   "<deadline", "<budget", "behind the plan taken", "<", "<<because"}};
  table.kind("sortable");
  const auto limit = [](const Place& of) -> std::string {
    return !of.there() ? ""
                       : std::string{of["kept"].is_true() ? "kept" : "missed"} + "; " + figure(of["kept_probability"]);
  };
  for (const Place& listed : plans) {
    std::vector<std::string> cells{plan_words(listed)};
    for (const Column& goal : goals) {
      cells.push_back(figure(listed[goal.member]));
    }
    cells.push_back(limit(listed["deadline"]));
    cells.push_back(limit(listed["budget"]));
    cells.push_back(figure(listed["behind"]));
    cells.emplace_back(listed["indistinguishable"].is_true() ? "~" : "");
    cells.push_back(escaped(listed["because"].text()));
    table.row(std::move(cells));
  }
  return table.html();
}

std::string neighbour_table(const Place& neighbours) {
  HtmlTable table{"one step away", {"<one step away", "step", "memory up to", "<<because"}};
  for (const Place& n : neighbours.items()) {
    table.row(
        {escaped(n["change"].text()), figure(n["slower"]), figure(n["memory_bytes"]), escaped(n["because"].text())});
  }
  return table.html();
}

std::string point_row_verdict(const Place& point) {
  return point["verdict"].text() == "fits" ? std::string{} : escaped(point["verdict"].text());
}

std::string counts_table(const Place& points) {
  HtmlTable table{"other numbers of GPUs",
                  {"GPUs", "step", "<80 % interval", "tokens/s", "per GPU", "efficiency", "exposed communication",
                   "marginal efficiency", "$ per M tokens", "goodput", "calendar", "<<"}};
  for (const Place& p : points.items()) {
    table.row({figure(p["gpus"]), figure(p["step_time_s"]["mid"]), range(p["step_time_s"]),
               figure(p["tokens_per_s"]["mid"]), figure(p["tokens_per_s_per_gpu"]["mid"]), figure(p["efficiency"]),
               figure(p["exposed_communication_share"]), figure(p["marginal_efficiency"]),
               figure(p["usd_per_million_tokens"]["mid"]), figure(p["goodput"]), figure(p["calendar_s"]),
               point_row_verdict(p)});
  }
  return table.html();
}

std::string elastic_table(const Place& elastic) {
  HtmlTable table{"the same batch on other numbers of GPUs",
                  {"GPUs", "used", "dp", "micro-batch", "step", "throughput kept", "<<"}};
  for (const Place& e : elastic.items()) {
    table.row({figure(e["gpus"]), figure(e["usable_gpus"]), figure(e["dp"]), figure(e["micro_batch"]),
               with_range(e["step_time_s"]), figure(e["throughput_kept"]),
               escaped((e["why_not"].there() ? e["why_not"] : e["verdict_text"]).text())});
  }
  return table.html();
}

std::string compared_table(const Place& compared) {
  constexpr std::array columns{Column{"memory_bytes", "memory per GPU"},
                               Column{"step_time_s", "step"},
                               Column{"tokens_per_s", "tokens/s"},
                               Column{"ttft_s", "TTFT under the load"},
                               Column{"prompt_alone_s", "TTFT, one prompt alone"},
                               Column{"tpot_s", "TPOT"},
                               Column{"duration_s", "whole run"},
                               Column{"cost_usd", "cost"}};
  HtmlTable table{"plans side by side",
                  {"<<scenario", "<verdict", "memory per GPU", "step", "tokens/s", "TTFT under the load",
                   "TTFT, one prompt alone", "TPOT", "whole run", "cost", "throughput / reference", "<"}};
  for (const Place& plan : compared["plans"].items()) {
    std::vector<std::string> cells{escaped(plan["file"].text()), escaped(plan["verdict"].text())};
    for (const Column& column : columns) {
      cells.push_back(figure(plan[column.member]));
    }
    const Place against = plan["against_reference"];
    cells.push_back(with_range(against["throughput_ratio"]));
    cells.emplace_back(plan["untimed"].there()       ? "compared by memory alone: " + escaped(plan["untimed"].text())
                       : !plan["feasible"].is_true() ? "does not fit"
                       : !against.there()            ? "reference"
                       : against["distinguishable"].is_true() ? "differs by more than our usual error"
                                                              : "within our usual error");
    table.row(std::move(cells));
  }
  return table.html();
}

std::string differs_table(const Place& compared) {
  HtmlTable differs{"keys that differ", {"<key", "<values, in the order of the plans"}};
  for (const Place& key : compared["differs"].items()) {
    std::vector<std::string> values;
    for (const Place& value : key["values"].items()) {
      values.push_back(value.text());
    }
    differs.row({escaped(key["key"].text()), joined(values)});
  }
  return differs.html();
}

}  // namespace

std::string search_section(const Documents& documents) {
  const Place search = documents.find("search");
  if (!search.there()) {
    return {};
  }
  const Place space = search["space"];
  std::string lead = figure(space["strategies"]) + " strategies of " + figure(space["jobs"]) +
                     (space["jobs"].text() == "1" ? " job" : " jobs") + ", " + figure(space["evaluated"]) +
                     " evaluated; what is minimised is " + escaped(search["minimize"].text()) + ".";
  if (!search["complete"].is_true()) {
    lead += " Interrupted: the best of what was searched until then.";
  }
  std::string body;
  if (search["front"].items().size() > 1) {
    body += chart("pareto", search, "Pareto front of the search: each plan by two goals; the table has the numbers");
  }
  std::vector<Place> taken;
  if (search["taken"].there()) {
    taken.push_back(search["taken"]);
  }
  body += listed_table("taken", taken);
  body += details("Best of each layout or rental", listed_table("best of each layout", search["best"].items()));
  body += details("Pareto front", listed_table("Pareto front", search["front"].items()));
  body += body.find(">~</td>") == std::string::npos
              ? std::string{}
              : paragraph("key",
                          "~ indistinguishable from the plan taken: the difference is within what the errors of "
                          "measured runs leave open.");
  body += neighbour_table(search["neighbours"]);
  body += details("What was searched", member_table("space", space));
  return section("search", "Which plan", lead, body);
}

std::string scaling_section(const Documents& documents) {
  const Place scaling = documents.find("scaling");
  if (scaling["points"].items().empty()) {
    return {};
  }
  std::string lead = scaling["scaling"].text() == "weak" ? "The global batch grows with the GPUs."
                                                         : "The global batch stays; data parallelism follows.";
  if (scaling["knee_gpus"].is_number()) {
    lead += " Up to " + figure(scaling["knee_gpus"]) + " GPUs, added ones bring at least " +
            figure(scaling["threshold"]) + " of what each brought before.";
  }
  const std::string charts =
      "<div class=\"pair even\">" +
      chart("scaling-rate", scaling,
            "Tokens per second over the number of GPUs, with the 80 % interval and the ideal") +
      chart("scaling-share", scaling, "Efficiency and exposed communication over the number of GPUs") + "</div>\n";
  return section("scaling", "Other numbers of GPUs", lead, charts + counts_table(scaling["points"]));
}

std::string advice_section(const Documents& documents) {
  const Place plan = plan_of(documents);
  const std::string body = details("Another global batch", member_table("another batch", plan["batch_change"])) +
                           details("A sweep by successive halving", member_table("sweep", plan["sweep"])) +
                           elastic_table(plan["elastic"]);
  return section("advice", "Beside the plan", "", body);
}

std::string comparison_section(const Documents& documents) {
  const Place compared = documents.find("comparison");
  if (!compared.there()) {
    return {};
  }
  return section("comparison", "Plans side by side", "",
                 chart("comparison", compared, "Bars of the terms of each plan's step against the reference's",
                       compared["plans"].items().size() + 2) +
                     compared_table(compared) + differs_table(compared));
}

std::string fleets_section(const Documents& documents) {
  const Place compared = documents.find("fleets");
  if (!compared.there()) {
    return {};
  }
  HtmlTable table{"fleets side by side",
                  {"<<scenario", "<<verdict", "GPUs", "replicas", "TTFT p95", "TPOT p95", "saturates at", "per hour",
                   "per M output tokens", "kept with probability"}};
  table.kind("sortable");
  for (const Place& one : compared["fleets"].items()) {
    const Place fleet = one["fleet"];
    const Place best = fleet["options"][0];
    const Place sized = best["sized"];
    table.row({escaped(one["file"].text()), escaped(fleet["verdict_text"].text()), figure(best["gpus"]),
               figure(sized["replicas"]), figure(sized["ttft_s"]["p95"]), figure(sized["tpot_s"]["p95"]),
               figure(sized["saturation_requests_per_s"]), figure(best["usd_per_s"]),
               figure(middle(best["usd_per_million_output_tokens"])), figure(fleet["kept_probability"])});
  }
  return section("fleets", "Fleets side by side",
                 compared["complete"].is_true() ? "" : "Interrupted: the best of what was sized until then.",
                 table.html() + differs_table(compared));
}

}  // namespace headroom::report
