// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/search/axes.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
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

/// "1,024" is a number with its thousands apart, which a list of 1 and 024 is not; a list has blanks or other numbers.
void refuse_grouped(const Assignment& given, const std::string& value) {
  const std::size_t comma = value.find(',');
  const std::string behind = value.substr(comma + 1);
  const auto digits = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  const Key* const key = find_key(given.text.substr(0, given.text.find('=')), Kinds::all);
  const bool length = key != nullptr && key->length;
  const bool grouped = digits(value.substr(0, comma)) && digits(behind) && behind.size() == 3 &&
                       (behind.front() == '0' || (length && comma == 1));
  if (grouped) {
    const std::string whole = value.substr(0, comma) + behind;
    throw ConfigError{given.place + ": a comma parts the values of a list; for the one number write " + whole +
                      ", for a list of two \"" + value.substr(0, comma) + ", " + behind + "\""};
  }
}

/// The values of an option of a key that lists several, "8k,32k" or "1..8 x2"; else its assignment's one value. What
/// `--set` and `--search` assign is read as it stands.
std::vector<std::string> assigned_values(const Assignment& given) {
  const std::string value = given.text.substr(given.text.find('=') + 1);
  const bool of_key = !given.place.starts_with("--set ") && !given.place.starts_with("--search ");
  const bool text = value.find_first_of("[{\"'") != std::string::npos || given.text.starts_with("search.");
  if (!of_key || text) {
    return {value};
  }
  if (parse_range(value).empty() && value.find(',') != std::string::npos) {
    refuse_grouped(given, value);
  }
  return listed_values(value);
}

/// Each makes the quick form a question of serving.
constexpr std::array<std::string_view, 4> serving_options{"--isl", "--osl", "--concurrency", "--rate"};

/// That it is one, at the place of the option that made it so.
Assignment serving_kind(const Arguments& arguments) {
  for (const std::string_view option : serving_options) {
    if (arguments.has(option)) {
      return {"kind=serve", std::string{option} + " " + arguments.one(option)};
    }
  }
  return Assignment{"kind=serve"};
}

}  // namespace

std::vector<std::string> listed_values(std::string_view text) {
  std::vector<std::string> values;
  for (const std::int64_t n : parse_range(text)) {
    values.push_back(std::to_string(n));
  }
  if (!values.empty() || text.find(',') == std::string_view::npos) {
    return values.empty() ? std::vector{std::string{text}} : values;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t first = text.find_first_not_of(' ', at);
    if (first < end) {
      values.emplace_back(text.substr(first, text.find_last_not_of(' ', end - 1) + 1 - first));
    }
    at = end + 1;
  }
  return values.empty() ? std::vector{std::string{text}} : values;
}

std::vector<Option> quick_options(std::span<const Option> own, Forms (*forms_of)(const Key& key)) {
  std::vector<Option> all;
  for (const Key& key : keys_with_options()) {
    all.push_back(option_of(key));
    all.back().forms = forms_of(key);
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::vector<Assignment> overrides_of(std::span<const Option> options,
                                     const Arguments& arguments,
                                     bool quick,
                                     std::string_view set_option) {
  std::vector<Assignment> overrides;
  const std::vector<Assignment> set =
      set_option == "--set-each" ? set_in_each(arguments) : assignments_of(arguments, set_option);
  const auto sets = [&](std::string_view key) {
    return std::any_of(set.begin(), set.end(), [&](const Assignment& s) { return s.text.starts_with(key); });
  };
  const std::vector<std::string> freed = arguments.many("--search");
  const auto frees = [&](std::string_view axis) {
    return std::any_of(freed.begin(), freed.end(), [&](const std::string& s) { return s.starts_with(axis); });
  };
  const bool serving = std::any_of(serving_options.begin(), serving_options.end(),
                                   [&](std::string_view option) { return arguments.has(option); }) ||
                       sets("kind=serve") || sets("traffic.");
  if (quick && (!sets("kind=") || sets("kind=train") || sets("kind=serve"))) {
    overrides.push_back(serving ? serving_kind(arguments) : Assignment{"kind=train"});
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

std::vector<Assignment> set_in_each(const Arguments& arguments) {
  std::vector<Assignment> set = assignments_of(arguments, "--set-each");
  const std::vector<Assignment> more = assignments_of(arguments, "--set");
  set.insert(set.end(), more.begin(), more.end());
  return set;
}

std::vector<SweptForm> swept(const std::vector<Assignment>& overrides) {
  constexpr std::size_t most = 100;
  std::vector<SweptForm> forms(1);
  for (const Assignment& given : overrides) {
    const std::vector<std::string> values = assigned_values(given);
    std::vector<SweptForm> more;
    for (const SweptForm& form : forms) {
      for (const std::string& value : values) {
        SweptForm& next = more.emplace_back(form);
        const std::string key = given.text.substr(0, given.text.find('='));
        if (values.size() > 1) {
          const std::string name = key.substr(key.rfind('.') + 1) + " " + value;
          next.name += (next.name.empty() ? "" : ", ") + name;
        }
        next.overrides.push_back(values.size() > 1 ? Assignment{key + "=" + value, given.place} : given);
      }
    }
    forms = std::move(more);
    if (forms.size() > most) {
      throw ConfigError{given.place + ": the lists that are given make more than " + std::to_string(most) +
                        " questions; list fewer values, or search them (--search)"};
    }
  }
  return forms;
}

void take_promises(const Arguments& arguments, ConfigValue& root) {
  const bool traffic = root.find("traffic") != nullptr;
  const std::array<std::pair<std::string_view, std::string>, 3> keys{
      std::pair{std::string_view{"--ttft"}, std::string{traffic ? "slo.ttft_p95" : "slo.ttft_mean"}},
      std::pair{std::string_view{"--tpot"}, std::string{traffic ? "slo.tpot_p95" : "slo.tpot_mean"}},
      std::pair{std::string_view{"--deadline"}, std::string{"objective.deadline"}}};
  Diagnostics diagnostics;
  for (const auto& [option, key] : keys) {
    if (arguments.has(option)) {
      const std::string value = arguments.one(option);
      apply_override(root, Assignment{key + "=" + value, std::string{option} + " " + value}, diagnostics);
    }
  }
  diagnostics.throw_if_any();
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
