// SPDX-License-Identifier: Apache-2.0
// Who is answered first by `headroom web`, and who waits: light questions beside heavy ones, equal ones at a time, and
// more of them than there are places.
#include <headroom/cli/web/question_cost.hpp>
#include <headroom/cli/web/site.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "web_server.hpp"
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

bool skipped() {
  if (!serves_http()) {
    MESSAGE("Skipped: built without cpp-httplib");
    return true;
  }
  return false;
}

std::string light_plan(int seq_len) {
  return R"({"scenario": {"kind": "train", "model": "llama3-8b", "hardware": {"gpu": "h100-sxm-80gb", "gpus": 8}, )"
         R"("training": {"seq_len": )" +
         std::to_string(seq_len) +
         R"(, "global_batch": 64, "precision": "bf16"}, "strategy": {"tp": 1, "pp": 1, "zero": 3, "micro_batch": 1}}})";
}

/// Some million simulated requests, which take until the limit.
std::string heavy_simulation(int isl) {
  return R"({"scenario": {"kind": "serve", "model": "llama3-70b", "hardware": {"gpu": "h100-sxm-80gb"}, "strategy": )"
         R"({"tp": 8}, "serving": {"isl": )" +
         std::to_string(isl) + R"(, "osl": 2048}, "traffic": {"rate": "50 req/s", "requests": 1000000}, )" +
         R"("fleet": {"replicas": 16}}})";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("web queue: plans of a stated layout are light, and searches, open loads and blank layouts are heavy") {
  using cli::cost_of;
  using cli::QuestionCost;
  const auto light = [](WireVerb verb, const std::string& text) { return cost_of(verb, text) == QuestionCost::light; };
  CHECK(light(WireVerb::plan, light_plan(8192)));
  CHECK(light(WireVerb::explain, light_plan(8192)));
  CHECK(light(WireVerb::plan, R"({"scenario": "kind = \"serve\"\n[strategy]\ntp = 8\n"})"));
  CHECK(light(WireVerb::plan, R"({"scenario": {"strategy.tp": 8}})"));
  CHECK(light(WireVerb::plan, R"({"only": "memory", "scenario": {"kind": "train"}})"));
  CHECK(light(WireVerb::keys, ""));
  CHECK(light(WireVerb::import_config, "{\"config\": {}}"));
  CHECK_FALSE(light(WireVerb::search, light_plan(8192)));
  CHECK_FALSE(light(WireVerb::simulate, light_plan(8192)));
  CHECK_FALSE(light(WireVerb::compare, light_plan(8192)));
  CHECK_FALSE(light(WireVerb::plan, R"({"scenario": {"kind": "train", "model": "llama3-8b"}})"));  // a blank layout
  CHECK_FALSE(light(WireVerb::plan, R"({"scenario": {"strategy.tp": 8, "search": {"pp": "any"}}})"));
  CHECK_FALSE(light(WireVerb::plan, R"({"scenario": {"strategy.tp": 8, "traffic.rate": "4 req/s"}})"));
  CHECK_FALSE(light(WireVerb::plan, R"({"scenario": {"strategy.tp": 8, "serving.concurrency": "1..512 x2"}})"));
  CHECK(light(WireVerb::plan, R"({"scenario": {"strategy.tp": 8, "name": "a job_of research"}})"));
  CHECK_FALSE(light(WireVerb::plan, "broken"));
}

TEST_CASE("web queue: equal requests that are asked at a time are answered once") {
  cli::RepliesUnderWay under_way;
  std::atomic<int> asked{0};
  std::atomic<int> arrived{0};
  constexpr int clients = 16;
  std::vector<std::thread> threads;
  std::vector<std::string> bodies(clients);
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] {
      ++arrived;
      const cli::HttpReply reply = under_way.reply("plan {}", [&] {
        ++asked;
        while (arrived < clients) {
          std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{50});  // for those that came to wait
        cli::HttpReply made;
        made.body = std::make_shared<const std::string>("answer");
        return made;
      });
      bodies[static_cast<std::size_t>(i)] = *reply.body;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(asked == 1);
  CHECK(bodies == std::vector<std::string>(clients, "answer"));
  // Unlike ones, and the same afterwards, are asked; what one throws does not stop the next.
  CHECK_THROWS_AS(
      static_cast<void>(under_way.reply("plan {}", []() -> cli::HttpReply { throw std::runtime_error{"x"}; })),
      std::runtime_error);
  CHECK(under_way.reply("plan {}", [] { return cli::HttpReply{404, "", nullptr, {}}; }).status == 404);
}

TEST_CASE("web queue: questions that take until their limit hold up no light one, and those beyond are told when") {
  if (skipped()) {
    return;
  }
  const WebServer server{{"--within", "1 s"}};
  CHECK(status_of(server.post("/api/v1/plan", light_plan(8192))) == "200");
  std::vector<std::unique_ptr<WebClient>> heavy;
  for (int i = 0; i < 4; ++i) {  // one of three workers takes them: two seconds each, of which the others wait for one
    const std::string body = heavy_simulation(4096 + i);
    heavy.push_back(std::make_unique<WebClient>(server.port()));
    heavy.back()->send("POST /api/v1/simulate HTTP/1.1\r\nHost: " + server.host() +
                       "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                       "\r\n\r\n" + body);
  }
  usleep(100'000);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) {
    CHECK(status_of(server.post("/api/v1/plan", light_plan(4096 + 64 * i))) == "200");
  }
  CHECK(seconds_since(start) < 1.5);  // none of them waited for a heavy one
  int turned_away = 0;
  for (const std::unique_ptr<WebClient>& client : heavy) {
    const std::string reply = client->receive();
    CHECK(status_of(reply) == "503");
    if (says(reply, "more questions are asked than are answered; ask again in")) {
      CHECK(says(reply, "Retry-After: "));
      ++turned_away;
    }
  }
  CHECK(turned_away == 3);
  CHECK(status_of(server.get("/api/v1/health")) == "200");
}

TEST_CASE("web queue: a million keys, a config.json of 64 MB and ids like paths are refused, and it lives") {
  if (skipped()) {
    return;
  }
  const WebServer server{{"--body", "64 MiB", "--keys", "500000"}};
  std::string keys = "{\"scenario\": {";
  for (int i = 0; i < 1'000'000; ++i) {
    keys += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
  }
  const std::string many = server.post("/api/v1/plan", keys + "}}");
  CHECK(status_of(many) == "400");
  CHECK(says(many, "more than 500000 values, the most that a document may hold"));  // as of any file
  const std::string config =
      "{\"config\": {\"hidden_size\": 4096, \"x\": \"" + std::string(std::size_t{64} << 20U, 'y') + "\"}}";
  const std::string large = server.post("/api/v1/import", config);
  CHECK((large.empty() || status_of(large) == "413"));  // a client that goes on sending may not read it
  const std::string fits = server.post(
      "/api/v1/import", "{\"config\": {\"hidden_size\": 4096, \"x\": \"" + std::string(60'000'000, 'y') + "\"}}");
  CHECK(status_of(fits) == "422");
  for (const char* const id :
       {"../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "..%2fetc", "a/../../b.json"}) {
    CAPTURE(id);
    const std::string reply = server.post(
        "/api/v1/plan", R"({"scenario": {"kind": "train", "model": ")" + std::string{id} +
                            R"(", "hardware": {"gpu": "h100-sxm-80gb", "gpus": 8}, "strategy": {"tp": 1}}})");
    CHECK(status_of(reply) == "422");
    CHECK_FALSE(says(reply, "root:"));
  }
  CHECK(status_of(server.post("/api/v1/plan", light_plan(8192))) == "200");
}
