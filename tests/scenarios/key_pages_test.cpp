// SPDX-License-Identifier: Apache-2.0
// docs/scenario-format.md against the table of keys: each has every key of the other.
#include <headroom/scenarios/keys/all_keys.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;

namespace {

/// A key that the first cell of a row names, and the row.
struct ToldKey {
  std::string path;
  Kinds kinds;
  std::string row;
};

/// What the page tells: keys of its tables, and the text of sections that name keys without a table.
struct Page {
  std::vector<ToldKey> keys;
  std::string promises;      ///< section [slo]
  std::string fleet_search;  ///< section [search] of a fleet
};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What stands between backticks.
std::vector<std::string> names_of(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t open = cell.find('`'); open != std::string_view::npos;) {
    const std::size_t close = cell.find('`', open + 1);
    if (close == std::string_view::npos) {
      break;
    }
    names.emplace_back(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
  return names;
}

/// "[[traffic.class]]": "traffic.class"; empty for what is no table.
std::string table_name(std::string_view name) {
  const std::size_t first = name.find_first_not_of('[');
  return first == 0 || first == std::string_view::npos ? std::string{}
                                                       : std::string{name.substr(first, name.find(']') - first)};
}

/// "| a | | b |": "a", "", "b".
std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  for (std::size_t bar = row.find('|'); bar != std::string_view::npos;) {
    const std::size_t next = row.find('|', bar + 1);
    if (next == std::string_view::npos) {
      break;
    }
    const std::string_view cell = row.substr(bar + 1, next - bar - 1);
    const std::size_t first = cell.find_first_not_of(' ');
    cells.emplace_back(first == std::string_view::npos ? std::string_view{}
                                                       : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    bar = next;
  }
  return cells;
}

std::string below(const std::string& table, const std::string& name) {
  return table.empty() ? name : table + "." + name;
}

/// Reads the page line by line: headings say which table a row is of, and for which kinds of question.
class PageReader {
 public:
  Page run(const std::string& file) {
    std::ifstream stream{file};
    REQUIRE(stream.good());
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("## ")) {
        begin_chapter(line);
      } else if (line.starts_with("### ")) {
        begin_section(line);
      } else if (line.starts_with("| ")) {
        read_row(line);
      } else {
        in_rows_ = in_rows_ && line.starts_with("|--");
        prose_of_section(line);
      }
    }
    return std::move(page_);
  }

 private:
  void begin_chapter(const std::string& line) {
    kinds_ = line.starts_with("## Serving") ? Kinds::serve
             : line == "## Training"        ? Kinds::train
             : line == "## Networks of ops" ? Kinds::network
             : line == "## The root"        ? Kinds::all
                                            : Kinds::none;
    table_.clear();
    section_ = line;
    in_rows_ = false;
  }
  void begin_section(const std::string& line) {
    const std::vector<std::string> names = names_of(line);
    table_ = names.empty() ? std::string{} : table_name(names.front());
    section_ = line;
    in_rows_ = false;
  }
  void prose_of_section(const std::string& line) {
    if (section_ == "### `[slo]`") {
      page_.promises += line;
    } else if (section_ == "### `[search]` of a fleet") {
      page_.fleet_search += line;
    }
  }

  void read_row(const std::string& line) {
    const std::vector<std::string> cells = cells_of(line);
    if (!in_rows_) {
      in_rows_ = true;
      begin_table(cells);
    } else if (of_networks_ && cells.size() > 1) {
      const std::vector<std::string> tables = names_of(cells[0]);
      rows_of_ = tables.empty() ? rows_of_ : table_name(tables.front());
      tell(cells[1], line);
    } else if (holds_keys_) {
      tell(cells[0], line);
    }
  }

  /// The head of a table: "key", "of `[money.owned]`", or of networks "table" and "key".
  void begin_table(const std::vector<std::string>& cells) {
    const std::string& head = cells.front();
    of_networks_ = kinds_ == Kinds::network && head == "table";
    holds_keys_ = kinds_ != Kinds::none && (head == "key" || head.starts_with("of `["));
    rows_of_ = head.starts_with("of `[") ? table_name(names_of(head).front()) : table_;
  }

  /// Bare names after a table's name lie beside it.
  void tell(const std::string& cell, const std::string& row) {
    std::string table = rows_of_;
    for (const std::string& name : names_of(cell)) {
      const std::string whole = table_name(name);
      if (!whole.empty()) {
        const std::size_t dot = whole.rfind('.');
        table = dot == std::string::npos ? std::string{} : whole.substr(0, dot);
      }
      page_.keys.push_back({whole.empty() ? below(table, name) : whole, kinds_, row});
    }
  }

  Page page_;
  std::string table_, section_, rows_of_;
  Kinds kinds_ = Kinds::none;
  bool in_rows_ = false, holds_keys_ = false, of_networks_ = false;
};

const Page& page() {
  static const Page read = PageReader{}.run(std::string{HEADROOM_SOURCE_DIR} + "/docs/scenario-format.md");
  return read;
}

bool has_row(std::string_view path, Kinds kinds) {
  return std::any_of(page().keys.begin(), page().keys.end(),
                     [&](const ToldKey& told) { return told.path == path && meet(told.kinds, kinds); });
}

/// Whether the row of the nearest table around the key that has one names it.
bool is_named_around(const Key& key) {
  for (std::string_view table = key.table(); !table.empty();) {
    for (const ToldKey& told : page().keys) {
      if (told.path == table && meet(told.kinds, key.kinds) && holds(told.row, "`" + std::string{key.name()} + "`")) {
        return true;
      }
    }
    const std::size_t dot = table.rfind('.');
    table = dot == std::string_view::npos ? std::string_view{} : table.substr(0, dot);
  }
  return false;
}

bool is_told(std::string_view path, Kinds kinds) {
  const Key* key = find_key(path, kinds);
  if (key == nullptr) {
    return false;
  }
  const std::string name{key->name()};
  if (key->table() == "slo") {  // "Keys `ttft`, `tpot`, `e2e` with `_mean`, `_p50` ..."
    const std::size_t line = name.find('_');
    return holds(page().promises, "`" + name.substr(0, line) + "`") &&
           holds(page().promises, "`" + name.substr(line) + "`");
  }
  const bool of_fleet = key->table() == "search" && holds(page().fleet_search, "`" + name + "`");
  const std::string front = std::string{path} + ".";
  const bool through_parts = std::any_of(page().keys.begin(), page().keys.end(),
                                         [&](const ToldKey& told) { return told.path.starts_with(front); });
  return of_fleet || through_parts || has_row(path, key->kinds) || is_named_around(*key);
}

}  // namespace

TEST_CASE("keys: every key of docs/scenario-format.md stands in the table") {
  CHECK(page().keys.size() > 180);
  for (const ToldKey& told : page().keys) {
    CAPTURE(told.path);
    CAPTURE(static_cast<int>(told.kinds));
    CHECK(find_key(told.path, told.kinds) != nullptr);
  }
}

TEST_CASE("keys: every key of the table stands in docs/scenario-format.md") {
  constexpr std::string_view of_class = "traffic.class.";
  for (const Key& key : all_keys()) {
    CAPTURE(key.path);
    CAPTURE(static_cast<int>(key.kinds));
    // A class has tables of its own that are those of [traffic] and [slo].
    const bool inner = key.path.starts_with(of_class) && key.table() != "traffic.class";
    const std::string_view rest = inner ? key.path.substr(of_class.size()) : std::string_view{};
    const std::string outer = rest.starts_with("slo.") ? std::string{rest} : "traffic." + std::string{rest};
    CHECK(is_told(inner ? std::string_view{outer} : key.path, key.kinds));
  }
}
