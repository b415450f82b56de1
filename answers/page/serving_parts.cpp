// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/page/serving_parts.hpp>

#include <array>
#include <utility>

namespace headroom::report {
namespace {

std::string rate_words(const Place& rate, std::string_view what) {
  return rate.is_number() ? figure_text(rate) + " req/s" + std::string{what} : std::string{};
}

/// "ttft_p95", of several classes "ttft_p95, chat".
std::string promise_name(const Place& promise) {
  const std::string of = promise["class"].text();
  return promise["promise"].text() + (of.empty() || of == "all" ? "" : ", " + of);
}

void add_promises(std::vector<NamedFigure>& figures, const Place& answer) {
  for (const Place& promise : answer["promises"].items()) {
    figures.push_back({promise_name(promise), promise["reached_s"], "of " + figure(promise["limit_s"]) + " promised"});
  }
}

std::vector<NamedFigure> fleet_headlines(const Place& answer) {
  const Place best = taken_of(answer);
  const Place sized = best["sized"];
  std::string more = "on " + figure(best["gpus"]) + (best["gpus"].text() == "1" ? " GPU" : " GPUs");
  if (sized["spare"].is_number() && sized["spare"].number() > 0.0) {
    more += " with " + figure(sized["spare"]) + " spare";
  }
  if (const Place middle = best["at_middle"]; middle.there()) {
    more += "; " + figure(middle["replicas"]) + " would do at the middle";
  }
  std::vector<NamedFigure> figures{{"replicas", sized["replicas"], more},
                                   {"cost per million output tokens", best["usd_per_million_output_tokens"], ""}};
  add_promises(figures, answer);
  figures.push_back({"cost per hour", best["usd_per_s"], ""});
  figures.push_back({"saturates at, requests/s", sized["saturation_requests_per_s"], ""});
  figures.push_back({"knee: most requests/s with all promises kept", sized["knee_requests_per_s"], ""});
  figures.push_back({"requests within all their limits", sized["good_share"], ""});
  figures.push_back({"output tokens/s", sized["output_tokens_per_s"], ""});
  figures.push_back({"energy per million output tokens", answer["energy"]["j_per_million_output_tokens"], ""});
  return figures;
}

std::vector<NamedFigure> simulation_headlines(const Place& answer) {
  std::vector<NamedFigure> figures;
  add_promises(figures, answer);
  figures.push_back({"cost per million output tokens", answer["cost"]["usd_per_million_output_tokens"], ""});
  figures.push_back({"saturates at, requests/s", answer["saturation_requests_per_s"], ""});
  figures.push_back({"answered requests/s", answer["requests_per_s"],
                     "of " + figure(answer["offered_requests_per_s"]) + " that come"});
  figures.push_back({"requests within all their limits", answer["all"]["good_share"], ""});
  figures.push_back({"output tokens/s", answer["all"]["output_tokens_per_s"], ""});
  figures.push_back({"input tokens/s", answer["all"]["input_tokens_per_s"], ""});
  return figures;
}

}  // namespace

Place serving_answer(const Documents& documents) {
  const Place fleet = documents.find("fleet");
  return fleet.there() ? fleet : documents.find("simulation");
}

Place taken_of(const Place& answer) {
  return answer["options"].there() ? answer["options"][std::size_t{0}] : answer;
}

std::string serving_subject(const Documents& documents) {
  const Place answer = serving_answer(documents);
  const Place taken = taken_of(answer);
  std::string of = escaped(answer["model"].text());
  if (taken["gpus"].is_number()) {
    of += " on " + figure(taken["gpus"]) + " &times; " + escaped(taken["gpu"].text());
  }
  return of;
}

std::vector<std::string> serving_words(const Documents& documents) {
  const Place answer = serving_answer(documents);
  const Place taken = taken_of(answer);
  const Place mean = answer["rate_requests_per_s"];
  const Place peak = answer["peak_requests_per_s"];
  const bool day = mean.is_number() && peak.is_number() && peak.number() > mean.number();
  std::vector<std::string> texts{
      rate_words(mean, day ? " on average" : ""), day ? rate_words(peak, " at the peak") : "",
      rate_words(answer["offered_requests_per_s"], ""), named("tokens in", answer["prompt_tokens_mean"]),
      named("tokens out", answer["output_tokens_mean"])};
  for (const std::string_view ranks : {"tp", "pp", "ep"}) {
    const bool several = taken[ranks].is_number() && (ranks == "tp" || taken[ranks].number() > 1.0);
    texts.push_back(several ? named(ranks, taken[ranks]) : std::string{});
  }
  texts.push_back(named("replicas", answer["replicas"]));
  texts.push_back(taken["engine"].text());
  texts.push_back(taken["weights"].is_text() ? "weights " + taken["weights"].text() : std::string{});
  texts.push_back(taken["kv_cache"].is_text() ? "KV cache " + taken["kv_cache"].text() : std::string{});
  return texts;
}

std::string serving_verdict(const Documents& documents) {
  const Place answer = serving_answer(documents);
  const bool good = answer["feasible"].is_true() || answer["verdict"].text() == "good";
  const std::string way_out = answer["way_out"].text();
  const Place reason = answer["no_help_reason"];
  const std::string no_help = reason["cause"].text() == "burst" ? std::string{} : reason["text"].text();
  const std::string at_middle = answer["middle_text"].text();
  return verdict_line(good ? "fits" : "no", answer["verdict_text"].text()) +
         (way_out.empty() ? way_out : paragraph("note", escaped(way_out))) +
         (no_help.empty() ? no_help : paragraph("note", escaped(no_help))) +
         (at_middle.empty() ? at_middle : paragraph("note", escaped(at_middle)));
}

std::vector<NamedFigure> serving_headlines(const Documents& documents) {
  const Place answer = serving_answer(documents);
  return answer["options"].there() ? fleet_headlines(answer) : simulation_headlines(answer);
}

std::string promises_part(const Place& answer) {
  HtmlTable table{"promises", {"<promised", "limit", "reached", "<80 % interval", "of the limit", "<"}};
  for (const Place& promise : answer["promises"].items()) {
    const Place limit = promise["limit_s"];
    const Place reached = promise["reached_s"];
    const bool kept = promise["kept"].is_true();
    const Place never = promise["unanswered_share"];
    const Place fast = reached["low"];
    const bool in_time_at_fast_end = fast.is_number() && fast.number() <= limit.number();
    table.row({escaped(promise_name(promise)), figure(limit), figure(middle(reached)), range(reached),
               share(middle(reached), limit),
               never.is_number() && never.number() > 0.0        ? "missed, requests are never answered"
               : kept && !promise["kept_at_slow_end"].is_true() ? "kept, may be missed"
               : kept                                           ? "kept"
               : in_time_at_fast_end                            ? "missed, may be kept"
                                                                : "missed"});
  }
  if (table.empty()) {
    return {};
  }
  return chart("promises", answer, "Bars of what each promise reached over its limit, with the 80 % interval",
               answer["promises"].items().size()) +
         table.html();
}

std::string cost_part(const Documents& documents) {
  const Place answer = serving_answer(documents);
  const Place cost = answer["cost"].there() ? answer["cost"] : taken_of(answer);
  struct Row {
    std::string_view member, label;
  };
  constexpr std::array rows{Row{"usd_per_s", "an hour of the fleet"},
                            Row{"usd_per_million_output_tokens", "a million output tokens, with their prompts"},
                            Row{"saturated_usd_per_million_output_tokens", "the same at the saturation rate"},
                            Row{"apart_usd_per_million_input_tokens", "apart: a million input tokens"},
                            Row{"apart_usd_per_million_output_tokens", "and a million output tokens"},
                            Row{"usd_per_million_tokens", "a million tokens, in and out"},
                            Row{"usd_per_million_requests", "a million requests"}};
  HtmlTable table{"cost of what is served", {"<cost", "", "<80 % interval"}};
  for (const Row& row : rows) {
    const Place dollars = cost[row.member];
    if (middle(dollars).is_number()) {
      table.row({escaped(row.label), figure(middle(dollars)), range(dollars)});
    }
  }
  return table.html();
}

}  // namespace headroom::report
