// SPDX-License-Identifier: Apache-2.0
// The fit of power while serving: numbers come back from powers that they made, and go where they live.
#include <headroom/calibrate/stacks/fit_power.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/measured/serving_watts.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

RunRow run_of(const char* model, const char* gpu, const char* weights, std::int64_t ranks, double batch) {
  RunRow row;
  row.source = "a test";
  row.metric = "power_w_per_gpu";
  ServingConfiguration& c = row.serving;
  c.model = model;
  c.gpu = gpu;
  c.weight_dtype = c.act_dtype = weights;
  c.engine = "vLLM";
  c.engine_version = "0.11.1";
  c.gpus = c.tp = ranks;
  c.isl = c.osl = 500;
  c.concurrency = batch;
  c.options["scenario"] = "sustained";
  return row;
}

/// Runs of two SKUs and three networks, each as the form with these numbers says.
RunFile powers_of(const PowerForm& form) {
  RunFile file;
  file.form = RowForm::serving;
  ServingTimeModel times{sources()};
  for (const double batch : {1.0, 8.0, 64.0, 256.0}) {
    for (const char* gpu : {"H200-SXM-141GB", "B200-SXM"}) {
      file.rows.push_back(run_of("Llama-3.1-8B", gpu, "bf16", 1, batch));
      file.rows.push_back(run_of("llama3-70b", gpu, "bf16", 4, batch));
      file.rows.push_back(run_of("DeepSeek-R1", gpu, "fp8", 8, batch));
    }
  }
  for (RunRow& row : file.rows) {
    RowPrediction refusal;
    const std::optional<ServingWatts> found = serving_watts(row.serving, times, sources().catalog, refusal);
    REQUIRE_MESSAGE(found, refusal.why);
    row.measured = serving_power(found->power, found->use, form).raw();
  }
  return file;
}

}  // namespace

TEST_CASE("power: numbers come back from the powers that they made") {
  PowerForm form = power_form(sources().data);
  form.serving_active.value = 0.3;
  form.serving_reading.value = 80.0;
  form.serving_arithmetic.value = 0.6;
  form.serving_experts.value = 0.2;
  const RunFile file = powers_of(form);
  const ServingPowerFit fit = fit_serving_power({&file, 1}, sources(), true);
  CHECK(fit.numbers[0].fitted == near(0.3, 0.01));
  CHECK(fit.numbers[1].fitted == near(80.0, 0.01));
  CHECK(fit.numbers[2].fitted == near(0.6, 0.02));
  CHECK(fit.numbers[3].fitted == near(0.2, 0.05));
  CHECK(fit.before.mean > 0.02);
  CHECK(fit.fitted.mean < 1e-3);
  CHECK(fit.fitted.rows == file.rows.size());
  CHECK(fit.skus.size() == 2);
  CHECK(fit.networks.size() == 3);
  CHECK(fit.left_out.rows == file.rows.size());
  // Experts with block scales are DeepSeek-R1's alone: without it their number is the file's, which made no row here.
  CHECK(fit.left_out.mean > 10.0 * fit.fitted.mean);
  CHECK(fit.width > fit.fitted.mean);
  for (const PowerNumber& number : fit.numbers) {
    CHECK(number.low <= number.fitted);
    CHECK(number.fitted <= number.high);
  }
}

TEST_CASE("power: the numbers go into their lines, whose sources and neighbours stay") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "headroom-fit-power-test";
  fs::create_directories(folder / "stacks/step");
  const fs::path path = folder / "stacks/step/power.toml";
  fs::copy_file(fs::path{HEADROOM_SOURCE_DIR} / "model/stacks/step/power.toml", path,
                fs::copy_options::overwrite_existing);
  const auto text = [&] {
    std::ifstream in{path};
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
  };
  const std::string before = text();
  ServingPowerFit fit;
  fit.numbers = {{{"active", 0.38, 0.25, 0.2, 0.3},
                  {"reading", 61.0, 70.0, 60.0, 80.0},
                  {"arithmetic", 0.87, 0.9, 0.8, 1.0},
                  {"scaled_experts", 0.38, 0.1, 0.05, 0.2}}};
  CHECK(write_power_file(fit, folder.string()) == std::vector<std::string>{path.string()});
  const std::string after = text();
  CHECK(after.find("active = { value = 0.250, low = 0.200, high = 0.300, source = \"") != std::string::npos);
  CHECK(after.find("reading = { value = 70.0, low = 60.0, high = 80.0, source = \"") != std::string::npos);
  CHECK(after.substr(0, after.find("[serving]")) == before.substr(0, before.find("[serving]")));
  CHECK(after.substr(after.find("width", after.find("[serving]"))) ==
        before.substr(before.find("width", before.find("[serving]"))));  // no network was left out
  fs::remove_all(folder);
  CHECK_THROWS_AS(static_cast<void>(write_power_file(fit, folder.string())), ConfigError);
}

TEST_CASE("power: files without a measured power say so") {
  RunFile file;
  file.form = RowForm::serving;
  CHECK_THROWS_AS(static_cast<void>(fit_serving_power({&file, 1}, sources(), false)), ConfigError);
}
