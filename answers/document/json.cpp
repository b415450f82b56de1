// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/document/print.hpp>
#include <headroom/core/json_writer.hpp>

namespace headroom {

using Kind = Value::Kind;

void write_json(JsonWriter& json, const Value& value) {
  switch (value.kind()) {
    case Kind::absent:
    case Kind::null: json.null(); return;
    case Kind::boolean: json.boolean(value.is_true()); return;
    case Kind::integer: json.integer(value.integer()); return;
    case Kind::number: json.number(value.number()); return;
    case Kind::text: json.text(value.text()); return;
    case Kind::list:
    case Kind::object: break;
  }
  if (value.one_line()) {
    json.compact_next();
  }
  const bool object = value.kind() == Kind::object;
  object ? json.begin_object() : json.begin_array();
  for (const Member& member : value.members()) {
    if (object) {
      json.key(member.key);
    }
    write_json(json, member.value);
  }
  object ? json.end_object() : json.end_array();
}

std::string json_text(const Value& value) {
  JsonWriter json;
  write_json(json, value);
  return json.take();
}

const DocumentFormat formats::json{
    .name = "json",
    .meaning = "json with raw SI",
    .print = json_text,
};

}  // namespace headroom
