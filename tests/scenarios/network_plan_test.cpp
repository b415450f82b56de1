// SPDX-License-Identifier: Apache-2.0
// The plan of a network of ops: the preset, its parts, its times, and what opens when keys are blank.
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::near;

namespace {

NetworkPlan plan_of(std::vector<std::string> changes) {
  const std::string file = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/train/perception-2b-64xa100.toml";
  const ConfigValue root = scenario_tree(file, changes);
  return make_network_plan(read_network_scenario(root, file, test::sources(), NetworkLibrary::standard()));
}

/// The preset with every key blank but those given.
NetworkPlan blank_plan(std::vector<std::string> more) {
  std::vector<std::string> all{"kind=train", "model=perception-2b", "hardware.gpu=a100-sxm-80gb", "hardware.gpus=64",
                               "training.global_batch=512"};
  all.insert(all.end(), more.begin(), more.end());
  return make_network_plan(
      read_network_scenario(scenario_tree(all), "command line", test::sources(), NetworkLibrary::standard()));
}

/// Sent by a GPU and step for data parallelism.
double sent(std::vector<std::string> changes) {
  return plan_of(std::move(changes)).traffic.raw();
}

bool told(const NetworkPlan& plan, std::string_view text) {
  return std::any_of(plan.notes.begin(), plan.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

/// Weights and biases of the preset by hand.
double by_hand() {
  const double stem = 3.0 * 64 * 9 + 2 * 64 + 64.0 * 128 * 9 + 2 * 128 + 128.0 * 1536 * 16 + 1536;
  const double v = 1536;
  const double vit = 40 * (12 * v * v + 13 * v);  // qkv, projection and MLP; 9 h biases and 4 h of norms
  const double d = 1280;
  const double neck = 1536 * d * 4 + d;
  const double queries = 10000 * d;
  const double bev = 32 * (16 * d * d + 19 * d);  // 8 d^2 of attention, 8 d^2 of MLP; 13 d biases and 6 d of norms
  const double detection = d * 2 * d + 2 * d + 2 * d * 32 + 32;
  const double occupancy = d * 512 * 9 + 512 + 512 * 288 + 288;
  const double motion = d * 2 * d + 2 * d + 2 * d * 960 + 960;
  return stem + vit + neck + queries + bev + detection + occupancy + motion;
}

}  // namespace

TEST_CASE("gradients in half the width halve what data parallelism sends of them, in time too") {
  // All-reduced, nothing else is sent; with ZeRO 1 the weights come back in 16 bit either way.
  const double wide = sent({"strategy.zero=0", "training.gradients=fp32"});
  CHECK(sent({"strategy.zero=0", "training.gradients=bf16"}) == near(0.5 * wide));
  const double back = sent({"strategy.zero=1", "training.gradients=bf16"});
  CHECK(sent({"strategy.zero=1", "training.gradients=fp32"}) == near(1.5 * back));
  const auto communication = [](const char* gradients) {
    const NetworkPlan plan = plan_of({"strategy.zero=0", std::string{"training.gradients="} + gradients});
    return plan.times->parts.reduction.raw();
  };
  CHECK(communication("fp32") > 1.8 * communication("bf16"));
}

TEST_CASE("the preset has the parameters its shapes make, 2e9 within 1 %, and 59 MB of pixels a sample") {
  const Network network = NetworkLibrary::standard().find("perception-2b-8cam");
  CHECK(network.parameters == by_hand());
  CHECK(network.parameters == doctest::Approx(2e9).epsilon(0.01));
  CHECK(network.input_bytes().raw() == 8.0 * 1280 * 960 * 3 * 2);
  CHECK(network.parts() == std::vector<std::string>{"camera", "fusion", "heads"});
}

TEST_CASE("on 64 GPUs under ZeRO 2 the states are P (2 + 14/64) bytes and 2 (63/64) 2 P bytes are sent") {
  const NetworkPlan plan = plan_of({});
  const double p = plan.scenario.network.parameters;
  CHECK(plan.feasible());
  CHECK(plan.memory.states.total().raw() == doctest::Approx(p * (2.0 + 14.0 / 64)));
  CHECK(plan.memory.states.total().raw() == doctest::Approx(4.4375e9).epsilon(0.01));
  CHECK(plan.traffic.raw() == doctest::Approx(2.0 * 63 / 64 * 2 * p));
  CHECK(plan.traffic.raw() == doctest::Approx(7.875e9).epsilon(0.01));
}

TEST_CASE("the plan says what share of the traffic hides, how far the peak is used, and the verdict against 80 %") {
  const NetworkPlan plan = plan_of({});
  REQUIRE(plan.times);
  const NetworkTimes& t = *plan.times;
  CHECK(t.parts.hidden_share() > 0.0);
  CHECK(t.parts.hidden_share() < 1.0);
  CHECK(t.parts.traffic > t.parts.time[Term::dp_comm]);
  // Model FLOP by hand: three forward passes of 182 TFLOP a sample, two samples a GPU, on 312 TFLOP/s.
  const double own = 3.0 * plan.scenario.network.forward.raw() * 2.0;
  CHECK(t.utilisation.mid == near(own / (t.step.mid.raw() * 312e12), 0.001));
  CHECK(t.executed == near(4.0 / 3.0 * t.utilisation.mid));
  CHECK(t.utilisation.low < t.utilisation.mid);
  REQUIRE(t.target);
  CHECK(t.target->asked == 0.8);
  CHECK(t.target->verdict == TargetVerdict::out_of_reach);
  CHECK(t.target->text.find("below the 80.0 % asked for: what binds is attention") != std::string::npos);
  CHECK(t.target->text.find("recomputation alone leaves at most 75.0 %") != std::string::npos);
  CHECK_FALSE(blank_plan({"training.precision=bf16"}).times->target);
}

TEST_CASE("what nobody measured takes the widest class of errors, which no other exceeds") {
  const NetworkTimes t = *plan_of({}).times;
  // Experts that tokens meet over NICs do what no network of ops does.
  for (std::size_t i = 0; i < run_class_count; ++i) {
    const ClassErrors& errors = step_confidence(test::model_data()).classes[i];
    CHECK((errors.width_80 <= t.errors.width_80 || static_cast<RunClass>(i) == RunClass::wide_experts));
  }
  CHECK(t.step.high.raw() == near(t.step.mid.raw() * (1.0 + t.errors.width_80)));
  CHECK(t.samples_per_s.mid == near(128.0 / t.step.mid.raw()));
}

TEST_CASE("a utilisation is held against what was asked for at both ends of its interval") {
  const auto verdict = [](double low, double mid, double high) {
    return judge_utilisation({low, mid, high}, 0.8, 1.0, "gemm 90 %").verdict;
  };
  CHECK(verdict(0.80, 0.9, 1.0) == TargetVerdict::reached);
  CHECK(verdict(0.79, 0.8, 1.0) == TargetVerdict::likely);
  CHECK(verdict(0.5, 0.79, 0.8) == TargetVerdict::unlikely);
  CHECK(verdict(0.3, 0.5, 0.79) == TargetVerdict::out_of_reach);
  const std::string text = judge_utilisation({0.3, 0.41, 0.6}, 0.8, 1.0, "gemm 90 %").text;
  CHECK(text == "utilisation 41.0 %, below the 80.0 % asked for: what binds is gemm 90 %");
}

TEST_CASE("a run of so many samples takes its steps, and costs its GPUs for as long") {
  const NetworkPlan plan = plan_of({"training.samples=1e6", "money.price=2 $/h"});
  REQUIRE(plan.times);
  const NetworkTimes& t = *plan.times;
  const double hours = 1e6 / 128.0 * t.step.mid.raw() / 3600.0;
  CHECK(t.duration.mid.raw() == near(3600.0 * hours));
  CHECK(t.gpu_hours.mid == near(64.0 * hours));
  CHECK(t.cost.mid.raw() == near(2.0 * 64.0 * hours));
  CHECK(t.cost_per_million_samples.mid.raw() == near(t.cost.mid.raw()));
  CHECK(plan_of({}).times->duration.mid == Seconds{});
}

TEST_CASE("an op that no curve describes costs the time alone: memory is answered, and the op is named") {
  const auto plan = [](const std::string& groups) {
    const std::string file = "net.toml";
    const ConfigValue root = parse_toml(
        "schema = 1\nkind = \"train\"\n[hardware]\ngpu = \"a100-sxm-80gb\"\ngpus = 8\n[training]\nglobal_batch = 64\n"
        "precision = \"fp16\"\n[model]\n[[model.op]]\nname = \"dw\"\npart = \"p\"\nkind = \"conv\"\n"
        "in = [32, 56, 56]\nout_channels = 32\nkernel = 3\ngroups = " +
            groups + "\n",
        file);
    return make_network_plan(read_network_scenario(root, file, test::sources(), NetworkLibrary::standard()));
  };
  const NetworkPlan depthwise = plan("32");
  CHECK(depthwise.feasible());
  CHECK_FALSE(depthwise.times);
  CHECK(told(depthwise, "time: not priced: dw: a depthwise convolution"));
  CHECK(depthwise.memory.total() > Bytes{});
  CHECK(plan("4").times);
}

TEST_CASE("memory alone prices no time, and is the memory of the whole plan") {
  const std::string file = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/train/perception-2b-64xa100.toml";
  const ConfigValue root = scenario_tree(file);
  const NetworkPlan memory = make_network_plan(
      read_network_scenario(root, file, test::sources(), NetworkLibrary::standard()), PlanPart::memory);
  CHECK_FALSE(memory.times);
  CHECK(memory.untimed.empty());
  CHECK(memory.total() == plan_of({}).total());
}

TEST_CASE("a SKU without a peak for the recipe answers memory and says why there is no time") {
  const NetworkPlan plan = plan_of({"hardware.gpu=v100-sxm2-32gb", "hardware.gpus=8", "training.precision=fp8"});
  CHECK(plan.memory.total() > Bytes{});
  CHECK_FALSE(plan.times);
  CHECK(told(plan, "time: not priced: "));
  CHECK(told(plan, "memory alone is answered"));
}

TEST_CASE("the software says how the step runs: its overlap, host and passes, not its memory") {
  const NetworkPlan fsdp = plan_of({});
  const NetworkPlan megatron = plan_of({"training.software=megatron-core"});
  CHECK(told(fsdp, "training.software = pytorch-fsdp"));
  CHECK_FALSE(told(megatron, "training.software"));
  CHECK(fsdp.total() == megatron.total());
  CHECK(fsdp.times->step.mid != megatron.times->step.mid);
}

TEST_CASE("ResNet-50 has torchvision's 25 557 032 parameters and 4.1 G multiply-adds, its blocks chain") {
  const Network network = NetworkLibrary::standard().find("ResNet50v1.5");
  CHECK(network.parameters == 25'557'032.0);
  Flops convolutions{};
  for (const Stage& stage : network.stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      const Op& op = network.ops[i];
      convolutions +=
          op.kind == OpKind::conv || op.kind == OpKind::gemm ? static_cast<double>(stage.repeat) * op.forward : Flops{};
    }
  }
  CHECK(0.5 * convolutions.raw() == near(4.09e9, 0.005));
}

TEST_CASE("a host that decodes too slowly holds the step up, and its samples are fed as the network's inputs") {
  const NetworkPlan fed = plan_of({"data.cpu_time=10 s", "data.workers=16"});
  REQUIRE(fed.times);
  // A DGX holds eight replicas of two samples.
  CHECK(fed.times->step.mid.raw() == near(10.0 * 16.0 / 16.0));
  CHECK(fed.times->parts.time[Term::data] > Seconds{});
  CHECK(fed.scenario.feed->fed == fed.scenario.network.input_bytes());
  CHECK(told(fed, "data loading: decode holds the step up"));
  CHECK(told(plan_of({}), "Data loading is assumed fast enough"));
}

TEST_CASE("an optimizer's name stands for its moments and the master copy, adamw when none is stated") {
  const auto bytes = [](const std::string& key) {
    return plan_of({key, "strategy.zero=1"}).scenario.training.states.optimizer;
  };
  CHECK(bytes("training.precision=bf16") == 12.0);
  CHECK(bytes("training.optimizer=adamw") == 12.0);
  CHECK(bytes("training.optimizer=sgd") == 4.0);
  CHECK(bytes("training.optimizer=adamw-8bit") == 6.0);
  CHECK(bytes("training.optimizer_bytes=8") == 8.0);
  CHECK(plan_of({"training.optimizer=sgd", "training.precision=fp32"}).scenario.training.states.optimizer == 0.0);
  CHECK_THROWS_AS(plan_of({"training.optimizer=sgd", "training.optimizer_bytes=8"}), ConfigError);
}

TEST_CASE("under ZeRO 3 two blocks are gathered and one is reduced in fp32, and the narrower gradients are told") {
  const NetworkPlan plan = plan_of({"strategy.zero=3"});
  double largest = 0.0;
  for (const Stage& stage : plan.scenario.network.stages) {
    largest = std::max(largest, stage.parameters);
  }
  CHECK(plan.memory.gathered.raw() == largest * (2 * 2.0 + 4.0));
  const NetworkPlan blank = blank_plan({"training.precision=bf16", "strategy.zero=3"});
  CHECK(blank.scenario.training.states.gradients == 2.0);
  CHECK(told(blank, "under ZeRO 3 as the weights: 2 bytes a parameter, below it 4"));
  CHECK_FALSE(told(blank_plan({"training.precision=bf16"}), "ZeRO 3"));
}

TEST_CASE("memory has the rough training form's interval, and a remedy's memory is that of the plan it proposes") {
  const NetworkPlan plan = plan_of({});
  CHECK(plan.interval.mid == plan.total());
  CHECK(plan.interval.high / plan.interval.mid == doctest::Approx(plan.interval.mid / plan.interval.low));
  CHECK(plan.interval.high > plan.interval.mid);
  CHECK_FALSE(plan.interval_source.empty());
  const std::vector<std::string> tight{"hardware.gpu=a100-sxm-40gb", "strategy.zero=0", "training.precision=bf16",
                                       "strategy.micro_batch=1"};
  const NetworkPlan refused = blank_plan(tight);
  REQUIRE_FALSE(refused.remedies.empty());
  for (const NetworkRemedy& remedy : refused.remedies) {
    std::vector<std::string> changed = tight;
    for (const Change& change : remedy.changes) {
      changed.push_back(override_of(change));
    }
    CHECK(blank_plan(changed).total().raw() == doctest::Approx(remedy.memory.raw()));
  }
}

TEST_CASE("shares of the activations by part sum to 100 % in every recompute mode") {
  for (const std::string& mode : {std::string{"strategy.recompute=none"}, std::string{"strategy.recompute=full"},
                                  std::string{"strategy.recompute_every=5"}}) {
    CAPTURE(mode);
    const NetworkPlan plan = plan_of({mode});
    double shares = 0.0;
    Bytes kept{};
    for (const PartMemory& part : plan.memory.parts) {
      shares += part.share;
      kept += part.activations;
    }
    CHECK(shares == doctest::Approx(1.0).epsilon(1e-12));
    CHECK(kept.raw() == doctest::Approx(plan.memory.kept.raw()));
  }
}

TEST_CASE("camera blocks recomputed store what other blocks read: 40 results of 4800 x 1536, their input, the neck's") {
  const NetworkPlan plan = plan_of({"strategy.recompute_parts=[\"camera\"]"});
  REQUIRE(plan.memory.parts.front().name == "camera");
  const double token = 2.0 * 2 * 8;  // bytes of an element, samples, cameras
  CHECK(plan.memory.parts.front().activations.raw() == doctest::Approx(token * (41.0 * 4800 * 1536 + 1200 * 1280)));
}

TEST_CASE("the grid that three heads read is stored once") {
  // Recomputed: 32 results of the blocks and the queries; the heads store nothing, for nobody reads them.
  const NetworkPlan plan = plan_of({});
  REQUIRE(plan.memory.parts[1].name == "fusion");
  CHECK(plan.memory.parts[1].activations.raw() == doctest::Approx(2.0 * 2 * 33 * 10000 * 1280));
  CHECK(plan.memory.parts[2].activations.raw() == 0.0);
}

TEST_CASE("blank micro-batch and recompute become the largest that fits, without recomputation when that fits") {
  const NetworkPlan tight = plan_of({"strategy.micro_batch=1", "strategy.recompute=none"});
  CHECK_FALSE(tight.fits());
  REQUIRE_FALSE(tight.remedies.empty());
  CHECK(tight.remedies.front().changes == Changes{{Knob::recompute, Recompute::full}});
  CHECK(tight.remedies.front().memory <= tight.capacity);
  const NetworkPlan open = blank_plan({"training.precision=bf16"});
  CHECK(open.feasible());
  CHECK(open.scenario.training.recompute.every == 1);
  const std::int64_t chosen = open.scenario.training.micro_batch;
  CHECK(512 % (64 * chosen) == 0);
  NetworkTraining twice = open.scenario.training;
  twice.micro_batch = 2 * chosen;
  const double slack = 1.0 + open.fragmentation / open.memory.total();
  const Bytes more = slack * training_memory(open.scenario.network, twice).total() + open.framework;
  CHECK((2 * chosen > 8 || more > open.capacity));
}
