// SPDX-License-Identifier: Apache-2.0
// Completion for zsh, one call of _arguments per verb.
#include <headroom/cli/pages/pages.hpp>
#include <headroom/core/number_words.hpp>

namespace headroom::cli::pages {
namespace {

constexpr std::string_view zsh_helpers =
    R"zsh(#compdef headroom
# Generated from the table of verbs; edits are lost.

_headroom_ids() {  # KIND...: the first column of what the catalog lists, without its head
  local kind
  local -aU ids
  for kind in $@; do
    ids+=(${${(f)"$(_call_program headroom-$kind $headroom_program catalog list $kind 2> /dev/null)"}[2,-1]%% *})
  done
  compadd -a ids
}

)zsh";

/// Single-quoted for zsh.
std::string zsh_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

/// A backslash before each character in `special`.
std::string escape(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    result += special.find(c) != std::string_view::npos ? std::string{'\\', c} : std::string(1, c);
  }
  return result;
}

/// Action in a specification of _arguments; " " for values without completion.
std::string action(const Completion& completion) {
  if (completion.empty()) {
    return " ";
  }
  std::string text;
  const auto add = [&](const std::string& command) { text += (text.empty() ? "" : "; ") + command; };
  if (!completion.words.empty()) {
    add("compadd -- " + joined(completion.words, " "));
  }
  if (!completion.kinds.empty()) {
    add("_headroom_ids " + joined(completion.kinds, " "));
  }
  for (const std::string& ending : completion.endings) {
    add("_files -g \"*" + ending + "\"");
  }
  if (completion.files) {
    add("_files");
  }
  if (completion.folders) {
    add("_files -/");
  }
  return "{ " + text + " }";
}

std::string specification(const Option& option) {
  const std::string help = "[" + escape(option.help, "\\[]:") + "]";
  const bool flag = option.kind == OptionKind::flag;
  const std::string value = flag ? "" : ":" + escape(option.value, "\\:") + ":" + action(completion_of(option));
  const std::string repeats = option.kind == OptionKind::many ? "*" : "";
  const bool one_letter = !option.name.starts_with("--");
  std::string text = zsh_quoted(repeats + std::string{option.name} +
                                (flag         ? ""
                                 : one_letter ? "+"
                                              : "=") +
                                help + value);
  if (const std::string_view brief = short_name(option); !brief.empty()) {
    text += " " + zsh_quoted(std::string{brief} + (flag ? "" : "+") + help + value);
  }
  return text;
}

std::string verb_arguments(const Verb& verb) {
  std::string text = "        " + std::string{verb.name} + ")\n          _arguments -s";
  for (const Option& option : all_options_of(verb)) {
    text += " \\\n            " + specification(option);
  }
  if (!verb.positional.empty()) {
    const bool many = verb.words == nullptr && verb.most_positionals > 1;
    text += " \\\n            " +
            zsh_quoted((many ? "*:" : "1:") + escape(verb.positional, "\\:") + ":" + action(first_positional(verb)));
  }
  if (verb.words != nullptr) {
    text += " \\\n            '*::next:->next'";
  }
  text += " && return\n";
  if (verb.words != nullptr) {
    text += "          case $line[1] in\n";
    for (const PositionalWord& word : verb.words()) {
      if (const Completion next = after(word); !next.empty()) {
        text += "            " + word.word + ") " + action(next) + " ;;\n";
      }
    }
    text += "          esac\n";
  }
  return text + "          ;;\n";
}

}  // namespace

std::string zsh_completion(std::span<const Verb* const> verbs) {
  std::string text{zsh_helpers};
  text +=
      "_headroom() {\n  local curcontext=$curcontext state headroom_program=$words[1]\n  local -a line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C '(- *)'{-h,--help}'[the verbs]' '(- *)'{-V,--version}'[the version]' \\\n"
      "    '1:verb:->verb' '*::argument:->argument' && return\n"
      "  case $state in\n    verb)\n      local -a verbs=(\n";
  for (const Verb* verb : verbs) {
    text += "        " + zsh_quoted(std::string{verb->name} + ":" + escape(verb->summary, "\\:")) + "\n";
  }
  text += "      )\n      _describe -t verbs verb verbs\n      ;;\n    argument)\n      case $words[1] in\n";
  for (const Verb* verb : verbs) {
    text += verb_arguments(*verb);
  }
  return text + "      esac\n      ;;\n  esac\n}\n\n_headroom \"$@\"\n";
}

}  // namespace headroom::cli::pages
