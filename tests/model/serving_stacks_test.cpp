// SPDX-License-Identifier: Apache-2.0
// Which stack stands for an engine's release, what it inherits, what its files may not say, and the classes of past
// errors.
#include <headroom/core/release.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using test::near;

namespace {

ServingStack named(std::string id, std::string name, std::string from = "", std::string before = "") {
  ServingStack stack;
  stack.id = std::move(id);
  stack.names = {std::move(name)};
  stack.from = std::move(from);
  stack.before = std::move(before);
  return stack;
}

std::string picked(const std::vector<ServingStack>& stacks, std::string_view engine, std::string_view version) {
  const ServingStack* stack = stack_of_release(stacks, engine, version);
  return stack == nullptr ? "none" : stack->id;
}

const ServingStack& standard(std::string_view id) {
  static const std::vector<ServingStack> stacks = serving_stacks(test::model_data());
  const auto found = std::find_if(stacks.begin(), stacks.end(), [&](const ServingStack& s) { return s.id == id; });
  REQUIRE(found != stacks.end());
  return *found;
}

std::string text_of(const std::string& path) {
  std::ifstream stream{std::string{HEADROOM_SOURCE_DIR} + "/" + path, std::ios::binary};
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string with(std::string text, std::string_view old, std::string_view fresh) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

int line_of(const std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::vector<Diagnostic> stack_problems(const std::string& text) {
  Diagnostics diagnostics;
  static_cast<void>(read_serving_stack(parse_toml(text, "s.toml"), "s.toml", diagnostics));
  return diagnostics.sorted();
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "releases of a container's component: bounds compare the number after its word, and nothing else of the text") {
  std::vector<ServingStack> stacks{named("now", "harness"), named("former", "harness", "", "13")};
  stacks[1].component = "CUDA";
  CHECK(picked(stacks, "harness", "TensorRT 10.11, CUDA 12.9") == "former");
  CHECK(picked(stacks, "harness", "TensorRT 14.11, CUDA 12.9") == "former");
  CHECK(picked(stacks, "harness", "TensorRT 10.14, CUDA 13.1, cuDNN 9.17") == "now");
  CHECK(picked(stacks, "harness", "CUDA") == "now");
  CHECK(picked(stacks, "harness", "CUDA-Q 0.9, CUDA 12.9") == "former");
  CHECK(picked(stacks, "harness", "12.9") == "now");
  CHECK(picked(stacks, "harness", "") == "now");
}

TEST_CASE("releases compare number by number: 0.10 lies behind 0.9, candidates belong to their release") {
  const std::vector<ServingStack> stacks{named("now", "E"), named("old", "E", "", "0.10"),
                                         named("middle", "E", "0.10", "1.0"), named("other", "F")};
  CHECK(picked(stacks, "E", "0.9") == "old");
  CHECK(picked(stacks, "E", "0.9.2") == "old");
  CHECK(picked(stacks, "E", "0.2.1") == "old");
  CHECK(picked(stacks, "E", "0.10") == "middle");
  CHECK(picked(stacks, "E", "0.10.0") == "middle");
  CHECK(picked(stacks, "E", "v0.11.0") == "middle");
  CHECK(picked(stacks, "E", "0.99.99") == "middle");
  CHECK(picked(stacks, "E", "1.0.0rc3") == "now");
  CHECK(picked(stacks, "E", "1.0") == "now");
  CHECK(picked(stacks, "E", "") == "now");
  CHECK(picked(stacks, "E", "nightly") == "now");
  CHECK(picked(stacks, "F", "0.9") == "other");
  CHECK(picked(stacks, "G", "0.9") == "none");
  CHECK(picked(stacks, "e", "0.9") == "none");  // as rows spell it
  const std::vector<ServingStack> bounded{named("old", "E", "", "0.10")};
  CHECK(picked(bounded, "E", "0.10") == "none");
  CHECK(picked(bounded, "E", "") == "none");
}

TEST_CASE("the releases of measured rows meet the stacks that were fitted on them") {
  const std::vector<ServingStack> stacks = serving_stacks(test::model_data());
  CHECK(picked(stacks, "vLLM", "0.7.3") == "vllm-v0");
  CHECK(picked(stacks, "vLLM", "0.8.0") == "vllm-2025");
  CHECK(picked(stacks, "vLLM", "0.12.3") == "vllm-2025");
  CHECK(picked(stacks, "vLLM", "0.13.0") == "vllm");
  CHECK(picked(stacks, "vLLM", "0.19.0") == "vllm");
  CHECK(picked(stacks, "1Cat-vLLM", "") == "vllm");
  CHECK(picked(stacks, "TensorRT-LLM", "0.5.0") == "tensorrt-llm-static");
  CHECK(picked(stacks, "TensorRT-LLM", "0.9.0") == "tensorrt-llm-static");
  CHECK(picked(stacks, "TensorRT-LLM", "0.10.0") == "tensorrt-llm-engines");
  CHECK(picked(stacks, "TensorRT-LLM (run.py)", "0.11.0") == "tensorrt-llm-script");
  CHECK(picked(stacks, "TensorRT-LLM", "0.17") == "tensorrt-llm-engines-2025");
  CHECK(picked(stacks, "TensorRT-LLM", "0.20") == "tensorrt-llm");
  CHECK(picked(stacks, "TensorRT-LLM", "1.0.0rc3") == "tensorrt-llm");
  CHECK(picked(stacks, "TensorRT-LLM (PyTorch backend)", "0.17") == "tensorrt-llm");
  CHECK(picked(stacks, "SGLang", "0.4.6") == "sglang");
  CHECK(picked(stacks, "SGLang", "0.5.9") == "sglang");
  CHECK(picked(stacks, "SGLang", "0.5.10.post1") == "sglang-2026");    // prompts in graphs by default
  CHECK(picked(stacks, "SGLang", "2025-05 (EP branch)") == "sglang");  // a date is no release
  CHECK(!release_of("2025-05").known);
  CHECK(release_of("25.05").known);
  CHECK_THROWS_WITH_AS(find_serving_stack(test::model_data(), Engine::vllm, "2025-05"),
                       doctest::Contains("is no release"), ConfigError);
  CHECK(picked(stacks, "vLLM", "2026-02") == "vllm");
  CHECK(picked(stacks, "SGLang", "nightly") == "sglang");
}

TEST_CASE("a release runs the kernels that it had: experts in mxfp4 on Hopper before vLLM 0.11.1") {
  const ServingStack& vllm = standard("vllm");
  for (const char* before : {"v0.10.2", "0.11.0"}) {
    CAPTURE(before);
    const std::vector<ExpertFamily> families = vllm.expert_families(before);
    REQUIRE(families.size() == 1);
    CHECK(families[0].kernel == "marlin");
    CHECK(families[0].format == "w4a16_mxfp4");
    CHECK(families[0].generation == "hopper");
  }
  for (const char* after : {"0.11.1", "0.11.2", "v0.13.0", "", "nightly"}) {
    CAPTURE(after);
    CHECK(vllm.expert_families(after).empty());
  }
  CHECK(find_serving_stack(test::model_data(), Engine::vllm, "0.7.3").id == "vllm-v0");
  CHECK(find_serving_stack(test::model_data(), Engine::vllm, "0.19").id == "vllm");
  CHECK(find_serving_stack(test::model_data(), Engine::tensorrt_llm, "0.17").id == "tensorrt-llm-engines-2025");
  CHECK_THROWS_AS(static_cast<void>(find_serving_stack(test::model_data(), Engine::vllm, "latest")), ConfigError);
}

TEST_CASE("a stack inherits what it does not state, over two steps too, and keeps what it does") {
  const ServingStack& vllm = standard("vllm");
  const ServingStack& v0 = standard("vllm-v0");
  CHECK(v0.base == "vllm");
  CHECK(v0.engine == Engine::vllm);
  CHECK(v0.names.front() == vllm.names.front());
  CHECK(v0.memory.framework.raw() == vllm.memory.framework.raw());
  CHECK(v0.memory.logit_bytes == vllm.memory.logit_bytes);
  CHECK(v0.before == "0.8");
  CHECK(vllm.before.empty());
  CHECK(v0.max_num_tokens == 8192);
  CHECK(vllm.max_num_tokens == 2048);
  CHECK(v0.time.step > vllm.time.step);
  const ServingStack& engines = standard("tensorrt-llm-engines");
  const ServingStack& fixed = standard("tensorrt-llm-static");
  CHECK(fixed.base == "tensorrt-llm-engines");
  CHECK(fixed.memory.quantised_bytes == engines.memory.quantised_bytes);
  CHECK(fixed.memory.quantised_bytes != standard("tensorrt-llm").memory.quantised_bytes);
  CHECK(fixed.memory.framework.raw() == standard("tensorrt-llm").memory.framework.raw());
  CHECK(fixed.memory.framework.raw() > 0.0);
  CHECK_FALSE(fixed.time.windows);
  CHECK(standard("tensorrt-llm-script").time.vector == fixed.time.vector);
  CHECK(fixed.time.vector > 0.0);
  CHECK(engines.time.vector == 0.0);  // on tensor cores
  CHECK(standard("tensorrt-llm").time.windows);
}

TEST_CASE("numbers of an iteration: every key of the files reads what was set under it, and no other does") {
  const auto tried = [](auto owner, const std::vector<std::string_view>& keys) {
    for (const std::string_view key : keys) {
      CAPTURE(key);
      auto changed = owner;
      set_iteration_number(changed, key, 0.125);
      for (const std::string_view other : keys) {
        CHECK(iteration_number(changed, other) == (other == key ? 0.125 : iteration_number(owner, other)));
      }
    }
    CHECK_THROWS_AS(static_cast<void>(iteration_number(owner, "tempo")), ConfigError);
  };
  tried(IterationStack{}, iteration_stack_keys());
  tried(IterationPhysics{}, iteration_physics_keys());
  CHECK(is_iteration_time("layer"));
  CHECK(is_iteration_time("request"));
  CHECK_FALSE(is_iteration_time("products"));
  CHECK_FALSE(is_iteration_time("overlap"));
}

TEST_CASE("a request takes its own time and that of each token of its prompt before its iterations") {
  IterationStack stack;
  stack.request = Seconds{3e-3};
  stack.tokenise = Seconds{5e-6};
  CHECK(stack.way(0.0).raw() == near(3e-3));
  CHECK(stack.way(8192.0).raw() == near(3e-3 + 40.96e-3));
  CHECK(is_iteration_time("tokenise"));
  // clients of compiled engines send tokens, those of the others text
  CHECK(standard("tensorrt-llm").time.tokenise.raw() > 1e-6);
  CHECK(standard("tensorrt-llm-engines").time.tokenise.raw() == 0.0);
}

TEST_CASE("a stack's file: unknown keys, fitted names that are none and bare times, all at once with their places") {
  const std::string good = text_of("model/stacks/serve/vllm.toml");
  REQUIRE(stack_problems(good).empty());
  std::string bad = with(good, "\nsequence = ", "\nsequences = ");
  bad = with(bad, "\"expert_layer\"", "\"expret_layer\"");
  bad = with(bad, "step = \"220 us\"", "step = 220");
  bad = with(bad, "curves = \"vllm\"", "curves = \"vllm\"\ntempo = 3");
  const std::vector<Diagnostic> problems = stack_problems(bad);
  const auto told = [&](std::string_view part, int line) {
    return std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) {
      return holds(d.message, part) && d.file == "s.toml" && d.at.line == line && d.at.column > 0;
    });
  };
  CHECK(problems.size() == 4);
  CHECK(told("'sequences'", line_of(bad, "sequences = \"")));
  CHECK(told("did you mean 'sequence'", line_of(bad, "sequences = \"")));
  CHECK(told("'expret_layer' is no number of this table; did you mean 'expert_layer'?", line_of(bad, "fitted = ")));
  CHECK(told("step", line_of(bad, "step = 220")));
  CHECK(told("'tempo'", line_of(bad, "tempo = 3")));
}

TEST_CASE("the numbers of all engines: unknown keys and fitted names that are none, with their places") {
  const std::string text =
      "schema = 1\nid = \"serve\"\nfitted = [\"overlap\", \"step\"]\nall_reduce = 1.5\nall_reduces = 2.0\n"
      "bubble = -1.0\nsource = \"s\"\n";
  Diagnostics diagnostics;
  const IterationPhysics physics = read_iteration_physics(parse_toml(text, "p.toml"), "p.toml", diagnostics);
  CHECK(physics.all_reduce == 1.5);
  CHECK(physics.passes == 1.0);  // not stated
  const std::vector<Diagnostic> problems = diagnostics.sorted();
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].at.line == 3);
  CHECK(holds(problems[0].message, "'step' is no number of this table"));
  CHECK(problems[1].at.line == 5);
  CHECK(holds(problems[1].message, "all_reduces"));
  CHECK(problems[2].at.line == 6);
}

TEST_CASE("exchanges of experts: rules as the files state them, and what they may not say") {
  const std::string vllm = text_of("model/stacks/serve/vllm.toml");
  const ServingStack& stack = standard("vllm");
  REQUIRE(stack.all_to_all.size() == 4);
  CHECK(stack.all_to_all[0].activations == "nvfp4");
  CHECK(stack.all_to_all[0].backend == "flashinfer_nvlink_one_sided");
  CHECK(stack.all_to_all[1].activations.empty());
  // As many ranks as a token has experts, in a domain that spans hosts, and over NICs.
  const auto backend = [&](bool nics, std::int64_t domain, Precision activations) {
    const AllToAllRule* rule = rule_of(stack.all_to_all, {8, nics, domain, 8.0, activations});
    return rule == nullptr ? std::string{} : rule->backend + " " + rule->prompts_backend;
  };
  CHECK(backend(false, 72, Precision::nvfp4) == "flashinfer_nvlink_one_sided flashinfer_nvlink_one_sided");
  CHECK(backend(false, 72, Precision::fp8) == "flashinfer_nvlink_two_sided flashinfer_nvlink_two_sided");
  CHECK(backend(false, 8, Precision::nvfp4).empty());
  CHECK(backend(true, 8, Precision::nvfp4) == "deepep_low_latency deepep_high_throughput");
  CHECK(stack.all_to_all[0].over == ExchangeOver::domain);
  CHECK(stack.all_to_all[0].domain_above == 8);
  CHECK_FALSE(stack.all_to_all[0].beyond_top_k);  // a matter of the launch, whatever a token's experts
  CHECK(standard("tensorrt-llm").all_to_all[0].beyond_top_k);
  CHECK_FALSE(standard("sglang").all_to_all[0].beyond_top_k);
  CHECK(stack.all_to_all[3].over == ExchangeOver::hosts);
  CHECK(stack.all_to_all[3].decodes == std::vector<std::string>{"deepep_ll_dispatch", "deepep_ll_combine"});
  CHECK(stack.all_to_all[3].sms == 20.0);
  // By release: one-sided kernels and the words of both from 0.19 on; a release that is no number is the current one.
  const auto of_release = [&](std::string_view release, Precision activations) {
    const std::vector<AllToAllRule> rules = stack.exchange_rules(release);
    return rule_of(rules, {8, false, 72, 8.0, activations})->backend;
  };
  CHECK(of_release("0.13.0", Precision::nvfp4) == "flashinfer_all2allv");
  CHECK(of_release("0.18.1", Precision::fp8) == "flashinfer_all2allv");
  CHECK(of_release("0.19.0", Precision::nvfp4) == "flashinfer_nvlink_one_sided");
  CHECK(of_release("0.19.0", Precision::fp8) == "flashinfer_nvlink_two_sided");
  CHECK(of_release("nightly", Precision::nvfp4) == "flashinfer_nvlink_one_sided");
  CHECK(of_release("", Precision::nvfp4) == "flashinfer_nvlink_one_sided");
  const IterationPhysics& physics = iteration_physics(test::model_data());
  CHECK(engine_kernels(stack, physics, "0.13.0").all_to_all[0].backend == "flashinfer_all2allv");
  CHECK(engine_kernels(stack, physics, "").all_to_all[0].backend == "flashinfer_nvlink_one_sided");
  CHECK_FALSE(engine_kernels(stack, physics, "0.19.0").joined_norms);
  CHECK(engine_kernels(stack, physics, "0.23.0").joined_norms);
  CHECK(engine_kernels(stack, physics, "").joined_norms);
  // Whoever dispatches at all does so over NICs too.
  for (const ServingStack& each : serving_stacks(test::model_data())) {
    for (const AllToAllRule& rule : each.all_to_all) {
      CAPTURE(each.id);
      CHECK_FALSE(rule.source.empty());
    }
    CHECK((each.all_to_all.empty() ||
           std::any_of(each.all_to_all.begin(), each.all_to_all.end(),
                       [](const AllToAllRule& rule) { return rule.over == ExchangeOver::hosts; })));
  }
  const auto problems = stack_problems(
      with(with(vllm, "over = \"hosts\"", "over = \"racks\""), "\"deepep_ll_combine\"", "\"deepep_ll_combined\""));
  CHECK(std::any_of(problems.begin(), problems.end(), [](const Diagnostic& d) { return holds(d.message, "racks"); }));
  CHECK(std::any_of(problems.begin(), problems.end(), [](const Diagnostic& d) {
    return holds(d.message, "'deepep_ll_combined' is no measured dispatch or combine of experts");
  }));
  CHECK_FALSE(
      stack_problems(with(vllm, "prompts = [\"deepep_normal_dispatch\", \"deepep_normal_combine\"]", "prompts = []"))
          .empty());
}

TEST_CASE("every fitted number of the files that ship is one of its table, and says what it rests on") {
  for (const ServingStack& stack : serving_stacks(test::model_data())) {
    CAPTURE(stack.id);
    CHECK_FALSE(stack.time.source.empty());
    CHECK(stack.time.fitted.size() <= 10);  // the budget of a stack
    for (const std::string& key : stack.time.fitted) {
      CHECK(iteration_number(stack.time, key) >= 0.0);
    }
  }
  CHECK(iteration_physics(test::model_data()).fitted.size() <= 15);
}

// ---- confidence -----------------------------------------------------------------------------------------------------

namespace {

std::string error_class(std::string_view stack, std::string_view quantity, bool experts, double low, double high) {
  std::ostringstream text;
  text << "\n[[class]]\nstack = \"" << stack << "\"\nquantity = \"" << quantity
       << "\"\nexperts = " << (experts ? "true" : "false") << "\nrows = 50\nsources = 2\nlow = " << low
       << "\nhigh = " << high << "\nmedian = 0.1\n";
  return text.str();
}
const std::string confidence_head = "schema = 1\nid = \"serve-confidence\"\nsource = \"s\"\n";
std::string all_of_any() {
  std::string text;
  double low = 0.5;
  for (const std::string_view quantity : serving_quantity_names) {
    for (const bool experts : {false, true}) {
      text += error_class("any", quantity, experts, low, 2.0);
      low += 0.01;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("errors of a class: the stack's own where it has one of that quantity and kind, else those of any") {
  Diagnostics diagnostics;
  const ServingConfidence confidence = read_serving_confidence(
      parse_toml(confidence_head + error_class("vllm", "tpot", false, 0.9, 1.1) + all_of_any(), "c.toml"), diagnostics);
  CHECK(diagnostics.empty());
  CHECK(confidence.of("vllm", ServingQuantity::tpot, false).low == 0.9);
  CHECK(confidence.of("vllm", ServingQuantity::tpot, true).low == 0.53);
  CHECK(confidence.of("vllm", ServingQuantity::ttft, false).low == 0.5);
  CHECK(confidence.of("vllm", ServingQuantity::rate, true).low == doctest::Approx(0.55));
  CHECK(confidence.of("sglang", ServingQuantity::tpot, false).low == 0.52);
  CHECK(confidence.of("vllm", ServingQuantity::tpot, false).text() ==
        "80 % of 50 measured TPOTs of dense models by vllm lie within -10 to +10 % of what the model says");
  CHECK(confidence.of("sglang", ServingQuantity::rate, true).text() ==
        "80 % of 50 measured rates of models with experts lie within -45 to +100 % of what the model says");
}

TEST_CASE("experts over NICs: as wide as the few published pools were off, and never narrower than the class") {
  WideExpertErrors wide;
  wide.pools = 5;
  wide.sources = 2;
  wide.low = 0.5;
  wide.high = 1.25;
  ServingErrors rate;
  rate.stack = "vllm";
  rate.quantity = ServingQuantity::rate;
  rate.experts = true;
  rate.rows = 50;
  rate.low = 0.8;
  rate.high = 1.5;
  const ServingErrors wider = over_nics(rate, wide);
  CHECK(wider.low == 0.5);
  CHECK(wider.high == 1.5);
  CHECK(
      wider.text() ==
      "80 % of 50 measured rates of models with experts by vllm lie within -20 to +50 % of what the model says, none "
      "with experts that tokens meet over NICs; 5 published pools of such, of 2 sources, widen the interval to -50 to "
      "+50 %");
  // a rate at half is a time twice as long
  rate.quantity = ServingQuantity::tpot;
  CHECK(over_nics(rate, wide).low == 0.8);
  CHECK(over_nics(rate, wide).high == 2.0);
  CHECK(wide_expert_errors(test::model_data()).low <
        serving_confidence(test::model_data()).of("vllm", ServingQuantity::rate, true).low);
  CHECK(wide_expert_errors(test::model_data()).pools > 0);
  // Pools launched with what predictions say of them leave no gain out that the width would have to hold.
  CHECK(wide_expert_errors(test::model_data()).launched.pools > 0);
  CHECK(wide_expert_errors(test::model_data()).launched.high < wide_expert_errors(test::model_data()).high);
}

TEST_CASE("a file of classes: wrong factors, unknown quantities and keys, and missing classes of any, all at once") {
  const std::string text = confidence_head + error_class("any", "ttft", false, 1.2, 0.9) +
                           error_class("vllm", "tpott", true, 0.8, 1.2) + "left_out = 0.1\n";
  Diagnostics diagnostics;
  static_cast<void>(read_serving_confidence(parse_toml(text, "c.toml"), diagnostics));
  const std::vector<Diagnostic> problems = diagnostics.sorted();
  const auto told = [&](std::string_view part, int line) {
    return std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) {
      return holds(d.message, part) && d.file == "c.toml" && (line == 0 || d.at.line == line);
    });
  };
  CHECK(told("low", line_of(text, "low = 1.2")));
  CHECK(told("high", line_of(text, "high = 0.9")));
  CHECK(told("tpott", line_of(text, "tpott")));
  CHECK(told("left_out", line_of(text, "left_out = ")));
  CHECK(told("there is none of stack \"any\" for ttft with experts", 0));
  CHECK(told("there is none of stack \"any\" for rate without experts", 0));
  CHECK_FALSE(told("there is none of stack \"any\" for ttft without experts", 0));
}

TEST_CASE("the classes that ship: every question has one, around what the model says") {
  for (const ServingStack& stack : serving_stacks(test::model_data())) {
    for (std::size_t i = 0; i < serving_quantity_names.size(); ++i) {
      const auto quantity = static_cast<ServingQuantity>(i);
      for (const bool experts : {false, true}) {
        const ServingErrors& e = serving_confidence(test::model_data()).of(stack.id, quantity, experts);
        CHECK(e.quantity == quantity);
        CHECK(e.experts == experts);
        CHECK((e.stack == stack.id || e.stack == "any"));
        CHECK(e.low <= 1.0);
        CHECK(e.high >= 1.0);
        CHECK(e.rows >= 40);
      }
    }
  }
}

TEST_CASE(
    "shared experts beside the routed ones: from the releases on that have it, of so many tokens, by CUDA alone") {
  const ModelData& data = test::model_data();
  const ServingStack& vllm = find_serving_stack(data, Engine::vllm);
  CHECK(vllm.shared_beside("") == 256.0);
  CHECK(vllm.shared_beside("0.11.1") == 256.0);
  CHECK(vllm.shared_beside("0.11.0") == 0.0);
  CHECK(find_serving_stack(data, Engine::vllm, "0.12.0").shared_beside("0.12.0") == 256.0);
  CHECK(find_serving_stack(data, Engine::sglang).shared_beside("0.5.9") == 1024.0);
  CHECK(find_serving_stack(data, Engine::tensorrt_llm).shared_beside("1.2.0rc6.post2") > 4096.0);
  CHECK(find_serving_stack(data, Engine::tensorrt_llm, "0.16.0").shared_beside("0.16.0") == 0.0);
  for (const ServingStack& stack : serving_stacks(data)) {
    CHECK((stack.shared_beside("") > 0.0) == (stack.id != "optimum-habana"));
  }
}
