// SPDX-License-Identifier: Apache-2.0
// Keyword arguments of a call as documents of questions, in the words of the quick form and of the table of keys.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/stubs/call_options.hpp>
#include <headroom/cli/verbs/side_by_side.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::python {

/// A Python value in the words of the readers.
struct Given {
  enum class Kind : std::uint8_t { scalar, list, table };
  Kind kind = Kind::scalar;
  std::string typed;                ///< a scalar as the command line has it: "8", "16 GiB"
  std::string toml;                 ///< the value as TOML: "8", "\"16 GiB\"", "[1, 2]"
  std::vector<std::string> items;   ///< of a list, as the command line has them
  std::vector<Assignment> entries;  ///< of a table: "tp=8", "prefill.gpus=8"
};

struct Keyword {
  std::string name;  ///< "tp", "strategy", "strategy.tp"
  Given value;
};

/// What a question is about, before its keywords.
struct Source {
  enum class Kind : std::uint8_t { none, file, text, table, document };
  Kind kind = Kind::none;
  std::string text;                             ///< path of a file, or a document's text
  std::vector<Assignment> entries;              ///< of a table
  std::shared_ptr<const ConfigValue> document;  ///< of an answer, whose question is asked again
  std::string name;                             ///< of an answer's question
};

/// A call of one of the functions that ask a question.
struct Call {
  Calls function = Calls::plan;
  std::vector<Source> sources;
  std::vector<Keyword> keywords;
};

/// A call's keywords, sorted: assignments of keys, options of the function, and what is neither.
struct Sorted {
  cli::Arguments keys;             ///< options of the quick form, with --set and --search
  cli::Arguments own;              ///< the function's own options by their names, "threads"
  std::vector<Assignment> listed;  ///< keys that were given several values
  std::vector<Diagnostic> problems;
};
[[nodiscard]] Sorted sorted(const Call& call);

/// The documents that a call asks about: one each for its sources and the values of its lists. ConfigError with every
/// problem at once, unknown keywords among them.
[[nodiscard]] std::vector<NamedDocument> documents_of(const Call& call, const Sorted& sorted);

/// A problem in Python's words: "seq_len=0" where the command line has "--seq-len 0".
[[nodiscard]] Diagnostic in_python(Diagnostic problem);

/// A basic string of TOML with its quotes.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace headroom::python
