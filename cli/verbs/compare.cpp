// SPDX-License-Identifier: Apache-2.0
// `headroom compare`: several plans next to each other.
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/progress.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/verbs/compare_overlay.hpp>
#include <headroom/cli/verbs/harness.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {

extern const Verb compare_verb;

namespace compare_parts {
namespace {

constexpr std::size_t most_plans = 16;

enum class Asks : std::uint8_t { plans, overlay, harness };
constexpr std::array forms{
    Form{"a comparison of scenarios", "several scenarios", formats_in<"text|{}|html">},
    Form{"what an overlay changes", "--overlay FOLDER", "text"},
    Form{"a matrix of cells", "--harness FILE.csv", formats_in<"text|{}">},
};

constexpr std::array options{
    Option{"--set-each", OptionKind::many, "KEY=VALUE", "override a key of every scenario; repeats"},
    Option{"--overlay", OptionKind::one, "FOLDER", "one scenario without and with a data folder: what changes"}
        .of(Asks::overlay)
        .that(FileUse::reads),
    Option{
        "--harness", OptionKind::one, "FILE.csv",
        "one scenario over a matrix of SKUs and scales: what to expect of each cell, and whether measured rates hold"}
        .of(Asks::harness)
        .that(FileUse::reads),
    Option{"--tolerance", OptionKind::one, "SHARE", "with --harness; default: what past predictions were off by"}.of(
        Asks::harness),
    Option{"--deadline", OptionKind::one, "TIME", "training: what the whole run may take, e.g. \"90 d\""}.of(
        Asks::plans),
    Option{"--ttft", OptionKind::one, "TIME", "serving: what the first token may take, e.g. \"500 ms\""}.of(
        Asks::plans),
    Option{"--tpot", OptionKind::one, "TIME", "serving: what each further token may take, e.g. \"50 ms\""}.of(
        Asks::plans),
    Option{within_option, OptionKind::one, "TIME",
           "of scenarios that search: compare what is found until then, e.g. '2 s'; exit code 124 if that is partial"}
        .of(Asks::plans),
    brief_option.of(Asks::plans),
    Option{"--format", OptionKind::one, formats_in<"text|{}|html">,
           meanings_in<"text for people (default), {}, html: one file with charts">},
};

/// Scenarios to compare; for a scenario that searches, the plan taken.
struct Compared {
  std::vector<Scenario> scenarios;
  std::string said;      ///< remarks of the searches, for stderr
  std::string no_plans;  ///< why searches found no plan
  bool complete = true;  ///< every search went to its end
  int code = 1;          ///< exit code when plans are missing
};

void add_searched(const ConfigValue& root,
                  const std::string& file,
                  const QuestionLibrary& library,
                  Compared& compared) {
  FoundPlan found = find_plan(root, file, library);
  compared.said += file + ": " + found.effort;
  if (!found.answer.plan) {
    compared.no_plans += file + ": " + no_plan_text(found.answer);
    compared.code = std::max(compared.code, found.code_without_plan());
    return;
  }
  compared.said += file + ": " + taken_text(found.answer);
  compared.complete = compared.complete && found.answer.result.complete;
  compared.scenarios.push_back(std::move(found.answer.plan->scenario));
}

/// Reads all files and reports all their problems together.
Compared read_all(const Arguments& arguments, const QuestionLibrary& library) {
  const std::vector<Assignment> overrides = assignments_of(arguments, "--set-each");
  Compared compared;
  Diagnostics diagnostics;
  for (const std::string& file : arguments.many("")) {
    try {
      const ConfigValue root = priced_tree(compare_verb, arguments, file, overrides, library);
      const DocumentKind kind = kind_of(root, library);
      if (kind == DocumentKind::fleet) {
        throw ConfigError{quoted(file) +
                          " has [traffic]: 'compare' holds plans of a fixed load side by side. Run 'headroom "
                          "plan " +
                          file +
                          "' of each fleet; or list what differs between them under [search] of one file "
                          "(gpu, engine, weights, tp, prices ...), and 'headroom plan' ranks the fleets that keep the "
                          "promises by their cost"};
      }
      if (kind == DocumentKind::search) {
        add_searched(root, file, library, compared);
      } else {
        compared.scenarios.push_back(read_scenario(root, file, library.sources));
      }
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  }
  diagnostics.throw_if_any();
  return compared;
}

Outcome run_compare(const Arguments& arguments) {
  const Asks asks = arguments.has("--overlay")   ? Asks::overlay
                    : arguments.has("--harness") ? Asks::harness
                                                 : Asks::plans;
  require_form(compare_verb, asks, arguments);
  if (asks != Asks::plans) {
    return asks == Asks::overlay ? compare_overlay(arguments) : run_harness(arguments);
  }
  Diagnostics diagnostics;
  Objectives objectives;
  objectives.duration = quantity_option<Seconds>(arguments, "--deadline", diagnostics);
  objectives.ttft = quantity_option<Seconds>(arguments, "--ttft", diagnostics);
  objectives.tpot = quantity_option<Seconds>(arguments, "--tpot", diagnostics);
  diagnostics.throw_if_any();
  if (arguments.one("--format") == "html") {
    report::require_charts();
  }
  static_cast<void>(asks_for_brief(arguments));  // refused before anything is computed
  const QuestionLibrary library = QuestionLibrary::standard();
  const TimeLimit limit{arguments};
  Compared compared = read_all(arguments, library);
  if (!compared.no_plans.empty()) {
    return {"", compared.said + compared.no_plans, compared.code};
  }
  const GivenAnswer answer = answer_of(asked::SideBySide{std::move(compared.scenarios), objectives});
  return {written(answer, arguments), compared.said,
          !compared.complete ? interrupted_code()
          : is_good(answer)  ? 0
                             : 1,
          is_prose(arguments)};
}

constexpr std::string_view examples =
    "  headroom compare megatron.toml fsdp.toml\n"
    "  headroom compare h100.toml h200.toml b200.toml --set-each training.tokens=1e12 --deadline '60 d'\n"
    "  headroom compare h200.toml --overlay h200-rack-7/overlay\n"
    "  headroom compare llama3-8b.toml --harness nightly.csv --tolerance '10 %'\n";

}  // namespace
}  // namespace compare_parts

const Verb compare_verb{"compare",
                        "plans side by side: by term, by dollar, and whether they differ at all",
                        "SCENARIO.toml",
                        compare_parts::most_plans,
                        compare_parts::options,
                        compare_parts::examples,
                        compare_parts::run_compare,
                        nullptr,
                        compare_parts::forms};

}  // namespace headroom::cli
