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

struct Option {
  std::string_view name;  ///< "--format"
  OptionKind kind;
  std::string_view value;  ///< "text|json": a list of choices when it holds '|', else the name of the value
  std::string_view help;
};

/// What was typed, by option name; positionals under "".
class Arguments {
 public:
  void add(std::string_view name, std::string value) { values_[std::string{name}].push_back(std::move(value)); }
  [[nodiscard]] bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// The last value given, or `fallback`.
  [[nodiscard]] std::string one(std::string_view name, std::string_view fallback = "") const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string{fallback} : found->second.back();
  }
  [[nodiscard]] std::vector<std::string> many(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::vector<std::string>{} : found->second;
  }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// What a verb leaves behind: text for stdout, remarks for stderr, and the exit code. Nothing is printed before the
/// verb has finished, so that an error never follows half an answer.
struct Outcome {
  std::string out;
  std::string err;
  int code = 0;  ///< 0 answered, 1 infeasible or outside its budget, 2 usage or input, 3 device missing
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
};

extern const Verb plan_verb;
extern const Verb explain_verb;
extern const Verb scale_verb;
extern const Verb simulate_verb;
extern const Verb compare_verb;
extern const Verb validate_verb;
extern const Verb catalog_verb;
extern const Verb fabric_verb;
extern const Verb fit_verb;
extern const Verb op_verb;
extern const Verb collective_verb;
extern const Verb roofline_verb;
extern const Verb replay_verb;
extern const Verb probe_verb;
extern const Verb calibrate_verb;
extern const Verb export_verb;
extern const Verb import_verb;

/// All of them, in the order in which they are told.
[[nodiscard]] std::span<const Verb* const> all_verbs() noexcept;

/// The program in a line, and its first examples.
inline constexpr std::string_view program_summary = "what a GPU workload will need and do, before any GPU is rented";
inline constexpr std::string_view program_examples =
    "  headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch "
    "1024\n"
    "  headroom explain scenarios/train/llama3-70b-512xh100.toml\n"
    "  headroom validate\n";

/// "Headroom 0.1.0".
[[nodiscard]] std::string_view version() noexcept;
/// "0.1.0".
[[nodiscard]] std::string_view version_number() noexcept;

}  // namespace headroom::cli
