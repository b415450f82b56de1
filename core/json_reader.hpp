// SPDX-License-Identifier: Apache-2.0
// Strict JSON (RFC 8259), read into the same tree as TOML, with the place of every value.
#pragma once

#include <headroom/core/config_value.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace headroom {

/// Parses JSON whose root is an object. Throws ConfigError with line and column for a syntax error, trailing text,
/// invalid UTF-8, a number outside the range of a double or nesting deeper than 256, and for every duplicate key.
[[nodiscard]] ConfigValue parse_json(std::string_view text, const std::string& file);

/// Told of a text's parts as they stream by. `false` ends the reading.
class JsonListener {
 public:
  JsonListener() = default;
  virtual ~JsonListener() = default;
  JsonListener(const JsonListener&) = delete;
  JsonListener& operator=(const JsonListener&) = delete;
  JsonListener(JsonListener&&) = delete;
  JsonListener& operator=(JsonListener&&) = delete;

  virtual bool opened(bool object) = 0;
  virtual bool closed() = 0;
  virtual void key(std::string_view name) = 0;
  /// A number as it is written, or a text; true, false and null are passed over.
  virtual void value(std::string_view text) = 0;
};

/// Pieces of a text that is too large to be held, in order; empty at its end. Each stays until the next is asked for.
using NextText = std::function<std::string_view()>;

/// Reads one JSON value of any kind, of any depth that the listener bears; NaN and infinities pass as numbers, bytes of
/// texts as they are. ConfigError with line and column, and `hint` behind the reason, where the text breaks.
void stream_json(const NextText& next, const std::string& file, JsonListener& listener, const std::string& hint);

}  // namespace headroom
