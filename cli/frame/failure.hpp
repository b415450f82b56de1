// SPDX-License-Identifier: Apache-2.0
// A command without an answer as a document, for programs that asked for one with --format.
#pragma once

#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/document/value.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/diagnostic.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom::cli {

/// Why there is no answer.
enum class FailureCode : std::uint8_t {
  usage,        ///< the command cannot be read
  input,        ///< something that was asked, or a file, cannot be used
  missing_key,  ///< a key is not there that has to be
  no_answer,    ///< everything was read, and there is nothing to answer with
  no_device,    ///< device or driver missing
  interrupted,  ///< by a signal, before there was an answer
};
inline constexpr std::string_view failure_code_names[]{"usage",     "input",     "missing_key",
                                                       "no_answer", "no_device", "interrupted"};

/// The format of documents that a verb's words ask for with --format, as they were typed: of commands that are refused
/// too. nullptr: none, or one that the verb does not know.
[[nodiscard]] const DocumentFormat* asked_document_format(const Verb& verb, std::span<const std::string> words);

/// Schema "headroom.error/1": every problem with its place. `code` is that of problems that have no nearer one.
[[nodiscard]] Value failure_document(int exit_code,
                                     FailureCode code,
                                     std::span<const Diagnostic> problems,
                                     std::size_t untold = 0);
/// Of one problem without a place.
[[nodiscard]] Value failure_document(int exit_code, FailureCode code, std::string message);

}  // namespace headroom::cli
