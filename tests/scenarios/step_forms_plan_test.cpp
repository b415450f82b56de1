// SPDX-License-Identifier: Apache-2.0
// The keys of a step's forms, and what a plan says of them.
#include <headroom/answers/views/render.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

Plan plan(std::vector<std::string> more, bool explained = false, TermSet without = {}) {
  std::vector<std::string> overrides{"kind=train",
                                     "model=llama3-8b",
                                     "hardware.gpu=h100-sxm-80gb",
                                     "hardware.gpus=16",
                                     "training.seq_len=8192",
                                     "training.global_batch=128",
                                     "training.precision=bf16",
                                     "strategy.micro_batch=1",
                                     "strategy.recompute=none"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return make_plan(scenario_from_overrides(overrides, sources()), explained, PlanPart::all, without);
}

const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}

bool says(const Plan& p, std::string_view words) {
  return std::any_of(p.notes.begin(), p.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("a blank form of context parallelism is the software's, and said, without one the published share is") {
  const Plan unstated = plan({"strategy.cp=2"});
  CHECK(train(unstated).strategy.cp_form == CpForm::unstated);
  CHECK(says(unstated, "strategy.cp_form: not stated"));
  const Plan deepspeed = plan({"strategy.cp=2", "training.software=deepspeed", "strategy.zero=2"});
  CHECK(train(deepspeed).strategy.cp_form == CpForm::ulysses);
  CHECK(says(deepspeed, "strategy.cp_form = ulysses (default of deepspeed)"));
  const Plan ring = plan({"strategy.cp=2", "strategy.cp_form=ring"});
  CHECK(train(ring).strategy.cp_form == CpForm::ring);
  CHECK_FALSE(says(ring, "cp_form"));
  CHECK_FALSE(says(plan({}), "cp_form"));
}

TEST_CASE("a blank padding of the vocabulary is the software's, and said where it changes the head") {
  // 50,257 over two ranks: 128 x 2 make it 50,432 (Megatron-LM), others leave 25,129 rows to a rank, which 8 does not
  // divide.
  const std::vector<std::string> odd{"model=gpt3-6.7b", "training.seq_len=2048", "strategy.tp=2"};
  const auto of = [&](std::vector<std::string> more) {
    std::vector<std::string> all = odd;
    all.insert(all.end(), more.begin(), more.end());
    return plan(std::move(all));
  };
  const Plan padded = of({"training.software=megatron-core"});
  CHECK(says(padded, "training.vocab_multiple = 128 (default of megatron-core)"));
  const Plan bare = of({"training.software=megatron-core", "training.vocab_multiple=1"});
  CHECK_FALSE(says(bare, "vocab_multiple"));
  CHECK(train(bare).estimate.time[Term::head] > 1.3 * train(padded).estimate.time[Term::head]);
  CHECK(says(of({"training.software=torchtitan"}), "training.vocab_multiple = 1 (default of torchtitan)"));
  // 128,256 is a multiple of 8 and of 128.
  CHECK_FALSE(says(plan({"training.software=torchtitan"}), "vocab_multiple"));
  CHECK_FALSE(says(plan({"training.software=megatron-core"}), "vocab_multiple"));
}

TEST_CASE("graphs and overlapped experts are keys, dualpipe overlaps by itself where experts are spread") {
  const Plan graphs = plan({"strategy.cuda_graphs=true"});
  CHECK(train(graphs).strategy.cuda_graphs);
  CHECK(says(graphs, "static buffers of the graphs are not known"));
  CHECK(train(graphs).estimate.step <= train(plan({})).estimate.step);
  const std::vector<std::string> experts{"model=mixtral-8x7b", "strategy.ep=8", "strategy.pp=2"};
  CHECK_FALSE(train(plan(experts)).strategy.overlap_experts);
  std::vector<std::string> two_way = experts;
  two_way.emplace_back("strategy.schedule=dualpipe");
  const Plan paired = plan(two_way);
  CHECK(train(paired).strategy.overlap_experts);
  CHECK(says(paired, "strategy.overlap_experts = true"));
  two_way.emplace_back("strategy.overlap_experts=false");
  CHECK_FALSE(train(plan(two_way)).strategy.overlap_experts);
}

TEST_CASE("stated stages are simulated: explained as planned, and the split is told") {
  const std::vector<std::string> keys{"strategy.pp=4", "strategy.first_stage_layers=7", "strategy.last_stage_layers=5"};
  const Plan told = plan(keys, true);
  CHECK(says(told, "pipeline stages of 7, 10 x 2, 5 layers, as stated"));
  CHECK(train(told).estimate.step == train(plan(keys)).estimate.step);
  const auto bubble =
      std::find_if(told.explain.begin(), told.explain.end(), [](const ExplainEntry& e) { return e.name == "bubble"; });
  REQUIRE(bubble != told.explain.end());
  CHECK(bubble->formula == "flushes x simulated passes of the stages as stated - m slowest");
  CHECK(bubble->value == train(told).estimate.time[Term::bubble].raw());
}

TEST_CASE("data that does not keep up holds the step up, says what binds and what of a host would do") {
  CHECK(says(plan({}), "Data loading is assumed fast enough"));
  const Plan starved = plan({"data.sample_bytes=1 MB", "data.storage_bandwidth=8 MB/s"});
  const TrainPlan& t = train(starved);
  // 16 GPUs on two hosts: 64 samples of 1 MB a host and step at 8 MB/s.
  CHECK(t.estimate.step.raw() == doctest::Approx(8.0));
  REQUIRE(t.fed.has_value());
  CHECK(t.fed->input.binds == InputStage::storage);
  CHECK(says(starved, "storage holds the step up"));
  const double free = train(plan({})).estimate.step.raw();
  CHECK(t.fed->input.storage_needed.raw() == doctest::Approx(64e6 / free));
  CHECK(t.estimate.time[Term::data].raw() == doctest::Approx(8.0 - free));
  CHECK(says(plan({"data.sample_bytes=1 MB", "data.storage_bandwidth=80 GB/s"}), "data loading keeps up"));
  // GPUs measured to take 20 samples/s a host need 20 MB/s, and wait for the rest of 8 s of theirs.
  const Plan seen = plan({"data.sample_bytes=1 MB", "data.storage_bandwidth=8 MB/s", "data.gpu_rate=20"});
  CHECK(train(seen).fed->input.storage_needed.raw() == doctest::Approx(20e6));
  CHECK(train(seen).estimate.time[Term::data].raw() == doctest::Approx(8.0 - 64.0 / 20.0));
  CHECK(says(seen, "need of a host at 20.0 samples/s, as measured, 20.0 MB/s of storage"));
  TermSet without;
  without.add(Term::data);
  const Plan left_out = plan({"data.sample_bytes=1 MB", "data.storage_bandwidth=8 MB/s"}, false, without);
  CHECK(train(left_out).estimate.step.raw() == doctest::Approx(free));
}

TEST_CASE("a plan says its micro-batches, what a context rank holds of a sequence, and what a GPU sends") {
  const Plan p = plan({"strategy.tp=2", "strategy.cp=2"});
  const std::string text = plan_text(p);
  CHECK(
      text.find(
          "a step: 32 micro-batches on each of 4 replicas, 4096 of a sequence's 8192 tokens on a GPU, " +
          format(train(p).sent_data) +
          " sent by a GPU for data parallelism, 128 GiB for tensor parallelism, 24.0 GiB for context parallelism\n") !=
      std::string::npos);
  // Keys and values of 4096 tokens and four heads of 128 in 16 bit, once forward and twice backward: 25.2 MB a layer.
  // 32 micro-batches of 32 layers, four all-reduces of 4096 x 4096 elements of 16 bit each, of two ranks as many bytes.
  CHECK(train(p).sent_tensor.raw() == doctest::Approx(32.0 * 32.0 * 4.0 * 4096.0 * 4096.0 * 2.0));
  CHECK(train(p).sent_data > train(plan({"strategy.tp=4", "strategy.cp=2"})).sent_data);
  CHECK(plan_text(plan({"strategy.tp=1"})).find("8 micro-batches on each of 16 replicas, ") != std::string::npos);
  CHECK(plan_text(plan({"strategy.tp=1"})).find("tensor parallelism") == std::string::npos);
}

TEST_CASE("a replica of several hosts is fed by one of them") {
  // One replica of 16 GPUs on two hosts: all 128 samples cross one host.
  const Plan p = plan({"strategy.tp=8", "strategy.pp=2", "data.sample_bytes=1 MB", "data.storage_bandwidth=8 MB/s"});
  CHECK(train(p).estimate.step.raw() == doctest::Approx(16.0));
}

TEST_CASE("offloading shows in the step over the link of the module's CPU, else over PCIe") {
  const auto step = [](const char* gpu, const char* gpus, const char* more = "hardware.host_memory=4 TB") {
    return plan({std::string{"hardware.gpu="} + gpu, std::string{"hardware.gpus="} + gpus,
                 "training.software=deepspeed", "strategy.zero=2", "training.offload=[\"optimizer\"]",
                 "hardware.host_memory=4 TB", more});
  };
  const Plan pcie = step("h100-sxm-80gb", "16");
  const TrainPlan& t = train(pcie);
  REQUIRE(t.offload.has_value());
  REQUIRE(t.offload->step_time.has_value());
  CHECK((t.offload->step_way / *t.offload->step_time).raw() == doctest::Approx(63e9));
  CHECK(t.estimate.time[Term::offload] > *t.offload->step_time);  // the weights' way, and the host's update
  CHECK(*t.offload->exposed == t.estimate.time[Term::offload]);
  CHECK(says(pcie, "of a step show: term offload"));
  const Plan stated = step("h100-sxm-80gb", "16", "hardware.host_link=26 GB/s");
  REQUIRE(train(stated).offload->step_time.has_value());
  CHECK((train(stated).offload->step_way / *train(stated).offload->step_time).raw() == doctest::Approx(26e9));
  CHECK(train(stated).estimate.time[Term::offload] > t.estimate.time[Term::offload]);
  const Plan module = step("gb200-nvl72", "16");
  REQUIRE(train(module).offload->step_time.has_value());
  CHECK(train(module).offload->step_way / *train(module).offload->step_time > BytesPerSecond{200e9});
}
