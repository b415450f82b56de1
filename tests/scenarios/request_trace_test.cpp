// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/traffic/request_trace.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;

namespace {

RequestTrace read(const std::string& text, std::int64_t cache_blocks = 0) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  RequestTrace trace = read_request_trace(stream, "trace.csv", diagnostics, cache_blocks);
  CHECK(diagnostics.empty());
  return trace;
}

std::string problems_of(const std::string& text) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  (void)read_request_trace(stream, "t", diagnostics);
  std::string all;
  for (const Diagnostic& one : diagnostics.sorted()) {
    all += one.text() + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("Azure's traces: dates to seven digits, from the first row on") {
  const RequestTrace trace = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2023-11-16 23:59:59.9799600,4808,10\n"
      "2023-11-17 00:00:00.0319601,3180,8\n"
      "2023-11-17 00:00:01.979961+00:00,1,1\n");
  REQUIRE(trace.requests.size() == 3);
  CHECK(trace.form == TraceForm::azure);
  CHECK(trace.requests[0].arrival == Picoseconds{0});
  CHECK(trace.requests[0].prompt_tokens == 4808);
  CHECK(trace.requests[0].output_tokens == 10);
  CHECK(trace.requests[1].arrival == Picoseconds{52'000'100'000});
  CHECK(trace.requests[2].arrival == Picoseconds{2'000'001'000'000});  // as the 2024 trace writes it
}

TEST_CASE("BurstGPT: seconds, and failed requests are left out and counted") {
  const RequestTrace trace = read(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,1,2.5,ChatGPT,472,18,490,Conversation log\n"
      "45.5,2,1,GPT-4,1087,0,1087,Conversation log\n"
      "118,,,ChatGPT,417,276,693,API log\n");
  CHECK(trace.form == TraceForm::burstgpt);
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.failed == 1);
  CHECK(trace.requests[0].arrival == picoseconds(5.0));
  CHECK(trace.requests[1].prompt_tokens == 417);
  CHECK(trace.requests[1].output_tokens == 276);
}

TEST_CASE("Mooncake: shared hash ids are a cached prefix, of a cache that may be small") {
  const std::string text = R"({"timestamp": 0, "input_length": 1100, "output_length": 20, "hash_ids": [1, 2, 3]})"
                           "\n"
                           R"({"timestamp": 3052, "input_length": 1600, "output_length": 7, "hash_ids": [1, 2, 4, 5]})"
                           "\n"
                           R"({"timestamp": 3052, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]})"
                           "\n"
                           R"({"timestamp": 9000, "input_length": 600, "output_length": 1, "hash_ids": [9, 2]})"
                           "\n";
  const RequestTrace trace = read(text);
  CHECK(trace.form == TraceForm::mooncake);
  REQUIRE(trace.requests.size() == 4);
  CHECK(trace.requests[1].arrival == picoseconds(3.052));
  CHECK(trace.requests[0].cached_tokens == 0);
  CHECK(trace.requests[1].cached_tokens == 1024);
  CHECK(trace.requests[2].cached_tokens == 1023);  // one token is computed all the same
  CHECK(trace.requests[3].cached_tokens == 0);     // block 2 is known, but not behind block 9
  // Room for two blocks: of each prompt its first two stay.
  const RequestTrace small = read(text, 2);
  CHECK(small.requests[1].cached_tokens == 1024);
  CHECK(small.requests[2].cached_tokens == 1023);
  const RequestTrace one = read(text, 1);
  CHECK(one.requests[1].cached_tokens == 512);
}

TEST_CASE("a trace of one's own, with classes and cached tokens where stated") {
  const RequestTrace trace = read(
      "arrival_s,prompt_tokens,output_tokens,cached_tokens,service_class\r\n"
      "0.25,100,10,,\r\n"
      "0.25,200,20,64,2\r\n");
  REQUIRE(trace.requests.size() == 2);
  CHECK(trace.requests[0].arrival == picoseconds(0.25));
  CHECK(trace.requests[0].cached_tokens == 0);
  CHECK(trace.requests[1].cached_tokens == 64);
  CHECK(trace.requests[1].service_class == 2);
}

TEST_CASE("every problem of a trace is told, with its place and the way out") {
  CHECK(problems_of("arrival_s,prompt_token,output_tokens,color\n") ==
        "t:1:1: error: no column 'prompt_tokens'\n"
        "t:1:11: error: unknown column 'prompt_token'; did you mean 'prompt_tokens'?\n"
        "t:1:38: error: unknown column 'color'\n");
  CHECK(problems_of("when,prompt_tokens\n1,2\n").find("no column says when requests arrive") != std::string::npos);
  CHECK(problems_of("arrival_s,prompt_tokens,output_tokens\n"
                    "1,10,10\n"
                    "0.5,10,10\n"
                    "-2,10,10\n"
                    "2,0,10\n"
                    "3,10,x\n"
                    "4,,1.5\n"
                    "1e9,1,1\n"
                    "5,1\n") ==
        "t:3:1: error: arrives 0.5 s before the row above; sort the trace by time\n"
        "t:4:1: error: a request arrives at -2 s; times start at 0\n"
        "t:5:3: error: 0 tokens; they must be from 1 to 2^30\n"
        "t:6:6: error: 'output_tokens' is 'x', no integer\n"
        "t:7:3: error: an empty cell; a request has tokens\n"
        "t:7:4: error: 'output_tokens' is '1.5', no integer\n"
        "t:8:1: error: a request arrives at 1e+09 s; simulated time ends after 106 days\n"
        "t:9:1: error: row has 2 fields; the header has 3\n");
  CHECK(problems_of("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16T25:00:00,1,1\n") ==
        "t:2:1: error: '2023-11-16T25:00:00' is no time; it is written 2023-11-16 18:17:03.9799600\n");
  const std::string lines = problems_of(
      "{\"timestamp\": 1, \"input_length\": 5, \"outputlength\": 5}\n"
      "{\"timestamp\": \"x\", \"input_length\": 5.5, \"output_length\": 0}\n"
      "{\"timestamp\": 1,\n");
  CHECK(
      lines.starts_with("t:1:1: error: no key 'output_length'\n"
                        "t:1:37: error: unknown key 'outputlength'; did you mean 'output_length'?\n"
                        "t:2:15: error: 'timestamp' must be a number, not a string\n"
                        "t:2:36: error: 'input_length' must be a whole number, not a number\n"
                        "t:2:58: error: 0 tokens; they must be from 1 to 2^30\n"
                        "t:3:17: error: "));
  CHECK(problems_of("").find("empty file") != std::string::npos);
  CHECK(problems_of("arrival_s,prompt_tokens,output_tokens\n") ==
        "t: error: the trace has no requests; write one a line, below the header of a CSV\n");
  CHECK_THROWS_WITH_AS(load_request_trace("/nowhere/x.csv"), "error: /nowhere/x.csv: no such file", ConfigError);
}

TEST_CASE("Azure's published traces are read whole, with their published means") {
  const std::filesystem::path folder = std::filesystem::path{HEADROOM_SOURCE_DIR} / "../shared/data/traces";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("Skipped: no traces");
    return;
  }
  struct Row {
    const char* file;
    std::size_t rows;
    double prompt, output;
  };
  for (const Row& row :
       {Row{"azure_llm_2023_conv.csv", 19366, 1155, 211}, Row{"azure_llm_2023_code.csv", 8819, 2048, 28}}) {
    const RequestTrace trace = load_request_trace((folder / row.file).string());
    CHECK(trace.requests.size() == row.rows);
    double prompt = 0.0;
    double output = 0.0;
    for (const Request& request : trace.requests) {
      prompt += request.prompt_tokens;
      output += request.output_tokens;
    }
    CHECK(prompt / static_cast<double>(row.rows) == doctest::Approx(row.prompt).epsilon(0.001));
    CHECK(output / static_cast<double>(row.rows) == doctest::Approx(row.output).epsilon(0.02));
  }
}
