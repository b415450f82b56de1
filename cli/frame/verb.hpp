// SPDX-License-Identifier: Apache-2.0
// A verb of the command line: a table of its options and a function.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

enum class OptionKind : std::uint8_t { flag, one, many };

/// What a command does with a named file or folder.
enum class FileUse : std::uint8_t {
  none,       ///< the value is not a path
  reads,      ///< reads a file, or a folder of data files
  writes,     ///< writes a file, completely or not at all
  keeps,      ///< reads a file if it exists, continues and writes it, with side files next to it
  writes_in,  ///< writes files into a folder
};

/// Set of a verb's forms, as bits by their places in its table.
using Forms = std::uint32_t;
inline constexpr Forms every_form = ~Forms{};

struct Option {
  std::string_view name;  ///< "--format"
  OptionKind kind;
  std::string_view value;  ///< choices "text|json", or the name of the value
  std::string_view help;
  Forms forms = every_form;       ///< forms that the option applies to; others refuse it
  std::string_view beside = {};   ///< option that must be present: "--nodes", or with its value "--format toml"
  std::string_view against = {};  ///< option that excludes this one: "--no-fit"
  FileUse file = FileUse::none;
  /// What to take for a word that is none of the choices, as the end of a sentence; empty: the nearest choice is told.
  std::string (*instead)(std::string_view word) = nullptr;
  /// The choice that another usual word means, which the verb takes for it; empty: it means none.
  std::string_view (*meant)(std::string_view word) = nullptr;

  // Copies of the option with one property set.
  template <class... Form>
  [[nodiscard]] constexpr Option of(Form... form) const {
    Option option = *this;
    option.forms = ((Forms{1} << static_cast<unsigned>(form)) | ...);
    return option;
  }
  [[nodiscard]] constexpr Option with(std::string_view other) const {
    Option option = *this;
    option.beside = other;
    return option;
  }
  [[nodiscard]] constexpr Option without(std::string_view other) const {
    Option option = *this;
    option.against = other;
    return option;
  }
  [[nodiscard]] constexpr Option that(FileUse use) const {
    Option option = *this;
    option.file = use;
    return option;
  }
  [[nodiscard]] constexpr Option or_else(std::string (*what)(std::string_view word)) const {
    Option option = *this;
    option.instead = what;
    return option;
  }
  [[nodiscard]] constexpr Option or_meant(std::string_view (*choice)(std::string_view word)) const {
    Option option = *this;
    option.meant = choice;
    return option;
  }
};

/// Of the verbs that answer in prose.
inline constexpr Option brief_option{"--brief", OptionKind::flag, "",
                                     "the verdict and the numbers that a planner needs first, in a few lines"};

/// A question that a verb answers. The verb finds the form from the command's words, options or scenario, and reports
/// it with require_form().
struct Form {
  std::string_view what;          ///< "a comparison of scenarios"
  std::string_view asked_by;      ///< what selects the form: "--harness FILE.csv"; empty: not worth mentioning
  std::string_view formats = {};  ///< choices of --format, "text|json"; empty: all of the verb's
};

/// Typed values by option name; positionals under "".
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = default;
  Arguments(Arguments&&) = default;
  Arguments& operator=(const Arguments&) = default;
  Arguments& operator=(Arguments&&) = default;
  virtual ~Arguments() = default;

  void add(std::string_view name, std::string value) { values_[std::string{name}].push_back(std::move(value)); }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The last value given, or `fallback`.
  [[nodiscard]] std::string one(std::string_view name, std::string_view fallback = "") const {
    const std::vector<std::string>* const found = find(name);
    return found == nullptr ? std::string{fallback} : found->back();
  }
  [[nodiscard]] std::vector<std::string> many(std::string_view name) const {
    const std::vector<std::string>* const found = find(name);
    return found == nullptr ? std::vector<std::string>{} : *found;
  }
  /// Values of an option, for checks; does not go through find().
  [[nodiscard]] std::span<const std::string> given(std::string_view name) const {
    const std::vector<std::string>* const found = Arguments::find(name);
    return found == nullptr ? std::span<const std::string>{} : std::span{*found};
  }

 protected:
  /// Values of an option that a verb asks for; nullptr when absent. Derived classes can record what is asked.
  [[nodiscard]] virtual const std::vector<std::string>* find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// Result of a verb: text for stdout, remarks for stderr, and the exit code. Nothing is printed before the verb has
/// finished, so an error never follows half an answer.
struct Outcome {
  std::string out;
  std::string err;
  int code = 0;        ///< 0 answered, 1 no, 2 usage or input, 3 no device, 4 a gate cannot tell, 128 + signal
  bool prose = false;  ///< `out` is text for people, which is fitted to the width that they read it on
};

/// A word that may stand in place of a file, and what may follow it. Used by manual pages and shell completions only,
/// not for checks.
struct PositionalWord {
  std::string word;       ///< "list"
  std::string_view next;  ///< choices, or the name of a value; empty: nothing follows
};

struct Verb {
  std::string_view name;
  std::string_view summary;
  std::string_view positional;  ///< "SCENARIO.toml"; empty: none
  std::size_t most_positionals;
  std::span<const Option> options;
  std::string_view examples;  ///< lines to copy and run
  Outcome (*run)(const Arguments& arguments);
  std::vector<PositionalWord> (*words)() = nullptr;
  std::span<const Form> forms = {};          ///< empty: a single form
  FileUse positionals_are = FileUse::reads;  ///< use of the positionals that are not words
};

/// All verbs in the order in which they are listed: what cli/verbs/NAME.cpp defines as NAME_verb, found by the build.
[[nodiscard]] std::span<const Verb* const> all_verbs() noexcept;

/// One-line description of the program, and its first examples.
inline constexpr std::string_view program_summary = "what a GPU workload will need and do, before any GPU is rented";
inline constexpr std::string_view program_examples =
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch "
    "1024\n"
    "  headroom explain scenarios/train/llama3-70b-512xh100.toml\n"
    "  headroom validate\n";

}  // namespace headroom::cli
