// SPDX-License-Identifier: Apache-2.0
// A command without an answer as a document, for programs that asked for one with --format.
#pragma once

#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/wire/failure.hpp>
#include <headroom/cli/frame/verb.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom::cli {

/// The format of documents that a verb's words ask for with --format, as they were typed: of commands that are refused
/// too. nullptr: none, or one that the verb does not know.
[[nodiscard]] const DocumentFormat* asked_document_format(const Verb& verb, std::span<const std::string> words);

}  // namespace headroom::cli
