// SPDX-License-Identifier: Apache-2.0
// What a terminal obeys is told from what it prints, byte for byte.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/printable.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace headroom;

TEST_CASE("UTF-8 is measured as RFC 3629 has it") {
  for (const char* one : {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9a\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    CHECK(utf8_length(std::string{one} + "rest") == std::string{one}.size());
  }
  // A byte alone, cut, longer than needed, a surrogate, beyond U+10FFFF, a byte that starts nothing.
  for (const char* none :
       {"\x80", "\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    CHECK(utf8_length(none) == 0);
  }
  CHECK(utf8_length("") == 0);
}

TEST_CASE("control characters, separators and marks of direction are no printed text") {
  for (const char* text : {"Llama 3.1 70B", "\xc3\xa9t\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "$(touch X) `'\"\\", ""}) {
    CHECK_FALSE(first_unprintable(text));
    CHECK(shown(text) == text);
  }
  for (int c = 0; c < 0x20; ++c) {
    CHECK(first_unprintable("ab" + std::string(1, static_cast<char>(c)) + "c") == std::string(1, static_cast<char>(c)));
  }
  for (const char* c : {"\x7f", "\xc2\x80", "\xc2\x9b", "\xc2\x9f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xae",
                        "\xe2\x81\xa6", "\xd8\x9c", "\x9b", "\xff"}) {
    CHECK(first_unprintable("ab" + std::string{c} + "c") == c);
    CHECK(shown(std::string{"ab"} + c).starts_with("ab\\x"));
    CHECK(shown(std::string{"ab"} + c).find_first_not_of("ab\\x0123456789cdef") == std::string::npos);
  }
  CHECK_FALSE(first_unprintable("\xc2\xa0"));  // the first character behind C1
  CHECK(shown("a\x1b[31m\nb\tc") == "a\\x1b[31m\\x0ab\\x09c");
  CHECK(shown_lines("a\x1b[31m\nb\tc\r") == "a\\x1b[31m\nb\tc\\x0d");
  CHECK(shown_lines("a\r\nb\rc\r\r\n\r\n") == "a\r\nb\\x0dc\\x0d\r\n\r\n");
  CHECK(shown("a\r\n") == "a\\x0d\\x0a");
}

TEST_CASE("a message's place and text cannot move the cursor") {
  const Diagnostic problem{"a\x1b[2K\nb.toml",
                           {3, 4},
                           "'id' is \x9b"
                           "31m"};
  CHECK(problem.text() == "a\\x1b[2K\\x0ab.toml:3:4: error: 'id' is \\x9b31m");
  const std::string c1 =
      "\xc2\x9b"
      "31m\n";
  CHECK(quoted(c1) == "'\\xc2\\x9b31m\\x0a'");
}

TEST_CASE("text of a file is one printed line, and which is not is told with its place and the way out") {
  const ConfigValue root = parse_toml("id = \"a\\nb\"\nlist = [\"c\", \"d\\u009b\"]\nname = \"plain\"\n", "x.toml");
  Diagnostics diagnostics;
  ConfigTable table{root, "", diagnostics};
  CHECK(table.text("id").empty());
  CHECK(table.texts("list") == std::vector<std::string>{"c"});
  CHECK(table.text("name") == "plain");
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics.sorted()[0].text() ==
        "x.toml:1:6: error: 'id' is 'a\\x0ab'; it must be one line of printable text, without '\\x0a'");
  CHECK(diagnostics.sorted()[1].text() ==
        "x.toml:2:14: error: 'list' is 'd\\xc2\\x9b'; it must be one line of printable text, without '\\xc2\\x9b'");
}

TEST_CASE("a cell of a table may break its line and hold tabs, and no other control character") {
  std::istringstream stream{"id,notes\na,\"two\nlines\tof it\"\nb,\"x\x1b[31m\"\nc\xff,y\nd,z\n"};
  Diagnostics diagnostics;
  CsvReader csv{stream, "rows.csv", diagnostics};
  std::string ids;
  while (csv.next()) {
    ids += csv.fields().front();
  }
  CHECK(ids == "ad");
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics.sorted()[0].text() ==
        "rows.csv:4:3: error: the field 'x\\x1b[31m' holds '\\x1b', which is no printable text; take it out");
  CHECK(diagnostics.sorted()[1].at.line == 5);
}
