// SPDX-License-Identifier: Apache-2.0
// Manual pages in the macros of man(7).
#include <headroom/cli/frame/data_folder.hpp>
#include <headroom/cli/pages/pages.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli::pages {
namespace {

constexpr std::size_t line_width = 76;

/// Escapes text for roff: the escape character, hyphens (so that they can be copied), and control characters at the
/// start of a line.
std::string literal(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += "\\&";
    }
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return result;
}

/// Escaped text in lines of bounded width, for readers of the source; roff fills them anew.
std::string paragraph(std::string_view text) {
  std::string result;
  std::string line;
  const auto flush = [&] {
    result += literal(line) + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (!line.empty() && line.size() + 1 + end > line_width) {
      flush();
    }
    line += (line.empty() ? "" : " ") + std::string{text.substr(0, end)};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  flush();
  return result;
}

std::string upper(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

/// Lines end where words do: a list of choices longer than a line cannot be adjusted to both sides.
std::string title(std::string_view name, std::string_view date, std::string_view version) {
  return ".\\\" Generated from the table of verbs; edits are lost.\n.TH " + upper(name) + " 1 \"" + std::string{date} +
         "\" \"" + std::string{version} + "\" \"User Commands\"\n.ad l\n";
}

std::string section(std::string_view name) {
  return ".SH " + std::string{name} + "\n";
}

std::string bold(std::string_view text) {
  return "\\fB" + literal(text) + "\\fR";
}

/// Italic text that may break after each word of a choice, because some are longer than a line.
std::string italic(std::string_view text) {
  std::string result = "\\fI";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('|'), text.size() - 1) + 1;
    result += literal(text.substr(0, end)) + (end < text.size() ? "\\:" : "");
    text.remove_prefix(end);
  }
  return result + "\\fR";
}

/// An item of a list: its tag and the description.
std::string item(const std::string& tag, std::string_view text) {
  return ".TP\n" + tag + "\n" + paragraph(text);
}

std::string example_lines(std::string_view lines) {
  std::string result = ".EX\n";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    result += literal(line) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return result + ".EE\n";
}

std::string option_item(const Option& option) {
  const std::string_view brief = short_name(option);
  std::string tag = brief.empty() ? "" : bold(brief) + ", ";
  tag += bold(option.name) + (option.value.empty() ? "" : " " + italic(option.value));
  return item(tag, option.help);
}

std::string word_items(const Verb& verb) {
  std::string text;
  for (const PositionalWord& word : verb.words()) {
    text += ".TP\n" + bold(word.word) + (word.next.empty() ? "" : " " + italic(word.next)) + "\n";
  }
  return text;
}

struct Told {
  std::string_view what, text;
};

constexpr std::array exit_codes{
    Told{"0", "answered"},
    Told{"1", "no feasible plan, or a validation outside its budget"},
    Told{"2", "usage or input: every problem at once, with file, line, column and the way out"},
    Told{"3", "a device or its driver is missing"},
    Told{"130, 143",
         "interrupted by SIGINT (Ctrl-C) or SIGTERM: what a search or a calibration had until then is printed, marked "
         "as "
         "partial; other work leaves no answer"},
};

constexpr std::array variables{
    Told{
        "HEADROOM_PROBES_LIBRARY",
        "the library of GPU probes, its whole path; default libheadroom_probes.so beside the program or in its ../lib"},
};

std::string exit_status() {
  std::string text = section("EXIT STATUS");
  for (const Told& code : exit_codes) {
    text += item(bold(code.what), code.text);
  }
  return text;
}

}  // namespace

std::string front_manual(std::span<const Verb* const> verbs, std::string_view date, std::string_view version) {
  std::string text = title("headroom", date, version);
  text += section("NAME") + "headroom \\- " + literal(program_summary) + "\n";
  text += section("SYNOPSIS") + bold("headroom") + " " + italic("VERB") + " [" + italic("OPTIONS") + "]\n.br\n" +
          bold("headroom") + " " + bold("--help") + " | " + bold("--version") + "\n";
  text += section("DESCRIPTION") +
          paragraph(
              "Tells, before any hardware is rented, what training or serving a model needs and does: memory, time, "
              "tokens per second, GPU-hours and money, each with the interval that past errors have earned, and where "
              "every number comes from. Hardware, prices and models are built in; physical values are written with "
              "their units, such as \"80 GiB\" or \"400 Gb/s\".");
  text += section("VERBS");
  for (const Verb* verb : verbs) {
    text += ".TP\n.BR headroom\\-" + literal(verb->name) + " (1)\n" + paragraph(verb->summary);
  }
  text += exit_status() + section("ENVIRONMENT");
  text += item(bold("HEADROOM_DATA_DIR"),
               "folders of your own data, separated by colons; of each the files ID.toml of its subfolders add to what "
               "is built in and override it: " +
                   data_kinds_text());
  for (const Told& variable : variables) {
    text += item(bold(variable.what), variable.text);
  }
  text += section("FILES") + item(italic("~/.config/headroom"), "your own data, laid out as HEADROOM_DATA_DIR is");
  text += section("EXAMPLES") + example_lines(program_examples);
  text += section("SEE ALSO");
  for (const Verb* verb : verbs) {
    text += ".BR headroom\\-" + literal(verb->name) + (verb == verbs.back() ? " (1)\n" : " (1),\n");
  }
  return text;
}

std::string verb_manual(const Verb& verb, std::string_view date, std::string_view version) {
  const std::string name = "headroom-" + std::string{verb.name};
  std::string text = title(name, date, version);
  text += section("NAME") + literal(name) + " \\- " + literal(verb.summary) + "\n";
  const std::string usage = usage_of(verb);
  const std::string program = "headroom " + std::string{verb.name};
  text += section("SYNOPSIS") + bold(program) + literal(usage.substr(program.size())) + "\n";
  if (verb.words != nullptr) {
    text += section("ARGUMENTS") + word_items(verb);
  }
  text += section("OPTIONS");
  for (const Option& option : all_options_of(verb)) {
    text += option_item(option);
  }
  text += exit_status();
  if (!verb.examples.empty()) {
    text += section("EXAMPLES") + example_lines(verb.examples);
  }
  return text + section("SEE ALSO") + ".BR headroom (1)\n";
}

}  // namespace headroom::cli::pages
