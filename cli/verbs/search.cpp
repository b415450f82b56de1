// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_box.hpp>
#include <headroom/answers/wire/side_by_side.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/process.hpp>
#include <headroom/cli/frame/progress.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>
#include <variant>

namespace headroom::cli {
namespace {

/// "job 3 of 48, 61 % of it: 1.2 M evaluated, 8.3 M left out, 2.1 M/s, 4 s left"
std::string progress_line(const SearchProgress& p) {
  const double seconds = p.elapsed.raw();
  const double share = p.strategies > 0 ? static_cast<double>(p.done_of_job) / static_cast<double>(p.strategies) : 0.0;
  const double done = (static_cast<double>(p.job) + share) / static_cast<double>(p.jobs);
  std::string line;
  if (p.jobs > 1) {
    line += "job " + std::to_string(p.job + 1) + " of " + std::to_string(p.jobs) + ", ";
  }
  line += format_number(100.0 * done, 2) + " %: " + format_count(static_cast<double>(p.counts.evaluated())) +
          " evaluated, " + format_count(static_cast<double>(p.counts.pruned())) + " left out, " +
          format_number(static_cast<double>(p.counts.all()) / seconds / 1e6, 2) + " M/s";
  if (done > 0.01) {
    line += ", " + format(Seconds{seconds * (1.0 - done) / done}) + " left";
  }
  return line;
}

/// "of 24 ways 18 screened, 2 simulated".
std::string far_text(const FleetProgress& fleet) {
  const std::uint64_t ways = fleet.ways.load();
  return ways == 0
             ? std::string{}
             : "of " + counted(static_cast<std::int64_t>(ways), "way") + " " + std::to_string(fleet.screened.load()) +
                   " screened, " + std::to_string(fleet.sized.load()) + " simulated";
}

/// "of 240 loads 35 priced".
std::string far_text(const BoxProgress& box) {
  const std::uint64_t loads = box.loads.load();
  return loads == 0 ? std::string{}
                    : "of " + counted(static_cast<std::int64_t>(loads), "load") + " " +
                          std::to_string(box.priced.load()) + " priced";
}

std::string without_blanks(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? std::string{} : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

/// What a line of progress says is done.
struct Doing {
  const char* operator()(const asked::BestPlan& /*question*/) const { return "searching"; }
  const char* operator()(const asked::FleetSize& /*question*/) const { return "sizing the fleet"; }
  const char* operator()(const asked::FleetsSideBySide& /*question*/) const { return "sizing the fleets"; }
  const char* operator()(const BoxQuestion& /*question*/) const { return "pricing the curve"; }
  template <class Other>
  const char* operator()(const Other& /*question*/) const {
    return "planning";
  }
};

/// Effort of the search, for stderr because the answer does not depend on it.
std::string effort_text(const SearchResult& r) {
  const Seconds searching = r.elapsed - r.preparing;
  return "searched " + format_count(static_cast<double>(r.counts.all())) + " strategies in " + format(r.elapsed) +
         " (" + format(r.preparing) +
         " of it compiling and bounding): " + format_count(static_cast<double>(r.counts.evaluated())) + " evaluated, " +
         format_number(static_cast<double>(r.counts.all()) / std::max(1e-9, searching.raw()) / 1e6, 2) +
         " M/s decided" + (r.ranks > 1 ? ", on " + std::to_string(r.ranks) + " ranks" : "") +
         (r.resumed ? ", resumed from the checkpoint" : "") + "\n";
}

}  // namespace

SearchFunction& search_function() {
  static SearchFunction function = run_search;
  return function;
}

unsigned threads_of(const Arguments& arguments) {
  const std::string text = arguments.one("--threads");
  if (text.empty()) {
    return 0;
  }
  unsigned threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc{} || end != text.data() + text.size() || threads < 1 || threads > most_threads) {
    throw ConfigError{"--threads is a whole number from 1 to " + std::to_string(most_threads) + ", not " +
                      quoted(text)};
  }
  return threads;
}

std::string search_assignment(const std::string& axis) {
  const std::size_t equals = axis.find('=');
  const bool bare_list = equals != std::string::npos && axis.find(',', equals) != std::string::npos &&
                         axis.find_first_of("[{\"'", equals) == std::string::npos;
  if (!bare_list) {
    return "search." + (axis == "any" ? std::string{"strategy=any"} : axis);
  }
  std::string items;
  for (std::size_t at = equals + 1; at <= axis.size();) {
    const std::size_t end = std::min(axis.find(',', at), axis.size());
    const std::string item = without_blanks(axis.substr(at, end - at));
    double number = 0.0;
    const auto [rest, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    const bool value = item == "true" || item == "false" || (error == std::errc{} && rest == item.data() + item.size());
    items += item.empty() ? "" : (items.empty() ? "" : ", ") + (value ? item : "\"" + item + "\"");
    at = end + 1;
  }
  return "search." + axis.substr(0, equals + 1) + "[" + items + "]";
}

int TakenPlan::code_without_plan() const noexcept {
  return complete ? 1 : interrupted_code();
}

AnswerOptions search_options() {
  AnswerOptions options;
  options.search = search_function();
  options.stop = &interrupt_noted();
  options.time_over = [] { return interrupted_code() == time_over_code; };
  return options;
}

Answered answered(AskedQuestion question, AnswerOptions options) {
  Answered found;
  {
    FleetProgress fleet;
    BoxProgress box;
    options.fleet_progress = &fleet;
    options.box_progress = &box;
    ProgressLine line{std::visit(Doing{}, question), [&fleet, &box] {
                        const std::string ways = far_text(fleet);
                        return ways.empty() ? far_text(box) : ways;
                      }};
    options.tell = [&line](const std::string& what) {
      line.erase();
      std::fputs(shown_lines("headroom: " + what + "\n").c_str(), stderr);
    };
    if (line.shown()) {
      options.progress = [&line](const SearchProgress& p) { line.show(progress_line(p)); };
    }
    std::optional<InterruptGuard> guard;
    const bool stops = std::holds_alternative<asked::BestPlan>(question) ||
                       std::holds_alternative<asked::OnePlan>(question) ||
                       std::holds_alternative<BoxQuestion>(question);
    if (stops) {
      guard.emplace(OnInterrupt::note);
    }
    found.answer = answer_of(std::move(question), options);
  }
  const auto* const search = std::get_if<SearchPlan>(&found.answer);
  if (search == nullptr) {
    return found;
  }
  const SearchResult& result = search->result;
  if (!result.unsaved.empty()) {
    found.effort += "headroom: warning: " + result.unsaved + "; the answer is whole, the file holds an earlier state\n";
  }
  if (result.found.found()) {
    found.effort += effort_text(result);  // without a plan stderr is for problems
  }
  return found;
}

TakenPlan taken_plan(AskedQuestion question, unsigned threads) {
  AnswerOptions options = search_options();
  options.threads = threads;
  return taken_plan(std::move(question), std::move(options), answered);
}

TakenPlan taken_plan(AskedQuestion question, AnswerOptions options, const Asking& ask) {
  options.beside = false;
  const std::function<bool()> time_over = options.time_over;
  Answered given = ask(std::move(question), std::move(options));
  TakenPlan found;
  found.effort = std::move(given.effort);
  found.complete = is_complete(given.answer);
  const bool dropped = !found.complete && !(time_over && time_over());
  if (auto* const search = std::get_if<SearchPlan>(&given.answer)) {
    if (dropped) {
      search->plan.reset();
    }
    found.text = search->plan ? taken_text(*search) : no_plan_text(*search);
  } else if (auto* const curve = std::get_if<BoxCurve>(&given.answer)) {
    found.text = dropped ? "interrupted before the curve was done: no plan is taken\n" : box_taken_text(*curve);
    if (dropped) {
      curve->plan.reset();
    }
  }
  found.plan = plan_taken(std::move(given.answer));
  return found;
}

}  // namespace headroom::cli
