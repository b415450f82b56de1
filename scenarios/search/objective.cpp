// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/objective.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace headroom {
namespace {

std::optional<std::chrono::sys_days> date_of(std::string_view text) noexcept {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return std::nullopt;
  }
  const auto part = [&](std::size_t from, std::size_t length) -> int {
    int value = -1;
    const char* end = text.data() + from + length;
    const auto [rest, error] = std::from_chars(text.data() + from, end, value);
    return error == std::errc{} && rest == end ? value : -1;
  };
  const int year = part(0, 4);
  const int month = part(5, 2);
  const int day = part(8, 2);
  if (year < 0 || month < 1 || day < 1) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return date.ok() ? std::optional{std::chrono::sys_days{date}} : std::nullopt;
}

bool states(const ConfigValue& root, std::string_view table, std::string_view key) {
  const ConfigValue* found = root.find(table);
  return found != nullptr && found->find(key) != nullptr;
}

/// "10 %" as a share.
std::optional<double> percent_of(ConfigTable& table, std::string_view key, double high) {
  const std::optional<std::string> text = table.maybe_text(key);
  if (!text) {
    return std::nullopt;
  }
  std::string_view rest = *text;
  if (!rest.empty() && rest.back() == '%') {
    rest.remove_suffix(1);
    while (!rest.empty() && rest.back() == ' ') {
      rest.remove_suffix(1);
    }
    double value = -1.0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error == std::errc{} && end == rest.data() + rest.size() && value >= 0.0 && value <= high) {
      return value / 100.0;
    }
  }
  table.problem(key, quoted(key) + " is " + quoted(*text) + ", not a percentage from \"0 %\" to \"" +
                         std::to_string(static_cast<int>(high)) + " %\"");
  return std::nullopt;
}

class ObjectiveReader {
 public:
  ObjectiveReader(ConfigTable& table, const ConfigValue& root) : table_{table}, root_{root} {}

  Objective run() {
    Objective o;
    read_goals(o);
    o.plans = static_cast<std::size_t>(table_.maybe_integer("plans", {1, 50}).value_or(5));
    o.simplicity = percent_of(table_, "simplicity", 100.0).value_or(o.simplicity);
    o.memory_margin = percent_of(table_, "memory_margin", 90.0).value_or(0.0);
    o.gpus_on_hand = table_.maybe_integer("gpus_on_hand", {1, 10'000'000});
    o.budget = table_.maybe_quantity<Dollars>("budget");
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
    if (!states(root_, "training", "tokens")) {
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
    if (const auto goal = table_.maybe_choice("minimize", goal_names)) {
      o.minimize = static_cast<Goal>(*goal);
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
    const std::optional<std::string> start = table_.maybe_text("start");
    const ConfigValue* value = table_.value("deadline");
    if (start && !date_of(*start)) {
      table_.problem("start", "'start' is " + quoted(*start) + ", not a date like \"2027-01-31\"");
      return;
    }
    if (value == nullptr) {
      if (start) {
        table_.problem("start", "'start' means something with a date as 'deadline' only");
      }
      return;
    }
    need_tokens("deadline");
    if (value->kind == ConfigValue::Kind::text && date_of(value->text)) {
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

  ConfigTable& table_;
  const ConfigValue& root_;
};

}  // namespace

std::optional<double> days_between(std::string_view from, std::string_view to) noexcept {
  const auto first = date_of(from);
  const auto last = date_of(to);
  if (!first || !last) {
    return std::nullopt;
  }
  return static_cast<double>((*last - *first).count());
}

Objective read_objective(ConfigTable* table, const ConfigValue& root) {
  Objective o;
  if (table != nullptr) {
    o = ObjectiveReader{*table, root}.run();
  }
  if (!o.minimize_stated && states(root, "training", "tokens")) {
    o.minimize = Goal::time;
  }
  return o;
}

}  // namespace headroom
