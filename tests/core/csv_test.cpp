// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>

#include <doctest/doctest.h>

#include <sstream>

using namespace headroom;

namespace {

struct Read {
  std::vector<std::vector<std::string>> rows;
  std::string problems;
};

Read read(const std::string& text) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  CsvReader csv{stream, "f.csv", diagnostics};
  Read result;
  while (csv.next()) {
    result.rows.push_back(csv.fields());
  }
  for (const Diagnostic& d : diagnostics.sorted()) {
    result.problems += d.text() + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("quotes, doubled quotes, commas and line breaks inside fields, CRLF and a missing last newline") {
  const Read r = read("a,b\r\n\"x,\"\"y\"\"\",\"1\n2\"\r\n\r\n3,4");
  CHECK(r.problems.empty());
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0] == std::vector<std::string>{"x,\"y\"", "1\n2"});
  CHECK(r.rows[1] == std::vector<std::string>{"3", "4"});
}

TEST_CASE("broken rows are told with their place, and the good ones read") {
  const Read r = read("a,b\n1\n2,3\n4,5,6\n\"7\"8,9\n10,11\n\"12,13\n");
  CHECK(r.rows.size() == 2);
  CHECK(r.problems ==
        "f.csv:2:1: error: row has 1 fields; the header has 2\n"
        "f.csv:4:1: error: row has 3 fields; the header has 2\n"
        "f.csv:5:4: error: text after a closing quote\n"
        "f.csv:7:1: error: a quoted field is never closed\n");
}

TEST_CASE("a row without end is refused where it begins, and the rows behind it are read") {
  const std::string endless = "1," + std::string(longest_record, 'x') + "\n";
  const Read r = read("a,b\n1,2\n" + endless + "3,4\n");
  CHECK(r.rows.size() == 2);
  CHECK(r.problems == "f.csv:3:3: error: a row of more than 1 MiB; close the quote or end the line before\n");
  const Read commas = read("a,b\n" + std::string(4 * longest_record, ',') + "\n3,4\n");
  CHECK(commas.rows.size() == 1);
  CHECK(commas.problems.find("f.csv:2:") == 0);
}

TEST_CASE("headers must be there, named and unique") {
  CHECK(read("").problems == "f.csv:1:1: error: empty file; the first line must name the columns\n");
  CHECK(read("a,,a\n").problems ==
        "f.csv:1:3: error: a column has no name\nf.csv:1:4: error: column 'a' stands twice\n");
}

TEST_CASE("numbers are whole fields and finite") {
  std::istringstream stream{"a,b,c,d,e\n1.5e3,,nan,2x,1e400\n"};
  Diagnostics diagnostics;
  CsvReader csv{stream, "f.csv", diagnostics};
  REQUIRE(csv.next());
  CHECK(csv.number(0) == 1500.0);
  CHECK_FALSE(csv.number(1).has_value());
  CHECK(diagnostics.empty());
  CHECK_FALSE(csv.number(2).has_value());
  CHECK_FALSE(csv.number(3).has_value());
  CHECK_FALSE(csv.number(4).has_value());
  CHECK(diagnostics.size() == 3);
  CHECK(integer_of("8.0") == 8);
  CHECK_FALSE(integer_of("8.5").has_value());
  CHECK_FALSE(integer_of("8k").has_value());
  CHECK_FALSE(integer_of("1e300").has_value());
}

TEST_CASE("a field that needs quotes gets them") {
  CHECK(csv_field("plain") == "plain");
  CHECK(csv_field("a,\"b\"") == "\"a,\"\"b\"\"\"");
}
