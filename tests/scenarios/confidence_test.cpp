// SPDX-License-Identifier: Apache-2.0
// The class of a question, the table of errors behind it, and what of the question lies outside what was measured.
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "run_rows.hpp"
#include <cmath>

using namespace headroom;
using namespace headroom::test;

namespace {

const TrainScenario& train(const Scenario& scenario) {
  return std::get<TrainScenario>(scenario.question);
}

RunClass class_of_plan(std::vector<std::string> more) {
  return confidence_of(train(run_scenario(std::move(more))), step_confidence(test::model_data())).run_class;
}

constexpr std::string_view table = R"(
schema = 1
id = "confidence"
source = "s"
[class.dense]
rows = 10
sources = 2
width_50 = 0.1
width_80 = 0.2
width_90 = 0.3
level = 0.1
shape = 0.1
[class.experts]
rows = 10
sources = 2
width_50 = 0.1
width_80 = 0.2
width_90 = 0.3
level = 0.1
shape = 0.1
[class.adapters]
rows = 10
sources = 2
width_50 = 0.1
width_80 = 0.2
width_90 = 0.3
level = 0.1
shape = 0.1
[class.other-kernels]
rows = 10
sources = 2
width_50 = 0.1
width_80 = 0.2
width_90 = 0.3
level = 0.1
shape = 0.1
[class.wide-experts]
rows = 10
sources = 2
width_50 = 0.1
width_80 = 0.3
width_90 = 0.4
level = 0.1
shape = 0.1
[measured]
skus = ["h100-sxm-80gb"]
software = ["megatron-core"]
gpus = 64
hidden = [1024, 4096]
seq_len = [2048, 8192]
source = "s"
[measured.precisions]
hopper = ["bf16"]
)";

Confidence read(std::string text, std::string_view from = "", std::string_view to = "") {
  if (!from.empty()) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  Diagnostics diagnostics;
  const ConfigValue tree = parse_toml(text, "t.toml");
  Confidence confidence = read_confidence(tree, "t.toml", diagnostics);
  diagnostics.throw_if_any();
  return confidence;
}

/// Of kernels nobody measured 10, 20 and 90 %, level 0.4; of wide experts 20, 30 and 40 %.
std::string crossing_widths() {
  std::string text{table};
  const auto change = [&](std::string_view section, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from, text.find(section));
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  change("[class.other-kernels]", "width_90 = 0.3", "width_90 = 0.9");
  change("[class.other-kernels]", "level = 0.1", "level = 0.4");
  change("[class.wide-experts]", "width_50 = 0.1", "width_50 = 0.2");
  return text;
}

}  // namespace

TEST_CASE("the class is what the errors are alike in: the SKU's kernels first, then adapters, then experts") {
  CHECK(class_of_plan({}) == RunClass::dense);
  CHECK(class_of_plan({"model=mixtral-8x7b"}) == RunClass::experts);
  CHECK(class_of_plan({"training.method=lora"}) == RunClass::adapters);
  CHECK(class_of_plan({"model=mixtral-8x7b", "training.method=lora"}) == RunClass::adapters);
  CHECK(class_of_plan({"hardware.gpu=h200-sxm-141gb"}) == RunClass::dense);
  // Borrowed curves: another power or another generation is another class; the same part with less memory is not.
  CHECK(class_of_plan({"hardware.gpu=a100-sxm-40gb"}) == RunClass::dense);
  CHECK(class_of_plan({"hardware.gpu=a100-pcie-80gb"}) == RunClass::other_kernels);
  CHECK(class_of_plan({"hardware.gpu=mi300x"}) == RunClass::other_kernels);
  CHECK(class_of_plan({"hardware.gpu=mi300x", "model=mixtral-8x7b"}) == RunClass::other_kernels);
}

TEST_CASE("a plan's interval is its class's, and every class has its own") {
  for (const char* model : {"llama3-8b", "mixtral-8x7b"}) {
    const Plan plan = make_plan(run_scenario({std::string{"model="} + model}), false);
    const auto& answer = std::get<TrainPlan>(plan.answer);
    REQUIRE(plan.confidence);
    const double width = plan.confidence->errors.width_80;
    CHECK(answer.step.high / answer.step.mid == doctest::Approx(1.0 + width));
    CHECK(answer.step.mid / answer.step.low == doctest::Approx(1.0 + width));
  }
  const Confidence& c = step_confidence(test::model_data());
}

TEST_CASE("fine-tuning rows have the interval of adapters") {
  const auto width = [](const std::string& options) {
    const std::vector<RunFile> files{run_file(run_row({.options = options}))};
    const RowPrediction p = validate(files, {}, run_sources()).rows.front().prediction;
    return p.high / p.predicted - 1.0;
  };
  const StepPosterior& posterior = step_posterior(test::model_data());
  const auto expected = [&](StepKind kind) {
    const std::vector<std::string> stacks =
        lineage_of(memory_stacks(test::model_data()), memory_stacks(test::model_data()).find("megatron-core"));
    StepUnknown unknown{kind, true, stacks, "h100-sxm-80gb", "hopper", {}};
    unknown.stragglers = straggler_share(step_parameters(test::model_data()).physics, 64);
    const double deviation = std::sqrt(posterior.variance(unknown).total());
    return std::expm1(posterior.quantiles_of(kind).eighty * deviation);
  };
  CHECK(width("") == doctest::Approx(expected(StepKind::dense)));
  CHECK(width("method=sft") == doctest::Approx(expected(StepKind::adapters)));
}

TEST_CASE("what nobody measured is told, a software or SKU that no run used widens, a size does not") {
  const Confidence ground = read(std::string{table});
  const PlanConfidence inside = confidence_of(train(run_scenario()), ground);
  CHECK(inside.outside.empty());
  const auto told = [&](std::vector<std::string> more) {
    const PlanConfidence c = confidence_of(train(run_scenario(std::move(more))), ground);
    CHECK(c.width >= 0.999 * inside.width);
    REQUIRE(c.outside.size() == 1);
    return c.outside[0];
  };
  CHECK(told({"hardware.gpus=128"}) == "128 GPUs: the largest measured run had 64");
  CHECK(told({"hardware.gpu=h200-sxm-141gb"}) == "h200-sxm-141gb: no measured row on this SKU");
  CHECK(told({"training.precision=tf32"}) == "tf32 on hopper: measured there are bf16");
  CHECK(told({"training.software=torchtitan"}) == "torchtitan: no measured row under this software");
  CHECK(told({"training.seq_len=16384"}) == "sequence 16384: measured 2048 to 8192");
  CHECK(told({"model=llama3-70b"}) == "hidden 8192: measured 1024 to 4096");
  const PlanConfidence far = confidence_of(train(run_scenario({"hardware.gpu=b200-sxm-180gb"})), ground);
  REQUIRE(far.outside.size() == 2);
  CHECK(far.outside[1] == "generation blackwell: no measured row of it");
}

TEST_CASE("experts whose ranks lie in several NVLink domains widen the interval, within one domain they do not") {
  const std::vector<std::string> base{"model=mixtral-8x7b", "hardware.gpus=64", "strategy.tp=1", "strategy.pp=1"};
  const auto planned = [&](const char* ep, const char* gpu) {
    std::vector<std::string> more = base;
    more.push_back(std::string{"strategy.ep="} + ep);
    more.push_back(std::string{"hardware.gpu="} + gpu);
    more.emplace_back("model=qwen3-235b-a22b");
    return make_plan(run_scenario(std::move(more)), false);
  };
  const Plan inside = planned("8", "h100-sxm-80gb");
  const Plan across = planned("32", "h100-sxm-80gb");
  REQUIRE(inside.confidence);
  REQUIRE(across.confidence);
  CHECK(inside.confidence->run_class == RunClass::experts);
  CHECK(across.confidence->run_class == RunClass::experts);
  CHECK_FALSE(inside.confidence->wide_experts());
  CHECK(across.confidence->wide_experts());
  CHECK(across.confidence->width > inside.confidence->width);
  const auto& step = std::get<TrainPlan>(across.answer).step;
  if (step.mid.raw() > 0.0) {
    CHECK(step.high / step.mid == doctest::Approx(1.0 + across.confidence->width));
  }
  // 32 ranks of an NVL72 are one domain
  CHECK_FALSE(planned("32", "gb200-nvl72").confidence->wide_experts());
  CHECK(widest_class(step_confidence(test::model_data())) !=
        RunClass::wide_experts);  // no part of what nobody measured
}

TEST_CASE("wide experts hide nothing of the class beside which they stand: the larger of both at each quantile") {
  const Confidence table_of_both = read(crossing_widths());
  const ClassErrors both = wide_errors(table_of_both, table_of_both[RunClass::other_kernels]);
  CHECK(both.width_50 == 0.2);  // of wide experts
  CHECK(both.width_80 == 0.3);
  CHECK(both.width_90 == 0.9);  // of kernels nobody measured
  CHECK(both.level == 0.4);
  CHECK(both.shape == 0.1);
  // the answer says both
  const PlanConfidence c = confidence_of(train(run_scenario({"model=mixtral-8x7b", "hardware.gpu=mi300x"})),
                                         table_of_both, /*wide_experts=*/true);
  CHECK(c.run_class == RunClass::other_kernels);
  CHECK(c.width == 0.3);
  CHECK(c.classes() ==
        "SKU whose kernels nobody measured, with experts that tokens meet over NICs, between NVLink domains");
}

TEST_CASE("errors of two halves of a question add up as independent ones do") {
  ClassErrors a;
  ClassErrors b;
  a.width_50 = a.width_80 = a.width_90 = std::expm1(0.3);
  b.width_50 = b.width_80 = b.width_90 = std::expm1(0.4);
  a.rows = 7;
  const ClassErrors both = errors_beside(a, b);
  CHECK(both.width_80 == doctest::Approx(std::expm1(0.5)));
  CHECK(both.rows == 7);
}

TEST_CASE("what single runs differ by stays beside runs of one's own, but for what like jobs have in common") {
  ClassErrors own;
  own.level = 0.08;
  own.shape = 0.06;
  StepPosterior posterior;
  posterior.shape = 0.1;
  posterior.quantiles[0].eighty = 0.5 * 1.2815515655446004;  // most runs lie within half of the shape
  const ClassErrors apart = errors_beside_runs(own, RunClass::dense, posterior, false);
  CHECK(apart.shape == own.shape);
  CHECK(apart.level == doctest::Approx(own.level));
  posterior.alike = 0.75;
  const ClassErrors like = errors_beside_runs(own, RunClass::dense, posterior, false);
  CHECK(like.shape == doctest::Approx(0.03));
  CHECK(std::hypot(like.level, like.shape) == doctest::Approx(0.1));
  // A run of the very job tells what most runs do not differ by.
  const ClassErrors same = errors_beside_runs(own, RunClass::dense, posterior, true);
  CHECK(same.shape == doctest::Approx(0.015));
  CHECK(std::hypot(same.level, same.shape) == doctest::Approx(0.1));
}

TEST_CASE("a broken table tells every problem at once") {
  CHECK_NOTHROW(read(std::string{table}));
  const auto said = [](std::string_view from, std::string_view to) -> std::string {
    try {
      read(std::string{table}, from, to);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said("width_80 = 0.2", "width_80 = 0.05").find("t.toml:9:12: error: width_50, width_80") != std::string::npos);
  CHECK(said("width_80 = 0.2", "width_80 = 0.35").find("must not fall") != std::string::npos);
  CHECK(said("level = 0.1", "level = 0.0").find("t.toml:11:9: error: 'level'") != std::string::npos);
  CHECK(said("sources = 2", "sources = 11").find("'sources' is above 'rows'") != std::string::npos);
  CHECK(said("[class.experts]", "[class.expert]").find("experts") != std::string::npos);
  CHECK(said("hidden = [1024, 4096]", "hidden = [4096, 1024]").find("[smallest, largest]") != std::string::npos);
  CHECK(said("[\"bf16\"]", "[\"bf61\"]").find("did you mean 'bf16'?") != std::string::npos);
  CHECK(said("gpus = 64", "gpsu = 64").find("unknown key") != std::string::npos);
}
