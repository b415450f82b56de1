// SPDX-License-Identifier: Apache-2.0
// A request's text as a tree within its limits, and the documents that stand in it.
#pragma once

#include <headroom/answers/wire/request.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A request beyond a limit.
class WireLimitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A request whose text is no request: ConfigError of the same, apart from what is asked.
class WireFormError : public ConfigError {
 public:
  explicit WireFormError(const ConfigError& error);
};

/// The text as a tree; an empty text is an empty request. WireLimitError, WireFormError.
[[nodiscard]] ConfigValue wire_tree(std::string_view request, const WireLimits& limits);

/// JSON pointers (RFC 6901) of a tree's members by their places in the text.
class WirePlaces {
 public:
  explicit WirePlaces(const ConfigValue& tree);
  /// Of the member where a problem stands, or of the nearest that begins before it; empty: none of this request.
  [[nodiscard]] std::string member_of(const Diagnostic& problem) const;

 private:
  struct Entry {
    Position at;
    std::string pointer;
  };
  void add(const ConfigValue& value, const std::string& pointer);
  std::vector<Entry> entries_;
};

/// What a document of a request is called in messages that have no place: "<request>/scenario".
[[nodiscard]] std::string wire_document_name(std::string_view pointer);

/// A scenario as a request holds it at `pointer`: its tables as objects, names with dots as the tables that they name,
/// or the text of a TOML file. `set` lies over it, of dotted names too; null: nothing does. Without `schema` it is of
/// version 1. Problems go to `problems`, and what is returned is then not to be read. WireLimitError for a text with
/// too many values.
[[nodiscard]] ConfigValue wire_document(const ConfigValue& scenario,
                                        const ConfigValue* set,
                                        const std::string& pointer,
                                        const WireLimits& limits,
                                        Diagnostics& problems);

}  // namespace headroom
