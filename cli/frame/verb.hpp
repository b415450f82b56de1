// SPDX-License-Identifier: Apache-2.0
// A verb of the command line: its options as a table, and one function.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

enum class OptionKind : std::uint8_t { flag, one, many };

/// What a command does to the file or the folder that is named.
enum class FileUse : std::uint8_t {
  none,       ///< the value is no path
  reads,      ///< a file, or a folder of data files
  writes,     ///< a file, whole or not at all
  keeps,      ///< a file that is gone on from where it is there, and written, with what is made beside it
  writes_in,  ///< a folder, whose files are written
};

/// A verb's forms, as bits by their places in its table.
using Forms = std::uint32_t;
inline constexpr Forms every_form = ~Forms{};

struct Option {
  std::string_view name;  ///< "--format"
  OptionKind kind;
  std::string_view value;  ///< "text|json": a list of choices when it holds '|', else the name of the value
  std::string_view help;
  Forms forms = every_form;       ///< in which it has a part; elsewhere it is refused
  std::string_view beside = {};   ///< what it has no part without: "--nodes", or with its value "--format toml"
  std::string_view against = {};  ///< a flag or an option that leaves it none: "--no-fit"
  FileUse file = FileUse::none;

  // The same option, with one thing more said of it.
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
};

/// One of the questions that a verb answers. Which one a command asks follows from its words, its leading options or
/// its scenario; the verb finds that out, and says so with require_form().
struct Form {
  std::string_view what;          ///< "a comparison of scenarios"
  std::string_view asked_by;      ///< "--harness FILE.csv": what makes a command ask it; empty: not worth telling
  std::string_view formats = {};  ///< of --format, "text|json"; empty: all of the verb's
};

/// What was typed, by option name; positionals under "".
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
  /// The values of an option for who only checks them: not by way of find().
  [[nodiscard]] std::span<const std::string> given(std::string_view name) const {
    const std::vector<std::string>* const found = Arguments::find(name);
    return found == nullptr ? std::span<const std::string>{} : std::span{*found};
  }

 protected:
  /// By what a verb asks for an option, given or not; nullptr: it is not. Whoever derives sees what is asked for.
  [[nodiscard]] virtual const std::vector<std::string>* find(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// What a verb leaves behind: text for stdout, remarks for stderr, and the exit code. Nothing is printed before the
/// verb has finished, so that an error never follows half an answer.
struct Outcome {
  std::string out;
  std::string err;
  int code = 0;  ///< 0 answered, 1 infeasible or outside its budget, 2 usage or input, 3 device missing, 128 + signal
};

/// A word that a positional of a verb may be beside a file, and what may follow it. Nothing is checked against these:
/// manual pages list them and shells complete them.
struct PositionalWord {
  std::string word;       ///< "list"
  std::string_view next;  ///< as Option::value: choices, or the name of a value; empty: nothing follows
};

struct Verb {
  std::string_view name;
  std::string_view summary;
  std::string_view positional;  ///< "SCENARIO.toml", empty: none
  std::size_t most_positionals;
  std::span<const Option> options;
  std::string_view examples;  ///< copy-paste lines
  Outcome (*run)(const Arguments& arguments);
  std::vector<PositionalWord> (*words)() = nullptr;
  std::span<const Form> forms = {};          ///< empty: one alone
  FileUse positionals_are = FileUse::reads;  ///< those that are no words
};

/// All of them, in the order in which they are told: what cli/verbs/NAME.cpp defines as NAME_verb, found by the build.
[[nodiscard]] std::span<const Verb* const> all_verbs() noexcept;

/// The program in a line, and its first examples.
inline constexpr std::string_view program_summary = "what a GPU workload will need and do, before any GPU is rented";
inline constexpr std::string_view program_examples =
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch "
    "1024\n"
    "  headroom explain scenarios/train/llama3-70b-512xh100.toml\n"
    "  headroom validate\n";

}  // namespace headroom::cli
