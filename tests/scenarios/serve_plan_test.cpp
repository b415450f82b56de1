// SPDX-License-Identifier: Apache-2.0
// Serving questions: defaults of the engines, what is told, and the changes that make a plan fit.
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/plan/serve_plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

Scenario question(std::vector<std::string> more) {
  std::vector<std::string> all{"kind=serve",      "model=llama3-70b",     "hardware.gpu=h100-sxm-80gb",
                               "hardware.gpus=8", "serving.isl=2048",     "serving.osl=256",
                               "strategy.tp=8",   "serving.weights=bf16", "serving.concurrency=64"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

Plan memory_of(std::vector<std::string> more) {
  return make_plan(question(std::move(more)), false, PlanPart::memory);
}

const ServePlan& answer_of(const Plan& plan) {
  return std::get<ServePlan>(plan.answer);
}

bool told(const Plan& plan, std::string_view text) {
  return std::any_of(plan.notes.begin(), plan.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("without an engine a serving plan assumes vLLM and says so, with its defaults on this device") {
  const Plan plan = memory_of({});
  CHECK(told(plan, "serving.engine = vllm (not stated)"));
  CHECK(told(plan, "serving.memory_fraction = 0.900 (vLLM's default, of the device's total)"));
  CHECK(told(plan, "serving.max_num_seqs = 1024"));
  const Plan stated = memory_of({"serving.engine=vllm"});
  CHECK_FALSE(told(stated, "serving.engine"));
  CHECK(answer_of(stated).estimate.memory.pool.raw() == answer_of(plan).estimate.memory.pool.raw());
}

TEST_CASE("each engine takes its fraction of something else, and SGLang's default falls with tp") {
  const Plan sglang = memory_of({"serving.engine=sglang"});
  CHECK(told(sglang, "serving.memory_fraction = 0.830 (SGLang's default"));
  const ServeScenario one =
      std::get<ServeScenario>(question({"serving.engine=sglang", "strategy.tp=1", "serving.max_num_seqs=8"}).question);
  CHECK(one.work.memory_fraction == 0.88);
  CHECK(one.work.max_num_seqs == 8);
  const Plan tensorrt = memory_of({"serving.engine=tensorrt-llm", "serving.memory_fraction=0.5"});
  const ServingMemory& m = answer_of(tensorrt).estimate.memory;
  // half of what is free after loading: pool and rest are equal
  const double visible = 79.18 * 0x1p30;
  const double loaded = m.terms.total().raw() - m.pool.raw();
  CHECK(m.pool.raw() == doctest::Approx(0.5 * (visible - loaded)));
}

TEST_CASE("a blank cache format is fp8 for TensorRT-LLM with narrow weights, else bf16") {
  CHECK(default_kv_cache(find_serving_stack(test::model_data(), Engine::tensorrt_llm), Precision::fp8) ==
        Precision::fp8);
  CHECK(default_kv_cache(find_serving_stack(test::model_data(), Engine::tensorrt_llm), Precision::nvfp4) ==
        Precision::fp8);
  CHECK(default_kv_cache(find_serving_stack(test::model_data(), Engine::tensorrt_llm), Precision::bf16) ==
        Precision::bf16);
  CHECK(default_kv_cache(find_serving_stack(test::model_data(), Engine::vllm), Precision::fp8) == Precision::bf16);
}

TEST_CASE("max_seq_len sizes the sequences in place of isl + osl") {
  const auto capacity = [](std::vector<std::string> more) {
    return answer_of(memory_of(more)).estimate.memory.capacity;
  };
  CHECK(capacity({}) == capacity({"serving.max_seq_len=2304"}));
  CHECK(capacity({"serving.max_seq_len=4608"}) == capacity({}) / 2);
  CHECK(told(memory_of({"serving.max_seq_len=16384"}), "exceed the 8192 positions"));
}

TEST_CASE("a 70B in bf16 on two H100 is useless with 1024 sequences' sampler and fits with fewer") {
  // 0.9 x 79.18 = 71.26 GiB; weights 65.7, sampler 4.76, non-torch 0.55: 0.24 GiB for sequences of 0.35 GiB
  const Plan plan = memory_of({"hardware.gpus=2", "strategy.tp=2"});
  const ServePlan& answer = answer_of(plan);
  CHECK(answer.estimate.verdict == Verdict::kv_cache_too_small);
  CHECK_FALSE(plan.feasible());
  CHECK(answer.estimate.broke == 2304 * 320 * 1024 / 2.0);
  REQUIRE(answer.changes.size() == 1);
  CHECK(text_of(answer.changes[0]) == "serving.max_num_seqs = 64");
  CHECK(memory_of({"hardware.gpus=2", "strategy.tp=2", "serving.max_num_seqs=64"}).feasible());
}

TEST_CASE("a pool within its uncertainty of nothing does not fit, and says how many of the asked sequences run") {
  // 0.24 GiB of pool, 0.8 GiB of uncertainty, 0.195 GiB a sequence
  const Plan plan = memory_of({"hardware.gpus=2", "strategy.tp=2", "serving.isl=1024"});
  const ServePlan& answer = answer_of(plan);
  CHECK(answer.estimate.memory.capacity == 1);
  CHECK(answer.estimate.memory.capacity_low == 0);
  CHECK(answer.estimate.verdict == Verdict::kv_cache_uncertain);
  CHECK(answer.estimate.broke == 1280 * 320 * 1024 / 2.0);  // the sequence, without the pool's uncertainty
  CHECK_FALSE(plan.feasible());
  CHECK(answer.verdict.starts_with("may not fit: the KV pool is 250 MiB give or take 819 MiB"));
  CHECK(answer.verdict.find("1 (0 to 5) of the 64 asked sequences run at once") != std::string::npos);
  const ServePlan none = answer_of(memory_of({"hardware.gpus=2", "strategy.tp=2"}));
  CHECK(none.verdict.starts_with("the weights fit, but not one sequence"));
  CHECK(none.verdict.find("none of the 64 asked sequences runs") != std::string::npos);
}

TEST_CASE("a plan that fits says in its verdict how many of the asked sequences run at once") {
  const ServePlan all = answer_of(memory_of({}));
  CHECK(all.verdict.find("all 64 asked sequences run at once") != std::string::npos);
  CHECK(all.changes_for_all.empty());
  const ServePlan some = answer_of(memory_of({"serving.concurrency=5000"}));
  CHECK(some.verdict.find("but ") != std::string::npos);
  CHECK(some.verdict.find("of the 5000 asked sequences run at once") != std::string::npos);
  CHECK(some.running.mid == static_cast<double>(some.estimate.memory.max_sequences));
  CHECK(some.running.low < some.running.mid);
  CHECK_FALSE(some.changes_for_all.empty());
}

TEST_CASE("an engine whose memory nobody measured says so in the verdict") {
  CHECK(answer_of(memory_of({"serving.engine=sglang"})).verdict.find("untested") != std::string::npos);
  CHECK(answer_of(memory_of({"serving.engine=vllm"})).verdict.find("untested") == std::string::npos);
  CHECK(answer_of(memory_of({"serving.engine=tensorrt-llm"})).verdict.find("untested") == std::string::npos);
}

TEST_CASE("a blank max_seq_len is isl + osl and told, where the engine's own would be refused, so is its option") {
  CHECK(told(memory_of({}), "serving.max_seq_len = 2304 (isl + osl)"));
  CHECK_FALSE(told(memory_of({"serving.max_seq_len=4096"}), "(isl + osl)"));
  const std::vector<std::string> tight{"model=llama3.1-70b", "hardware.gpus=2", "strategy.tp=2",
                                       "serving.max_num_seqs=64"};
  CHECK(told(memory_of(tight), "launch with --max-model-len 2304"));
  CHECK_FALSE(told(memory_of({"model=llama3.1-70b"}), "launch with"));  // eight GPUs hold one of 131 072
  std::vector<std::string> stated = tight;
  stated.emplace_back("serving.max_seq_len=2304");
  CHECK_FALSE(told(memory_of(stated), "launch with"));
}

TEST_CASE("with a longer max_seq_len the plan says what sequences as asked would fill") {
  // 1 - 2304 / 9216 = 75 %
  const Plan plan = memory_of({"serving.max_seq_len=9216"});
  const auto held = static_cast<double>(answer_of(memory_of({})).estimate.memory.capacity);
  const auto reserved = static_cast<double>(answer_of(plan).estimate.memory.capacity);
  CHECK(held / reserved == doctest::Approx(4.0).epsilon(0.05));
  CHECK(told(plan, "of 2304 tokens, as asked, a replica holds " +
                       std::to_string(answer_of(memory_of({})).estimate.memory.capacity) + ", " +
                       format_number(held / reserved, 2) + " times as many"));
  CHECK(told(plan, "leaves 75 % of it empty"));
}

TEST_CASE("the weights alone: the least tp that holds them, and the GPUs they need") {
  CHECK(told(memory_of({}), "tp 2 (4 replicas) is enough to hold the weights"));
  CHECK_FALSE(told(memory_of({"strategy.tp=2", "serving.max_num_seqs=64"}), "is enough to hold the weights"));
  CHECK(answer_of(memory_of({"hardware.gpus=1", "strategy.tp=1"})).verdict.find("the weights alone need 2 GPUs") !=
        std::string::npos);
}

TEST_CASE("every change that a plan proposes reaches what it is proposed for") {
  const auto changed = [](std::vector<std::string> start, const std::vector<std::string>& changes) {
    for (std::string change : changes) {
      change.erase(std::remove(change.begin(), change.end(), ' '), change.end());
      start.push_back(change);
    }
    return memory_of(start);
  };
  for (const std::vector<std::string>& start :
       {std::vector<std::string>{"hardware.gpus=1", "strategy.tp=1"}, std::vector<std::string>{"strategy.tp=1"},
        std::vector<std::string>{"serving.memory_fraction=1.0"},
        std::vector<std::string>{"serving.memory_fraction=0.2"},
        std::vector<std::string>{"hardware.gpus=2", "strategy.tp=2", "model=llama3.1-70b", "serving.isl=100000"},
        std::vector<std::string>{"hardware.gpus=2", "strategy.tp=2", "serving.engine=sglang"},
        std::vector<std::string>{"hardware.gpus=4", "strategy.tp=2", "serving.engine=sglang",
                                 "serving.concurrency=900"},
        std::vector<std::string>{"serving.concurrency=5000"}, std::vector<std::string>{"serving.max_num_seqs=16"}}) {
    const Plan plan = memory_of(start);
    const ServePlan& answer = answer_of(plan);
    CAPTURE(answer.verdict);
    if (!plan.feasible()) {
      CHECK_FALSE(answer.changes.empty());
      CHECK(changed(start, texts_of(answer.changes)).feasible());
    }
    CHECK_FALSE(answer.changes_for_all.empty());
    const Plan all = changed(start, texts_of(answer.changes_for_all));
    CHECK(all.feasible());
    CHECK(answer_of(all).running.mid ==
          static_cast<double>(std::get<ServeScenario>(all.scenario.question).work.concurrency));
  }
}

TEST_CASE("remedies come in the order of harm: slots, the fraction up to the default, chunks, then the cache") {
  const auto first = [](std::vector<std::string> start) {
    return texts_of(answer_of(memory_of(std::move(start))).changes);
  };
  // 16.4 GiB of weights and 1.4 GiB of framework in 0.2 x 79.2 = 15.8 GiB: no setting but the fraction helps
  const std::vector<std::string> fraction = first({"serving.memory_fraction=0.2", "serving.max_num_seqs=64"});
  REQUIRE(fraction.size() == 1);
  CHECK(fraction[0].starts_with("serving.memory_fraction = 0.2"));
  // 67.7 GiB of weights, 2.85 of framework and 4.9 of activations leave 3.3 GiB; a sequence of 25 088 takes 3.8
  const std::vector<std::string> chunks =
      first({"model=llama3.1-70b", "hardware.gpus=1", "strategy.tp=1", "serving.engine=tensorrt-llm",
             "serving.weights=fp8", "serving.isl=24832"});
  CHECK(chunks == std::vector<std::string>{"serving.max_num_tokens = 4096"});
  const Changes raised = answer_of(memory_of({"serving.max_num_seqs=16"})).changes_for_all;
  CHECK(raised == Changes{{Knob::max_num_seqs, 64}});
  const std::vector<std::string> above = first({"serving.memory_fraction=0.95", "hardware.gpus=1", "strategy.tp=1"});
  CHECK(std::none_of(above.begin(), above.end(),
                     [](const std::string& change) { return change.find("memory_fraction") != std::string::npos; }));
}

TEST_CASE("beside the smallest change stand narrower weights on the same GPUs, as the SKU multiplies them") {
  const std::vector<std::string> one{"hardware.gpus=1", "strategy.tp=1", "serving.concurrency=8"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), one.begin(), one.end());
    return answer_of(memory_of(std::move(more)));
  };
  const ServePlan hopper = with({});
  CHECK(hopper.changes.front() == Change{Knob::gpus, 2});
  REQUIRE_FALSE(hopper.changes_of_weights.empty());
  CHECK(hopper.changes_of_weights.front() == Change{Knob::weights, Precision::fp8});
  std::vector<std::string> changed = one;
  for (const Change& change : hopper.changes_of_weights) {
    changed.push_back(text_of(change));
  }
  CHECK(memory_of(changed).feasible());
  // no fp8 products on Ampere: integers, which are unpacked
  CHECK(with({"hardware.gpu=a100-sxm-80gb"}).changes_of_weights.front() == Change{Knob::weights, Precision::int4});
  CHECK(memory_of({}).feasible());
  CHECK(answer_of(memory_of({})).changes_of_weights.empty());
}

TEST_CASE("weights that nobody states are the checkpoint's own, and the plan says so") {
  const auto asked = [](std::vector<std::string> more) {
    std::vector<std::string> all{"kind=serve",      "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8", "serving.isl=1024",
                                 "serving.osl=256", "serving.concurrency=8",      "strategy.tp=8"};
    all.insert(all.end(), more.begin(), more.end());
    return scenario_from_overrides(all, sources());
  };
  const auto weights = [&](std::vector<std::string> more) {
    return std::get<ServeScenario>(asked(std::move(more)).question).work.weights;
  };
  CHECK(weights({"model=gpt-oss-120b"}) == Precision::mxfp4);
  CHECK(weights({"model=deepseek-v3"}) == Precision::fp8);
  CHECK(weights({"model=llama3-70b"}) == Precision::bf16);
  CHECK(weights({"model=gpt-oss-120b", "serving.weights=bf16"}) == Precision::bf16);
  CHECK(weights({"model=llama3-70b", "serving.weights=awq"}) == Precision::int4);
  CHECK(weights({"model=llama3-70b", "serving.weights=gptq"}) == Precision::int4);
  const Plan own = make_plan(asked({"model=gpt-oss-120b"}), false, PlanPart::memory);
  CHECK(told(own, "serving.weights = mxfp4 (the checkpoint's own format: openai/gpt-oss-120b"));
  CHECK(told(make_plan(asked({"model=llama3-70b"}), false, PlanPart::memory),
             "serving.weights = bf16 (not stated; the checkpoint is not quantised)"));
  CHECK(told(make_plan(asked({"model=llama3-70b", "serving.weights=awq"}), false, PlanPart::memory),
             "serving.weights = int4 (awq"));
}

TEST_CASE("a publisher's name of a model is its preset, with the weights that the name says, and the plan tells both") {
  const auto asked = [](const std::string& model) {
    return make_plan(
        scenario_from_overrides({{"kind=serve", "model=" + model, "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                                  "serving.isl=1024", "serving.osl=256", "serving.concurrency=8", "strategy.tp=8"}},
                                sources()),
        false, PlanPart::memory);
  };
  const Plan fp8 = asked("Qwen/Qwen3-32B-FP8");
  CHECK(told(fp8, "'Qwen/Qwen3-32B-FP8' has the network of the preset qwen3-32b"));
  CHECK(told(fp8, "serving.weights = fp8 (the checkpoint's own format: the name 'Qwen/Qwen3-32B-FP8')"));
  const Plan plain = asked("meta-llama/Llama-3.1-8B-Instruct");
  CHECK(told(plain, "'meta-llama/Llama-3.1-8B-Instruct' has the network of the preset llama3.1-8b"));
  CHECK(told(plain, "serving.weights = bf16 (not stated; the checkpoint is not quantised)"));
}

TEST_CASE("wider weights than the checkpoint's own have those as the first remedy") {
  std::vector<std::string> one{"model=gpt-oss-120b", "hardware.gpus=1", "strategy.tp=1", "serving.concurrency=8"};
  const ServePlan wide = answer_of(memory_of(one));
  CHECK(wide.estimate.verdict == Verdict::out_of_memory);
  REQUIRE_FALSE(wide.changes.empty());
  CHECK(wide.changes.front() == Change{Knob::weights, Precision::mxfp4});
  const std::vector<std::string> texts = texts_of(wide.changes);
  one.insert(one.end(), texts.begin(), texts.end());
  CHECK(memory_of(one).feasible());
}

TEST_CASE("a checkpoint's format does not touch its training") {
  const auto memory = [](std::vector<std::string> more) {
    std::vector<std::string> all{"kind=train",
                                 "model.base=gpt-oss-20b",
                                 "hardware.gpu=h100-sxm-80gb",
                                 "hardware.gpus=64",
                                 "training.seq_len=4096",
                                 "training.global_batch=64",
                                 "training.precision=bf16",
                                 "strategy.ep=8"};
    all.insert(all.end(), more.begin(), more.end());
    return std::get<TrainPlan>(make_plan(scenario_from_overrides(all, sources()), false, PlanPart::memory).answer)
        .memory.mid.raw();
  };
  CHECK(memory({}) == memory({"model.weights.format=bf16"}));
}

TEST_CASE("where no measured kernels serve a plan answers its memory and bounds: no interval, price or energy") {
  const std::vector<std::string> volta{"hardware.gpu=v100-sxm2-32gb", "hardware.gpus=8",      "strategy.tp=8",
                                       "model=qwen3-30b-a3b",         "serving.weights=fp16", "money.price=3 $/h"};
  const Plan plan = make_plan(question(volta), false);
  CHECK(plan.feasible());
  const ServePlan& answer = answer_of(plan);
  CHECK_FALSE(answer.times);
  REQUIRE(answer.bound);
  CHECK(answer.untimed.find("no layer of experts was measured") != std::string::npos);
  CHECK(answer.other_kernels.empty());
  CHECK(answer.tpot.high.raw() == 0.0);
  CHECK(answer.output_tokens_per_s.mid == 0.0);
  CHECK(answer.cost_per_million_output_tokens.mid.raw() == 0.0);
  CHECK_FALSE(answer.energy);
  // a token takes at least what attention and the head take to read: 1.2 billion in two bytes, over 8 GPUs of 0.9 TB/s
  CHECK(answer.bound->tpot.raw() > 2.4e9 / 8 / 0.9e12);
  CHECK(answer.bound->output_tokens_per_s * answer.bound->tpot.raw() <= 64.0);
  // of a SKU whose kernels were measured the answer stays behind the bound
  const Plan measured = make_plan(question({"serving.weights=fp8"}), false);
  const ServeScenario& s = std::get<ServeScenario>(measured.scenario.question);
  const ServingBound bound = serving_bound(s.architecture, s.device, s.work, answer_of(measured).estimate);
  CHECK(answer_of(measured).tpot.mid > bound.tpot);
  CHECK(answer_of(measured).output_tokens_per_s.mid < bound.output_tokens_per_s);
}

TEST_CASE(
    "SKUs whose kernels nobody measured are answered in full, wider than measured ones, and say on what that rests") {
  const auto served = [](const char* gpu) {
    return make_plan(question({std::string{"hardware.gpu="} + gpu, "serving.weights=fp8", "money.price=3 $/h"}), false);
  };
  const ServePlan measured = answer_of(served("h200-sxm-141gb"));
  CHECK(measured.other_kernels.empty());
  const auto factor = [](const auto& interval) { return interval.high / interval.low; };
  for (const char* gpu : {"mi300x", "mi325x", "mi250x", "gaudi2", "gaudi3"}) {
    const Plan plan = served(gpu);
    const ServePlan& answer = answer_of(plan);
    CAPTURE(gpu);
    REQUIRE(answer.times);
    CHECK_FALSE(answer.bound);
    CHECK(answer.other_kernels.find(std::string{"nobody measured kernels of "} + gpu) != std::string::npos);
    CHECK(answer.times_source.find("MI300X") != std::string::npos);
    // all of an iteration: launches, collectives, the host, and prompts in the way
    for (const IterationTerm term :
         {IterationTerm::products, IterationTerm::all_reduce, IterationTerm::gaps, IterationTerm::host}) {
      CHECK(answer.times->decode[term] > 0.0);
    }
    CHECK(answer.times->state.prompt_share > 0.0);
    CHECK(answer.energy);
    CHECK(answer.cost_per_million_output_tokens.high > answer.cost_per_million_output_tokens.low);
    CHECK(factor(answer.output_tokens_per_s) > factor(measured.output_tokens_per_s));
    CHECK(factor(answer.tpot) > factor(measured.tpot));
    CHECK(factor(answer.ttft) > factor(measured.ttft));
    // none narrower than what published rates of other vendors' SKUs were off by, and times by as much the other way
    const UnmeasuredErrors::OtherVendors& others = unmeasured_errors(test::model_data()).others;
    CHECK(answer.output_tokens_per_s.low / answer.output_tokens_per_s.mid <= others.low * (1.0 + 1e-9));
    CHECK(answer.output_tokens_per_s.high / answer.output_tokens_per_s.mid >= others.high * (1.0 - 1e-9));
    CHECK(answer.tpot.high / answer.tpot.mid >= (1.0 - 1e-9) / others.low);
    CHECK(answer.ttft.high / answer.ttft.mid >= (1.0 - 1e-9) / others.low);
    // no engine beats the datasheet
    const ServeScenario& s = std::get<ServeScenario>(plan.scenario.question);
    const ServingBound bound = serving_bound(s.architecture, s.device, s.work, answer.estimate);
    CHECK(answer.tpot.mid > bound.tpot);
    CHECK(answer.output_tokens_per_s.mid < bound.output_tokens_per_s);
  }
}

TEST_CASE("an invented SKU over a measured one is told as widely as kernels of other generations were off") {
  Scenario invented = question({});
  const Plan measured = make_plan(question({}), false);
  std::get<ServeScenario>(invented.question).device.id = "rubin-vr200";
  const Plan plan = make_plan(std::move(invented), false);
  const ServePlan& wide = answer_of(plan);
  const ServePlan& narrow = answer_of(measured);
  CHECK(wide.tpot.mid == narrow.tpot.mid);
  CHECK(wide.tpot.low < narrow.tpot.low);
  CHECK(wide.tpot.high > narrow.tpot.high);
  CHECK(wide.output_tokens_per_s.high > narrow.output_tokens_per_s.high);
  CHECK(wide.other_kernels.find("nobody measured kernels of rubin-vr200; those of h100-sxm-80gb") != std::string::npos);
}

TEST_CASE(
    "published rates of MI300X and MI325X, and their ratios to H200's and H100's, lie inside what is said of them") {
  const auto rate = [](std::vector<std::string> more) {
    more.emplace_back("model=llama2-70b");
    return answer_of(make_plan(question(std::move(more)), false)).output_tokens_per_s;
  };
  const auto ratio_holds = [](const Interval<double>& amd, const Interval<double>& other, double published) {
    const auto width = [](double slow, double fast) { return std::hypot(std::log(slow), std::log(fast)); };
    const double ratio = amd.mid / other.mid;
    CHECK(ratio * std::exp(-width(amd.mid / amd.low, other.high / other.mid)) < published);
    CHECK(published < ratio * std::exp(width(amd.high / amd.mid, other.mid / other.low)));
  };
  // Llama 2 70B in fp8 on 8 GPUs, offline, of MLPerf Inference (closed): H200 34 864 output tokens/s (v4.1, NVIDIA),
  // MI300X 27 599 and MI325X 33 880 (v6.0, MangoBoost); 294 tokens in and out on average.
  const auto offline = [&](const char* gpu, const char* engine, const char* clients) {
    return rate({std::string{"hardware.gpu="} + gpu, std::string{"serving.engine="} + engine,
                 std::string{"serving.concurrency="} + clients, "strategy.tp=1", "serving.weights=fp8",
                 "serving.isl=294", "serving.osl=294"});
  };
  const Interval<double> h200 = offline("h200-sxm-141gb", "tensorrt-llm", "4096");
  const Interval<double> mi300x = offline("mi300x", "vllm", "4096");
  const Interval<double> mi325x = offline("mi325x", "vllm", "8192");
  CHECK(mi300x.low < 27599.0);
  CHECK(mi300x.high > 27599.0);
  CHECK(mi325x.low < 33880.0);
  CHECK(mi325x.high > 33880.0);
  ratio_holds(mi300x, h200, 27599.0 / 34864.0);
  ratio_holds(mi325x, h200, 33880.0 / 34864.0);
  // The same network in 16 bit on four GPUs, 512 in, 512 out, of LLM-Inference-Bench (vLLM 0.6.1): 67 tokens/s in and
  // out against 108 of H100 one by one, 787 against 1392 in batches of 16.
  const auto batch = [&](const char* gpu, const char* sequences) {
    return rate({std::string{"hardware.gpu="} + gpu, "hardware.gpus=4", "strategy.tp=4", "serving.weights=bf16",
                 "serving.engine_version=0.6.1", "serving.isl=512", "serving.osl=512",
                 std::string{"serving.concurrency="} + sequences});
  };
  ratio_holds(batch("mi300x", "1"), batch("h100-sxm-80gb", "1"), 67.0 / 108.0);
  ratio_holds(batch("mi300x", "16"), batch("h100-sxm-80gb", "16"), 787.0 / 1392.0);
}

TEST_CASE(
    "a bound lies outside the interval that measured kernels give on the same SKU, of experts that tokens meet too") {
  const Plan measured =
      make_plan(question({"model=qwen3-30b-a3b", "hardware.gpus=1", "strategy.tp=1", "serving.isl=1000",
                          "serving.osl=1000", "serving.concurrency=16", "serving.engine=tensorrt-llm"}),
                false);
  const ServePlan& answer = answer_of(measured);
  REQUIRE(answer.times);
  const ServeScenario& s = std::get<ServeScenario>(measured.scenario.question);
  const ServingBound bound = serving_bound(s.architecture, s.device, s.work, answer.estimate);
  CHECK(bound.tpot < answer.tpot.low);
  CHECK(bound.prompt_alone < answer.ttft.low);
  CHECK(bound.requests_per_s > answer.requests_per_s.high);
  // the printed least iteration: whatever experts 16 tokens meet, all else is read, and 16 caches of 1500 keys
  const ParameterCount p = count_parameters(s.architecture);
  const double bytes = 2 * (p.total - p.experts - p.embedding) + 16 * 1500 * 98304.0;
  CHECK(answer.times->least_decode.raw() == test::near(bytes / 3.35e12, 5e-3));
}

TEST_CASE("explaining a plan of bounds tells how they came about") {
  const Plan plan = make_plan(question({"hardware.gpu=v100-sxm2-32gb", "hardware.gpus=8", "strategy.tp=8",
                                        "model=qwen3-30b-a3b", "serving.weights=fp16"}),
                              true);
  const auto found = std::find_if(plan.explain.begin(), plan.explain.end(),
                                  [](const ExplainEntry& e) { return e.name == "requests/s, at most"; });
  REQUIRE(found != plan.explain.end());
  CHECK(found->value == answer_of(plan).bound->requests_per_s);
}

TEST_CASE("wide expert parallelism scales: as many requests a GPU on four hosts give several times one host's tokens") {
  const auto served = [](const char* ep) {
    const std::string n{ep};
    return make_plan(question({"model=deepseek-v3", "hardware.gpu=h200-sxm-141gb", "hardware.gpus=" + n,
                               "strategy.tp=1", "strategy.ep=" + n, "serving.isl=2000", "serving.osl=1000",
                               "serving.concurrency=" + std::to_string(256 * std::stoi(n)), "serving.weights=fp8",
                               "serving.balanced_experts=false", "serving.two_batch_overlap=false"}),
                     false);
  };
  const Plan host = served("8");
  const Plan four = served("32");
  const Plan eight = served("64");
  const auto rate = [](const Plan& plan) { return answer_of(plan).output_tokens_per_s.mid; };
  CHECK(rate(four) > 2.4 * rate(host));
  CHECK(rate(four) < 4.0 * rate(host));
  // Tokens meet four hosts of eight at most (node-limited routing), over a network that keeps its rate.
  CHECK(rate(eight) > 1.25 * rate(four));
  CHECK(answer_of(eight).output_tokens_per_s.high > 2.0 * rate(four));
  CHECK(rate(eight) < 8.0 * rate(host));
  // no measured class holds such layouts: wider than within a host, and said
  const auto width = [&](const Plan& plan) {
    const Interval<double>& r = answer_of(plan).output_tokens_per_s;
    return r.high / r.low;
  };
  CHECK(width(eight) > width(host));
  CHECK(answer_of(eight).times_source.find("experts that tokens meet over NICs") != std::string::npos);
  CHECK(answer_of(host).times_source.find("NICs") == std::string::npos);
}

TEST_CASE("an encoder is not served: it has no cache and writes nothing") {
  for (const char* model : {"vit-l-16", "bert-large", "clip-vit-l-14"}) {
    CHECK_THROWS_WITH_AS(question({"model=" + std::string{model}}), doctest::Contains("is an encoder"), ConfigError);
  }
}

TEST_CASE("nvfp4 weights on a GPU without fp4 units multiply in 16 bit, and the plan says so") {
  const Plan plan = make_plan(question({"serving.weights=nvfp4"}), false);
  CHECK(plan.feasible());
  CHECK(told(plan, "h100-sxm-80gb has no fp4 rate; kernels unpack them and multiply at its bf16 rate"));
  const Plan wide = make_plan(question({}), false);
  REQUIRE(answer_of(plan).times.has_value());
  REQUIRE(answer_of(wide).times.has_value());
  // Multiplying is as in 16 bit: a prompt gains no more than the bytes of weights that it does not read.
  CHECK(answer_of(plan).times->prompt_alone > 0.95 * answer_of(wide).times->prompt_alone);
  CHECK(answer_of(plan).times->state.decode_step < answer_of(wide).times->state.decode_step);  // fewer bytes
  CHECK_FALSE(told(make_plan(question({"serving.weights=fp8"}), false), "unpack"));
}

TEST_CASE("memory alone needs no peak: bf16 weights on a GPU without bf16 have a size but no time") {
  const std::vector<std::string> volta{"model=llama3-8b", "hardware.gpu=v100-sxm2-32gb"};
  CHECK(memory_of(volta).feasible());
  CHECK_THROWS_AS(make_plan(question(volta), false), ConfigError);
}

TEST_CASE("explaining the memory alone records its terms and no time") {
  const Plan plan = make_plan(question({}), true, PlanPart::memory);
  std::vector<std::string> names;
  for (const ExplainEntry& entry : plan.explain) {
    names.push_back(entry.name);
  }
  CHECK(names == std::vector<std::string>{"weights", "activations", "cuda graphs", "framework", "KV pool",
                                          "KV of a sequence", "sequences"});
  const ServingMemory& m = answer_of(plan).estimate.memory;
  CHECK(plan.explain[4].value == m.pool.raw());  // bit for bit
  CHECK(plan.explain[6].value == static_cast<double>(m.max_sequences));
}

TEST_CASE("without a visible capacity nvidia-smi's total stands in, and the plan says so") {
  CHECK(told(memory_of({"hardware.gpu=h100-nvl-94gb"}), "nvidia-smi's total stands for it"));
  CHECK_FALSE(told(memory_of({}), "nvidia-smi's total stands for it"));
}

TEST_CASE("more requests than run at once wait, and the plan says whose limit that is") {
  CHECK(told(memory_of({"serving.concurrency=5000"}), "exceeds what the KV cache holds"));
  CHECK(told(memory_of({"serving.concurrency=5000", "serving.max_num_seqs=16"}),
             "exceeds what max_num_seqs lets in (16"));
}

TEST_CASE("the longest sequence of a batch still fits, one block more does not") {
  const ServePlan answer = answer_of(memory_of({}));
  const auto capacity = [](std::int64_t tokens) {
    return answer_of(memory_of({"serving.max_seq_len=" + std::to_string(tokens)})).estimate.memory.capacity;
  };
  CHECK(capacity(answer.longest_sequence.value()) >= 64);
  CHECK(capacity(answer.longest_sequence.value() + 16) < 64);
}

TEST_CASE("experts over several hosts are balanced and, over NICs, their exchange is hidden, which is said") {
  const auto served = [](const std::string& gpu, const std::string& ep, const std::vector<std::string>& more) {
    std::vector<std::string> all{"model=deepseek-v3",   "hardware.gpu=" + gpu,
                                 "hardware.gpus=" + ep, "strategy.tp=1",
                                 "strategy.ep=" + ep,   "serving.isl=2000",
                                 "serving.osl=1000",    "serving.concurrency=" + std::to_string(128 * std::stoi(ep)),
                                 "serving.weights=fp8"};
    all.insert(all.end(), more.begin(), more.end());
    return make_plan(question(all), false);
  };
  const auto rate = [](const Plan& plan) { return answer_of(plan).output_tokens_per_s.mid; };
  const std::string balance = "serving.balanced_experts=";
  const std::string halves = "serving.two_batch_overlap=";
  const Plan nics = served("h200-sxm-141gb", "16", {});
  CHECK(told(nics, "serving.balanced_experts = true"));
  CHECK(told(nics, "serving.two_batch_overlap = true"));
  CHECK(rate(nics) == rate(served("h200-sxm-141gb", "16", {balance + "true", halves + "true"})));
  const Plan off = served("h200-sxm-141gb", "16", {balance + "false", halves + "false"});
  CHECK_FALSE(told(off, "published deployments"));
  CHECK(rate(nics) > rate(off));
  const auto most = [](const Plan& plan) {
    const auto& rate = answer_of(plan).output_tokens_per_s;
    return rate.high / rate.mid;
  };
  CHECK(most(off) > 1.5 * most(nics));  // what both gain is no error of an answer that has both
  const Plan nvlink = served("gb200-nvl72", "16", {});
  CHECK(told(nvlink, "serving.balanced_experts = true"));
  CHECK_FALSE(told(nvlink, "serving.two_batch_overlap = true"));
  CHECK(rate(nvlink) == rate(served("gb200-nvl72", "16", {balance + "true", halves + "false"})));
  CHECK_FALSE(told(served("h200-sxm-141gb", "8", {}), "published deployments"));  // within a host engines do neither
}

TEST_CASE("a plan says what a GPU draws while it idles, while prompts run and while decodes run") {
  const std::vector<std::string> asked{"model=llama3.1-70b",   "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                                       "strategy.tp=8",        "serving.isl=1000",           "serving.osl=500",
                                       "serving.weights=bf16", "serving.concurrency=8"};
  const Plan both = make_plan(question(asked), false);
  const PlanEnergy& energy = *answer_of(both).energy;
  REQUIRE(energy.phases);
  CHECK(energy.phases->idle == energy.model.idle);
  CHECK(energy.phases->idle < energy.phases->decode);
  CHECK(energy.phases->decode < energy.phases->prefill);  // a batch of eight reads more than it multiplies
  CHECK(energy.phases->prefill <= energy.model.tdp);
  CHECK(energy.gpu <= energy.phases->prefill);
  std::vector<std::string> prompts = asked;
  prompts.emplace_back("serving.pool=prefill");
  const Plan pool = make_plan(question(prompts), false);
  REQUIRE(answer_of(pool).energy);
  CHECK_FALSE(answer_of(pool).energy->phases);
  CHECK(answer_of(pool).energy->gpu > answer_of(pool).energy->model.idle);
  CHECK(answer_of(pool).energy->gpu <= answer_of(pool).energy->model.tdp);
}
