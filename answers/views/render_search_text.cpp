// SPDX-License-Identifier: Apache-2.0
// A search as text: what to take, what it beats and by how much, the plan itself, what else there is.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/brief.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>
#include <headroom/scenarios/words/told_apart.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

std::string count(std::uint64_t n) {
  return format_count(static_cast<double>(n));
}

/// "+3.4 %"; nothing for less than what is shown.
std::string signed_percent(double share) {
  return std::abs(share) < 5e-5 ? "" : (share < 0.0 ? "-" : "+") + percent(std::abs(share), 2);
}

/// What makes a plan: its machine, its strategy, and what its job has beside both.
Words words_of(const ListedPlan& p) {
  Words words{{"gpus", std::to_string(p.gpus) + " x " + p.gpu}};
  for (Word& word : strategy_words(p.candidate.strategy)) {
    words.push_back(std::move(word));
  }
  for (const Change& change : p.changes) {
    if (!of_strategy(change.knob) && change.knob != Knob::gpu && change.knob != Knob::gpus) {
      words.push_back(word_of(change));
    }
  }
  return words;
}

std::string space_text(const SearchPlan& s) {
  const SearchCounts& c = s.result.counts;
  std::string text = count(c.all()) + " strategies";
  if (s.result.jobs > 1) {
    text += " in " + count(s.result.jobs) + " jobs";
  }
  text += ": " + count(c.evaluated()) + " evaluated (" + count(c.priced) + " priced, " + count(c.no_room) +
          " do not surely fit, " + count(c.broken) + " break a rule), " + count(c.pruned()) + " left out (" +
          count(c.bound_time) + " cannot be better, " + count(c.bound_memory) + " cannot fit)\n";
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < std::min(most, s.result.dropped.size()); ++i) {
    const DroppedJob& dropped = s.result.dropped[i];
    const std::string name = joined(texts_of(dropped.changes));
    text += "  not searched: " + (name.empty() ? "" : name + ": ") + dropped.why + "\n";
  }
  if (s.result.dropped.size() > most) {
    text +=
        "  not searched: " + count(s.result.dropped.size() - most) + " more jobs (all of them with --format json)\n";
  }
  return text;
}

/// "45.2 d to 77.3 d, missed; 53 %": what a plan takes of a limit, and the probability to keep it.
template <class Quantity>
std::string limit_cell(const LimitedBy& by) {
  return format(Quantity{by.reached.low}) + " to " + format(Quantity{by.reached.high}) +
         (by.kept ? ", kept; " : ", missed; ") + probability_text(by.chance);
}

/// Columns of the deadline and the budget, where there are any.
void add_limit_headers(std::vector<std::string>& header, const ListedPlan& p) {
  if (p.deadline) {
    header.push_back("of " + format(Seconds{p.deadline->limit}));
  }
  if (p.budget) {
    header.push_back("of " + format(Dollars{p.budget->limit}));
  }
}
void add_limit_cells(std::vector<std::string>& cells, const ListedPlan& p) {
  if (p.deadline) {
    cells.push_back(limit_cell<Seconds>(*p.deadline));
  }
  if (p.budget) {
    cells.push_back(limit_cell<Dollars>(*p.budget));
  }
}

/// One best plan a layout.
std::string best_text(const SearchPlan& s) {
  const bool step = s.minimize != Goal::step_time;
  std::vector<std::string> header{s.result.by == ListedBy::rental ? "best of each rental" : "best of each layout"};
  if (step) {
    header.emplace_back(goal_names[static_cast<std::size_t>(s.minimize)]);
  }
  add_limit_headers(header, s.recommended);
  for (const char* name : {"step", "memory up to", "behind", "<", "<strategy", "<against the plan taken"}) {
    header.emplace_back(name);
  }
  std::vector<const ListedPlan*> plans;
  for (const ListedPlan& p : s.best) {
    plans.push_back(&p);
  }
  const auto is_own = [&](const ListedPlan& p) { return same_plan(p.candidate, s.recommended.candidate); };
  if (std::none_of(s.best.begin(), s.best.end(), is_own)) {
    plans.push_back(&s.recommended);
  }
  std::vector<Words> words;
  for (const ListedPlan* const p : plans) {
    words.push_back(words_of(*p));
  }
  const ToldApart told = told_apart(words);
  Table table{header};
  std::size_t number = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ListedPlan& p = *plans[i];
    const bool own = is_own(p);
    std::vector<std::string> cells{own ? "taken" : std::to_string(++number)};
    if (step) {
      cells.push_back(goal_text(s.minimize, p.candidate.goal));
    }
    add_limit_cells(cells, p);
    cells.push_back(format(p.candidate.step));
    cells.push_back(format(p.candidate.memory));
    cells.push_back(own ? "" : signed_percent(p.behind));
    cells.push_back(own || !p.indistinguishable ? "" : "~");
    cells.push_back(told.rows[i]);
    cells.push_back(own ? "" : p.why);
    table.row(std::move(cells));
  }
  const bool unsure =
      std::any_of(s.best.begin(), s.best.end(), [](const ListedPlan& p) { return p.indistinguishable; });
  return table.text_apart(told.alike, 0) +
         (unsure ? "~ indistinguishable from the plan taken: the difference is within what the errors "
                   "of measured runs leave open\n"
                 : "");
}

std::string neighbours_text(const SearchPlan& s) {
  if (s.neighbours.empty()) {
    return {};
  }
  Table table{{"one step away", "step", "memory up to", "<against the plan taken"}};
  for (const Neighbour& n : s.neighbours) {
    const bool priced = n.memory > Bytes{};
    table.row({n.change, priced ? signed_percent(n.slower) : "", priced ? format(n.memory) : "",
               n.verdict.empty() ? n.why : n.verdict});
  }
  return "\n" + table.text(0);
}

/// At most a dozen, evenly over the front, its ends among them.
std::string front_text(const SearchPlan& s) {
  if (s.front.size() < 2) {
    return {};
  }
  constexpr std::size_t most = 12;
  std::vector<std::string> header;
  for (const Goal goal : s.front_goals) {
    header.emplace_back(goal_names[static_cast<std::size_t>(goal)]);
  }
  header.front() = "trade-offs: " + header.front();
  add_limit_headers(header, s.recommended);
  header.emplace_back("<");
  Table table{header};
  const std::size_t rows = std::min(most, s.front.size());
  std::vector<const ListedPlan*> plans;
  std::vector<Words> words;
  for (std::size_t i = 0; i < rows; ++i) {
    plans.push_back(&s.front[rows == 1 ? 0 : i * (s.front.size() - 1) / (rows - 1)]);
    words.push_back(words_of(*plans.back()));
  }
  const ToldApart told = told_apart(words);
  for (std::size_t i = 0; i < rows; ++i) {
    const ListedPlan& p = *plans[i];
    std::vector<std::string> cells;
    for (const Goal goal : s.front_goals) {
      cells.push_back(goal_text(goal, p.goals[static_cast<std::size_t>(goal)]));
    }
    add_limit_cells(cells, p);
    cells.push_back(told.rows[i]);
    table.row(std::move(cells));
  }
  return "\n" + table.text_apart(told.alike, 0) +
         (rows < s.front.size() ? count(s.front.size()) + " plans on this front, " + std::to_string(rows) +
                                      " shown; all of them with --format json\n"
                                : "");
}

/// Of the dollars above: each SKU's price, who states it and when.
std::string prices_text(const SearchPlan& s) {
  std::vector<std::string> lines;
  for (const std::vector<ListedPlan>* plans : {&s.best, &s.front}) {
    for (const ListedPlan& p : *plans) {
      if (p.price.price) {
        lines.push_back("  " + p.gpu + " " + format(*p.price.price) + " (" + p.price.source + ")\n");
      }
    }
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "\nprices per GPU\n" : "") + line;
  }
  return text;
}

/// What is asked, what to take and whether it fits: before the tables, which are long.
std::string heading_text(const SearchPlan& s) {
  return train_title(std::get<TrainScenario>(s.plan->scenario.question)) + "\ntake " +
         strategy_text(s.recommended.candidate.strategy) + ": " + s.why_recommended + "\n" + train_verdict(*s.plan) +
         (s.middle_text.empty() ? "" : s.middle_text + "\n");
}

/// What makes the scenario the plan taken.
std::string take_text(const SearchPlan& s, const std::string& scenario) {
  std::string text = "\nthe plan taken alone: headroom plan " + (scenario == "command line" ? "..." : scenario) +
                     ", without [search] and [objective] and with\n ";
  return text + " " + joined(texts_of(s.recommended.changes)) + "\n";
}

std::string notes_text(const SearchPlan& s) {
  std::string text;
  for (const std::string& note : s.notes) {
    text += "  " + note + "\n";
  }
  return text;
}

/// Of a search that went to its end without a plan: whether there was anything to search.
std::string none_text(const SearchPlan& s) {
  return s.result.counts.all() == 0 && !s.result.dropped.empty()
             ? "no plan: there was nothing that could be searched\n"
             : "no plan: none of the strategies keeps every limit\n";
}

}  // namespace

std::string search_text(const SearchPlan& s, const std::string& scenario) {
  const std::string partial = partial_text(s.result.time_over);
  std::string text;
  if (!s.plan) {
    const std::uint64_t decided = s.result.counts.all();
    text += s.result.complete ? none_text(s)
            : decided == 0
                ? partial + " before the first strategy was priced; there is no plan yet\n"
                : partial + "; none of the " + count(decided) + " strategies searched until then keeps every limit\n";
    for (const std::string& line : s.emptied) {
      text += "  " + line + "\n";
    }
    return text + "\n" + space_text(s) + notes_text(s);
  }
  if (!s.result.complete) {
    text += partial + "; what follows is the best of what was searched until then\n";
  }
  text += heading_text(s) + "\n" + best_text(s) + "\nthe plan taken, in full\n" + plan_text(*s.plan);
  return text + neighbours_text(s) + front_text(s) + prices_text(s) + take_text(s, scenario) + "\n" + space_text(s) +
         notes_text(s);
}

std::string taken_text(const SearchPlan& answer) {
  const ListedPlan& taken = answer.recommended;
  return (answer.result.complete
              ? ""
              : partial_text(answer.result.time_over) + "; the best of what was searched until then\n") +
         "taken: " + std::to_string(taken.gpus) + " x " + taken.gpu + ": " + strategy_text(taken.candidate.strategy) +
         "; " + answer.why_recommended + "\n" + notes_text(answer);
}

std::string no_plan_text(const SearchPlan& answer) {
  std::string text = answer.result.complete    ? none_text(answer)
                     : answer.result.time_over ? "the time ran out before a plan was found\n"
                                               : "interrupted before the search was done: no plan is taken\n";
  for (const std::string& line : answer.emptied) {
    text += "  " + line + "\n";
  }
  for (const DroppedJob& dropped : answer.result.dropped) {
    const std::string name = joined(texts_of(dropped.changes));
    text += "  not searched: " + name + ": " + dropped.why + "\n";
  }
  return text + notes_text(answer);
}

}  // namespace headroom
