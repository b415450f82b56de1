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

struct Verb {
  std::string_view name;
  std::string_view summary;
  std::string_view positional;  ///< "SCENARIO.toml", empty: none
  std::size_t most_positionals;
  std::span<const Option> options;
  std::string_view examples;  ///< copy-paste lines
  Outcome (*run)(const Arguments& arguments);
};

extern const Verb plan_verb;
extern const Verb explain_verb;
extern const Verb scale_verb;
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

/// "Headroom 0.1.0".
[[nodiscard]] std::string_view version() noexcept;
/// "0.1.0".
[[nodiscard]] std::string_view version_number() noexcept;

}  // namespace headroom::cli
