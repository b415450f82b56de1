// SPDX-License-Identifier: Apache-2.0
// Writes JSON text: two-space indentation, keys in call order, and the shortest numbers that read back exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Usage: begin_object(), key("x"), number(1.5), end_object(). Misuse is a bug (asserted). NaN and infinity are written
/// as null because JSON cannot express them.
class JsonWriter {
 public:
  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);
  void text(std::string_view value);
  void number(double value);
  void integer(std::int64_t value);
  void boolean(bool value);
  void null();

  void member(std::string_view name, std::string_view value) { key(name), text(value); }
  void member(std::string_view name, const char* value) { key(name), text(value); }
  void member(std::string_view name, double value) { key(name), number(value); }
  void member(std::string_view name, std::int64_t value) { key(name), integer(value); }
  void member(std::string_view name, int value) { key(name), integer(value); }
  void member(std::string_view name, bool value) { key(name), boolean(value); }

  /// Writes the next object or array on one line, as a row of a table.
  void compact_next() { compact_ = true; }

  /// The finished document, ending in a line break.
  [[nodiscard]] std::string take();
  /// The same once what is open is closed.
  [[nodiscard]] std::string finish();

 private:
  struct Level {
    bool object = false;
    bool empty = true;
    bool compact = false;
  };
  void before_value();
  void separate(Level& level);
  void open(bool object, char bracket);
  void close(bool object, char bracket);
  void new_line();

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  bool compact_ = false;
};

}  // namespace headroom
