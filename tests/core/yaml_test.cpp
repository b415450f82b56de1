// SPDX-License-Identifier: Apache-2.0
// The part of YAML that is read, and what is refused with its place.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace headroom;

namespace {

using Kind = ConfigValue::Kind;

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_yaml(text, "f.yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("yaml: mappings and lists, in blocks, compact and in brackets") {
  const ConfigValue root = parse_yaml(
      "# a file\n---\nversion: v1\nmap:\n  a:\n  - 1\n  - b: 2\n    c:\n      d: e\n  -\n    f: [x, \"y\", {z: 1.5}]\n"
      "  empty: {}\nlist:\n- - 1\n  - 2\n-\n\"a key\": true # said\n",
      "f.yaml");
  CHECK(root.find("version")->text == "v1");
  const ConfigValue& a = *root.find("map")->find("a");
  REQUIRE(a.items.size() == 3);
  CHECK(a.items[0].integer == 1);
  CHECK(a.items[1].find("b")->integer == 2);
  CHECK(a.items[1].find("c")->find("d")->text == "e");
  CHECK(a.items[2].find("f")->items[2].find("z")->number == 1.5);
  CHECK(root.find("map")->find("empty")->kind == Kind::table);
  CHECK(root.find("list")->items[0].items[1].integer == 2);
  CHECK(root.find("list")->items[1].kind == Kind::null);
  CHECK(root.find("a key")->boolean);
  CHECK(a.items[1].find("c")->find("d")->at.line == 9);
  CHECK(a.items[1].find("c")->find("d")->at.column == 10);
}

TEST_CASE("yaml: scalars are of the core schema, whatever older versions take for a truth value or a date") {
  const ConfigValue root = parse_yaml(
      "i: -3\nh: 0x1F\nr: 1e-3\nplus: +2.5\ninf: .inf\nnan: .nan\nn: ~\nyes_word: yes\nday: 2025-11-05\nquoted: '5'\n"
      "single: 'it''s'\nesc: \"a\\tb\\u00e9\\x21\"\nurl: http://h:8000/v1\nlong: one\n  two\n  three\nq: \"one\n  "
      "two\n\n"
      "  three\"\n",
      "f.yaml");
  CHECK(root.find("i")->integer == -3);
  CHECK(root.find("h")->text == "0x1F");
  CHECK(root.find("r")->number == 1e-3);
  CHECK(root.find("plus")->number == 2.5);
  CHECK(std::isinf(root.find("inf")->number));
  CHECK(std::isnan(root.find("nan")->number));
  CHECK(root.find("n")->kind == Kind::null);
  CHECK(root.find("yes_word")->text == "yes");
  CHECK(root.find("day")->text == "2025-11-05");
  CHECK(root.find("quoted")->text == "5");
  CHECK(root.find("single")->text == "it's");
  CHECK(root.find("esc")->text == "a\tb\xC3\xA9!");
  CHECK(root.find("url")->text == "http://h:8000/v1");
  CHECK(root.find("long")->text == "one two three");
  CHECK(root.find("q")->text == "one two\nthree");
}

TEST_CASE("yaml: literal blocks keep their lines, folded ones join them") {
  const ConfigValue root = parse_yaml(
      "a: |\n  one\n    two\n\n  three\nb: >-\n  one\n  two\n\n  three\n   deep\n  four\nc: |+\n  x\n\nd: |2\n    "
      "y\ne: 1\n",
      "f.yaml");
  CHECK(root.find("a")->text == "one\n  two\n\nthree\n");
  CHECK(root.find("b")->text == "one two\nthree\n deep\nfour");
  CHECK(root.find("c")->text == "x\n\n");
  CHECK(root.find("d")->text == "  y\n");
  CHECK(root.find("e")->integer == 1);
}

TEST_CASE("yaml: what is none, and what is not read, is refused with its place") {
  struct Broken {
    std::string text, says;
  };
  const std::vector<Broken> broken{
      {"", "f.yaml:1:1: error: is empty"},
      {"- 1\n", "f.yaml:1:1: error: is an array"},
      {"a: 1\na: 2\n", "f.yaml:2:1: error: key 'a' stands twice"},
      {"a:\n\tb: 1\n", "f.yaml:2:1: error: has a tab in front"},
      {"a: \"x\n", "f.yaml:1:4: error: opens a quoted text that nothing closes"},
      {"a: 1\n  b: 2\n", "f.yaml:2:3: error: is indented more"},
      {" a: 1\nb: 2\n", "f.yaml:2:1: error: is indented less"},
      {"a: {b: 1\n", "f.yaml:1:4: error: opens a collection that nothing closes"},
      {"a: [1 2}\n", "f.yaml:1:8: error: stands where a comma"},
      {"a: b: c\n", "f.yaml:1:4: error: opens another collection"},
      {"a: &x 1\n", "f.yaml:1:4: error: is an anchor"},
      {"a: *x\n", "f.yaml:1:4: error: is an alias"},
      {"a: !!str 1\n", "f.yaml:1:4: error: is a tag"},
      {"a: 1\n---\nb: 2\n", "f.yaml:2:1: error: starts another document"},
      {"a: |x\n", "f.yaml:1:5: error: is no indicator"},
      {"a: \"\\q\"\n", "f.yaml:1:6: error: is no escape"},
      {"a: \"b\" c\n", "f.yaml:1:7: error: stands behind a value"},
      {"a\n", "f.yaml:1:1: error: is a string"},
      {"a: 1\nb\n", "f.yaml:2:1: error: has no colon"},
      {"a: \xFF\n", "f.yaml:1:4: error: is not UTF-8"},
  };
  for (const Broken& one : broken) {
    CAPTURE(one.text);
    CHECK(refusal(one.text).find(one.says) == 0);
  }
  std::string deep;
  for (int i = 0; i < 300; ++i) {
    deep += "[";
  }
  CHECK(refusal("a: " + deep + "\n").find("nested deeper than 256") != std::string::npos);
}

TEST_CASE("yaml: a line of a hundred thousand values is read once, not once a value") {
  std::string text = "a: [";
  for (int i = 0; i < 100'000; ++i) {
    text += std::to_string(i % 10) + ",";
  }
  const ConfigValue root = parse_yaml(text + "]\n", "f.yaml");
  CHECK(root.find("a")->items.size() == 100'000);
  CHECK(root.find("a")->items[1000].at.column == 5 + 2000);
}
