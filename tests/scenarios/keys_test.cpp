// SPDX-License-Identifier: Apache-2.0
// The table of keys against the readers: each key is planted into documents that read it, with values that its row
// allows and with values that it does not; and each key that a reader asks for stands in the table.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/short_numbers.hpp>
#include <headroom/scenarios/mixed/mixed_question.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include "key_hosts.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

const std::string host_file = "host.toml";
const std::string planted_file = "planted";

/// Problems of a document, by who reads it.
std::vector<Diagnostic> problems_of(const KeyHost& host, const ConfigValue& root) {
  static const NetworkLibrary networks = NetworkLibrary::standard();
  try {
    switch (host.reader) {
      case HostReader::scenario: static_cast<void>(read_scenario(root, host_file, sources())); break;
      case HostReader::network: static_cast<void>(read_network_scenario(root, host_file, sources(), networks)); break;
      case HostReader::mixed: static_cast<void>(read_mixed(root, host_file, sources())); break;
      case HostReader::search: static_cast<void>(read_search(root, host_file, sources())); break;
      case HostReader::fleet_axes: {
        Diagnostics diagnostics;
        static_cast<void>(read_fleet_axes(root, sources().catalog, diagnostics));
        diagnostics.throw_if_any();
        break;
      }
    }
  } catch (const ConfigError& error) {
    return {error.diagnostics().begin(), error.diagnostics().end()};
  }
  return {};
}

/// Values of the planted kind: with a file of their own, by which their problems are known.
ConfigValue planted(ConfigValue value) {
  static const auto file = std::make_shared<const std::string>(planted_file);
  value.file = file;
  value.at = {7, 7};
  value.key_at = {7, 1};
  for (ConfigValue& item : value.items) {
    item = planted(std::move(item));
  }
  return value;
}
ConfigValue array_of(std::vector<ConfigValue> items) {
  ConfigValue value;
  value.kind = ConfigValue::Kind::array;
  value.items = std::move(items);
  return value;
}

bool is_array_of_tables(std::string_view path) {
  const Key* key = find_key(path, Kinds::all);
  return key != nullptr && key->type == KeyType::tables;
}

/// The table that holds a key, made where it is missing; of an array of tables its first.
ConfigValue& table_of(ConfigValue& root, std::string_view path) {
  ConfigValue* table = &root;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    const std::string_view front = path.substr(0, dot);
    const std::string name{front.substr(front.rfind('.') + 1)};
    if (table->find(name) == nullptr) {
      ConfigValue fresh;
      fresh.file = root.file;
      table->entries.emplace_back(name, is_array_of_tables(front) ? array_of({fresh}) : fresh);
    }
    ConfigValue& next = *table->find(name);
    table = next.kind == ConfigValue::Kind::array ? &next.items.front() : &next;
  }
  return *table;
}

ConfigValue document_of(const KeyHost& host) {
  return parse_toml(host.text, host_file);
}

/// What the reader says of `value` at `path`; nothing else of the document.
std::vector<std::string> said_of(const KeyHost& host, std::string_view path, const ConfigValue& value) {
  ConfigValue root = document_of(host);
  ConfigValue& table = table_of(root, path);
  const std::string name{path.substr(path.rfind('.') + 1)};
  if (ConfigValue* old = table.find(name)) {
    *old = planted(value);
  } else {
    table.entries.emplace_back(name, planted(value));
  }
  std::vector<std::string> said;
  for (const Diagnostic& problem : problems_of(host, root)) {
    if (problem.file == planted_file) {
      said.push_back(problem.message);
    }
  }
  return said;
}

bool is_unknown(const std::vector<std::string>& said) {
  return std::any_of(said.begin(), said.end(), [](const std::string& s) { return s.starts_with("unknown key"); });
}

/// Documents of one kind in which a key is read: those of a search for what a search is told.
std::vector<const KeyHost*> hosts_of(std::string_view path, Kinds kind) {
  const std::string_view top = path.substr(0, path.find('.'));
  const bool of_search = top == "search" || top == "objective";
  std::vector<const KeyHost*> found;
  for (const KeyHost& host : key_hosts) {
    const bool searches = host.reader == HostReader::search || host.reader == HostReader::fleet_axes;
    if (host.kind == kind && searches == of_search) {
      found.push_back(&host);
    }
  }
  return found;
}

/// `check` of every key and every kind of question that knows it.
void for_each_key(const std::function<void(const Key&, Kinds)>& check) {
  for (const Key& key : all_keys()) {
    for (const Kinds kind : {Kinds::train, Kinds::serve, Kinds::network}) {
      if (meet(key.kinds, kind)) {
        CAPTURE(key.path);
        CAPTURE(static_cast<int>(kind));
        check(key, kind);
      }
    }
  }
}

/// Which no key of that type takes.
ConfigValue of_wrong_type(const Key& key) {
  const bool takes_arrays = key.type == KeyType::integers || key.type == KeyType::texts || key.type == KeyType::table ||
                            key.type == KeyType::tables;
  return takes_arrays ? number_value(0.5) : array_of({});
}

std::string_view unit_of(Dimension dimension) {
  struct Row {
    Dimension dimension;
    std::string_view unit;
  };
  constexpr std::array rows{Row{dimension_of<Seconds>, "s"},
                            Row{dimension_of<Bytes>, "B"},
                            Row{dimension_of<BytesPerSecond>, "B/s"},
                            Row{dimension_of<Watts>, "W"},
                            Row{dimension_of<Hertz>, "Hz"},
                            Row{dimension_of<Dollars>, "$"},
                            Row{dimension_of<DollarsPerSecond>, "$/s"},
                            Row{dimension_of<DollarsPerJoule>, "$/J"},
                            Row{dimension_of<DollarsPerByte>, "$/B"},
                            Row{dimension_of<DollarsPerByteSecond>, "$/B/s"}};
  for (const Row& row : rows) {
    if (row.dimension == dimension) {
      return row.unit;
    }
  }
  throw std::logic_error{"no unit"};
}

bool is_whole(const Key& key) {
  return key.type == KeyType::integer || key.type == KeyType::integers || key.type == KeyType::number_axis;
}
bool is_bounded(const Key& key) {
  return is_whole(key) || key.type == KeyType::number || key.type == KeyType::quantity ||
         key.type == KeyType::percentage;
}

/// A number as a value of the key.
ConfigValue value_of(const Key& key, double number) {
  switch (key.type) {
    case KeyType::number: return number_value(number);
    case KeyType::quantity: return word_value(shortest_text(number) + " " + std::string{unit_of(key.dimension)});
    case KeyType::percentage: return word_value(shortest_text(number) + " %");
    case KeyType::integers: return array_of({count_value(static_cast<std::int64_t>(number))});
    default: return count_value(static_cast<std::int64_t>(number));
  }
}

/// A value that a row refuses, beside the nearest that it allows, if there is one.
struct Side {
  double beyond;
  std::optional<double> allowed;
};
std::vector<Side> sides_of(const Key& key) {
  std::vector<Side> sides;
  const double step = is_whole(key) ? 1.0 : key.low > 0.0 ? 0.5 * key.low : 1.0;
  sides.push_back(key.above_low ? Side{key.low, std::nullopt} : Side{key.low - step, key.low});
  if (key.high < static_cast<double>(not_negative.high)) {
    sides.push_back({is_whole(key) ? key.high + 1.0 : 1.5 * key.high, key.high});
  }
  return sides;
}

/// Messages without the user's text and without numbers: those of a bound are alike whatever the value is.
std::set<std::string> without_values(const std::vector<std::string>& messages) {
  std::set<std::string> found;
  for (const std::string& message : messages) {
    std::string text;
    bool quoted = false;
    for (const char c : message) {
      quoted = c == '\'' ? !quoted : quoted;
      if (!quoted && c != '\'' && std::string_view{"0123456789.,e+-"}.find(c) == std::string_view::npos) {
        text += c;
      }
    }
    found.insert(text);
  }
  return found;
}

bool refuses_bound(const KeyHost& host, const Key& key, const Side& side) {
  const std::vector<std::string> beyond = said_of(host, key.path, value_of(key, side.beyond));
  if (is_unknown(beyond)) {
    return false;
  }
  std::set<std::string> left = without_values(beyond);
  if (side.allowed) {
    for (const std::string& other : without_values(said_of(host, key.path, value_of(key, *side.allowed)))) {
      left.erase(other);
    }
  }
  return !left.empty();
}

ConfigValue word_of(const Key& key, std::string_view word) {
  const bool listed = key.type == KeyType::texts || key.type == KeyType::text_axis;
  return listed ? array_of({word_value(word)}) : word_value(word);
}

/// Whether any document of the kind refuses the word as none of those that it knows.
bool is_refused(const Key& key, Kinds kind, std::string_view word) {
  for (const KeyHost* host : hosts_of(key.path, kind)) {
    for (const std::string& message : said_of(*host, key.path, word_of(key, word))) {
      for (const std::string_view refusal :
           {"must be one of", ", none of ", "is none of", "is not a number with a unit", "is \"any\" or left out"}) {
        if (message.find(refusal) != std::string::npos) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Problems of `axis = "any"` but for what is stated and freed at once.
std::vector<std::string> said_of_any(const KeyHost& host, const Key& key) {
  std::vector<std::string> said = said_of(host, key.path, word_value("any"));
  std::erase_if(said, [](const std::string& s) {
    return s.find(" is fixed by ") != std::string::npos || s.find(" is searched and stated ") != std::string::npos;
  });
  return said;
}

/// "money.against[0]": "money.against".
std::string without_places(std::string_view path) {
  std::string text;
  bool inside = false;
  for (const char c : path) {
    inside = c == '[' || (inside && c != ']');
    if (!inside && c != ']') {
      text += c;
    }
  }
  return text;
}

bool is_axis(const Key& key) {
  return key.type == KeyType::number_axis || key.type == KeyType::text_axis || key.type == KeyType::boolean_axis ||
         key.type == KeyType::quantity_axis || key.type == KeyType::real_axis;
}

}  // namespace

TEST_CASE("keys: every row says what the key means and what a blank one means, and lies in a table that has a row") {
  CHECK(all_keys().size() > 300);
  for_each_key([](const Key& key, Kinds kind) {
    CHECK(key.meaning.ends_with("."));
    CHECK((key.caution.empty() || key.caution.ends_with(".")));
    CHECK(key.required == blank_text(key).empty());
    CHECK_FALSE(blank_text(key).ends_with("."));
    CHECK(key.low <= key.high);
    const bool choice = key.type == KeyType::choice;
    CHECK((!choice || !key.choices.empty()));
    const bool quantity = key.type == KeyType::quantity || key.type == KeyType::quantity_axis;
    CHECK((key.dimension != Dimension{}) == quantity);
    if (!key.table().empty()) {
      const Key* table = find_key(key.table(), kind);
      REQUIRE(table != nullptr);
      CHECK((table->type == KeyType::table || table->type == KeyType::tables));
    }
  });
}

TEST_CASE("keys: a path is of one type, and no two of its rows are of the same kind of question") {
  for (const Key& key : all_keys()) {
    CAPTURE(key.path);
    for (const Key& other : all_keys()) {
      if (&key != &other && key.path == other.path) {
        // [job] of batch inference, [[job]] of a cluster.
        const bool arrays = key.type == KeyType::tables || other.type == KeyType::tables;
        CHECK((key.type == other.type || (arrays && !meet(key.kinds, other.kinds))));
        CHECK_FALSE(meet(key.kinds, other.kinds));
      }
    }
    CHECK(find_key(key.path, key.kinds) == &key);
  }
  CHECK(find_key("strategy.tpp", Kinds::all) == nullptr);
  CHECK(find_key("serving.isl", Kinds::train) == nullptr);
  CHECK_THROWS_AS(static_cast<void>(key_of("strategy.tpp", Kinds::all)), std::logic_error);
}

TEST_CASE("keys: the documents that keys are planted into have no problems of their own") {
  for (const KeyHost& host : key_hosts) {
    CAPTURE(host.text);
    std::string said;
    for (const Diagnostic& problem : problems_of(host, document_of(host))) {
      said += problem.text() + "\n";
    }
    CHECK(said == "");
  }
}

TEST_CASE("keys: whatever a reader asks for stands in the table") {
  std::set<std::string> asked;
  for (const KeyHost& host : key_hosts) {
    const ConfigValue root = document_of(host);
    const KeyWatch watch{[&](const ConfigTable& table, std::string_view key) {
      if (table.file() == host_file) {
        const std::string path = without_places(table.path());
        asked.insert((path.empty() ? "" : path + ".") + std::string{key});
      }
    }};
    static_cast<void>(problems_of(host, root));
  }
  CHECK(asked.size() > 250);
  CHECK(asked.contains("strategy.tp"));
  CHECK(asked.contains("traffic.class.prompt.cv"));
  for (const std::string& path : asked) {
    CAPTURE(path);
    CHECK(find_key(path, Kinds::all) != nullptr);
  }
}

TEST_CASE("keys: a reader knows each of them, for it refuses a value of another type at its place") {
  for_each_key([](const Key& key, Kinds kind) {
    if (key.path == "base") {
      return;  // read before the document is one, below
    }
    const std::vector<const KeyHost*> hosts = hosts_of(key.path, kind);
    CHECK(std::any_of(hosts.begin(), hosts.end(), [&](const KeyHost* host) {
      const std::vector<std::string> said = said_of(*host, key.path, of_wrong_type(key));
      return !said.empty() && !is_unknown(said);
    }));
  });
  const BaseResolver none = [](std::string_view, const std::string&) { return std::nullopt; };
  CHECK_THROWS_AS(static_cast<void>(load_with_bases({host_file, "base = []\n"}, none)), ConfigError);
}

TEST_CASE("keys: a slip of the pen beside each of them is refused as unknown") {
  for_each_key([](const Key& key, Kinds kind) {
    const std::string slip = std::string{key.path} + "x";
    const std::vector<const KeyHost*> hosts = hosts_of(slip, kind);
    CHECK(std::any_of(hosts.begin(), hosts.end(),
                      [&](const KeyHost* host) { return is_unknown(said_of(*host, slip, count_value(1))); }));
  });
}

TEST_CASE("keys: bounds of a row are those of the reader, both ends") {
  for_each_key([](const Key& key, Kinds kind) {
    if (!is_bounded(key)) {
      return;
    }
    const std::vector<const KeyHost*> hosts = hosts_of(key.path, kind);
    for (const Side& side : sides_of(key)) {
      CAPTURE(side.beyond);
      CHECK(std::any_of(hosts.begin(), hosts.end(),
                        [&](const KeyHost* host) { return refuses_bound(*host, key, side); }));
    }
  });
}

TEST_CASE("keys: words of a row are those of the reader, and no others") {
  for_each_key([](const Key& key, Kinds kind) {
    if (key.choices.empty()) {
      return;
    }
    for (const std::string_view word : key.choices) {
      CAPTURE(word);
      CHECK_FALSE(is_refused(key, kind, word));
    }
    CHECK(is_refused(key, kind, "zzz"));
  });
}

TEST_CASE("keys: an axis knows \"any\" where its row says so") {
  for_each_key([](const Key& key, Kinds kind) {
    if (!is_axis(key)) {
      return;
    }
    for (const KeyHost* host : hosts_of(key.path, kind)) {
      CHECK(said_of_any(*host, key).empty() == key.any);
    }
  });
}

TEST_CASE("keys: a document without a required one is refused by its name") {
  for_each_key([](const Key& key, Kinds kind) {
    if (!key.required || (key.path == "model" && kind == Kinds::network)) {  // the model is what makes it one
      return;
    }
    const std::string name{key.name()};
    bool told = false;
    for (const KeyHost* host : hosts_of(key.path, kind)) {
      ConfigValue root = document_of(*host);
      ConfigValue& table = table_of(root, key.path);
      if (table.find(name) == nullptr) {
        continue;
      }
      table.entries.erase_if([&](const ConfigEntry& entry) { return entry.key == name; });
      for (const Diagnostic& problem : problems_of(*host, root)) {
        told = told || problem.message.find("'" + name + "'") != std::string::npos;
      }
    }
    CHECK(told);
  });
}

TEST_CASE("a fleet's [search] that is no table is refused") {
  const auto* fleet = std::find_if(key_hosts.begin(), key_hosts.end(),
                                   [](const KeyHost& host) { return host.reader == HostReader::fleet_axes; });
  CHECK(said_of(*fleet, "search", count_value(5)) ==
        std::vector<std::string>{"'search' is a table, not " + std::string{kind_name(ConfigValue::Kind::integer)}});
}

TEST_CASE("keys: numbers as people type them are what the row of their key says: 1024 a k of a length, else 1000") {
  ConfigValue root = parse_toml(
      "model = 4090\n[hardware]\ngpu = 4090\ngpus = \"1k\"\n[training]\nseq_len = \"128k\"\nglobal_batch = \"1k\"\n"
      "tokens = \"15 T\"\n[serving]\nisl = \"1.5k\"\nosl = \"2Ki\"\nmax_seq_len = \"1.3k\"\n"
      "memory_fraction = \"80 %\"\n[traffic]\nrate = 347\n"
      "[[traffic.class]]\nrate = \"1.5k\"\nprompt = {mean = \"8k\"}\n[search]\ngpus = [\"1k\", 2048, \"8..64 x2\"]\n",
      "f.toml");
  Diagnostics none;
  apply_override(root, "strategy.tp=8k", none);
  apply_override(root, "hardware.node=4090", none);
  apply_override(root, "serving.engine_version=0.10", none);
  apply_override(root, "search.node=\"15T\"", none);
  REQUIRE(none.empty());
  take_short_numbers(root);
  const auto at = [&](std::string_view table, std::string_view key) -> const ConfigValue& {
    return *root.find(table)->find(key);
  };
  CHECK(at("hardware", "gpus").integer == 1000);
  CHECK(at("training", "seq_len").integer == 131'072);
  CHECK(at("training", "global_batch").integer == 1000);
  CHECK(at("training", "tokens").integer == 15'000'000'000'000);
  CHECK(at("serving", "isl").integer == 1536);
  CHECK(at("serving", "osl").integer == 2048);
  CHECK(at("serving", "max_seq_len").kind == ConfigValue::Kind::text);     // no whole number
  CHECK(at("serving", "memory_fraction").number == doctest::Approx(0.8));  // a share
  CHECK(at("strategy", "tp").integer == 8000);
  CHECK(at("traffic", "rate").text == "347 req/s");
  const ConfigValue& first = at("traffic", "class").items.front();
  CHECK(first.find("rate")->text == "1500 req/s");
  CHECK(first.find("prompt")->find("mean")->integer == 8192);
  CHECK(at("search", "gpus").items.front().integer == 1000);
  CHECK(at("search", "gpus").items.back().text == "8..64 x2");
  // Names are numbers where the command line typed them; in a file quotes say what is text.
  CHECK(at("hardware", "node").text == "4090");
  CHECK(at("serving", "engine_version").text == "0.10");
  CHECK(at("search", "node").text == "15T");
  CHECK(at("hardware", "gpu").kind == ConfigValue::Kind::integer);
  CHECK(short_lengths(root) ==
        std::vector<std::string>{"training.seq_len = 131072 (128k; k is 1024 of the tokens of a sequence or a step)",
                                 "serving.isl = 1536 (1.5k; k is 1024 of the tokens of a sequence or a step)",
                                 "traffic.class.prompt.mean = 8192 (8k; k is 1024 of the tokens of a sequence or a "
                                 "step)"});
}

TEST_CASE("keys: the lengths that are counted in k of 1024 are those of tokens of a sequence or a step") {
  std::set<std::string_view> lengths;
  for (const Key& key : all_keys()) {
    if (key.length) {
      lengths.insert(key.path);
    }
  }
  CHECK(lengths == std::set<std::string_view>{"training.seq_len", "serving.isl", "serving.osl", "serving.max_seq_len",
                                              "serving.max_num_tokens", "traffic.prompt.mean", "traffic.prompt.most",
                                              "traffic.output.mean", "traffic.output.most", "traffic.prefix.tokens",
                                              "traffic.class.prompt.mean", "traffic.class.prompt.most",
                                              "traffic.class.output.mean", "traffic.class.output.most",
                                              "traffic.class.prefix.tokens"});
}
