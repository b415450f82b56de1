// SPDX-License-Identifier: Apache-2.0
// Manual pages and shell completions, written from the verbs' tables at build time; no part of the binary.
#pragma once

#include <headroom/cli/frame/verb.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli::pages {

/// What the shell may offer for a value or a positional.
struct Completion {
  std::vector<std::string> words;    ///< these
  std::vector<std::string> kinds;    ///< the ids of these kinds of the catalog: "gpus"
  std::vector<std::string> endings;  ///< files that end so: ".toml"
  bool files = false;                ///< any file
  bool folders = false;

  [[nodiscard]] bool empty() const { return words.empty() && kinds.empty() && endings.empty() && !files && !folders; }
};

/// Of an option's value; empty when there is nothing to offer, as for a number.
[[nodiscard]] Completion completion_of(const Option& option);
/// Of the first positional.
[[nodiscard]] Completion first_positional(const Verb& verb);
/// Of the positionals after `word`.
[[nodiscard]] Completion after(const PositionalWord& word);

/// The verb's options and what every verb has beside them: --output, unless the table says what it means, and --help.
[[nodiscard]] std::vector<Option> options_of(const Verb& verb);

/// "-o" for --output; "" for options with no second spelling.
[[nodiscard]] std::string_view short_name(const Option& option);

/// "headroom plan [OPTIONS] [SCENARIO.toml]".
[[nodiscard]] std::string usage_of(const Verb& verb);

/// headroom(1), in the macros of man(7). `date` as 2026-11-22, `version` as "Headroom 0.1.0".
[[nodiscard]] std::string front_manual(std::span<const Verb* const> verbs,
                                       std::string_view date,
                                       std::string_view version);
/// headroom-VERB(1).
[[nodiscard]] std::string verb_manual(const Verb& verb, std::string_view date, std::string_view version);

[[nodiscard]] std::string bash_completion(std::span<const Verb* const> verbs);
[[nodiscard]] std::string zsh_completion(std::span<const Verb* const> verbs);
[[nodiscard]] std::string fish_completion(std::span<const Verb* const> verbs);

}  // namespace headroom::cli::pages
