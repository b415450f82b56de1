// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headroom::cli {

std::span<const Key> keys_with_options() {
  static const std::vector<Key> found = [] {
    std::vector<Key> keys;
    for (const Key& key : all_keys()) {
      const bool known = std::any_of(keys.begin(), keys.end(), [&](const Key& k) { return k.option == key.option; });
      if (!key.option.empty() && !known) {
        keys.push_back(key);
      }
    }
    return keys;
  }();
  return found;
}

Option option_of(const Key& key) {
  return {key.option, OptionKind::one, key.option_value, key.option_help};
}

std::vector<Assignment> key_assignments(std::span<const Option> options, const Arguments& arguments) {
  std::vector<Assignment> assignments;
  for (const Key& key : keys_with_options()) {
    const bool known =
        std::any_of(options.begin(), options.end(), [&](const Option& option) { return option.name == key.option; });
    if (known && arguments.has(key.option)) {
      const std::string value = arguments.one(key.option);
      assignments.emplace_back(std::string{key.path} + "=" + value, std::string{key.option} + " " + value);
    }
  }
  return assignments;
}

std::vector<Assignment> assignments_of(const Arguments& arguments, std::string_view option) {
  const std::vector<std::string> typed = arguments.many(option);
  return {typed.begin(), typed.end()};
}

ConfigValue priced_tree(const Verb& verb,
                        const Arguments& arguments,
                        const std::string& file,
                        std::span<const Assignment> overrides,
                        const QuestionLibrary& library) {
  ConfigValue root = scenario_tree(file, overrides);
  refuse_overwrite_of(verb, arguments, root);
  const DocumentKind kind = kind_of(root, library);
  if (kind == DocumentKind::mixed) {
    throw ConfigError{quoted(verb.name) + " does not take pools of unlike SKUs ([[hardware.pool]]), and " +
                      quoted(file) + " has them: 'headroom plan' answers what they do together"};
  }
  if (kind == DocumentKind::network) {
    throw ConfigError{quoted(verb.name) + " does not take networks of ops, and " + quoted(file) +
                      " is one: 'headroom plan' answers its memory and its step"};
  }
  return root;
}

Scenario scenario_of(const Verb& verb,
                     const Arguments& arguments,
                     const std::string& file,
                     std::span<const Assignment> overrides,
                     const QuestionLibrary& library) {
  const ConfigValue root = priced_tree(verb, arguments, file, overrides, library);
  if (asks_for_search(root)) {
    throw ConfigError{quoted(verb.name) + " prices one strategy, and " + quoted(file) + " searches: 'headroom plan " +
                      file +
                      "' prints the keys of the plan that it takes; state those, without [search] and [objective]"};
  }
  return read_scenario(root, file, library.sources);
}

std::optional<std::int64_t> integer_option(const Arguments& arguments,
                                           std::string_view option,
                                           Diagnostics& diagnostics) {
  if (!arguments.has(option)) {
    return std::nullopt;
  }
  const std::string typed = arguments.one(option);
  const std::optional<double> shortened = parse_short_number(typed);
  const std::optional<std::int64_t> value = integer_of(shortened ? shortest_text(*shortened) : typed);
  if (!value) {
    diagnostics.add("", {}, std::string{option} + " " + quoted(arguments.one(option)) + " is no integer");
  }
  return value;
}

std::optional<double> number_option(const Arguments& arguments,
                                    std::string_view option,
                                    Diagnostics& diagnostics,
                                    std::string_view suffix) {
  if (!arguments.has(option)) {
    return std::nullopt;
  }
  const std::string typed = arguments.one(option);
  std::string_view text{typed};
  double factor = 1.0;
  if (text.ends_with('%')) {
    text.remove_suffix(1);
    factor = 0.01;
  } else if (!suffix.empty() && text.ends_with(suffix)) {
    text.remove_suffix(suffix.size());
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    diagnostics.add("", {}, std::string{option} + " " + quoted(typed) + " is no number");
    return std::nullopt;
  }
  return factor * value;
}

}  // namespace headroom::cli
