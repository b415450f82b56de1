// SPDX-License-Identifier: Apache-2.0
// Post-training: what is read and refused, which way is taken, what its neighbours lose, launches, and measured rows.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/post_training/post_train_export.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <ctime>
#include <sstream>
#include <string>
#include <string_view>

using namespace headroom;
using headroom::test::sources;

namespace {

std::string asked(const std::string& step, const std::string& pools = "", std::string_view gpus = "16") {
  return "schema = 1\nkind = \"post_train\"\nmodel = \"llama3.1-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = " +
         std::string{gpus} + "\n[post_train]\nsoftware = \"nemo-rl\"\nprompts = 64\nsamples = 32\n" + step +
         "\n[pools]\n" + pools + "\n";
}

PostTrainQuestion read(const std::string& text) {
  return read_post_training(parse_toml(text, "step.toml"), "step.toml", sources());
}

PostTrainPlan planned(const std::string& text) {
  return make_post_train_plan(read(text));
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

const PostTrainWay* way_of(const PostTrainPlan& plan, PostTrainPlacement placement, PostTrainOrder order) {
  const auto found = std::find_if(plan.ways.begin(), plan.ways.end(), [&](const PostTrainWay& way) {
    return way.flow.placement == placement && way.flow.order == order;
  });
  return found == plan.ways.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("post-training: what cannot be is refused with its remedy") {
  CHECK(says(refused(asked("", "placement = \"colocated\"\nstaleness = 2")), "staleness without asynchrony"));
  CHECK(says(refused(asked("", "order = \"synchronous\"\npartial = true")), "partial rollouts without asynchrony"));
  CHECK(says(refused(asked("mini_batch = 16")), "a group of 32 answers is larger than a mini-batch of 16"));
  CHECK(says(refused(asked("mini_batch = 4096")), "4096 sequences of an optimizer step are more than the 2048"));
  CHECK(says(refused(asked("answer_most = 200000")), "longer than the context of 131"));
  CHECK(says(refused(asked("answer_tokens = 900\nanswer_most = 500")), "lies above answer_most"));
  CHECK(says(refused(asked("", "rollout_gpus = 16")), "none is left to train"));
  CHECK(says(refused(asked("", "rollout_gpu = \"l40s\"")), "go together"));
  CHECK(says(refused(asked("backend = \"jax\"")), "has no trainer"));
  // Every problem at once.
  const std::string both = refused(asked("mini_batch = 16", "placement = \"colocated\"\nstaleness = 2"));
  CHECK(says(both, "mini-batch of 16"));
  CHECK(says(both, "staleness without asynchrony"));
}

TEST_CASE("post-training: pools that cannot hold their model say what is short") {
  const PostTrainPlan plan = planned(
      "schema = 1\nkind = \"post_train\"\nmodel = \"llama3.1-70b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 2\n"
      "[post_train]\nsoftware = \"verl\"\nprompts = 8\nsamples = 8\n");
  CHECK(!plan.feasible());
  REQUIRE(!plan.ways.empty());
  CHECK(!plan.ways.front().why_not.empty());
}

TEST_CASE("post-training: the fastest way is taken, and each other says why it loses") {
  const PostTrainPlan plan = planned(asked("answer_tokens = 1100\nanswer_most = 4096\nmini_batch = 512\nsteps = 100"));
  REQUIRE(plan.taken);
  const PostTrainWay& best = plan.ways[*plan.taken];
  for (const PostTrainWay& way : plan.ways) {
    CHECK((!way.possible || way.step.step >= best.step.step));
    CHECK((&way == &best || !way.why_not.empty()));
  }
  const PostTrainWay* together = way_of(plan, PostTrainPlacement::colocated, PostTrainOrder::synchronous);
  REQUIRE(together != nullptr);
  CHECK(together->step.step.raw() == doctest::Approx(together->phases.total().raw()));
  CHECK(plan.run->raw() == doctest::Approx(100.0 * best.step.step.raw()));
  CHECK(plan.samples_per_s == doctest::Approx(2048.0 / best.step.step.raw()));
  // Older samples never lengthen a step.
  for (std::size_t i = 1; i < plan.staleness.size(); ++i) {
    CHECK(plan.staleness[i].step <= plan.staleness[i - 1].step);
  }
}

TEST_CASE("post-training: a 32B on 64 GPUs is searched within five seconds") {
  // Processor time, of all threads together: what else the machine does is no part of it.
  const std::clock_t begin = std::clock();
  const PostTrainPlan plan = planned(
      "schema = 1\nkind = \"post_train\"\nmodel = \"qwen3-32b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 64\n"
      "[post_train]\nsoftware = \"nemo-rl\"\nprompts = 64\nsamples = 32\n[pools]\nstaleness = 1\n");
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  CHECK(took < 5.0);
  CHECK(plan.feasible());
  CHECK(plan.priced > 100);
}

TEST_CASE("post-training: algorithms ask for their passes") {
  const auto phases = [](const std::string& step) {
    const PostTrainPlan plan = planned(asked("answer_tokens = 500\nanswer_most = 1024\n" + step));
    REQUIRE(plan.taken);
    return plan.ways[*plan.taken].phases;
  };
  const PhaseTimes grpo = phases("algorithm = \"grpo\""), ppo = phases("algorithm = \"ppo\"");
  CHECK(grpo[Phase::critic].raw() == 0.0);
  CHECK(ppo[Phase::critic].raw() > 0.0);
  CHECK(grpo[Phase::reference].raw() > 0.0);
  CHECK(phases("algorithm = \"dapo\"")[Phase::reference].raw() == 0.0);
  const PhaseTimes sft = phases("algorithm = \"sft\"");
  CHECK(sft[Phase::rollout].raw() == 0.0);
  CHECK(sft[Phase::sync].raw() == 0.0);
  CHECK(sft[Phase::other].raw() == 0.0);  // a supervised step is the trainer's own
  CHECK(grpo[Phase::other].raw() > 0.0);
  // A preference trains two sequences.
  CHECK(phases("algorithm = \"dpo\"")[Phase::train].raw() > 1.5 * sft[Phase::train].raw());
}

TEST_CASE("post-training: a 32B on 64 GPUs has the best of split, colocated and asynchronous, and their neighbours") {
  const PostTrainPlan plan = planned(
      "schema = 1\nkind = \"post_train\"\nmodel = \"qwen3-32b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 64\n"
      "[post_train]\nsoftware = \"nemo-rl\"\nprompts = 64\nsamples = 32\nanswer_tokens = 3200\nanswer_most = 4096\n"
      "mini_batch = 512\n[pools]\nstaleness = 1\n");
  REQUIRE(plan.taken);
  CHECK(way_of(plan, PostTrainPlacement::colocated, PostTrainOrder::synchronous) != nullptr);
  CHECK(way_of(plan, PostTrainPlacement::split, PostTrainOrder::synchronous) != nullptr);
  CHECK(way_of(plan, PostTrainPlacement::split, PostTrainOrder::one_step_off) != nullptr);
  CHECK(way_of(plan, PostTrainPlacement::split, PostTrainOrder::asynchronous) != nullptr);
  CHECK(!plan.neighbours.empty());
  const Seconds best = plan.ways[*plan.taken].step.step;
  for (const PostTrainNeighbour& each : plan.neighbours) {
    CHECK(!each.why_not.empty());
    CHECK((!each.possible || each.step >= best));
  }
  REQUIRE(!plan.staleness.empty());
  for (std::size_t i = 1; i < plan.staleness.size(); ++i) {
    CHECK(plan.staleness[i].step <= plan.staleness[i - 1].step);
  }
}

TEST_CASE("post-training: engines and trainers on the same GPUs are not resident at once") {
  const std::string step = "answer_tokens = 1100\nanswer_most = 4096\nmini_batch = 512";
  const PostTrainPlan plan = planned(asked(step, "placement = \"colocated\""));
  REQUIRE(plan.taken);
  const PostTrainWay& way = plan.ways[*plan.taken];
  std::size_t rollouts = 0, trainings = 0;
  for (const PhaseMemory& each : phase_memory(plan.question, way)) {
    if (each.phase == Phase::rollout) {
      ++rollouts;
      CHECK(each.samples);
      CHECK(each.engine == way.engine_memory.total());
      CHECK(each.policy == Bytes{});
    } else if (each.phase == Phase::train) {
      ++trainings;
      CHECK(each.engine == Bytes{});
      CHECK(each.policy == way.trainer.memory.total());
    } else if (each.phase == Phase::sync) {  // where new weights pass from one to the other
      CHECK(each.engine == way.engine_memory[MemoryTerm::weights]);
      CHECK(each.policy > Bytes{});
    }
    CHECK(each.total() <= plan.question.device.capacity().value);
  }
  CHECK(rollouts == 1);
  CHECK(trainings == 1);
  // On pools of their own both stay, each on its own.
  const PostTrainPlan split = planned(asked(step, "placement = \"split\""));
  REQUIRE(split.taken);
  for (const PhaseMemory& each : phase_memory(split.question, split.ways[*split.taken])) {
    CHECK((each.engine == Bytes{} || each.policy == Bytes{}));
    CHECK(each.samples == (each.engine > Bytes{}));
  }
}

TEST_CASE("post-training: GPUs that sample and then train are priced with all of them training") {
  const std::string step = "answer_tokens = 1100\nanswer_most = 4096\nmini_batch = 512";
  const PostTrainPlan hybrid = planned(asked(step, "placement = \"hybrid\"\nrollout_gpus = 8"));
  const PostTrainPlan together = planned(asked(step, "placement = \"colocated\""));
  REQUIRE(hybrid.taken);
  REQUIRE(together.taken);
  const PostTrainWay &one = hybrid.ways[*hybrid.taken], &other = together.ways[*together.taken];
  CHECK(one.train_gpus == 16);
  CHECK(one.rollout_gpus == 8);
  CHECK(one.phases[Phase::train] == other.phases[Phase::train]);
  CHECK(one.phases[Phase::swap] > Seconds{});
  CHECK(one.phases[Phase::rollout] >= other.phases[Phase::rollout]);  // on half of the GPUs
  CHECK(one.step.step.raw() == doctest::Approx(one.phases.total().raw()));
  CHECK(says(refused(asked("", "placement = \"hybrid\"\norder = \"asynchronous\"")), "take turns"));
}

TEST_CASE("post-training: engines without graphs sample no faster") {
  // SkyRL's recipes launch decodes one by one; NeMo RL's replay graphs.
  const auto raw = [](std::string_view software) {
    std::string text = asked("answer_tokens = 1100\nanswer_most = 4096", "placement = \"colocated\"\nrollout_tp = 1");
    text.replace(text.find("nemo-rl"), 7, software);
    const PostTrainPlan plan = planned(text);
    REQUIRE(plan.taken);
    return plan.ways[*plan.taken].rollout.times.whole.raw();
  };
  CHECK(raw("skyrl") > 1.2 * raw("nemo-rl"));
}

TEST_CASE("post-training: a trace holds each pool as a process, and phases that follow each other") {
  const PostTrainPlan plan = planned(asked("answer_tokens = 1100\nanswer_most = 4096", "placement = \"split\""));
  REQUIRE(plan.taken);
  const std::string trace = phase_trace(plan);
  CHECK(says(trace, "GPUs that sample"));
  CHECK(says(trace, "GPUs that train"));
  CHECK(says(trace, "\"traceEvents\""));
  const std::vector<PhaseEvent> events = phase_events(plan.ways[*plan.taken], 3);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].to > events[i].from);
    for (std::size_t j = i + 1; j < events.size(); ++j) {
      const bool apart = events[i].samples != events[j].samples || events[j].from >= events[i].to - Seconds{1e-6} ||
                         events[i].from >= events[j].to - Seconds{1e-6};
      CHECK(apart);  // one pool does one thing at a time
    }
  }
}

TEST_CASE("post-training: launches hold the way that is taken") {
  const PostTrainPlan plan =
      planned(asked("answer_tokens = 1100\nanswer_most = 4096\nmini_batch = 512", "placement = \"colocated\""));
  const std::string verl = verl_launch(plan), nemo = nemo_rl_recipe(plan);
  CHECK(says(verl, "data.train_batch_size=64"));
  CHECK(says(verl, "actor_rollout_ref.rollout.n=32"));
  CHECK(says(verl, "actor_rollout_ref.actor.ppo_mini_batch_size=16"));
  CHECK(says(verl, "verl.trainer.main_ppo"));
  CHECK(says(nemo, "num_generations_per_prompt: 32"));
  CHECK(says(nemo, "train_global_batch_size: 512"));
  CHECK(says(nemo, "    colocated:\n      enabled: true"));
  CHECK_THROWS_AS(static_cast<void>(verl_launch(planned(asked("algorithm = \"sft\"")))), ConfigError);
}

TEST_CASE("post-training: one process that hands out padded batches holds passes and a trainer that fetches") {
  const auto priced = [](const std::string& pools, Seconds controller) {
    PostTrainQuestion q = read(asked("answer_tokens = 1000\nanswer_most = 8192\nprompt_tokens = 128", pools));
    q.software.controller = controller;
    PoolPrices prices{q};
    PostTrainFlow flow;
    flow.placement = *q.placement;
    flow.order = q.order.value_or(PostTrainOrder::synchronous);
    flow.staleness = q.staleness;
    return price_way(q, prices, flow, 8).phases;
  };
  // 64 x 32 sequences of 128 + 8192 tokens at 152 ns each.
  const double handed = 2048.0 * 8320.0 * 152e-9;
  const std::string together = "placement = \"colocated\"",
                    apart = "placement = \"split\"\norder = \"asynchronous\"\nstaleness = 1";
  for (const std::string& pools : {together, apart}) {
    const PhaseTimes without = priced(pools, Seconds{}), with = priced(pools, Seconds{152e-9});
    CHECK((with[Phase::logprob] - without[Phase::logprob]).raw() == doctest::Approx(handed));
    CHECK((with[Phase::reference] - without[Phase::reference]).raw() == doctest::Approx(handed));
    CHECK(with[Phase::train] == without[Phase::train]);
    CHECK((with[Phase::other] - without[Phase::other]).raw() == doctest::Approx(pools == apart ? handed : 0.0));
  }
}

TEST_CASE("post-training: what a trainer adds passes through memory, and weighs less where products are slow") {
  // Of answers that are alike: (train at stretch 3 - train at 1) / 2 over what is not attention.
  const auto added = [](const std::string& gpu) {
    PostTrainQuestion q =
        read("schema = 1\nkind = \"post_train\"\nmodel = \"llama3.1-8b\"\n[hardware]\ngpu = \"" + gpu +
             "\"\ngpus = 16\n[post_train]\nsoftware = \"nemo-rl\"\nprompts = 64\nsamples = 32\nanswer_tokens = 1000\n"
             "answer_spread = 0\n[pools]\nplacement = \"colocated\"\n");
    PoolPrices prices{q};
    PostTrainWay way = price_way(q, prices, {}, 16);
    PostTrainNumbers plain = q.software.numbers, long_ones = plain;
    plain.train = 1.0;
    long_ones.train = 3.0;
    set_phases(q, plain, q.software.paths, way);
    const Seconds least = way.phases[Phase::train];
    set_phases(q, long_ones, q.software.paths, way);
    return 0.5 * ((way.phases[Phase::train] - least) / (way.trainer.train - way.trainer.attention));
  };
  CHECK(added("h100-sxm-80gb") == doctest::Approx(1.0).epsilon(0.01));
  // 148 TFLOP/s at 4.0 TB/s against 989.4 at 3.35: 37 FLOP a byte of 295.
  CHECK(added("h20-sxm-96gb") == doctest::Approx(37.0 / 295.3).epsilon(0.02));
}

TEST_CASE("post-training: each pool of two SKUs costs what its own does") {
  const std::string pools = "rollout_gpu = \"h200-sxm-141gb\"\nrollout_gpu_count = 8\n[money]\n";
  const PostTrainPlan listed = planned(asked("", pools + "prices = \"verda-2026-08\""));
  REQUIRE(listed.price);
  // 16 x 2.29 + 8 x 3.39 $/h of the list.
  CHECK(listed.price->raw() * 3600.0 == doctest::Approx(63.76));
  // A price of one of the two is none of both.
  const PostTrainPlan stated = planned(asked("", pools + "price = \"2.99 $/h\"\ndate = \"2026-08\""));
  CHECK(!stated.price);
  CHECK(std::any_of(stated.notes.begin(), stated.notes.end(),
                    [](const std::string& note) { return says(note, "is of h100-sxm-80gb alone"); }));
}

TEST_CASE("post-training: rows of steps and phases are predicted, and blank ones say what is missing") {
  const std::string header =
      "id,source,model,params_b,algorithm,software,software_version,gpu,gpus,colocated,async_staleness,prompts_per_"
      "step,"
      "samples_per_prompt,prompt_tokens_mean,response_tokens_mean,response_tokens_max,train_tp,train_pp,train_cp,train_"
      "ep,"
      "train_precision,rollout_engine,rollout_tp,rollout_ep,rollout_gpus,train_gpus,options,metric,value,unit,notes\n";
  const auto row = [](const std::string& id, const std::string& prompts, const std::string& metric) {
    return id + ",own,Llama-3.1-8B-Instruct,8.03,GRPO,NeMo RL,0.5,H100-SXM5-80GB,16,1,0," + prompts +
           ",32,,1000,4096,1,2,1,1,bf16,vLLM,1,1,16,16,train_gbs=512," + metric + ",50,s,\n";
  };
  std::istringstream text{header + row("a", "64", "step_time_s") + row("b", "64", "rollout_time_s") +
                          row("c", "64", "train_time_s") + row("d", "64", "reward_time_s")};
  Diagnostics diagnostics;
  const RunFile file = read_runs(text, "own.csv", diagnostics);
  diagnostics.throw_if_any();
  CHECK(file.form == RowForm::post_training);
  const Validation scored = validate(std::vector<RunFile>{file}, {}, sources());
  REQUIRE(scored.rows.size() == 4);
  CHECK(scored.rows[0].prediction.status == RowStatus::ok);
  CHECK(scored.rows[0].prediction.predicted >
        scored.rows[1].prediction.predicted + scored.rows[2].prediction.predicted);
  CHECK(scored.rows[3].prediction.status == RowStatus::unsupported);
  CHECK(says(scored.rows[3].prediction.why, "reward_time_s"));
}
