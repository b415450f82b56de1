// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/json_writer.hpp>
#include <headroom/core/real_text.hpp>

#include <array>
#include <cassert>
#include <cmath>

namespace headroom {

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(2 * levels_.size(), ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) {
    return;
  }
  assert(!levels_.back().object && "a member needs its key first");
  separate(levels_.back());
}

void JsonWriter::separate(Level& level) {
  if (!level.empty) {
    text_ += level.compact ? ", " : ",";
  }
  if (!level.compact) {
    new_line();
  }
  level.empty = false;
}

void JsonWriter::open(bool object, char bracket) {
  before_value();
  text_ += bracket;
  const bool inside_compact = !levels_.empty() && levels_.back().compact;
  levels_.push_back({object, true, compact_ || inside_compact});
  compact_ = false;
}

void JsonWriter::close([[maybe_unused]] bool object, char bracket) {
  assert(!levels_.empty() && levels_.back().object == object && !after_key_);
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.compact) {
    new_line();
  }
  text_ += bracket;
}

void JsonWriter::begin_object() {
  open(true, '{');
}
void JsonWriter::end_object() {
  close(true, '}');
}
void JsonWriter::begin_array() {
  open(false, '[');
}
void JsonWriter::end_array() {
  close(false, ']');
}

void JsonWriter::key(std::string_view name) {
  assert(!levels_.empty() && levels_.back().object && !after_key_);
  separate(levels_.back());
  after_key_ = true;
  // The name is escaped as any other text.
  text(name);
  text_ += ": ";
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  constexpr std::string_view digits = "0123456789abcdef";
  before_value();
  text_ += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': text_ += "\\\""; break;
      case '\\': text_ += "\\\\"; break;
      case '\n': text_ += "\\n"; break;
      case '\t': text_ += "\\t"; break;
      case '\r': text_ += "\\r"; break;
      default:
        if (byte < 0x20) {
          text_ += {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) {
    null();
    return;
  }
  before_value();
  text_ += shortest_text(value);
}

void JsonWriter::integer(std::int64_t value) {
  before_value();
  text_ += std::to_string(value);
}

void JsonWriter::boolean(bool value) {
  before_value();
  text_ += value ? "true" : "false";
}

void JsonWriter::null() {
  before_value();
  text_ += "null";
}

std::string JsonWriter::finish() {
  while (!levels_.empty()) {
    const bool object = levels_.back().object;
    close(object, object ? '}' : ']');
  }
  return take();
}

std::string JsonWriter::take() {
  assert(levels_.empty());
  return std::move(text_) + "\n";
}

}  // namespace headroom
