// SPDX-License-Identifier: Apache-2.0
// Writes manual pages and shell completions from the verbs' tables at build time; not part of the binary.
#pragma once

#include <headroom/cli/frame/verb.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli::pages {

/// What a shell may offer for a value or a positional.
struct Completion {
  std::vector<std::string> words;    ///< fixed words
  std::vector<std::string> kinds;    ///< kinds of the catalog whose ids fit: "gpus"
  std::vector<std::string> endings;  ///< endings of fitting files: ".toml"
  bool files = false;                ///< whether any file fits
  bool folders = false;

  [[nodiscard]] bool empty() const { return words.empty() && kinds.empty() && endings.empty() && !files && !folders; }
};

/// Completion of an option's value; empty for values such as numbers.
[[nodiscard]] Completion completion_of(const Option& option);
/// Completion of the first positional.
[[nodiscard]] Completion first_positional(const Verb& verb);
/// Completion of the positionals after `word`.
[[nodiscard]] Completion after(const PositionalWord& word);

/// The verb's options and those common to all verbs: --output, unless its table defines it, and --help.
[[nodiscard]] std::vector<Option> all_options_of(const Verb& verb);

/// Short spelling, "-o" for --output; "" without one.
[[nodiscard]] std::string_view short_name(const Option& option);

/// Usage line: "headroom plan [OPTIONS] [SCENARIO.toml]".
[[nodiscard]] std::string usage_of(const Verb& verb);

/// Page headroom(1) in man(7) macros. `date` as 2026-11-22, `version` as "Headroom 0.1.0".
[[nodiscard]] std::string front_manual(std::span<const Verb* const> verbs,
                                       std::string_view date,
                                       std::string_view version);
/// Page headroom-VERB(1).
[[nodiscard]] std::string verb_manual(const Verb& verb, std::string_view date, std::string_view version);

[[nodiscard]] std::string bash_completion(std::span<const Verb* const> verbs);
[[nodiscard]] std::string zsh_completion(std::span<const Verb* const> verbs);
[[nodiscard]] std::string fish_completion(std::span<const Verb* const> verbs);

}  // namespace headroom::cli::pages
