// SPDX-License-Identifier: Apache-2.0
// A command against the table of its verb, before anything is computed: values that are none, options without a part
// in the question, and files that would be both read and written.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace headroom::cli {

inline constexpr std::string_view output_option =
    "--output";  ///< every verb's, unless its own table says what it means

/// The verb's own options, then --output where its table does not have one.
[[nodiscard]] std::vector<Option> options_of(const Verb& verb);

/// "text|json" -> "text", "json"; what holds no '|' is one choice.
[[nodiscard]] std::vector<std::string> choices_of(std::string_view value);

/// ConfigError with every problem that the table alone can tell: a value that is empty, an option that is given twice
/// and may be once, a file that would be read and written, or written twice, one that is data of the user's own, and
/// one that cannot be written.
void check_command(const Verb& verb, const Arguments& arguments);

/// The last two of a path that the table holds for a folder, and that this command writes as a file.
void require_output(std::string_view option, const std::string& path);

/// Options that were given and have no part in this form of the verb, and a --format that it does not know: each named,
/// with what it goes with.
void add_idle_options(const Verb& verb, std::size_t form, const Arguments& arguments, Diagnostics& diagnostics);
template <class FormName>
void add_idle_options(const Verb& verb, FormName form, const Arguments& arguments, Diagnostics& diagnostics) {
  add_idle_options(verb, static_cast<std::size_t>(form), arguments, diagnostics);
}

/// The same as ConfigError.
template <class FormName>
void require_form(const Verb& verb, FormName form, const Arguments& arguments) {
  Diagnostics diagnostics;
  add_idle_options(verb, static_cast<std::size_t>(form), arguments, diagnostics);
  diagnostics.throw_if_any();
}

/// ConfigError where the command would write over a file that it has by another way than its words and options; `which`
/// says how: "which is read as the model".
void refuse_overwrite(const Verb& verb, const Arguments& arguments, const std::string& file, const std::string& which);

/// The same of every file that a document names: its bases, and values that are files beside the file that states them.
void refuse_overwrite_of(const Verb& verb, const Arguments& arguments, const ConfigValue& document);

}  // namespace headroom::cli
