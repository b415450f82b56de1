// SPDX-License-Identifier: Apache-2.0
// Builds the command line from the verbs' tables and maps failures to exit codes. The only file that includes CLI11.
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/process.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/version.hpp>
#include <headroom/core/whole_file.hpp>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <deque>

namespace headroom::cli {
namespace {

constexpr int usage_error = 2;

/// Prints to stderr. The text quotes file names, values and lines of the user's files, so control characters are made
/// visible.
void say(std::string_view text) {
  std::fputs(shown_lines(text).c_str(), stderr);
}

std::string overview() {
  std::string text = "headroom: " + std::string{program_summary} + "\n\nusage: headroom VERB [OPTIONS]\n\n";
  for (const Verb* verb : all_verbs()) {
    text +=
        "  " + std::string{verb->name} + std::string(12 - verb->name.size(), ' ') + std::string{verb->summary} + "\n";
  }
  return text + "\nexamples:\n" + std::string{program_examples} + "\nsee 'headroom VERB --help'\n";
}

/// Parsed values of one verb's options. Deques keep addresses stable while CLI11 holds them.
struct Parsed {
  std::deque<bool> flags;
  std::deque<std::vector<std::string>> lists;
  std::vector<std::pair<std::string_view, const bool*>> flag_of;
  std::vector<std::pair<std::string_view, const std::vector<std::string>*>> list_of;

  [[nodiscard]] Arguments arguments() const {
    Arguments result;
    for (const auto& [name, set] : flag_of) {
      if (*set) {
        result.add(name, "");
      }
    }
    for (const auto& [name, values] : list_of) {
      for (const std::string& value : *values) {
        result.add(name, value);
      }
    }
    return result;
  }
};

void add_option(CLI::App& app, const Option& option, Parsed& parsed) {
  const std::string name = option.name == output_option ? "-o,--output" : std::string{option.name};
  const std::string help{option.help};
  if (option.kind == OptionKind::flag) {
    parsed.flags.push_back(false);
    app.add_flag(name, parsed.flags.back(), help);
    parsed.flag_of.emplace_back(option.name, &parsed.flags.back());
    return;
  }
  parsed.lists.emplace_back();
  std::vector<std::string>& values = parsed.lists.back();
  CLI::Option* added = app.add_option(name, values, help);
  added->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  added->type_name(std::string{option.value});
  if (option.value.find('|') != std::string_view::npos) {
    added->check(
        [choices = choices_of(option.value), instead = option.instead](const std::string& text) -> std::string {
          // An empty value is reported with the other problems.
          if (text.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) {
            return {};
          }
          const std::vector<std::string_view> views{choices.begin(), choices.end()};
          std::string listed;
          for (const std::string& choice : choices) {
            listed += (listed.empty() ? "" : ", ") + choice;
          }
          const std::string other = instead == nullptr ? "" : instead(text);
          return quoted(text) + " is none of " + listed + (other.empty() ? suggestion(text, views) : "; " + other);
        });
  }
  parsed.list_of.emplace_back(option.name, &values);
}

std::string full_help(CLI::App& app, const Verb& verb) {
  std::string text = app.help();
  if (!verb.examples.empty()) {
    text += "\nexamples:\n" + std::string{verb.examples};
  }
  return text;
}

int fail(const std::string& message, const Verb* verb) {
  const std::string hint = verb == nullptr ? "headroom --help" : "headroom " + std::string{verb->name} + " --help";
  say("headroom: error: " + message + "\nsee '" + hint + "'\n");
  return usage_error;
}

/// Message for words that CLI11 could not place, with the nearest option, which CLI11 does not suggest.
std::string placed_message(CLI::App& app, const Verb& verb, const CLI::ParseError& error) {
  for (const std::string& extra : app.remaining()) {
    const std::string word = extra.substr(0, extra.find('='));
    if (word.starts_with("-")) {
      std::vector<std::string_view> names{"--help"};
      for (const Option& option : options_of(verb)) {
        names.push_back(option.name);
      }
      return "unknown option " + quoted(word) + suggestion(word, names);
    }
  }
  for (const std::string& extra : app.remaining()) {
    return "unexpected argument " + quoted(extra);
  }
  std::string message = error.what();
  if (!message.empty() && message.back() == '\n') {
    message.pop_back();
  }
  return message;
}

int cannot_write(const std::string& where) {
  say("headroom: error: " + where + " cannot be written\n");
  return usage_error;
}

/// Writes to stdout and returns `code`. A reader that stops early (`| head`) is no failure, a full disk is. Control
/// characters are made visible on a terminal only.
int print(std::string text, int code = 0) {
  if (isatty(STDOUT_FILENO) == 1) {
    text = shown_lines(text);
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written || errno == EPIPE ? code : cannot_write("stdout");
}

/// Writes the outcome to stdout or to --output, unless the verb handles --output itself.
int deliver(const Verb& verb, const Outcome& outcome, const Arguments& arguments) {
  say(outcome.err);
  const bool own = std::any_of(verb.options.begin(), verb.options.end(),
                               [](const Option& option) { return option.name == output_option; });
  const std::string file = own ? "" : arguments.one(output_option);
  if (file.empty()) {
    return print(outcome.out, outcome.code);
  }
  write_whole_file(file, outcome.out);
  return outcome.code;
}

int run_verb(const Verb& verb, std::vector<std::string> words) {
  CLI::App app{std::string{verb.summary}, "headroom " + std::string{verb.name}};
  app.allow_extras(false);
  app.set_help_flag("-h,--help", "this text");
  Parsed parsed;
  for (const Option& option : options_of(verb)) {
    add_option(app, option, parsed);
  }
  parsed.lists.emplace_back();
  if (!verb.positional.empty()) {
    app.add_option(std::string{verb.positional}, parsed.lists.back(), "");
    parsed.list_of.emplace_back("", &parsed.lists.back());
  }
  try {
    std::reverse(words.begin(), words.end());
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return print(full_help(app, verb));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string message = error.what();
    return fail("option '" + message.substr(0, message.find(':')) + "' needs a value", &verb);
  } catch (const CLI::ParseError& error) {
    return fail(placed_message(app, verb, error), &verb);
  }
  const std::vector<std::string>& positionals = parsed.lists.back();
  if (positionals.size() > verb.most_positionals) {
    return fail("unexpected argument " + quoted(positionals[verb.most_positionals]), &verb);
  }
  const Arguments arguments = parsed.arguments();
  check_command(verb, arguments);
  Outcome outcome;
  {
    const InterruptGuard guard{OnInterrupt::leave};
    outcome = verb.run(arguments);
  }
  return deliver(verb, outcome, arguments);
}

int run(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    say(overview());
    return usage_error;
  }
  if (words.front() == "-h" || words.front() == "--help" || words.front() == "help") {
    return print(overview());
  }
  if (words.front() == "--version" || words.front() == "-V") {
    return print(std::string{version()} + "\n");
  }
  std::vector<std::string_view> names;
  for (const Verb* verb : all_verbs()) {
    names.push_back(verb->name);
    if (words.front() == verb->name) {
      words.erase(words.begin());
      return run_verb(*verb, std::move(words));
    }
  }
  const bool option = words.front().starts_with("-");
  return fail(std::string{option ? "unknown option " : "unknown command "} + quoted(words.front()) +
                  suggestion(words.front(), names),
              nullptr);
}

}  // namespace
}  // namespace headroom::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  int code = 0;
  try {
    headroom::cli::join_ranks(argc, argv);
    code = headroom::cli::run(argc, argv);
  } catch (const headroom::ConfigError& error) {
    for (const headroom::Diagnostic& diagnostic : error.diagnostics()) {
      const bool placed = !diagnostic.file.empty();
      headroom::cli::say((placed ? "" : "headroom: ") + diagnostic.text() + "\n");
    }
    if (error.untold() > 0) {
      std::fputs(("headroom: error: " + headroom::untold_text(error.untold()) + "\n").c_str(), stderr);
    }
    code = headroom::cli::usage_error;
  } catch (const std::exception& error) {
    headroom::cli::say("headroom: error: " + std::string{error.what()} + "\n");
    code = headroom::cli::usage_error;
  }
  // Skips static destructors, whose cost exceeds their use.
  headroom::cli::leave(code);
}
