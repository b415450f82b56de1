// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>

#include <algorithm>
#include <utility>

namespace headroom::cli {
namespace {

/// Several requests in flight, "1..512 x2" or "1,8,64", are an axis: the curve of stated GPUs.
Assignment in_flight_axis(Assignment assignment) {
  constexpr std::string_view stated = "serving.concurrency=";
  if (!assignment.text.starts_with(stated)) {
    return assignment;
  }
  const std::string loads = assignment.text.substr(stated.size());
  const bool range = loads.find("..") != std::string::npos;
  if (!range && loads.find(',') == std::string::npos) {
    return assignment;
  }
  const bool bare = !range && !loads.starts_with('[');
  assignment.text = "search.concurrency=" + (bare ? "[" + loads + "]" : loads);
  return assignment;
}

}  // namespace

std::vector<Assignment> overrides_of(std::span<const Option> options, const Arguments& arguments, bool quick) {
  std::vector<Assignment> overrides;
  const std::vector<Assignment> set = assignments_of(arguments, "--set");
  const auto sets = [&](std::string_view key) {
    return std::any_of(set.begin(), set.end(), [&](const Assignment& s) { return s.text.starts_with(key); });
  };
  const std::vector<std::string> freed = arguments.many("--search");
  const auto frees = [&](std::string_view axis) {
    return std::any_of(freed.begin(), freed.end(), [&](const std::string& s) { return s.starts_with(axis); });
  };
  const bool serving = arguments.has("--isl") || arguments.has("--osl") || arguments.has("--concurrency") ||
                       arguments.has("--rate") || sets("kind=serve") || sets("traffic.");
  if (quick && (!sets("kind=") || sets("kind=train") || sets("kind=serve"))) {
    overrides.emplace_back(serving ? "kind=serve" : "kind=train");
    if (!serving && !frees("precision=") && !arguments.has("--precision")) {
      overrides.emplace_back("training.precision=bf16");
    }
  }
  for (Assignment& assignment : key_assignments(options, arguments)) {
    overrides.push_back(in_flight_axis(std::move(assignment)));
  }
  for (const std::string& axis : freed) {
    overrides.emplace_back(search_assignment(axis), "--search " + axis);
  }
  if (arguments.has("--objective")) {
    const std::string goal = arguments.one("--objective");
    overrides.emplace_back("objective.minimize=" + goal, "--objective " + goal);
  }
  overrides.insert(overrides.end(), set.begin(), set.end());
  return overrides;
}

std::vector<Diagnostic> with_options(const ConfigError& error) {
  std::vector<Diagnostic> diagnostics{error.diagnostics().begin(), error.diagnostics().end()};
  for (Diagnostic& diagnostic : diagnostics) {
    for (const Key& key : keys_with_options()) {
      if (diagnostic.file == "command line" && diagnostic.missing == key.name()) {
        diagnostic.message += "; give " + std::string{key.option};
      }
    }
  }
  return diagnostics;
}

}  // namespace headroom::cli
