// SPDX-License-Identifier: Apache-2.0
// Checks a command against its verb's table before anything is computed: invalid values, options that do not apply, and
// files that would be both read and written.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace headroom::cli {

inline constexpr std::string_view output_option =
    "--output";  ///< option of every verb, unless its own table defines it

/// The verb's own options, with --output added if its table lacks it.
[[nodiscard]] std::vector<Option> options_of(const Verb& verb);

/// Choices of a value: "text", "json" for "text|json"; a value without '|' is a single choice.
[[nodiscard]] std::vector<std::string> choices_of(std::string_view value);

/// Throws ConfigError with every problem that the table reveals: an empty value, an option given more often than
/// allowed, a file read and written or written twice, an output that is one of the user's data files, and an output
/// that cannot be written.
void check_command(const Verb& verb, const Arguments& arguments);

/// Makes check_command()'s last two checks for a path that the table declares a folder and this command writes as a
/// file.
void require_output(std::string_view option, const std::string& path);

/// Reports options that do not apply to this form of the verb, each with what it goes with, and a --format that the
/// form lacks.
void add_idle_options(const Verb& verb, std::size_t form, const Arguments& arguments, Diagnostics& diagnostics);
template <class FormName>
void add_idle_options(const Verb& verb, FormName form, const Arguments& arguments, Diagnostics& diagnostics) {
  add_idle_options(verb, static_cast<std::size_t>(form), arguments, diagnostics);
}

/// As add_idle_options(), but throws ConfigError.
template <class FormName>
void require_form(const Verb& verb, FormName form, const Arguments& arguments) {
  Diagnostics diagnostics;
  add_idle_options(verb, static_cast<std::size_t>(form), arguments, diagnostics);
  diagnostics.throw_if_any();
}

/// Throws ConfigError when the command would overwrite a file that it reads by other means than its words and options;
/// `which` names them: "which is read as the model".
void refuse_overwrite(const Verb& verb, const Arguments& arguments, const std::string& file, const std::string& which);

/// refuse_overwrite() for every file that a document names: its bases, and values that are files relative to it.
void refuse_overwrite_of(const Verb& verb, const Arguments& arguments, const ConfigValue& document);

/// Whether --brief is given. ConfigError beside a form that is not for people.
[[nodiscard]] bool asks_for_brief(const Arguments& arguments);

}  // namespace headroom::cli
