// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/page/sections.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/version.hpp>

#include <algorithm>
#include <array>
#include <utility>

// Generated from answers/page and the chart library by the host tool headroom_embed.
namespace headroom::embedded {
[[nodiscard]] EmbeddedIndex embedded_report() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace headroom::report {
namespace {

struct Part {
  std::string_view id;
  std::string_view link;  ///< in the line of links
  std::string (*html)(const Documents& documents);
};

/// The page from top to bottom.
constexpr std::array parts{Part{"answer", "Answer", answer_section},
                           Part{"sizes", "GPUs and cores", sizes_section},
                           Part{"timeline", "Timeline", timeline_section},
                           Part{"cluster", "Pools and jobs", cluster_section},
                           Part{"ledger", "Credit", ledger_section},
                           Part{"beside", "Beside it", beside_cluster_section},
                           Part{"choices", "Which GPU", choices_section},
                           Part{"requests", "Requests and jobs", load_of_batch_section},
                           Part{"calls", "Calls", calls_section},
                           Part{"pipeline", "The way of samples", pipeline_section},
                           Part{"assumed", "Behind it", replica_section},
                           Part{"post-training", "Phases", post_training_section},
                           Part{"sharing", "Ways to share", sharing_section},
                           Part{"fit", "Fit", fit_section},
                           Part{"curves", "Measured and fitted", curves_section},
                           Part{"conditions", "Conditions", conditions_section},
                           Part{"comparison", "Side by side", comparison_section},
                           Part{"fleets", "Side by side", fleets_section},
                           Part{"search", "Which plan", search_section},
                           Part{"box", "Throughput and latency", box_section},
                           Part{"fleet", "Which fleet", fleet_section},
                           Part{"times", "Times", times_section},
                           Part{"load", "Other rates", load_section},
                           Part{"replicas", "Replicas", replicas_section},
                           Part{"day", "Over the day", day_section},
                           Part{"memory", "Memory", memory_section},
                           Part{"time", "Step", time_section},
                           Part{"roofline", "Roofline", roofline_section},
                           Part{"scaling", "Scaling", scaling_section},
                           Part{"money", "Money", money_section},
                           Part{"goodput", "Goodput", goodput_section},
                           Part{"advice", "Beside the plan", advice_section},
                           Part{"accuracy", "Accuracy", accuracy_section},
                           Part{"explain", "Formulas", explain_section},
                           Part{"more", "More", more_section},
                           Part{"sources", "Sources", sources_section}};

/// A file of the page; empty when there is none.
std::string_view file(std::string_view kind, std::string_view id) {
  const EmbeddedIndex index = embedded::embedded_report();
  const auto found = std::find_if(index.files.begin(), index.files.end(),
                                  [&](const EmbeddedFile& f) { return f.kind == kind && f.id == id; });
  return found == index.files.end() ? std::string_view{} : found->text;
}

/// The library as its package has it, whatever its file is called.
std::string_view first_of(std::string_view kind) {
  const EmbeddedIndex index = embedded::embedded_report();
  const auto found =
      std::find_if(index.files.begin(), index.files.end(), [&](const EmbeddedFile& f) { return f.kind == kind; });
  return found == index.files.end() ? std::string_view{} : found->text;
}

/// JSON inside a script element: '<' stands in strings alone, where its escape means the same, and nothing closes the
/// element early (HTML Standard, 4.12.1.3).
std::string in_script(std::string_view json) {
  std::string text;
  for (const char c : json) {
    text += c == '<' ? "\\u003c" : std::string{c};
  }
  return text;
}

std::string data_scripts(const Documents& documents) {
  std::string html;
  for (const Document& document : documents.all) {
    html += "<script type=\"application/json\" data-document=\"" + document.id + "\">" +
            in_script(json_text(document.root)) + "</script>\n";
  }
  return html;
}

/// "{{name}}" of a template, each replaced once.
std::string filled(std::string_view form, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string page;
  while (!form.empty()) {
    const std::size_t open = std::min(form.find("{{"), form.size());
    page += form.substr(0, open);
    form.remove_prefix(open);
    for (const auto& [name, value] : values) {
      if (form.substr(0, name.size() + 4) == "{{" + std::string{name} + "}}") {
        page += value;
        form.remove_prefix(name.size() + 4);
        break;
      }
    }
    if (form.starts_with("{{")) {
      page += "{{";
      form.remove_prefix(2);
    }
  }
  return page;
}

}  // namespace

void require_charts() {
  if (first_of("charts").empty()) {
    throw ConfigError{
        "--format html draws with Chart.js, which was not there when headroom was built: install libjs-chart.js, "
        "configure and build again"};
  }
}

std::string page(const Documents& documents) {
  require_charts();
  std::string body;
  std::string links;
  for (const Part& part : parts) {
    const std::string html = part.html(documents);
    body += html;
    if (!html.empty()) {
      links += "<a href=\"#" + std::string{part.id} + "\">" + std::string{part.link} + "</a>\n";
    }
  }
  std::string script;
  for (const std::string_view id : {"data", "theme", "charts", "fit", "serving", "sort", "main"}) {
    script += file("script", id);
  }
  return filled(file("page", "page"), {{"title", escaped(title_text(documents))},
                                       {"style", std::string{file("style", "style")}},
                                       {"version", std::string{version()}},
                                       {"heading", heading(documents)},
                                       {"links", links},
                                       {"body", body},
                                       {"documents", data_scripts(documents)},
                                       {"library", std::string{first_of("charts")}},
                                       {"licence", escaped(first_of("charts-licence"))},
                                       {"script", script}});
}

}  // namespace headroom::report
