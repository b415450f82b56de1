// SPDX-License-Identifier: Apache-2.0
// `headroom schema`: the keys of a scenario, or the members of an answer, as a JSON Schema; the interface over HTTP.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/wire/lists.hpp>
#include <headroom/answers/wire/openapi.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/stubs/python_stub.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/schema.hpp>

#include <array>
#include <string>
#include <vector>

namespace headroom::cli {

extern const Verb schema_verb;

namespace schema_parts {
namespace {

enum class Asks : std::uint8_t { keys, answer, answers, openapi, table, python };
constexpr std::array forms{
    Form{"the schema of a scenario", ""},     Form{"the schema of an answer", "--answer NAME"},
    Form{"the list of answers", "--answers"}, Form{"the interface over HTTP", "--openapi"},
    Form{"the table of keys", "--keys"},      Form{"the stubs of the Python package", "--python"},
};

constexpr std::array options{
    Option{"--answer", OptionKind::one, "NAME", "the members of this answer's JSON: plan, fleet, ...; see --answers"}
        .of(Asks::answer)
        .without("--answers"),
    Option{"--answers", OptionKind::flag, "", "list the answers that have a schema"}.of(Asks::answers),
    Option{"--python", OptionKind::flag, "", "the typed stubs of the Python package (headroom/__init__.pyi)"}
        .of(Asks::python)
        .without("--answers"),
    Option{"--openapi", OptionKind::flag, "", "what 'headroom web' answers, as OpenAPI 3.1"}
        .of(Asks::openapi)
        .without("--answers"),
    Option{"--keys", OptionKind::flag, "", "every key of a scenario with type, bounds, default and meaning, as JSON"}
        .of(Asks::table)
        .without("--openapi"),
};

std::string answers_text() {
  Table table{{"answer", "<schema", "<asked by", "<what it is"}};
  for (const AnswerSchema& answer : all_answers()) {
    table.row(
        {std::string{answer.name}, schema_name(answer), std::string{answer.asked_by}, std::string{answer.meaning}});
  }
  return table.text(0);
}

ConfigError unknown_answer(const std::string& name) {
  std::vector<std::string_view> names;
  std::string all;
  for (const AnswerSchema& answer : all_answers()) {
    names.push_back(answer.name);
    all += (all.empty() ? "" : ", ") + std::string{answer.name};
  }
  return ConfigError{"--answer " + quoted(name) + " is none of " + all + suggestion(name, names)};
}

Outcome run(const Arguments& arguments) {
  const std::string name = arguments.one("--answer");
  const bool listed = arguments.has("--answers");
  const bool stubs = arguments.has("--python");
  const bool openapi = arguments.has("--openapi");
  const bool table = arguments.has("--keys");
  require_form(schema_verb,
               listed         ? Asks::answers
               : openapi      ? Asks::openapi
               : table        ? Asks::table
               : stubs        ? Asks::python
               : name.empty() ? Asks::keys
                              : Asks::answer,
               arguments);
  if (listed) {
    return {answers_text(), "", 0, true};
  }
  if (stubs) {
    return {python::python_stub(all_keys()), "", 0};
  }
  if (openapi) {
    return {openapi_document(), "", 0};
  }
  if (table) {
    return {keys_document(), "", 0};
  }
  if (name.empty()) {
    return {scenario_schema(all_keys()), "", 0};
  }
  const AnswerSchema* const answer = find_answer(name);
  if (answer == nullptr) {
    throw unknown_answer(name);
  }
  return {json_schema_of(*answer), "", 0};
}

constexpr std::string_view examples =
    "  headroom schema -o headroom.schema.json\n"
    "a scenario whose first line is '#:schema ./headroom.schema.json' is checked and completed by editors that know "
    "taplo\n"
    "  headroom schema --answers\n"
    "  headroom schema --answer plan -o headroom.plan.schema.json\n"
    "  headroom schema --python -o headroom/__init__.pyi\n"
    "  headroom schema --openapi -o headroom.openapi.json\n";

}  // namespace
}  // namespace schema_parts

const Verb schema_verb{"schema",
                       "the keys of a scenario, or the members of an answer, as a JSON Schema; OpenAPI",
                       "",
                       0,
                       schema_parts::options,
                       schema_parts::examples,
                       schema_parts::run,
                       nullptr,
                       schema_parts::forms};

}  // namespace headroom::cli
