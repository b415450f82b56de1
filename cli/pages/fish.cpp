// SPDX-License-Identifier: Apache-2.0
// Completion for fish, one line per option.
#include <headroom/cli/pages/pages.hpp>
#include <headroom/core/number_words.hpp>

namespace headroom::cli::pages {
namespace {

constexpr std::string_view fish_helpers =
    R"(# fish completion for headroom. Generated from the table of verbs; edits are lost.

function __headroom_verb  # VERB: is it the verb of the line?
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]
end

function __headroom_word  # VERB WORD: is WORD the first word after it?
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test "$words[2]" = $argv[1]; and test "$words[3]" = $argv[2]
end

function __headroom_ids  # KIND...: the first column of what the catalog lists, without its head
    set -l words (commandline -opc)
    for kind in $argv
        $words[1] catalog list $kind 2>/dev/null | tail -n +2 | string replace -r ' .*' '' | uniq
    end
end

complete -c headroom -f
complete -c headroom -n 'test (count (commandline -opc)) -eq 1' -l help -d 'the verbs'
complete -c headroom -n 'test (count (commandline -opc)) -eq 1' -l version -d 'the version'
)";

/// Single-quoted for fish, where backslash and fish_quoted are escaped by a backslash.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return result + "'";
}

/// Arguments of `complete` for a value or positional: "-r -F -a '...'".
std::string offered(const Completion& completion) {
  std::string list;
  const auto add = [&](const std::string& text) { list += (list.empty() ? "" : " ") + text; };
  for (const std::string& word : completion.words) {
    add(word);
  }
  if (!completion.kinds.empty()) {
    add("(__headroom_ids " + joined(completion.kinds, " ") + ")");
  }
  for (const std::string& ending : completion.endings) {
    add("(__fish_complete_suffix " + ending + ")");
  }
  if (completion.folders) {
    add("(__fish_complete_directories)");
  }
  std::string text = completion.files ? " -F" : "";
  return list.empty() ? text : text + " -a " + fish_quoted(list);
}

std::string option_line(const Verb& verb, const Option& option) {
  std::string text = "complete -c headroom -n '__headroom_verb " + std::string{verb.name} + "'";
  if (const std::string_view brief = short_name(option); !brief.empty()) {
    text += " -s " + std::string{brief.substr(1)};
  }
  text += option.name.starts_with("--") ? " -l " + std::string{option.name.substr(2)}
                                        : " -s " + std::string{option.name.substr(1)};
  if (option.kind != OptionKind::flag) {
    const Completion completion = completion_of(option);
    text += (completion.files ? " -r" : " -x") + offered(completion);
  }
  return text + " -d " + fish_quoted(option.help) + "\n";
}

std::string positional_lines(const Verb& verb) {
  std::string text;
  const std::string name{verb.name};
  if (const Completion first = first_positional(verb); !first.empty()) {
    // Words come first; files may repeat.
    const std::string when = verb.words == nullptr
                                 ? "__headroom_verb " + name
                                 : "__headroom_verb " + name + "; and test (count (commandline -opc)) -eq 2";
    text += "complete -c headroom -n " + fish_quoted(when) + offered(first) + "\n";
  }
  if (verb.words != nullptr) {
    for (const PositionalWord& word : verb.words()) {
      if (const Completion next = after(word); !next.empty()) {
        text += "complete -c headroom -n '__headroom_word " + name + " " + word.word + "'" + offered(next) + "\n";
      }
    }
  }
  return text;
}

}  // namespace

std::string fish_completion(std::span<const Verb* const> verbs) {
  std::string text{fish_helpers};
  for (const Verb* verb : verbs) {
    text += "complete -c headroom -n 'test (count (commandline -opc)) -eq 1' -a " + std::string{verb->name} + " -d " +
            fish_quoted(verb->summary) + "\n";
  }
  for (const Verb* verb : verbs) {
    for (const Option& option : all_options_of(*verb)) {
      text += option_line(*verb, option);
    }
    text += positional_lines(*verb);
  }
  return text;
}

}  // namespace headroom::cli::pages
