// SPDX-License-Identifier: Apache-2.0
// What measured rows say of layers of experts: launches, dispatchers, capacities, prediction modules and their stages.
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/training_cells.hpp>
#include <headroom/scenarios/measured/training_row.hpp>

#include <doctest/doctest.h>

#include "run_rows.hpp"

using namespace headroom;

namespace {

/// DeepSeek-V3 on two racks of GB200, as Megatron-Bridge publishes it.
RunConfiguration deepseek() {
  RunConfiguration run;
  run.model = "DeepSeekV3";
  run.arch = "moe";
  run.gpu = "GB200-NVL72";
  run.precision = "mxfp8";
  run.recompute = "selective";
  run.framework = "Megatron-Bridge / NeMo";
  run.layers = 61;
  run.hidden = 7168;
  run.heads = run.kv_heads = 128;
  run.head_dim = 192;
  run.ffn_hidden = 18432;
  run.gated_mlp = run.flash_attn = run.zero = 1;
  run.vocab = 129280;
  run.seq_len = 4096;
  run.experts = 256;
  run.top_k = 8;
  run.moe_ffn = 2048;
  run.shared_experts = 1;
  run.dense_layers = 3;
  run.gpus = 256;
  run.gpus_per_node = 4;
  run.dp = 64;
  run.tp = run.cp = run.micro_batch = 1;
  run.pp = run.vpp = 4;
  run.ep = 64;
  run.global_batch = 4096;
  return run;
}

ExpertTraffic said(std::map<std::string, std::string, std::less<>> options, const std::string& model = "m") {
  RunConfiguration run;
  run.model = model;
  for (const auto& [key, value] : options) {
    run.options[key] = value;
  }
  return expert_traffic_of(run);
}

double step_of(const RunConfiguration& run) {
  static TrainingRowModel model{test::run_sources()};
  const RowPrediction answer = model.predict(run, "step_time_s", "s");
  REQUIRE(answer.status == RowStatus::ok);
  return answer.predicted;
}

}  // namespace

TEST_CASE("a row's graphs hold whole layers of experts where its shapes are fixed, and are the recipe's matter else") {
  CHECK_FALSE(said({}).launch);
  CHECK_FALSE(said({{"cuda_graphs", "1"}}).launch);
  CHECK(said({{"cuda_graphs", "0"}}).launch == ExpertLaunch::eager);
  CHECK(said({{"moe_capacity_factor", "1.25"}}).launch == ExpertLaunch::static_shapes);
  CHECK(said({{"cuda_graphs", "1"}, {"moe_capacity_factor", "1.25"}}).launch == ExpertLaunch::full_graphs);
  CHECK(said({{"cuda_graphs", "1"}, {"moe_rank_capacity", "4"}}).launch == ExpertLaunch::full_graphs);
  CHECK(said({{"cuda_graphs", "1"}, {"optimizer_in_graph", "1"}}).launch == ExpertLaunch::full_graphs);
}

TEST_CASE("a row's dispatcher, capacities, stash and put-off weight gradients") {
  const ExpertTraffic all = said({{"moe_dispatcher", "hybridep"},
                                  {"moe_capacity_factor", "1.25"},
                                  {"moe_rank_capacity", "1.5"},
                                  {"paged_stash", "1"},
                                  {"moe_ep_overlap", "1"}});
  CHECK(all.dispatcher == ExpertDispatcher::hybridep);
  CHECK(all.capacity == 1.25);
  CHECK(all.rank_capacity == 1.5);
  CHECK(all.paged);
  CHECK(all.delays_weight_gradients == false);
  CHECK(said({{"moe_ep_overlap", "1"}, {"delay_wgrad", "1"}}).delays_weight_gradients == true);
  CHECK_FALSE(said({}).delays_weight_gradients);
  CHECK_FALSE(said({{"moe_dispatcher", "pigeons"}}).dispatcher);
  CHECK(said({}, "Qwen3_30B_a3B (tokendrop)").capacity == 1.0);
  CHECK_FALSE(said({}, "Qwen3_30B_a3B (tokendrop)").launch);
  CHECK(said({{"moe_capacity_factor", "x"}}).capacity == 0.0);
}

TEST_CASE("prediction modules: as a row says, as its name says, else as the recipe that its preset has") {
  RunConfiguration run;
  run.model = "DeepSeekV3";
  ExpertHabits recipe;
  Architecture preset;
  preset.mtp_layers = 1;
  CHECK(prediction_modules(run, recipe, &preset) == 0);
  recipe.predicts = true;
  CHECK(prediction_modules(run, recipe, &preset) == 1);
  CHECK(prediction_modules(run, recipe, nullptr) == 0);
  run.model = "DeepSeekV3 (w/o MTP)";
  CHECK(prediction_modules(run, recipe, &preset) == 0);
  run.model = "DeepSeekV3 (w/ MTP)";
  recipe.predicts = false;
  CHECK(prediction_modules(run, recipe, &preset) == 1);
  run.options["mtp"] = "0";
  CHECK(prediction_modules(run, recipe, &preset) == 0);
  run.options["mtp_layers"] = "2";
  CHECK(prediction_modules(run, recipe, &preset) == 2);
  CHECK(without_remark("DeepSeekV3 (w/ MTP)") == "DeepSeekV3");
  CHECK(without_remark("Qwen3_30B_a3B") == "Qwen3_30B_a3B");
}

TEST_CASE("61 layers and a module in chunks of four: the last chunk has one layer beside module and loss") {
  Architecture arch;
  arch.layers = 61;
  arch.mtp_layers = 1;
  const auto last = [&](int pp, int vpp) {
    Strategy s;
    s.pp = static_cast<std::uint16_t>(pp);
    s.vpp = static_cast<std::uint16_t>(vpp);
    return int{layers_beside_modules(arch, s)};
  };
  CHECK(last(2, 8) == 29);  // 7 x 4 + 1
  CHECK(last(4, 4) == 13);  // 3 x 4 + 1
  CHECK(last(16, 1) == 1);
  CHECK(last(32, 2) == 0);  // of two more layers than there are none is left
}

TEST_CASE("a module takes time, a remark behind the name does not change the network, release 26.06 runs one graph") {
  RunConfiguration run = deepseek();
  run.options["release"] = "mb26.04";
  const double before = step_of(run);
  run.options["mtp"] = "0";
  CHECK(step_of(run) < 0.99 * before);
  run.options.erase("mtp");
  run.model = "DeepSeekV3 (w/ MTP)";
  CHECK(step_of(run) == before);
  run.model = "DeepSeekV3";
  run.options["release"] = "mb26.06";
  CHECK(step_of(run) < 0.95 * before);
}

TEST_CASE("a row that leaves its sizes to a preset trains prediction modules where its software's recipe does") {
  RunConfiguration run;
  run.model = "Nemotron V3 Super 120B (26.02)";
  run.arch = "moe";
  run.gpu = "H100-SXM5-80GB";
  run.precision = "bf16";
  run.framework = "NeMo AutoModel (PyTorch FSDP2)";
  run.options["release"] = "automodel26.08";
  run.seq_len = 4096;
  run.gpus = run.dp = run.ep = 64;
  run.gpus_per_node = 8;
  run.tp = run.pp = run.cp = run.vpp = 1;
  run.zero = 3;
  run.micro_batch = 2;
  run.global_batch = 512;
  run.recompute = "full";
  run.flash_attn = 1;
  // AutoModel's recipe of Super has none (74.3 GFLOP a token in its table), Ultra's states two.
  const double without = step_of(run);
  run.options["mtp_layers"] = "0";
  CHECK(step_of(run) == without);
  run.options["mtp_layers"] = "2";
  CHECK(step_of(run) > 1.05 * without);
  const auto recipe = [](const std::string& model) {
    return expert_habits(memory_stacks(test::run_sources().data).find("nemo-automodel").experts,
                         {"automodel26.08", "h100-sxm-80gb", model, Precision::bf16});
  };
  CHECK_FALSE(recipe("Nemotron V3 Super 120B").predicts);
  CHECK(recipe("Nemotron V3 Ultra 550B").predicts);
}

TEST_CASE("a row whose states alone do not fit its GPUs is no layout that ran") {
  RunConfiguration run = deepseek();
  run.pp = run.vpp = 1;
  run.dp = 256;
  run.ep = 1;
  TrainingRowModel model{test::run_sources()};
  const RowPrediction answer = model.predict(run, "step_time_s", "s");
  CHECK(answer.status == RowStatus::unsupported);
  CHECK(answer.why.find("the layout cannot be what ran") != std::string::npos);
}

TEST_CASE("experts of software that nobody knows run as most published runs, a blank axis that a recipe closes") {
  TrainingRowModel model{test::run_sources()};
  const auto open = [&](const RunConfiguration& run) {
    return model.closed_axes(run)[static_cast<std::size_t>(BlankAxis::experts)];
  };
  RunConfiguration run = deepseek();
  CHECK_FALSE(open(run));
  run.framework = "a software of 2027";
  CHECK(open(run));
  RunConfiguration told = run;
  told.options["moe_dispatcher"] = "hybridep";
  told.options["cuda_graphs"] = "0";
  CHECK_FALSE(open(told));
  run.gpu = "A100-SXM4-80GB";  // which no kernel of DeepEP runs on
  CHECK_FALSE(open(run));
  run.gpu = "GB200-NVL72";
  run.experts.reset();
  CHECK_FALSE(open(run));
}

TEST_CASE("a row priced as if nobody knew its recipe takes that of most published runs, and its software's numbers") {
  RunConfiguration run = deepseek();
  run.framework = "Megatron-Bridge / NeMo mb26.08";  // full graphs, fused products and overlap
  const std::optional<RunConfiguration> blank = without_axis(run, BlankAxis::experts);
  REQUIRE(blank);
  CHECK(step_of(*blank) > 1.05 * step_of(run));
  CHECK_FALSE(without_axis(*blank, BlankAxis::experts));
  run.experts.reset();
  CHECK_FALSE(without_axis(run, BlankAxis::experts));
  run.pp = 1;
  CHECK_FALSE(without_axis(run, BlankAxis::vpp));
  CHECK_FALSE(without_axis(run, BlankAxis::micro_batch).value_or(run).micro_batch);
}
