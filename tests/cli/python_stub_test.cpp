// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/stubs/call_options.hpp>
#include <headroom/cli/stubs/python_names.hpp>
#include <headroom/cli/stubs/python_stub.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using headroom::all_keys;
using headroom::Key;
using headroom::Kinds;

namespace {

std::string stub_with(const Key& planted) {
  std::vector<Key> keys{all_keys().begin(), all_keys().end()};
  keys.push_back(planted);
  return headroom::python::python_stub(keys);
}

/// The body of a class or the text of a function, up to the next one.
std::string part_of(const std::string& stub, const std::string& head) {
  const std::size_t begin = stub.find("\n" + head);
  REQUIRE_MESSAGE(begin != std::string::npos, head);
  const std::size_t next_class = stub.find("\nclass ", begin + 1);
  const std::size_t next_function = stub.find("\ndef ", begin + 1);
  return stub.substr(begin, std::min(next_class, next_function) - begin);
}

}  // namespace

TEST_CASE("python stubs: a key that is planted in the table has its type, unit, default and keyword") {
  Key planted = headroom::keys::integer("strategy.planted_ranks", 1, 77)
                    .of(Kinds::train)
                    .usually(3)
                    .says("It is planted.")
                    .typed_as("--planted-ranks", "N", "planted");
  const std::string stub = stub_with(planted);
  const std::string table = part_of(stub, "class StrategyTable(");
  CHECK(table.find("    planted_ranks: int\n    \"\"\"It is planted. It is from 1 to 77. A blank means 3.\"\"\"\n") !=
        std::string::npos);
  for (const headroom::python::CallName& call : headroom::python::call_names()) {
    const std::string function = part_of(stub, "def " + std::string{call.name} + "(");
    CHECK(function.find("    planted_ranks: int | str | Sequence[int | str] = ...,\n") != std::string::npos);
    CHECK(function.find("planted_ranks: strategy.planted_ranks. It is planted.") != std::string::npos);
  }
  CHECK(headroom::python::python_stub(all_keys()).find("planted") == std::string::npos);
}

TEST_CASE("python stubs: a quantity tells its unit, a choice its words, a word of Python its own form") {
  Key time =
      headroom::keys::quantity<headroom::Seconds>("goodput.planted", headroom::Seconds{1.0}, headroom::Seconds{60.0})
          .or_nothing("none")
          .says("It is a time.");
  CHECK(stub_with(time).find("    planted: str\n    \"\"\"It is a time. It has a unit, such as ") != std::string::npos);
  CHECK(headroom::python::docs_of(time).find("from 1.00 s to 60.0 s") != std::string::npos);
  constexpr static std::array<std::string_view, 2> words{"left", "right"};
  const Key choice = headroom::keys::choice("data.class", words).needed().says("It is a side.");
  const std::string stub = stub_with(choice);
  CHECK(stub.find("_DataTable = TypedDict(\"_DataTable\", {\"class\": Literal[\"left\", \"right\"]}, total=False)\n") !=
        std::string::npos);
  CHECK(stub.find("\nclass DataTable(_DataTable, total=False):\n") != std::string::npos);
}

TEST_CASE("python stubs: names and texts are Python's") {
  CHECK(headroom::python::keyword_of("--seq-len") == "seq_len");
  CHECK(headroom::python::keyword_of("--from") == "from_");
  CHECK(headroom::python::class_name("fleet.prefill") == "FleetPrefill");
  CHECK(headroom::python::class_name("post-training") == "PostTraining");
  CHECK(headroom::python::doc_string("a \"b\" \\c") == "\"\"\"a \\\"b\\\" \\\\c\"\"\"");
  CHECK(!headroom::python::is_attribute("wide-experts"));
  CHECK(!headroom::python::is_attribute("class"));
  CHECK(headroom::python::is_attribute("tp"));
}
