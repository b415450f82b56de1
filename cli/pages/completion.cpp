// SPDX-License-Identifier: Apache-2.0
// Completion of a value, from its name in the table.
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/pages/pages.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli::pages {
namespace {

/// Kinds of the catalog that fit an option's ID.
struct IdOption {
  std::string_view option;
  std::string_view kinds;
};
constexpr std::array id_options{
    IdOption{"--gpu", "gpus"},         IdOption{"--curves", "gpus"},   IdOption{"--base", "gpus"},
    IdOption{"--level", "gpus"},       IdOption{"--node", "nodes"},    IdOption{"--like", "nodes"},
    IdOption{"--cluster", "clusters"}, IdOption{"--prices", "prices"}, IdOption{"--model", "models|networks"},
};

/// Kinds of the catalog that fit a positional of this name.
constexpr std::array id_positionals{
    IdOption{"ID", "gpus|nodes|clusters|prices|models|networks"},
    IdOption{"NODE", "nodes|clusters"},
    IdOption{"MODEL", "models|networks"},
};

std::vector<std::string> kinds_of(std::span<const IdOption> table, std::string_view name) {
  const auto at = std::find_if(table.begin(), table.end(), [&](const IdOption& row) { return row.option == name; });
  return at == table.end() ? std::vector<std::string>{} : choices_of(at->kinds);
}

/// Adds the paths that a value's name stands for: "FILE", "FILE.csv", "FOLDER", "config.json".
void add_path(Completion& completion, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos && name.find("...") == std::string_view::npos) {
    completion.endings.emplace_back(name.substr(dot));
  } else if (name == "FILE") {
    completion.files = true;
  } else if (name == "FOLDER") {
    completion.folders = true;
  }
}

}  // namespace

Completion completion_of(const Option& option) {
  Completion completion;
  if (option.kind == OptionKind::flag) {
    return completion;
  }
  if (option.value.find('|') != std::string_view::npos) {
    completion.words = choices_of(option.value);
    return completion;
  }
  completion.kinds = kinds_of(id_options, option.name);
  if (option.name == "--model") {
    completion.endings.emplace_back(".json");
  }
  add_path(completion, option.value);
  return completion;
}

Completion first_positional(const Verb& verb) {
  Completion completion;
  if (verb.words != nullptr) {
    for (const PositionalWord& word : verb.words()) {
      completion.words.push_back(word.word);
    }
  }
  for (const std::string& name : choices_of(verb.positional)) {
    if (verb.words == nullptr) {
      completion.kinds = kinds_of(id_positionals, name);
    }
    add_path(completion, name);
  }
  return completion;
}

Completion after(const PositionalWord& word) {
  Completion completion;
  if (word.next.find('|') != std::string_view::npos) {
    completion.words = choices_of(word.next);
    return completion;
  }
  completion.kinds = kinds_of(id_positionals, word.next);
  add_path(completion, word.next);
  return completion;
}

std::vector<Option> all_options_of(const Verb& verb) {
  std::vector<Option> options = cli::options_of(verb);
  options.push_back({"--help", OptionKind::flag, "", "the options and examples"});
  return options;
}

std::string_view short_name(const Option& option) {
  return option.name == output_option ? "-o" : option.name == "--help" ? "-h" : "";
}

std::string usage_of(const Verb& verb) {
  std::string text = "headroom " + std::string{verb.name} + " [OPTIONS]";
  if (!verb.positional.empty()) {
    // "ACTION [ID...]" already shows the repetition.
    const bool told = verb.positional.find('[') != std::string_view::npos;
    text += told ? " " + std::string{verb.positional}
                 : " [" + std::string{verb.positional} + (verb.most_positionals > 1 ? " ...]" : "]");
  }
  return text;
}

}  // namespace headroom::cli::pages
