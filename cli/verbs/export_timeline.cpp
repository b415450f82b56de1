// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/synthetic/planted_fault.hpp>
#include <headroom/calibrate/synthetic/run_of_plan.hpp>
#include <headroom/calibrate/synthetic/telemetry_files.hpp>
#include <headroom/cli/verbs/export_timeline.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom::cli {
namespace {

constexpr std::array<std::string_view, 3> timeline_forms{"kineto", "chakra", "dcgm"};
constexpr std::string_view rank_place = "{rank}";

/// A whole number that an option states, or the usual one.
std::int64_t whole_option(const Arguments& arguments,
                          std::string_view option,
                          std::int64_t usual,
                          std::int64_t least,
                          std::int64_t most,
                          Diagnostics& problems) {
  if (!arguments.has(option)) {
    return usual;
  }
  const std::string text = arguments.one(option);
  const std::optional<double> value = whole_real(text);
  if (!value || std::floor(*value) != *value || *value < static_cast<double>(least) ||
      *value > static_cast<double>(most)) {
    problems.add("command line", {},
                 std::string{option} + " " + quoted(text) + " is not a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most));
    return usual;
  }
  return static_cast<std::int64_t>(*value);
}

std::string plantable_words() {
  return joined(plantable_faults(),
                [](CauseKind kind) { return std::string{cause_names[static_cast<std::size_t>(kind)]}; });
}

std::vector<PlantedFault> planted_in(const Arguments& arguments, Diagnostics& problems) {
  std::vector<PlantedFault> faults;
  for (const std::string& text : arguments.many("--plant")) {
    const std::size_t equals = text.find('=');
    const std::string word = text.substr(0, equals);
    const auto kinds = plantable_faults();
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](CauseKind known) {
      return cause_names[static_cast<std::size_t>(known)] == word;
    });
    constexpr double usual = 0.3;
    const std::optional<double> strength =
        equals == std::string::npos ? std::optional{usual} : whole_real(text.substr(equals + 1));
    if (kind == kinds.end()) {
      problems.add("command line", {},
                   "--plant " + quoted(text) + " names no fault that can be planted; there are " + plantable_words());
    } else if (!strength || *strength <= 0.0 || *strength >= 1.0) {
      problems.add("command line", {},
                   "--plant " + quoted(text) + ": the strength is a share of the time of a step, above 0 and below 1");
    } else {
      faults.push_back({*kind, *strength});
    }
  }
  return faults;
}

}  // namespace

bool is_timeline_form(std::string_view form) noexcept {
  return std::find(timeline_forms.begin(), timeline_forms.end(), form) != timeline_forms.end();
}

Outcome write_timeline(const Plan& plan, const Arguments& arguments, const std::string& said) {
  Diagnostics problems;
  const std::string form = arguments.one("--to");
  const std::string output = arguments.has("--output") ? arguments.one("--output") : "";
  const bool each = output.find(rank_place) != std::string::npos;
  const auto& train = std::get<TrainScenario>(plan.scenario.question);
  constexpr std::int64_t most_ranks = 4096;
  constexpr std::int64_t usual_ranks = 8;
  const std::int64_t ranks =
      whole_option(arguments, "--ranks", std::min(train.work.shape.gpus, usual_ranks), 1, most_ranks, problems);
  constexpr std::int64_t usual_steps = 6;
  const std::int64_t steps = whole_option(arguments, "--steps", usual_steps, 1, 10'000, problems);
  const std::int64_t seed = whole_option(arguments, "--seed", 1, 0, 1'000'000'000, problems);
  const std::vector<PlantedFault> faults = planted_in(arguments, problems);
  problems.throw_if_any();
  SyntheticRun run = run_of_plan(plan, ranks, steps);
  run.seed = static_cast<std::uint64_t>(seed);
  const SyntheticRun healthy = run;
  std::string planted;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    RandomStream draws{run.seed, i};
    plant(run, faults[i], healthy, draws);
    planted += (planted.empty() ? "" : ", ") + std::string{"\""} +
               std::string{cause_names[static_cast<std::size_t>(faults[i].kind)]} + "\"";
  }
  std::string remarks = said;
  const Seconds now = mean_step(run);
  remarks += "a step of " + format(now) + ", " +
             format(plan.answer.index() == 0 ? std::get<TrainPlan>(plan.answer).estimate.time.total() : Seconds{}) +
             " by the plan\n";
  if (!faults.empty()) {
    remarks += "without what was planted it takes " + format(mean_step(healthy)) + ", " +
               percent_number(mean_step(healthy) / now, 3) + " % of that\n";
  }
  const std::vector<Timeline> timelines = simulate(run);
  const std::string note = "{\"made\": \"headroom export --to " + form + "\", \"seed\": " + std::to_string(seed) +
                           ", \"planted\": [" + planted + "]}";
  const auto text_of = [&](const Timeline& timeline) {
    return form == "kineto" ? kineto_text(timeline, note) : chakra_text(timeline);
  };
  if (form == "dcgm") {
    const std::string text = dcgm_text(timelines, Seconds{0.1});
    if (output.empty()) {
      return {text, remarks, 0};
    }
    write_whole_file(output, text);
    return {"", remarks, 0};
  }
  if (!each) {
    if (output.empty()) {
      return {text_of(timelines.front()), remarks, 0};
    }
    write_whole_file(output, text_of(timelines.front()));
    remarks += timelines.size() > 1 ? "rank 0 alone; '{rank}' in the name writes a file of each rank\n" : "";
    return {"", remarks, 0};
  }
  for (std::size_t r = 0; r < timelines.size(); ++r) {
    std::string path = output;
    path.replace(path.find(rank_place), rank_place.size(), std::to_string(r));
    write_whole_file(path, text_of(timelines[r]));
  }
  return {"", remarks, 0};
}

}  // namespace headroom::cli
