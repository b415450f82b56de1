// SPDX-License-Identifier: Apache-2.0
// What planners ask of training steps, with hand arithmetic, and published plans.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>
#include <headroom/model/train/step/step_trace.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"

using namespace headroom;
using headroom::test::near;

namespace {

constexpr double gigabyte = 1e9;

struct Job {
  std::string model = "gpt3-6.7b";
  std::string gpu = "a100-sxm-80gb";
  std::string node = "dgx-a100";
  std::string software = "megatron-lm";
  std::int64_t gpus = 8;
  std::int64_t seq_len = 2048;
  std::int64_t batch = 8;
  Precision precision = Precision::fp16;
  bool flash = true;
  std::vector<std::string> without{};
};

CompiledTraining compiled(const Job& job) {
  static const Catalog catalog = Catalog::standard();
  static const ModelLibrary models = ModelLibrary::standard();
  static const MemoryStacks stacks = memory_stacks(test::model_data());
  const Device& device = catalog.device(job.gpu);
  TrainingWorkload work;
  work.shape = {job.gpus, job.seq_len, job.batch};
  work.precision = job.precision;
  work.states = adam_states(job.precision);
  work.options.flash_attention = job.flash;
  return compile(models.find(job.model), device,
                 std::make_shared<const JobGroups>(test::model_data(), device,
                                                   JobHosts{catalog.node(job.node), 0, {}, {}}, job.gpus),
                 stacks.find(job.software), work, step_parameters(test::model_data()), parse_terms(job.without));
}

Strategy layout(int tp, int pp, int vpp, std::int64_t gpus) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.pp = static_cast<std::uint16_t>(pp);
  s.vpp = static_cast<std::uint16_t>(vpp);
  s.dp = static_cast<std::uint32_t>(gpus / (std::int64_t{tp} * pp));
  return s;
}

Estimate price(const CompiledTraining& c, const Strategy& s) {
  return evaluate(c, tabulate(c, key_of(s)), s);
}

}  // namespace

TEST_CASE("FSDP of a 7B over 64 GPUs sends 41.3 GB a rank and step against 27.6 of DDP, and keeps 1.75 GB") {
  const StateBytes states = adam_states(Precision::bf16);
  CHECK(data_parallel_bytes(7e9, states, 3, 64, 1).raw() == near(41.34 * gigabyte, 0.001));
  CHECK(data_parallel_bytes(7e9, states, 0, 64, 1).raw() == near(27.56 * gigabyte, 0.001));
  CHECK(state_memory(7e9, states, 3, 64).total().raw() == near(1.75 * gigabyte));
}

TEST_CASE("a step sends what its ZeRO stage says, and no more where time is priced without it") {
  Job job;
  job.gpus = 64;
  job.batch = 128;
  const CompiledTraining c = compiled(job);
  const auto sent = [](const CompiledTraining& question, int zero, double micro_batches = 2.0) {
    Strategy s = layout(1, 1, 1, 64);
    s.zero = static_cast<std::uint8_t>(zero);
    return question.step->data_parallel_bytes(question.step->tabulate(key_of(s)), s, micro_batches).raw();
  };
  const double width = c.step->pricer().recipe().stack.gradient_bytes;
  const double share = 63.0 / 64.0 * c.parameters;
  CHECK(sent(c, 0) == near(2.0 * width * share, 1e-4));
  CHECK(sent(c, 1) == near((width + 2.0) * share, 1e-4));
  // Gradients of layers are scattered, and with ZeRO 3 their weights gathered twice, in each of two micro-batches; what
  // is no layer once.
  const StepTable table = c.step->tabulate(key_of(layout(1, 1, 1, 64)));
  const double ends = 63.0 / 64.0 * (table.embedding + table.head_parameters);
  const double layers = share - ends;
  CHECK(sent(c, 2) == near((2.0 * width + 2.0) * layers + (width + 2.0) * ends, 1e-4));
  CHECK(sent(c, 3) == near(2.0 * (width + 4.0) * layers + (width + 2.0) * ends, 1e-4));
  job.without = {"dp_comm"};
  CHECK(sent(compiled(job), 3) == 0.0);
}

TEST_CASE("tensor parallelism over 8 ranks sends 470 MB a layer at b1 s4096 h8192, 37.6 GB of 80 layers") {
  Job job;
  job.model = "llama3-70b";
  job.software = "megatron-core-te";
  job.seq_len = 4096;
  job.precision = Precision::bf16;
  const CompiledTraining c = compiled(job);
  LayerKey key = key_of(layout(8, 1, 1, 8));
  const auto sent = [&](std::int64_t stages, double micro_batches) {
    return c.step->tensor_parallel_bytes(key, stages, micro_batches).raw();
  };
  CHECK(sent(80, 1.0) / 1e6 == doctest::Approx(470.0).epsilon(0.001));
  CHECK(sent(1, 1.0) / 1e9 == doctest::Approx(37.6).epsilon(0.001));
  CHECK(sent(4, 16.0) == near(4.0 * sent(1, 1.0)));
  // The step's own term is the time of so many bytes: within NVLink's 300 GB/s, and not far below.
  const StepTable table = c.step->tabulate(key);
  const double rate = sent(80, 1.0) / (table.layer.forward.tp + table.layer.backward.tp).raw();
  CHECK(rate < 300e9);
  CHECK(rate > 50e9);
  const double once = sent(1, 1.0);
  key.recompute = Recompute::full;
  CHECK(sent(1, 1.0) == near(1.5 * once));
  key.tp = 1;
  CHECK(sent(1, 1.0) == 0.0);
}

TEST_CASE("four equal stages idle 27.3 % of a step of 8 micro-batches, 8.6 % of 32, 4.5 % of 32 interleaved by 2") {
  Job job;
  job.without = {"head", "optimizer", "straggler", "dp_comm", "pp_comm"};
  job.gpus = 4;
  const auto idle = [&](std::int64_t micro_batches, int vpp) {
    job.batch = micro_batches;
    return price(compiled(job), layout(1, 4, vpp, 4)).bubble_fraction;
  };
  CHECK(idle(8, 1) == near(3.0 / 11.0));
  CHECK(idle(32, 1) == near(3.0 / 35.0));
  CHECK(idle(32, 2) == near(3.0 / 67.0));
}

TEST_CASE("zero-bubble schedules idle less than 1F1B, ZB-V least, Qi et al. 2023") {
  Job job;
  job.without = {"head", "optimizer", "straggler", "dp_comm", "pp_comm"};
  job.gpus = 4;
  job.batch = 16;
  const CompiledTraining c = compiled(job);
  const auto idle = [&](Schedule schedule) {
    Strategy s = layout(1, 4, 1, 4);
    s.schedule = schedule;
    return price(c, s).time[Term::bubble];
  };
  CHECK(idle(Schedule::gpipe) == idle(Schedule::one_f_one_b));
  CHECK(idle(Schedule::zb_h1) < 0.75 * idle(Schedule::one_f_one_b));
  CHECK(idle(Schedule::zb_h2) < idle(Schedule::zb_h1));
  CHECK(idle(Schedule::zb_v) < idle(Schedule::zb_h1));
}

TEST_CASE("the simulated pipeline of a step takes what the step's terms add up to, head and sends included") {
  Job job;
  job.gpus = 32;
  job.batch = 32;
  job.without = {"optimizer", "straggler", "dp_comm"};
  const CompiledTraining c = compiled(job);
  for (const auto& [pp, vpp] : {std::pair{4, 1}, {4, 2}, {8, 1}, {8, 4}, {1, 1}}) {
    CAPTURE(pp);
    CAPTURE(vpp);
    const Strategy s = layout(4, pp, vpp, 32);
    const StepTable table = c.step->tabulate(key_of(s));
    const std::vector<StageCosts> costs = stage_costs(*c.step, table, s, 32.0);
    Seconds all{};
    for (const StageCosts& stage : costs) {
      all += stage.compute();
    }
    const StepTime t = c.step->time(table, s, 32.0);
    CHECK(all.raw() == near(t.stages.raw()));
    const SimulatedStep step = simulate_schedule(pipeline_shape(s, 32.0), costs);
    // The step exposes a fitted share of its sends; the simulation what no pass hides.
    CHECK(step.total.raw() == near(t.time.total().raw(), 0.05));
  }
}

TEST_CASE("a pipeline that flushes takes as long as its local batches one after another") {
  Job job;
  job.gpus = 32;
  job.batch = 96;
  job.without = {"optimizer", "straggler", "dp_comm"};
  const CompiledTraining c = compiled(job);
  for (const auto& [schedule, vpp] : {std::pair{Schedule::one_f_one_b, 1},
                                      {Schedule::one_f_one_b, 2},
                                      {Schedule::zb_v, 1},
                                      {Schedule::gpipe, 1},
                                      {Schedule::dualpipe, 1}}) {
    CAPTURE(name_of(schedule));
    Strategy s = layout(4, 4, vpp, 32);
    s.schedule = schedule;
    const StepTable table = c.step->tabulate(key_of(s));
    const double local = 8.0 * s.dp;  // of all replicas
    const StepTime whole = c.step->time(table, s, 6.0 * local);
    StepTime once = c.step->time(table, s, local);
    s.local_batch = 8;
    const StepTime flushed = c.step->time(table, s, 6.0 * local);
    CHECK(flushed.time[Term::bubble].raw() == near(6.0 * once.time[Term::bubble].raw()));
    CHECK(flushed.time[Term::pp_comm].raw() == near(6.0 * once.time[Term::pp_comm].raw()));
    CHECK(flushed.time[Term::gemm] == whole.time[Term::gemm]);
    CHECK(flushed.time[Term::bubble].raw() > 4.0 * whole.time[Term::bubble].raw());
    const std::string drawn = step_trace(*c.step, table, s, 2.0 * local);
    CHECK(drawn.find("\"micro_batch\": 15") != std::string::npos);
    CHECK(drawn.find("\"micro_batch\": 16") == std::string::npos);
    s.local_batch = 48;  // all of a replica's sequences
    CHECK(c.step->time(table, s, 6.0 * local).time.total() == whole.time.total());
  }
  Strategy alone = layout(4, 1, 1, 32);
  const StepTable table = c.step->tabulate(key_of(alone));
  const Seconds step = c.step->time(table, alone, 96.0).time.total();
  alone.local_batch = 2;
  CHECK(c.step->time(table, alone, 96.0).time.total() == step);
}

TEST_CASE("a local batch holds whole micro-batches, divides a replica's sequences, and is what a stage keeps at most") {
  Job job;
  job.gpus = 8;
  job.batch = 64;
  const CompiledTraining c = compiled(job);
  Strategy s = layout(1, 8, 1, 8);
  s.micro_batch = 2;
  const auto rule = [&](int local, int vpp = 1) {
    s.local_batch = static_cast<std::uint16_t>(local);
    s.vpp = static_cast<std::uint16_t>(vpp);
    const Legality broken = check(c.architecture, c.work.shape, s);
    return std::tuple{broken.verdict, broken.broke, broken.limit};
  };
  CHECK(rule(16) == std::tuple{Verdict::feasible, 0.0, 0.0});
  CHECK(rule(24) == std::tuple{Verdict::local_batch_misfit, 64.0, 24.0});
  CHECK(rule(1) == std::tuple{Verdict::local_batch_of_parts, 1.0, 2.0});
  CHECK(rule(16, 2) == std::tuple{Verdict::feasible, 0.0, 0.0});
  CHECK(rule(8, 2) == std::tuple{Verdict::micro_batches_too_few, 4.0, 8.0});
  const MemoryTable memory = tabulate_memory(c.memory, key_of(s));
  rule(4);
  CHECK(stage_memory(c.memory, memory, s, 32.0, 0).in_flight == 2.0);
  rule(0);
  CHECK(stage_memory(c.memory, memory, s, 32.0, 0).in_flight == 8.0);
}

TEST_CASE("a schedule that cannot run its micro-batches is named instead of drawn") {
  Job job;
  job.gpus = 8;
  job.batch = 8;
  const CompiledTraining c = compiled(job);
  Strategy s = layout(1, 8, 1, 8);
  s.schedule = Schedule::dualpipe;
  CHECK_THROWS_WITH_AS(static_cast<void>(step_trace(*c.step, c.step->tabulate(key_of(s)), s, 8.0)),
                       doctest::Contains("at least 16 micro-batches for 8 stages; it has 8"), ConfigError);
}

TEST_CASE("131,072 tokens over CP 8 are 16,384 a GPU with an eighth of the activations, keys and values travel") {
  Job job;
  job.model = "llama3-8b";
  job.gpu = "h100-sxm-80gb";
  job.node = "dgx-h100";
  job.software = "megatron-bridge";
  job.precision = Precision::bf16;
  job.seq_len = 131072;
  const CompiledTraining c = compiled(job);
  Strategy whole = layout(1, 1, 1, 8);
  Strategy split = whole;
  split.cp = 8;
  split.dp = 1;
  const LayerTable one = tabulate(c, key_of(whole));
  const LayerTable eighth = tabulate(c, key_of(split));
  CHECK(eighth.memory.kinds[0].activations == near(one.memory.kinds[0].activations / 8.0));
  // 4 of 32 heads in 1,024 tiles each: on 132 SMs 32 waves of 249, an eighth but for the last one.
  CHECK(eighth.step.layer.forward.attention.raw() == near(32.0 / 249.0 * one.step.layer.forward.attention.raw()));
  // 2 (K and V) x 8 heads x 128 x 2 bytes of 131,072 tokens gathered, of which a share is hidden.
  const GroupCollectives* group = c.step->groups().find(8, 1);
  REQUIRE(group != nullptr);
  const Seconds gather = group->time(Collective::all_gather, Bytes{2.0 * 8 * 128 * 2.0 * 131072}).time;
  const StepRecipe& recipe = c.step->pricer().recipe();
  CHECK(eighth.step.layer.forward.cp.raw() ==
        near((1.0 - recipe.physics.cp_overlap) * gather.raw() / recipe.stack.link));
  CHECK(one.step.layer.forward.cp.raw() == 0.0);
}

TEST_CASE("of a 2B in 16 bit ZeRO 1 sends 8 GB a step and ZeRO 3 12, less a 64th, for 4.44 and 0.5 GB of states") {
  const StateBytes states = adam_states(Precision::bf16);
  const double ring = 63.0 / 64.0;
  CHECK(data_parallel_bytes(2e9, states, 1, 64, 1).raw() == near(8.0 * ring * gigabyte));
  CHECK(data_parallel_bytes(2e9, states, 2, 64, 1).raw() == near(8.0 * ring * gigabyte));
  CHECK(data_parallel_bytes(2e9, states, 3, 64, 1).raw() == near(12.0 * ring * gigabyte));
  CHECK(state_memory(2e9, states, 2, 64).total().raw() == near(4.4375 * gigabyte));
  CHECK(state_memory(2e9, states, 3, 64).total().raw() == near(0.5 * gigabyte));
}

TEST_CASE("GPT-3 on 1,024 A100 takes 34 days for 300 billion tokens, Narayanan et al. 2021 section 5.1: within 8 %") {
  Job job;
  job.model = "gpt3-175b";
  job.gpus = 1024;
  job.batch = 1536;
  job.flash = false;
  Strategy s = layout(8, 8, 1, 1024);
  s.recompute = Recompute::full;
  const Estimate e = price(compiled(job), s);
  const double steps = 300e9 / (1536.0 * 2048.0);
  CHECK(steps * (e.step / day) == near(34.0, 0.08));
}

TEST_CASE("Korthikanti et al. 2022, table 5: steps with full and with selective recompute, 22B to 530B within 8 %") {
  struct Row {
    std::int64_t layers, hidden, heads, gpus, batch;
    int pp, vpp;
    double full, selective;
  };
  for (const Row& row :
       {Row{48, 6144, 64, 8, 4, 1, 1, 1.42, 1.10}, Row{96, 12288, 96, 64, 64, 8, 3, 18.13, 13.75},
        Row{105, 20480, 128, 280, 280, 35, 3, 49.05, 37.83}, Row{128, 25600, 160, 512, 512, 64, 1, 94.42, 71.49}}) {
    CAPTURE(row.hidden);
    Job job;
    job.gpus = row.gpus;
    job.batch = row.batch;
    job.flash = false;
    CompiledTraining c = compiled(job);
    Architecture arch = c.architecture;
    arch.layers = row.layers;
    arch.hidden = row.hidden;
    arch.heads = arch.kv_heads = row.heads;
    arch.head_dim = row.hidden / row.heads;
    arch.ffn_hidden = 4 * row.hidden;
    arch.vocab = 51200;
    static const Catalog catalog = Catalog::standard();
    const Device& device = catalog.device(job.gpu);
    c = compile(arch, device,
                std::make_shared<const JobGroups>(test::model_data(), device,
                                                  JobHosts{catalog.node(job.node), 0, {}, {}}, job.gpus),
                c.memory.stack, c.work, step_parameters(test::model_data()));
    Strategy s = layout(8, row.pp, row.vpp, row.gpus);
    s.micro_batch = row.layers == 48 ? 4 : 1;
    s.recompute = Recompute::full;
    // 1T: 64 stages of two layers each, the last one with the head beside them; 10 and 11 % slow with the fitted
    // numbers.
    const double within = row.pp == 64 ? 0.12 : 0.08;
    CHECK(price(c, s).step.raw() == near(row.full, within));
    s.recompute = Recompute::selective;
    s.sequence_parallel = true;
    CHECK(price(c, s).step.raw() == near(row.selective, within));
  }
}
