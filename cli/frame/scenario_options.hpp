// SPDX-License-Identifier: Apache-2.0
// Shared by verbs that read scenario files: options that spell a key, the file with its overrides, and options with
// numbers or quantities.
#pragma once

#include <headroom/answers/door/question.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/keys/key.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

/// Keys that the quick form has an option for, by their whole paths, in the order of the table; each option once.
[[nodiscard]] std::span<const Key> keys_with_options();
/// The option of one of them.
[[nodiscard]] Option option_of(const Key& key);
/// "strategy.tp=8", told as "--tp 8", for each of these options that is one of a key and was given.
[[nodiscard]] std::vector<Assignment> key_assignments(std::span<const Option> options, const Arguments& arguments);

/// Assignments of an option that repeats, as `--set` tells them.
[[nodiscard]] std::vector<Assignment> assignments_of(const Arguments& arguments, std::string_view option);

/// Document of a file with assignments applied. Throws ConfigError for a network of ops, which 'headroom plan' alone
/// answers, and when the command would overwrite a file that the document names.
[[nodiscard]] ConfigValue priced_tree(const Verb& verb,
                                      const Arguments& arguments,
                                      const std::string& file,
                                      std::span<const Assignment> overrides,
                                      const QuestionLibrary& library);

/// Scenario of priced_tree()'s document. Also throws ConfigError for a scenario that searches.
[[nodiscard]] Scenario scenario_of(const Verb& verb,
                                   const Arguments& arguments,
                                   const std::string& file,
                                   std::span<const Assignment> overrides,
                                   const QuestionLibrary& library);

/// An integer as typed; the question checks its bounds. nullopt when the option is absent or, with a diagnostic, not an
/// integer.
[[nodiscard]] std::optional<std::int64_t> integer_option(const Arguments& arguments,
                                                         std::string_view option,
                                                         Diagnostics& diagnostics);

/// A number: "0.5", "50 %" or, with `suffix`, "3x". nullopt as for integer_option().
[[nodiscard]] std::optional<double> number_option(const Arguments& arguments,
                                                  std::string_view option,
                                                  Diagnostics& diagnostics,
                                                  std::string_view suffix = "");

/// A quantity above zero. nullopt as for integer_option().
template <class Q>
[[nodiscard]] std::optional<Q> quantity_option(const Arguments& arguments,
                                               std::string_view option,
                                               Diagnostics& diagnostics) {
  if (!arguments.has(option)) {
    return std::nullopt;
  }
  const std::variant<double, TextError> parsed = parse_quantity(arguments.one(option), dimension_of<Q>);
  if (const auto* error = std::get_if<TextError>(&parsed)) {
    diagnostics.add("", {}, std::string{option} + " " + error->message);
    return std::nullopt;
  }
  if (std::get<double>(parsed) <= 0.0) {
    diagnostics.add("", {}, std::string{option} + " " + quoted(arguments.one(option)) + " must be above 0");
    return std::nullopt;
  }
  return Q{std::get<double>(parsed)};
}

}  // namespace headroom::cli
