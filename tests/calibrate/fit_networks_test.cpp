// SPDX-License-Identifier: Apache-2.0
// The fit of networks' calls: finds the numbers that made the rows, leaves networks and sources out, writes numbers
// alone.
#include <headroom/calibrate/networks/fit_networks.hpp>
#include <headroom/calibrate/networks/network_files.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;
namespace fs = std::filesystem;

namespace {

constexpr const char* header =
    "id,source,source_ref,model,gpu,gpus,weight_dtype,act_dtype,kv_dtype,isl,osl,concurrency,engine,engine_version,"
    "options,metric,value,unit,notes\n";

RunFile parsed(const std::string& text) {
  std::istringstream stream{header + text};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "n.csv", diagnostics);
  diagnostics.throw_if_any();
  return file;
}

std::string row_text(
    const std::string& source, const std::string& network, const std::string& gpu, int batch, double value) {
  std::ostringstream row;
  row.precision(12);
  row << "r," << source << ",table of " << network << "," << network << "," << gpu << ",1,fp16,fp16,,,," << batch
      << ",PyTorch,,,images_per_s," << value << ",images/s,\n";
  return row.str();
}

/// Rows as a machine with other numbers would print them, `odd` times as fast under one source.
std::vector<RunFile> planted(const std::map<std::string, double>& factors, const std::string& odd_source, double odd) {
  NetworkNumbers numbers = network_numbers(sources().data);
  for (const NetworkKnob& knob : network_knobs(sources().data)) {
    if (const auto found = factors.find(knob.name()); found != factors.end()) {
      set_network_number(numbers, knob, found->second * knob.value);
    }
  }
  NetworkRowModel model{sources()};
  std::string text;
  const std::vector<std::string> networks{"resnet-50", "bert-base-squad", "vit-base-patch16-224", "resnext101-32x4d"};
  for (std::size_t n = 0; n < networks.size(); ++n) {
    for (const std::string gpu : {"V100-SXM2-16GB", "A100-SXM4-80GB"}) {
      for (const int batch : {1, 2, 8, 32, 128}) {
        const std::string source = "source " + std::to_string(n);
        const RunFile one = parsed(row_text(source, networks[n], gpu, batch, 1.0));
        RowPrediction refusal;
        std::string assumed;
        const std::vector<NetworkRowCall> calls = model.calls(one.rows.front(), refusal, assumed);
        INFO(refusal.why);
        REQUIRE(calls.size() == 1);
        NetworkRowCall call = calls.front();
        const CallHost* host = numbers.rates.host_of(call.host_cpu);
        call.setting.host = host != nullptr ? host->launch : 1.0;
        const NetworkPace pace = network_pace(call, numbers.rates, numbers.engines.at(call.engine->id));
        const double value = *network_value(call, pace, "images_per_s") * (source == odd_source ? odd : 1.0);
        text += row_text(source, networks[n], gpu, batch, value);
      }
    }
  }
  return {parsed(text)};
}

double fitted(const NetworkFit& fit, const std::string& name) {
  const auto found =
      std::find_if(fit.knobs.begin(), fit.knobs.end(), [&](const NetworkKnob& knob) { return knob.name() == name; });
  REQUIRE(found != fit.knobs.end());
  return fit.values[static_cast<std::size_t>(found - fit.knobs.begin())] / found->value;
}

double worst(const NetworkFit& fit, double FittedNetworkRun::*error) {
  double most = 0.0;
  for (const FittedNetworkRun& run : fit.runs) {
    most = std::max(most, std::abs(run.*error));
  }
  return most;
}

}  // namespace

TEST_CASE("A fit of networks finds the numbers that made the rows") {
  NetworkFitOptions how;
  how.leave_out.clear();
  how.noise = 0.003;  // exact rows: priors weigh little
  const std::vector<RunFile> files = planted({{"pytorch.launch", 1.4}, {"Volta.product.16-bit", 0.8}}, "", 1.0);
  const NetworkFit fit = fit_networks(files, sources(), how);
  CHECK(fit.runs.size() == 40);
  CHECK(worst(fit, &FittedNetworkRun::before) > 0.15);
  CHECK(worst(fit, &FittedNetworkRun::fitted) < 0.03);
  // Rows at 16 bit tell launches and their casts together; products trade with the constants of shapes.
  CHECK(fitted(fit, "pytorch.launch") * fitted(fit, "pytorch.autocast") == near(1.4, 0.08));
  CHECK(fitted(fit, "Volta.product.16-bit") < 0.92);
  CHECK(fitted(fit, "Volta.product.16-bit") > 0.7);
  CHECK(fitted(fit, "Turing.product.16-bit") == 1.0);  // no row tells it
}

TEST_CASE("A network whose source is odd is missed once it is left out") {
  NetworkFitOptions how;
  how.leave_out = {NetworkLeaving::source, NetworkLeaving::network};
  const std::vector<RunFile> files = planted({}, "source 0", 1.5);
  const NetworkFit fit = fit_networks(files, sources(), how);
  double inside = 0.0;
  double outside = 0.0;
  double runs = 0.0;
  for (const FittedNetworkRun& run : fit.runs) {
    if (run.row->source == "source 0") {
      inside += std::abs(run.fitted);
      outside += std::abs(run.left_out[static_cast<std::size_t>(NetworkLeaving::source)]);
      CHECK(std::isfinite(run.left_out[static_cast<std::size_t>(NetworkLeaving::network)]));
      runs += 1.0;
    }
    CHECK_FALSE(std::isfinite(run.left_out[static_cast<std::size_t>(NetworkLeaving::sku)]));
  }
  CHECK(outside / runs > 1.15 * (inside / runs));
  CHECK(outside / runs > 0.3);
}

TEST_CASE("Widths hold four of five left-out runs") {
  NetworkFit fit;
  for (int i = 1; i <= 20; ++i) {
    FittedNetworkRun run;
    run.call.network = i % 2 == 0 ? "even" : "odd";
    run.left_out.fill(std::numeric_limits<double>::quiet_NaN());
    run.left_out[static_cast<std::size_t>(NetworkLeaving::network)] = (i % 3 == 0 ? -0.01 : 0.01) * i;
    fit.runs.push_back(run);
  }
  const auto any = [](const FittedNetworkRun&) { return true; };
  const double width = left_out_width(fit, any);
  const auto inside = std::count_if(fit.runs.begin(), fit.runs.end(), [&](const FittedNetworkRun& run) {
    return std::abs(run.left_out[0]) <= std::log1p(width);
  });
  CHECK(inside == 16);
  // Both ways to be unseen count.
  fit.runs.front().left_out[static_cast<std::size_t>(NetworkLeaving::sku)] = 1.0;
  CHECK(left_out_width(fit, any) > width);
  CHECK(left_out_width(fit, [](const FittedNetworkRun& run) { return run.call.network == "even"; }) == 0.0);
}

TEST_CASE("Fitted numbers of networks replace those of their files and nothing else") {
  const fs::path folder = fs::temp_directory_path() / "headroom-fit-networks";
  fs::remove_all(folder);
  fs::create_directories(folder / "stacks");
  for (const char* part : {"infer", "step"}) {
    fs::copy(fs::path{HEADROOM_SOURCE_DIR} / "model/stacks" / part, folder / "stacks" / part);
  }
  NetworkFitOptions how;
  how.leave_out = {NetworkLeaving::network};
  const std::vector<RunFile> files = planted({{"pytorch.launch", 1.4}}, "", 1.0);
  const NetworkFit fit = fit_networks(files, sources(), how);
  const std::vector<std::string> written = write_network_files(fit, folder.string());
  CHECK(written.size() > 2);
  const ModelData own{UserFolders{{folder.string()}}};
  const std::vector<NetworkKnob> knobs = network_knobs(own);
  REQUIRE(knobs.size() == fit.knobs.size());
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    CAPTURE(knobs[i].name());
    CHECK(knobs[i].value == near(fit.values[i], 0.006));
  }
  CHECK(find_network_engine(own, "pytorch").width.has_value());
  CHECK(call_rates(own).physics.norm == call_rates(sources().data).physics.norm);
  fs::remove_all(folder);
}

TEST_CASE("Steps of training move numbers of training alone") {
  NetworkNumbers numbers = network_numbers(sources().data);
  for (const NetworkKnob& knob : network_knobs(sources().data)) {
    if (knob.name() == "Ampere with HBM.product_training.tf32") {
      set_network_number(numbers, knob, 0.75 * knob.value);
    }
  }
  const auto text_of = [](const std::string& network, int gpus, double value) {
    std::ostringstream row;
    row.precision(12);
    row << "r,s,t," << network << ",A100-SXM4-80GB," << gpus << "," << gpus << ",,,,,tf32,PyTorch,samples_per_s,"
        << value << ",samples/s,\n";
    return row.str();
  };
  const auto file_of = [](const std::string& rows) {
    std::istringstream stream{
        "id,source,source_ref,model,gpu,gpus,gpus_per_node,intra_link,seq_len,micro_batch,"
        "global_batch,precision,framework,metric,value,unit,notes\n" +
        rows};
    Diagnostics diagnostics;
    RunFile file = read_runs(stream, "t.csv", diagnostics);
    diagnostics.throw_if_any();
    return file;
  };
  NetworkRowModel model{sources()};
  std::string rows;
  for (const std::string network : {"PyTorch/resnet50v1.5", "PyTorch/resnext101-32x4d", "PyTorch/TFT:Electricity"}) {
    for (const int gpus : {1, 2, 4, 8}) {
      const RunFile one = file_of(text_of(network, gpus, 1.0));
      RowPrediction refusal;
      std::string assumed;
      const std::vector<NetworkRowCall> calls = model.calls(one.rows.front(), refusal, assumed);
      if (calls.empty()) {
        continue;  // the table of the third states batches
      }
      const NetworkPace pace = network_pace(calls.front(), numbers.rates, numbers.engines.at(calls.front().engine->id));
      rows += text_of(network, gpus, *network_value(calls.front(), pace, "samples_per_s"));
    }
  }
  NetworkFitOptions how;
  how.leave_out.clear();
  how.noise = 0.003;
  const std::vector<RunFile> files{file_of(rows)};
  const NetworkFit fit = fit_networks(files, sources(), how);
  CHECK(fit.runs.size() == 8);
  CHECK(worst(fit, &FittedNetworkRun::fitted) < 0.02);
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (!fit.knobs[i].of_training()) {
      INFO(fit.knobs[i].name());
      CHECK(fit.values[i] == near(fit.knobs[i].value, 1e-9));
    }
  }
  CHECK(fitted(fit, "Ampere with HBM.product_training.tf32") < 0.95);
}

TEST_CASE("A fit tells the slices of its rows after its model is gone") {
  std::string text;
  for (const char* rate : {"400", "410", "420"}) {
    text += std::string{"m,s,t"} + rate + ",bert,MIG:A100-SXM-80GB (1x1g.10gb MIG),1,int8,int8,,,,," +
            "TensorRT (MLPerf harness),,scenario=offline,requests_per_s," + rate + ",samples/s,\n";
  }
  const std::vector<RunFile> files{parsed(text)};
  NetworkFitOptions how;
  how.leave_out.clear();
  const NetworkFit fit = fit_networks(files, sources(), how);
  REQUIRE(fit.runs.size() == 3);
  CHECK(fit.runs.front().left(NetworkLeaving::sku) == "a100-sxm-80gb/1g.10gb");
}
