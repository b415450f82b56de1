// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/catalog/render_catalog.hpp>
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/wire/lists.hpp>
#include <headroom/answers/wire/questions.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/version.hpp>
#include <headroom/model/serve/engine/engine_list.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/schema.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

WireReply listed(const Value& document) {
  return {200, json_content, json_text(document), true, true};
}

/// A word of a request that has no other member; nullopt: it is not stated.
std::optional<std::string> only_word(const ConfigValue& tree, std::string_view key) {
  Diagnostics problems;
  ConfigTable form{tree, "", problems};
  std::optional<std::string> word = key.empty() ? std::nullopt : form.maybe_text(key);
  form.finish();
  problems.throw_if_any();
  return word;
}

/// In the order of KeyType.
constexpr std::array<std::string_view, 22> type_names{
    "integer",      "number",        "boolean", "text",     "choice",   "quantity",     "percentage",  "month",
    "date",         "deadline",      "model",   "integers", "texts",    "integer_axis", "number_axis", "text_axis",
    "boolean_axis", "quantity_axis", "table",   "tables",   "text_map", "count_map"};

/// In the order of KeySource.
constexpr std::array<std::string_view, 5> source_names{"stated", "checkpoint", "publication", "standard", "unknown"};

Value bound(double value) {
  return when(std::isfinite(value), Value{value});
}

Value key_value(const Key& key) {
  const bool quantity = key.type == KeyType::quantity || key.type == KeyType::quantity_axis;
  const std::string_view example = key.example.empty() && quantity ? example_of(key.dimension) : key.example;
  std::vector<std::string_view> words;
  for (const KindWord& known : kind_words) {
    if (meet(key.kinds, known.kinds)) {
      words.push_back(known.word);
    }
  }
  std::vector<std::string_view> questions;
  for (const KindName& known : kind_names) {
    if (meet(key.kinds, known.kind)) {
      questions.push_back(known.name);
    }
  }
  const auto same = [](std::string_view word) { return word; };
  const bool bounded =
      key.type != KeyType::boolean && key.type != KeyType::table && key.type != KeyType::tables && key.choices.empty();
  return object("path"_m = key.path, "table"_m = key.table(), "name"_m = key.name(),
                "type"_m = type_names[static_cast<std::size_t>(key.type)], "kinds"_m = list(words, same).on_one_line(),
                "questions"_m = list(questions, same).on_one_line(), "required"_m = key.required,
                "low"_m = when(bounded && (std::isfinite(key.high) || key.low != 0.0 || key.above_low), bound(key.low)),
                "high"_m = when(bounded, bound(key.high)), "above_low"_m = when(bounded && key.above_low, true),
                "example"_m = when(!example.empty(), example),
                "choices"_m = when(!key.choices.empty(), list(key.choices, same).on_one_line()),
                "any"_m = when(key.any, true), "tokens"_m = when(key.length, true),
                "default"_m = when(!key.required, blank_text(key)),
                "default_from"_m = when(!key.required, source_names[static_cast<std::size_t>(key.source)]),
                "meaning"_m = key.meaning, "caution"_m = when(!key.caution.empty(), key.caution),
                "option"_m = when(!key.option.empty(), key.option),
                "option_value"_m = when(!key.option.empty(), key.option_value),
                "option_help"_m = when(!key.option.empty(), key.option_help));
}

Value ids(std::span<const std::string> all) {
  return list(all, [](const std::string& id) { return row("id"_m = id); });
}

}  // namespace

Value wire_value(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::null: return nullptr;
    case ConfigValue::Kind::boolean: return value.boolean;
    case ConfigValue::Kind::integer: return value.integer;
    case ConfigValue::Kind::number: return value.number;
    case ConfigValue::Kind::text: return value.text;
    case ConfigValue::Kind::array: return list(value.items, wire_value);
    case ConfigValue::Kind::table: break;
  }
  Value table = object();
  for (const ConfigEntry& entry : value.entries) {
    table.add({entry.key, wire_value(entry.value)});
  }
  return table;
}

WireReply wire_catalog(const QuestionLibrary& library, const ConfigValue& tree) {
  const std::optional<std::string> asked = only_word(tree, "kind");
  std::span<const std::string_view> kinds{wire_catalog_kinds};
  if (asked) {
    const auto found = std::find(kinds.begin(), kinds.end(), *asked);
    if (found == kinds.end()) {
      std::string all;
      for (const std::string_view kind : kinds) {
        all += (all.empty() ? "" : ", ") + std::string{kind};
      }
      throw ConfigError{"'kind' is " + quoted(*asked) + ", none of " + all + suggestion(*asked, kinds)};
    }
    kinds = {found, 1};
  }
  std::vector<std::string_view> of_catalog;
  std::copy_if(kinds.begin(), kinds.end(), std::back_inserter(of_catalog), [](std::string_view kind) {
    return std::find(catalog_kinds.begin(), catalog_kinds.end(), kind) != catalog_kinds.end();
  });
  const Sources& sources = library.sources;
  Value document = catalog_document(of_catalog, sources.catalog, sources.models, library.networks);
  const auto asks = [&](std::string_view kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
  if (asks("engines")) {
    document.add({"engines", ids(std::vector<std::string>(engine_names.begin(), engine_names.end()))});
  }
  if (asks("software")) {
    document.add({"software", ids(sources.data.files().ids("stacks/train"))});
  }
  return listed(document);
}

std::string keys_document() {
  return json_text(
      object("schema"_m = "headroom.keys/1", "version"_m = version(), "keys"_m = list(all_keys(), key_value)));
}

WireReply wire_keys(const ConfigValue& tree) {
  static_cast<void>(only_word(tree, ""));
  return {200, json_content, keys_document(), true, true};
}

WireReply wire_schema(const ConfigValue& tree) {
  const std::optional<std::string> asked = only_word(tree, "name");
  const std::span<const AnswerSchema> answers = all_answers();
  if (!asked) {
    return listed(object("schema"_m = "headroom.schemas/1", "version"_m = version(),
                         "answers"_m = list(answers, [](const AnswerSchema& answer) {
                           return row("name"_m = answer.name, "schema"_m = schema_name(answer),
                                      "asked_by"_m = answer.asked_by, "meaning"_m = answer.meaning);
                         })));
  }
  if (*asked == "scenario") {
    return {200, json_content, scenario_schema(all_keys()), true, true};
  }
  if (const AnswerSchema* const answer = find_answer(*asked)) {
    return {200, json_content, json_schema_of(*answer), true, true};
  }
  std::vector<std::string_view> names{"scenario"};
  for (const AnswerSchema& answer : answers) {
    names.push_back(answer.name);
  }
  throw ConfigError{"no schema has the name " + quoted(*asked) + suggestion(*asked, names) +
                    "; without a name all are listed"};
}

WireReply wire_health(const ConfigValue& tree) {
  static_cast<void>(only_word(tree, ""));
  return listed(object("schema"_m = "headroom.health/1", "version"_m = version(), "status"_m = "ok"));
}

WireReply wire_import(const ConfigValue& tree) {
  Diagnostics problems;
  ConfigTable form{tree, "", problems};
  const ConfigValue* const config = form.value("config");
  if (config == nullptr) {
    form.missing("config", ", a config.json of Hugging Face as an object or as its text");
  }
  form.finish();
  problems.throw_if_any();
  const ImportedConfig imported = imported_config(*config, "/config");
  return listed(object("schema"_m = "headroom.import/1", "version"_m = version(), "id"_m = imported.id,
                       "model"_m = wire_value(imported.model), "toml"_m = imported.toml,
                       "remarks"_m = list(imported.remarks, [](const std::string& remark) { return remark; })));
}

}  // namespace headroom
