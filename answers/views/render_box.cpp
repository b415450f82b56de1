// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/brief.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_box.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/read/change_text.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace headroom {
namespace {

const ServeScenario& asked_of(const BoxCurve& curve) {
  return std::get<ServeScenario>(curve.question->question);
}

/// The values of what is searched; the load stands beside.
Words settings_of(const BoxPoint& p) {
  Words words;
  for (const Change& change : p.changes) {
    if (change.knob != Knob::concurrency) {
      words.push_back(word_of(change));
    }
  }
  return words;
}

/// "tp 4, weights fp8".
std::string settings_text(const BoxPoint& p) {
  const std::string text = words_text(settings_of(p));
  return text.empty() ? "as stated" : text;
}

/// "TTFT 540 ms of 1.00 s, TPOT 27.1 ms of 30.0 ms".
std::string promises_text(const MeanPromises& promised, const BoxPoint& p) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<Seconds>& limit, const Interval<Seconds>& time) {
    if (limit) {
      text += (text.empty() ? "" : ", ") + std::string{name} + " " + format(time.mid) + " of " + format(*limit);
    }
  };
  add("TTFT", promised.ttft, p.ttft);
  add("TPOT", promised.tpot, p.tpot);
  add("a whole answer", promised.e2e, p.e2e);
  return text;
}

std::string point_text(const BoxPoint& p) {
  return settings_text(p) + ", " + counted(p.replicas, "replica") + ", at " + std::to_string(p.in_flight) +
         " in flight";
}

std::string points_table(const BoxCurve& curve, const std::vector<std::size_t>& which, const std::string& title) {
  const bool priced = std::any_of(curve.points.begin(), curve.points.end(),
                                  [](const BoxPoint& p) { return p.per_million_output_tokens.raw() > 0.0; });
  std::vector<std::string> header{title, "in flight", "tokens/s/GPU", "tokens/s/user", "TTFT", "TPOT", "req/s"};
  if (priced) {
    header.emplace_back("$/M out");
  }
  if (curve.promised.any()) {
    header.emplace_back("kept");
  }
  header.emplace_back("<");
  Table table{header};
  std::vector<Words> words;
  for (const std::size_t i : which) {
    words.push_back(settings_of(curve.points[i]));
  }
  const ToldApart told = told_apart(words);
  for (std::size_t place = 0; place < which.size(); ++place) {
    const std::size_t i = which[place];
    const BoxPoint& p = curve.points[i];
    std::vector<std::string> row{told.rows[place],
                                 std::to_string(p.in_flight),
                                 format_number(p.tokens_per_s_per_gpu.mid),
                                 format_number(p.tokens_per_s_per_user.mid),
                                 format(p.ttft.mid),
                                 format(p.tpot.mid),
                                 format_number(p.requests_per_s.mid)};
    if (priced) {
      row.push_back(format_number(p.per_million_output_tokens.raw()));
    }
    if (curve.promised.any()) {
      row.push_back(probability_text(p.chance));
    }
    row.emplace_back(curve.taken == i ? "taken" : "");
    table.row(std::move(row));
  }
  return table.text_apart(told.alike);
}

/// Of each layout the load that keeps the promises with the most requests/s, without promises the most tokens/s.
std::vector<std::size_t> best_of_each(const BoxCurve& curve) {
  std::vector<std::size_t> best;
  std::string last;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const BoxPoint& p = curve.points[i];
    const std::string settings = settings_text(p);
    if (best.empty() || settings != last) {
      best.push_back(i);
      last = settings;
      continue;
    }
    const BoxPoint& than = curve.points[best.back()];
    const bool better = p.keeps != than.keeps ? p.keeps : p.requests_per_s.mid > than.requests_per_s.mid;
    best.back() = better ? i : best.back();
  }
  std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
    const BoxPoint& x = curve.points[a];
    const BoxPoint& y = curve.points[b];
    return x.keeps != y.keeps ? x.keeps : x.requests_per_s.mid > y.requests_per_s.mid;
  });
  return best;
}

constexpr std::size_t most_front_rows = 20;
constexpr std::size_t most_best_rows = 10;
constexpr std::size_t most_reasons = 8;

/// Of a long front those nearest to rates of even ratios between its ends, and what is taken.
std::vector<std::size_t> shown_front(const BoxCurve& curve) {
  if (curve.front.size() <= most_front_rows) {
    return curve.front;
  }
  const auto rate = [&](std::size_t place) {
    return std::log(curve.points[curve.front[place]].tokens_per_s_per_user.mid);
  };
  const double first = rate(0);
  const double last = rate(curve.front.size() - 1);
  const auto taken = std::find(curve.front.begin(), curve.front.end(), curve.taken);
  const std::size_t rows = most_front_rows - (taken == curve.front.end() ? 0 : 1);
  std::vector<bool> shown(curve.front.size());
  if (taken != curve.front.end()) {
    shown[static_cast<std::size_t>(taken - curve.front.begin())] = true;
  }
  std::size_t place = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const double wanted = first + (last - first) * static_cast<double>(i) / static_cast<double>(rows - 1);
    while (place + 1 < curve.front.size() && std::abs(rate(place + 1) - wanted) <= std::abs(rate(place) - wanted)) {
      ++place;
    }
    shown[place] = true;
  }
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i]) {
      front.push_back(curve.front[i]);
    }
  }
  return front;
}

/// "  562 more points of the front: all of them with --format json\n".
std::string more_text(std::size_t all, std::size_t shown, const std::string& what) {
  return all > shown ? "  " + std::to_string(all - shown) + " more " + what + ": all of them with --format json\n" : "";
}

std::string tables_text(const BoxCurve& curve) {
  const std::vector<std::size_t> front = shown_front(curve);
  std::vector<std::size_t> best = best_of_each(curve);
  const std::size_t layouts = best.size();
  best.resize(std::min(layouts, most_best_rows));
  return points_table(curve, front, "Pareto front") +
         more_text(curve.front.size(), front.size(), "points of the front") + "\n" +
         points_table(curve, best, curve.promised.any() ? "most requests of each" : "most of each") +
         more_text(layouts, best.size(), "layouts and settings");
}

std::string left_out(const BoxCurve& curve) {
  std::map<std::string, std::pair<std::size_t, const BoxDropped*>> kinds;
  for (const BoxDropped& dropped : curve.dropped) {
    auto& [ways, first] = kinds[dropped.why];
    ++ways;
    first = first == nullptr ? &dropped : first;
  }
  using Kind = std::pair<std::string, std::pair<std::size_t, const BoxDropped*>>;
  std::vector<Kind> order(kinds.begin(), kinds.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const Kind& a, const Kind& b) { return a.second.first > b.second.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most_reasons, order.size()); ++i) {
    const auto& [why, kind] = order[i];
    std::string way;
    for (const Change& change : kind.second->changes) {
      way += (way.empty() ? "" : ", ") + override_of(change);
    }
    text += "  left out: " + (kind.first > 1 ? std::to_string(kind.first) + " layouts, such as " : std::string{}) +
            (way.empty() ? "" : way + ": ") + why + "\n";
  }
  return text + (order.size() > most_reasons ? "  left out for other reasons: all of them with --format json\n" : "");
}

Value point_value(const BoxPoint& p) {
  return row(
      "changes"_m = list(p.changes, override_of), "gpu"_m = p.device, "gpus"_m = p.gpus, "replicas"_m = p.replicas,
      "tp"_m = p.layout.tp, "pp"_m = p.layout.pp, "ep"_m = p.layout.ep, "in_flight"_m = p.in_flight,
      "running"_m = p.running, "output_tokens_per_s"_m = per_second(p.tokens_per_s),
      "output_tokens_per_s_per_gpu"_m = per_second(p.tokens_per_s_per_gpu),
      "output_tokens_per_s_per_user"_m = per_second(p.tokens_per_s_per_user),
      "requests_per_s"_m = per_second(p.requests_per_s), "ttft_s"_m = p.ttft, "tpot_s"_m = p.tpot, "e2e_s"_m = p.e2e,
      "usd_per_million_output_tokens"_m = when(p.per_million_output_tokens.raw() > 0.0, p.per_million_output_tokens),
      "kept_probability"_m = share(p.chance), "kept"_m = p.keeps, "front"_m = p.front);
}

}  // namespace

std::string box_verdict(const BoxCurve& curve) {
  const double confidence = asked_of(curve).confidence;
  if (curve.points.empty()) {
    return "no layout of " + std::to_string(curve.combinations) + " can be answered";
  }
  if (!curve.taken) {
    return "no load that was tried keeps what is promised with probability " + probability_text(confidence);
  }
  const BoxPoint& p = curve.points[*curve.taken];
  const std::string promises = promises_text(curve.promised, p);
  return "take " + point_text(p) + ": " + format_number(p.requests_per_s.mid) + " req/s, " +
         format_number(p.tokens_per_s.mid) + " output tokens/s" +
         (promises.empty() ? "" : "; " + promises + ", kept with probability " + probability_text(p.chance));
}

std::vector<std::string> box_way_out(const BoxCurve& curve) {
  std::vector<std::string> lines;
  if (curve.nearest) {
    const BoxPoint& p = curve.points[*curve.nearest];
    lines.push_back(
        "nearest: " + point_text(p) + ": " + promises_text(curve.promised, p) + ", kept with probability " +
        probability_text(p.chance) +
        "; what helps: a longer promise ([slo]), more ranks a replica (strategy.tp, strategy.pp), "
        "narrower weights (serving.weights), faster GPUs (hardware.gpu), or fewer in flight (search.concurrency)");
  }
  if (!curve.way_out.empty()) {
    lines.push_back("smallest change that fits: " + joined(texts_of(curve.way_out)));
  }
  if (!curve.way_out_of_weights.empty()) {
    lines.push_back("or with narrower weights: " + joined(texts_of(curve.way_out_of_weights)));
  }
  return lines;
}

std::string box_taken_text(const BoxCurve& curve) {
  std::string text =
      (curve.complete ? "" : partial_text(curve.time_over) + "; the best of what was priced until then\n") +
      box_verdict(curve) + "\n";
  for (const std::string& line : box_way_out(curve)) {
    text += "  " + line + "\n";
  }
  if (curve.taken) {
    for (const Change& change : curve.points[*curve.taken].changes) {
      text += "  " + override_of(change) + "\n";
    }
  }
  for (const std::string& note : curve.notes) {
    text += "  " + note + "\n";
  }
  return text;
}

std::string box_text(const BoxCurve& curve) {
  const ServeScenario& s = asked_of(curve);
  std::string text = curve.complete ? ""
                                    : partial_text(curve.time_over) +
                                          "; what follows is the best of the loads that were priced until then\n";
  text += s.architecture.name + " on " + std::to_string(s.work.gpus) + " x " + s.device.id + ", " +
          std::to_string(s.work.isl) + " tokens in, " + std::to_string(s.work.osl) +
          " out: throughput against latency\n\n" + box_verdict(curve) + "\n";
  for (const std::string& line : box_way_out(curve)) {
    text += line + "\n";
  }
  if (curve.at_middle) {
    const BoxPoint& p = curve.points[*curve.at_middle];
    text += "at the middle " + point_text(p) + " would do: " + format_number(p.requests_per_s.mid) +
            " req/s, with probability " + probability_text(p.chance) + "\n";
  }
  if (!curve.points.empty()) {
    text += "\n" + tables_text(curve);
  }
  text += left_out(curve);
  for (const std::string& note : curve.notes) {
    text += "  " + note + "\n";
  }
  if (curve.plan) {
    text += "\nwhat is taken, in full:\n" + plan_text(*curve.plan);
  }
  return text;
}

Value box_document(const BoxCurve& curve) {
  const ServeScenario& s = asked_of(curve);
  const std::vector<std::string> way_out = box_way_out(curve);
  return object(
      "schema"_m = "headroom.box/1", "complete"_m = curve.complete, "feasible"_m = curve.feasible(),
      "name"_m = curve.question->name, "model"_m = s.architecture.id, "gpu"_m = s.device.id, "gpus"_m = s.work.gpus,
      "isl"_m = s.work.isl, "osl"_m = s.work.osl, "asked_probability"_m = s.confidence,
      "combinations"_m = curve.combinations, "verdict_text"_m = box_verdict(curve),
      "ttft_mean_limit_s"_m = curve.promised.ttft, "tpot_mean_limit_s"_m = curve.promised.tpot,
      "e2e_mean_limit_s"_m = curve.promised.e2e, "way_out"_m = when(!way_out.empty(), Value{way_out}),
      "nearest"_m = curve.nearest, "taken"_m = curve.taken, "at_middle"_m = curve.at_middle,
      "front"_m = list(curve.front, [](std::size_t i) { return Value{i}; }).on_one_line(),
      "points"_m = list(curve.points, point_value),
      "left_out"_m = list(curve.dropped,
                          [](const BoxDropped& dropped) {
                            return row("changes"_m = list(dropped.changes, override_of), "why"_m = dropped.why);
                          }),
      "assumed"_m = when(!curve.notes.empty(), Value{curve.notes}),
      "plan"_m = curve.plan ? plan_document(*curve.plan) : Value{});
}

}  // namespace headroom
