// SPDX-License-Identifier: Apache-2.0
// `headroom gate`: whether a candidate's benchmark is slower than a baseline's, for a build that must not become so.
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/gate/run_gate.hpp>
#include <headroom/cli/frame/form_reader.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/render_run_gate.hpp>
#include <headroom/core/diagnostic.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::cli {

extern const Verb gate_verb;

namespace gate_parts {
namespace {

/// The exit code of runs that do not tell; 0 to 3 and 124 mean what they mean everywhere.
constexpr int cannot_tell = 4;

constexpr std::array options{
    Option{"--baseline", OptionKind::many, "FILE", "a further run of the baseline; repeats"}.that(FileUse::reads),
    Option{"--candidate", OptionKind::many, "FILE", "a further run of the candidate; repeats"}.that(FileUse::reads),
    Option{"--threshold", OptionKind::one, "SHARE", "slow-down that counts as one; default '2 %'"},
    Option{"--confidence", OptionKind::one, "SHARE", "level of the intervals; default '95 %'"},
    Option{"--power", OptionKind::one, "SHARE",
           "chance with which the smallest slow-down and the runs needed are told; default '80 %'"},
    Option{"--metric", OptionKind::many, "NAME", "judge this metric alone; repeats; default: those usual of the form"},
    Option{"--lower", OptionKind::many, "NAME", "this metric is better lower; repeats"},
    Option{"--higher", OptionKind::many, "NAME", "this metric is better higher; repeats"},
    Option{"--by", OptionKind::many, "COLUMN", "a column of numbers that names the case, such as a size; repeats"},
    Option{"--inconclusive", OptionKind::one, "tell|fail|pass",
           "exit code where the runs cannot tell: 4 (default), 1 or 0"},
    Option{"--format", OptionKind::one, formats_in<"text|{}">, meanings_in<"text for people (default), {}">},
};

int code_of(GateVerdict verdict, const std::string& inconclusive) {
  switch (verdict) {
    case GateVerdict::slower: return 1;
    case GateVerdict::inconclusive: return inconclusive == "fail" ? 1 : inconclusive == "pass" ? 0 : cannot_tell;
    case GateVerdict::same:
    case GateVerdict::faster: break;
  }
  return 0;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.size() != 2) {
    throw ConfigError{
        "name two results, the baseline's first, e.g. 'headroom gate main.json branch.json'; further runs of either go "
        "behind --baseline and --candidate"};
  }
  FormReader reader{arguments, "gate", "a gate", "BASELINE CANDIDATE"};
  RunGateRule rule;
  rule.rule.threshold = reader.number_or("--threshold", 0.0, 1.0, rule.rule.threshold);
  rule.rule.confidence = reader.number_or("--confidence", 0.5, 0.9999, rule.rule.confidence);
  rule.power = reader.number_or("--power", 0.51, 0.9999, rule.power);
  rule.metrics = reader.texts("--metric");
  rule.lower = reader.texts("--lower");
  rule.higher = reader.texts("--higher");
  const std::vector<std::string> by = reader.texts("--by");
  const std::string inconclusive = reader.text("--inconclusive", "tell");
  std::vector<std::string> baselines = reader.texts("--baseline");
  std::vector<std::string> candidates = reader.texts("--candidate");
  baselines.insert(baselines.begin(), files.front());
  candidates.insert(candidates.begin(), files.back());
  Diagnostics problems;
  std::array<BenchmarkResult, 2> sides;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    try {
      sides[i] = read_benchmarks(i == 0 ? baselines : candidates, by);
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  problems.add(reader.problems({}));
  problems.throw_if_any();
  const RunGate gate = judge_runs(std::move(sides[0]), std::move(sides[1]), rule);
  const DocumentFormat* const format = document_format(arguments);
  const int code = code_of(gate.verdict, inconclusive);
  return {format == nullptr ? run_gate_text(gate, rule) : format->print(run_gate_document(gate, rule)), "", code,
          format == nullptr};
}

constexpr std::string_view examples =
    "  headroom gate main.json branch.json --threshold '3 %'\n"
    "  headroom gate main.csv branch.csv --higher tokens --inconclusive fail\n"
    "  headroom gate main-1.json branch-1.json --baseline main-2.json --candidate branch-2.json\n";

}  // namespace
}  // namespace gate_parts

const Verb gate_verb{"gate",
                     "a candidate's benchmark against a baseline's: same, faster, slower, or not to be told",
                     "RESULT",
                     2,
                     gate_parts::options,
                     gate_parts::examples,
                     gate_parts::run};

}  // namespace headroom::cli
