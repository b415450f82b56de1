// SPDX-License-Identifier: Apache-2.0
// Verbs of the command line as functions: the same tables of options, the same answers.
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/stubs/python_stub.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/python/module/ask.hpp>

#include <algorithm>
#include <utility>

namespace headroom::python {
namespace {

std::vector<std::string> format_choices(const cli::Verb& verb) {
  for (const cli::Option& option : verb.options) {
    if (option.name == "--format") {
      return cli::choices_of(option.value);
    }
  }
  return {};
}

bool has_format(const cli::Verb& verb, const std::string& format) {
  const std::vector<std::string> all = format_choices(verb);
  return std::find(all.begin(), all.end(), format) != all.end();
}

/// What a verb wrote, and the command that writes its other forms.
class OfVerb : public Found {
 public:
  OfVerb(const cli::Verb& verb, cli::Arguments arguments) : verb_{verb}, arguments_{std::move(arguments)} {
    first_ = has_format(verb, "json") ? outcome("json") : cli::Outcome{verb_.run(arguments_)};
    if (first_.out.empty() && first_.code != 0) {
      std::string why = first_.err.starts_with("headroom: ") ? first_.err.substr(10) : first_.err;
      while (!why.empty() && why.back() == '\n') {
        why.pop_back();
      }
      throw ConfigError{why};
    }
  }

  [[nodiscard]] std::string json() const override {
    if (!has_format(verb_, "json")) {
      throw ConfigError{"'" + std::string{verb_.name} + "' writes text alone: take text()"};
    }
    return first_.out;
  }
  [[nodiscard]] std::string text(bool brief) const override {
    cli::Arguments arguments = arguments_;
    if (brief) {
      arguments.add("--brief", "");
    }
    return has_format(verb_, "json") ? verb_.run(arguments).out : first_.out;
  }
  [[nodiscard]] std::string html() const override { return in("html", "page"); }
  [[nodiscard]] std::string csv() const override { return in("csv", "rows"); }
  [[nodiscard]] bool good() const override { return first_.code == 0; }

 private:
  [[nodiscard]] cli::Outcome outcome(const std::string& format) const {
    cli::Arguments arguments = arguments_;
    arguments.add("--format", format);
    return verb_.run(arguments);
  }
  [[nodiscard]] std::string in(const std::string& format, const std::string& what) const {
    if (!has_format(verb_, format)) {
      throw ConfigError{"'" + std::string{verb_.name} + "' has no " + what + " of its answer"};
    }
    return outcome(format).out;
  }

  const cli::Verb& verb_;
  cli::Arguments arguments_;
  cli::Outcome first_;
};

/// A value that is none of an option's choices.
void check_choices(const cli::Option& option,
                   const std::string& keyword,
                   const std::string& value,
                   Diagnostics& problems) {
  if (option.value.find('|') == std::string_view::npos || (option.meant != nullptr && !option.meant(value).empty())) {
    return;
  }
  const std::vector<std::string> choices = cli::choices_of(option.value);
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return;
  }
  std::string all;
  for (const std::string& choice : choices) {
    all += (all.empty() ? "" : ", ") + choice;
  }
  problems.add(keyword + "=" + value, {}, "is none of " + all);
}

void add_option(const cli::Option& option, const Keyword& given, cli::Arguments& arguments, Diagnostics& problems) {
  const Given& value = given.value;
  if (option.kind == cli::OptionKind::flag) {
    if (value.typed == "true") {
      arguments.add(option.name, "");
    } else if (value.typed != "false") {
      problems.add(given.name, {}, "must be True or False");
    }
    return;
  }
  std::vector<std::string> all{value.typed};
  if (value.kind == Given::Kind::list) {
    all = value.items;
  } else if (value.kind == Given::Kind::table) {
    all.clear();
    for (const Assignment& entry : value.entries) {
      all.push_back(entry.text);
    }
  }
  for (const std::string& one : all) {
    check_choices(option, given.name, one, problems);
    arguments.add(option.name, one);
  }
}

const cli::Verb& verb_named(const std::string& name) {
  std::vector<std::string_view> names;
  for (const cli::Verb* const verb : cli::all_verbs()) {
    if (verb->name == name) {
      return *verb;
    }
    names.push_back(verb->name);
  }
  throw ConfigError{quoted(name) + " is no verb of headroom" + suggestion(name, names)};
}

}  // namespace

std::shared_ptr<const Found> command(const std::string& name,
                                     const std::vector<std::string>& words,
                                     const std::vector<Keyword>& options) {
  const cli::Verb& verb = verb_named(name);
  cli::Arguments arguments;
  Diagnostics problems;
  for (const std::string& word : words) {
    arguments.add("", word);
  }
  if (words.size() > verb.most_positionals) {
    problems.add(name, {},
                 "takes at most " + std::to_string(verb.most_positionals) + " words, and here are " +
                     std::to_string(words.size()));
  }
  std::vector<std::string> names;
  for (const cli::Option& option : verb.options) {
    if (option.name != "--format") {
      names.push_back(keyword_of(option.name));
    }
  }
  for (const Keyword& given : options) {
    const auto at = std::find(names.begin(), names.end(), given.name);
    if (at == names.end() || given.name == "format") {
      problems.add(given.name, {},
                   "is no keyword of this function" +
                       suggestion(given.name, std::vector<std::string_view>{names.begin(), names.end()}));
      continue;
    }
    add_option(verb.options[static_cast<std::size_t>(at - names.begin())], given, arguments, problems);
  }
  problems.throw_if_any();
  cli::check_command(verb, arguments);
  return std::make_shared<OfVerb>(verb, std::move(arguments));
}

}  // namespace headroom::python
