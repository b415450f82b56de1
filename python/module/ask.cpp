// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/wire/simulated_at.hpp>
#include <headroom/cli/frame/plan_files.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/python/module/ask.hpp>
#include <headroom/scenarios/compare/comparison.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>

namespace headroom::python {
namespace {

class OfLibrary : public Found {
 public:
  OfLibrary(std::shared_ptr<const QuestionLibrary> library, GivenAnswer answer)
      : library_{std::move(library)}, answer_{std::move(answer)} {}

  [[nodiscard]] std::string json() const override { return find_document_format("json")->print(document_of(answer_)); }
  [[nodiscard]] std::string text(bool brief) const override {
    return brief ? to_brief(answer_) : to_text(answer_, explained, asked_as);
  }
  [[nodiscard]] std::string html() const override { return to_html(answer_, threads); }
  [[nodiscard]] std::string csv() const override { return to_csv(answer_); }
  [[nodiscard]] bool good() const override { return is_good(answer_) && complete(); }
  [[nodiscard]] bool complete() const override { return whole && is_complete(answer_); }
  [[nodiscard]] std::shared_ptr<const ConfigValue> document() const override { return question; }
  [[nodiscard]] std::string file() const override { return asked_as; }

  std::shared_ptr<const ConfigValue> question;
  std::string asked_as = "command line";
  bool explained = false;
  bool whole = true;
  unsigned threads = 0;

 private:
  std::shared_ptr<const QuestionLibrary> library_;  ///< which the answer looks into
  GivenAnswer answer_;
};

/// One call on its way to an answer.
class Asker {
 public:
  Asker(const Call& call,
        const Sorted& sorted,
        const std::shared_ptr<const QuestionLibrary>& library,
        const Stopping& stopping)
      : call_{call}, sorted_{sorted}, library_{library}, stopping_{stopping} {}

  std::shared_ptr<Found> run() {
    read_options();
    std::vector<NamedDocument> documents;
    try {
      documents = documents_of(call_, sorted_);
    } catch (const ConfigError& error) {
      problems_.add(error);
    }
    problems_.throw_if_any();
    const bool several = documents.size() > 1 || call_.function == Calls::compare;
    if (!sorted_.problems.empty()) {
      add_problems_of(std::move(documents));
    }
    if (several) {
      return together(std::move(documents));
    }
    NamedDocument& document = documents.front();
    switch (call_.function) {
      case Calls::simulate: return simulated(std::move(document));
      case Calls::scale: return scaled(std::move(document));
      default: break;
    }
    return planned(std::move(document));
  }

 private:
  /// Unknown keywords with what else is wrong: the question is read without them.
  [[noreturn]] void add_problems_of(std::vector<NamedDocument> documents) {
    for (const Diagnostic& problem : sorted_.problems) {
      problems_.add(problem);
    }
    for (NamedDocument& document : documents) {
      try {
        static_cast<void>(read_question(std::move(document.root), document.name, *library_));
      } catch (const ConfigError& error) {
        problems_.add(error);
      }
    }
    problems_.throw_if_any();
    throw std::logic_error{"a keyword that is none, and no problem"};
  }

  void problem(const std::string& keyword, const std::string& message) { problems_.add(keyword, {}, message); }

  [[nodiscard]] std::optional<std::int64_t> count(const std::string& keyword) {
    if (!sorted_.own.has(keyword)) {
      return std::nullopt;
    }
    const std::string typed = sorted_.own.one(keyword);
    const std::optional<double> shortened = parse_short_number(typed);
    const std::optional<std::int64_t> value = integer_of(shortened ? shortest_text(*shortened) : typed);
    if (!value) {
      problem(keyword + "=" + typed, quoted(typed) + " is no integer");
    }
    return value;
  }

  [[nodiscard]] std::optional<double> number(const std::string& keyword) {
    if (!sorted_.own.has(keyword)) {
      return std::nullopt;
    }
    const std::string typed = sorted_.own.one(keyword);
    const std::optional<double> value = whole_real(typed);
    if (!value || !std::isfinite(*value)) {
      problem(keyword + "=" + typed, quoted(typed) + " is no number");
    }
    return value;
  }

  [[nodiscard]] bool flag(const std::string& keyword) {
    const std::string typed = sorted_.own.one(keyword, "false");
    if (typed != "true" && typed != "false") {
      problem(keyword + "=" + typed, "must be True or False");
    }
    return typed == "true";
  }

  void read_options() {
    options_.stop = stopping_.stop;
    options_.time_over = stopping_.time_over;
    options_.explain = flag("explain");
    options_.checkpoint = sorted_.own.one("checkpoint");
    const std::int64_t threads = count("threads").value_or(0);
    if (threads < 0 || threads > most_threads) {
      problem("threads=" + std::to_string(threads),
              "must be 1 to " + std::to_string(most_threads) + ", or absent for as many as the machine has");
    } else {
      options_.threads = static_cast<unsigned>(threads);
    }
    const std::string part = sorted_.own.one("only", "all");
    if (part != "all" && part != "memory") {
      problem("only=" + part, "knows 'memory' alone");
    }
    options_.part = part == "memory" ? PlanPart::memory : PlanPart::all;
    try {
      options_.without = parse_terms(sorted_.own.many("without"));
    } catch (const ConfigError& error) {
      problems_.add(error);
    }
  }

  /// The answer to a question; in a thread of its own where it may take long.
  [[nodiscard]] GivenAnswer answered(AskedQuestion question, bool quick) const {
    if (quick) {
      return answer_of(std::move(question), options_);
    }
    std::optional<GivenAnswer> answer;
    stopping_.run([&] { answer = answer_of(std::move(question), options_); });
    return *std::move(answer);
  }

  [[nodiscard]] std::shared_ptr<OfLibrary> found(GivenAnswer answer, std::string file) const {
    auto one = std::make_shared<OfLibrary>(library_, std::move(answer));
    one->asked_as = std::move(file);
    one->explained = options_.explain;
    one->threads = options_.threads;
    return one;
  }

  [[nodiscard]] std::shared_ptr<Found> together(std::vector<NamedDocument> documents) {
    if (call_.function == Calls::simulate || call_.function == Calls::scale) {
      throw ConfigError{"one question is asked at a time, and lists or scenarios here make " +
                        std::to_string(documents.size()) + "; headroom.compare holds several side by side"};
    }
    if (documents.size() < 2) {
      throw ConfigError{
          "a comparison holds two questions or more side by side, and here is one; give more scenarios, or "
          "a list of values for a key"};
    }
    std::optional<cli::HeldTogether> held;
    const cli::Asking each = [](AskedQuestion question, const AnswerOptions& options) {
      return cli::Answered{answer_of(std::move(question), options), ""};
    };
    stopping_.run([&] { held = cli::held_together(std::move(documents), {}, *library_, options_, each); });
    if (!held->answer) {
      std::string why = held->said;
      while (!why.empty() && why.back() == '\n') {
        why.pop_back();
      }
      throw ConfigError{why};
    }
    std::shared_ptr<OfLibrary> one = found(*std::move(held->answer), "command line");
    one->whole = held->complete;
    return one;
  }

  [[nodiscard]] std::shared_ptr<Found> planned(NamedDocument document) {
    ConfigValue& root = document.root;
    if (options_.part == PlanPart::memory) {
      // Memory needs no price, so a price list without an offer for the SKU must not fail.
      root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
    }
    const bool searches = asks_for_search(root);
    if (call_.function == Calls::search && !searches) {
      Diagnostics diagnostics;
      apply_override(root, Assignment{"search.strategy=any", "search=any"}, diagnostics);
      diagnostics.throw_if_any();
    }
    const DocumentKind kind = kind_of(root, *library_);
    const bool quick = kind == DocumentKind::one_plan || kind == DocumentKind::network;
    const auto question = std::make_shared<const ConfigValue>(root);
    AskedQuestion asked = read_question(std::move(root), document.name, *library_);
    if (auto* const one = std::get_if<asked::OnePlan>(&asked)) {
      if (sorted_.own.has("engine_log")) {
        if (!std::holds_alternative<ServeScenario>(one->scenario.question)) {
          throw ConfigError{"engine_log is read for serving, and this question is one of training"};
        }
        cli::take_engine_log(sorted_.own.one("engine_log"), one->scenario);
      }
      options_.runs = cli::read_given_runs(sorted_.own.many("runs"), one->scenario, options_.without);
    }
    std::shared_ptr<OfLibrary> one = found(answered(std::move(asked), quick), document.name);
    one->question = question;
    return one;
  }

  /// The scenario of a question about one plan. ConfigError for others.
  [[nodiscard]] Scenario stated(const NamedDocument& document, std::string_view what) const {
    const DocumentKind kind = kind_of(document.root, *library_);
    if (kind != DocumentKind::one_plan && kind != DocumentKind::fleet) {
      throw ConfigError{
          std::string{what} +
          " is asked of what one plan states, and this question is of another kind; headroom.plan answers "
          "it"};
    }
    return read_scenario(document.root, document.name, library_->sources);
  }

  [[nodiscard]] std::shared_ptr<Found> finished(AskedQuestion asked, const NamedDocument& document) const {
    std::shared_ptr<OfLibrary> one = found(answered(std::move(asked), false), document.name);
    one->question = std::make_shared<const ConfigValue>(document.root);
    return one;
  }

  [[nodiscard]] std::shared_ptr<Found> simulated(NamedDocument document) {
    for (const auto& [keyword, key] : {std::pair{"requests", "traffic.requests"}, std::pair{"seed", "traffic.seed"},
                                       std::pair{"replicas", "fleet.replicas"}}) {
      if (sorted_.own.has(keyword)) {
        const std::string value = sorted_.own.one(keyword);
        apply_override(document.root, Assignment{std::string{key} + "=" + value, std::string{keyword} + "=" + value},
                       problems_);
      }
    }
    problems_.throw_if_any();
    Scenario scenario = stated(document, "a simulation");
    if (!std::holds_alternative<ServeScenario>(scenario.question)) {
      throw ConfigError{"a simulation serves requests, and this question is one of training; headroom.plan answers it"};
    }
    const std::string typed = sorted_.own.one("rate");
    const std::optional<Hertz> rate = typed.empty() ? std::nullopt : std::optional{request_rate("rate", typed)};
    // Told as the command line tells it, so that both print the same bytes.
    return finished(simulated_at(std::move(scenario), rate, "--rate", typed), document);
  }

  [[nodiscard]] std::shared_ptr<Found> scaled(NamedDocument document) {
    scaling::Request request;
    request.from = count("from_");
    request.to = count("to");
    request.kind = flag("weak") ? scaling::Kind::weak : scaling::Kind::strong;
    request.least = number("threshold").value_or(request.least);
    if (sorted_.own.has("budget")) {
      read_budget(request.budget);
    }
    std::optional<scaling::MeasuredSpeedup> measured;
    if (const std::optional<double> speedup = number("measured_speedup")) {
      measured.emplace();
      measured->speedup = *speedup;
      measured->gpus = count("at").value_or(0);
      measured->of = count("over").value_or(1);
      if (measured->gpus < 1) {
        problem("measured_speedup", "needs at, the GPUs that it was measured on");
      }
    }
    problems_.throw_if_any();
    Scenario scenario = stated(document, "a series of GPU counts");
    if (measured) {
      return finished(asked::SpeedupSeen{std::move(scenario), *measured}, document);
    }
    return finished(asked::GpuSeries{std::move(scenario), request}, document);
  }

  void read_budget(scaling::Budget& budget) {
    const std::string typed = sorted_.own.one("budget");
    const bool rate = typed.find('/') != std::string::npos;
    const std::variant<double, TextError> parsed =
        parse_quantity(typed, rate ? dimension_of<DollarsPerSecond> : dimension_of<Dollars>);
    if (const auto* const error = std::get_if<TextError>(&parsed)) {
      problem("budget=" + typed, error->message);
    } else if (!(std::get<double>(parsed) > 0.0)) {
      problem("budget=" + typed, "must be above 0");
    } else if (rate) {
      budget.rate = DollarsPerSecond{std::get<double>(parsed)};
    } else {
      budget.run = Dollars{std::get<double>(parsed)};
    }
  }

  const Call& call_;
  const Sorted& sorted_;
  const std::shared_ptr<const QuestionLibrary>& library_;
  const Stopping& stopping_;
  AnswerOptions options_;
  Diagnostics problems_;
};

}  // namespace

std::shared_ptr<const Found> ask(const Call& call,
                                 const Sorted& sorted,
                                 const std::shared_ptr<const QuestionLibrary>& library,
                                 const Stopping& stopping) {
  return Asker{call, sorted, library, stopping}.run();
}

double seconds_of(const std::string& text, const std::string& keyword) {
  const std::optional<double> bare = whole_real(text);
  const std::variant<double, TextError> parsed =
      bare ? std::variant<double, TextError>{*bare} : parse_quantity(text, dimension_of<Seconds>);
  if (const auto* const error = std::get_if<TextError>(&parsed)) {
    throw ConfigError{{Diagnostic{keyword + "=" + text, {}, error->message}}};
  }
  const double seconds = std::get<double>(parsed);
  if (!(seconds > 0.0) || !std::isfinite(seconds)) {
    throw ConfigError{{Diagnostic{keyword + "=" + text, {}, "must be a time above 0, in seconds or with its unit"}}};
  }
  return seconds;
}

}  // namespace headroom::python
