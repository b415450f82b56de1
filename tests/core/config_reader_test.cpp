// SPDX-License-Identifier: Apache-2.0
// The strict reader: every problem at once, in GNU format, with the way out.
#include <headroom/core/config_reader.hpp>

#include <doctest/doctest.h>

#include "../growth.hpp"
#include <array>
#include <map>

using namespace headroom;

namespace {

/// The messages of a walk over a document, one a line.
template <class Walk>
std::string problems(std::string_view text, Walk walk) {
  const ConfigValue root = parse_toml(text, "f.toml");
  Diagnostics diagnostics;
  ConfigTable table{root, "", diagnostics};
  walk(table);
  std::string result;
  for (const Diagnostic& d : diagnostics.sorted()) {
    result += d.text() + "\n";
  }
  return result;
}

std::string parse_problem(std::string_view text) {
  try {
    static_cast<void>(parse_toml(text, "f.toml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

BaseResolver files(std::map<std::string, std::string, std::less<>> texts) {
  return [texts](std::string_view id, const std::string&) -> std::optional<ConfigSource> {
    const auto found = texts.find(id);
    return found == texts.end() ? std::nullopt : std::optional{ConfigSource{found->first, found->second}};
  };
}

}  // namespace

TEST_CASE("all problems of a file are told at once, in order of place") {
  const std::string text =
      problems("schema = 1\ncapacity = 80\nbandwith = \"3 TB/s\"\nunits = -3\nkind = \"gpo\"\n", [](ConfigTable& t) {
        require_schema(t);
        t.quantity<Bytes>("capacity");
        t.quantity<BytesPerSecond>("bandwidth");
        t.integer("units");
        t.choice("kind", std::array<std::string_view, 2>{"gpu", "cpu"});
        t.finish();
      });
  CHECK(text ==
        "f.toml:1:1: error: missing key 'bandwidth', e.g. \"400 Gb/s\"\n"
        "f.toml:2:12: error: 'capacity' needs a unit, e.g. \"80 GiB\"\n"
        "f.toml:3:1: error: unknown key 'bandwith'; did you mean 'bandwidth'?\n"
        "f.toml:4:9: error: 'units' is -3; it must be at least 1\n"
        "f.toml:5:8: error: 'kind' is 'gpo'; it must be one of gpu, cpu; did you mean 'gpu'?\n");
}

TEST_CASE("nested tables say where they are, absent ones are told once") {
  const std::string text = problems("[strategy]\ntpp = 8\n", [](ConfigTable& t) {
    ConfigTable strategy = t.table("strategy");
    strategy.integer("tp");
    strategy.finish();
    ConfigTable hardware = t.table("hardware");
    hardware.text("gpu");
    hardware.integer("gpus");
    t.finish();
  });
  CHECK(text ==
        "f.toml:1:1: error: missing key 'tp' in [strategy], an integer\n"
        "f.toml:1:1: error: missing key 'hardware', a table\n"
        "f.toml:2:1: error: unknown key 'tpp' in [strategy]; did you mean 'tp'?\n");
}

TEST_CASE("quantities must be above zero and finite") {
  const auto read = [](std::string_view value) {
    return problems("x = " + std::string{value} + "\n", [](ConfigTable& t) { t.quantity<Bytes>("x"); });
  };
  CHECK(read("\"0 GB\"") == "f.toml:1:5: error: 'x' is '0 GB'; it must be above zero\n");
  CHECK(read("\"-1 GB\"") == "f.toml:1:5: error: 'x' is '-1 GB'; it must be above zero\n");
  CHECK(read("nan") == "f.toml:1:5: error: 'x' needs a unit, e.g. \"80 GiB\"\n");
  CHECK(read("[1]") == "f.toml:1:5: error: 'x' must be a string with a unit, e.g. \"80 GiB\", not an array\n");
  CHECK(read("\"1 GiB\"").empty());
}

TEST_CASE("a syntax error has its place") {
  CHECK(parse_problem("a = 1\nb = \n").starts_with("f.toml:2:"));
  CHECK(parse_problem("a = 1\na = 2\n").starts_with("f.toml:2:"));
  CHECK(parse_problem("a = 1e400\n").starts_with("f.toml:1:"));
  CHECK(parse_problem("[\t#").starts_with("f.toml:1:"));
  CHECK(parse_problem("a = 1\n\xEF\xBB\x9F = 2\n").starts_with("f.toml:2:1: error: unexpected character"));
  CHECK(parse_problem("name = \"\xC3\xA9\" # \xC3\xA9\n").empty());
}

TEST_CASE("schema must be there and known") {
  CHECK(problems("x = 1\n", [](ConfigTable& t) { require_schema(t); }) ==
        "f.toml:1:1: error: missing key 'schema'; write schema = 1 first\n");
  CHECK(problems("schema = 2\n", [](ConfigTable& t) { require_schema(t); }) ==
        "f.toml:1:10: error: schema 2 is unknown; this version reads schema 1\n");
}

TEST_CASE("an overlay states only what differs, key by key") {
  const ConfigValue root =
      load_with_bases({"top", "base = \"mid\"\n[a]\nx = 3\n"},
                      files({{"mid", "base = \"low\"\n[a]\ny = 20\n"}, {"low", "z = 100\n[a]\nx = 1\ny = 2\n"}}));
  CHECK(root.find("a")->find("x")->integer == 3);
  CHECK(root.find("a")->find("y")->integer == 20);
  CHECK(root.find("z")->integer == 100);
  CHECK(*root.find("z")->file == "low");
}

TEST_CASE("cyclic and unknown bases are refused where they are named") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(load_with_bases({"top", "base = \"mid\"\n"},
                                        files({{"mid", "x = 1\nbase = \"top\"\n"}, {"top", "base = \"mid\"\n"}}))),
      "mid:2:8: error: base 'top' leads back to top: bases form a cycle", ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(load_with_bases({"top", "base = \"nobody\"\n"}, files({}))),
                       "top:1:8: error: base 'nobody' is unknown", ConfigError);
}

TEST_CASE("--set reaches any key and reads TOML values, bare words as strings") {
  ConfigValue root = parse_toml("[strategy]\ntp = 4\n", "f.toml");
  Diagnostics diagnostics;
  apply_override(root, "strategy.tp=8", diagnostics);
  apply_override(root, "model=llama3-70b", diagnostics);
  apply_override(root, "strategy.pp = 4", diagnostics);
  apply_override(root, "strategy.recompute = none ", diagnostics);
  apply_override(root, "money.price=\"2 $/h\"", diagnostics);
  CHECK(diagnostics.empty());
  CHECK(root.find("strategy")->find("tp")->integer == 8);
  CHECK(root.find("strategy")->find("pp")->integer == 4);
  CHECK(root.find("strategy")->find("recompute")->text == "none");
  CHECK(root.find("model")->text == "llama3-70b");
  CHECK(root.find("money")->find("price")->text == "2 $/h");
  apply_override(root, "money.date=2026-08-15", diagnostics);  // a date of TOML's own
  CHECK(root.find("money")->find("date")->text == "2026-08-15");
  apply_override(root, "nonsense", diagnostics);
  apply_override(root, "model.x=1", diagnostics);
  apply_override(root, " =1", diagnostics);
  CHECK(diagnostics.size() == 3);
}

TEST_CASE("suggestions are near words only") {
  const std::array<std::string_view, 3> words{"bandwidth", "capacity", "tp"};
  CHECK(closest("bandwith", words) == "bandwidth");
  CHECK(closest("cpaacity", words) == "capacity");
  CHECK_FALSE(closest("temperature", words).has_value());
  CHECK(edit_distance("ca", "ac") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("quoted text is safe to print") {
  CHECK(quoted(std::string_view{"a\x01\xff"}) == "'a\\x01\\xff'");
  CHECK(quoted(std::string(100, 'x')) == "'" + std::string(60, 'x') + "...'");
}

TEST_CASE("a table of many keys that nobody knows is refused in a time that grows with them") {
  const auto refuse = [](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
      text += "k" + std::to_string(i) + " = 1\n";
    }
    const ConfigValue root = parse_toml(text, "f.toml");
    Diagnostics diagnostics;
    ConfigTable table{root, "", diagnostics};
    for (const char* known : {"schema", "kind", "model", "hardware", "training", "strategy", "money", "k1x"}) {
      static_cast<void>(table.has(known));
      static_cast<void>(table.value(known));
    }
    table.finish();
    REQUIRE(diagnostics.size() == n);
    REQUIRE(diagnostics.sorted().front().text() == "f.toml:1:1: error: unknown key 'k0'; did you mean 'k1x'?");
  };
  CHECK(test::growth(10'000, refuse) < test::linear_growth);
}

TEST_CASE("keys that are data, bases and --set find their keys without walking the others") {
  const auto read = [](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
      text += "k" + std::to_string(i) + " = " + std::to_string(i) + "\n";
    }
    const ConfigValue root =
        load_with_bases({"top", "base = \"below\"\n" + text}, files({{"below", "schema = 1\n" + text}}));
    Diagnostics diagnostics;
    ConfigTable table{root, "", diagnostics};
    std::int64_t sum = 0;
    for (const std::string_view key : table.keys()) {
      sum += key.starts_with('k') ? table.integer(key, not_negative) : 0;
    }
    REQUIRE(sum == static_cast<std::int64_t>(n * (n - 1) / 2));
  };
  CHECK(test::growth(5'000, read) < test::linear_growth);
}

TEST_CASE("of a key that is taken out and put back the table keeps the order and the last value") {
  ConfigValue root = parse_toml("first = 0\n", "f.toml");
  for (int i = 0; i < 100; ++i) {
    ConfigValue value;
    value.kind = ConfigValue::Kind::integer;
    value.integer = i;
    root.entries.emplace_back("k" + std::to_string(i), value);
  }
  root.entries.erase_if([](const ConfigEntry& entry) { return entry.value.integer % 2 == 1; });
  CHECK(root.entries.size() == 51);
  CHECK(root.find("k1") == nullptr);
  REQUIRE(root.find("k98") != nullptr);
  CHECK(root.find("k98")->integer == 98);
  root.entries.push_back({"k1", {}});
  CHECK(root.entries.back().key == "k1");
  CHECK(root.find("k1") == &root.entries.back().value);
  const ConfigValue copy = root;
  CHECK(copy.find("k98")->integer == 98);
  CHECK(copy.find("k98") != root.find("k98"));
}

TEST_CASE("more values than a document may hold are refused before any is stored") {
  std::string text = "schema = 1\na = [\n";
  for (std::size_t i = 0; i < most_document_values; ++i) {
    text += "1,";
  }
  CHECK(parse_problem(text + "]\n").starts_with("f.toml:3:"));
  CHECK(parse_problem(text + "]\n").find("more than 500000 values, the most that a document may hold; split it") !=
        std::string::npos);
  CHECK(parse_problem(text) == parse_problem(text + "]\n"));  // not even looked at as TOML
  // Punctuation in strings and comments holds no values, dots of numbers open no tables.
  const std::string commas(2 * most_document_values, ',');
  CHECK(parse_problem("a = \"" + commas + "\"\n# " + commas + "\nb = \"\"\"" + commas + "\"\"\"\n").empty());
  std::string numbers = "a = [";
  for (int i = 0; i < 1000; ++i) {
    numbers += "1.5, 2024-05-27T07:32:00.5, ";
  }
  CHECK(parse_problem(numbers + "]\n").empty());
}

TEST_CASE("values are counted, and not their punctuation: as many are taken as in JSON") {
  const auto times = [](std::size_t n, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) {
      all += text;
    }
    return all;
  };
  const auto too_many = [](const std::string& text) {
    return parse_problem(text).find("more than 500000 values") != std::string::npos;
  };
  constexpr std::size_t tables = 170'000;  // of one number each: 340,000 values
  CHECK(parse_problem("a = [\n" + times(tables, "{a=1},\n") + "]\n").empty());
  CHECK(parse_problem(times(tables, "[[x]]\na = 1\n")).empty());
  CHECK(parse_problem("a = [" + times(tables, " 'x' ,\t\"y\",\r\n") + "]\n").empty());
  CHECK(parse_problem("[x.y.z]\na = [" + times(tables, "[ ],[\n],") + "]\n").empty());
  // The document, the array and 499,998 elements; and one more.
  const std::string full = "a = [" + times(most_document_values - 2, "1,");
  CHECK_FALSE(too_many(full + "]\n"));
  CHECK(too_many(full + "1]\n"));
  CHECK(too_many(full + "'']\n"));
  CHECK(too_many("a = [" + times(most_document_values / 2, "{b=1},") + "]\n"));
  CHECK(too_many(times(most_document_values / 2, "[[x]]\na = 1\n")));
  const std::string dots = times(most_document_values / 20 + 1, "[[a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a]]\n");
  CHECK(parse_problem(dots).find("more than 500000 dots in keys, each of which may open a table") != std::string::npos);
}

TEST_CASE("a key of many parts is refused, and nesting by keys and tables together ends within the stack") {
  const auto key = [](int parts) {
    std::string text = "a";
    for (int i = 1; i < parts; ++i) {
      text += ".a";
    }
    return text;
  };
  CHECK(parse_problem(key(32) + " = 1\n[b." + key(31) + "]\n").empty());
  CHECK(parse_problem("x = 1\n" + key(100'000) + " = 1\n").find("f.toml:2:64: error: a key of more than 32 parts") ==
        0);
  CHECK(parse_problem("[" + key(33) + "]\n").find("a key of more than 32 parts") != std::string::npos);
  CHECK(parse_problem("x = {" + key(33) + " = 1}\n").find("a key of more than 32 parts") != std::string::npos);
  const auto nested = [&](int tables, int parts) {
    std::string deep = "x = 1";
    for (int i = 0; i < tables; ++i) {
      deep = key(parts) + " = {" + deep + "}";
    }
    return parse_problem(deep + "\n");
  };
  CHECK(nested(7, 32).empty());
  CHECK(nested(8, 32).find("nested deeper than 256 levels") != std::string::npos);
  CHECK(nested(200, 32).find("nested deeper than 256 levels") != std::string::npos);
}
