// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/failure.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/version.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::cli {
namespace {

constexpr std::string_view format_option = "--format";

/// The last value of --format among words as they are typed; empty: none.
std::string_view typed_format(std::span<const std::string> words) {
  std::string_view format;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == format_option && i + 1 < words.size()) {
      format = words[i + 1];
    } else if (word.starts_with(format_option) && word.substr(format_option.size()).starts_with("=")) {
      format = word.substr(format_option.size() + 1);
    }
  }
  return format;
}

Value problem_value(const Diagnostic& problem, FailureCode code) {
  const bool placed = problem.at.line > 0;
  const FailureCode own = problem.missing.empty() ? code : FailureCode::missing_key;
  return row("code"_m = failure_code_names[static_cast<std::size_t>(own)],
             "file"_m = when(!problem.file.empty(), shown(problem.file)), "line"_m = when(placed, problem.at.line),
             "column"_m = when(placed, problem.at.column), "key"_m = when(!problem.missing.empty(), problem.missing),
             "message"_m = shown_lines(problem.message));
}

}  // namespace

const DocumentFormat* asked_document_format(const Verb& verb, std::span<const std::string> words) {
  const std::string_view name = typed_format(words);
  const DocumentFormat* const format = name.empty() ? nullptr : find_document_format(name);
  const auto knows = [&](const Option& option) {
    const std::vector<std::string> choices =
        option.name == format_option ? choices_of(option.value) : std::vector<std::string>{};
    return std::find(choices.begin(), choices.end(), name) != choices.end();
  };
  return format != nullptr && std::any_of(verb.options.begin(), verb.options.end(), knows) ? format : nullptr;
}

Value failure_document(int exit_code, FailureCode code, std::span<const Diagnostic> problems, std::size_t untold) {
  return object("schema"_m = "headroom.error/1", "version"_m = version(), "exit_code"_m = exit_code,
                "errors"_m = list(problems, [&](const Diagnostic& problem) { return problem_value(problem, code); }),
                "untold"_m = untold);
}

Value failure_document(int exit_code, FailureCode code, std::string message) {
  const std::array problem{Diagnostic{{}, {}, std::move(message)}};
  return failure_document(exit_code, code, problem);
}

}  // namespace headroom::cli
