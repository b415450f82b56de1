// SPDX-License-Identifier: Apache-2.0
// Serving questions: defaults of the engines, what is told, and the changes that make a plan fit.
#include <headroom/scenarios/serve_plan.hpp>
#include <headroom/scenarios/serve_reader.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace headroom;

namespace {

const Sources& sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

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
  const ServeScenario& one =
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
  CHECK(default_kv_cache(Engine::tensorrt_llm, Precision::fp8) == Precision::fp8);
  CHECK(default_kv_cache(Engine::tensorrt_llm, Precision::nvfp4) == Precision::fp8);
  CHECK(default_kv_cache(Engine::tensorrt_llm, Precision::bf16) == Precision::bf16);
  CHECK(default_kv_cache(Engine::vllm, Precision::fp8) == Precision::bf16);
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
  CHECK(answer.changes[0] == "serving.max_num_seqs = 64");
  CHECK(memory_of({"hardware.gpus=2", "strategy.tp=2", "serving.max_num_seqs=64"}).feasible());
}

TEST_CASE("every change that a plan proposes makes it fit") {
  for (const std::vector<std::string>& start :
       {std::vector<std::string>{"hardware.gpus=1", "strategy.tp=1"}, std::vector<std::string>{"strategy.tp=1"},
        std::vector<std::string>{"serving.memory_fraction=1.0"},
        std::vector<std::string>{"hardware.gpus=2", "strategy.tp=2", "serving.isl=100000"},
        std::vector<std::string>{"hardware.gpus=2", "strategy.tp=2", "serving.engine=sglang"}}) {
    const Plan plan = memory_of(start);
    if (plan.feasible()) {
      continue;
    }
    std::vector<std::string> changed = start;
    for (std::string change : answer_of(plan).changes) {
      change.erase(std::remove(change.begin(), change.end(), ' '), change.end());
      changed.push_back(change);
    }
    CHECK(changed.size() > start.size());
    CHECK(memory_of(changed).feasible());
  }
}

TEST_CASE("memory alone needs no peak: nvfp4 weights on a GPU without fp4 units have a size but no time") {
  CHECK(memory_of({"serving.weights=nvfp4"}).feasible());
  CHECK_THROWS_AS(make_plan(question({"serving.weights=nvfp4"}), false), ConfigError);
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
  CHECK(capacity(answer.longest_sequence) >= 64);
  CHECK(capacity(answer.longest_sequence + 16) < 64);
}
