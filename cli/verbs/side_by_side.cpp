// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/cli/verbs/side_by_side.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace headroom::cli {
namespace {

constexpr std::size_t most_documents = 100;

/// What can be asked, and which values of a list cannot.
struct ReadQuestions {
  std::vector<AskedQuestion> questions;
  std::vector<std::string> names;  ///< of each of them
  std::vector<RefusedPlan> refused;
};

/// Reads all. Problems of all are told together where none can be answered, and where what is asked was not listed.
ReadQuestions read_all(std::vector<NamedDocument> documents, const QuestionLibrary& library) {
  ReadQuestions read;
  Diagnostics diagnostics;
  bool listed = true;
  for (NamedDocument& document : documents) {
    try {
      read.questions.push_back(read_question(std::move(document.root), document.name, library));
      read.names.push_back(document.name);
    } catch (const ConfigError& error) {
      diagnostics.add(error);
      read.refused.push_back({document.name, first_problem(error)});
      listed = listed && document.listed;
    }
  }
  if (read.questions.empty() || !listed) {
    diagnostics.throw_if_any();
  }
  return read;
}

}  // namespace

std::vector<NamedDocument> documents_of(const Verb& verb,
                                        const Arguments& arguments,
                                        const std::vector<SweptForm>& forms,
                                        const QuestionLibrary& library) {
  const std::vector<std::string> files = arguments.many("");
  const std::size_t count = std::max<std::size_t>(1, files.size()) * forms.size();
  if (count > most_documents) {
    throw ConfigError{"the files and lists that are given make " + std::to_string(count) + " questions, above " +
                      std::to_string(most_documents) + "; list fewer values, or search them (--search)"};
  }
  std::vector<NamedDocument> documents;
  Diagnostics diagnostics;
  const auto add = [&](const std::string& name, auto tree) {
    try {
      documents.push_back({name, tree(), forms.size() > 1});
      refuse_overwrite_of(verb, arguments, documents.back().root);
      refuse_alone(documents.back().root, name, library);
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  };
  for (const SweptForm& form : forms) {
    for (const std::string& file : files) {
      add(file + (form.name.empty() ? "" : ", " + form.name), [&] { return scenario_tree(file, form.overrides); });
    }
    if (files.empty()) {
      add(form.name.empty() ? "command line" : form.name, [&] { return scenario_tree(form.overrides); });
    }
  }
  diagnostics.throw_if_any();
  return documents;
}

HeldTogether held_together(std::vector<NamedDocument> documents,
                           const Objectives& objectives,
                           const QuestionLibrary& library,
                           const AnswerOptions& options,
                           const Asking& ask) {
  const bool fleets = are_fleets(documents, library);
  const bool listed = !documents.empty() && documents.front().listed;
  ReadQuestions read = read_all(std::move(documents), library);
  std::vector<AskedQuestion>& questions = read.questions;
  const std::vector<std::string>& names = read.names;
  HeldTogether held;
  const auto answer = [&](AskedQuestion all) {
    Answered found = ask(std::move(all), options);
    held.answer = std::move(found.answer);
    return std::move(found.effort);
  };
  if (fleets) {
    asked::FleetsSideBySide all;
    all.refused = std::move(read.refused);
    for (AskedQuestion& question : questions) {
      all.fleets.push_back(std::move(std::get<asked::FleetSize>(question).question));
    }
    held.said = answer(std::move(all));
    held.complete = is_complete(*held.answer);
    return held;
  }
  asked::SideBySide all;
  all.objectives = objectives;
  all.refused = std::move(read.refused);
  std::string no_plans;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    try {
      TakenPlan taken = taken_plan(std::move(questions[i]), options, ask);
      held.said += taken.effort.empty() ? "" : names[i] + ": " + taken.effort;
      if (!taken.plan && listed && taken.complete) {
        all.refused.push_back({names[i], taken.text.substr(0, taken.text.find('\n'))});
      }
      if (!taken.plan) {
        no_plans += names[i] + ": " + taken.text;
        held.code = std::max(held.code, taken.code_without_plan());
        continue;
      }
      held.said += taken.text.empty() ? "" : names[i] + ": " + taken.text;
      held.complete = held.complete && taken.complete;
      all.scenarios.push_back(std::move(taken.plan->scenario));
    } catch (const ConfigError& error) {
      diagnostics.add(error);
      all.refused.push_back({names[i], first_problem(error)});
    }
  }
  if (!listed || all.scenarios.empty()) {
    diagnostics.throw_if_any();
    if (!no_plans.empty()) {
      held.said += no_plans;
      return held;
    }
  }
  static_cast<void>(answer(std::move(all)));
  return held;
}

Outcome held_side_by_side(std::vector<NamedDocument> documents,
                          const Objectives& objectives,
                          const Arguments& arguments,
                          const QuestionLibrary& library,
                          unsigned threads) {
  AnswerOptions options = search_options();
  options.threads = threads;
  HeldTogether held = held_together(std::move(documents), objectives, library, options, answered);
  if (!held.answer) {
    return {"", held.said, held.code};
  }
  const int code = !held.complete ? interrupted_code() : is_good(*held.answer) ? 0 : 1;
  return {written(*held.answer, arguments, threads), held.said, code, is_prose(arguments)};
}

}  // namespace headroom::cli
