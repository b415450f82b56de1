// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/wire/lists.hpp>
#include <headroom/answers/wire/members.hpp>
#include <headroom/answers/wire/openapi.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/schema.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// Words of a list with blanks between.
std::vector<std::string_view> parts_of(std::string_view words) {
  std::vector<std::string_view> all;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    all.push_back(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return all;
}

Value reference(const std::string& to) {
  return row("$ref"_m = "#/components/" + to);
}

/// A text that a schema, which is text already, takes the place of.
std::string place_for(std::string_view schema) {
  return "@schema " + std::string{schema} + "@";
}

Value texts(const std::vector<std::string_view>& words) {
  return list(words, [](std::string_view word) { return word; }).on_one_line();
}

Value typed(std::string_view type) {
  return object("type"_m = type);
}

Value one_of(std::vector<Value> forms) {
  return object("anyOf"_m = list(forms, [](const Value& form) { return form; }));
}

Value format_words() {
  std::vector<std::string_view> words;
  for (const DocumentFormat* const format : document_formats) {
    words.push_back(format->name);
  }
  for (const std::string_view other : {"text", "brief", "html", "csv"}) {
    words.push_back(other);
  }
  return object("enum"_m = texts(words));
}

Value form_of(WireType type) {
  switch (type) {
    case WireType::scenario: return one_of({reference("schemas/scenario"), typed("string")});
    case WireType::scenarios: {
      Value all = typed("array");
      all.add({"items", one_of({reference("schemas/scenario"), typed("string")})});
      all.add({"minItems", 2});
      all.add({"maxItems", 16});
      return all;
    }
    case WireType::object: return typed("object");
    case WireType::config: return one_of({typed("object"), typed("string")});
    case WireType::text:
    case WireType::quantity: return typed("string");
    case WireType::texts: {
      Value all = typed("array");
      all.add({"items", typed("string")});
      return all;
    }
    case WireType::number_or_text: return one_of({typed("number"), typed("string")});
    case WireType::number: return typed("number");
    case WireType::integer: return typed("integer");
    case WireType::boolean: return typed("boolean");
    case WireType::format: break;
  }
  return format_words();
}

/// A member's example, which its table holds as JSON.
Value example_of_member(const WireMember& member) {
  if (member.example.empty()) {
    return {};
  }
  const ConfigValue tree = parse_json("{\"example\": " + std::string{member.example} + "}", "example");
  return list(std::array{tree.find("example")},
              [](const ConfigValue* value) { return wire_value(*value).on_one_line(); });
}

Value request_schema(const WireRoute& route) {
  Value properties = object();
  std::vector<std::string_view> needed;
  for (const WireMember& member : wire_members()) {
    if (!member.of(route.verb)) {
      continue;
    }
    if (member.needed || route.verb == WireVerb::import_config) {
      needed.push_back(member.name);
    }
    Value schema = object("description"_m = member.meaning, form_of(member.type));
    schema.add({"examples", example_of_member(member)});
    properties.add({std::string{member.name}, std::move(schema)});
  }
  return object("type"_m = "object", "properties"_m = std::move(properties), "required"_m = texts(needed),
                "additionalProperties"_m = false);
}

Value answer_content(const WireRoute& route) {
  std::vector<Value> forms;
  for (const std::string_view name : parts_of(route.answers)) {
    forms.push_back(reference("schemas/answer." + std::string{name}));
  }
  Value json = forms.empty()       ? typed("object")
               : forms.size() == 1 ? std::move(forms.front())
                                   : one_of(std::move(forms));
  Value content = object();
  content.add({"application/json", object("schema"_m = std::move(json))});
  if (route.asks && route.verb != WireVerb::import_config) {
    for (const char* const type : {"text/plain", "text/html", "text/csv"}) {
      content.add({type, object("schema"_m = typed("string"))});
    }
  }
  return content;
}

Value responses_of(const WireRoute& route) {
  Value all = object();
  all.add({"200", object("description"_m = "the answer, a refused plan among them: its document says why",
                         "content"_m = answer_content(route))});
  const auto refusal = [&](const char* status) { all.add({status, reference("responses/error")}); };
  if (route.asks) {
    for (const char* const status : {"400", "413", "415", "422", "500", "503"}) {
      refusal(status);
    }
  } else if (!route.last.empty()) {
    refusal("422");
  }
  return all;
}

Value parameter_of(const WireRoute& route) {
  Value schema = typed("string");
  if (route.verb == WireVerb::catalog) {
    schema.add({"enum", texts({wire_catalog_kinds.begin(), wire_catalog_kinds.end()})});
  } else {
    std::vector<std::string_view> names{"scenario"};
    for (const AnswerSchema& answer : all_answers()) {
      names.push_back(answer.name);
    }
    schema.add({"enum", texts(names)});
  }
  return object("name"_m = route.last, "in"_m = "path", "required"_m = true, "schema"_m = std::move(schema));
}

Value operation(const WireRoute& route, bool with_word) {
  const std::string id = std::string{route.name} + (with_word ? "_of" : "");
  Value all = object("operationId"_m = id, "summary"_m = route.meaning);
  if (with_word) {
    all.add({"parameters", list(std::array{parameter_of(route)}, [](const Value& one) { return one; })});
  }
  if (route.asks) {
    Value content = object();
    content.add({"application/json", object("schema"_m = reference("schemas/request." + std::string{route.name}))});
    all.add({"requestBody", object("required"_m = true, "content"_m = std::move(content))});
  }
  all.add({"responses", responses_of(route)});
  Value item = object();
  item.add({route.asks ? "post" : "get", std::move(all)});
  return item;
}

/// The schema in the place of its text, indented as that.
void put_in_place(std::string& document, std::string_view name, std::string schema) {
  const std::string text = "\"" + place_for(name) + "\"";
  const std::size_t at = document.find(text);
  const std::size_t line = document.rfind('\n', at) + 1;
  const std::size_t indent = document.find_first_not_of(' ', line) - line;
  while (!schema.empty() && schema.back() == '\n') {
    schema.pop_back();
  }
  std::string indented;
  for (const char c : schema) {
    indented += c;
    if (c == '\n') {
      indented += std::string(indent, ' ');
    }
  }
  document.replace(at, text.size(), indented);
}

}  // namespace

std::string openapi_document() {
  Value paths = object();
  Value schemas = object("scenario"_m = place_for("scenario"));
  for (const WireRoute& route : wire_routes()) {
    paths.add({std::string{route.path}, operation(route, false)});
    if (!route.last.empty()) {
      paths.add({std::string{route.path} + "/{" + std::string{route.last} + "}", operation(route, true)});
    }
    if (route.asks) {
      schemas.add({"request." + std::string{route.name}, request_schema(route)});
    }
  }
  for (const AnswerSchema& answer : all_answers()) {
    schemas.add({"answer." + std::string{answer.name}, place_for(answer.name)});
  }
  Value error = object();
  error.add({"application/json", object("schema"_m = reference("schemas/answer.error"))});
  Value responses = object(
      "error"_m = object("description"_m = "every problem at once, with the way out", "content"_m = std::move(error)));
  std::string document = json_text(object(
      "openapi"_m = "3.1.0",
      "info"_m = object("title"_m = "Headroom", "summary"_m = "what a GPU workload will need and do",
                        "version"_m = version_number(),
                        "license"_m = row("name"_m = "Apache 2.0", "identifier"_m = "Apache-2.0")),
      "jsonSchemaDialect"_m = "https://json-schema.org/draft/2020-12/schema",
      "servers"_m = list(std::array<std::string_view, 1>{"/"}, [](std::string_view url) { return row("url"_m = url); }),
      "paths"_m = std::move(paths),
      "components"_m = object("schemas"_m = std::move(schemas), "responses"_m = std::move(responses))));
  put_in_place(document, "scenario", scenario_schema(all_keys()));
  for (const AnswerSchema& answer : all_answers()) {
    put_in_place(document, answer.name, json_schema_of(answer));
  }
  return document;
}

}  // namespace headroom
