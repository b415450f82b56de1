// SPDX-License-Identifier: Apache-2.0
// A question without an answer as a document, for programs: of a command with --format, and of a request.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// Why there is no answer.
enum class FailureCode : std::uint8_t {
  usage,        ///< the command cannot be read
  input,        ///< something that was asked, or a file, cannot be used
  missing_key,  ///< a key is not there that has to be
  no_answer,    ///< everything was read, and there is nothing to answer with
  no_device,    ///< device or driver missing
  interrupted,  ///< by a signal, before there was an answer
  limit,        ///< a limit of whoever answers: bytes, members, depth, seconds, questions at a time
  internal,     ///< a defect of the program
};
inline constexpr std::string_view failure_code_names[]{"usage",     "input",       "missing_key", "no_answer",
                                                       "no_device", "interrupted", "limit",       "internal"};

/// Where a problem stands in a request: the JSON pointer (RFC 6901) of its member; empty: in no member of one.
using MemberOf = std::function<std::string(const Diagnostic& problem)>;

/// Schema "headroom.error/1": every problem with its place. `code` is that of problems that have no nearer one. A
/// problem of a member has its pointer in place of a file.
[[nodiscard]] Value failure_document(int exit_code,
                                     FailureCode code,
                                     std::span<const Diagnostic> problems,
                                     std::size_t untold = 0,
                                     const MemberOf& member_of = {});
/// Of one problem without a place.
[[nodiscard]] Value failure_document(int exit_code, FailureCode code, std::string message);

}  // namespace headroom
