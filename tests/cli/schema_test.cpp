// SPDX-License-Identifier: Apache-2.0
// `headroom schema`: the table of keys as a JSON Schema that accepts the scenarios that come with the program.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/schema.hpp>

#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

const ConfigValue& schema() {
  static const ConfigValue parsed = parse_json(scenario_schema(all_keys()), "schema");
  return parsed;
}

/// A schema, or where a path means a table of one kind and a list of another, each of them.
std::vector<const ConfigValue*> forms_of(const ConfigValue& value) {
  const ConfigValue* either = value.find("anyOf");
  if (either == nullptr || value.find("description") != nullptr) {
    return {&value};
  }
  std::vector<const ConfigValue*> forms;
  for (const ConfigValue& form : either->items) {
    forms.push_back(&form);
  }
  return forms;
}

/// What the schema says of a key, in each table that its path may mean.
std::vector<const ConfigValue*> properties_of(const ConfigValue& root, std::string_view path) {
  std::vector<const ConfigValue*> at{&root};
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    std::vector<const ConfigValue*> next;
    for (const ConfigValue* table : at) {
      const ConfigValue* items = table->find("items");
      const ConfigValue* properties = (items != nullptr ? items : table)->find("properties");
      const ConfigValue* found = properties == nullptr ? nullptr : properties->find(path.substr(0, dot));
      if (found != nullptr) {
        const std::vector<const ConfigValue*> forms = forms_of(*found);
        next.insert(next.end(), forms.begin(), forms.end());
      }
    }
    at = std::move(next);
    path.remove_prefix(std::min(path.size(), dot + 1));
  }
  return at;
}

/// The first of them; nullptr: nothing.
const ConfigValue* property(const ConfigValue& root, std::string_view path) {
  const std::vector<const ConfigValue*> all = properties_of(root, path);
  return all.empty() ? nullptr : all.front();
}

std::string text_at(const ConfigValue* value, std::string_view key) {
  const ConfigValue* found = value == nullptr ? nullptr : value->find(key);
  return found == nullptr ? "" : found->text;
}

double number_of(const ConfigValue& value) {
  return value.kind == ConfigValue::Kind::integer ? static_cast<double>(value.integer) : value.number;
}

/// Properties that are described: keys, each where it is defined.
std::size_t described(const ConfigValue& value) {
  std::size_t count = value.find("description") != nullptr && value.find("$schema") == nullptr ? 1 : 0;
  for (const ConfigEntry& entry : value.entries) {
    count += entry.key == "description" ? 0 : described(entry.value);
  }
  for (const ConfigValue& item : value.items) {
    count += described(item);
  }
  return count;
}

bool is_valid(const ConfigValue& value, const ConfigValue& rule);

bool is_of_type(const ConfigValue& value, std::string_view type) {
  using Kind = ConfigValue::Kind;
  return type == "object"    ? value.kind == Kind::table
         : type == "array"   ? value.kind == Kind::array
         : type == "string"  ? value.kind == Kind::text
         : type == "boolean" ? value.kind == Kind::boolean
         : type == "integer" ? value.kind == Kind::integer
                             : value.kind == Kind::integer || value.kind == Kind::number;
}

bool are_valid_properties(const ConfigValue& value, const ConfigValue& rule) {
  const ConfigValue* properties = rule.find("properties");
  const ConfigValue* others = rule.find("additionalProperties");
  return std::all_of(value.entries.begin(), value.entries.end(), [&](const ConfigEntry& entry) {
    const ConfigValue* of = properties == nullptr ? nullptr : properties->find(entry.key);
    return of != nullptr ? is_valid(entry.value, *of) : others == nullptr || others->boolean;
  });
}

bool holds_required(const ConfigValue& value, const ConfigValue& names) {
  return std::all_of(names.items.begin(), names.items.end(),
                     [&](const ConfigValue& name) { return value.find(name.text) != nullptr; });
}

/// The part of JSON Schema that scenario_schema() writes (draft 2020-12, sections 10 and 6 of core and validation).
bool obeys(const ConfigValue& value, const ConfigValue& rule, const ConfigEntry& entry) {
  const std::string_view word = entry.key;
  const ConfigValue& what = entry.value;
  const bool is_number = value.kind == ConfigValue::Kind::integer || value.kind == ConfigValue::Kind::number;
  const auto holds_for = [&](const ConfigValue& part) { return is_valid(value, part); };
  if (word == "type") {
    return what.kind == ConfigValue::Kind::array
               ? std::any_of(what.items.begin(), what.items.end(),
                             [&](const ConfigValue& one) { return is_of_type(value, one.text); })
               : is_of_type(value, what.text);
  }
  if (word == "const") {
    return value.kind == what.kind && value.text == what.text;
  }
  if (word == "enum") {
    return std::any_of(what.items.begin(), what.items.end(), [&](const ConfigValue& item) {
      return value.kind == ConfigValue::Kind::text && value.text == item.text;
    });
  }
  if (word == "pattern") {
    return value.kind != ConfigValue::Kind::text || std::regex_search(value.text, std::regex{what.text});
  }
  if (word == "minLength") {
    return value.kind != ConfigValue::Kind::text || !value.text.empty();
  }
  if (word == "minItems") {
    return value.kind != ConfigValue::Kind::array || !value.items.empty();
  }
  if (word == "minimum") {
    return !is_number || number_of(value) >= number_of(what);
  }
  if (word == "exclusiveMinimum") {
    return !is_number || number_of(value) > number_of(what);
  }
  if (word == "maximum") {
    return !is_number || number_of(value) <= number_of(what);
  }
  if (word == "required") {
    return value.kind != ConfigValue::Kind::table || holds_required(value, what);
  }
  if (word == "properties") {
    return value.kind != ConfigValue::Kind::table || are_valid_properties(value, rule);
  }
  if (word == "items") {
    return std::all_of(value.items.begin(), value.items.end(),
                       [&](const ConfigValue& item) { return is_valid(item, what); });
  }
  if (word == "anyOf") {
    return std::any_of(what.items.begin(), what.items.end(), holds_for);
  }
  if (word == "allOf") {
    return std::all_of(what.items.begin(), what.items.end(), holds_for);
  }
  if (word == "not") {
    return !is_valid(value, what);
  }
  if (word == "if") {
    return !is_valid(value, what) || is_valid(value, *rule.find("then"));
  }
  return true;  // words that tell, and those that are read beside another
}

bool is_valid(const ConfigValue& value, const ConfigValue& rule) {
  if (rule.kind == ConfigValue::Kind::boolean) {
    return rule.boolean;
  }
  return std::all_of(rule.entries.begin(), rule.entries.end(),
                     [&](const ConfigEntry& entry) { return obeys(value, rule, entry); });
}

bool accepts(const std::string& toml) {
  return is_valid(parse_toml(toml, "document"), schema());
}

const std::string plain =
    "schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\nhardware = {gpu = \"h100-sxm-80gb\", gpus = 8}\n";
const std::string trained = plain + "training = {global_batch = 64, precision = \"bf16\", seq_len = 4096}\n";

}  // namespace

TEST_CASE("schema: the verb prints valid JSON of the draft that it names, and -o writes it") {
  const Run run = run_headroom("schema");
  CHECK(run.code == 0);
  CHECK(run.err.empty());
  CHECK(run.out == scenario_schema(all_keys()));
  CHECK(text_at(&schema(), "$schema") == "https://json-schema.org/draft/2020-12/schema");
  const ScratchFolder folder;
  const std::string file = (folder.path() / "headroom.schema.json").string();
  const Run written = run_headroom("schema -o '" + file + "'");
  CHECK(written.code == 0);
  CHECK(read_text(file) == run.out);
}

TEST_CASE("schema: each key stands in it once, with what its rows say and with their bounds") {
  std::vector<std::string_view> paths;
  std::size_t places = 0;
  for (const Key& key : all_keys()) {
    CAPTURE(key.path);
    const std::vector<const ConfigValue*> all = properties_of(schema(), key.path);
    const auto tells = [&](const ConfigValue* value) {
      const std::string told = text_at(value, "description");
      return told.find(key.meaning) != std::string::npos &&
             (key.required || told.find("A blank means " + blank_text(key)) != std::string::npos);
    };
    const auto found = std::find_if(all.begin(), all.end(), tells);
    REQUIRE(found != all.end());
    if (key.type == KeyType::integer) {
      REQUIRE((*found)->find("minimum") != nullptr);
      REQUIRE((*found)->find("maximum") != nullptr);
      CHECK(number_of(*(*found)->find("minimum")) <= key.low);
      CHECK(number_of(*(*found)->find("maximum")) >= key.high);
    }
    if (std::find(paths.begin(), paths.end(), key.path) == paths.end()) {
      paths.push_back(key.path);
      places += all.size();
    }
  }
  CHECK(described(schema()) == places);
  const ConfigValue* tp = property(schema(), "strategy.tp");
  CHECK(number_of(*tp->find("minimum")) == 1.0);
  CHECK(number_of(*tp->find("maximum")) == 4096.0);
}

TEST_CASE("schema: a key that is planted in the table appears in it") {
  std::vector<Key> keys{all_keys().begin(), all_keys().end()};
  Key planted;
  planted.path = "strategy.planted";
  planted.type = KeyType::integer;
  planted = planted.from(3.0, 17.0).blank_is("5").says("It was planted here.");
  keys.push_back(planted);
  const ConfigValue with = parse_json(scenario_schema(keys), "schema");
  CHECK(property(schema(), "strategy.planted") == nullptr);
  const ConfigValue* found = property(with, "strategy.planted");
  REQUIRE(found != nullptr);
  CHECK(text_at(found, "description") == "It was planted here. A blank means 5.");
  CHECK(number_of(*found->find("minimum")) == 3.0);
  CHECK(number_of(*found->find("maximum")) == 17.0);
}

TEST_CASE("schema: every scenario that comes with the program is valid") {
  std::size_t count = 0;
  for (const std::string folder : {"train", "serve"}) {
    for (const auto& entry : fs::directory_iterator{fs::path{HEADROOM_SOURCE_DIR} / "scenarios" / folder}) {
      if (entry.path().extension() == ".toml") {
        CAPTURE(entry.path().string());
        CHECK(accepts(read_text(entry.path())));
        ++count;
      }
    }
  }
  CHECK(count >= 15);
}

TEST_CASE("schema: what a reader refuses by the table alone is invalid") {
  CHECK(accepts(trained));
  CHECK(accepts("schema = 1\nbase = \"other.toml\"\n"));                       // the rest stands in the base
  CHECK(accepts("schema = 1\nkind = \"train\"\nsearch = {gpu = \"any\"}\n"));  // or is searched
  CHECK_FALSE(accepts(plain));                                                 // no [training]
  CHECK_FALSE(accepts("kind = \"train\"\n" + trained.substr(trained.find("model"))));
  CHECK_FALSE(accepts(trained + "stratgy = {tp = 1}\n"));
  CHECK_FALSE(accepts(trained + "strategy = {tpp = 1}\n"));
  CHECK_FALSE(accepts(trained + "strategy = {tp = 0}\n"));
  CHECK_FALSE(accepts(trained + "strategy = {tp = 4097}\n"));
  CHECK_FALSE(accepts(trained + "strategy = {tp = \"8\"}\n"));
  CHECK_FALSE(accepts(trained + "strategy = {recompute = \"some\"}\n"));
  CHECK_FALSE(accepts(trained + "serving = {isl = 1}\n"));          // of another kind
  CHECK_FALSE(accepts(trained + "search = {engine = \"any\"}\n"));  // of a fleet
  CHECK_FALSE(accepts(trained + "data = {cpu_time = \"3 GB\"}\n"));
  CHECK_FALSE(accepts(trained + "data = {cpu_time = 3}\n"));
  CHECK_FALSE(accepts(trained + "money = {against = [{price = \"3 h\"}]}\n"));
  CHECK(accepts(trained + "data = {cpu_time = \"3 ms\"}\n"));
  CHECK(accepts(trained + "search = {tp = [1, \"2..8 x2\"], recompute = \"any\"}\n"));
  CHECK(accepts(trained + "goodput = {detection = \"0 s\", restart = \"1 min\", interval = \"best\"}\n"));
  CHECK_FALSE(accepts(trained + "goodput = {detection = \"0 s\"}\n"));
  CHECK(accepts(trained + "objective = {deadline = \"2027-01-31\", simplicity = \"5 %\"}\n"));
  CHECK_FALSE(accepts(trained + "objective = {simplicity = \"5\"}\n"));
}

TEST_CASE("schema: short numbers are valid where a number is, and a rate without a unit") {
  CHECK(accepts(trained + "search = {global_batch = [\"1k\", 2048]}\n"));
  CHECK(accepts(trained + "target = {loss = 2.1, critical_batch = \"1.5 k\"}\n"));
  CHECK_FALSE(accepts(trained + "strategy = {tp = \"8t\"}\n"));
  const std::string served =
      "schema = 1\nkind = \"serve\"\nmodel = \"llama3-8b\"\nhardware = {gpu = \"h100-sxm-80gb\"}\n";
  CHECK(accepts(served + "serving = {isl = \"128k\", osl = \"1Ki\"}\ntraffic = {rate = 347}\n"));
  CHECK(accepts(served + "serving = {}\ntraffic = {rate = \"1.5k\"}\n"));
  CHECK(accepts(served + "serving = {}\ntraffic = {rate = \"12 req/s\"}\n"));
  CHECK_FALSE(accepts(served + "serving = {}\ntraffic = {rate = \"12 GB\"}\n"));
}

TEST_CASE("schema: [model] is not looked into") {
  const std::string rest = trained.substr(trained.find("hardware"));
  CHECK(accepts("schema = 1\nkind = \"train\"\nmodel = {base = \"llama3-8b\", layers = 40}\n" + rest));
  CHECK_FALSE(accepts("schema = 1\nkind = \"train\"\nmodel = 3\n" + rest));
}

TEST_CASE("schema: patterns of quantities take what the reader takes") {
  const struct {
    Dimension dimension;
    std::string_view text;
  } cases[] = {
      {dimension_of<Bytes>, "2 TB"},
      {dimension_of<Bytes>, " 80GiB "},
      {dimension_of<Bytes>, "512 Gb"},
      {dimension_of<Bytes>, "1e3 B"},
      {dimension_of<Bytes>, ".5 kB"},
      {dimension_of<Bytes>, "2"},
      {dimension_of<Bytes>, "2 tb"},
      {dimension_of<Bytes>, "2 TB/s"},
      {dimension_of<Bytes>, "TB"},
      {dimension_of<BytesPerSecond>, "400 Gb/s"},
      {dimension_of<BytesPerSecond>, "1 TB / h"},
      {dimension_of<BytesPerSecond>, "400 Gb"},
      {dimension_of<Seconds>, "1.5 ms"},
      {dimension_of<Seconds>, "10 min"},
      {dimension_of<Seconds>, "3 d"},
      {dimension_of<Seconds>, "3 kd"},
      {dimension_of<Hertz>, "12 req/s"},
      {dimension_of<Hertz>, "1e6 req/d"},
      {dimension_of<Hertz>, "1e7 req/8h"},
      {dimension_of<Hertz>, "1e7 req / 1.5 d"},
      {dimension_of<Hertz>, "1e7 req/8"},
      {dimension_of<Hertz>, "8 h/1e7 req"},
      {dimension_of<Hertz>, "3 kHz"},
      {dimension_of<Watts>, "0.5 kW"},
      {dimension_of<Watts>, "500 J/s"},
      {dimension_of<DollarsPerSecond>, "2.99 $/h"},
      {dimension_of<DollarsPerSecond>, "2.99 EUR/h"},
      {dimension_of<DollarsPerJoule>, "0.10 $/kWh"},
      {dimension_of<DollarsPerByteSecond>, "0.02 $/GB/month"},
      {dimension_of<DollarsPerByteSecond>, "0.02 $/GB"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const bool read = std::holds_alternative<double>(parse_quantity(c.text, c.dimension));
    CHECK(std::regex_search(std::string{c.text}, std::regex{quantity_pattern(c.dimension)}) == read);
  }
}
