// SPDX-License-Identifier: Apache-2.0
// Parts of the page of a fleet and of a simulation: ways to serve, times, other rates, replicas, a day.
#include <headroom/answers/page/sections.hpp>
#include <headroom/answers/page/serving_parts.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace headroom::report {
namespace {

struct Row {
  std::string_view member, label;
};

/// Labels and members of an object, those that it has.
template <std::size_t N>
std::string rows_of(const std::string& title, const Place& object, const std::array<Row, N>& rows) {
  HtmlTable table{title, {"<" + title, "", "<80 % interval"}};
  for (const Row& row : rows) {
    const Place value = object[row.member];
    if (middle(value).is_number()) {
      table.row({escaped(row.label), figure(middle(value)), range(value)});
    }
  }
  return table.html();
}

/// "front", "misses", "kept at the middle alone", "screened".
std::string_view standing(const Place& option) {
  const Place sized = option["sized"];
  return !sized.there()                        ? "screened"
         : sized["keeps"].is_true()            ? option["front"].is_true() ? "front" : ""
         : !sized["keeps_at_middle"].is_true() ? "misses"
                                               : "kept at the middle alone";
}

std::string tightest(const Place& option) {
  const Place promise = option["tightest_promise"];
  const std::string of = promise["class"].text();
  return promise.there() ? escaped(promise["promise"].text()) + (of == "all" ? "" : " of " + escaped(of)) + " " +
                               figure(promise["of_limit_share"])
                         : std::string{};
}

constexpr std::size_t most_options = 40;

std::string options_table(const Place& fleet) {
  HtmlTable table{"ways to serve",
                  {"<<way to serve", "GPUs", "replicas", "per hour", "per M out", "TTFT p95", "TPOT p95", "knee, req/s",
                   "saturates", "load", "tightest promise", "<"}};
  table.kind("sortable");
  const std::vector<Place> options = fleet["options"].items();
  for (std::size_t i = 0; i < std::min(most_options, options.size()); ++i) {
    const Place& option = options[i];
    const Place sized = option["sized"];
    const Place screened = option["screened"];
    const bool simulated = sized.there();
    const Place saturation = (simulated ? sized : screened)["saturation_requests_per_s"];
    table.row(
        {escaped(option["option_text"].text()), figure(option["gpus"]),
         figure((simulated ? sized : screened)["replicas"]), figure(option["usd_per_s"]),
         figure(option["usd_per_million_output_tokens"]["mid"]),
         figure(simulated ? sized["ttft_s"]["p95"] : screened["ttft_p95_s"]),
         figure(simulated ? sized["tpot_s"]["p95"] : screened["tpot_p95_s"]), figure(sized["knee_requests_per_s"]),
         figure(saturation),
         saturation.is_number() && saturation.number() > 0.0 ? share(fleet["peak_requests_per_s"], saturation) : "",
         tightest(option), std::string{standing(option)}});
  }
  return table.html() +
         (options.size() > most_options
              ? paragraph("key", std::to_string(options.size() - most_options) + " more were screened; --format json "
                                                                                 "has them all.")
              : "");
}

std::string changes_of(const Place& dropped) {
  std::string text;
  for (const Place& change : dropped["changes"].items()) {
    text += (text.empty() ? "" : ", ") + change.text();
  }
  return text;
}

/// Kinds of reasons, those that rule out the most ways first, each with one of its ways.
std::string left_out_table(const Place& fleet) {
  std::map<std::string, std::pair<std::size_t, Place>> kinds;  // ways, and the first of them
  for (const Place& dropped : fleet["left_out"].items()) {
    const std::string why = dropped["why"].text();
    const auto kind = kinds.try_emplace(why.substr(0, why.find(':')), 0, dropped).first;
    ++kind->second.first;
  }
  std::vector<std::pair<std::size_t, Place>> order;
  for (const auto& [why, kind] : kinds) {
    order.push_back(kind);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  HtmlTable table{"ways left out", {"<left out", "<<such as", "<<why"}};
  for (const auto& [ways, first] : order) {
    table.row({counted(ways, "way"), escaped(changes_of(first)), escaped(first["why"].text())});
  }
  return table.html();
}

/// "8 ways to serve it, ...".
std::string ways_lead(const Place& fleet) {
  const Place ways = fleet["combinations"];
  const std::size_t options = fleet["options"].items().size();
  return figure(ways) + (ways.text() == "1" ? " way to serve it" : " ways to serve it") +
         (options > 1    ? ", the cheapest first among those that keep what is promised."
          : options == 1 ? "; the others were left out."
                         : "; none can be, or keeps what is promised.");
}

/// TTFT, TPOT, whole answer and queue of one object that has them; `of` names it where there are several.
void add_tails(HtmlTable& table, const Place& times, const Place& intervals, const std::string& of) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> names{
      std::pair{"ttft_s", "TTFT"}, std::pair{"tpot_s", "TPOT"}, std::pair{"e2e_s", "whole answer"},
      std::pair{"queue_s", "queue, of TTFT"}};
  constexpr std::array<std::string_view, 6> numbers{"mean", "p50", "p90", "p95", "p99", "max"};
  for (const auto& [member, label] : names) {
    std::vector<std::string> row{escaped((of.empty() ? "" : of + ": ") + std::string{label})};
    std::vector<std::string> ends{"80 % interval"};
    for (const std::string_view number : numbers) {
      row.push_back(figure(times[member][number]));
      ends.push_back(range(intervals[member][number]));
    }
    table.row(std::move(row));
    if (intervals[member].there()) {
      table.row(std::move(ends), "beside");
    }
  }
}

std::string tails_chart(const Place& times, const std::string& of) {
  return chart("tails", times,
               "Time to first token, time between tokens, whole answer and queue by quantile" +
                   (of.empty() ? "" : ", " + of) + "; the table has the numbers");
}

std::string pool_part(const std::string& title, const Place& pool) {
  constexpr std::array rows{Row{"utilisation", "an iteration runs, of the time"},
                            Row{"busy", "an iteration runs, of the time"},
                            Row{"batch_mean", "sequences of an iteration, mean"},
                            Row{"kv_occupancy_mean", "KV cache in use, mean"},
                            Row{"kv_mean", "KV cache in use, mean"},
                            Row{"kv_occupancy_peak", "KV cache in use, fullest"},
                            Row{"kv_peak", "KV cache in use, fullest"},
                            Row{"iterations", "iterations"},
                            Row{"preemptions", "preemptions"},
                            Row{"queue_mean", "requests that wait, mean"}};
  constexpr std::array gaps{Row{"p50", "p50"}, Row{"p95", "p95"}, Row{"p99", "p99"}, Row{"max", "longest"}};
  if (!pool.there()) {
    return {};
  }
  HtmlTable bins{"iterations by their sequences", {"<sequences", "iterations", "of all"}};
  for (const Place& bin : pool["batch_bins"].items()) {
    const std::string first = bin["first"].text();
    const std::string last = bin["last"].text();
    bins.row({first == last ? first : first + " to " + last, figure(bin["iterations"]),
              share(bin["iterations"], pool["iterations"])});
  }
  const std::string facts = rows_of(title, pool, rows) + rows_of("gap between two tokens", pool["token_gap_s"], gaps);
  if (bins.empty()) {
    return facts;
  }
  return "<div class=\"pair even\"><div>" +
         chart("batch", pool, "Bars of the iterations by how many sequences they had; the table has the numbers",
               pool["batch_bins"].items().size()) +
         bins.html() + "</div><div>" + facts + "</div></div>\n";
}

}  // namespace

std::string fleet_section(const Documents& documents) {
  const Place fleet = documents.find("fleet");
  const std::vector<Place> options = fleet["options"].items();
  const bool several = options.size() > 1;
  std::string body;
  if (several) {
    body += "<div class=\"pair even\">" +
            chart("fleet-ttft", fleet, "Ways to serve by cost and time to first token; the table has the numbers") +
            chart("fleet-tpot", fleet, "Ways to serve by cost and time per output token; the table has the numbers") +
            "</div>\n" + options_table(fleet) +
            paragraph("key",
                      "front: Pareto-best, no other is cheaper and faster in both; tightest promise: the one that "
                      "comes nearest to "
                      "its limit at the slow end, and how much of it is taken there; saturates: requests/s at which "
                      "its queues never empty; "
                      "screened: by closed forms, not simulated.");
  }
  const std::string left_out = left_out_table(fleet);
  body += several ? details("Left out, with the reason", left_out) : left_out;
  return section("fleet", "Which fleet", body.empty() ? std::string{} : ways_lead(fleet), body);
}

std::string times_section(const Documents& documents) {
  const Place answer = serving_answer(documents);
  const Place taken = taken_of(answer);
  const Place all = answer["all"].there() ? answer["all"] : taken["sized"];
  if (!all["ttft_s"].there()) {
    return {};
  }
  HtmlTable table{"times by quantile", {"<", "mean", "p50", "p90", "p95", "p99", "max"}};
  add_tails(table, all, answer["intervals"], "");
  const std::vector<Place> classes = answer["classes"].items();
  std::string by_class;
  for (std::size_t i = 0; classes.size() > 1 && i < classes.size(); ++i) {
    const std::string name = classes[i]["name"].text();
    add_tails(table, classes[i], {}, name);
    by_class += "<div><h3>" + escaped(name) + "</h3>\n" + tails_chart(classes[i], name) + "</div>\n";
  }
  const Place requests = all["requests"].there() ? all["requests"] : all["simulated_requests"];
  return section("times", "Times that requests see", "Of " + figure(requests) + " simulated requests.",
                 promises_part(answer) + tails_chart(all, "") + table.html() +
                     (by_class.empty() ? by_class : "<div class=\"pair even\">" + by_class + "</div>\n"));
}

std::string load_section(const Documents& documents) {
  const Place load = documents.find("load");
  if (load["points"].items().size() < 2) {
    return {};
  }
  HtmlTable table{"other rates",
                  {"requests/s", "of saturation", "TTFT p50", "TTFT p95", "TPOT p50", "TPOT p95", "within all limits",
                   "KV cache in use", "an iteration runs", "sequences"}};
  for (const Place& p : load["points"].items()) {
    table.row({figure(p["rate_requests_per_s"]), figure(p["load_share"]), figure(p["ttft_p50_s"]),
               figure(p["ttft_p95_s"]), figure(p["tpot_p50_s"]), figure(p["tpot_p95_s"]), figure(p["good_share"]),
               figure(p["kv_mean_share"]), figure(p["busy_share"]), figure(p["batch_mean"])},
              p["asked"].is_true() ? "ours" : "");
  }
  std::string lead = "The fleet taken, its spare replicas down, at other rates of the same traffic. It saturates at " +
                     figure(load["saturation_requests_per_s"]) + " requests/s";
  const Place knee = load["knee_requests_per_s"];
  lead += knee.is_number() && knee.number() > 0.0 ? "; up to " + figure(knee) + " every promise is kept (the knee)."
                                                  : "; the promises are kept at no rate that was tried.";
  return section("load", "Other rates", lead,
                 "<div class=\"pair even\">" +
                     chart("load-times", load, "Times over the rate, with knee and saturation; the table has them") +
                     chart("load-shares", load, "Requests within all limits and KV cache in use over the rate") +
                     "</div>\n" + details("Every rate", table.html()));
}

std::string replicas_section(const Documents& documents) {
  const Place answer = serving_answer(documents);
  const Place simulated = documents.find("simulation");
  const Place sized = taken_of(answer)["sized"];
  constexpr std::array waiting{Row{"mean", "mean"}, Row{"p50", "p50"}, Row{"p95", "p95"}, Row{"p99", "p99"},
                               Row{"max", "most"}};
  const std::string body =
      simulated.there()
          ? pool_part("replicas", simulated["pool"]) + pool_part("replicas for prompts", simulated["prefill_pool"]) +
                rows_of("requests that wait for their first iteration", simulated["queue_length"], waiting)
          : pool_part("replicas", sized);
  return section("replicas", "How full the replicas are", "", body);
}

std::string day_section(const Documents& documents) {
  const Place scaling = documents.find("fleet")["autoscaling"];
  if (!scaling["fixed"].there()) {
    return {};
  }
  HtmlTable table{"a fleet for the peak and one that follows",
                  {"<over one period", "GPU-hours", "cost", "requests that miss [slo]", "that come in overload",
                   "longest wait", "replicas, least", "and most"}};
  for (const auto& [member, label] :
       {std::pair{"fixed", scaling["fixed_is_stated"].is_true() ? "fixed, as stated" : "fixed, for the peak"},
        std::pair{"following", "following the load"}, std::pair{"floor", "floor: as if scaled at once"}}) {
    const Place fleet = scaling[member];
    if (!fleet.there()) {
      continue;
    }
    table.row({label, figure(fleet["gpu_hours"]), figure(fleet["cost_usd"]), figure(fleet["missed_share"]),
               figure(fleet["overloaded_share"]), figure(fleet["longest_wait_s"]), figure(fleet["least_replicas"]),
               figure(fleet["most_replicas"])});
  }
  const std::string lead =
      "One period of " + figure(scaling["period_s"]) + ", replicas as slow as measured ones were, by closed forms.";
  constexpr std::array hours{Row{"freed_gpu_hours", "of the fixed fleet that following does not take"},
                             Row{"above_gpu_hours", "that following takes beyond the fixed fleet"}};
  std::string body;
  for (const std::string_view texts : {"following_texts", "floor_texts"}) {
    for (const Place& sentence : scaling[texts].items()) {
      body += paragraph("note", escaped(sentence.text()));
    }
  }
  if (scaling["curve"].items().size() > 1) {
    body += chart("day", scaling,
                  "Rate and replicas over one period, and the fewest that would do; the table has the sums");
  }
  HtmlTable parts{"a cold start", {"<a cold start", "time", "of it"}};
  for (const Place& part : scaling["cold_start_parts"].items()) {
    parts.row({escaped(part["part"].text()), figure(part["time_s"]), figure(part["of_whole_share"])});
  }
  return section("day", scaling["repeats"].is_true() ? "Over the day" : "Over the trace", lead,
                 body + table.html() + rows_of("GPU-hours", scaling, hours) + (parts.empty() ? "" : parts.html()));
}

std::string more_section(const Documents& documents) {
  // What other parts show; the rest comes by itself.
  constexpr std::array<std::string_view, 11> shown{"all",    "intervals",    "queue_length",  "pool",
                                                   "memory", "prefill_pool", "cost",          "money",
                                                   "energy", "autoscaling",  "no_help_reason"};
  const Place answer = serving_answer(documents);
  std::string body;
  for (const std::string& member : answer.members()) {
    if (std::find(shown.begin(), shown.end(), member) == shown.end()) {
      const std::string table = member_table(words(member), answer[member]);
      body += table.empty() ? table : "<h3>" + escaped(label_of(member)) + "</h3>\n" + table;
    }
  }
  return section("more", "Also in the answer", "", body);
}

}  // namespace headroom::report
