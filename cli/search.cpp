// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/interrupt.hpp>
#include <headroom/cli/plan_context.hpp>
#include <headroom/cli/process.hpp>
#include <headroom/cli/render.hpp>
#include <headroom/cli/report/evidence.hpp>
#include <headroom/cli/report/page.hpp>
#include <headroom/cli/search.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/strategy_text.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

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

/// What the search took: on stderr, for the answer is the same whatever the machine.
std::string effort_text(const SearchResult& r) {
  const Seconds searching = r.elapsed - r.preparing;
  return "searched " + format_count(static_cast<double>(r.counts.all())) + " strategies in " + format(r.elapsed) +
         " (" + format(r.preparing) +
         " of it compiling and bounding): " + format_count(static_cast<double>(r.counts.evaluated())) + " evaluated, " +
         format_number(static_cast<double>(r.counts.all()) / std::max(1e-9, searching.raw()) / 1e6, 2) +
         " M/s decided" + (r.ranks > 1 ? ", on " + std::to_string(r.ranks) + " ranks" : "") +
         (r.resumed ? ", resumed from the checkpoint" : "") + "\n";
}

/// The line of progress on a terminal's stderr, gone when the search has ended, by an answer or by an error. It is
/// written as it is: what is said with the answer is shown character by character.
class ProgressLine {
 public:
  ProgressLine() = default;
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool shown() const noexcept { return shown_; }
  void show(const SearchProgress& p) const { std::fprintf(stderr, "\r\033[K%s", progress_line(p).c_str()); }
  void erase() const noexcept {
    if (shown_) {
      std::fputs("\r\033[K", stderr);
    }
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) == 1;
};

/// Progress on a terminal's stderr; an interrupt ends the search with what was found so far.
SearchPlan answered(const SearchQuestion& question, SearchOptions options, std::string& effort) {
  options.stop = &interrupt_noted();
  options.ranks = ranks_at_hand();
  SearchResult result;
  {
    const ProgressLine line;
    options.tell = [&line](const std::string& what) {
      line.erase();
      std::fputs(shown_lines("headroom: " + what + "\n").c_str(), stderr);
    };
    if (line.shown()) {
      options.progress = [&line](const SearchProgress& p) { line.show(p); };
    }
    const InterruptGuard guard{OnInterrupt::note};
    result = run_search(question, options);
  }
  if (!result.unsaved.empty()) {
    effort += "headroom: warning: " + result.unsaved + "; the answer is whole, the file holds an earlier state\n";
  }
  if (result.found.found()) {
    effort += effort_text(result);  // without a plan stderr is for what is wrong
  }
  return explain_search(question, std::move(result));
}

Ranks* at_hand = nullptr;

std::string explained_text(const SearchPlan& answer) {
  return taken_text(answer) + "\n" + explain_text(*answer.plan);
}

}  // namespace

unsigned threads_of(const Arguments& arguments) {
  const std::string text = arguments.one("--threads");
  if (text.empty()) {
    return 0;
  }
  unsigned threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc{} || end != text.data() + text.size() || threads < 1 || threads > 1024) {
    throw ConfigError{"--threads is a whole number from 1 to 1024, not " + quoted(text)};
  }
  return threads;
}

Ranks* ranks_at_hand() noexcept {
  return at_hand;
}

void set_ranks_at_hand(Ranks* ranks) noexcept {
  at_hand = ranks;
}

std::string search_assignment(const std::string& axis) {
  return "search." + (axis == "any" ? std::string{"strategy=any"} : axis);
}

std::string taken_text(const SearchPlan& answer) {
  const ListedPlan& taken = answer.recommended;
  return std::string{answer.result.complete ? "" : "PARTIAL: interrupted; the best of what was searched until then\n"} +
         "taken: " + std::to_string(taken.gpus) + " x " + taken.gpu + ": " + strategy_text(taken.candidate.strategy) +
         "; " + answer.why_recommended + "\n";
}

std::string no_plan_text(const SearchPlan& answer) {
  std::string text = answer.result.complete ? "no plan: nothing keeps every limit\n"
                                            : "interrupted before the search was done: no plan is taken\n";
  for (const std::string& line : answer.emptied) {
    text += "  " + line + "\n";
  }
  for (const DroppedJob& dropped : answer.result.dropped) {
    std::string name;
    for (const std::string& assignment : dropped.assignments) {
      name += (name.empty() ? "" : ", ") + assignment;
    }
    text += "  not searched: " + name + ": " + dropped.why + "\n";
  }
  return text;
}

int FoundPlan::code_without_plan() const noexcept {
  return answer.result.complete ? 1 : interrupted_code();
}

FoundPlan find_plan(const ConfigValue& root, const std::string& file, const Sources& sources) {
  FoundPlan found;
  found.answer = answered(read_search(root, file, sources), {}, found.effort);
  if (!found.answer.result.complete) {
    found.answer.plan.reset();
  }
  return found;
}

Outcome search_outcome(const Arguments& arguments,
                       const ConfigValue& root,
                       const std::string& file,
                       const Sources& sources,
                       TermSet without,
                       bool explained) {
  SearchOptions options;
  options.threads = threads_of(arguments);
  options.checkpoint = arguments.one("--checkpoint");
  SearchQuestion question = read_search(root, file, sources);
  question.without = without;
  std::string effort;
  SearchPlan answer = answered(question, std::move(options), effort);
  if (answer.plan && explained) {
    answer.plan = make_plan(std::move(answer.plan->scenario), true, PlanPart::all, without);
  }
  if (answer.plan) {
    add_nearest(*answer.plan, {}, sources);
    add_sensitivities(*answer.plan);
  }
  if (arguments.has("--trace") && answer.plan) {
    write_whole_file(arguments.one("--trace"), trace_of(*answer.plan));
  }
  const std::string format = arguments.one("--format", "text");
  return {format == "json"           ? search_json(answer)
          : format == "html"         ? report::page(report::search_documents(answer))
          : explained && answer.plan ? explained_text(answer)
                                     : search_text(answer, file),
          effort, answer.result.complete ? (answer.plan ? 0 : 1) : interrupted_code()};
}

}  // namespace headroom::cli
