// SPDX-License-Identifier: Apache-2.0
// Answers written in the forms of others and read back, as a user does it.
#include <headroom/core/csv.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

using namespace headroom::test;
using headroom::CsvReader;
using headroom::Diagnostics;

namespace {

constexpr const char* served = "scenarios/serve/llama3-70b.toml";

/// Column `key` against column `value` of a CSV.
std::map<std::string, std::string> columns(const std::string& text, const std::string& key, const std::string& value) {
  std::istringstream stream{text};
  Diagnostics problems;
  CsvReader csv{stream, "rows.csv", problems};
  std::map<std::string, std::string> rows;
  while (csv.next()) {
    rows[csv.fields()[*csv.column(key)]] = csv.fields()[*csv.column(value)];
  }
  CHECK(problems.empty());
  return rows;
}

}  // namespace

TEST_CASE("an answer as a report of llm-d and as a summary of Endpoints comes back with the same numbers") {
  const ScratchFolder scratch;
  const std::string report = (scratch.path() / "report.yaml").string();
  const std::string summary = (scratch.path() / "summary.json").string();
  CHECK(run_headroom("export " + std::string{served} + " --to llm-d -o " + report).code == 0);
  CHECK(run_headroom("export " + std::string{served} + " --to mlperf-endpoints -o " + summary).code == 0);
  const Run one = run_headroom("import " + report + " --weights bf16");
  const Run other = run_headroom("import " + summary +
                                 " --model llama3-70b --gpu h100-sxm-80gb --weights bf16 --set tp=8 --set engine=vLLM");
  CHECK(one.code == 0);
  CHECK(other.code == 0);
  const auto of_report = columns(one.out, "metric", "value");
  const auto of_summary = columns(other.out, "metric", "value");
  CHECK(of_report.size() == 6);
  for (const auto& [metric, value] : of_summary) {
    CAPTURE(metric);
    CHECK(of_report.at(metric) == value);
  }
  CHECK(columns(one.out, "gpu", "tp").at("h100-sxm-80gb") == "8");
  CHECK(columns(one.out, "isl", "osl").at("2048") == "256");
  CHECK(columns(one.out, "concurrency", "engine").at("64") == "vLLM");
  // A run that is as fast as the plan says has no error worth a word: both answers are of one model.
  const std::string rows = (scratch.path() / "rows.csv").string();
  std::ofstream{rows} << one.out;
  const Run judged = run_headroom("validate " + rows + " --format csv");
  CHECK(judged.code == 0);
  for (const auto& [metric, predicted] : columns(judged.out, "metric", "predicted")) {
    CAPTURE(metric);
    if (!metric.starts_with("ttft") && !metric.starts_with("e2e")) {
      CHECK(std::abs(std::stod(predicted) / std::stod(of_report.at(metric)) - 1.0) < 0.02);
    }
  }
}

TEST_CASE("a plan's bill by FOCUS is a price list with the plan's price") {
  const ScratchFolder scratch;
  const std::string bill = (scratch.path() / "bill.csv").string();
  const std::string scenario = "scenarios/train/llama3-70b-512xh100.toml";
  CHECK(run_headroom("export " + scenario + " --to focus --start 2026-12-01 -o " + bill).code == 0);
  const Run prices = run_headroom("import " + bill + " --from focus");
  CHECK(prices.code == 0);
  CHECK(says(prices.out,
             "gpu = \"h100-sxm-80gb\"\nmarket = \"on-demand\"\nregion = \"any\"\nprice = { value = \"2.99 $/h\""));
  const Run undated = run_headroom("export " + scenario + " --to focus --start 2026-13-01");
  CHECK(undated.code == 2);
  CHECK(says(undated.err, "--start is '2026-13-01'"));
  const Run training = run_headroom("export " + scenario + " --to llm-d");
  CHECK(training.code == 2);
  CHECK(says(training.err, "is a result of serving"));
}

TEST_CASE("slices of a sharing plan come back as tenants that get the same slices") {
  const ScratchFolder scratch;
  const std::string cut = (scratch.path() / "mig.yaml").string();
  const std::string back = (scratch.path() / "slices.toml").string();
  CHECK(run_headroom("export scenarios/sharing/night-and-day.toml --to mig-parted --set sharing.mode=mig -o " + cut)
            .code == 0);
  CHECK(run_headroom("import " + cut + " --from mig-parted --gpu a100-sxm-80gb -o " + back).code == 0);
  const Run again = run_headroom("export " + back + " --to mig-parted");
  CHECK(again.code == 0);
  const std::string first = read_text(cut);
  CHECK(again.out.substr(again.out.find("version: v1")) == first.substr(first.find("version: v1")));
}
