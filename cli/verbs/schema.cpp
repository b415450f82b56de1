// SPDX-License-Identifier: Apache-2.0
// `headroom schema`: the keys of a scenario as a JSON Schema, for editors.
#include <headroom/cli/frame/verb.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/schema.hpp>

namespace headroom::cli {

extern const Verb schema_verb;

namespace schema_parts {
namespace {

Outcome run(const Arguments&) {
  return {scenario_schema(all_keys()), "", 0};
}

constexpr std::string_view examples =
    "  headroom schema -o headroom.schema.json\n"
    "a scenario whose first line is '#:schema ./headroom.schema.json' is checked and completed by editors that know "
    "taplo\n";

}  // namespace
}  // namespace schema_parts

const Verb schema_verb{
    "schema",         "the keys of a scenario as a JSON Schema, for editors", "", 0, {}, schema_parts::examples,
    schema_parts::run};

}  // namespace headroom::cli
