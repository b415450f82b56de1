// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>

#include <algorithm>

namespace headroom::cli {

std::vector<std::string> overrides_of(std::span<const Option> options, const Arguments& arguments, bool quick) {
  std::vector<std::string> overrides;
  const std::vector<std::string> set = arguments.many("--set");
  const auto sets = [&](std::string_view key) {
    return std::any_of(set.begin(), set.end(), [&](const std::string& s) { return s.starts_with(key); });
  };
  const std::vector<std::string> freed = arguments.many("--search");
  const auto frees = [&](std::string_view axis) {
    return std::any_of(freed.begin(), freed.end(), [&](const std::string& s) { return s.starts_with(axis); });
  };
  const bool serving = arguments.has("--isl") || arguments.has("--osl") || arguments.has("--concurrency") ||
                       arguments.has("--rate") || sets("kind=serve") || sets("traffic.");
  if (quick) {
    overrides.emplace_back(serving ? "kind=serve" : "kind=train");
    if (!serving && !frees("precision=") && !arguments.has("--precision")) {
      overrides.emplace_back("training.precision=bf16");
    }
  }
  for (std::string& assignment : key_assignments(options, arguments)) {
    overrides.push_back(std::move(assignment));
  }
  for (const std::string& axis : arguments.many("--search")) {
    overrides.push_back(search_assignment(axis));
  }
  if (arguments.has("--objective")) {
    overrides.push_back("objective.minimize=" + arguments.one("--objective"));
  }
  for (const std::string& assignment : arguments.many("--set")) {
    overrides.push_back(assignment);
  }
  return overrides;
}

std::vector<Diagnostic> in_option_words(const ConfigError& error, const Arguments& arguments) {
  std::vector<Diagnostic> diagnostics{error.diagnostics().begin(), error.diagnostics().end()};
  for (Diagnostic& diagnostic : diagnostics) {
    for (const std::string& axis : arguments.many("--search")) {
      if (diagnostic.file == "--set " + search_assignment(axis)) {
        diagnostic.file = "--search " + axis;
      }
    }
    if (diagnostic.file == "--set objective.minimize=" + arguments.one("--objective")) {
      diagnostic.file = "--objective " + arguments.one("--objective");
    }
    for (const Key& key : keys_with_options()) {
      const std::string value = arguments.one(key.option);
      if (diagnostic.file == "--set " + std::string{key.path} + "=" + value && arguments.has(key.option)) {
        diagnostic.file = std::string{key.option} + " " + value;
      }
      if (diagnostic.file == "command line" &&
          diagnostic.message.starts_with("missing key '" + std::string{key.name()} + "'")) {
        diagnostic.message += "; give " + std::string{key.option};
      }
    }
  }
  return diagnostics;
}

}  // namespace headroom::cli
