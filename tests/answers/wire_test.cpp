// SPDX-License-Identifier: Apache-2.0
// Requests of programs: answered as the command line answers the same scenario, or refused with every problem's place.
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/door/format.hpp>
#include <headroom/answers/schema/answer_schema.hpp>
#include <headroom/answers/wire/lists.hpp>
#include <headroom/answers/wire/members.hpp>
#include <headroom/answers/wire/openapi.hpp>
#include <headroom/answers/wire/request.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/short_numbers.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include "../support/says.hpp"
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::read_text;
using headroom::test::says;
namespace fs = std::filesystem;

namespace {

const QuestionLibrary& library() {
  static const QuestionLibrary all = QuestionLibrary::of({});
  return all;
}

WireReply ask(WireVerb verb, const std::string& request, const WireLimits& limits = {}) {
  return wire_reply(library(), verb, request, limits);
}

/// A small training plan; `more` stands behind its members.
std::string training(const std::string& more = "") {
  return R"({"kind": "train", "name": "small", "model": "llama3-8b", "hardware": {"gpu": "h100-sxm-80gb", "gpus": 8},
             "training": {"seq_len": 8192, "global_batch": 64, "precision": "bf16"},
             "strategy": {"tp": 1, "pp": 1, "zero": 3, "micro_batch": 1})" +
         more + "}";
}
std::string with(const std::string& scenario, const std::string& more = "") {
  return "{\"scenario\": " + scenario + more + "}";
}

struct ToldProblem {
  std::string code, path, message;
};

std::vector<ToldProblem> problems_of(const WireReply& reply) {
  const ConfigValue root = parse_json(reply.body, "reply");
  const auto text = [](const ConfigValue& from, std::string_view key) {
    const ConfigValue* const value = from.find(key);
    return value == nullptr ? std::string{} : value->text;
  };
  REQUIRE(text(root, "schema") == "headroom.error/1");
  std::vector<ToldProblem> all;
  for (const ConfigValue& one : root.find("errors")->items) {
    all.push_back({text(one, "code"), text(one, "path"), text(one, "message")});
  }
  return all;
}

bool has(const std::vector<ToldProblem>& all, std::string_view code, std::string_view path, std::string_view part) {
  return std::any_of(all.begin(), all.end(), [&](const ToldProblem& one) {
    return one.code == code && one.path == path && says(one.message, part);
  });
}

/// Scenarios that ship, with their bases merged: what a request can hold of them.
std::vector<fs::path> scenarios(bool every) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator{fs::path{HEADROOM_SOURCE_DIR} / "scenarios"}) {
    const fs::path& file = entry.path();
    if (file.extension() != ".toml" || says(file.string(), "/accuracy/") || says(file.string(), "/calibrate/")) {
      continue;
    }
    const bool quick = says(file.string(), "/train/llama2-7b-8xa100") || says(file.string(), "/train/gpt3-175b") ||
                       says(file.string(), "/train/llama3-70b-512xh100") || file.filename() == "llama3-70b.toml" ||
                       says(file.string(), "/sharing/") || says(file.string(), "/cluster/labels") ||
                       says(file.string(), "/classic/");
    if (every || quick) {
      all.push_back(file);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The answer of a request for what the file says is that of the file; false for a scenario that names other files.
bool answers_alike(const fs::path& file) {
  ConfigValue root = scenario_tree(file.string());
  if (root.find("kind") == nullptr) {
    return false;  // data, or rows
  }
  if (root.find("name") == nullptr) {
    root.entries.emplace_back("name", word_value("asked"));  // a file's own name is none of a request
  }
  const std::string document = json_text(wire_value(root));
  WireLimits limits;
  limits.seconds = 0.0;
  const WireReply reply = ask(WireVerb::plan, with(document), limits);
  if (reply.status != 200) {
    CHECK_MESSAGE(says(reply.body, "a request opens none"), reply.body);
    return false;
  }
  AnswerOptions options;
  options.threads = 1;
  const GivenAnswer answer = answer_of(read_question(std::move(root), file.string(), library()), options);
  CHECK(reply.body == json_text(document_of(answer)));
  CHECK(reply.good == (is_good(answer) && is_complete(answer)));
  return true;
}

}  // namespace

TEST_CASE("wire: a request is answered as its scenario's file, byte for byte") {
  std::size_t answered = 0;
  for (const fs::path& file : scenarios(false)) {
    CAPTURE(file.string());
    answered += answers_alike(file) ? 1 : 0;
  }
  CHECK(answered >= 6);
}

TEST_CASE("long: wire: every scenario that ships is answered as its file") {
  std::size_t answered = 0;
  for (const fs::path& file : scenarios(true)) {
    CAPTURE(file.string());
    answered += answers_alike(file) ? 1 : 0;
  }
  CHECK(answered >= 30);
}

TEST_CASE("wire: objects, names with dots, the text of TOML and what lies over it say one thing") {
  const WireReply objects = ask(WireVerb::plan, with(training()));
  REQUIRE(objects.status == 200);
  CHECK(objects.content_type == "application/json");
  CHECK(objects.good);
  CHECK(objects.whole);
  const std::string dotted =
      R"({"kind": "train", "name": "small", "model": "llama3-8b", "hardware.gpu": "h100-sxm-80gb", "hardware.gpus": 8,
          "training": {"seq_len": 8192}, "training.global_batch": 64, "training.precision": "bf16",
          "strategy.tp": 1, "strategy.pp": 1, "strategy.zero": 3, "strategy.micro_batch": 1})";
  CHECK(ask(WireVerb::plan, with(dotted)).body == objects.body);
  const std::string toml =
      R"("kind = \"train\"\nname = \"small\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 8\n)"
      R"([training]\nseq_len = 8192\nglobal_batch = 64\nprecision = \"bf16\"\n[strategy]\ntp = 2\npp = 1\nzero = 3\n)"
      R"(micro_batch = 1\n")";
  CHECK(ask(WireVerb::plan, with(toml)).body != objects.body);
  CHECK(ask(WireVerb::plan, with(toml, R"(, "set": {"strategy.tp": 1})")).body == objects.body);
  CHECK(ask(WireVerb::plan, with(toml, R"(, "set": {"strategy": {"tp": 1}})")).body == objects.body);
  // Short forms of numbers, as TOML has them.
  const WireReply words = ask(WireVerb::plan, with(training(), R"(, "set": {"training.tokens": "15T"})"));
  CHECK(words.body == ask(WireVerb::plan, with(training(), R"(, "set": {"training.tokens": 15000000000000})")).body);
}

TEST_CASE("wire: every problem is told at once, with the pointer of its member") {
  const WireReply reply = ask(
      WireVerb::plan,
      R"({"scenario": {"kind": "train", "model": "lama3-8b", "hardware": {"gpu": "h100-sxm-80gb", "gpus": 8, "foo": 1},
          "training.seq_len": -1, "training": {"global_batch": 64}}, "formt": "json", "within": 3})");
  CHECK(reply.status == 422);
  CHECK_FALSE(reply.good);
  const std::vector<ToldProblem> all = problems_of(reply);
  CHECK(has(all, "input", "/scenario/model", "did you mean 'llama3-8b'"));
  CHECK(has(all, "input", "/scenario/hardware/foo", "unknown key 'foo'"));
  CHECK(has(all, "input", "/scenario/training.seq_len", "it must be 1 to"));
  CHECK(has(all, "missing_key", "/scenario/training", "missing key 'precision'"));
  CHECK(has(all, "input", "/formt", "did you mean 'format'"));
  CHECK(has(all, "input", "/within", "needs a unit"));
  // The place of a problem in a text is that text's own.
  const WireReply text = ask(WireVerb::plan, R"({"scenario": "kind = \"train\"\nmodel = 3\n"})");
  CHECK(has(problems_of(text), "input", "/scenario", "'model'"));
  CHECK(says(text.body, "\"line\": 2"));
  const WireReply list = ask(WireVerb::compare, "{\"scenarios\": [" + training() + ", {\"kind\": \"train\"}]}");
  CHECK(has(problems_of(list), "missing_key", "/scenarios/1", "missing key 'model'"));
}

TEST_CASE("wire: what is no request is refused as such") {
  for (const std::string broken : {"{", "[1]", "{\"scenario\": NaN}", "{\"a\": 1, \"a\": 2}", "{\"a\": 1e999}", "\xff",
                                   "{\"a\": \"\xc3\"}", "nul", "{\"scenario\": {}} x"}) {
    CAPTURE(broken);
    const WireReply reply = ask(WireVerb::plan, broken);
    CHECK(reply.status == 400);
    CHECK(problems_of(reply).front().code == "usage");
  }
  const WireReply nothing = ask(WireVerb::plan, "");
  CHECK(nothing.status == 422);
  CHECK(has(problems_of(nothing), "missing_key", "", "missing key 'scenario'"));
  CHECK(ask(WireVerb::plan, with("[1]")).status == 422);
  CHECK(ask(WireVerb::plan, with("\"kind = \"")).status == 422);
  CHECK(ask(WireVerb::plan, with(training(), ", \"set\": 1")).status == 422);
  CHECK(wire_reply(library(), "pln", "{}").status == 404);
}

TEST_CASE("wire: who passes requests on refuses in the same form") {
  for (const auto& [status, code] :
       {std::pair{403, "usage"}, {408, "limit"}, {413, "limit"}, {500, "internal"}, {503, "limit"}}) {
    const WireReply reply = wire_refusal(status, "because");
    CHECK(reply.status == status);
    CHECK(has(problems_of(reply), code, "", "because"));
    CHECK(reply.whole == (status < 500));
  }
}

TEST_CASE("wire: each limit is named by whoever is over it") {
  const auto refused = [](const std::string& request, const WireLimits& limits, std::string_view part) {
    const WireReply reply = ask(WireVerb::plan, request, limits);
    CHECK(reply.status == 413);
    const std::vector<ToldProblem> all = problems_of(reply);
    CHECK(has(all, "limit", "", part));
  };
  WireLimits few;
  few.bytes = 100;
  refused(with(training()), few, "more than 100 bytes");
  std::string million = "{\"scenario\": {";
  for (int i = 0; i < 1'000'000; ++i) {
    million += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
  }
  million += "}}";
  refused(million, {}, "more than 1048576 bytes");
  WireLimits wide;
  wide.bytes = million.size();
  const WireReply many = ask(WireVerb::plan, million, wide);
  CHECK(many.status == 400);
  CHECK(says(many.body, "500000"));
  std::string some = "{\"scenario\": {";
  for (int i = 0; i < 30'000; ++i) {
    some += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
  }
  refused(some + "}}", {}, "more than 20000 values");
  refused(with(std::string(100, '[') + std::string(100, ']')), {}, "within each other");
  std::string dots = "{\"a";
  for (int i = 0; i < 100'000; ++i) {
    dots += ".a";
  }
  refused(with(dots + "\": 1}"), {}, "within each other");
  WireLimits deep;
  deep.bytes = 1U << 20U;
  CHECK(ask(WireVerb::plan, with(std::string(300'000, '[')), deep).status == 400);
  std::string toml = "\"x = [";
  for (int i = 0; i < 30'000; ++i) {
    toml += "1,";
  }
  refused(with(toml + "]\""), {}, "more than 20000 values");
  WireLimits brief;
  brief.seconds = 2.0;
  const WireReply long_time = ask(WireVerb::plan, with(training(), R"(, "within": "3 s")"), brief);
  CHECK(has(problems_of(long_time), "input", "/within", "above the limit here of 2"));
}

TEST_CASE("wire: no file is opened, and none is told to be there") {
  const std::string there = "/etc/passwd";
  for (const std::string path : {"../../etc/passwd", "/etc/passwd", "./config.json", "~/config.json", "a/b/c.json",
                                 "C:\\\\config.json", "file:///etc/passwd", "/etc/no-such-file", "config.json"}) {
    CAPTURE(path);
    const WireReply train = ask(WireVerb::plan, with(training(), R"(, "set": {"model": ")" + path + R"("})"));
    CHECK(train.status == 422);
    CHECK_FALSE(says(train.body, "no such file"));
    CHECK_FALSE(says(train.body, "root:"));
    const WireReply gpu = ask(WireVerb::plan, with(training(), R"(, "set": {"hardware.gpu": ")" + path + R"("})"));
    CHECK(gpu.status == 422);
  }
  const auto said = [](const std::string& path) {
    std::string body = ask(WireVerb::plan, with(training(), R"(, "set": {"model": ")" + path + R"("})")).body;
    for (std::size_t at = 0; (at = body.find(path)) != std::string::npos;) {
      body.erase(at, path.size());
    }
    return body;
  };
  CHECK(said(there) == said("/etc/passwe"));
  const auto refused = [](const std::string& scenario, std::string_view path) {
    const WireReply reply = ask(WireVerb::plan, with(scenario));
    CHECK(reply.status == 422);
    CHECK(has(problems_of(reply), "input", path, "the path of a file, and a request opens none"));
  };
  refused(R"({"kind": "serve", "model": "llama3-8b", "hardware": {"gpu": "h100-sxm-80gb"},
              "serving": {"isl": 512, "osl": 64}, "traffic": {"trace": "/etc/passwd"}})",
          "/scenario/traffic/trace");
  refused(R"({"kind": "cluster", "pool": [{"name": "a", "gpu": "h100-sxm-80gb", "gpus": 8}],
              "job": [{"name": "j", "scenario": "../x.toml"}]})",
          "/scenario/job/0/scenario");
  refused(R"({"kind": "sharing", "hardware": {"gpu": "a100-sxm-80gb"},
              "tenant": [{"name": "t", "workload": "/etc/passwd"}]})",
          "/scenario/tenant/0/workload");
  refused(R"({"kind": "batch", "model": "../net.toml", "hardware": {"gpu": "a100-sxm-80gb"}})", "/scenario/model");
  const WireReply base = ask(WireVerb::plan, with(training(R"(, "base": "/etc/passwd")")));
  CHECK(has(problems_of(base), "input", "/scenario/base", "'base'"));
  // A publisher's name is none of a file.
  CHECK(ask(WireVerb::plan, with(training(), R"(, "set": {"model": "meta-llama/Meta-Llama-3-8B"})")).status == 200);
}

TEST_CASE("wire: the other verbs answer as their options say") {
  const std::string traffic =
      R"({"kind": "serve", "model": "llama3-8b", "hardware": {"gpu": "h100-sxm-80gb"}, "strategy": {"tp": 1},
          "serving": {"isl": 512, "osl": 64}, "traffic": {"rate": "5 req/s", "requests": 300}, "fleet": {"replicas": 1}})";
  const WireReply simulated = ask(WireVerb::simulate, with(traffic, R"(, "rate": "10 req/s")"));
  CHECK(says(simulated.body, "\"schema\": \"headroom.simulate/1\""));
  CHECK(ask(WireVerb::simulate, with(traffic, ", \"rate\": 10")).status == 200);
  CHECK(has(problems_of(ask(WireVerb::simulate, with(traffic, R"(, "rate": "fast")"))), "input", "/rate", "no rate"));
  CHECK(has(problems_of(ask(WireVerb::simulate, with(training()))), "input", "/scenario", "trains"));
  const WireReply series = ask(WireVerb::scale, with(training(), R"(, "to": 32, "format": "csv")"));
  CHECK(series.status == 200);
  CHECK(series.content_type == "text/csv; charset=utf-8");
  CHECK(says(ask(WireVerb::scale, with(training(), R"(, "measured_speedup": 3, "at": 8)")).body, "headroom.speedup/1"));
  CHECK(has(problems_of(ask(WireVerb::scale, with(training(), R"(, "measured_speedup": 3)"))), "missing_key", "",
            "missing key 'at'"));
  const WireReply side = ask(
      WireVerb::compare, "{\"scenarios\": [" + training() + ", " + training(R"(, "training.fused_loss": true)") + "]}");
  CHECK(says(side.body, "\"schema\": \"headroom.compare/1\""));
  CHECK(has(problems_of(ask(WireVerb::compare, "{\"scenarios\": [" + training() + "]}")), "input", "/scenarios",
            "2 to 16"));
  CHECK(says(ask(WireVerb::plan, with(training(), R"(, "only": "memory")")).body, "memory_bytes"));
  CHECK(has(problems_of(ask(WireVerb::plan, with(training(), R"(, "only": "time")"))), "input", "/only", "memory"));
  CHECK(has(problems_of(ask(WireVerb::plan, with(training(), R"(, "without": ["bubles"])"))), "input", "/without",
            "bubles"));
  CHECK(says(ask(WireVerb::explain, with(training(), R"(, "format": "text")")).body, "="));
  CHECK(ask(WireVerb::plan, with(training(), R"(, "format": "brief")")).content_type == "text/plain; charset=utf-8");
  CHECK(has(problems_of(ask(WireVerb::plan, with(training(), R"(, "format": "pdf")"))), "input", "/format", "none of"));
  CHECK(has(problems_of(ask(WireVerb::plan, with(training(), R"(, "format": "csv")"))), "input", "/format", "csv"));
  CHECK(has(problems_of(ask(WireVerb::search, with(training()))), "missing_key", "", "search"));
  const WireReply found = ask(WireVerb::search, with(training(R"(, "search": {"cp_form": "any"})")));
  CHECK_MESSAGE(says(found.body, "\"schema\": \"headroom.search/1\""), found.body.substr(0, 300));
}

TEST_CASE("wire: a search whose time is over holds what it found, and is not the same each time") {
  const std::string wide =
      R"({"kind": "train", "model": "llama3-70b", "hardware": {"gpu": "h100-sxm-80gb", "gpus": 2048},
          "training": {"seq_len": 8192, "global_batch": 2048, "precision": "bf16"}, "search": {"strategy": "any"}})";
  WireLimits brief;
  brief.seconds = 0.06;
  const WireReply reply = ask(WireVerb::search, with(wide), brief);
  CHECK(reply.status == 200);
  CHECK_FALSE(reply.whole);
  CHECK_FALSE(reply.good);
  CHECK(says(reply.body, "\"complete\": false"));
}

TEST_CASE("wire: a config.json is a model, as an object and as its text, and in a question") {
  const std::string config = read_text(fs::path{HEADROOM_SOURCE_DIR} / "tests/fuzz/corpus/hf_config/llama.json");
  REQUIRE(!config.empty());
  const WireReply object = ask(WireVerb::import_config, "{\"config\": " + config + "}");
  REQUIRE_MESSAGE(object.status == 200, object.body);
  const std::string text = json_text(headroom::object("config"_m = config));
  CHECK(ask(WireVerb::import_config, text).body == object.body);
  std::string plan = training();
  plan.replace(plan.find(R"("model": "llama3-8b", )"), 22, "");
  const std::string as_text = text.substr(text.find('"'), text.rfind('"') + 1 - text.find('"'));
  const WireReply with_text = ask(WireVerb::plan, with(plan, ", " + as_text));
  CHECK_MESSAGE(with_text.status == 200, with_text.body);
  const WireReply twice = ask(WireVerb::plan, with(training(), ", \"config\": " + config));
  CHECK(has(problems_of(twice), "input", "/config", "leave one out"));
  CHECK(ask(WireVerb::import_config, R"({"config": {"model_type": "no-such"}})").status == 422);
  CHECK(ask(WireVerb::import_config, R"({"config": "{"})").status == 422);
  CHECK(ask(WireVerb::import_config, "{}").status == 422);
}

TEST_CASE("wire: lists hold what can be asked about") {
  for (const std::string_view kind : wire_catalog_kinds) {
    CAPTURE(kind);
    const WireReply reply = ask(WireVerb::catalog, "{\"kind\": \"" + std::string{kind} + "\"}");
    CHECK(reply.status == 200);
    const ConfigValue root = parse_json(reply.body, "reply");
    REQUIRE(root.find(kind) != nullptr);
    CHECK(!root.find(kind)->items.empty());
    CHECK(root.entries.size() == 3);
  }
  CHECK(says(ask(WireVerb::catalog, R"({"kind": "gpu"})").body, "did you mean 'gpus'"));
  const ConfigValue keys = parse_json(ask(WireVerb::keys, "").body, "reply");
  REQUIRE(keys.find("keys")->items.size() == all_keys().size());
  for (std::size_t i = 0; i < all_keys().size(); ++i) {
    CHECK(keys.find("keys")->items[i].find("path")->text == all_keys()[i].path);
    CHECK(keys.find("keys")->items[i].find("meaning")->text == all_keys()[i].meaning);
  }
  for (const AnswerSchema& answer : all_answers()) {
    CAPTURE(answer.name);
    CHECK(ask(WireVerb::schema, "{\"name\": \"" + std::string{answer.name} + "\"}").body == json_schema_of(answer));
  }
  CHECK(ask(WireVerb::schema, R"({"name": "plann"})").status == 422);
  CHECK(ask(WireVerb::health, "{\"x\": 1}").status == 422);
  // Every member stands in the tables of members.
  for (const auto& [verb, schema] : {std::pair{WireVerb::keys, "keys"},
                                     {WireVerb::schema, "schemas"},
                                     {WireVerb::health, "health"},
                                     {WireVerb::catalog, "catalog"}}) {
    const AnswerSchema* const table = find_answer(schema);
    REQUIRE(table != nullptr);
    const ConfigValue root = parse_json(ask(verb, "").body, "reply");
    for (const ConfigEntry& entry : root.entries) {
      CHECK(find_member(*table, entry.key) != nullptr);
      for (const ConfigValue& item : entry.value.items) {
        for (const ConfigEntry& member : item.entries) {
          CAPTURE(member.key);
          CHECK(find_member(*table, entry.key + "/" + member.key) != nullptr);
        }
      }
    }
  }
}

TEST_CASE("wire: the table of members is what each verb reads of a request") {
  for (const WireRoute& route : wire_routes()) {
    if (!route.asks) {
      continue;
    }
    CAPTURE(route.name);
    std::set<std::string> told;
    for (const WireMember& member : wire_members()) {
      if (member.of(route.verb)) {
        told.insert(std::string{member.name});
      }
    }
    std::set<std::string> read;
    const std::string scenario = route.verb == WireVerb::simulate ? R"({"kind": "serve"})" : R"({"kind": "train"})";
    for (const std::string more : {"", R"(, "measured_speedup": 2)"}) {
      std::string request = with(scenario, R"(, "scenarios": [], "config": 1)" + more);
      const KeyWatch watch{[&](const ConfigTable& table, std::string_view key) {
        if (table.path().empty() && table.has("scenarios")) {
          read.insert(std::string{key});
        }
      }};
      CHECK(ask(route.verb, request).status == 422);
    }
    CHECK(read == told);
  }
}

namespace {

/// Every "$ref" of a tree.
void collect_references(const ConfigValue& value, std::vector<std::string>& all) {
  for (const ConfigEntry& entry : value.entries) {
    if (entry.key == "$ref") {
      all.push_back(entry.value.text);
    }
    collect_references(entry.value, all);
  }
  for (const ConfigValue& item : value.items) {
    collect_references(item, all);
  }
}

/// What a reference within the document leads to.
const ConfigValue* resolved(const ConfigValue& root, std::string_view reference) {
  if (!reference.starts_with("#/")) {
    return nullptr;
  }
  const ConfigValue* at = &root;
  for (std::string_view rest = reference.substr(2); at != nullptr && !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    at = at->find(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return at;
}

}  // namespace

TEST_CASE("wire: the interface is OpenAPI 3.1, its references lead somewhere, and it tells every route") {
  const std::string text = openapi_document();
  const ConfigValue root = parse_json(text, "openapi.json");
  // OpenAPI 3.1.0, 4.8.1: required fields of the root, of info and of an operation; names of components.
  CHECK(root.find("openapi")->text == "3.1.0");
  REQUIRE(root.find("info") != nullptr);
  CHECK(!root.find("info")->find("title")->text.empty());
  CHECK(!root.find("info")->find("version")->text.empty());
  const ConfigValue* const paths = root.find("paths");
  REQUIRE(paths != nullptr);
  std::set<std::string> operations;
  std::set<std::string> told;
  for (const ConfigEntry& path : paths->entries) {
    CAPTURE(path.key);
    CHECK(path.key.starts_with("/"));
    for (const ConfigEntry& operation : path.value.entries) {
      CHECK((operation.key == "get" || operation.key == "post"));
      told.insert(operation.key + " " + path.key);
      CHECK(operations.insert(operation.value.find("operationId")->text).second);
      const ConfigValue* const responses = operation.value.find("responses");
      REQUIRE(responses != nullptr);
      for (const ConfigEntry& response : responses->entries) {
        CHECK(response.key.size() == 3);
        CHECK((response.value.find("description") != nullptr || response.value.find("$ref") != nullptr));
      }
      CHECK((operation.key == "post") == (operation.value.find("requestBody") != nullptr));
      const std::size_t brace = path.key.find('{');
      const ConfigValue* const parameters = operation.value.find("parameters");
      CHECK((brace != std::string::npos) == (parameters != nullptr));
      if (parameters != nullptr) {
        CHECK(path.key.substr(brace + 1, path.key.find('}') - brace - 1) == parameters->items[0].find("name")->text);
        CHECK(parameters->items[0].find("required")->boolean);
        CHECK(parameters->items[0].find("in")->text == "path");
      }
    }
  }
  std::set<std::string> routes;
  for (const WireRoute& route : wire_routes()) {
    const std::string method = route.asks ? "post " : "get ";
    routes.insert(method + std::string{route.path});
    if (!route.last.empty()) {
      routes.insert(method + std::string{route.path} + "/{" + std::string{route.last} + "}");
    }
  }
  CHECK(told == routes);
  std::vector<std::string> references;
  collect_references(root, references);
  CHECK(references.size() > 20);
  for (const std::string& reference : references) {
    CAPTURE(reference);
    CHECK(resolved(root, reference) != nullptr);
  }
  const ConfigValue* const schemas = root.find("components")->find("schemas");
  for (const ConfigEntry& schema : schemas->entries) {
    CHECK(schema.key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string::npos);
    CHECK(schema.value.kind == ConfigValue::Kind::table);
  }
  for (const AnswerSchema& answer : all_answers()) {
    const ConfigValue* const schema = schemas->find("answer." + std::string{answer.name});
    REQUIRE(schema != nullptr);
    CHECK(schema->find("title")->text == schema_name(answer));
  }
  for (const WireRoute& route : wire_routes()) {
    std::string_view rest = route.answers;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      CHECK(find_answer(rest.substr(0, end)) != nullptr);
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }
  // What the command line's plan answers, a request's does.
  const std::string_view planned = find_wire_route("plan")->answers;
  for (const AnswerSchema& answer : all_answers()) {
    CAPTURE(answer.name);
    CHECK(answer.asked_by.starts_with("headroom plan") ==
          says(" " + std::string{planned} + " ", " " + std::string{answer.name} + " "));
  }
  // Each key of the table, below the tables that its path names.
  const ConfigValue* const scenario = schemas->find("scenario");
  for (const Key& key : all_keys()) {
    CAPTURE(key.path);
    CHECK(says(text, "\"" + std::string{key.name()} + "\": {"));
  }
  CHECK(scenario->find("properties")->find("strategy")->find("properties")->find("tp") != nullptr);
}
