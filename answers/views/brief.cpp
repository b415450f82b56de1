// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/html.hpp>
#include <headroom/answers/markup/place.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/brief.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

using report::Place;

/// A member by its way from the root: "options/0/usd_per_s".
Place at(Place place, std::string_view way) {
  while (!way.empty() && place.there()) {
    const std::string_view name = way.substr(0, way.find('/'));
    std::size_t item = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), item);
    place = error == std::errc{} && end == name.data() + name.size() ? place[item] : place[name];
    way.remove_prefix(std::min(way.size(), name.size() + 1));
  }
  return place;
}

/// "24.4 days  (18.7 days to 31.9 days)", or one number.
std::string shown_text(const Place& place) {
  if (!place.there()) {
    return {};
  }
  const Place middle = report::middle(place);
  if (!middle.is_number()) {
    return middle.text();
  }
  const Place low = place["low"];
  const Place high = place["high"];
  const bool spread = low.is_number() && high.is_number() && low.number() != high.number();
  return report::figure_text(middle) +
         (spread ? "  (" + report::figure_text(low) + " to " + report::figure_text(high) + ")" : "");
}

/// A line of a brief answer. Of several ways the first that leads somewhere is taken.
struct Line {
  std::string_view label, way;
  std::string_view of = {};  ///< way of what the number is a part of: "61.0 GiB of 79.2 GiB"
};

void add(Table& table, const Place& root, std::span<const Line> lines) {
  std::string_view last;
  for (const Line& line : lines) {
    const Place place = at(root, line.way);
    const std::string text = shown_text(place);
    if (text.empty() || line.label == last) {
      continue;
    }
    last = line.label;
    const Place whole = at(root, line.of);
    table.row(
        {std::string{line.label}, text + (line.of.empty() || !whole.is_number() ? "" : " of " + shown_text(whole))});
  }
}

constexpr std::array plan_lines{
    Line{"memory per GPU", "memory_bytes", "capacity_bytes"},
    Line{"time of the run", "duration_s"},
    Line{"step", "step_time_s"},
    Line{"cost of the run", "cost_usd"},
    Line{"cost per M tokens", "usd_per_million_tokens"},
    Line{"tokens/s per GPU", "tokens_per_s_per_gpu"},
    Line{"samples/s per GPU", "samples_per_s_per_gpu"},
    Line{"expected within +/-", "confidence_basis/width_80"},
};
constexpr std::array served_lines{
    Line{"TTFT", "ttft_s"},
    Line{"TPOT", "tpot_s"},
    Line{"output tokens/s", "output_tokens_per_s"},
    Line{"requests/s", "requests_per_s"},
    Line{"cost per M output tokens", "usd_per_million_output_tokens"},
};
constexpr std::array fleet_lines{
    Line{"GPUs", "options/0/gpus"},
    Line{"replicas needed", "options/0/replicas_needed"},
    Line{"TTFT p95", "intervals/ttft_s/p95"},
    Line{"TTFT p95", "options/0/sized/ttft_s/p95"},
    Line{"TPOT p95", "intervals/tpot_s/p95"},
    Line{"TPOT p95", "options/0/sized/tpot_s/p95"},
    Line{"load of the saturation", "options/0/sized/load_share"},
    Line{"cost", "options/0/usd_per_s"},
    Line{"cost per M output tokens", "options/0/usd_per_million_output_tokens"},
};
constexpr std::array simulated_lines{
    Line{"GPUs", "gpus"},
    Line{"TTFT p95", "intervals/ttft_s/p95"},
    Line{"TTFT p95", "all/ttft_s/p95"},
    Line{"TPOT p95", "intervals/tpot_s/p95"},
    Line{"TPOT p95", "all/tpot_s/p95"},
    Line{"saturates at, req/s", "saturation_requests_per_s"},
    Line{"cost per M output tokens", "cost/usd_per_million_output_tokens"},
};
constexpr std::array cluster_lines{
    Line{"the last job ends after", "work_end_s"},
    Line{"mean wait", "wait_mean_s"},
    Line{"95 % of waits", "wait_p95_s"},
    Line{"cost", "cost_usd"},
    Line{"jobs late", "late"},
    Line{"jobs that do not run", "refused"},
};
constexpr std::array speedup_lines{
    Line{"measured speed-up", "measured_speedup"},
    Line{"predicted speed-up", "predicted_speedup"},
    Line{"first cure", "cures/0/what"},
    Line{"speed-up then", "cures/0/speedup_then"},
};

std::string lines_text(const Place& root, std::span<const Line> lines) {
  Table table{{"", "<"}};
  add(table, root, lines);
  return table.text();
}

std::string verdict_line(const Place& root) {
  for (const std::string_view member : {"verdict_text", "verdict"}) {
    if (const Place verdict = root[member]; verdict.is_text()) {
      return verdict.text() + "\n";
    }
  }
  return {};
}

/// "fits: 40.7 GiB of 79.2 GiB per GPU, with probability over 99.9 %".
std::string fit_line(const Place& plan) {
  std::string line = verdict_line(plan);
  const Place chance = plan["fits_probability"];
  if (!chance.is_number() || line.empty() || line.find("with probability") != std::string::npos) {
    return line;
  }
  line.pop_back();
  return line + (plan["verdict"].text() == "feasible" ? ", with probability " : "; it fits with probability ") +
         probability_text(chance.number()) + "\n";
}

std::string plan_brief(const Place& plan) {
  const bool served = plan["kind"].text() == "serve";
  return fit_line(plan) +
         lines_text(plan, served ? std::span<const Line>{served_lines} : std::span<const Line>{plan_lines});
}

/// Of what was stopped before its end.
std::string partial_line(const Place& root, bool time_over) {
  return root["complete"].is_true() ? "" : partial_text(time_over) + "\n";
}

std::string search_brief(const Place& search, bool time_over) {
  const std::string partial = partial_line(search, time_over);
  const Place taken = search["taken"];
  if (!taken.there()) {
    return partial + "no plan\n";
  }
  return partial + "take " + shown_text(taken["gpus"]) + " x " + taken["gpu"].text() + ": " +
         joined(taken["assignments"].items(), [](const Place& one) { return one.text(); }) + "\n" +
         plan_brief(search["plan"]);
}

/// A line of each item, of the members that any of them has.
std::string items_brief(const Place& items, std::span<const Line> columns) {
  std::vector<std::string> header;
  std::vector<const Line*> shown;
  for (const Line& column : columns) {
    for (const Place& item : items.items()) {
      if (at(item, column.way).there()) {
        header.push_back((shown.empty() ? "" : "<") + std::string{column.label});
        shown.push_back(&column);
        break;
      }
    }
  }
  Table table{header};
  for (const Place& item : items.items()) {
    std::vector<std::string> cells;
    for (const Line* column : shown) {
      cells.push_back(shown_text(at(item, column->way)));
    }
    table.row(std::move(cells));
  }
  return table.text();
}

/// "b.toml against the reference: ratio 0.54  (0.45 to 0.66): indistinguishable", a line for each plan but the
/// reference.
std::string differences_brief(const Place& plans) {
  std::string text;
  for (const Place& plan : plans.items()) {
    const Place difference = plan["against_reference"];
    if (difference.there()) {
      text += plan["file"].text() + " against the reference: throughput " + shown_text(difference["throughput_ratio"]) +
              " times its own: " +
              (difference["distinguishable"].is_true() ? "a difference larger than past errors" : "indistinguishable") +
              "\n";
    }
  }
  return text;
}

constexpr std::array compared_columns{
    Line{"plan", "file"},        Line{"verdict", "verdict"},
    Line{"step", "step_time_s"}, Line{"time", "duration_s"},
    Line{"cost", "cost_usd"},    Line{"TTFT", "ttft_s"},
    Line{"TPOT", "tpot_s"},      Line{"output tokens/s", "output_tokens_per_s"},
};
constexpr std::array compared_fleet_columns{
    Line{"fleet", "file"},
    Line{"GPUs", "fleet/options/0/gpus"},
    Line{"TTFT p95", "fleet/options/0/sized/ttft_s/p95"},
    Line{"TPOT p95", "fleet/options/0/sized/tpot_s/p95"},
    Line{"cost", "fleet/options/0/usd_per_s"},
    Line{"cost per M output tokens", "fleet/options/0/usd_per_million_output_tokens"},
    Line{"kept with probability", "fleet/kept_probability"},
};
constexpr std::array scaled_columns{
    Line{"GPUs", "gpus"},
    Line{"verdict", "verdict"},
    Line{"fits with probability", "fits_probability"},
    Line{"step", "step_time_s"},
    Line{"tokens/s per GPU", "tokens_per_s_per_gpu"},
    Line{"efficiency", "efficiency"},
    Line{"cost per M tokens", "usd_per_million_tokens"},
};

}  // namespace

std::string partial_text(bool time_over) {
  return time_over ? "PARTIAL: the time ran out" : "PARTIAL: interrupted";
}

std::string brief_text(const Value& document, bool time_over) {
  const Place root{document};
  const std::string schema = root["schema"].text();
  if (schema.starts_with("headroom.search/")) {
    return search_brief(root, time_over);
  }
  if (schema.starts_with("headroom.fleet/")) {
    return partial_line(root, time_over) + verdict_line(root) + lines_text(root, fleet_lines);
  }
  if (schema.starts_with("headroom.box/")) {
    return partial_line(root, time_over) + verdict_line(root) + lines_text(root["plan"], served_lines);
  }
  if (schema.starts_with("headroom.simulate/")) {
    return verdict_line(root) + lines_text(root, simulated_lines);
  }
  if (schema.starts_with("headroom.compare/")) {
    return items_brief(root["plans"], compared_columns) + differences_brief(root["plans"]);
  }
  if (schema.starts_with("headroom.compare_fleets/")) {
    return partial_line(root, time_over) + items_brief(root["fleets"], compared_fleet_columns);
  }
  if (schema.starts_with("headroom.scale/")) {
    const Place knee = root["knee_gpus"];
    return (knee.is_number() ? "more GPUs pay up to " + shown_text(knee) + "\n" : "") +
           items_brief(root["points"], scaled_columns);
  }
  if (schema.starts_with("headroom.cluster/")) {
    return verdict_line(root) + lines_text(root, cluster_lines);
  }
  if (schema.starts_with("headroom.speedup/")) {
    return verdict_line(root) + lines_text(root, speedup_lines);
  }
  return plan_brief(root);
}

}  // namespace headroom
