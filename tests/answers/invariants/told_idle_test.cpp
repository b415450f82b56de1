// SPDX-License-Identifier: Apache-2.0
// Keys that move nothing in one document and something in another: the answer to the first says so, with why.
#include <headroom/headroom.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace headroom;

namespace {

std::string told(const std::string& document) {
  static const Library library;
  std::string text = to_text(headroom::answer(library.question_of_text("schema = 1\n" + document)));
  for (std::size_t at = 0; (at = text.find("\n    ", at)) != std::string::npos;) {
    text.replace(at, 5, " ");  // lines that go on
  }
  return text;
}

bool says(const std::string& document, const std::string& sentence) {
  const std::string text = told(document);
  const bool found = text.find(sentence) != std::string::npos;
  CHECK_MESSAGE(found, text);
  return found;
}

const std::string served = R"(kind = "serve"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[strategy]
tp = 1
[serving]
isl = 1000
osl = 200
concurrency = 16
)";
const std::string trained = R"(kind = "train"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 16
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
)";
const std::string called = R"(kind = "batch"
model = "resnet-50"
[job]
records = 1e9
[hardware]
gpu = "a100-sxm-80gb"
gpus = 4
)";
const std::string answering = R"(kind = "batch"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
gpus = 1
[strategy]
tp = 1
[serving]
isl = 1000
osl = 200
concurrency = 16
[job]
records = 1e5
)";
const std::string priced = "[money]\nprice = \"3 $/h\"\ndate = \"2026-08\"\n";
const std::string stored = "[money.storage]\nsize = \"4 TB\"\nprice = \"0.02 $/GB/month\"\ndate = \"2026-08\"\n";
const std::string tier = R"(kind = "serve"
model = "llama3-8b"
[serving]
isl = 4000
osl = 200
[serving.kv_offload.cpu]
capacity = "500 GB"
[strategy]
tp = 1
[traffic]
rate = "6 req/s"
requests = 300
[traffic.prefix]
groups = 1000
tokens = 3000
[hardware]
gpu = "h100-sxm-80gb"
)";

}  // namespace

TEST_CASE("idle: bytes are billed of a run alone, and the answer without one says so") {
  CHECK(says(served + priced + stored, "money.storage (size, price, date) has no effect: serving has no end"));
  CHECK(says(trained + priced + stored, "money.storage (size, price, date) has no effect: no run is priced"));
  CHECK(says(called + priced + stored, "money.storage (size, price, date) has no effect: answers of kind batch"));
  CHECK(told(trained + "tokens = 1e12\n" + priced + stored).find("no effect") == std::string::npos);
  CHECK(says(answering + priced + stored, "money.storage (size, price, date) has no effect: answers of kind batch"));
  CHECK(told(answering + priced + stored).find("serving has no end") == std::string::npos);
}

TEST_CASE("idle: prompts in parts take the time of a job that they take whole") {
  std::string whole = answering;
  whole.insert(whole.find("isl ="), "chunked_prefill = false\n");
  CHECK(says(whole, "serving.chunked_prefill has no effect on the rates"));
}

TEST_CASE("idle: variants are those of a training plan") {
  CHECK(says(served + priced + "what_if = true\n", "money.what_if has no effect: it asks for variants of a training"));
  CHECK(told(served + priced + "what_if = false\n").find("no effect") == std::string::npos);
}

TEST_CASE("idle: who states the price of electricity stands beside the energy") {
  const std::string electricity =
      "[energy]\npower_price = \"0.1 $/kWh\"\ndate = \"2026-08\"\nsource = \"our utility\"\n";
  const Library library;
  const std::string json = to_json(headroom::answer(library.question_of_text("schema = 1\n" + served + electricity)));
  CHECK(json.find("electricity: 0.100 $/kWh (our utility, 2026-08)") != std::string::npos);
  CHECK(says(called + electricity, "energy.source has no effect: answers of kind batch tell energy, not its price"));
}

TEST_CASE("idle: the memory of a host holds what replicas keep there, and nothing else of serving") {
  CHECK(says(served.substr(0, served.find("[strategy]")) + "host_memory = \"1 TB\"\n" +
                 served.substr(served.find("[strategy]")),
             "hardware.host_memory has no effect: without a capacity of [serving.kv_offload.cpu]"));
  CHECK(says(tier + "host_memory = \"2100 GB\"\n",
             "has room for [serving.kv_offload.cpu] of 4 replicas at 466 GiB each, and a node's GPUs are 8 replicas"));
  CHECK(says(tier + "host_memory = \"8 TB\"\n", "holds [serving.kv_offload.cpu] of its 8 replicas"));
  CHECK_THROWS_WITH_AS(static_cast<void>(told(tier + "host_memory = \"400 GB\"\n")),
                       doctest::Contains("has no room for the 466 GiB that one replica keeps there"), QuestionError);
}

TEST_CASE("idle: prompts that wait for no other are told") {
  const std::string tensorrt = served + "engine = \"tensorrt-llm\"\n";
  CHECK(says(tensorrt + "attention_dp_timeout = 50\n",
             "serving.attention_dp_timeout has no effect: the replica has no attention-DP"));
  CHECK(
      says(tensorrt + "batch_wait = 20\nbatch_wait_share = 0.1\n",
           "serving.batch_wait and batch_wait_share have no effect: one prompt alone fills 10.0 % of the 8192 tokens"));
  CHECK(told(tensorrt + "batch_wait = 20\nbatch_wait_share = 0.5\n").find("no effect") == std::string::npos);
}

TEST_CASE("idle: a host's link bounds the samples that calls are fed with, and its memory holds nothing of them") {
  const std::string fed = "[data]\nfed_bytes = \"1 MB\"\n";
  CHECK(told(called + "host_link = \"1 GB/s\"\n" + fed) != told(called + fed));
  CHECK(says(called + "host_link = \"1 GB/s\"\n", "hardware.host_link has no effect: no samples are copied"));
  CHECK_THROWS_WITH_AS(static_cast<void>(told(called + "host_memory = \"1 TB\"\n")),
                       doctest::Contains("leave 'host_memory' out"), QuestionError);
}
