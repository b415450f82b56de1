// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/json_reader.hpp>
#include <headroom/core/json_writer.hpp>

#include <doctest/doctest.h>

#include "../growth.hpp"
#include <limits>

using namespace headroom;

namespace {

std::string problem(std::string_view text) {
  try {
    static_cast<void>(parse_json(text, "f.json"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("values keep their kind and their place") {
  const ConfigValue root = parse_json("{\n  \"a\": [1, 2.5, true, null],\n  \"b\": {\"c\": \"x\\\"y\"}\n}", "f.json");
  const ConfigValue& a = *root.find("a");
  CHECK(a.items[0].integer == 1);
  CHECK(a.items[1].number == 2.5);
  CHECK(a.items[2].boolean);
  CHECK(a.items[3].kind == ConfigValue::Kind::null);
  CHECK(a.items[1].at.line == 2);
  CHECK(a.items[1].at.column == 12);
  CHECK(root.find("b")->find("c")->text == "x\"y");
  CHECK(root.find("b")->find("c")->key_at.column == 9);
}

TEST_CASE("problems have line and column") {
  CHECK(problem("{\n\"a\": }").starts_with("f.json:2:6: error:"));
  CHECK(problem("{} x").starts_with("f.json:1:4: error:"));
  CHECK(problem("[1]") == "f.json:1:1: error: the root must be an object, not an array");
  CHECK(problem("{\"a\": 1, \"a\": 2, \"a\": 3}") ==
        "f.json:1:10: error: key 'a' stands twice\nf.json:1:18: error: key 'a' stands twice");
  CHECK(problem("{\"a\": 1e999}").starts_with("f.json:1:"));
  CHECK(problem("{\"a\": \"\xff\"}").starts_with("f.json:1:"));
  CHECK(problem("{\"a\": " + std::string(300, '[') + std::string(300, ']') + "}").find("nested deeper") !=
        std::string::npos);
  CHECK_FALSE(problem("").empty());
}

TEST_CASE("values behind one another on a line have their places, and are read in a time that grows with them") {
  const auto line = [](std::size_t n) {
    std::string text = "{\"a\": [0";
    for (std::size_t i = 1; i < n; ++i) {
      text += ",1";
    }
    return text + "], \"last\": 2}";
  };
  const ConfigValue root = parse_json(line(1000), "f.json");
  CHECK(root.find("a")->items[999].at.line == 1);
  CHECK(root.find("a")->items[999].at.column == 8 + 2 * 999);
  CHECK(root.find("last")->at.column == 8 + 2 * 999 + 12);
  CHECK(test::growth(10'000, [&](std::size_t n) { static_cast<void>(parse_json(line(n), "f.json")); }) <
        test::linear_growth);
}

TEST_CASE("an object of many keys is read, and its keys are found, in a time that grows with them") {
  for (const char* between : {", ", ",\n  "}) {
    CHECK(test::growth(8'000, [&](std::size_t n) {
            std::string text = "{\"id2label\": {";
            for (std::size_t i = 0; i < n; ++i) {
              text += (i == 0 ? "\"" : std::string{between} + "\"") + std::to_string(i) + "\": \"LABEL_" +
                      std::to_string(i) + "\"";
            }
            const ConfigValue root = parse_json(text + "}}", "config.json");
            const ConfigValue& labels = *root.find("id2label");
            std::size_t found = 0;
            for (std::size_t i = 0; i < n; ++i) {
              found += labels.find(std::to_string(i)) != nullptr ? 1 : 0;
            }
            REQUIRE(found == n);
          }) < test::linear_growth);
  }
}

TEST_CASE("more values than a document may hold are refused where they become too many") {
  std::string text = "{\"a\": [\n1";
  for (std::size_t i = 0; i < most_document_values; ++i) {
    text += ",1";
  }
  const std::string said = problem(text + "]}");
  CHECK(said.starts_with("f.json:2:"));
  CHECK(said.find("more than 500000 values, the most that a document may hold; split it") != std::string::npos);
}

TEST_CASE("an empty document says what it must hold") {
  CHECK(problem("") == "f.json:1:1: error: the document is empty; it must hold one object, {...}");
}

TEST_CASE("numbers are read as RFC 8259 writes them") {
  const auto number = [](const std::string& text) {
    return parse_json("{\"a\": " + text + "}", "f.json").find("a")->number;
  };
  CHECK(number("0e44") == 0.0);
  CHECK(number("-0.00E308") == 0.0);
  CHECK(number("0.0e-44") == 0.0);
  CHECK(number("1e-400") == 0.0);  // the nearest double
  CHECK(number("5e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(number("1.7976931348623157e308") == std::numeric_limits<double>::max());
  CHECK(number("9223372036854775808") == 9223372036854775808.0);  // one above int64
  CHECK(parse_json("{\"a\": -9223372036854775808}", "f.json").find("a")->integer ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(problem("{\"a\": -1e400}").find("too big") != std::string::npos);
}

TEST_CASE("what is written reads back exactly") {
  JsonWriter json;
  json.begin_object();
  json.member("text", "a\"b\\\n\x01");
  json.member("third", 1.0 / 3.0);
  json.member("large", std::numeric_limits<std::int64_t>::max());
  json.member("nothing", std::numeric_limits<double>::quiet_NaN());
  json.key("list");
  json.compact_next();
  json.begin_array();
  json.integer(1);
  json.boolean(false);
  json.end_array();
  json.end_object();
  const std::string text = json.take();
  const ConfigValue root = parse_json(text, "f.json");
  CHECK(root.find("text")->text == "a\"b\\\n\x01");
  CHECK(root.find("third")->number == 1.0 / 3.0);
  CHECK(root.find("large")->integer == std::numeric_limits<std::int64_t>::max());
  CHECK(root.find("nothing")->kind == ConfigValue::Kind::null);
  CHECK(text.find("\"list\": [1, false]") != std::string::npos);
}
