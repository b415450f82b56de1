// SPDX-License-Identifier: Apache-2.0
// Builds the command line from the verbs' tables and maps failures to exit codes. The only file that includes CLI11.
#include <headroom/answers/markup/fitted.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/data_date.hpp>
#include <headroom/cli/frame/failure.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/process.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/version.hpp>
#include <headroom/core/whole_file.hpp>

#include <CLI/CLI.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
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
    added->check([choices = choices_of(option.value), instead = option.instead,
                  meant = option.meant](const std::string& text) -> std::string {
      // An empty value is reported with the other problems.
      if (text.empty() || (meant != nullptr && !meant(text).empty()) ||
          std::find(choices.begin(), choices.end(), text) != choices.end()) {
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

/// A command line that cannot be read, and the verb whose help says more.
class UsageError : public std::runtime_error {
 public:
  UsageError(const std::string& message, const Verb* verb) : std::runtime_error{message}, verb_{verb} {}
  [[nodiscard]] std::string hint() const {
    return verb_ == nullptr ? "headroom --help" : "headroom " + std::string{verb_->name} + " --help";
  }

 private:
  const Verb* verb_;
};

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

/// Characters of a line: what COLUMNS says, else the terminal; of everything else what fits beside other things.
std::size_t text_width() {
  constexpr std::size_t usual = 100;
  constexpr std::size_t least = 40;
  std::size_t width = usual;
  winsize window{};
  if (const char* const columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0) {
    width = static_cast<std::size_t>(std::atoi(columns));
  } else if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    width = window.ws_col;
  }
  return std::max(width, least);
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

/// Warnings of the user's data files that were passed over.
void tell_passed_over() {
  for (const std::string& warning : untold_warnings()) {
    say(warning + "\n");
  }
}

/// A command that ends without an answer, and the format of documents that it asked for.
struct Command {
  const Verb* verb = nullptr;
  const DocumentFormat* format = nullptr;

  /// Problems that people have read on stderr, for programs on stdout. Returns the exit code.
  [[nodiscard]] int failed(const Value& document, int code) const {
    return format == nullptr ? code : print(format->print(document), code);
  }
  /// As failed(), of one problem.
  [[nodiscard]] int failed(FailureCode why, const std::string& message, int code = usage_error) const {
    return failed(failure_document(code, why, message), code);
  }
};

/// Of remarks on stderr, what a document says of a command without an answer.
std::string told_of(std::string remarks) {
  while (!remarks.empty() && remarks.back() == '\n') {
    remarks.pop_back();
  }
  constexpr std::string_view begin = "headroom: ";
  return remarks.starts_with(begin) ? remarks.substr(begin.size()) : remarks;
}

/// Writes the outcome to stdout or to --output, unless the verb handles --output itself.
int deliver(const Command& command, const Outcome& outcome, const Arguments& arguments) {
  const Verb& verb = *command.verb;
  tell_passed_over();
  say(outcome.err);
  if (outcome.code != 0 && outcome.out.empty()) {
    const FailureCode why = outcome.code == 3 ? FailureCode::no_device : FailureCode::no_answer;
    return command.failed(why, told_of(outcome.err), outcome.code);
  }
  const bool own = std::any_of(verb.options.begin(), verb.options.end(),
                               [](const Option& option) { return option.name == output_option; });
  const std::string file = own ? "" : arguments.one(output_option);
  const std::string text = outcome.prose ? fitted(outcome.out, text_width()) : outcome.out;
  if (file.empty()) {
    return print(text, outcome.code);
  }
  write_whole_file(file, text);
  return outcome.code;
}

int run_verb(const Command& command, std::vector<std::string> words) {
  const Verb& verb = *command.verb;
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
    return print(fitted(full_help(app, verb), text_width()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string message = error.what();
    throw UsageError{"option '" + message.substr(0, message.find(':')) + "' needs a value", &verb};
  } catch (const CLI::ParseError& error) {
    throw UsageError{placed_message(app, verb, error), &verb};
  }
  const std::vector<std::string>& positionals = parsed.lists.back();
  if (positionals.size() > verb.most_positionals) {
    throw UsageError{"unexpected argument " + quoted(positionals[verb.most_positionals]), &verb};
  }
  const Arguments arguments = parsed.arguments();
  check_command(verb, arguments);
  const auto interrupted = [&](int signal) {
    const Value document =
        failure_document(128 + signal, FailureCode::interrupted, "interrupted before there was an answer");
    return command.format == nullptr ? std::string{} : command.format->print(document);
  };
  const std::string sigint = interrupted(SIGINT);
  const std::string sigterm = interrupted(SIGTERM);
  Outcome outcome;
  {
    const InterruptGuard guard{OnInterrupt::leave, {sigint, sigterm}};
    outcome = verb.run(arguments);
  }
  return deliver(command, outcome, arguments);
}

int run(Command& command, std::vector<std::string> words) {
  if (words.empty()) {
    say(overview());
    return usage_error;
  }
  if (words.front() == "-h" || words.front() == "--help" || words.front() == "help") {
    return print(overview());
  }
  if (words.front() == "--version" || words.front() == "-V") {
    return print(std::string{version()} + ", data of " + data_date() + "\n");
  }
  std::vector<std::string_view> names;
  for (const Verb* verb : all_verbs()) {
    names.push_back(verb->name);
    if (words.front() == verb->name) {
      words.erase(words.begin());
      command = {verb, asked_document_format(*verb, words)};
      return run_verb(command, std::move(words));
    }
  }
  const bool option = words.front().starts_with("-");
  throw UsageError{std::string{option ? "unknown option " : "unknown command "} + quoted(words.front()) +
                       suggestion(words.front(), names),
                   nullptr};
}

/// Runs the command, and tells its problems: on stderr for people, and in the format of documents that it asks for.
int answered(std::vector<std::string> words) {
  Command command;
  try {
    return run(command, std::move(words));
  } catch (const UsageError& error) {
    say("headroom: error: " + std::string{error.what()} + "\nsee '" + error.hint() + "'\n");
    return command.failed(FailureCode::usage, error.what());
  } catch (const ConfigError& error) {
    tell_passed_over();
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const bool placed = !diagnostic.file.empty();
      say((placed ? "" : "headroom: ") + diagnostic.text() + "\n");
    }
    if (error.untold() > 0) {
      std::fputs(("headroom: error: " + untold_text(error.untold()) + "\n").c_str(), stderr);
    }
    return command.failed(failure_document(usage_error, FailureCode::input, error.diagnostics(), error.untold()),
                          usage_error);
  } catch (const std::exception& error) {
    say("headroom: error: " + std::string{error.what()} + "\n");
    return command.failed(FailureCode::input, error.what());
  }
}

}  // namespace
}  // namespace headroom::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  int code = 0;
  try {
    headroom::cli::join_ranks(argc, argv);
    code = headroom::cli::answered({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    headroom::cli::say("headroom: error: " + std::string{error.what()} + "\n");
    code = headroom::cli::usage_error;
  }
  // Skips static destructors, whose cost exceeds their use.
  headroom::cli::leave(code);
}
