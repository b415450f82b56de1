// SPDX-License-Identifier: Apache-2.0
// `headroom compare`: plans side by side.
#include <headroom/cli/render_comparison.hpp>
#include <headroom/cli/scenario_options.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {
namespace {

constexpr std::size_t most_plans = 16;

constexpr std::array options{
    Option{"--set-each", OptionKind::many, "KEY=VALUE", "override a key of every scenario; repeats"},
    Option{"--deadline", OptionKind::one, "TIME", "training: what the whole run may take, e.g. \"90 d\""},
    Option{"--ttft", OptionKind::one, "TIME", "serving: what the first token may take, e.g. \"500 ms\""},
    Option{"--tpot", OptionKind::one, "TIME", "serving: what each further token may take, e.g. \"50 ms\""},
    Option{"--format", OptionKind::one, "text|json", "text for people (default), json with raw SI"},
};

/// Every file's problems at once.
std::vector<Scenario> read_all(const Arguments& arguments, const Sources& sources) {
  const std::vector<std::string> overrides = arguments.many("--set-each");
  std::vector<Scenario> scenarios;
  Diagnostics diagnostics;
  for (const std::string& file : arguments.many("")) {
    try {
      scenarios.push_back(scenario_of(file, overrides, sources, "compare"));
    } catch (const ConfigError& error) {
      for (const Diagnostic& d : error.diagnostics()) {
        diagnostics.add(d.file, d.at, d.message);
      }
    }
  }
  diagnostics.throw_if_any();
  return scenarios;
}

Outcome run_compare(const Arguments& arguments) {
  Diagnostics diagnostics;
  Objectives objectives;
  objectives.duration = quantity_option<Seconds>(arguments, "--deadline", diagnostics);
  objectives.ttft = quantity_option<Seconds>(arguments, "--ttft", diagnostics);
  objectives.tpot = quantity_option<Seconds>(arguments, "--tpot", diagnostics);
  diagnostics.throw_if_any();
  const Sources sources = Sources::standard();
  const Comparison comparison = compare_plans(read_all(arguments, sources), objectives);
  const bool any = std::any_of(comparison.plans.begin(), comparison.plans.end(),
                               [](const ComparedPlan& p) { return p.plan.feasible(); });
  const bool json = arguments.one("--format", "text") == "json";
  return {json ? comparison_json(comparison) : comparison_text(comparison), "", any ? 0 : 1};
}

constexpr std::string_view examples =
    "  headroom compare megatron.toml fsdp.toml\n"
    "  headroom compare h100.toml h200.toml b200.toml --set-each training.tokens=1e12 --deadline '60 d'\n";

}  // namespace

const Verb compare_verb{"compare",       "plans side by side: by term, by dollar, and whether they differ at all",
                        "SCENARIO.toml", most_plans,
                        options,         examples,
                        run_compare};

}  // namespace headroom::cli
