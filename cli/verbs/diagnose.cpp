// SPDX-License-Identifier: Apache-2.0
// `headroom diagnose`: why a run is slow, from what it left.
#include <headroom/calibrate/diagnosis/gpu_ability.hpp>
#include <headroom/calibrate/diagnosis/trace_difference.hpp>
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/verbs/diagnose_plan.hpp>
#include <headroom/core/diagnostic.hpp>

#include <array>
#include <string>
#include <vector>

namespace headroom::cli {

extern const Verb diagnose_verb;

namespace diagnose_parts {
namespace {

constexpr std::array options{
    Option{"--against", OptionKind::one, "SCENARIO.toml",
           "a scenario: its plan's terms beside the run's parts, or its plan beside a load"}
        .that(FileUse::reads),
    Option{"--set", OptionKind::many, "KEY=VALUE", "override a key of that scenario; repeats"}.with("--against"),
    Option{"--learn", OptionKind::one, "FILE.csv", "add the run's step as a row that 'headroom plan --runs' reads"}
        .with("--against")
        .that(FileUse::keeps),
    Option{"--format", OptionKind::one, formats_in<"text|{}|html">,
           meanings_in<"text for people (default), {}, html: a page with drawings">},
    Option{"--before", OptionKind::many, "FILE", "a trace of the same program before a change; repeats, one a rank"}
        .that(FileUse::reads),
};

constexpr std::size_t most_files = 1024;

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name what the run left, e.g. 'headroom diagnose rank0.json.gz rank1.json.gz'"};
  }
  if (files.size() > most_files) {
    throw ConfigError{"diagnose reads at most " + std::to_string(most_files) + " files; name fewer ranks"};
  }
  Evidence evidence = read_evidence(files);
  tell_abilities(own_catalog(), evidence.ranks);
  RunReading reading = reading_of(evidence);
  if (const std::vector<std::string> before = arguments.many("--before"); !before.empty()) {
    Evidence old = read_evidence(before);
    if (old.ranks.empty() || evidence.ranks.empty()) {
      throw ConfigError{"--before compares traces of profilers; name one before the change and one after it"};
    }
    add_difference(reading, old.ranks, evidence.ranks);
  }
  return diagnosed(arguments, reading);
}

constexpr std::string_view examples =
    "  headroom diagnose trace.json.gz\n"
    "  headroom diagnose rank0.json.gz rank1.json.gz --format html\n"
    "  headroom diagnose after.json.gz --before before.json.gz\n"
    "  headroom diagnose rank0.json.gz --against scenario.toml --learn mine.csv\n"
    "  headroom diagnose smi.csv phases.csv train.log\n"
    "  headroom diagnose bench.json --against serve.toml\n";

}  // namespace
}  // namespace diagnose_parts

const Verb diagnose_verb{"diagnose",
                         "why a run is slow: where its time went, causes, and the step without each",
                         "FILE",
                         1024,
                         diagnose_parts::options,
                         diagnose_parts::examples,
                         diagnose_parts::run};

}  // namespace headroom::cli
