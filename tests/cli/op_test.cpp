// SPDX-License-Identifier: Apache-2.0
// Single questions of `headroom op`: every option reaches its place in the model, and an answer's numbers agree.
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/convolution.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include "verbs.hpp"
#include <algorithm>
#include <sstream>

using namespace headroom;
using headroom::test::near;

namespace {

constexpr std::string_view gpu = "h100-sxm-80gb";

const Device& h100() {
  static const Device device = Catalog::standard().device(gpu);
  return device;
}
const CurveSet& curves() {
  static const CurveSet set = find_curve_set(test::model_data(), h100());
  return set;
}

bool is_flag(std::string_view name) {
  const auto options = cli::op_verb.options;
  const auto at = std::find_if(options.begin(), options.end(), [&](const cli::Option& o) { return o.name == name; });
  REQUIRE(at != options.end());
  return at->kind == cli::OptionKind::flag;
}

/// "gemm -m 16 ..." asked of the H100 as JSON.
ConfigValue asked(const std::string& question, std::string_view of = gpu) {
  cli::Arguments arguments;
  arguments.add("--gpu", std::string{of});
  arguments.add("--format", "json");
  std::istringstream words{question};
  for (std::string word; words >> word;) {
    if (word.front() != '-') {
      arguments.add("", word);
    } else if (is_flag(word)) {
      arguments.add(word, "");
    } else {
      std::string value;
      words >> value;
      arguments.add(word, value);
    }
  }
  const cli::Outcome outcome = cli::op_verb.run(arguments);
  CHECK(outcome.code == 0);
  return parse_json(outcome.out, "op");
}

double number(const ConfigValue& answer, std::string_view key) {
  const ConfigValue* found = answer.find(key);
  REQUIRE_MESSAGE(found != nullptr, key);
  return found->kind == ConfigValue::Kind::integer ? static_cast<double>(found->integer) : found->number;
}

/// An end of the time's interval.
double time_end(const ConfigValue& answer, std::string_view end) {
  const ConfigValue* const time = answer.find("time_s");
  REQUIRE(time != nullptr);
  return number(*time, end);
}

double seconds(const std::string& question) {
  return time_end(asked(question), "mid");
}

KernelDevice limits(Rate rate = Rate::bf16) {
  return kernel_device(h100(), rate);
}

}  // namespace

TEST_CASE("op gemm: k = 4095 takes several times as long as 4096, and padding takes that back") {
  const ConfigValue odd = asked("gemm -m 4096 -n 4096 -k 4095");
  const double padded = seconds("gemm -m 4096 -n 4096 -k 4096");
  CHECK(time_end(odd, "mid") / padded == doctest::Approx(5.54).epsilon(0.03));
  CHECK(time_end(odd, "low") / padded > 1.0);
  CHECK(time_end(odd, "high") / padded > 6.5);
  CHECK(number(odd, "padded_s") == near(padded, 0.001));
}

TEST_CASE("op prefill: batch, lengths, heads, window and cache are those of the options") {
  const AttentionFormat& format = *find_attention_format("bf16/fp8");
  const auto chosen = choose_prefill(curves(), h100(), format, "vllm");
  const PrefillModel model{chosen.curve->values, limits(), format};
  CHECK(seconds("attention-prefill --batch 3 --seq-len 512 --prefix 1024 --heads 16 --kv-heads 4 --head-dim 64 "
                "--window 256 --kv-dtype fp8 --engine vllm") ==
        near(model.time({3, 512, 1536, 16, 4, 64, 256, true}).raw()));
  CHECK(seconds("attention-prefill --seq-len 512 --heads 16 --no-causal --kv-dtype fp8 --engine vllm") ==
        near(model.time({1, 512, 512, 16, 16, 128, 0, false}).raw()));
}

TEST_CASE("op decode: one token of each sequence over its keys, queries in fp8 have an fp8 cache") {
  const AttentionFormat& wide = *find_attention_format("bf16/bf16");
  const auto chosen = choose_decode(curves(), h100(), wide);
  const DecodeModel model{chosen.curve->values, limits(), wide};
  CHECK(seconds("attention-decode --batch 7 --seq-len 3000 --heads 32 --kv-heads 8 --window 2048") ==
        near(model.time({7, 1, 3000, 32, 8, 128, 2048, true}).raw()));
  const AttentionFormat& narrow = *find_attention_format("fp8/fp8");
  const auto other = choose_decode(curves(), h100(), narrow);
  const DecodeModel eight{other.curve->values, limits(Rate::fp8), narrow};
  CHECK(seconds("attention-decode --batch 7 --seq-len 3000 --heads 32 --kv-heads 8 --dtype fp8") ==
        near(eight.time({7, 1, 3000, 32, 8, 128, 0, true}).raw()));
}

TEST_CASE("op training attention: the pass and the implementation, by default the newest that was measured") {
  const AttentionShape shape{2, 4096, 4096, 16, 4, 64, 0, false};
  const auto time = [&](std::string_view name, AttentionPass pass) {
    const AttentionImplementation& implementation = *find_attention_implementation(name);
    const auto chosen = choose_training_attention(curves(), h100(), implementation);
    return TrainingAttentionModel{chosen.curve->values, limits(), implementation.algorithm}.time(shape, pass).raw();
  };
  const std::string question =
      "attention-training --batch 2 --seq-len 4096 --heads 16 --kv-heads 4 --head-dim 64 --no-causal";
  CHECK(seconds(question) == near(time("flash3", AttentionPass::both)));
  CHECK(seconds(question + " --engine standard --pass backward") == near(time("standard", AttentionPass::backward)));
}

TEST_CASE("op training attention: written scores of 16 384 tokens are out of memory on 80 GB, of 8 192 and fused not") {
  const auto fits = [](const std::string& more) {
    const ConfigValue answer = asked("attention-training --heads 32 --head-dim 64 " + more, "a100-sxm-80gb");
    const ConfigValue* notes = answer.find("notes");
    REQUIRE(notes != nullptr);
    return std::none_of(notes->items.begin(), notes->items.end(),
                        [](const ConfigValue& note) { return note.text.starts_with("out of memory"); });
  };
  CHECK_FALSE(fits("--seq-len 16384 --engine standard"));
  CHECK(fits("--seq-len 8192 --engine standard"));
  CHECK(fits("--seq-len 16384 --engine flash2"));
}

TEST_CASE("op moe: each size, tp, ep, routing and gate in its place") {
  const GemmFormat& format = *find_gemm_format("fp8");
  const MoeRouting law{Routing::power_law, 1.2};
  const auto chosen = choose_moe(curves(), h100(), format, Routing::power_law, "vllm");
  const MoeModel model{chosen.curve->values, limits(Rate::fp8), format};
  const MoeShape shape{96, 4096, 1536, 6, 64, 2, 4, false};
  CHECK(seconds("moe --tokens 96 --hidden 4096 --inter 1536 --topk 6 --experts 64 --tp 2 --ep 4 --no-gate --dtype fp8 "
                "--engine vllm --routing power_law_1.2") == near(model.time(shape, law).raw()));
}

TEST_CASE("op passes: traffic of the options, the curve of the cast where it was measured") {
  const auto pass = [&](const MemoryOp& op, std::string_view kernel = "scale_matrix", std::string_view engine = "") {
    return MemoryModel{choose_memory(curves(), h100(), kernel, engine).values, limits()}.time(op).raw();
  };
  CHECK(seconds("elementwise --elements 100000000 --inputs 3 --dtype fp32") == near(pass(elementwise(1e8, 3, 4))));
  CHECK(seconds("norm --rows 3000 --columns 5120") == near(pass(norm(3000, 5120, 2))));
  CHECK(seconds("softmax-cross-entropy --rows 3000 --columns 32000 --dtype fp32 --gradient") ==
        near(pass(softmax_cross_entropy(3000, 32000, 4, true))));
  CHECK(seconds("embedding --rows 3000 --columns 5120") == near(pass(gather(3000, 5120, 2))));
  CHECK(seconds("gather --rows 3000 --columns 5") == near(pass(gather(3000, 5, 2))));
  CHECK(seconds("reduction --rows 3000 --columns 5120") == near(pass(reduction(3000, 5120, 2))));
  CHECK(seconds("quantize --rows 3000 --columns 5120 --to fp8") == near(pass(quantise(3000, 5120, 2, 1))));
  MemoryOp by_row = quantise(3000, 5120, 2, 1);
  by_row.rows = 3000;
  CHECK(seconds("quantize --rows 3000 --columns 5120 --engine vllm") == near(pass(by_row, "scale_matrix", "vllm")));
  CHECK(seconds("optimizer --parameters 100000000") == near(pass(optimizer_pass(1e8, {8, 4, 2, 4}))));
  CHECK(seconds("optimizer --parameters 100000000 --optimizer adamw-8bit --grad-dtype bf16 --no-master") ==
        near(pass(optimizer_pass(1e8, {2, 2, 2, 0}))));
}

TEST_CASE("op convolution: sizes in their places, one size for all dimensions") {
  const GemmFormat& format = *find_gemm_format("fp16");
  const auto chosen = choose_gemm(curves(), h100(), format);
  const GemmModel model{chosen.curve->values, limits(Rate::fp16), format};
  ConvShape shape{8, 64, 128, {56, 28, 1}, {3, 5, 1}, {2, 1, 1}, {1, 2, 0}, {1, 1, 1}, 2};
  const std::string question =
      "convolution --batch 8 --in-channels 64 --out-channels 128 --in 56x28 --kernel-size 3x5 --stride 2x1 "
      "--padding 1x2 --groups 2 --dtype fp16";
  CHECK(seconds(question) == near(conv_time(model, format, shape, ConvPass::forward).raw()));
  CHECK(seconds(question + " --pass weight-gradient") ==
        near(conv_time(model, format, shape, ConvPass::weight_gradient).raw()));
  shape = {1, 8, 8, {16, 16, 16}, {3, 3, 3}, {1, 1, 1}, {2, 2, 2}, {2, 2, 2}, 1};
  CHECK(seconds("convolution --in-channels 8 --out-channels 8 --in 16x16x16 --kernel-size 3 --padding 2 --dilation 2 "
                "--dtype fp16") == near(conv_time(model, format, shape, ConvPass::forward).raw()));
}

TEST_CASE("an answer's numbers agree with each other") {
  for (const std::string question :
       {"gemm -m 4096 -n 4096 -k 4096", "attention-prefill --seq-len 4096 --heads 32",
        "attention-decode --batch 32 --seq-len 4096 --heads 32", "attention-training --seq-len 4096 --heads 32",
        "moe --tokens 512 --hidden 4096 --inter 1536 --topk 8 --experts 64 --dtype fp8",
        "convolution --in-channels 64 --out-channels 64 --in 56x56 --kernel-size 3",
        "norm --rows 8192 --columns 8192"}) {
    CAPTURE(question);
    const ConfigValue answer = asked(question);
    const double time = time_end(answer, "mid");
    CHECK(time_end(answer, "low") < time);
    CHECK(time_end(answer, "high") > time);
    CHECK(number(answer, "roofline_s") < time);
    const double peak = limits(question.find("fp8") != std::string::npos ? Rate::fp8 : Rate::bf16).peak.raw();
    CHECK(number(answer, "of_peak") * time * peak == doctest::Approx(number(answer, "flop")));
    CHECK(number(answer, "of_bandwidth") * time * h100().bandwidth().raw() ==
          doctest::Approx(number(answer, "moved_bytes")));
    CHECK(std::max(number(answer, "of_peak"), number(answer, "of_bandwidth")) ==
          near(number(answer, "roofline_s") / time));
    const ConfigValue* helps = answer.find("helps");
    REQUIRE(helps != nullptr);
    CHECK(helps->items.size() >= 3);
    double before = 0.0;
    for (const ConfigValue& help : helps->items) {
      CHECK(number(help, "time_ratio") >= before);
      before = number(help, "time_ratio");
    }
  }
}

TEST_CASE("--kind of a file lists every kind: kernels of op, collectives of collective, both of fit") {
  const auto choices = [](const cli::Verb& verb) {
    const auto kind =
        std::find_if(verb.options.begin(), verb.options.end(), [](const cli::Option& o) { return o.name == "--kind"; });
    return kind == verb.options.end() ? std::string{} : std::string{kind->value};
  };
  std::string all;
  std::string kernels;
  std::string collectives;
  for (std::size_t i = 0; i < kernel_kind_count; ++i) {
    std::string& some = is_collective(static_cast<KernelKind>(i)) ? collectives : kernels;
    some += (some.empty() ? "" : "|") + std::string{kernel_kind_names[i]};
    all += (all.empty() ? "" : "|") + std::string{kernel_kind_names[i]};
  }
  CHECK(choices(cli::op_verb) == kernels);
  CHECK(choices(cli::collective_verb) == collectives);
  CHECK(choices(cli::fit_verb) == all);
}
