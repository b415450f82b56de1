// SPDX-License-Identifier: Apache-2.0
// `headroom simulate` as a user runs it: what its JSON holds, its files, exit codes, what it assumes.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

const std::string fleet = "simulate scenarios/serve/llama3-70b-traffic.toml --requests 2000";

const ConfigValue& at(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.find(key);
  REQUIRE_MESSAGE(value != nullptr, std::string{key});
  return *value;
}

double number(const ConfigValue& object, std::string_view key) {
  const ConfigValue& value = at(object, key);
  REQUIRE((value.kind == ConfigValue::Kind::number || value.kind == ConfigValue::Kind::integer));
  return value.kind == ConfigValue::Kind::number ? value.number : static_cast<double>(value.integer);
}

ConfigValue json_of(const std::string& arguments, int code = 0) {
  const Run run = run_headroom(arguments + " --format json");
  REQUIRE_MESSAGE(run.code == code, run.err);
  return parse_json(run.out, "out.json");
}

std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines{read_text(file)};
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream cell_stream{line};
    for (std::string cell; std::getline(cell_stream, cell, ',');) {
      cells.push_back(cell);
    }
    rows.push_back(cells);
  }
  return rows;
}

}  // namespace

TEST_CASE("the JSON of a simulation holds tails, utilisation, memory, batches, queue length and cost per million") {
  const ConfigValue json = json_of(fleet);
  CHECK(at(json, "schema").text == "headroom.simulate/1");
  for (const char* time : {"ttft_s", "tpot_s", "e2e_s", "queue_s"}) {
    const ConfigValue& summary = at(at(json, "all"), time);
    CHECK(number(summary, "p50") <= number(summary, "p95"));
    CHECK(number(summary, "p95") <= number(summary, "p99"));
    CHECK(number(summary, "p99") <= number(summary, "max"));
  }
  const ConfigValue& pool = at(json, "pool");
  CHECK(number(pool, "utilisation") > 0.0);
  CHECK(number(pool, "utilisation") <= 1.0);
  CHECK(number(pool, "kv_occupancy_mean") <= number(pool, "kv_occupancy_peak"));
  double iterations = 0.0;
  double sequences = 0.0;
  for (const ConfigValue& bin : at(pool, "batch_histogram").items) {
    iterations += number(bin, "iterations");
    sequences += number(bin, "iterations") * number(bin, "sequences");
  }
  CHECK(iterations == number(pool, "iterations"));
  CHECK(sequences / iterations == near(number(pool, "batch_mean")));
  CHECK(number(at(json, "queue_length"), "p99") <= number(at(json, "queue_length"), "max"));
  const ConfigValue& memory = at(json, "memory");
  CHECK(number(memory, "total_bytes") <= number(memory, "capacity_bytes"));
  CHECK(number(at(memory, "terms_bytes"), "weights") > 0.0);
  const ConfigValue& cost = at(json, "cost");
  const double per_s = number(cost, "price_usd_per_s_per_gpu") * number(json, "gpus");
  CHECK(number(at(cost, "usd_per_million_requests"), "mid") ==
        near(1e6 * per_s / number(at(json, "requests_per_s"), "mid")));
  CHECK(number(at(cost, "usd_per_million_output_tokens"), "mid") ==
        near(1e6 * per_s / number(at(json, "all"), "output_tokens_per_s")));
}

TEST_CASE("what a spare question leaves open is told: no promises, no burstiness, no price, one replica") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "bare.toml").string();
  std::ofstream{file} << "schema = 1\nkind = \"serve\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\n"
                         "[serving]\nweights = \"bf16\"\n[strategy]\ntp = 1\n[traffic]\nrate = \"2 req/s\"\n"
                         "prompt = { mean = 500 }\noutput = { mean = 100 }\n";
  const Run run = run_headroom("simulate " + file + " --requests 500");
  CHECK(run.code == 0);
  for (const char* told :
       {"[slo] not stated", "traffic.arrivals = poisson (not stated)", "traffic.over_time = constant",
        "fleet.replicas = 1 (not stated)", "serving.engine = vllm", "no price given", "fleet.spare = 0"}) {
    CHECK_MESSAGE(run.out.find(told) != std::string::npos, told);
  }
  CHECK(run.out.find("keeps [slo]") == std::string::npos);
}

TEST_CASE("the log has a row for each request, whose times are those of the answer") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "log.csv").string();
  const ConfigValue json = json_of(fleet + " --request-log " + file);
  const auto rows = rows_of(file);
  REQUIRE(rows.size() == 2001);
  const auto column = [&](const char* name) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), name);
    REQUIRE(found != rows[0].end());
    return static_cast<std::size_t>(found - rows[0].begin());
  };
  std::vector<double> ttfts;
  double last = 0.0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto cell = [&](const char* name) { return std::stod(rows[i].at(column(name))); };
    REQUIRE(cell("arrival_s") >= last);
    last = cell("arrival_s");
    REQUIRE(cell("queue_s") <= cell("ttft_s"));
    REQUIRE(cell("ttft_s") + cell("decode_s") == doctest::Approx(cell("e2e_s")).epsilon(1e-9));
    if (cell("counted") == 1.0) {
      ttfts.push_back(cell("ttft_s"));
    }
  }
  CHECK(ttfts.size() == 1800);
  std::sort(ttfts.begin(), ttfts.end());
  const double p50 = 0.5 * (ttfts[899] + ttfts[900]);
  CHECK(number(at(at(json, "all"), "ttft_s"), "p50") == near(p50));
  CHECK(number(at(at(json, "all"), "ttft_s"), "max") == near(ttfts.back()));
}

TEST_CASE("the trace is written whole, and what is not in it is told") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "trace.json").string();
  const Run run = run_headroom(fleet + " --trace " + file);
  CHECK(run.code == 0);
  CHECK(run.err.find("1800 of 2000 requests") != std::string::npos);
  const ConfigValue trace = parse_json(read_text(file), "trace.json");
  CHECK(at(trace, "traceEvents").items.size() > 1000);
  CHECK(number(at(trace, "otherData"), "requests") == 1800.0);
  const Run nowhere = run_headroom(fleet + " --trace " + (folder.path() / "none" / "trace.json").string());
  CHECK(nowhere.code == 2);
  CHECK(nowhere.out.empty());
}

TEST_CASE("exit codes: 0 kept, 1 missed or overloaded, and the verdict says which and by how much") {
  CHECK(run_headroom(fleet).code == 0);
  const Run missed = run_headroom(fleet + " --set slo.tpot_p99=1ms");
  CHECK(missed.code == 1);
  CHECK(missed.out.find("misses [slo]: tpot_p99 is ") != std::string::npos);
  CHECK(missed.out.find("times the limit") != std::string::npos);
  const Run over = run_headroom(fleet + " --rate 200");
  CHECK(over.code == 1);
  CHECK(over.out.find("overloaded: saturates at ") != std::string::npos);
  const ConfigValue json = json_of(fleet + " --rate 200", 1);
  CHECK(at(json, "verdict").text == "overloaded");
  CHECK(number(at(json, "saturation_requests_per_s"), "mid") < 200.0);
}

TEST_CASE("a promise is kept at the middle, at the slow end or at neither, in the words of a fleet's document") {
  const auto first_token = [](const ConfigValue& json) -> const ConfigValue& {
    const ConfigValue& promise = at(json, "promises").items.front();
    REQUIRE(at(promise, "promise").text == "ttft_p95");
    return promise;
  };
  const std::string asked = fleet + " --set confidence=0.9";  // the end of the interval
  const ConfigValue usual = json_of(asked);
  const ConfigValue& reached = at(first_token(usual), "reached_s");
  const double low = number(reached, "low");
  const double mid = number(reached, "mid");
  const double high = number(reached, "high");
  REQUIRE(mid < high);
  CHECK(at(first_token(usual), "kept").boolean);
  const auto promised = [&](double seconds, int code) {
    return json_of(asked + " --set 'slo.ttft_p95=" + std::to_string(seconds) + " s'", code);
  };
  const ConfigValue loose = promised(1.1 * high, 0);
  CHECK(at(first_token(loose), "kept").boolean);
  CHECK(at(first_token(loose), "kept_at_slow_end").boolean);
  const ConfigValue between = promised(0.5 * (mid + high), 0);
  CHECK(at(first_token(between), "kept").boolean);
  CHECK_FALSE(at(first_token(between), "kept_at_slow_end").boolean);
  const ConfigValue tight = promised(0.5 * (low + mid), 1);
  CHECK_FALSE(at(first_token(tight), "kept").boolean);
  CHECK_FALSE(at(first_token(tight), "kept_at_slow_end").boolean);
}

TEST_CASE("a seed is a draw: the same bytes again, others with another") {
  const std::string once = run_headroom(fleet + " --format json").out;
  CHECK(once == run_headroom(fleet + " --format json").out);
  CHECK(once != run_headroom(fleet + " --format json --seed 2").out);
}

TEST_CASE("more replicas and another rate, by option as by key") {
  const ConfigValue json = json_of(fleet + " --replicas 5 --rate '20 req/s'");
  CHECK(number(json, "replicas") == 5.0);
  CHECK(number(json, "gpus") == 20.0);
  CHECK(number(json, "offered_requests_per_s") == near(20.0));
  CHECK(number(json, "arrived_requests_per_s") == doctest::Approx(20.0).epsilon(0.1));
  const ConfigValue by_key = json_of(fleet + " --set fleet.replicas=5 --set traffic.rate='20 req/s'");
  CHECK(number(at(at(by_key, "all"), "ttft_s"), "p95") == near(number(at(at(json, "all"), "ttft_s"), "p95")));
}

TEST_CASE("a trace of one's own is answered at its own times") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "own.toml").string();
  std::ofstream{folder.path() / "own.csv"} << "arrival_s,prompt_tokens,output_tokens,service_class\n"
                                              "0.5,100,1,0\n1,200,20,1\n2.5,300,30,0\n";
  std::ofstream{file} << "schema = 1\nkind = \"serve\"\nmodel = \"llama3-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\n"
                         "[serving]\nweights = \"bf16\"\n[strategy]\ntp = 1\n[slo]\ntpot_p50 = \"1 s\"\n"
                         "[traffic]\ntrace = \"own.csv\"\nrequests = 300\n";
  const std::string log = (folder.path() / "log.csv").string();
  const ConfigValue json = json_of("simulate " + file + " --request-log " + log);
  CHECK(at(json, "classes").items.size() == 2);
  CHECK(number(json, "offered_requests_per_s") == near(1.0));
  const auto rows = rows_of(log);
  REQUIRE(rows.size() == 301);
  CHECK(std::stod(rows[2][6]) - std::stod(rows[1][6]) == near(0.5));
  CHECK(std::stod(rows[3][6]) - std::stod(rows[2][6]) == near(1.5));
}
