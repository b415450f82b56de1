// SPDX-License-Identifier: Apache-2.0
// No key of a scenario is without effect: set to another legal value it changes the answer, or the answer says that it
// has none. idle_keys.txt lists those that do neither, and is wrong as soon as one of them does.
#include <headroom/headroom.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <doctest/doctest.h>

#include "../../cli/run_headroom.hpp"
#include "../../scenarios/key_hosts.hpp"
#include "more_hosts.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::HostReader;
using headroom::test::key_hosts;
using headroom::test::KeyHost;
using headroom::test::more_hosts;
using headroom::test::read_text;

namespace {

/// Small searches, which the hosts of the readers are not: those state no question.
constexpr std::array searches{KeyHost{Kinds::train, HostReader::search, R"(
schema = 1
kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
tokens = 1e12
[money]
prices = "nebius-2026-08"
[search]
tp = [1, 2]
[objective]
gpus_on_hand = 64
)"},
                              KeyHost{Kinds::serve, HostReader::fleet_axes, R"(
schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
isl = 1000
osl = 200
[traffic]
rate = "12 req/s"
[slo]
ttft_p95 = "1 s"
[search]
tp = [1, 2]
)"}};

/// Ids and free text that some key takes.
constexpr std::array<std::string_view, 25> words{"h200-sxm-141gb",
                                                 "a100-sxm-80gb",
                                                 "aws-p5",
                                                 "dgx-a100",
                                                 "dgx-superpod-h100",
                                                 "llama3.1-8b",
                                                 "qwen3-8b",
                                                 "llama3.2-1b",
                                                 "torchtitan",
                                                 "megatron-core",
                                                 "nebius-2026-08",
                                                 "lambda-2026-08",
                                                 "gcs-2026-09",
                                                 "resnet-50",
                                                 "llama3-54-days",
                                                 "meta-rsc-1",
                                                 "hoffmann-2022",
                                                 "0.9",
                                                 "object-nearline",
                                                 "us",
                                                 "eu",
                                                 "object-standard",
                                                 "llama3.2-3b",
                                                 "megatron-bridge",
                                                 "another"};

std::string quoted_word(std::string_view word) {
  return "\"" + std::string{word} + "\"";
}

/// A log of 400 requests, so many seconds apart, in the folder of temporary files.
std::string written_trace(const std::string& name, double gap) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / name;
  std::ofstream file{path};
  file << "time_s,input_tokens,output_tokens\n";
  for (int i = 0; i < 400; ++i) {
    file << gap * i << ',' << 100 + i << ",50\n";
  }
  return path.string();
}
const std::string& trace() {
  static const std::string path = written_trace("headroom-keys-trace.csv", 0.5);
  return path;
}

/// Legal values as TOML, some of which a key may refuse beside the others of its document.
std::vector<std::string> values_of(const Key& key) {
  std::vector<std::string> values;
  const auto each = [&](const auto& names, const auto& shape) {
    for (const std::string_view name : names) {
      values.push_back(shape(name));
    }
  };
  const auto in_bounds = [&](std::initializer_list<double> tried) {
    std::vector<double> kept;
    for (const double value : tried) {
      if (value >= key.low && value <= key.high && !(key.above_low && value == key.low)) {
        kept.push_back(value);
      }
    }
    return kept;
  };
  const auto whole = [](double value) { return std::to_string(static_cast<long long>(value)); };
  switch (key.type) {
    case KeyType::integer:
    case KeyType::integers:
    case KeyType::number_axis:
      for (const double value : in_bounds({2, 4, 1, 8, 3, 32, 100, 1000, 5000, 0})) {
        values.push_back(key.type == KeyType::integer       ? whole(value)
                         : key.type == KeyType::number_axis ? "[1, " + whole(value + 1) + "]"
                                                            : "[" + whole(8 * value) + "]");
      }
      break;
    case KeyType::number:
      for (const double value : in_bounds({0.5, 0.3, 0.9, 2.5, 1.2, 100.0, 1e6, 3e11})) {
        std::ostringstream text;
        text << std::showpoint << value;
        values.push_back(text.str());
      }
      break;
    case KeyType::boolean: values = {"true", "false"}; break;
    case KeyType::boolean_axis: values = {"[true]", "[false]", "[true, false]"}; break;
    case KeyType::percentage: values = {"\"3 %\"", "\"7 %\"", "\"1 %\""}; break;
    case KeyType::month:
    case KeyType::date: values = {"\"2026-09\"", "\"2026-09-15\"", "\"2024-01\""}; break;
    case KeyType::deadline: values = {"\"1 d\"", "\"400 d\"", "\"2030-01-01\""}; break;
    case KeyType::text:
    case KeyType::model:
      each(key.choices, quoted_word);
      each(words, quoted_word);
      values.push_back(quoted_word(trace()));
      break;
    case KeyType::choice: each(key.choices, quoted_word); break;
    case KeyType::texts:
    case KeyType::text_axis:
      each(key.choices, [](std::string_view name) { return "[" + quoted_word(name) + "]"; });
      each(words, [](std::string_view name) { return "[" + quoted_word(name) + "]"; });
      break;
    case KeyType::quantity:
    case KeyType::quantity_axis: {
      each(key.choices, quoted_word);
      const bool axis = key.type == KeyType::quantity_axis;
      for (const double value : in_bounds({500.0, 60.0, 1.0, 3600.0, 1e6, 2e9, 1e11, 3e12, 1e-3, 1e-6, 1e-9, 1e-12})) {
        const std::string text = quoted_word(bound_text(value, key.dimension));
        values.push_back(axis ? "[" + text + "]" : text);
      }
      break;
    }
    case KeyType::table:
    case KeyType::tables: break;
  }
  return values;
}

/// A document with one key set; its table is begun where it has none.
std::string with_key(std::string_view host, const Key& key, const std::string& value) {
  const std::string name{key.name()}, table{key.table()};
  const std::string line = name + " = " + value + "\n";
  std::istringstream lines{std::string{host}};
  std::string text, here;
  bool planted = table.empty();
  if (planted) {
    text = line;
  }
  for (std::string old; std::getline(lines, old);) {
    if (old.starts_with('[')) {
      here = old.substr(old.find_first_not_of('['), old.find(']') - old.find_first_not_of('['));
      text += old + "\n";
      if (here == table && !planted) {
        text += line;
        planted = true;
      }
    } else if (!(here == table && old.starts_with(name + " ="))) {
      text += old + "\n";
    }
  }
  return planted ? text : text + "[" + table + "]\n" + line;
}

struct Answered {
  std::string json, text;
};

std::optional<Answered> answered(const Library& library, std::string document) {
  if (document.find("[traffic]") != std::string::npos && document.find("requests =") == std::string::npos) {
    document.insert(document.find("[traffic]") + 10, "requests = 300\n");
  }
  Options options;
  options.threads = 1;
  options.seconds = 20.0;
  try {
    const Answer answer = headroom::answer(library.question_of_text(document), options);
    return Answered{to_json(answer), to_text(answer)};
  } catch (const QuestionError&) {
    return std::nullopt;
  }
}

bool says_no_effect(const std::string& text, const Key& key) {
  return std::regex_search(text, std::regex{std::string{key.name()} + ".{0,80}(no effect|not read|has no part)"});
}

enum class Effect { none, refused, some };

struct Host {
  Kinds kind;
  bool searches;
  std::string_view text;
  Answered before;
};

Effect effect_of(const Library& library, const std::vector<Host>& hosts, const Key& key, Kinds kind) {
  const std::string_view top = key.path.substr(0, key.path.find('.'));
  const bool of_search = top == "search" || top == "objective";
  Effect effect = Effect::refused;
  for (const std::string& value : values_of(key)) {
    for (const Host& host : hosts) {
      if (host.kind != kind || host.searches != of_search) {
        continue;
      }
      const std::optional<Answered> after = answered(library, with_key(host.text, key, value));
      if (after) {
        effect = Effect::none;
        if (after->json != host.before.json || says_no_effect(after->text, key)) {
          return Effect::some;
        }
      }
    }
  }
  return effect;
}

std::string_view kind_word(Kinds kind) {
  return kind == Kinds::train ? "train" : kind == Kinds::serve ? "serve" : "network";
}

/// "strategy.tp (train)" of each line.
std::set<std::string> idle_keys() {
  std::set<std::string> listed;
  std::istringstream lines{read_text(std::string{HEADROOM_SOURCE_DIR} + "/tests/answers/invariants/idle_keys.txt")};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') {
      listed.insert(line.substr(0, line.find(')') + 1));
    }
  }
  return listed;
}

}  // namespace

TEST_CASE(
    "long: every key set to another legal value changes the answer or is told to have no effect, but for those of "
    "idle_keys.txt") {
  const Library library;
  std::vector<Host> hosts;
  const auto add = [&](const KeyHost& host, bool searches_too) {
    const std::optional<Answered> before = answered(library, std::string{host.text});
    CHECK_MESSAGE(before.has_value(), host.text);
    if (before) {
      hosts.push_back({host.kind, searches_too, host.text, *before});
    }
  };
  for (const KeyHost& host : key_hosts) {
    if (host.reader == HostReader::scenario || host.reader == HostReader::network) {
      add(host, false);
    }
  }
  for (const KeyHost& host : more_hosts) {
    add(host, false);
  }
  // A trace lies beside the document: its path is the machine's.
  const std::string traced = std::string{R"(schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[strategy]
tp = 1
[traffic]
trace = ")"} + written_trace("headroom-keys-other.csv", 0.25) +
                             "\"\nbin = \"1 min\"\n";
  add({Kinds::serve, HostReader::scenario, traced}, false);
  for (const KeyHost& host : searches) {
    add(host, true);
  }
  const std::set<std::string> listed = idle_keys();
  std::size_t asked = 0;
  for (const Key& key : all_keys()) {
    for (const Kinds kind : {Kinds::train, Kinds::serve, Kinds::network}) {
      if (!meet(key.kinds, kind) || key.type == KeyType::table || key.type == KeyType::tables || key.path == "schema" ||
          key.path == "kind" || key.path == "base") {
        continue;
      }
      ++asked;
      const std::string name = std::string{key.path} + " (" + std::string{kind_word(kind)} + ")";
      const Effect effect = effect_of(library, hosts, key, kind);
      CAPTURE(name);
      if (listed.contains(name)) {
        CHECK_MESSAGE(effect != Effect::some, "it has an effect: take it off idle_keys.txt");
      } else {
        CHECK_MESSAGE(effect != Effect::none, "it changes nothing and nothing says so");
        CHECK_MESSAGE(effect != Effect::refused, "no document of key_hosts.hpp or more_hosts.hpp answers it");
      }
    }
  }
  CHECK(asked > 250);
}
