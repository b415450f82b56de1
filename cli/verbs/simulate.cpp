// SPDX-License-Identifier: Apache-2.0
// `headroom simulate`: simulates requests that arrive over time, answered by a stated fleet.
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/page/page.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/answers/wire/simulated_at.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/progress.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/model/serve/simulation/simulation_trace.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {

extern const Verb simulate_verb;

namespace simulate_parts {
namespace {

constexpr std::array options{
    Option{"--rate", OptionKind::one, "RATE",
           "requests per second of all classes together, e.g. '12 req/s' or 12; default traffic.rate"},
    Option{"--requests", OptionKind::one, "N", "requests to simulate; default traffic.requests"},
    Option{"--seed", OptionKind::one, "N", "another draw of the same traffic; default traffic.seed"},
    Option{"--replicas", OptionKind::one, "N", "replicas of the fleet; default fleet.replicas"},
    Option{"--set", OptionKind::many, "KEY=VALUE", "override any key of the scenario, e.g. strategy.tp=8; repeats"},
    Option{"--trace", OptionKind::one, "FILE", "iterations and requests after the warm-up as a trace for Perfetto"}
        .that(FileUse::writes),
    Option{"--request-log", OptionKind::one, "FILE.csv", "the times of each request, a row each"}.that(FileUse::writes),
    brief_option,
    Option{"--format", OptionKind::one, formats_in<"text|{}|html">,
           meanings_in<"text for people (default), {}, html: one file with charts; see -o">},
};

/// An option that is another spelling of a scenario key.
struct KeyOption {
  std::string_view option, key;
};
constexpr std::array key_options{KeyOption{"--requests", "traffic.requests"}, KeyOption{"--seed", "traffic.seed"},
                                 KeyOption{"--replicas", "fleet.replicas"}};

std::vector<Assignment> overrides_of(const Arguments& arguments) {
  std::vector<Assignment> overrides;
  for (const KeyOption& option : key_options) {
    if (arguments.has(option.option)) {
      const std::string value = arguments.one(option.option);
      overrides.emplace_back(std::string{option.key} + "=" + value, std::string{option.option} + " " + value);
    }
  }
  for (const Assignment& assignment : assignments_of(arguments, "--set")) {
    overrides.push_back(assignment);
  }
  return overrides;
}

/// Value of --rate; a bare number is in requests per second.
std::optional<Hertz> rate_of(const Arguments& arguments) {
  return arguments.has("--rate") ? std::optional{request_rate("--rate", arguments.one("--rate"))} : std::nullopt;
}

const ServeScenario& serving(const Scenario& scenario, const std::string& file) {
  const auto* const serve = std::get_if<ServeScenario>(&scenario.question);
  if (serve == nullptr) {
    throw ConfigError{"'headroom simulate' serves requests; " + quoted(file) + " trains: 'headroom plan' answers it"};
  }
  return *serve;
}

std::string count(std::int64_t value) {
  return format_count(static_cast<double>(value));
}

/// Remark on what the trace contains and leaves out.
std::string trace_remark(const std::string& file, const SimulationRecord& record, const ServingSimulation& s) {
  const auto all = static_cast<std::int64_t>(s.load.requests.size());
  return file + ": " + count(record.iterations()) + " of " + count(record.iterations() + record.iterations_left_out()) +
         " iterations and " + count(record.recorded_requests()) + " of " + count(all) + " requests, from request " +
         count(s.warm_up) + " on; open it at https://ui.perfetto.dev\n";
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name a scenario, e.g. 'headroom simulate scenarios/serve/llama3-70b-traffic.toml'"};
  }
  const std::optional<Hertz> rate = rate_of(arguments);
  static_cast<void>(asks_for_brief(arguments));  // refused before anything is computed
  if (arguments.one("--format") == "html") {
    report::require_charts();
  }
  const QuestionLibrary library = own_library();
  Scenario scenario = scenario_of(simulate_verb, arguments, files.front(), overrides_of(arguments), library);
  static_cast<void>(serving(scenario, files.front()));
  asked::SimulatedFleet fleet = simulated_at(std::move(scenario), rate, "--rate", arguments.one("--rate"));
  const ServeScenario& serve = std::get<ServeScenario>(fleet.scenario.question);
  std::optional<SimulationRecord> record;
  if (arguments.has("--trace") && serve.traffic) {
    record.emplace(RecordLimits{.first_request = warm_up_of(serve.traffic->requests)});
  }
  AnswerOptions options;
  options.record = record ? &*record : nullptr;
  const GivenAnswer answer = [&] {
    const ProgressLine line{"simulating"};
    return answer_of(std::move(fleet), options);
  }();
  const ServingSimulation& simulation = std::get<given::Simulated>(answer).simulation;
  Outcome outcome;
  if (record) {
    write_whole_file(arguments.one("--trace"), simulation_trace(*record, simulation.load));
    outcome.err += trace_remark(arguments.one("--trace"), *record, simulation);
  }
  if (arguments.has("--request-log")) {
    write_whole_file(arguments.one("--request-log"), request_log(simulation));
  }
  outcome.out = written(answer, arguments);
  outcome.prose = is_prose(arguments);
  outcome.code = is_good(answer) ? 0 : 1;
  return outcome;
}

constexpr std::string_view examples =
    "  headroom simulate scenarios/serve/llama3-70b-traffic.toml\n"
    "  headroom simulate scenarios/serve/llama3-70b-traffic.toml --rate 20 --replicas 4\n"
    "  headroom simulate scenarios/serve/llama3-70b-traffic.toml --set slo.ttft_p99='2 s' --format json\n"
    "  headroom simulate scenarios/serve/llama3-70b-traffic.toml --format html -o report.html\n"
    "  headroom simulate scenarios/serve/llama3-70b-traffic.toml --trace fleet.json --request-log requests.csv\n";

}  // namespace
}  // namespace simulate_parts

const Verb simulate_verb{"simulate",
                         "requests as they come, on a fleet as it is: tails, promises, cost",
                         "SCENARIO.toml",
                         1,
                         simulate_parts::options,
                         simulate_parts::examples,
                         simulate_parts::run};

}  // namespace headroom::cli
