// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/search_keys.hpp>
#include <headroom/scenarios/search/objective.hpp>

#include <algorithm>

namespace headroom {
namespace {

using ObjectiveKeys = KeyedTable<keys::objective, Kinds::train>;

bool states(const ConfigValue& root, std::string_view table, std::string_view key) noexcept {
  const ConfigValue* found = root.find(table);
  return found != nullptr && found->find(key) != nullptr;
}

/// "10 %" as a share.
double percent_of(ConfigTable& table, const Key& row) {
  const std::string_view key = row.path;
  const double usual = *row.usual / 100.0;
  const std::optional<std::string> text = table.maybe_text(key);
  if (!text) {
    return usual;
  }
  std::string_view rest = *text;
  if (!rest.empty() && rest.back() == '%') {
    rest.remove_suffix(1);
    while (!rest.empty() && rest.back() == ' ') {
      rest.remove_suffix(1);
    }
    const double value = whole_real(rest).value_or(-1.0);
    if (value >= row.low && value <= row.high) {
      return value / 100.0;
    }
  }
  table.problem(key, quoted(key) + " is " + quoted(*text) + ", not a percentage from \"0 %\" to \"" +
                         std::to_string(static_cast<int>(row.high)) + " %\"");
  return usual;
}

class ObjectiveReader {
 public:
  ObjectiveReader(const ConfigTable& table, const ConfigValue& root) : table_{table}, root_{root} {}

  Objective run() {
    Objective o;
    read_goals(o);
    o.plans = static_cast<std::size_t>(table_.get<"plans">());
    o.simplicity = percent_of(table_, ObjectiveKeys::row<"simplicity">);
    o.memory_margin = percent_of(table_, ObjectiveKeys::row<"memory_margin">);
    o.gpus_on_hand = table_.stated<"gpus_on_hand">();
    o.budget = table_.stated<"budget">();
    if (o.budget) {
      need_tokens("budget");
      need_price("budget");
    }
    read_deadline(o);
    table_.finish();
    return o;
  }

 private:
  void need_tokens(std::string_view key) {
    if (!asks_run(root_)) {
      table_.problem(key, quoted(key) + " speaks of the whole run: state training.tokens");
    }
  }
  void need_price(std::string_view key) {
    const ConfigValue* search = root_.find("search");
    const bool freed = search != nullptr && search->find("prices") != nullptr;
    const bool stated =
        states(root_, "money", "price") || states(root_, "money", "prices") || states(root_, "money", "owned");
    if (!stated && !freed) {
      table_.problem(key, quoted(key) + " needs a price: [money] price = \"... $/h\" or prices = \"ID\"");
    }
  }
  void need(std::string_view key, Goal goal) {
    if (goal == Goal::time) {
      need_tokens(key);
    } else if (goal == Goal::cost) {
      need_price(key);
    }
  }

  void read_goals(Objective& o) {
    if (const auto goal = table_.stated<"minimize", Goal>()) {
      o.minimize = *goal;
      o.minimize_stated = true;
      need("minimize", o.minimize);
    }
    for (const std::string& word : table_.texts("pareto")) {
      const auto found = std::find(goal_names.begin(), goal_names.end(), word);
      if (found == goal_names.end()) {
        table_.problem("pareto", "'pareto' holds " + quoted(word) +
                                     ", none of step-time, time, cost, energy, gpu-hours, gpus, memory" +
                                     suggestion(word, goal_names));
        continue;
      }
      const Goal goal = static_cast<Goal>(found - goal_names.begin());
      if (std::find(o.pareto.begin(), o.pareto.end(), goal) == o.pareto.end()) {
        o.pareto.push_back(goal);
      }
      need("pareto", goal);
    }
    if (o.pareto.size() > 4) {
      table_.problem("pareto", "'pareto' holds " + std::to_string(o.pareto.size()) + " goals; four at most");
    }
  }

  /// "30 d", or a date with the start of the run.
  void read_deadline(Objective& o) {
    const std::optional<std::string> own = table_.maybe_text("start");
    const ConfigValue* value = table_.value("deadline");
    if (own && !parse_date(*own)) {
      table_.problem("start", "'start' is " + quoted(*own) + ", not a date like \"2027-01-31\"");
      return;
    }
    const std::optional<std::string> of_run = start_of_run();
    if (own && of_run && *own != *of_run) {
      table_.problem("start", "'start' is " + *own + " and goodput.start is " + *of_run +
                                  ": a run begins once; state one of them");
      return;
    }
    const std::optional<std::string> start = own ? own : of_run;
    if (value == nullptr) {
      if (own) {
        table_.problem("start", "'start' means something with a date as 'deadline' only");
      }
      return;
    }
    need_tokens("deadline");
    if (value->kind == ConfigValue::Kind::text && parse_date(value->text)) {
      if (!start) {
        table_.problem("deadline", "a date as 'deadline' needs 'start', the day the run begins");
        return;
      }
      const double days = *days_between(*start, value->text);
      if (days <= 0.0) {
        table_.problem("deadline",
                       "the deadline " + value->text + " lies " +
                           (days < 0.0 ? std::to_string(static_cast<int>(-days)) + " days before" : std::string{"on"}) +
                           " the start " + *start);
        return;
      }
      o.deadline = Seconds{days * 86400.0};
      o.deadline_text = std::to_string(static_cast<int>(days)) + " d from " + *start + " to " + value->text;
      return;
    }
    o.deadline = table_.maybe_quantity<Seconds>("deadline");
    o.deadline_text = value->kind == ConfigValue::Kind::text ? value->text : "";
  }

  /// The day that [goodput] begins on; one that is no date is that table's problem.
  [[nodiscard]] std::optional<std::string> start_of_run() const {
    const ConfigValue* goodput = root_.find("goodput");
    const ConfigValue* start = goodput != nullptr ? goodput->find("start") : nullptr;
    const bool is_date = start != nullptr && start->kind == ConfigValue::Kind::text && parse_date(start->text);
    return is_date ? std::optional{start->text} : std::nullopt;
  }

  ObjectiveKeys table_;
  const ConfigValue& root_;
};

}  // namespace

std::optional<double> days_between(std::string_view from, std::string_view to) noexcept {
  const auto first = parse_date(from);
  const auto last = parse_date(to);
  if (!first || !last) {
    return std::nullopt;
  }
  return static_cast<double>((*last - *first).count());
}

bool asks_run(const ConfigValue& root) noexcept {
  return states(root, "training", "tokens") || states(root, "target", "loss");
}

Objective read_objective(ConfigTable* table, const ConfigValue& root) {
  Objective o;
  if (table != nullptr) {
    o = ObjectiveReader{*table, root}.run();
  }
  if (!o.minimize_stated && asks_run(root)) {
    o.minimize = Goal::time;
  }
  return o;
}

}  // namespace headroom
