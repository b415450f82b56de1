// SPDX-License-Identifier: Apache-2.0
// No key of a scenario is without effect: set to another legal value it changes the answer, or the answer says that it
// has none. idle_keys.txt lists those that do neither, and is wrong as soon as one of them does.
#include <headroom/core/on_threads.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/headroom.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>

#include <doctest/doctest.h>

#include "../../cli/run_headroom.hpp"
#include "../../scenarios/key_hosts.hpp"
#include "batch_hosts.hpp"
#include "classic_hosts.hpp"
#include "cluster_hosts.hpp"
#include "more_hosts.hpp"
#include "post_train_hosts.hpp"
#include "search_hosts.hpp"
#include "sharing_hosts.hpp"
#include "token_job_hosts.hpp"
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
using headroom::test::batch_hosts;
using headroom::test::classic_hosts;
using headroom::test::cluster_hosts;
using headroom::test::HostReader;
using headroom::test::key_hosts;
using headroom::test::KeyHost;
using headroom::test::more_hosts;
using headroom::test::post_train_hosts;
using headroom::test::read_text;
using headroom::test::search_hosts;
using headroom::test::sharing_hosts;
using headroom::test::token_job_hosts;

namespace {

/// Ids and free text that some key takes.
constexpr std::array<std::string_view, 44> words{"20:00-06:00",
                                                 "h200-sxm-141gb",
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
                                                 "another",
                                                 "verda-2026-08",
                                                 "onnxruntime",
                                                 "tokens=128",
                                                 "aws-p5-efa",
                                                 "llama3-roce-24k",
                                                 "text",
                                                 "topk:0.01",
                                                 "50 %",
                                                 "100 GPU-h",
                                                 "epyc-7742",
                                                 "xeon-8488c",
                                                 "denoising",
                                                 "cartpole",
                                                 "pi0.5",
                                                 "nemo-rl",
                                                 "megatron",
                                                 "fsdp",
                                                 "network"};

std::string quoted_word(std::string_view word) {
  return "\"" + std::string{word} + "\"";
}

/// A log of 400 requests, so many seconds apart, in the folder of temporary files.
std::string written_trace(const std::string& name, double gap) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / name;
  std::ofstream file{path};
  file << "arrival_s,prompt_tokens,output_tokens\n";
  for (int i = 0; i < 400; ++i) {
    file << gap * i << ',' << 100 + i << ",50\n";
  }
  return path.string();
}
const std::string& trace() {
  static const std::string path = written_trace("headroom-keys-trace.csv", 0.5);
  return path;
}

/// A job that another document names, in the folder of temporary files.
const std::string& scenario() {
  static const std::string path = [] {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "headroom-keys-job.toml";
    std::ofstream{file} << "schema = 1\nkind = \"train\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = "
                           "\"h100-sxm-80gb\"\ngpus = 8\n[training]\nseq_len = 8192\nglobal_batch = 64\nprecision = "
                           "\"bf16\"\ntokens = 1e9\n";
    return file.string();
  }();
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
    case KeyType::real_axis:
      for (const double value : in_bounds({0.5, 0.3, 0.9, 2.5, 1.2, 100.0, 1e6, 3e11})) {
        std::ostringstream text;
        text << std::showpoint << value;
        values.push_back(key.type == KeyType::number ? text.str() : "[" + text.str() + "]");
      }
      break;
    case KeyType::boolean: values = {"true", "false"}; break;
    case KeyType::boolean_axis: values = {"[true]", "[false]", "[true, false]"}; break;
    case KeyType::percentage: values = {"\"3 %\"", "\"7 %\"", "\"1 %\"", "\"20 %\""}; break;
    case KeyType::month:
    case KeyType::date: values = {"\"2026-09\"", "\"2026-09-15\"", "\"2024-01\""}; break;
    case KeyType::deadline: values = {"\"1 d\"", "\"400 d\"", "\"2030-01-01\""}; break;
    case KeyType::text:
    case KeyType::model:
      each(key.choices, quoted_word);
      each(words, quoted_word);
      values.push_back(quoted_word(trace()));
      values.push_back(quoted_word(scenario()));
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
      const auto add = [&](std::string_view word) {
        values.push_back(axis ? "[" + quoted_word(word) + "]" : quoted_word(word));
      };
      for (const double value :
           in_bounds({500.0, 60.0, 1.0, 3600.0, 1e6, 1e8, 2e9, 1e11, 3e12, 1e-3, 1e-6, 1e-9, 1e-12, 1e-17})) {
        add(key.dimension == dimension_of<Seconds> ? shortest_text(value) + " s" : bound_text(value, key.dimension));
      }
      add(key.example.empty() ? example_of(key.dimension) : key.example);
      break;
    }
    case KeyType::text_map: values = {"{pool = \"a100\"}", "{pool = \"t4\"}", "{rack = \"r1\"}"}; break;
    case KeyType::count_map: values = {"{a100 = 8}", "{a100 = 1}"}; break;
    case KeyType::table:
    case KeyType::tables: break;
  }
  return values;
}

/// Whether a line states a key of this name.
bool states(std::string_view line, std::string_view name) {
  return line.starts_with(name) && line.substr(name.size()).starts_with(" =");
}

/// A document with one key set; its table is begun where it has none. What [search] frees is stated nowhere else, and
/// prices of a list stand in place of a price with its date. `alone`: without the other keys of its table.
std::string with_key(std::string_view host, const Key& key, const std::string& value, bool alone) {
  const std::string name{key.name()}, table{key.table()};
  const std::string line = name + " = " + value + "\n";
  std::istringstream lines{std::string{host}};
  std::string text, here;
  bool planted = table.empty(), inside = planted;  // of an array of tables the first is planted into
  if (planted) {
    text = line;
  }
  for (std::string old; std::getline(lines, old);) {
    if (old.starts_with('[')) {
      here = old.substr(old.find_first_not_of('['), old.find(']') - old.find_first_not_of('['));
      text += old + "\n";
      inside = here == table && !planted;
      if (inside) {
        text += line;
        planted = true;
      }
    } else if (const bool listed = name == "prices" && inside && (states(old, "price") || states(old, "date"));
               !listed && !(alone && inside) && !(states(old, name) && (inside || table == "search"))) {
      text += old + "\n";
    }
  }
  return planted ? text : text + "[" + table + "]\n" + line;
}

struct Answered {
  std::string json, text;
};

/// JSON without the list of what was assumed, which loses a line as soon as a key is stated.
std::string without_assumed(const std::string& json) {
  const std::size_t at = std::min(json.find("\"assumed\": ["), json.find("\"assumptions\": ["));
  if (at == std::string::npos) {
    return json;
  }
  std::size_t end = json.find('[', at);
  for (bool inside = false; end < json.size() && (inside || json[end] != ']'); ++end) {
    inside = inside != (json[end] == '"' && json[end - 1] != '\\');
  }
  return json.substr(0, at) + json.substr(end);
}

/// Nothing where the document is refused; `said`: why.
std::optional<Answered> answered(const Library& library, std::string document, std::string& said) {
  const std::size_t at = document.find("[traffic]");
  if (at != std::string::npos && document.find("\nrequests =") == std::string::npos) {
    document.insert(at + 9, "\nrequests = 300");
  }
  Options options;
  options.threads = 1;
  options.seconds = 20.0;
  try {
    const Answer answer = headroom::answer(library.question_of_text(document), options);
    return Answered{to_json(answer), to_text(answer)};
  } catch (const QuestionError& error) {
    said = error.what();
    return std::nullopt;
  }
}

bool says_no_effect(const std::string& text, const Key& key) {
  return std::regex_search(text, std::regex{std::string{key.name()} + ".{0,80}(no effect|not read|has no part)"});
}

enum class Effect { none, refused, some };

struct Host {
  KeyHost document;
  std::string before;  ///< its answer, without what was assumed
};

bool searches(const KeyHost& host) {
  return host.reader == HostReader::search || host.reader == HostReader::fleet_axes;
}

/// Whether the document has a part in a key's test.
bool is_for(const KeyHost& host, const Key& key) {
  const std::string_view top = key.path.substr(0, key.path.find('.'));
  if (searches(host) != (top == "search" || top == "objective")) {
    return false;
  }
  for (std::string_view rest = host.only; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view beginning = rest.substr(0, rest.find(' '));
    if (key.path.starts_with(beginning)) {
      return true;
    }
    rest.remove_prefix(beginning.size());
  }
  return host.only.empty();
}

struct Tried {
  const Key* key = nullptr;
  Kinds kind{};
  Effect effect = Effect::refused;
  std::string said;  ///< by the last document that was refused
};

/// An effect is another answer beside what was assumed, or another one than of another value.
void try_key(const Library& library, const std::vector<Host>& hosts, Tried& tried) {
  const Key& key = *tried.key;
  std::vector<std::string> first(hosts.size());  // answer to the first value that a document took
  for (const std::string& value : values_of(key)) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const KeyHost& document = hosts[i].document;
      if (document.kind != tried.kind || !is_for(document, key)) {
        continue;
      }
      auto after = answered(library, with_key(document.text, key, value, false), tried.said);
      if (!after && key.type == KeyType::choice && !key.table().empty()) {  // a word whose fellows go with another
        after = answered(library, with_key(document.text, key, value, true), tried.said);
      }
      if (after) {
        tried.effect = Effect::none;
        first[i] = first[i].empty() ? after->json : first[i];
        if (after->json != first[i] || without_assumed(after->json) != hosts[i].before ||
            says_no_effect(after->text, key)) {
          tried.effect = Effect::some;
          return;
        }
      }
    }
  }
}

std::string_view kind_word(Kinds kind) {
  return kind == Kinds::train        ? "train"
         : kind == Kinds::serve      ? "serve"
         : kind == Kinds::network    ? "network"
         : kind == Kinds::batch      ? "batch"
         : kind == Kinds::sharing    ? "sharing"
         : kind == Kinds::cluster    ? "cluster"
         : kind == Kinds::classic    ? "classic"
         : kind == Kinds::post_train ? "post-training"
                                     : "job of a language model";
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
  const auto add = [&](const KeyHost& host) {
    std::string said;
    const std::optional<Answered> before = answered(library, std::string{host.text}, said);
    CHECK_MESSAGE(before.has_value(), host.text << said);
    if (before) {
      hosts.push_back({host, without_assumed(before->json)});
    }
  };
  for (const KeyHost& host : key_hosts) {
    if (!searches(host)) {
      add(host);
    }
  }
  // A trace lies beside the document: its path is the machine's.
  const std::string traced = std::string{R"(schema = 1
kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[serving]
engine = "vllm"
[strategy]
tp = 1
[traffic]
trace = ")"} + written_trace("headroom-keys-other.csv", 0.25) +
                             "\"\nbin = \"30 s\"\n";
  add({Kinds::serve, HostReader::scenario, traced, " traffic."});
  const auto add_all = [&](const auto& more) { std::for_each(more.begin(), more.end(), add); };
  add_all(more_hosts);
  add_all(batch_hosts);
  add_all(token_job_hosts);
  add_all(sharing_hosts);
  add_all(cluster_hosts);
  add_all(classic_hosts);
  add_all(post_train_hosts);
  add_all(search_hosts);
  std::vector<Tried> all;
  for (const Key& key : all_keys()) {
    for (const KindName& known : kind_names) {
      const bool states_itself = key.path == "schema" || key.path == "kind" || key.path == "base";
      if (meet(key.kinds, known.kind) && key.type != KeyType::table && key.type != KeyType::tables && !states_itself) {
        all.push_back({&key, known.kind, Effect::refused, {}});
      }
    }
  }
  CHECK(all.size() > 550);
  on_threads(2, all.size(), [&](std::size_t i) { try_key(library, hosts, all[i]); });
  const std::set<std::string> listed = idle_keys();
  for (const Tried& tried : all) {
    const std::string name = std::string{tried.key->path} + " (" + std::string{kind_word(tried.kind)} + ")";
    CAPTURE(name);
    if (listed.contains(name)) {
      CHECK_MESSAGE(tried.effect != Effect::some, "it has an effect: take it off idle_keys.txt");
    } else {
      CHECK_MESSAGE(tried.effect != Effect::none, "it changes nothing and nothing says so");
      CHECK_MESSAGE(tried.effect != Effect::refused, "no document of the hosts answers it: " << tried.said);
    }
  }
}
