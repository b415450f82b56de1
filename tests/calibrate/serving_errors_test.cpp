// SPDX-License-Identifier: Apache-2.0
// Widths of serving times from what a fit was off by: classes, levels, factors, and the share of rows that they hold.
#include <headroom/calibrate/stacks/serving_errors.hpp>
#include <headroom/calibrate/stacks/serving_files.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using test::near;

namespace {

/// A row of a publication: a time between tokens.
std::string row_of(const std::string& source) {
  return "r," + source +
         ",llama3-8b,H100-SXM5-80GB,1,1,1,1,bf16,bf16,bf16,128,512,1,vLLM,0.14.0,scenario=closed,tpot_ms_mean,1.0,ms,"
         "\n";
}

RunFile parsed(const std::string& text) {
  std::istringstream stream{
      "id,source,model,gpu,gpus,tp,pp,dp,weight_dtype,act_dtype,kv_dtype,isl,osl,concurrency,engine,engine_version,"
      "options,metric,"
      "value,unit,notes\n" +
      text};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "s.csv", diagnostics);
  diagnostics.throw_if_any();
  return file;
}

}  // namespace

TEST_CASE("classes of errors: the runs of one publication, or those around a level that publications share out") {
  // 50 dense TPOTs of vLLM, measured 0.75 to 1.24 times the prediction in equal steps
  ServingFit fit;
  const auto& before = serving_confidence(test::model_data()).classes();
  fit.classes.assign(before.begin(), before.end());
  RunFile file = parsed(row_of("A") + row_of("B"));
  for (int i = 0; i < 50; ++i) {
    FittedServingRun run;
    run.row = &file.rows[0];
    run.stack = "vllm";
    run.fitted = -std::log(0.75 + 0.01 * i);
    run.left_out = std::numeric_limits<double>::quiet_NaN();
    fit.runs.push_back(run);
  }
  const auto classes_of = [&] { return confidence_of_serving_fit(fit); };
  const ServingConfidence made = classes_of();
  REQUIRE(made.classes().size() == 13);  // any and vllm; the eleven others of any keep what they had
  for (const ServingErrors& e : made.classes()) {
    if (e.quantity != ServingQuantity::tpot || e.experts) {
      CHECK(e.stack == "any");
      CHECK(e.rows != 50);
      continue;
    }
    CHECK(e.rows == 50);
    CHECK(e.sources == 1);
    CHECK(e.level == 0.0);
    CHECK(e.low == near(0.795, 0.01));
    CHECK(e.high == near(1.19, 0.01));
  }
  // two publications, one of which measures 1.3 times what the other does: a third may lie above or below both
  for (std::size_t i = 0; i < 25; ++i) {
    fit.runs[2 * i].row = &file.rows[1];
    fit.runs[2 * i].fitted -= std::log(1.3);
  }
  const ServingErrors wide = classes_of().of("vllm", ServingQuantity::tpot, false);
  CHECK(wide.sources == 2);
  const double level = std::log(1.3) / std::sqrt(2.0);  // the same alone and with that of all stacks
  CHECK(wide.level == near(level, 0.05));
  const double reach = 1.533 * level * std::sqrt(1.5);  // Student's t with 4 degrees of freedom
  const double middle = std::sqrt(1.3);
  CHECK(std::log(wide.low) == near(std::log(middle) - std::hypot(std::log(0.80), reach), 0.05));
  CHECK(std::log(wide.high) == near(std::log(middle) + std::hypot(std::log(1.19), reach), 0.05));
  for (std::size_t i = 0; i < 25; ++i) {
    fit.runs[2 * i].row = &file.rows[0];
    fit.runs[2 * i].fitted += std::log(1.3);
  }
  fit.runs.resize(39);  // too few for a class of its own
  CHECK(confidence_of_serving_fit(fit).classes().size() == 12);
  Diagnostics diagnostics;
  const ServingConfidence read = read_serving_confidence(
      parse_toml(serving_confidence_toml(serving_confidence(test::model_data())), "c"), diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(read.classes().size() == serving_confidence(test::model_data()).classes().size());
  for (std::size_t i = 0; i < read.classes().size(); ++i) {
    const ServingErrors& a = read.classes()[i];
    const ServingErrors& b = serving_confidence(test::model_data()).classes()[i];
    CHECK(a.stack == b.stack);
    CHECK(a.quantity == b.quantity);
    CHECK(a.experts == b.experts);
    CHECK(a.rows == b.rows);
    CHECK(a.sources == b.sources);
    CHECK(a.low == b.low);
    CHECK(a.high == b.high);
    CHECK(a.level == b.level);
    CHECK(a.median == b.median);
    CHECK(a.left_out_median == b.left_out_median);
  }
}

TEST_CASE("classes of queues: what the engine's speed does not explain, of stacks that three publications tell of") {
  ServingFit fit;
  const auto& before = serving_confidence(test::model_data()).classes();
  fit.classes.assign(before.begin(), before.end());
  RunFile file = parsed(row_of("A") + row_of("B") + row_of("C"));
  const double speed = std::log(1.2);
  for (int i = 0; i < 99; ++i) {
    // Measured up to e^0.5 times longer or shorter than predicted, where a speed off by 20 % explains part of it.
    FittedServingRun run;
    run.row = &file.rows[static_cast<std::size_t>(i % 3)];
    run.stack = "vllm";
    run.queue = true;
    run.reach = {1.0 / 1.2, 1.2};
    const double beyond = 0.01 * (i - 49);
    run.fitted = -std::copysign(std::hypot(beyond, speed), beyond);
    run.left_out = std::numeric_limits<double>::quiet_NaN();
    fit.runs.push_back(run);
  }
  const auto of = [&] { return confidence_of_serving_fit(fit).of("vllm", ServingQuantity::queue_tpot, false); };
  CHECK(of().stack == "vllm");
  CHECK(std::log(of().high) == near(0.39, 0.03));
  CHECK(std::log(of().low) == near(-0.39, 0.03));
  // A rate of an open load is what was offered, whatever the engine.
  const double wide = of().high;
  for (int i = 0; i < 50; ++i) {
    FittedServingRun run = fit.runs[0];
    run.offered = true;
    run.fitted = -3.0;
    fit.runs.push_back(run);
  }
  CHECK(of().high == wide);
  for (FittedServingRun& run : fit.runs) {
    run.row = run.row == &file.rows[2] ? &file.rows[1] : run.row;
  }
  CHECK(of().stack == "any");
}

TEST_CASE("errors: a SKU whose runs lie further off than their class widens it, as far as its runs are many") {
  ServingFit fit;
  const auto& before = serving_confidence(test::model_data()).classes();
  fit.classes.assign(before.begin(), before.end());
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += row_of("publication " + std::to_string(i));
  }
  const RunFile file = parsed(text);
  for (int i = 0; i < 240; ++i) {
    FittedServingRun run;
    run.row = &file.rows[static_cast<std::size_t>(i % 12)];
    run.stack = "vllm";
    run.sku = i % 12 == 0 ? "rough" : "smooth";
    run.weights = "bf16";
    run.left_out = std::numeric_limits<double>::quiet_NaN();
    run.fitted = (i % 8 < 4 ? 1.0 : -1.0) * (run.sku == "rough" ? 0.3 : 0.1);
    fit.runs.push_back(run);
  }
  const ServingConfidence made = confidence_of_serving_fit(fit);
  const ServingErrors rough = made.of("vllm", ServingQuantity::tpot, false, "rough", "bf16");
  const ServingErrors smooth = made.of("vllm", ServingQuantity::tpot, false, "smooth", "bf16");
  const ServingErrors other = made.of("vllm", ServingQuantity::tpot, false, "nobody's", "bf16");
  CHECK(rough.low < other.low);
  CHECK(smooth.low == near(other.low));  // nearly all runs are the usual ones
  CHECK(rough.text().find("wider on rough in bf16") != std::string::npos);
  Diagnostics diagnostics;
  const ServingConfidence read = read_serving_confidence(parse_toml(serving_confidence_toml(made), "c"), diagnostics);
  CHECK(diagnostics.empty());
  CHECK(read.of("vllm", ServingQuantity::tpot, false, "rough", "bf16").low == near(rough.low, 0.02));
}

TEST_CASE("a publication that alone tells of its stack moves the middle of its widths by part of what it was off") {
  ServingFit fit;
  const auto& before = serving_confidence(test::model_data()).classes();
  fit.classes.assign(before.begin(), before.end());
  std::string text;
  for (const char* name : {"A", "B", "C", "D"}) {
    text += row_of(name);
  }
  const RunFile file = parsed(text);
  for (std::size_t i = 0; i < 200; ++i) {
    FittedServingRun run;
    run.row = &file.rows[i % 4];
    run.stack = i % 4 == 0 ? "vllm" : "sglang";
    run.left_out = i % 4 == 0 ? -0.4 : 0.0;  // the first measures exp(0.4) of what is predicted without it
    run.fitted = 0.0;
    fit.runs.push_back(run);
  }
  const ServingErrors e = confidence_of_serving_fit(fit).of("vllm", ServingQuantity::tpot, false, "", "");
  // The four publications have a mean of 0.1, which counts as three: (1 x 0.4 + 3 x 0.1) / 4.
  CHECK(0.5 * std::log(e.low * e.high) == near(0.175, 0.01));
}

TEST_CASE("coverage: rows of a publication count inside when the widths of the others hold their left-out errors") {
  ServingFit fit;
  const auto& before = serving_confidence(test::model_data()).classes();
  fit.classes.assign(before.begin(), before.end());
  const RunFile file = parsed(row_of("A") + row_of("B"));
  for (int i = 0; i < 200; ++i) {
    FittedServingRun run;
    run.row = &file.rows[static_cast<std::size_t>(i % 2)];
    run.stack = "vllm";
    run.fitted = run.left_out = 0.001 * (i - 100) + (i % 2 == 0 && i < 20 ? 3.0 : 0.0);
    fit.runs.push_back(run);
  }
  const std::vector<LeftOutCoverage> all = left_out_coverage(fit);
  REQUIRE(all.size() == 1);
  CHECK(all[0].quantity == ServingQuantity::tpot);
  CHECK(all[0].rows == 200);
  CHECK(all[0].sources == 2);
  CHECK(all[0].inside > 0.7);
  CHECK(all[0].inside < 0.95);
}

TEST_CASE(
    "promised widths hold 80 % of the rows whose publication was left out, of each quantity with three publications") {
  ServingFit fit;
  const auto& before = serving_confidence(test::model_data()).classes();
  fit.classes.assign(before.begin(), before.end());
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += row_of("publication " + std::to_string(i));
  }
  const RunFile file = parsed(text);
  for (int i = 0; i < 400; ++i) {
    FittedServingRun run;
    run.row = &file.rows[static_cast<std::size_t>(i % 4)];
    run.stack = "vllm";
    run.fitted = run.left_out = 0.002 * (i - 200) + 0.1 * (i % 4);  // publications that lie apart
    fit.runs.push_back(run);
  }
  const ServingConfidence plain = confidence_of_serving_fit(fit);
  const ServingConfidence promised = promised_confidence(fit);
  const auto of = [](const ServingConfidence& c) { return c.of("vllm", ServingQuantity::tpot, false, "", ""); };
  const double factor = std::log(of(promised).high) / std::log(of(plain).high);
  CHECK(std::log(of(promised).low) / std::log(of(plain).low) == near(factor, 1e-6));
  CHECK(factor != near(1.0, 0.01));
  CHECK(factor >= 0.4);
  CHECK(factor <= 2.0);
  // A publication is covered by widths and factor of the others, which promise 80 % of it.
  const std::vector<LeftOutCoverage> covered = left_out_coverage(fit);
  REQUIRE(covered.size() == 1);
  CHECK(covered[0].sources == 4);
  CHECK(covered[0].inside > 0.7);
  CHECK(covered[0].inside < 0.9);
}
