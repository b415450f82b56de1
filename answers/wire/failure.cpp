// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/wire/failure.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/version.hpp>

#include <array>
#include <utility>

namespace headroom {
namespace {

Value problem_value(const Diagnostic& problem, FailureCode code, const MemberOf& member_of) {
  const bool placed = problem.at.line > 0;
  const FailureCode own = problem.missing.empty() ? code : FailureCode::missing_key;
  const std::string member = member_of ? member_of(problem) : std::string{};
  return row("code"_m = failure_code_names[static_cast<std::size_t>(own)], "path"_m = when(!member.empty(), member),
             "file"_m = when(member.empty() && !problem.file.empty(), shown(problem.file)),
             "line"_m = when(placed, problem.at.line), "column"_m = when(placed, problem.at.column),
             "key"_m = when(!problem.missing.empty(), problem.missing), "message"_m = shown_lines(problem.message));
}

}  // namespace

Value failure_document(int exit_code,
                       FailureCode code,
                       std::span<const Diagnostic> problems,
                       std::size_t untold,
                       const MemberOf& member_of) {
  return object(
      "schema"_m = "headroom.error/1", "version"_m = version(), "exit_code"_m = exit_code,
      "errors"_m = list(problems, [&](const Diagnostic& problem) { return problem_value(problem, code, member_of); }),
      "untold"_m = untold);
}

Value failure_document(int exit_code, FailureCode code, std::string message) {
  const std::array problem{Diagnostic{{}, {}, std::move(message)}};
  return failure_document(exit_code, code, problem);
}

}  // namespace headroom
