// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/markup/drawing.hpp>
#include <headroom/answers/markup/html.hpp>
#include <headroom/cli/render/diagnosis_page.hpp>
#include <headroom/cli/render/render_diagnosis.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::cli {
namespace {

using report::escaped;

/// Colours that stay apart in print and for most who see colours otherwise (Okabe and Ito 2008).
constexpr std::pair<std::string_view, std::string_view> part_colours[] = {
    {"computing", "#0072b2"},     {"compute", "#0072b2"},        {"exposed_communication", "#d55e00"},
    {"communication", "#d55e00"}, {"exposed_copies", "#cc79a7"}, {"copy", "#cc79a7"},
    {"fill", "#cc79a7"},          {"idle_sync", "#e69f00"},      {"idle_data", "#009e73"},
    {"idle_host", "#f0e442"},     {"idle_launch", "#56b4e9"}};

std::string_view colour_of(std::string_view key) {
  for (const auto& [name, colour] : part_colours) {
    if (name == key) {
      return colour;
    }
  }
  return "#999999";
}

std::string rectangle(double x, double y, double width, double height, std::string_view key, const std::string& words) {
  return "<rect x=\"" + report::coordinate(x) + "\" y=\"" + report::coordinate(y) + "\" width=\"" +
         report::coordinate(std::max(0.3, width)) + "\" height=\"" + report::coordinate(height) + "\" fill=\"" +
         std::string{colour_of(key)} + "\"><title>" + escaped(words) + "</title></rect>";
}

std::string svg(double height, const std::string& name, const std::string& inside) {
  return "<figure role=\"img\" aria-label=\"" + escaped(name) + "\"><svg viewBox=\"0 0 860 " +
         report::coordinate(height) + "\" xmlns=\"http://www.w3.org/2000/svg\" font-size=\"13\">" + inside +
         "</svg></figure>\n";
}

constexpr double bar_left = 90.0, bar_width = 740.0;

/// The plan's terms under the names of the run's parts, in the run's scale.
std::string plan_bar(const PlanGap& gap, Seconds longest) {
  std::string inside = report::label(0.0, 64.0, "the plan");
  double x = bar_left;
  for (const PlanGapRow& part : gap.rows) {
    const double width = bar_width * (part.plan / longest);
    if (width > 0.0) {
      inside += rectangle(x, 48.0, width, 26.0, part.part, report::words(part.part) + " " + format(part.plan));
      x += width;
    }
  }
  return inside;
}

/// Parts of a step one after the other, and below them those of the plan.
std::string bar(const RunReading& reading, const PlanGap* gap) {
  if (!reading.step || *reading.step <= Seconds{}) {
    return "";
  }
  const Seconds longest = gap == nullptr ? *reading.step : std::max(*reading.step, gap->plan);
  std::string inside = report::label(0.0, 32.0, "a step") + (gap == nullptr ? "" : plan_bar(*gap, longest));
  double x = bar_left;
  std::string legend;
  double legend_x = bar_left;
  double legend_y = gap == nullptr ? 70.0 : 102.0;
  for (const TimePart& part : reading.parts) {
    const double share = part.time / *reading.step;
    if (share <= 0.0) {
      continue;
    }
    const std::string words =
        report::words(part.key) + " " + format(part.time) + ", " + percent_number(share, 3) + " %";
    const double width = bar_width * (part.time / longest);
    inside += rectangle(x, 16.0, width, 26.0, part.key, words);
    x += width;
    if (share >= 0.005) {
      constexpr double letter = 7.2;
      const double needs = 26.0 + letter * real(static_cast<std::int64_t>(words.size()));
      if (legend_x + needs > bar_left + bar_width && legend_x > bar_left) {
        legend_x = bar_left;
        legend_y += 20.0;
      }
      legend += rectangle(legend_x, legend_y - 10.0, 12.0, 12.0, part.key, words) +
                report::label(legend_x + 18.0, legend_y, words);
      legend_x += needs;
    }
  }
  return svg(legend_y + 14.0, "Parts of a step", inside + legend);
}

/// One step of the ranks, work of each kind on a line of its own.
std::string timeline(const RunReading& reading) {
  Seconds last{};
  for (const StepTrack& track : reading.tracks) {
    for (const StepTrack::Stretch& stretch : track.stretches) {
      last = std::max(last, stretch.end);
    }
  }
  if (last <= Seconds{}) {
    return "";
  }
  std::string inside;
  double y = 8.0;
  constexpr std::array<std::string_view, 3> kinds{"compute", "communication", "copy"};
  constexpr double line = 9.0;
  for (const StepTrack& track : reading.tracks) {
    const std::string name = track.name.size() > 14 ? "..." + track.name.substr(track.name.size() - 11) : track.name;
    inside += report::label(0.0, y + 1.8 * line, escaped(name));
    for (const StepTrack::Stretch& stretch : track.stretches) {
      const auto kind = std::find(kinds.begin(), kinds.end(), stretch.work) - kinds.begin();
      const double begin = std::max(0.0, stretch.begin / last);
      inside += rectangle(
          bar_left + bar_width * begin, y + line * std::min(2.0, real(kind)),
          bar_width * std::max(0.0, stretch.end / last - begin), line - 1.0, stretch.work,
          track.name + ": " + std::string{stretch.work} + " " + format(stretch.begin) + " to " + format(stretch.end));
    }
    y += 3.0 * line + 8.0;
  }
  inside += report::line(bar_left, y, bar_left + bar_width, y, "stroke=\"#888\"") +
            report::label(bar_left, y + 16.0, "0") +
            report::label(bar_left + bar_width, y + 16.0, format(last), "text-anchor=\"end\"");
  return svg(y + 24.0, "One step of the ranks: computing, communication and copies", inside);
}

}  // namespace

std::string_view command_of(CauseKind kind) noexcept {
  switch (kind) {
    case CauseKind::data_loading: return "headroom plan SCENARIO.toml --set data.workers=16";
    case CauseKind::host_sync: return "headroom plan SCENARIO.toml --set training.sync_every=100";
    case CauseKind::launch_bound:
    case CauseKind::host_bound: return "headroom kernel chain --kernels 1000 --time 5us --gpu SKU";
    case CauseKind::exposed_communication:
    case CauseKind::small_messages: return "headroom collective all-reduce --bytes '1 GiB' --gpu SKU --nodes 1";
    case CauseKind::memory_bound: return "headroom roofline MODEL --gpu SKU";
    case CauseKind::no_tensor_cores:
      return "headroom kernel precision --model MODEL --gpu SKU --from fp32 --dtype bf16";
    case CauseKind::small_batch: return "headroom plan SCENARIO.toml --search micro_batch=any";
    case CauseKind::recomputation: return "headroom plan SCENARIO.toml --recompute selective";
    case CauseKind::straggler: return "headroom plan SCENARIO.toml --set training.slow_rank=0.1";
    case CauseKind::imbalance: return "headroom plan SCENARIO.toml --set training.rank_spread=0.05";
    case CauseKind::low_clock: return "headroom plan SCENARIO.toml --set hardware.clock='1.2 GHz'";
    default: return "headroom plan SCENARIO.toml --format html";
  }
}

std::string diagnosis_page(const RunReading& reading, const PlanGap* gap) {
  constexpr std::size_t shown = 3;
  std::string body = report::paragraph("verdict", escaped(verdict_of(reading)));
  report::HtmlTable causes{"Causes, the dearest first",
                           {"<cause", "of the time", "time with the cure", "<<what to do", "<<ask on"}};
  for (std::size_t i = 0; i < std::min(shown, reading.causes.size()); ++i) {
    const Cause& cause = reading.causes[i];
    causes.row({escaped(report::words(cause_names[static_cast<std::size_t>(cause.kind)])),
                percent_number(cause.lost, 3) + " %",
                cause.time_ratio ? percent_number(*cause.time_ratio, 3) + " %" : "-",
                escaped(cause.says + " " + cause.cure), "<code>" + escaped(command_of(cause.kind)) + "</code>"});
  }
  body += causes.empty() ? "" : report::section("causes", "Causes", "", causes.html());
  body +=
      report::section("parts", "Where the time went", gap == nullptr ? "" : escaped(gap->verdict), bar(reading, gap));
  if (gap != nullptr) {
    report::HtmlTable gaps{"The run beside its plan", {"<part of a step", "run", "plan", "<<the gap"}};
    for (const PlanGapRow& part : gap->rows) {
      gaps.row({escaped(report::words(part.part)), part.run ? format(*part.run) : "-", format(part.plan),
                escaped(part.says)});
    }
    body += report::section("against", "Beside the plan", "", gaps.html());
  }
  body += report::section("timeline", "One step", "Computing above, communication below it, copies last.",
                          timeline(reading));
  report::HtmlTable kernels{"Longest work", {"<work", "time", "count", "<<name"}};
  for (const KernelTotal& kernel : reading.kernels) {
    kernels.row({std::string{kernel.work}, format(kernel.time), std::to_string(kernel.count), escaped(kernel.name)});
  }
  body += kernels.empty() ? "" : report::section("kernels", "Longest work", "", kernels.html());
  for (const FindingTable& found : reading.tables) {
    std::vector<std::string> titles;
    for (const FindingColumn& column : found.columns) {
      titles.emplace_back(column.title);
    }
    report::HtmlTable table{std::string{found.says}, titles};
    for (const std::vector<FindingCell>& row : found.rows) {
      std::vector<std::string> cells;
      for (const FindingCell& cell : row) {
        cells.push_back(escaped(text_of_cell(cell)));
      }
      table.row(std::move(cells));
    }
    body += report::section(found.key, escaped(found.says), "", table.html());
  }
  for (const std::string& note : reading.notes) {
    body += report::paragraph("note", escaped(note));
  }
  std::string title = "Why a run is slow";
  title += reading.gpu.empty() ? "" : ": " + reading.gpu;
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
         "<title>" +
         escaped(title) +
         "</title>\n<style>body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;"
         "color:#222;background:#fff}h1{font-size:1.4rem}h2{font-size:1.1rem}.verdict{font-size:1.15rem}"
         "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .8rem .2rem 0;text-align:left;"
         "vertical-align:top;border-bottom:1px solid #ddd}td.n,th.n{text-align:right}.note{color:#555}"
         "figure{margin:1rem 0}svg{max-width:100%;height:auto}pre{overflow:auto}</style>\n</head>\n<body>\n<h1>" +
         escaped(title) + "</h1>\n" + body +
         report::details("The answer as JSON", "<pre>" + escaped(json_text(diagnosis_document(reading))) + "</pre>") +
         "</body>\n</html>\n";
}

}  // namespace headroom::cli
