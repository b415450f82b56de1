// SPDX-License-Identifier: Apache-2.0
// `headroom web` as its clients meet it: answers, and requests that are slow, large, broken or none of its business.
#include <headroom/answers/wire/openapi.hpp>
#include <headroom/answers/wire/request.hpp>
#include <headroom/cli/web/site.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include "web_server.hpp"
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

const std::string plan =
    R"({"scenario": {"kind": "train", "name": "small", "model": "llama3-8b", "hardware": {"gpu": "h100-sxm-80gb",)"
    R"( "gpus": 8}, "training": {"seq_len": 8192, "global_batch": 64, "precision": "bf16"}, "strategy": {"tp": 1,)"
    R"( "pp": 1, "zero": 3, "micro_batch": 1}}})";

bool skipped() {
  if (!serves_http()) {
    MESSAGE("Skipped: built without cpp-httplib");
    return true;
  }
  return false;
}

/// Still answers, and what the command line answers.
bool is_alive(const WebServer& server) {
  return status_of(server.get("/api/v1/health")) == "200";
}

/// One for all cases that do not end it.
const WebServer& server() {
  static const WebServer one;
  return one;
}

}  // namespace

TEST_CASE("web: a question over HTTP is answered as on the command line") {
  if (skipped()) {
    return;
  }
  const std::string reply = server().post("/api/v1/plan", plan);
  CHECK(status_of(reply) == "200");
  const Run run = run_headroom(
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 8 --seq-len 8192 --global-batch 64 --tp 1 --pp 1 --zero 3 "
      "--micro-batch 1 --set name=small --format json");
  CHECK(body_of(reply) == run.out);
  CHECK(body_of(server().post("/api/v1/plan", plan)) == run.out);  // as it was kept
  for (const char* const header :
       {"Content-Type: application/json\r\n", "X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
        "Content-Security-Policy: default-src 'none'", "Headroom-Exit-Code: 0\r\n", "Cache-Control: no-store\r\n"}) {
    CHECK_MESSAGE(says(reply, header), header);
  }
  CHECK_FALSE(says(reply, "Access-Control-"));
  CHECK(body_of(server().get("/api/v1/openapi.json")) == openapi_document());
  CHECK(says(server().get("/"), "Content-Type: text/html"));
  // Several requests of one connection.
  WebClient client{server().port()};
  for (int i = 0; i < 3; ++i) {
    client.send("GET /api/v1/catalog/engines HTTP/1.1\r\nHost: " + server().host() + "\r\n\r\n");
    CHECK(says(client.receive(), "\"vllm\""));
  }
}

TEST_CASE("web: every route of the interface is answered over HTTP") {
  if (skipped()) {
    return;
  }
  for (const WireRoute& route : wire_routes()) {
    CAPTURE(route.path);
    const std::string path{route.path};
    if (route.asks) {
      CHECK(status_of(server().post(path, "{}")) == "422");
      CHECK(status_of(server().get(path)) == "405");
    } else {
      CHECK(status_of(server().get(path)) == "200");
      CHECK(status_of(server().post(path, "{}")) == "405");
    }
    if (!route.last.empty()) {
      CHECK(status_of(server().get(path + "/no-such")) == "422");
      CHECK(status_of(server().get(path + "/../x")) == "404");
    }
  }
}

TEST_CASE("web: other hosts, other pages and other methods are refused") {
  if (skipped()) {
    return;
  }
  const auto status = [](const std::string& request) { return status_of(server().said(request)); };
  const std::string host = "Host: " + server().host() + "\r\n";
  CHECK(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n") == "421");
  CHECK(status("GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n") == "421");
  CHECK(status("GET / HTTP/1.1\r\n\r\n") == "421");
  CHECK(status("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") == "200");
  CHECK(status("GET / HTTP/1.1\r\n" + host + host + "\r\n") == "400");
  CHECK(says(server().said("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "--hosts"));
  const std::string json = "Content-Type: application/json\r\n";
  CHECK(status_of(server().post("/api/v1/plan", plan, json + "Origin: http://evil.example\r\n")) == "403");
  CHECK(status_of(server().post("/api/v1/plan", plan, json + "Origin: null\r\n")) == "403");
  CHECK(status_of(server().post("/api/v1/plan", plan, json + "Sec-Fetch-Site: cross-site\r\n")) == "403");
  CHECK(status_of(server().get("/api/v1/keys", "Origin: http://evil.example\r\n")) == "403");
  CHECK(status_of(server().post("/api/v1/plan", plan, json + "Origin: http://" + server().host() + "\r\n")) == "200");
  CHECK(status_of(server().post("/api/v1/plan", plan, "Content-Type: text/plain\r\n")) == "415");
  CHECK(status_of(server().post("/api/v1/plan", plan, "")) == "415");
  CHECK(status_of(server().post("/api/v1/plan", plan, json + "Content-Encoding: gzip\r\n")) == "415");
  for (const char* const method : {"PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "BREW"}) {
    CAPTURE(method);
    const std::string reply = server().said(std::string{method} + " /api/v1/plan HTTP/1.1\r\n" + host + "\r\n");
    CHECK(status_of(reply) == "405");
    CHECK(says(reply, "Allow: POST\r\n"));
  }
  CHECK(is_alive(server()));
}

TEST_CASE("web: paths lead to no file") {
  if (skipped()) {
    return;
  }
  for (const char* const path : {"/../../etc/passwd", "/..%2f..%2fetc/passwd", "/etc/passwd", "//etc/passwd",
                                 "/api/v1/catalog/../../../etc/passwd", "/api/v1/schema/%2e%2e", "/.", "/index.html/..",
                                 "/\\..\\..", "/app.js%00"}) {
    CAPTURE(path);
    const std::string status = status_of(server().get(path));
    CHECK((status == "404" || status == "400"));
  }
  const std::string named = R"({"scenario": {"kind": "train", "model": "../../etc/passwd"}})";
  const std::string reply = server().post("/api/v1/plan", named);
  CHECK(status_of(reply) == "422");
  CHECK(says(reply, "a request opens none"));
  CHECK(is_alive(server()));
}

TEST_CASE("web: broken, large and deep requests are refused, each with the reason") {
  if (skipped()) {
    return;
  }
  const std::string host = "Host: " + server().host() + "\r\n";
  const auto said = [](const std::string& request) { return server().said(request); };
  for (const std::string& broken : std::vector<std::string>{
           "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n" + host + "\r\n", "GET  HTTP/1.1\r\n" + host + "\r\n",
           "GET / HTTP/1.1\r\n" + host + "X Y: 1\r\n\r\n", "GET / HTTP/1.1\r\n" + host + "X: a\nY: b\r\n\r\n",
           "GET http://x/ HTTP/1.1\r\n" + host + "\r\n", std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 30),
           "POST /api/v1/plan HTTP/1.1\r\n" + host +
               "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
               "2\r\n{}\r\n0\r\n\r\n",
           "POST /api/v1/plan HTTP/1.1\r\n" + host + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"}) {
    CAPTURE(broken);
    const std::string reply = said(broken);
    CHECK(status_of(reply) == "400");
    CHECK(says(reply, "headroom.error/1"));
  }
  std::string headers;
  for (int i = 0; i < 200; ++i) {
    headers += "X-" + std::to_string(i) + ": 1\r\n";
  }
  CHECK(status_of(said("GET / HTTP/1.1\r\n" + host + headers + "\r\n")) == "431");
  CHECK(status_of(said("GET / HTTP/1.1\r\n" + host + "X: " + std::string(100'000, 'x') + "\r\n\r\n")) == "431");
  CHECK(status_of(said("GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n" + host + "\r\n")) == "431");
  const std::string large = server().post("/api/v1/plan", std::string(std::size_t{64} << 20U, ' '));
  CHECK((large.empty() || status_of(large) == "413"));  // a client that goes on sending may not read it
  const std::string head = said("POST /api/v1/plan HTTP/1.1\r\n" + host +
                                "Content-Type: application/json\r\nContent-Length: 67108864\r\n\r\n");
  CHECK(status_of(head) == "413");
  CHECK(says(head, "1048576 bytes"));
  CHECK(status_of(server().post("/api/v1/plan", "{\"scenario\": NaN}")) == "400");
  CHECK(status_of(server().post("/api/v1/plan", std::string(500'000, '['))) == "400");
  std::string keys = "{\"scenario\": {";
  for (int i = 0; i < 60'000; ++i) {
    keys += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
  }
  const std::string many = server().post("/api/v1/plan", keys + "}}");
  CHECK(status_of(many) == "413");
  CHECK(says(many, "20000 values"));
  CHECK(is_alive(server()));
}

TEST_CASE("web: clients that leave or say half a thing harm nobody") {
  if (skipped()) {
    return;
  }
  std::vector<std::unique_ptr<WebClient>> open;
  for (int i = 0; i < 50; ++i) {
    open.push_back(std::make_unique<WebClient>(server().port()));
    open.back()->send(i % 2 == 0 ? ""
                                 : "POST /api/v1/plan HTTP/1.1\r\nHost: " + server().host() +
                                       "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    if (i % 3 == 0) {
      open.back()->shut();
    }
  }
  CHECK(is_alive(server()));
  open.resize(25);
  CHECK(is_alive(server()));
  CHECK(status_of(server().post("/api/v1/plan", plan)) == "200");
}

TEST_CASE("web: a question beyond its time ends its process and nothing else") {
  if (skipped()) {
    return;
  }
  const WebServer brief{{"--within", "300 ms"}};
  // Some hundred thousand simulated requests, which no clock stops.
  const std::string slow =
      R"({"scenario": {"kind": "serve", "model": "llama3-70b", "hardware": {"gpu": "h100-sxm-80gb"}, "strategy": )"
      R"({"tp": 8}, "serving": {"isl": 4096, "osl": 2048}, "traffic": {"rate": "50 req/s", "requests": 1000000}, )"
      R"("fleet": {"replicas": 16}}})";
  const auto start = std::chrono::steady_clock::now();
  const std::string reply = brief.post("/api/v1/simulate", slow);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK_MESSAGE(status_of(reply) == "503", reply.substr(0, 400));
  CHECK(says(reply, "limit"));
  CHECK(took < 10.0);
  CHECK(is_alive(brief));
  CHECK(status_of(brief.post("/api/v1/plan", plan)) == "200");
}

TEST_CASE("web: a slow client is let go, a stop waits for answers") {
  if (skipped()) {
    return;
  }
  WebServer one{{"--patience", "500 ms"}};
  WebClient idle{one.port()};
  idle.send("GET / HT");
  WebClient asks{one.port()};
  asks.send("POST /api/v1/plan HTTP/1.1\r\nHost: " + one.host() +
            "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(plan.size()) + "\r\n\r\n" + plan);
  CHECK(status_of(asks.receive()) == "200");
  CHECK(status_of(idle.receive(15.0)) == "408");
  // A byte now and then is no request in time: such a client is cut off while it still sends.
  WebClient drips{one.port()};
  drips.send("GET / HT");
  int sent = 0;
  while (sent < 200 && drips.send("T")) {
    ++sent;
    usleep(50'000);
  }
  CHECK(sent < 200);
  CHECK(one.stop(SIGTERM) == 0);
  WebServer other;
  CHECK(other.stop(SIGINT) == 0);
}

TEST_CASE("web: more clients than there are places are turned away at once") {
  if (skipped()) {
    return;
  }
  const WebServer small{{"--clients", "4"}};
  std::vector<std::unique_ptr<WebClient>> open;
  for (int i = 0; i < 4; ++i) {
    open.push_back(std::make_unique<WebClient>(small.port()));
    open.back()->send("GET /api/v1/health HTTP/1.1\r\nHost: " + small.host() + "\r\n\r\n");
    CHECK(status_of(open.back()->receive()) == "200");
  }
  const std::string refused = small.get("/api/v1/health");
  CHECK(status_of(refused) == "503");
  CHECK(says(refused, "Retry-After: 1\r\n"));
  open.clear();
  std::string again;
  for (int i = 0; i < 50 && status_of(again) != "200"; ++i) {
    again = small.get("/api/v1/health");
    usleep(50'000);
  }
  CHECK(status_of(again) == "200");
}

TEST_CASE("web: what it cannot be asked to do is refused, every problem at once") {
  const Run run = run_headroom("web --port 99999 --bind nowhere! --hosts 'a b' --within never --keys 0");
  CHECK(run.code == 2);
  for (const char* const part : {"--port is 99999", "--bind 'nowhere!'", "--hosts 'a b'", "--within", "--keys is 0"}) {
    CHECK_MESSAGE(says(run.err, part), run.err);
  }
  if (skipped()) {
    return;
  }
  const Run taken = run_headroom("web --stop-after '1 s' --port " + std::to_string(server().port()));
  CHECK(taken.code == 2);
  CHECK(says(taken.err, "cannot be listened at"));
}

TEST_CASE("web: answers are kept within their bound, the last asked longest") {
  cli::ReplyCache cache{8192};
  const auto reply = [](char c) {
    cli::HttpReply made;
    made.body = std::make_shared<const std::string>(1000, c);
    return made;
  };
  for (char c = 'a'; c <= 'z'; ++c) {
    cache.keep(std::string(10, c), reply(c));
    CHECK(cache.find(std::string(10, 'a')).has_value());  // asked each time
    CHECK(cache.bytes() <= 8192);
  }
  CHECK(*cache.find(std::string(10, 'z'))->body == std::string(1000, 'z'));
  CHECK_FALSE(cache.find(std::string(10, 'b')).has_value());
  cli::HttpReply large;
  large.body = std::make_shared<const std::string>(5000, 'x');
  cache.keep("large", large);
  CHECK_FALSE(cache.find("large").has_value());
}
