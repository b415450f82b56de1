// SPDX-License-Identifier: Apache-2.0
// A document as its JSON text says it; what people read a number as, JSON does not hold.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/json_reader.hpp>

#include <string>

namespace headroom::test {

inline Value value_of(const ConfigValue& read) {
  switch (read.kind) {
    case ConfigValue::Kind::null: return nullptr;
    case ConfigValue::Kind::boolean: return read.boolean;
    case ConfigValue::Kind::integer: return read.integer;
    case ConfigValue::Kind::number: return read.number;
    case ConfigValue::Kind::text: return read.text;
    case ConfigValue::Kind::array: return list(read.items, value_of);
    case ConfigValue::Kind::table: break;
  }
  Value object = headroom::object();
  for (const ConfigEntry& entry : read.entries) {
    object.add({entry.key, value_of(entry.value)});
  }
  return object;
}

inline Value read_value(const std::string& json) {
  return value_of(parse_json(json, "test"));
}

}  // namespace headroom::test
