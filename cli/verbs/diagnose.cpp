// SPDX-License-Identifier: Apache-2.0
// `headroom diagnose`: why a run is slow, from what it left: traces of PyTorch's profiler, one of each rank.
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/calibrate/traces/kineto_reader.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/render_diagnosis.hpp>
#include <headroom/cli/verbs/diagnose_plan.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom::cli {

extern const Verb diagnose_verb;

namespace diagnose_parts {
namespace {

constexpr std::array options{
    Option{"--against", OptionKind::one, "SCENARIO.toml",
           "a training scenario: its plan's terms beside the run's parts"}
        .that(FileUse::reads),
    Option{"--set", OptionKind::many, "KEY=VALUE", "override a key of that scenario; repeats"}.with("--against"),
    Option{"--learn", OptionKind::one, "FILE.csv", "add the run's step as a row that 'headroom plan --runs' reads"}
        .with("--against")
        .that(FileUse::keeps),
    Option{"--format", OptionKind::one, formats_in<"text|{}">, meanings_in<"text for people (default), {}">},
};

constexpr std::size_t most_files = 1024;
constexpr std::size_t most_kernels = 8;

std::vector<ShownKernel> longest(const std::map<std::pair<std::string, DeviceWork>, NamedTime>& all) {
  std::vector<ShownKernel> kernels;
  for (const auto& [key, named] : all) {
    kernels.push_back(
        {key.first, std::string{device_work_names[static_cast<std::size_t>(key.second)]}, named.time, named.count});
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const ShownKernel& a, const ShownKernel& b) { return a.time > b.time; });
  kernels.resize(std::min(kernels.size(), most_kernels));
  return kernels;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name what the run left, e.g. 'headroom diagnose rank0.json.gz rank1.json.gz'"};
  }
  if (files.size() > most_files) {
    throw ConfigError{"diagnose reads at most " + std::to_string(most_files) + " files; name fewer ranks"};
  }
  if (files.size() == 1) {
    if (const std::optional<Outcome> breakdown = diagnosed_breakdown(arguments, files.front())) {
      return *breakdown;
    }
  }
  std::vector<TracedRank> ranks;
  std::map<std::pair<std::string, DeviceWork>, NamedTime> names;
  Diagnostics problems;
  for (const std::string& file : files) {
    try {
      const Timeline timeline = read_kineto(file);
      ranks.push_back(traced_rank(timeline));
      for (const NamedTime& named : ranks.back().names) {
        NamedTime& sum = names[{timeline.names.name(named.name), named.work}];
        sum.time += named.time;
        sum.count += named.count;
      }
    } catch (const ConfigError& error) {
      problems.add(error);
    }
  }
  problems.throw_if_any();
  const RunReading reading = reading_of(ranks);
  return diagnosed(arguments, reading, longest(names));
}

constexpr std::string_view examples =
    "  headroom diagnose trace.json.gz\n"
    "  headroom diagnose rank0.json.gz rank1.json.gz --format json\n"
    "  headroom diagnose rank0.json.gz --against scenario.toml --learn mine.csv\n"
    "  headroom diagnose breakdown.csv --against scenario.toml\n";

}  // namespace
}  // namespace diagnose_parts

const Verb diagnose_verb{"diagnose",
                         "why a run is slow: where its time went, causes, and the step without each",
                         "TRACE",
                         1024,
                         diagnose_parts::options,
                         diagnose_parts::examples,
                         diagnose_parts::run};

}  // namespace headroom::cli
