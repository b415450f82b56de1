// SPDX-License-Identifier: Apache-2.0
// What rows leave to their software's recipes: layouts of adapters, checkpoints beside stages, scales of 8-bit casts.
#include <headroom/scenarios/facts/run_length.hpp>
#include <headroom/scenarios/measured/training_cells.hpp>
#include <headroom/scenarios/measured/training_row.hpp>

#include <doctest/doctest.h>

#include "run_rows.hpp"
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <string>

using namespace headroom;

namespace {

double step_of(const RunConfiguration& run) {
  static TrainingRowModel model{test::run_sources()};
  const RowPrediction answer = model.predict(run, "step_time_s", "s");
  REQUIRE_MESSAGE(answer.status == RowStatus::ok, answer.why);
  return answer.predicted;
}

/// Llama 3 8B on 8 H100 of one host under FSDP2, compiled, 8,192 tokens a GPU.
RunConfiguration eight_billion() {
  RunConfiguration run;
  run.model = "llama3-8b";
  run.sizes_of_preset = true;
  run.arch = "dense";
  run.gpu = "H100-SXM5-80GB";
  run.gpus = run.gpus_per_node = run.dp = run.global_batch = 8;
  run.tp = run.pp = run.cp = run.micro_batch = 1;
  run.seq_len = 8192;
  run.zero = 3;
  run.precision = "fp8";
  run.recompute = "selective";
  run.framework = "torchtitan";
  run.options["compile"] = "1";
  return run;
}

/// Llama 2 70B LoRA as NeMo's recipes of MLPerf run it, its layout not said.
RunConfiguration adapters(std::int64_t gpus, std::int64_t batch) {
  RunConfiguration run;
  run.model = "llama2-70b";
  run.sizes_of_preset = true;
  run.arch = "dense";
  run.gpu = "H100-SXM5-80GB";
  run.gpus = gpus;
  run.gpus_per_node = 8;
  run.global_batch = batch;
  run.seq_len = 8192;
  run.micro_batch = 1;
  run.precision = "fp8";
  run.framework = "NeMo/Megatron";
  run.options["method"] = "lora";
  return run;
}

}  // namespace

TEST_CASE("a scale a row costs casts along both dimensions, products and gathers that one a tensor does not") {
  RunConfiguration run = eight_billion();
  run.options["float8"] = "tensorwise";
  const double tensor = step_of(run);
  run.options["float8"] = "rowwise";
  const double row = step_of(run);
  run.precision = "bf16";
  run.options.erase("float8");
  const double wide = step_of(run);
  // Between the two, as published of this job: 5,760 tokens/s in bf16, 6,424 with a scale a row, 7,186 with one a
  // tensor (pytorch/torchtitan @ 7a04053); a third of the loss is left to what the boards and clocks differ by.
  CHECK(tensor < row);
  CHECK(row < wide);
  const double published = 7186.0 / 6424.0;
  CHECK(row / tensor > 1.0 + 0.67 * (published - 1.0));
  CHECK(row / tensor < 1.0 + 1.33 * (published - 1.0));
}

TEST_CASE("a layout that recipes of adapters do not say has no stages, and cuts sequences further") {
  const std::vector<RunConfiguration> whole = possible_layouts(adapters(64, 8), false);
  CHECK(std::all_of(whole.begin(), whole.end(), [](const RunConfiguration& r) { return r.pp == 1; }));
  CHECK(std::any_of(whole.begin(), whole.end(), [](const RunConfiguration& r) { return r.cp == 8; }));
  const std::vector<RunConfiguration> staged = possible_layouts(adapters(64, 8), true);
  CHECK(std::any_of(staged.begin(), staged.end(), [](const RunConfiguration& r) { return r.pp == 4; }));
  CHECK(std::none_of(staged.begin(), staged.end(), [](const RunConfiguration& r) { return r.cp == 8; }));
  // Four tensor ranks on 80 GB, as the configurations that say theirs (config_DGXH100_1x8x4xtp4pp1cp1.sh).
  RunConfiguration said = adapters(8, 8);
  said.tp = 4;
  said.dp = 2;
  said.pp = said.cp = 1;
  // The fastest that fits is no further off than its interval is wider for it.
  CHECK(std::abs(std::log(step_of(adapters(8, 8)) / step_of(said))) < 0.125);
}

TEST_CASE("stages of AutoModel run whole blocks again where a row does not say") {
  RunConfiguration run = adapters(8, 32);
  run.precision = "bf16";
  run.framework = "NeMo AutoModel (PyTorch FSDP2)";
  run.options["release"] = "automodel26.03";
  run.seq_len = 4096;
  run.tp = 2;
  run.pp = 4;
  run.dp = run.cp = 1;
  run.vpp = 10;
  RunConfiguration full = run;
  full.recompute = "full";
  RunConfiguration none = run;
  none.recompute = "none";
  CHECK(step_of(run) == step_of(full));
  CHECK(step_of(none) < step_of(full));
}

TEST_CASE("user buffers cut the tensor-parallel collectives of dense layers as asynchronous tensor parallelism does") {
  RunConfiguration run = adapters(32, 32);
  run.options.erase("method");
  run.framework = "Megatron-Bridge";
  run.tp = 8;
  run.pp = 4;
  run.vpp = 5;
  run.dp = run.cp = 1;
  run.recompute = "none";
  const double whole = step_of(run);
  RunConfiguration cut = run;
  cut.options["tp_comm_overlap"] = "1";
  RunConfiguration async = run;
  async.options["async_tp"] = "1";
  CHECK(step_of(cut) == step_of(async));
  CHECK(step_of(cut) < whole);
  RunConfiguration off = run;
  off.options["tp_comm_overlap"] = "0";
  CHECK(step_of(off) == whole);
  run.experts = 8;
  run.options["tp_comm_overlap"] = "1";
  CHECK_FALSE(options_of(run, {}).async_tp);
}

TEST_CASE("8-bit weights are gathered where they are trained") {
  RunConfiguration run = adapters(8, 8);
  run.options["fp8_param_gather"] = "1";
  CHECK_FALSE(options_of(run, {}).narrow_gather);
  run.options.erase("method");
  CHECK(options_of(run, {}).narrow_gather);
}

TEST_CASE("a row may say how many micro-batches a rank accumulates in the place of its global batch") {
  const auto batch_of = [](const std::string& cells) {
    std::istringstream stream{
        "id,model,gpu,gpus,dp,tp,pp,cp,micro_batch,global_batch,seq_len,precision,options,metric,value,unit\n" + cells};
    Diagnostics diagnostics;
    const RunFile file = read_runs(stream, "rows.csv", diagnostics);
    diagnostics.throw_if_any();
    return file.rows.at(0).run.global_batch;
  };
  const std::string job = "a,llama3-8b,h100-sxm-80gb,8,8,1,1,1,";
  CHECK(batch_of(job + "2,,8192,fp8,accumulation=8,step_time_s,1,s\n") == 128);
  CHECK(batch_of(job + "2,32,8192,fp8,accumulation=8,step_time_s,1,s\n") == 32);
  CHECK_FALSE(batch_of(job + "2,,8192,fp8,accumulation=few,step_time_s,1,s\n").has_value());
  CHECK_FALSE(batch_of(job + "2,,8192,fp8,accumulation=9000000000000,step_time_s,1,s\n").has_value());
  CHECK_FALSE(batch_of(job + ",,8192,fp8,accumulation=8,step_time_s,1,s\n").has_value());
}

TEST_CASE("a run to its target takes its steps and, of evaluations, forward passes of whole batches") {
  // 3,187 samples in steps of 8; round(3,187 / 384) = 8 evaluations less the first 3, each of 22 batches of 8.
  const std::map<std::string, std::string, std::less<>> options{{"samples_to_train", "8:3187 16:4051"},
                                                                {"evaluate_every", "384"},
                                                                {"evaluation_samples", "173"},
                                                                {"first_evaluations_skipped", "8:3 16:4"}};
  const std::optional<RunLength> length = run_length_of(options, 8.0);
  REQUIRE(length);
  CHECK(length->steps(8.0, 2.0) == doctest::Approx(3187.0 / 8.0 + 5.0 * 22.0 / 2.0));
  CHECK(at_batch(numbers_by_batch("8:100 32:400"), 16.0) == doctest::Approx(200.0));
  CHECK(at_batch(numbers_by_batch("8:100 32:400"), 4.0) == 100.0);
  CHECK(at_batch(numbers_by_batch("8:100 32:400"), 64.0) == 400.0);
  CHECK(numbers_by_batch("8:100 32").empty());
  CHECK(numbers_by_batch("8:-1").empty());
  CHECK_FALSE(run_length_of({{"evaluate_every", "384"}}, 8.0));
  CHECK(run_length_of({{"samples_to_train", "8:800"}}, 8.0)->steps(8.0, 3.0) == doctest::Approx(100.0));

  static TrainingRowModel model{test::run_sources()};
  RunConfiguration run = adapters(8, 8);
  run.tp = 4;
  run.dp = 2;
  run.pp = run.cp = 1;
  CHECK(model.predict(run, "time_to_train_s", "s").why.find("how many samples the run takes") != std::string::npos);
  run.options.insert(options.begin(), options.end());
  const RowPrediction whole = model.predict(run, "time_to_train_s", "s");
  REQUIRE_MESSAGE(whole.status == RowStatus::ok, whole.why);
  // Of frozen weights a forward pass is half of a step's passes.
  CHECK(whole.predicted == doctest::Approx((3187.0 / 8.0 + 55.0) * step_of(run)));
  CHECK(whole.high / whole.predicted > model.predict(run, "step_time_s", "s").high / step_of(run));
  CHECK(step_error("time_to_train_s", 2.0, 1.0) > 0.0);
}

TEST_CASE("a row of experts that states nothing of its layout takes the fastest, its experts dealt too") {
  RunConfiguration run = adapters(8, 16);
  run.options.erase("method");
  run.model = "gpt-oss-20b";
  run.arch = "moe";
  run.experts = 32;
  const std::vector<RunConfiguration> layouts = possible_layouts(run, false);
  CHECK(std::any_of(layouts.begin(), layouts.end(), [](const RunConfiguration& r) { return r.ep == 8; }));
  CHECK(std::any_of(layouts.begin(), layouts.end(), [](const RunConfiguration& r) { return r.ep == 1; }));
  CHECK(leaves_layout_open(run));
  const double open = step_of(run);
  run.tp = run.pp = run.cp = 1;
  run.dp = run.ep = 8;  // 20 billion parameters and their states on eight of 80 GB
  CHECK(open <= step_of(run) * (1.0 + 1e-12));
  RunConfiguration stated = adapters(8, 16);
  stated.experts = 32;
  stated.ep = 4;
  for (const RunConfiguration& layout : possible_layouts(stated, false)) {
    CHECK(layout.ep == 4);
  }
}

TEST_CASE("a row says its schedule in Primus's words too, and one that nobody knows here is not answered") {
  RunConfiguration run = adapters(8, 8);
  run.options = {{"schedule", "zbv-formatted"}};
  run.vpp = 2;
  CHECK(schedule_of(run) == Schedule::zb_v);
  CHECK(strategy_of(run, {}).vpp == 1);  // its two chunks are its own
  run.options["schedule"] = "1f1b-interleaved";
  CHECK(schedule_of(run) == Schedule::one_f_one_b);
  CHECK(strategy_of(run, {}).vpp == 2);
  run.options["schedule"] = "v-half";
  CHECK_FALSE(schedule_of(run));
  static TrainingRowModel model{test::run_sources()};
  run.dp = 1;
  run.tp = run.cp = 1;
  run.pp = 8;
  CHECK(model.predict(run, "step_time_s", "s").why == "schedule 'v-half' is none that is known here");
}

TEST_CASE("Transformer Engine's op fuser joins passes as a compiler does") {
  RunConfiguration run = adapters(8, 8);
  run.tp = 4;
  run.dp = 2;
  run.pp = run.cp = 1;
  const double apart = step_of(run);
  run.options["op_fuser"] = "0";
  CHECK(step_of(run) == apart);
  run.options["op_fuser"] = "1";
  const double joined = step_of(run);
  CHECK(joined < apart);
  run.options.erase("op_fuser");
  run.options["compile"] = "1";
  CHECK(step_of(run) == joined);
}
