// SPDX-License-Identifier: Apache-2.0
// The head of the page: what was asked, whether it can be, and the headline numbers.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/page/sections.hpp>
#include <headroom/answers/page/serving_parts.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom::report {
namespace {

/// A headline number: where it stands, what it is called.
struct Headline {
  std::string_view object;  ///< empty: the plan itself
  std::string_view member;
  std::string_view label;
};

/// The first of them that a plan has become cards, the others rows.
constexpr std::array headlines{
    Headline{"", "calendar_s", "calendar time, failures included"},
    Headline{"", "duration_s", "time to train"},
    Headline{"", "cost_usd", "cost"},
    Headline{"", "step_time_s", "step"},
    Headline{"", "ttft_s", "time to first token, mean under this load"},
    Headline{"", "tpot_s", "time per output token"},
    Headline{"", "output_tokens_per_s", "output tokens/s"},
    Headline{"", "tpot_at_least_s", "time per output token, at least"},
    Headline{"", "prompt_alone_at_least_s", "first token of one prompt alone, at least"},
    Headline{"", "most_output_tokens_per_s", "output tokens/s, at most"},
    Headline{"", "usd_per_million_output_tokens", "cost per million output tokens"},
    Headline{"", "memory_bytes", "memory per GPU"},
    Headline{"", "tokens_per_s", "tokens/s"},
    Headline{"", "samples_per_s", "samples/s"},
    Headline{"", "mfu", "model FLOP utilisation"},
    Headline{"", "utilisation", "utilisation by the model's own FLOP"},
    Headline{"", "tokens_per_s_per_gpu", "tokens/s per GPU"},
    Headline{"", "samples_per_s_per_gpu", "samples/s per GPU"},
    Headline{"", "gpu_hours", "GPU-hours"},
    Headline{"", "usd_per_million_tokens", "cost per million tokens"},
    Headline{"", "usd_per_million_samples", "cost per million samples"},
    Headline{"money", "total_usd", "the whole bill"},
    Headline{"energy", "run_j", "energy of the run"},
    Headline{"goodput", "ratio", "goodput"},
    Headline{"", "running_sequences", "sequences at once"},
    Headline{"", "kv_capacity_sequences", "sequences the KV cache holds"},
};
constexpr std::size_t most_cards = 4;

std::vector<NamedFigure> headlines_of(const Place& plan) {
  std::vector<NamedFigure> found;
  for (const Headline& headline : headlines) {
    const Place place = headline.object.empty() ? plan[headline.member] : plan[headline.object][headline.member];
    const bool of_capacity = headline.member == "memory_bytes" && plan["capacity_bytes"].there();
    found.push_back(
        {std::string{headline.label}, place, of_capacity ? "of " + figure(plan["capacity_bytes"]) : std::string{}});
  }
  return found;
}

/// The logarithm of the factor that all bars reach to either side: two, or as far as the widest interval.
double reach_of(const std::vector<NamedFigure>& found) {
  double reach = std::log(2.0);
  for (const NamedFigure& one : found) {
    const Place& place = one.place;
    if (place["low"].is_number() && place["low"].number() > 0.0) {
      const double mid = place["mid"].number();
      reach = std::max({reach, std::log(place["high"].number() / mid), std::log(mid / place["low"].number())});
    }
  }
  return reach;
}

/// The interval as a bar around its middle, on the logarithmic scale that the page's bars share.
std::string bar(const Place& interval, double reach) {
  const Place low = interval["low"];
  if (!low.is_number() || low.number() <= 0.0 || low.number() == interval["high"].number()) {
    return {};
  }
  const double mid = interval["mid"].number();
  const auto at = [&](double value) {
    return shortest_text(std::round(500.0 * (1.0 + std::log(value / mid) / reach)) / 10.0) + "%";
  };
  return "<span class=\"bar\" aria-hidden=\"true\" style=\"--low:" + at(low.number()) +
         ";--high:" + at(interval["high"].number()) + "\"></span>";
}

std::string problems(const Place& plan) {
  std::string list;
  for (const Place& problem : plan["problems"].items()) {
    list += "<li>" + escaped(problem["text"].text()) +
            (problem["way_out"].there() ? "; " + escaped(problem["way_out"].text()) : std::string{}) + "</li>\n";
  }
  return list.empty() ? list : "<ul class=\"problems\">\n" + list + "</ul>\n";
}

std::string joined_texts(const Place& array) {
  std::string text;
  for (const Place& item : array.items()) {
    text += (text.empty() ? "" : ", ") + escaped(item.text());
  }
  return text;
}

std::string ways_out(const Place& plan) {
  HtmlTable table{"smallest changes that fit", {"<smallest changes that fit", "memory per GPU", "step"}};
  for (const Place& remedy : plan["remedies"].items()) {
    table.row({joined_texts(remedy["changes"]), figure(remedy["memory_bytes"]), figure(remedy["step_time_s"])});
  }
  std::string text = table.html();
  for (const auto& [member, what] : {std::pair{"changes", "Smallest change that fits: "},
                                     std::pair{"changes_of_weights", "Or with narrower weights: "},
                                     std::pair{"changes_for_all", "Smallest change that runs all: "}}) {
    const std::string changes = joined_texts(plan[member]);
    text += changes.empty() ? "" : paragraph("note", what + changes);
  }
  return text;
}

std::string verdict(const Place& plan) {
  const std::string name = plan["verdict"].text();
  if (name.empty()) {
    return {};
  }
  const std::string_view kind = name == "feasible" ? "fits" : name == "may_not_fit" ? "maybe" : "no";
  std::string text = plan["verdict_text"].text();
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  std::string html = escaped(text);
  if (text == "Fits" && plan["memory_bytes"]["high"].there()) {
    html += ": up to " + figure(plan["memory_bytes"]["high"]) + " of " + figure(plan["capacity_bytes"]) + " per GPU";
  }
  return paragraph("verdict " + std::string{kind}, html) + problems(plan) + ways_out(plan);
}

std::string chips(const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts) {
    html += text.empty() ? "" : "<li>" + escaped(text) + "</li>";
  }
  return html.empty() ? html : "<ul class=\"chips\">" + html + "</ul>\n";
}

/// What the question fixes beside the strategy.
std::vector<std::string> question_words(const Place& plan) {
  std::vector<std::string> words{plan["precision"].text(), named("sequence", plan["seq_len"]),
                                 named("global batch", plan["global_batch"])};
  if (plan["tokens"].is_number()) {
    const bool large = plan["tokens"].number() >= 1e12;
    words.push_back(format_number(plan["tokens"].number() / (large ? 1e12 : 1e9)) +
                    (large ? " T tokens" : " G tokens"));
  }
  words.push_back(plan["software"].text());
  if (plan["method"].text() != "full") {
    words.push_back(plan["method"].text());
  }
  words.push_back(plan["optimizer"].text());
  if (plan["engine"].there()) {
    words.push_back(plan["engine"].text());
    for (const std::string_view ranks : {"tp", "pp", "ep", "replicas"}) {
      const bool several = plan[ranks].is_number() && plan[ranks].number() > 1.0;
      words.push_back(several ? named(ranks, plan[ranks]) : std::string{});
    }
    words.push_back(named("requests in flight", plan["asked_sequences"]));
    words.push_back(named("tokens in", plan["isl"]));
    words.push_back(named("tokens out", plan["osl"]));
    words.push_back(plan["weights"].is_text() ? "weights " + plan["weights"].text() : std::string{});
  }
  return words;
}

std::string answer_part(const std::string& text) {
  return text.empty() ? text : "<section id=\"answer\">\n<h2 class=\"unseen\">Answer</h2>\n" + text + "</section>\n";
}

}  // namespace

std::string headline_numbers(std::vector<NamedFigure> figures, std::string_view note) {
  std::erase_if(figures, [](const NamedFigure& one) { return !middle(one.place).is_number(); });
  if (figures.empty()) {
    return {};
  }
  const double reach = reach_of(figures);
  std::string cards;
  HtmlTable rows{"headline numbers", {"<", "", "<80 % interval", "<"}};
  rows.kind("facts");
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const NamedFigure& one = figures[i];
    const std::string value = figure(middle(one.place));
    const std::string ends = range(one.place);
    const std::string more = one.more.empty() ? std::string{} : " <small>" + one.more + "</small>";
    if (i >= most_cards) {
      rows.row({escaped(one.label), value + more, ends, bar(one.place, reach)});
      continue;
    }
    cards += "<div class=\"card\"><h3>" + escaped(one.label) + "</h3><p class=\"big\">" + value + more + "</p>" +
             bar(one.place, reach) + paragraph("ends", ends) + "</div>\n";
  }
  return "<div class=\"cards\">\n" + cards + "</div>\n" + rows.html() +
         paragraph("key", "Bars: the interval that holds 80 % of past errors, from " +
                              escaped(format_number(std::exp(-reach))) + " to " +
                              escaped(format_number(std::exp(reach))) + " times the value." + std::string{note});
}

std::string verdict_line(std::string_view kind, std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return paragraph("verdict " + std::string{kind}, escaped(text));
}

Place plan_of(const Documents& documents) {
  for (const std::string_view holder : {"search", "box"}) {
    if (const Place taken = documents.find(holder); taken.there()) {
      return taken["plan"];
    }
  }
  return documents.find("plan");
}

Place bearer_of(const Documents& documents) {
  const Place serving = serving_answer(documents);
  return serving.there() ? serving : plan_of(documents);
}

std::vector<std::string> strategy_words(const Place& strategy) {
  std::vector<std::string> texts;
  for (const std::string& member : strategy.members()) {
    const Place value = strategy[member];
    const std::string name = member == "zero" ? "ZeRO" : member == "micro_batch" ? "micro-batch" : member;
    const bool usual_one = name == "vpp" || name == "cp" || name == "ep" || name == "etp";
    if (value.is_number()) {
      if (!usual_one || value.number() != 1.0) {
        texts.push_back(words(name) + " " + value.text());
      }
    } else if (value.is_text()) {
      texts.push_back(words(name) + " " + value.text());
    } else if (value.is_true()) {
      texts.push_back(words(name));
    }
  }
  return texts;
}

std::string title_text(const Documents& documents) {
  const Place plan = plan_of(documents);
  const Place root{documents.all.front()};
  const std::string name = plan["name"].there() ? plan["name"].text() : root["name"].text();
  if (!name.empty()) {
    return name;
  }
  if (serving_answer(documents).there()) {
    return root["model"].there() ? root["model"].text() + " served" : "A fleet";
  }
  const Place& asked = plan["model"].there() ? plan : root;
  return asked["model"].there() ? asked["model"].text() + " on " + asked["gpus"].text() + " x " + asked["gpu"].text()
                                : "Plans side by side";
}

std::string heading(const Documents& documents) {
  if (serving_answer(documents).there()) {
    return "<h1>" + escaped(title_text(documents)) + "</h1>\n" + paragraph("of", serving_subject(documents)) +
           chips(serving_words(documents));
  }
  const Place plan = plan_of(documents);
  const Place root{documents.all.front()};
  const Place& asked = plan["model"].there() ? plan : root;
  std::string of = escaped(asked["model"].text());
  if (asked["pools"].there()) {
    of = "A cluster of " + figure(asked["gpus"]) + " GPUs in " + std::to_string(asked["pools"].items().size()) +
         " pools";
  } else if (asked["gpus"].is_number()) {
    of += " on " + figure(asked["gpus"]) + " &times; " + escaped(asked["gpu"].text());
  } else if (asked["gpu"].is_text()) {
    of += " on " + escaped(asked["gpu"].text());
  }
  return "<h1>" + escaped(title_text(documents)) + "</h1>\n" + paragraph("of", of) + chips(question_words(plan)) +
         chips(strategy_words(plan["strategy"]));
}

std::string answer_section(const Documents& documents) {
  if (serving_answer(documents).there()) {
    return answer_part(serving_verdict(documents) + headline_numbers(serving_headlines(documents), ""));
  }
  if (const std::string batch = batch_answer(documents); !batch.empty()) {
    return answer_part(batch);
  }
  if (const std::string classic = classic_answer(documents); !classic.empty()) {
    return answer_part(classic);
  }
  if (const std::string cluster = cluster_answer(documents); !cluster.empty()) {
    return answer_part(cluster);
  }
  if (const std::string phases = post_training_answer(documents); !phases.empty()) {
    return answer_part(phases);
  }
  if (const std::string shared = sharing_answer(documents); !shared.empty()) {
    return answer_part(shared);
  }
  const Place plan = plan_of(documents);
  std::string text = verdict(plan);
  if (const Place box = documents.find("box"); box.there()) {
    text = verdict_line(box["feasible"].is_true() ? "fits" : "no", box["verdict_text"].text()) + text;
  }
  const Place search = documents.find("search");
  if (search["taken_because"].there()) {
    text += paragraph("note", "Taken of all that was searched: " + escaped(search["taken_because"].text()));
    const std::string at_middle = search["middle_text"].text();
    text += at_middle.empty() ? "" : paragraph("note", escaped(at_middle));
  }
  if (search.there() && !search["taken"].there()) {
    text += "<p class=\"verdict no\">" +
            std::string{search["complete"].is_true() ? "No plan keeps every limit"
                                                     : "Interrupted before a plan was found"} +
            "</p>\n" + text_list(search["emptied_by"]);
  }
  const std::string numbers = headline_numbers(headlines_of(plan), " That of memory is of its own measured rows.");
  if (const std::string name = plan["verdict"].text(); !numbers.empty() && !name.empty() && name != "feasible") {
    text += paragraph("note", name == "may_not_fit" ? "If it fits:" : "If it did fit:");
  }
  text += numbers;
  if (plan["binds"].there()) {
    text += paragraph("note", "Binds: " + escaped(plan["binds"].text()));
  }
  for (const std::string_view member : {"utilisation_text", "step_time_why"}) {
    text += plan[member].there() ? paragraph("note", escaped(plan[member].text())) : "";
  }
  return answer_part(text);
}

}  // namespace headroom::report
