// SPDX-License-Identifier: Apache-2.0
// The tables of docs/scenario-format.md are written from the table of keys: below a line "<!-- keys: TABLE, KIND -->"
// stands what it says of that table for questions of that kind.
// After a change of a key: HEADROOM_UPDATE_GOLDEN=1 test_scenarios -tc='keys: the manual*', then read the difference.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;

namespace {

const std::string file = std::string{HEADROOM_SOURCE_DIR} + "/docs/scenario-format.md";
constexpr std::string_view marker = "<!-- keys: ";

struct Named {
  std::string_view name;
  Kinds kinds;
};
constexpr std::array kinds_by_name{
    Named{"train", Kinds::train},     Named{"serve", Kinds::serve},     Named{"network", Kinds::network},
    Named{"batch", Kinds::batch},     Named{"job", Kinds::token_job},   Named{"served", Kinds::served},
    Named{"batches", Kinds::batches}, Named{"sharing", Kinds::sharing}, Named{"all", Kinds::all},
    Named{"cluster", Kinds::cluster}, Named{"classic", Kinds::classic}, Named{"post_train", Kinds::post_train}};
constexpr std::array told_kinds{Named{"training", Kinds::train},
                                Named{"serving", Kinds::serve},
                                Named{"networks of ops", Kinds::network},
                                Named{"batch inference", Kinds::batch},
                                Named{"jobs of language models", Kinds::token_job},
                                Named{"tenants of one card", Kinds::sharing},
                                Named{"clusters", Kinds::cluster},
                                Named{"classic machine learning", Kinds::classic},
                                Named{"post-training", Kinds::post_train}};

std::string page() {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// "4,096", "1e9", "0.9999999".
std::string number_text(double value) {
  if (value != std::floor(value) || std::abs(value) < 1e4) {
    return shortest_text(value);
  }
  if (value > 1e7 && std::pow(10.0, std::round(std::log10(value))) == value) {
    return "1e" + std::to_string(std::lround(std::log10(value)));
  }
  std::string text = std::to_string(static_cast<std::int64_t>(value));
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string range_text(const Key& key) {
  if (key.high == static_cast<double>(not_negative.high)) {
    return number_text(key.low) + " and up";
  }
  return (key.above_low ? "above " : "") + number_text(key.low) + " to " + number_text(key.high);
}

std::string quantity_name(Dimension dimension) {
  struct Row {
    Dimension dimension;
    std::string_view name;
  };
  constexpr std::array rows{Row{dimension_of<Seconds>, "time"},
                            Row{dimension_of<Bytes>, "bytes"},
                            Row{dimension_of<BytesPerSecond>, "bytes per time"},
                            Row{dimension_of<Watts>, "power"},
                            Row{dimension_of<Hertz>, "requests per time"},
                            Row{dimension_of<Dollars>, "dollars"},
                            Row{dimension_of<Joules>, "energy"},
                            Row{dimension_of<DollarsPerSecond>, "dollars per time"},
                            Row{dimension_of<DollarsPerJoule>, "dollars per energy"},
                            Row{dimension_of<DollarsPerByte>, "dollars per bytes"},
                            Row{dimension_of<DollarsPerByteSecond>, "dollars per bytes and time"}};
  const auto* const row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.dimension == dimension; });
  REQUIRE(row != rows.end());
  return std::string{row->name};
}

std::string quantity_text(const Key& key) {
  std::string text = key.example.ends_with("Hz") ? "frequency" : quantity_name(key.dimension);
  if (std::isfinite(key.high)) {
    const std::string high = bound_text(key.high, key.dimension);
    text += key.low > 0.0 ? ", " + bound_text(key.low, key.dimension) + " to " + high : ", up to " + high;
  }
  return text;
}

std::string words_text(std::span<const std::string_view> words, std::string_view others) {
  std::string text;
  for (const std::string_view word : words) {
    text += (text.empty() ? "`" : ", `") + std::string{word} + "`";
  }
  return text.empty() ? std::string{others} : text;
}

std::string type_text(const Key& key) {
  const std::string any = key.any ? " or `any`" : "";
  switch (key.type) {
    case KeyType::integer: return key.low == key.high ? number_text(key.low) : range_text(key);
    case KeyType::number: return "number, " + range_text(key);
    case KeyType::boolean: return "true, false";
    case KeyType::text:
    case KeyType::choice: return words_text(key.choices, "text");
    case KeyType::quantity: return quantity_text(key) + (key.choices.empty() ? "" : ", " + words_text(key.choices, ""));
    case KeyType::percentage: return "`\"0 %\"` to `\"" + number_text(key.high) + " %\"`";
    case KeyType::month: return "month or date";
    case KeyType::date: return "date";
    case KeyType::deadline: return "time or date";
    case KeyType::model: return "text or table";
    case KeyType::integers: return "array of " + range_text(key);
    case KeyType::texts: return "array of " + words_text(key.choices, "text");
    case KeyType::number_axis: return "numbers" + any;
    case KeyType::real_axis: return "array of " + range_text(key);
    case KeyType::text_axis: return words_text(key.choices, "ids") + any;
    case KeyType::boolean_axis: return "true, false" + any;
    case KeyType::quantity_axis: return "array of " + quantity_name(key.dimension) + any;
    case KeyType::table: return "table";
    case KeyType::tables: return "array of tables";
    case KeyType::text_map: return "table of text";
    case KeyType::count_map: return "table of " + range_text(key);
  }
  return "";
}

std::string name_text(const KeyTable& table, const Key& key) {
  const std::string whole = (table.path.empty() ? "" : std::string{table.path} + ".") + std::string{key.path};
  return key.type == KeyType::table    ? "`[" + whole + "]`"
         : key.type == KeyType::tables ? "`[[" + whole + "]]`"
                                       : "`" + std::string{key.path} + "`";
}

/// Whose key it is, where others of the table's questions have none of it.
std::string owners_text(const Key& key, Kinds asked) {
  if ((key.kinds & asked) == asked) {
    return "";
  }
  std::string text;
  for (const Named& told : told_kinds) {
    if (meet(key.kinds & asked, told.kinds)) {
      text += (text.empty() ? "Of " : " and ") + std::string{told.name};
    }
  }
  return text + ": ";
}

std::string table_text(const KeyTable& table, Kinds asked) {
  std::string text = "| key | type | blank | meaning |\n|---|---|---|---|\n";
  for (const Key& key : table.rows) {
    if (meet(key.kinds & table.kinds, asked)) {
      text += "| " + name_text(table, key) + " | " + type_text(key) + " | " +
              (key.required ? "required" : blank_text(key)) + " | " + owners_text(key, asked & table.kinds) +
              std::string{key.meaning} + (key.caution.empty() ? "" : " " + std::string{key.caution}) + " |\n";
    }
  }
  return text;
}

struct Asked {
  const KeyTable* table = nullptr;
  Kinds kinds = Kinds::none;
};

/// "<!-- keys: strategy, train -->"; of a line that is none no table. The root's name is "root".
Asked asked_by(std::string_view line) {
  if (!line.starts_with(marker)) {
    return {};
  }
  const std::size_t comma = line.find(", ");
  const std::string_view path = line.substr(marker.size(), comma - marker.size());
  const std::string_view kind = line.substr(comma + 2, line.find(' ', comma + 2) - comma - 2);
  const auto* const kinds =
      std::find_if(kinds_by_name.begin(), kinds_by_name.end(), [&](const Named& k) { return k.name == kind; });
  REQUIRE(kinds != kinds_by_name.end());
  for (const KeyTable& table : all_key_tables()) {
    if (table.path == (path == "root" ? "" : path) && meet(table.kinds, kinds->kinds)) {
      return {&table, kinds->kinds};
    }
  }
  FAIL("the page asks for the keys of ", std::string{path}, ", a table that is not there");
  return {};
}

/// The page with its tables written anew; `seen` is told each of them.
template <class Seen>
std::string rewritten(const std::string& text, Seen seen) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    result += line;
    if (const Asked asked = asked_by(line); asked.table != nullptr) {
      seen(asked);
      result += table_text(*asked.table, asked.kinds);
      while (end < text.size() && text[end] == '|') {
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
      }
    }
    at = end;
  }
  return result;
}

}  // namespace

TEST_CASE("keys: the manual has of each what the table of keys says") {
  const std::string written = page();
  const std::string anew = rewritten(written, [](const Asked&) {});
  if (written != anew && std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream{file} << anew;
  }
  for (std::size_t a = 0, b = 0; a < written.size() && b < anew.size() && written != anew;) {
    const std::string is = written.substr(a, written.find('\n', a) - a);
    const std::string should = anew.substr(b, anew.find('\n', b) - b);
    if (is != should) {
      CHECK(is == should);  // the first line of many
      break;
    }
    a += is.size() + 1;
    b += should.size() + 1;
  }
  CHECK((written == anew || std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr));
}

TEST_CASE("keys: the manual has every one of them") {
  std::vector<Asked> shown;
  static_cast<void>(rewritten(page(), [&](const Asked& asked) { shown.push_back(asked); }));
  for (const KeyTable& table : all_key_tables()) {
    CAPTURE(table.path);
    for (const Key& key : table.rows) {
      CAPTURE(key.path);
      // A class has tables of its own that are those of [traffic] and [slo], and tiers are alike.
      CHECK(std::any_of(shown.begin(), shown.end(), [&](const Asked& asked) {
        return asked.table->rows.data() == table.rows.data() && meet(key.kinds & table.kinds, asked.kinds);
      }));
    }
  }
}

TEST_CASE("keys: the manual lists the options of the quick form") {
  const std::string text = page();
  for (const Key& key : all_keys()) {
    if (!key.option.empty()) {
      CAPTURE(key.option);
      CHECK(text.find("`" + std::string{key.option} + "`") != std::string::npos);
    }
  }
}
