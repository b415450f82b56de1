// SPDX-License-Identifier: Apache-2.0
// A tree of values and what is printed from it.
#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/document/print.hpp>

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace headroom;

TEST_CASE("members stand in their order, absent ones nowhere, and what is null says so") {
  const Value document =
      object("a"_m = 1, "left_out"_m = std::optional<double>{}, "none"_m = or_null(std::optional<double>{}),
             "unnamed"_m = or_null(std::string{}), object("b"_m = true, "c"_m = "x"), Value{},
             "not_asked"_m = when(false, 1.0), "last"_m = std::numeric_limits<double>::infinity());
  CHECK(json_text(document) ==
        "{\n  \"a\": 1,\n  \"none\": null,\n  \"unnamed\": null,\n  \"b\": true,\n  \"c\": \"x\",\n  \"last\": "
        "null\n}\n");
}

TEST_CASE("a row is on one line with all within it, and an interval always is") {
  const std::vector<std::string> texts{"x", "y"};
  CHECK(json_text(row("texts"_m = texts, "inner"_m = object("n"_m = 2))) ==
        "{\"texts\": [\"x\", \"y\"], \"inner\": {\"n\": 2}}\n");
  CHECK(json_text(object("step_s"_m = Interval<Seconds>{Seconds{1.0}, Seconds{2.0}, Seconds{4.0}})) ==
        "{\n  \"step_s\": {\"low\": 1, \"mid\": 2, \"high\": 4}\n}\n");
}

TEST_CASE("numbers are raw SI in JSON, and read as their type or their hint says") {
  CHECK(json_text(Value{Seconds{0.25}}) == "0.25\n");
  CHECK(Value{Seconds{0.25}}.hint() == Hint::seconds);
  CHECK(Value{Bytes{1024.0}}.hint() == Hint::bytes);
  CHECK(Value{12}.hint() == Hint::count);
  CHECK(share(Interval<double>{0.1, 0.2, 0.3}).find("high")->hint() == Hint::percent);
  CHECK(figure_text(0.25, Hint::seconds) == "250 ms");
  CHECK(figure_text(0.034, Hint::change) == "+3.40 %");
  CHECK(figure_text(65504.0, Hint::magnitude) == "65504");
  CHECK(figure_text(0.5625, Hint::magnitude) == "0.5625");
  CHECK(figure_text(0x1p-24, Hint::magnitude) == "5.96e-08");
  CHECK(figure_text(0x1.fep127, Hint::magnitude) == "3.39e+38");
}

TEST_CASE(
    "a list is rows of CSV: members within members, yes as 1, nothing for what is not there, quotes where needed") {
  const std::array rows{object("n"_m = 8, "fits"_m = true, "step_s"_m = object("mid"_m = 0.5)),
                        object("n"_m = 16, "fits"_m = false, "why"_m = "too large, by far")};
  constexpr std::array columns{Column{"gpus", "n"}, Column{"fits", "fits"}, Column{"step_s", "step_s/mid"},
                               Column{"why", "why"}};
  CHECK(csv_text(list(rows, [](const Value& one) { return one; }), columns) ==
        "gpus,fits,step_s,why\n8,1,0.5,\n16,0,,\"too large, by far\"\n");
}

TEST_CASE("a format of documents is found by its name, is among the choices, and prints the tree") {
  const Value document = object("a"_m = 1);
  std::string names;
  for (const DocumentFormat* const format : document_formats) {
    names += (names.empty() ? "" : "|") + std::string{format->name};
    CHECK(find_document_format(format->name) == format);
    CHECK(document_format_meanings.find(format->meaning) != std::string_view::npos);
    CHECK(format->print(document).find("a") != std::string::npos);
  }
  CHECK(names == document_format_names);
  CHECK(find_document_format("json")->print(document) == json_text(document));
  CHECK(find_document_format("text") == nullptr);
}
