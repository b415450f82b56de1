// SPDX-License-Identifier: Apache-2.0
// Completion for bash, without the bash-completion package.
#include <headroom/cli/pages/pages.hpp>

namespace headroom::cli::pages {
namespace {

constexpr std::string_view helpers =
    R"bash(# bash completion for headroom. Generated from the table of verbs; edits are lost.

_headroom_words() {  # WORDS...
  local word
  for word in "$@"; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done
}

_headroom_ids() {  # KIND...: the first column of what the catalog lists, without its head
  local kind id last=
  for kind in "$@"; do
    while read -r id _; do
      [[ -n $id && $id != "$last" && $id == "$cur"* ]] && COMPREPLY+=("$id")
      last=$id
    done <<< "$("$program" catalog list "$kind" 2> /dev/null | tail -n +2)"
  done
}

_headroom_files() {  # ENDING...: files that end so, or all; and folders, which lead on to files
  local ending path
  compopt -o filenames 2> /dev/null
  while IFS= read -r path; do
    [[ -n $path ]] && COMPREPLY+=("$path")
  done <<< "$(compgen -d -- "$cur")"
  for ending in "$@"; do
    while IFS= read -r path; do
      [[ -n $path && ! -d $path ]] && COMPREPLY+=("$path")
    done <<< "$(compgen -f -X "!*$ending" -- "$cur")"
  done
}

)bash";

constexpr std::string_view body_start =
    R"bash(_headroom() {
  local program=$1 cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
  local positionals=() i
  program=${program/#\~\//$HOME/}
  COMPREPLY=()
)bash";

constexpr std::string_view body_middle =
    R"bash(  # --format=json comes as three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 2; i < COMP_CWORD; ++i)); do
    case "$verb ${COMP_WORDS[i]}" in
)bash";

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += " " + word;
  }
  return text;
}

/// Shell commands that offer a completion; "" for none.
std::string commands(const Completion& completion) {
  std::string text;
  const auto add = [&](const std::string& command) { text += (text.empty() ? "" : "; ") + command; };
  if (!completion.words.empty()) {
    add("_headroom_words" + words_of(completion.words));
  }
  if (!completion.kinds.empty()) {
    add("_headroom_ids" + words_of(completion.kinds));
  }
  if (completion.files) {
    add("_headroom_files ''");
  } else if (!completion.endings.empty() || completion.folders) {
    add("_headroom_files" + words_of(completion.endings));
  }
  return text;
}

/// An option's spellings with its verb as patterns of a case.
std::string pattern(const Verb& verb, const Option& option) {
  std::string text = "'" + std::string{verb.name} + " " + std::string{option.name} + "'";
  if (const std::string_view brief = short_name(option); !brief.empty()) {
    text += " | '" + std::string{verb.name} + " " + std::string{brief} + "'";
  }
  return text;
}

std::string flag_cases(std::span<const Verb* const> verbs) {
  std::string patterns;
  for (const Verb* verb : verbs) {
    for (const Option& option : all_options_of(*verb)) {
      if (option.kind == OptionKind::flag) {
        patterns += (patterns.empty() ? "" : " | ") + pattern(*verb, option);
      }
    }
  }
  return "      " + patterns + ") ;;\n" +
         "      *' -'*)\n        [[ ${COMP_WORDS[i + 1]-} == = ]] && ((++i))\n        ((++i))\n        ;;\n"
         "      *) positionals+=(\"${COMP_WORDS[i]}\") ;;\n    esac\n  done\n";
}

std::string value_cases(std::span<const Verb* const> verbs) {
  std::string text = "  case \"$verb $before\" in\n";
  for (const Verb* verb : verbs) {
    for (const Option& option : all_options_of(*verb)) {
      if (option.kind != OptionKind::flag) {
        const std::string offered = commands(completion_of(option));
        text += "    " + pattern(*verb, option) + ") " + (offered.empty() ? "" : offered + "; ") + "return ;;\n";
      }
    }
  }
  return text + "  esac\n";
}

std::string option_names(std::span<const Verb* const> verbs) {
  std::string text = "  if [[ $cur == -* ]]; then\n    case $verb in\n";
  for (const Verb* verb : verbs) {
    text += "      " + std::string{verb->name} + ") _headroom_words";
    for (const Option& option : all_options_of(*verb)) {
      text += " " + std::string{option.name};
    }
    text += " ;;\n";
  }
  return text + "    esac\n    return\n  fi\n";
}

std::string positional_cases(std::span<const Verb* const> verbs) {
  std::string text = "  case \"$verb ${#positionals[@]} ${positionals[0]-}\" in\n";
  const auto add = [&](const std::string& when, const Completion& completion) {
    if (const std::string offered = commands(completion); !offered.empty()) {
      text += "    " + when + ") " + offered + " ;;\n";
    }
  };
  for (const Verb* verb : verbs) {
    const std::string name{verb->name};
    // A verb with words has one word first; a verb without may have many files.
    add(verb->words == nullptr && verb->most_positionals > 1 ? name + "' '*" : name + "' 0 '*",
        first_positional(*verb));
    if (verb->words != nullptr) {
      for (const PositionalWord& word : verb->words()) {
        add(name + "' '*' '" + word.word, after(word));
      }
    }
  }
  return text + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(std::span<const Verb* const> verbs) {
  std::string text{helpers};
  text += std::string{body_start} + "  if ((COMP_CWORD == 1)); then\n    _headroom_words";
  for (const Verb* verb : verbs) {
    text += " " + std::string{verb->name};
  }
  text += " --help --version\n    return\n  fi\n";
  text +=
      std::string{body_middle} + flag_cases(verbs) + value_cases(verbs) + option_names(verbs) + positional_cases(verbs);
  return text + "complete -F _headroom headroom\n";
}

}  // namespace headroom::cli::pages
