// SPDX-License-Identifier: Apache-2.0
// Changes of a question: what is printed of one makes the same document as the change itself.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/read/change_text.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace headroom;

namespace {

/// Kinds and values, without places.
std::string shape_of(const ConfigValue& value) {
  std::string text = std::to_string(static_cast<int>(value.kind)) + " " + std::to_string(value.integer) + " " +
                     std::to_string(value.number) + (value.boolean ? " true " : " false ") +
                     (value.kind == ConfigValue::Kind::text ? value.text : "");  // of numbers it is how they were typed
  for (const ConfigValue& item : value.items) {
    text += " [" + shape_of(item) + "]";
  }
  for (const ConfigEntry& entry : value.entries) {
    text += " {" + entry.key + ": " + shape_of(entry.value) + "}";
  }
  return text;
}

/// One of each kind of value.
Changes some_changes() {
  return {{Knob::model, "llama3.1-8b"},
          {Knob::gpus, 512},
          {Knob::power_cap, "450 W"},
          {Knob::region, "eu"},
          {Knob::precision, Precision::fp8},
          {Knob::optimizer, 2},
          {Knob::offload, std::vector<Offload>{}},
          {Knob::offload, std::vector{Offload::activations, Offload::optimizer}},
          {Knob::overlap, false},
          {Knob::order, RankOrder::dp_cp_tp_pp},
          {Knob::tp, 8},
          {Knob::recompute, Recompute::selective},
          {Knob::sequence_parallel, true},
          {Knob::weights, Precision::mxfp4},
          {Knob::kv_cache, Precision::fp8},
          {Knob::memory_fraction, 0.88}};
}

}  // namespace

TEST_CASE("a change put into a document is what its printed line and its --set make of it") {
  for (const char* text : {"schema = 1\n", "[strategy]\ntp = 2\nzero = 1\n[training]\noffload = [\"optimizer\"]\n"}) {
    for (const Change& change : some_changes()) {
      CAPTURE(text_of(change));
      ConfigValue put_in = parse_toml(text, "test");
      put(change, put_in);
      Diagnostics diagnostics;
      ConfigValue by_line = parse_toml(text, "test");
      apply_override(by_line, text_of(change), diagnostics);
      CHECK(shape_of(put_in) == shape_of(by_line));
      if (change.knob != Knob::offload) {  // a list needs its quotes
        ConfigValue by_option = parse_toml(text, "test");
        apply_override(by_option, override_of(change), diagnostics);
        CHECK(shape_of(put_in) == shape_of(by_option));
      }
      CHECK(diagnostics.empty());
    }
  }
}

TEST_CASE("a value that a table stands in the way of is a problem at the change") {
  ConfigValue root = parse_toml("strategy = 3\n", "test");
  const Change change{Knob::tp, 8};
  try {
    put(change, root);
    FAIL("taken");
  } catch (const ConfigError& error) {
    CHECK(error.diagnostics().front().message == "'strategy.tp=8': 'strategy' is no table");
  }
}

TEST_CASE("every knob but what no key states has a key of its own, and words are found by their names") {
  std::set<std::string_view> paths;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Knob::count); ++i) {
    const auto knob = static_cast<Knob>(i);
    CHECK(path_of(knob).empty() != is_key(knob));
    CHECK((paths.insert(path_of(knob)).second || !is_key(knob)));
    CHECK(of_strategy(knob) == path_of(knob).starts_with("strategy."));
    for (const std::string_view word : words_of(knob)) {
      const Change change = change_to(knob, std::string{word});
      CHECK_FALSE(is_no_word(change));
      CHECK(bare_value_of(change) == word);
    }
  }
  CHECK(is_no_word(change_to(Knob::precision, "fp9")));
  CHECK(change_to(Knob::weights, "mxfp4") == Change{Knob::weights, Precision::mxfp4});
}
