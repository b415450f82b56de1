// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/door/watch.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/wire/form.hpp>
#include <headroom/answers/wire/questions.hpp>
#include <headroom/answers/wire/side_by_side.hpp>
#include <headroom/answers/wire/simulated_at.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {
namespace {

constexpr std::size_t most_beside = 16;  // questions of a comparison
constexpr double least_seconds = 1e-3;   // of a question whose time is over before it is asked

/// How an answer is to be printed.
struct Print {
  const DocumentFormat* document = nullptr;  ///< null: `other`
  std::string other;
};

/// What every question of a request may say beside its documents.
class Asking {
 public:
  Asking(const QuestionLibrary& library, const ConfigValue& tree, const WireLimits& limits)
      : library_{library}, limits_{limits}, form_{tree, "", problems_} {}

  [[nodiscard]] ConfigTable& form() noexcept { return form_; }
  [[nodiscard]] Diagnostics& problems() noexcept { return problems_; }

  /// The scenario of the request, with its config.json as the model.
  ConfigValue document() {
    const ConfigValue* const set = form_.value("set");
    const ConfigValue* const scenario = form_.value("scenario");
    if (scenario == nullptr) {
      form_.missing("scenario", ", the tables of a scenario as an object, or the text of its TOML");
      problems_.throw_if_any();
    }
    ConfigValue document = wire_document(*scenario, set, "/scenario", limits_, problems_);
    broken_ = !problems_.empty();
    take_config(document);
    return document;
  }

  /// Those of a comparison, each what its column is called.
  std::vector<NamedDocument> documents() {
    const ConfigValue* const set = form_.value("set");
    const ConfigValue* const scenarios = form_.value("scenarios");
    std::vector<NamedDocument> all;
    if (scenarios == nullptr) {
      form_.missing("scenarios", ", a list of the scenarios that are held side by side");
    } else if (scenarios->kind != ConfigValue::Kind::array || scenarios->items.size() < 2 ||
               scenarios->items.size() > most_beside) {
      form_.problem("scenarios", "'scenarios' must be a list of 2 to " + std::to_string(most_beside) +
                                     " scenarios; a plan answers one");
    } else {
      for (std::size_t i = 0; i < scenarios->items.size(); ++i) {
        const std::string pointer = "/scenarios/" + std::to_string(i);
        ConfigValue document = wire_document(scenarios->items[i], set, pointer, limits_, problems_);
        all.push_back({wire_document_name(pointer), std::move(document)});
      }
    }
    broken_ = !problems_.empty();
    return all;
  }

  /// What ends every reading of the form: the format, the time, and members that nobody knows.
  Print finish(bool rows) {
    Print print;
    print.other = form_.maybe_text("format").value_or("json");
    print.document = find_document_format(print.other);
    constexpr std::array<std::string_view, 4> others{"text", "brief", "html", "csv"};
    if (print.document == nullptr && std::find(others.begin(), others.end(), print.other) == others.end()) {
      std::string known;
      for (const DocumentFormat* const format : document_formats) {
        known += std::string{format->name} + ", ";
      }
      form_.problem("format", "'format' is " + quoted(print.other) + ", none of " + known + "text, brief, html, csv");
    }
    if (print.other == "csv" && !rows) {
      form_.problem("format", "'format' is csv, whose rows this question has none of: take json, text or html");
    }
    if (const std::optional<Seconds> within = form_.maybe_quantity<Seconds>("within")) {
      if (limits_.seconds > 0.0 && within->raw() > limits_.seconds) {
        form_.problem("within", "'within' is " + format(*within) + ", above the limit here of " +
                                    format(Seconds{limits_.seconds}));
      }
      seconds_ = within->raw();
    } else if (limits_.seconds > 0.0) {
      seconds_ = limits_.seconds;
    }
    form_.finish();
    if (print.other == "html") {
      report::require_charts();
    }
    return print;
  }

  /// What `read` makes of the documents; ConfigError with its problems and those of the form.
  template <class Read>
  auto read(Read read) -> decltype(read()) {
    if (broken_) {
      problems_.throw_if_any();  // what is no document has no problems of its own
    }
    std::optional<decltype(read())> made;
    try {
      made.emplace(read());
    } catch (const ConfigError& error) {
      problems_.add(error);
    }
    problems_.throw_if_any();
    return *std::move(made);
  }

  [[nodiscard]] AnswerOptions options() const {
    AnswerOptions how;
    how.threads = limits_.threads;
    return how;
  }
  /// That are left of the answer's time; nullopt: it has no limit.
  [[nodiscard]] std::optional<double> seconds() const noexcept {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return seconds_ ? std::optional{std::max(least_seconds, *seconds_ - passed)} : std::nullopt;
  }
  [[nodiscard]] const QuestionLibrary& question_library() const noexcept { return library_; }
  [[nodiscard]] unsigned threads() const noexcept { return limits_.threads; }
  /// On what a config.json leaves blank.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  void take_config(ConfigValue& document) {
    const ConfigValue* const config = form_.value("config");
    if (config == nullptr) {
      return;
    }
    if (document.find("model") != nullptr) {
      form_.problem("config", "'config' describes the model, and the scenario states 'model' too; leave one out");
      return;
    }
    try {
      ImportedConfig imported = imported_config(*config, "/config");
      document.entries.emplace_back("model", std::move(imported.model));
      remarks_ = std::move(imported.remarks);
    } catch (const ConfigError& error) {
      problems_.add(error);
    }
  }

  const QuestionLibrary& library_;
  const WireLimits& limits_;
  Diagnostics problems_;
  ConfigTable form_;
  bool broken_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<double> seconds_;
  std::vector<std::string> remarks_;
};

std::string_view content_of(const std::string& format) {
  return format == "html"  ? "text/html; charset=utf-8"
         : format == "csv" ? "text/csv; charset=utf-8"
                           : "text/plain; charset=utf-8";
}

WireReply printed(const GivenAnswer& answer, const Print& print, bool explained, unsigned threads) {
  WireReply reply;
  reply.whole = is_complete(answer);
  reply.good = is_good(answer) && reply.whole;
  if (print.document != nullptr) {
    reply.content_type = print.document == document_formats.front() ? json_content : content_of("text");
    reply.body = print.document->print(document_of(answer));
    return reply;
  }
  reply.content_type = content_of(print.other);
  reply.body = print.other == "html"    ? to_html(answer, threads)
               : print.other == "csv"   ? to_csv(answer)
               : print.other == "brief" ? to_brief(answer)
                                        : to_text(answer, explained, "scenario.toml");
  return reply;
}

GivenAnswer answered_in_time(AskedQuestion question, AnswerOptions options, std::optional<double> seconds) {
  AnswerWatch watch{seconds, nullptr};
  watch.set(options);
  return answer_of(std::move(question), options);
}

WireReply plan(Asking& asking, WireVerb verb) {
  ConfigTable& form = asking.form();
  ConfigValue root = asking.document();
  AnswerOptions options = asking.options();
  options.explain = verb == WireVerb::explain;
  if (const std::optional<std::string> only = form.maybe_text("only")) {
    if (*only != "memory") {
      form.problem("only", "'only' knows \"memory\", not " + quoted(*only));
    }
    options.part = PlanPart::memory;
    // Memory needs no price, so a price list without an offer for the SKU must not fail.
    root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
  }
  if (form.value("without") != nullptr) {
    try {
      options.without = parse_terms(form.texts("without"));
    } catch (const ConfigError& error) {
      form.problem("without", error.diagnostics().front().message);
    }
  }
  const DocumentKind kind = kind_of(root, asking.question_library());
  if (verb == WireVerb::search && root.find("search") == nullptr && kind != DocumentKind::fleet &&
      kind != DocumentKind::box) {
    form.missing("search",
                 " of the scenario: a search needs axes to free, such as {\"search\": {\"tp\": \"any\"}}; a plan "
                 "answers what is stated");
  }
  const Print print = asking.finish(kind == DocumentKind::cluster || kind == DocumentKind::post_train);
  AskedQuestion question =
      asking.read([&] { return read_question(std::move(root), wire_document_name(""), asking.question_library()); });
  if (auto* const one = std::get_if<asked::OnePlan>(&question)) {
    one->scenario.assumptions.insert(one->scenario.assumptions.end(), asking.remarks().begin(), asking.remarks().end());
  }
  return printed(answered_in_time(std::move(question), options, asking.seconds()), print, options.explain,
                 asking.threads());
}

/// The scenario of what is stated, for questions that need it whole.
Scenario stated(Asking& asking, ConfigValue root) {
  return asking.read([&] {
    refuse_alone(root, wire_document_name(""), asking.question_library());
    return read_scenario(std::move(root), wire_document_name(""), asking.question_library().sources);
  });
}

WireReply simulate(Asking& asking) {
  ConfigTable& form = asking.form();
  ConfigValue root = asking.document();
  std::optional<Hertz> rate;
  std::string typed;
  if (const ConfigValue* const stated = form.value("rate")) {
    typed = stated->kind == ConfigValue::Kind::integer  ? std::to_string(stated->integer)
            : stated->kind == ConfigValue::Kind::number ? shortest_text(stated->number)
                                                        : stated->text;
    try {
      rate = request_rate("'rate'", typed);
    } catch (const ConfigError& error) {
      form.problem("rate", error.diagnostics().front().message);
    }
  }
  const Print print = asking.finish(false);
  Scenario scenario = stated(asking, std::move(root));
  if (!std::holds_alternative<ServeScenario>(scenario.question)) {
    form.problem("scenario", "a simulation serves requests, and this scenario trains: a plan answers it");
    asking.problems().throw_if_any();
  }
  return printed(
      answered_in_time(simulated_at(std::move(scenario), rate, "'rate'", typed), asking.options(), asking.seconds()),
      print, false, asking.threads());
}

std::optional<double> share_of(ConfigTable& form, std::string_view key) {
  return form.maybe_number(key, {0.0, 1.0});
}

WireReply scale(Asking& asking) {
  ConfigTable& form = asking.form();
  ConfigValue root = asking.document();
  constexpr Range<double> speedups{1e-6, 1e9};
  const std::optional<double> speedup = form.maybe_number("measured_speedup", speedups);
  scaling::MeasuredSpeedup measured;
  scaling::Request request;
  if (speedup) {
    measured.speedup = *speedup;
    measured.gpus = form.integer("at");
    measured.of = form.maybe_integer("over").value_or(1);
  } else {
    request.from = form.maybe_integer("from");
    request.to = form.maybe_integer("to");
    request.kind = form.maybe_boolean("weak").value_or(false) ? scaling::Kind::weak : scaling::Kind::strong;
    request.least = share_of(form, "threshold").value_or(request.least);
    const std::optional<std::string> budget = form.maybe_text("budget");
    if (budget && budget->find('/') != std::string::npos) {
      request.budget.rate = form.quantity<DollarsPerSecond>("budget");
    } else if (budget) {
      request.budget.run = form.quantity<Dollars>("budget");
    }
  }
  const Print print = asking.finish(!speedup);
  Scenario scenario = stated(asking, std::move(root));
  AskedQuestion question = speedup ? AskedQuestion{asked::SpeedupSeen{std::move(scenario), measured}}
                                   : AskedQuestion{asked::GpuSeries{std::move(scenario), request}};
  return printed(answered_in_time(std::move(question), asking.options(), asking.seconds()), print, false,
                 asking.threads());
}

using NamedQuestion = std::pair<std::string, AskedQuestion>;

/// The plan of each question that is no fleet, or why it takes none.
asked::SideBySide taken(Asking& asking, std::vector<NamedQuestion> questions, const Objectives& objectives) {
  asked::SideBySide all;
  all.objectives = objectives;
  for (auto& [name, question] : questions) {
    AnswerOptions options = asking.options();
    options.beside = false;
    std::optional<Plan> plan = plan_taken(answered_in_time(std::move(question), options, asking.seconds()));
    if (plan) {
      all.scenarios.push_back(std::move(plan->scenario));
    } else {
      all.refused.push_back({name, "nothing was found that keeps its limits"});
    }
  }
  if (all.scenarios.empty()) {
    throw ConfigError{"none of the scenarios takes a plan; ask a plan of each"};
  }
  return all;
}

WireReply compare(Asking& asking) {
  ConfigTable& form = asking.form();
  std::vector<NamedDocument> documents = asking.documents();
  Objectives objectives;
  objectives.duration = form.maybe_quantity<Seconds>("deadline");
  objectives.ttft = form.maybe_quantity<Seconds>("ttft");
  objectives.tpot = form.maybe_quantity<Seconds>("tpot");
  const Print print = asking.finish(false);
  const bool fleets = asking.read([&] {
    for (const NamedDocument& document : documents) {
      refuse_alone(document.root, document.name, asking.question_library());
    }
    return are_fleets(documents, asking.question_library());
  });
  std::vector<NamedQuestion> questions = asking.read([&] {
    std::vector<NamedQuestion> all;
    Diagnostics problems;
    for (NamedDocument& document : documents) {
      try {
        all.emplace_back(document.name,
                         read_question(std::move(document.root), document.name, asking.question_library()));
      } catch (const ConfigError& error) {
        problems.add(error);
      }
    }
    problems.throw_if_any();
    return all;
  });
  AskedQuestion question;
  if (fleets) {
    asked::FleetsSideBySide all;
    for (NamedQuestion& one : questions) {
      all.fleets.push_back(std::move(std::get<asked::FleetSize>(one.second).question));
    }
    question = std::move(all);
  } else {
    question = taken(asking, std::move(questions), objectives);
  }
  return printed(answered_in_time(std::move(question), asking.options(), asking.seconds()), print, false,
                 asking.threads());
}

}  // namespace

ImportedConfig imported_config(const ConfigValue& config, const std::string& pointer) {
  const std::string file = wire_document_name(pointer);
  Diagnostics problems;
  Diagnostics remarks;
  Architecture architecture;
  if (config.kind == ConfigValue::Kind::text) {
    return imported_config(parse_json(config.text, file), pointer);
  }
  if (config.kind == ConfigValue::Kind::table) {
    architecture = import_hf_config(config, *config.file, problems, remarks);
  } else {
    problems.add(*config.file, config.at,
                 "must be a config.json of Hugging Face, as an object or as its text, not " +
                     std::string{kind_name(config.kind)});
  }
  problems.throw_if_any();
  // A request has no file that the model could be called by.
  const ConfigValue* const named = config.find("_name_or_path");
  architecture.id = "custom";
  architecture.name = named != nullptr && !named->text.empty() ? named->text : architecture.id;
  architecture.source = "Hugging Face config.json";
  ImportedConfig imported;
  imported.id = architecture.id;
  imported.toml = architecture_toml(architecture);
  imported.model = parse_toml(imported.toml, file);
  for (const Diagnostic& remark : remarks.sorted()) {
    imported.remarks.push_back(remark.message);
  }
  return imported;
}

WireReply wire_answer(const QuestionLibrary& library,
                      WireVerb verb,
                      const ConfigValue& tree,
                      const WireLimits& limits) {
  Asking asking{library, tree, limits};
  switch (verb) {
    case WireVerb::simulate: return simulate(asking);
    case WireVerb::scale: return scale(asking);
    case WireVerb::compare: return compare(asking);
    default: return plan(asking, verb);
  }
}

}  // namespace headroom
