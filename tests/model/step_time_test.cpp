// SPDX-License-Identifier: Apache-2.0
// The terms of a training step by hand, one at a time.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <cmath>
#include <optional>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

/// A dense decoder whose every width is a round number.
Architecture plain_network() {
  Architecture arch;
  arch.id = "plain";
  arch.layers = 24;
  arch.hidden = 4096;
  arch.heads = arch.kv_heads = 32;
  arch.head_dim = 128;
  arch.ffn_hidden = 16384;
  arch.vocab = 51200;
  return arch;
}

struct Case {
  std::string gpu = "a100-sxm-80gb";
  std::string node = "dgx-a100";
  std::string software = "megatron-lm";  ///< of its memory
  StepStack stack = test::stated_stack();
  Architecture architecture = plain_network();
  std::int64_t gpus = 8;
  std::int64_t batch = 64;
  Precision precision = Precision::bf16;
  MemoryOptions options{};
  std::vector<std::string> without{};
  std::optional<double> board_spread{};
};

CompiledTraining compiled(const Case& c) {
  Device device = catalog().device(c.gpu);
  if (c.board_spread) {
    device.compute.board_spread.emplace().value = *c.board_spread;
  }
  TrainingWorkload work;
  work.shape = {c.gpus, 2048, c.batch};
  work.precision = c.precision;
  work.states = adam_states(c.precision);
  work.options = c.options;
  static const MemoryStacks stacks = memory_stacks(test::model_data());
  return compile(c.architecture, device,
                 std::make_shared<const JobGroups>(test::model_data(), device,
                                                   JobHosts{catalog().node(c.node), 0, {}, {}}, c.gpus),
                 test::stated_software(stacks.find(c.software), c.stack), work, test::stated_parameters(),
                 parse_terms(c.without));
}

Strategy layout(int tp, int pp, std::int64_t gpus, int micro_batch = 1) {
  Strategy s;
  s.tp = static_cast<std::uint16_t>(tp);
  s.pp = static_cast<std::uint16_t>(pp);
  s.dp = static_cast<std::uint32_t>(gpus / (std::int64_t{tp} * pp));
  s.micro_batch = static_cast<std::uint16_t>(micro_batch);
  return s;
}

Estimate price(const CompiledTraining& c, const Strategy& s) {
  return evaluate(c, tabulate(c, key_of(s)), s);
}

constexpr double bandwidth = 0.78 * 2039e9;  // sustained on the A100's 2,039 GB/s
constexpr double tokens = 2048.0;

}  // namespace

TEST_CASE("layers that do not divide: L + 2 where that is whole, else the early stages") {
  CHECK(split_stages(80, 4).middle == 20.0);
  CHECK(split_stages(80, 4).last == 20.0);
  CHECK(split_stages(126, 16).middle == 8.0);  // Llama 3 405B: 128 / 16
  CHECK(split_stages(126, 16).last == 7.0);
  CHECK(split_stages(105, 35).last == 3.0);
  CHECK(split_stages(64, 12).middle == 6.0);  // neither 64 nor 66 divides by 12
  CHECK(split_stages(64, 12).last == 5.0);
}

TEST_CASE("passes over tensors move 20 h + 4 f + 12 h elements' bytes of a plain layer, twice that backward") {
  const StepTable table = compiled({}).step->tabulate({});
  const double bytes = 1.05 * tokens * (20.0 * 4096 + 4.0 * 16384 + 4.0 * 3.0 * 4096);
  CHECK(table.layer.forward.elementwise.raw() == near(bytes / bandwidth));
  CHECK(table.layer.backward.elementwise.raw() == near(2.0 * bytes / bandwidth));
}

TEST_CASE("fused attention is the software's measured kernel over stack x level of attention / level of products") {
  Case c;
  const CurveSet set = find_curve_set(test::model_data(), catalog().device(c.gpu));
  const auto kernel = [&](std::string_view name) {
    const Device& device = catalog().device(c.gpu);
    const AttentionImplementation& implementation = *find_attention_implementation(name);
    return TrainingAttentionModel{choose_training_attention(set, device, implementation).curve->values,
                                  kernel_device(device, Rate::bf16), implementation.algorithm};
  };
  const AttentionShape shape{1.0, tokens, tokens, 32.0, 32.0, 128.0, 0.0, true};
  for (const char* name : {"flash1", "flash2"}) {
    CAPTURE(name);
    c.stack.attention_kernel = name;
    const LayerTimes layer = compiled(c).step->tabulate({}).layer;
    const double rate = 0.8 * 1.2 / 1.1;
    CHECK(layer.forward.attention.raw() == near(kernel(name).time(shape, AttentionPass::forward).raw() / rate));
    CHECK(layer.backward.attention.raw() == near(kernel(name).time(shape, AttentionPass::backward).raw() / rate));
    // Half the pairs, at no more than the peak.
    CHECK(layer.forward.attention.raw() > 4.0 * 32.0 * tokens * tokens / 2.0 * 128.0 / (312e12 * rate));
  }
}

TEST_CASE("a kernel that the SKU never measured gives way to its newest, and the sources say which") {
  Case c;
  c.stack.attention_kernel = "cudnn";  // published on Hopper alone
  const CompiledTraining cudnn = compiled(c);
  c.stack.attention_kernel = "flash2";
  const CompiledTraining flash = compiled(c);
  CHECK(cudnn.step->tabulate({}).layer.forward.attention == flash.step->tabulate({}).layer.forward.attention);
  CHECK(cudnn.step->pricer().attention_why().starts_with("flash2 on "));
}

TEST_CASE(
    "attention by release and format: early cuDNN, 8 bit, twice the exponentials, and what a software leaves open") {
  Case c;
  c.gpu = "h100-sxm-80gb";
  c.node = "dgx-h100";
  const auto attention = [&](const char* kernel, bool narrow = false) {
    Case other = c;
    other.stack.attention_kernel = kernel;
    other.options.narrow_attention = narrow;
    const LayerTimes layer = compiled(other).step->tabulate({}).layer;
    return std::pair{layer.forward.attention.raw(), layer.backward.attention.raw()};
  };
  const auto cudnn = attention("cudnn");
  CHECK(attention("cudnn-early").first == near(cudnn.first / 0.85));
  CHECK(attention("cudnn-early").second == near(cudnn.second / 0.85));
  CHECK(attention("cudnn", true).second == near(0.75 * cudnn.second));
  // Six runs of ten have the newest kernel, the others FlashAttention-2: the mean of the logarithm.
  const auto flash2 = attention("flash2");
  const std::string newest{newest_training_attention(find_curve_set(test::model_data(), catalog().device(c.gpu))).name};
  const auto fast = attention(newest.c_str());
  CHECK(fast.first < flash2.first);
  CHECK(attention("unstated").first == near(flash2.first * std::pow(fast.first / flash2.first, 0.6)));
  c.gpu = "b200-sxm-180gb";
  c.node = "dgx-b200";
  const auto blackwell = attention("cudnn");
  c.gpu = "b300-sxm-288gb";  // as many multiprocessors, the same 16-bit peak
  c.node = "dgx-b300";
  CHECK(attention("cudnn").first == near(blackwell.first / 1.3));
}

TEST_CASE("a context shard has its share of fused attention, and only a window's keys count") {
  Case c;
  const LayerTimes whole = compiled(c).step->tabulate({}).layer;
  const LayerTimes shard = compiled(c).step->tabulate({1, 2}).layer;
  // 32 x 16 tiles on 108 SMs make five waves, half of them three.
  CHECK(shard.forward.attention.raw() == near(3.0 / 5.0 * whole.forward.attention.raw()));
  c.architecture.window = 256;
  CHECK(compiled(c).step->tabulate({}).layer.forward.attention < 0.5 * whole.forward.attention);
}

TEST_CASE("unfused attention forms all pairs at 0.6 of the peak and moves 11.8 bytes a score") {
  Case unfused;
  unfused.options.flash_attention = false;
  const double pairs = 32.0 * tokens * tokens;
  const double products = 4.0 * pairs * 128.0 / (0.6 * 312e12);
  const double scores = 11.8 * pairs / bandwidth;
  const StepTable written = compiled(unfused).step->tabulate({});
  CHECK(written.layer.forward.attention.raw() == near(products + scores));
  CHECK(written.layer.backward.attention.raw() == near(2.0 * products + 1.5 * scores));
}

TEST_CASE("head widths off the tensor alignment cost twentyfold in unfused attention's products") {
  Case c;
  c.options.flash_attention = false;
  c.architecture.head_dim = 124;
  const double pairs = 32.0 * tokens * tokens;
  CHECK(compiled(c).step->tabulate({}).layer.forward.attention.raw() ==
        near(20.0 * 4.0 * pairs * 124.0 / (0.6 * 312e12) + 11.8 * pairs / bandwidth));
}

TEST_CASE("products: the work of a layer three times, at no more than the peak and at more than half of it") {
  const CompiledTraining c = compiled({});
  const StepTable table = c.step->tabulate({});
  // The level of 16-bit products, 1.1, is time over that of the measured kernels.
  const double work = 1.1 * 2.0 * tokens * (4.0 * 4096.0 * 4096.0 + 2.0 * 4096.0 * 16384.0);
  CHECK(table.layer.forward.gemm.raw() > work / 312e12);
  CHECK(table.layer.forward.gemm.raw() < work / 156e12);
  CHECK(table.layer.backward.gemm.raw() > 2.0 * work / 312e12);
  // Weight gradients read and write fp32: slower than the gradient of the input.
  CHECK(table.layer.backward.gemm.raw() > 2.0 * table.layer.forward.gemm.raw());
}

TEST_CASE("tensor parallelism exposes four all-reduces a layer without sequence parallelism") {
  Case c;
  const CompiledTraining compiled_case = compiled(c);
  const Strategy s = layout(8, 1, 8);
  const StepTable table = compiled_case.step->tabulate(key_of(s));
  const GroupCollectives* group = compiled_case.step->groups().find(8, 1);
  REQUIRE(group != nullptr);
  const Seconds once = group->time(Collective::all_reduce, Bytes{2.0 * tokens * 4096.0}).time;
  CHECK((table.layer.forward.tp + table.layer.backward.tp).raw() == near(4.0 * once.raw()));
}

TEST_CASE("a tensor-parallel group on two hosts waits for their NICs") {
  Case c;
  c.gpus = 16;
  const StepTable inside = compiled(c).step->tabulate(key_of(layout(8, 1, 16)));
  const StepTable across = compiled(c).step->tabulate(key_of(layout(16, 1, 16)));
  // Eight NICs of 25 GB/s a host against 300 GB/s of NVLink a GPU.
  CHECK(across.layer.forward.tp > 1.2 * inside.layer.forward.tp);
  CHECK(across.layer.forward.tp < 10.0 * inside.layer.forward.tp);
}

TEST_CASE("a layer too small for its GPU takes its host's time, 1 forward and 2 backward") {
  Case c;
  c.architecture.hidden = 256;
  c.architecture.heads = c.architecture.kv_heads = 4;
  c.architecture.head_dim = 64;
  c.architecture.ffn_hidden = 1024;
  const StepTable table = compiled(c).step->tabulate({});
  CHECK(table.layer.total().raw() == near(3.0 * 350e-6, 0.01));
  // A layer that keeps its GPU busy does not notice: one-fifth of the host's share is less than a thousandth.
  const StepTable large = compiled({}).step->tabulate({1, 1, 1, 1, 8});
  CHECK(large.layer.host_forward / large.layer.forward.total() < 0.001);
}

TEST_CASE("each doubling of tensor ranks adds a tenth to the host's time, the GPU's own goes into a norm of order 5") {
  Case c;
  c.architecture.hidden = 512;
  c.architecture.heads = c.architecture.kv_heads = 8;
  c.architecture.head_dim = 64;
  c.architecture.ffn_hidden = 2048;
  const CompiledTraining small = compiled(c);
  const auto waits = [](Seconds gpu, double host) {
    return std::pow(std::pow(gpu.raw(), 5.0) + std::pow(host, 5.0), 0.2) - gpu.raw();
  };
  for (const int tp : {1, 2, 8}) {
    CAPTURE(tp);
    const LayerTimes layer = small.step->tabulate(key_of(layout(tp, 1, 8))).layer;
    const double host = 350e-6 * (1.0 + 0.1 * std::log2(tp));
    CHECK(layer.host_forward.raw() == near(waits(layer.forward.total(), host)));
    CHECK(layer.host_backward.raw() == near(waits(layer.backward.total(), 2.0 * host)));
  }
}

TEST_CASE(
    "embedding and head launch as much as a dense layer: three times the host's time where the GPU has little to do") {
  Case c;
  c.architecture.hidden = 512;
  c.architecture.heads = c.architecture.kv_heads = 8;
  c.architecture.head_dim = 64;
  c.architecture.ffn_hidden = 2048;
  c.architecture.vocab = 1024;
  const HeadTimes head = compiled(c).step->tabulate(key_of(layout(2, 1, 8))).head;
  const double gpu = (head.product + head.loss).raw();
  const double host = 3.0 * 350e-6 * 1.1;
  CHECK(head.host.raw() == near(std::pow(std::pow(gpu, 5.0) + std::pow(host, 5.0), 0.2) - gpu));
  CHECK(head.total().raw() == near(gpu + head.host.raw()));
  const HeadTimes large = compiled({}).step->tabulate({1, 1, 1, 1, 8}).head;
  CHECK(large.host / (large.product + large.loss) < 0.001);
  // A step of one stage pays for it once a micro-batch, in the host's time.
  const Strategy s = layout(2, 1, 8);
  Case without = c;
  without.without = {"host"};
  const Estimate all = price(compiled(c), s);
  CHECK(all.time[Term::head].raw() == near(price(compiled(without), s).time[Term::head].raw()));
  const LayerTimes layer = compiled(c).step->tabulate(key_of(s)).layer;
  const double micro_batches = 64.0 / 4.0;
  CHECK(all.time[Term::host].raw() ==
        near(micro_batches * (24.0 * (layer.host_forward + layer.host_backward).raw() + head.host.raw())));
}

TEST_CASE(
    "heads whose vocabulary starts rows at 2 bytes take three times as long, at 8 its cube root, padded ones neither") {
  const auto head = [](std::int64_t vocab, int tp, std::int64_t multiple) {
    Case c;
    c.architecture.vocab = vocab;
    c.options.vocab_multiple = multiple;
    return compiled(c).step->tabulate(key_of(layout(tp, 1, 8))).head;
  };
  const HeadTimes aligned = head(50304, 1, 1);
  CHECK(head(50257, 1, 1).product / aligned.product == near(3.0, 0.01));
  CHECK(head(50257, 1, 128).product == aligned.product);
  CHECK(head(50257, 1, 128).loss == aligned.loss);
  // 50,256 / 4 is 12,564, which 4 divides and 8 does not; of 50,257 over two the fuller rank has 25,129.
  CHECK(head(50256, 4, 1).product / head(50272, 4, 1).product == near(std::cbrt(3.0), 0.01));
  CHECK(head(50257, 2, 1).product / head(50256, 2, 1).product == near(3.0, 0.01));
}

TEST_CASE("accumulating gradients costs bytes a weight and micro-batch, and nothing with a single one") {
  Case c;
  const CompiledTraining many = compiled(c);
  const StepTable table = many.step->tabulate(key_of(layout(8, 1, 8)));
  const double weights = (4.0 * 4096 * 4096 + 2.0 * 4096 * 16384) / 8.0;
  CHECK(table.layer.accumulation.raw() == near(9.2 * weights / bandwidth, 0.002));
  const Estimate several = price(many, layout(8, 1, 8));
  c.batch = 1;
  const Estimate one = price(compiled(c), layout(8, 1, 8));
  const double extra = several.time[Term::elementwise].raw() / 64.0 - one.time[Term::elementwise].raw();
  CHECK(extra == near(24.0 * table.layer.accumulation.raw()));
}

TEST_CASE("the update moves 40 bytes a parameter of the rank and takes 5 ms more") {
  Case c;
  c.architecture.tied_embeddings = true;
  const CompiledTraining compiled_case = compiled(c);
  Strategy s = layout(1, 1, 8);
  s.zero = 1;
  CHECK(price(compiled_case, s).time[Term::optimizer].raw() ==
        near(0.005 + 40.0 * compiled_case.parameters / 8.0 / bandwidth, 0.001));
  s.zero = 0;
  CHECK(price(compiled_case, s).time[Term::optimizer].raw() ==
        near(0.005 + 40.0 * compiled_case.parameters / bandwidth, 0.001));
}

TEST_CASE("gradients cross once a step: nothing on one data rank, an all-reduce of fp32 on a stack without overlap") {
  Case c;
  const CompiledTraining compiled_case = compiled(c);
  CHECK(price(compiled_case, layout(8, 1, 8)).time[Term::dp_comm].raw() == 0.0);
  const GroupCollectives* data = compiled_case.step->groups().find(8, 1);
  REQUIRE(data != nullptr);
  const StepTable table = compiled_case.step->tabulate(key_of(layout(1, 1, 8)));
  const double parameters = 24.0 * table.of_layer.trained_dense + table.embedding + table.head_parameters;
  CHECK(price(compiled_case, layout(1, 1, 8)).time[Term::dp_comm].raw() ==
        near(data->time(Collective::all_reduce, Bytes{4.0 * parameters}).time.raw()));
}

TEST_CASE(
    "ZeRO 1 within groups of eight: scatter and gather inside a group, an all-reduce of its shards between them") {
  Case c;
  c.gpus = 32;
  Strategy s = layout(1, 1, 32);
  s.zero = 1;
  s.shard_ranks = 8;
  for (const bool broadcasts : {false, true}) {
    CAPTURE(broadcasts);
    c.stack.broadcast_weights = broadcasts;
    const CompiledTraining grouped = compiled(c);
    const StepTable table = grouped.step->tabulate(key_of(s));
    const double parameters = 24.0 * table.of_layer.trained_dense + table.embedding + table.head_parameters;
    const GroupCollectives* shard = grouped.step->groups().find(8, 1);
    const GroupCollectives* replicas = grouped.step->groups().find(4, 8);
    REQUIRE(shard != nullptr);
    REQUIRE(replicas != nullptr);
    const auto inside = [&](Collective collective, double bytes) { return shard->time(collective, Bytes{bytes}).time; };
    // fp32 gradients, 16-bit weights. Each of the eight sends out its own eighth, one after another.
    const Seconds weights = broadcasts ? 8.0 * inside(Collective::broadcast, 2.0 * parameters / 8.0)
                                       : inside(Collective::all_gather, 2.0 * parameters);
    // Between hosts 0.9 of the network's curve.
    const Seconds between = replicas->time(Collective::all_reduce, Bytes{4.0 * parameters / 8.0}).time / 0.9;
    const Estimate e = price(grouped, s);
    const Seconds gradients = inside(Collective::reduce_scatter, 4.0 * parameters) + between;
    CHECK(e.time[Term::dp_comm].raw() == near((gradients + weights).raw()));
    // What ranks broadcast is updated by then, and hides behind nothing.
    c.stack.dp_overlap = 0.4;
    const Seconds hidden = 0.4 * (broadcasts ? gradients : gradients + weights);
    CHECK(price(compiled(c), s).time[Term::dp_comm].raw() == near((gradients + weights - 0.85 * hidden).raw()));
    c.stack.dp_overlap = 0.0;
    // An eighth of the states is updated, whatever the data ranks.
    CHECK(e.time[Term::optimizer].raw() == near(0.005 + 40.0 * parameters / 8.0 / bandwidth));
  }
}

TEST_CASE("what a stack hides of its gradients costs 15 % of it, with overlap off all of it shows") {
  Case c;
  const Strategy s = layout(1, 1, 8);
  const double shown = price(compiled(c), s).time[Term::dp_comm].raw();
  c.stack.dp_overlap = 0.4;
  CHECK(price(compiled(c), s).time[Term::dp_comm].raw() == near((0.6 + 0.4 * 0.15) * shown));
  c.options.overlapped = false;
  CHECK(price(compiled(c), s).time[Term::dp_comm].raw() == near(shown));
}

TEST_CASE("asynchronous tensor parallelism hides 0.7 of its collectives, compilation saves a quarter of the passes") {
  Case c;
  Strategy s = layout(8, 1, 8);
  s.sequence_parallel = true;
  const LayerTimes plain = compiled(c).step->tabulate(key_of(s)).layer;
  c.options.async_tp = c.options.compiled = true;
  const LayerTimes asked = compiled(c).step->tabulate(key_of(s)).layer;
  CHECK(asked.forward.tp.raw() == near(0.3 * plain.forward.tp.raw()));
  CHECK(asked.forward.elementwise.raw() == near(0.75 * plain.forward.elementwise.raw()));
  c.options.overlapped = false;
  CHECK(compiled(c).step->tabulate(key_of(s)).layer.forward.tp == plain.forward.tp);
}

TEST_CASE("ZeRO 3 gathers a layer's weights and scatters its gradients in the software's width, ZeRO 1 does neither") {
  Case c;
  c.software = "llm-foundry";
  const CompiledTraining compiled_case = compiled(c);
  Strategy s = layout(1, 1, 8);
  s.zero = 3;
  const StepTime t = compiled_case.step->time(compiled_case.step->tabulate(key_of(s)), s, 64.0);
  // A layer's weights in 16 bit, its gradients in the width of the software: here fp32.
  const GroupCollectives* data = compiled_case.step->groups().find(8, 1);
  REQUIRE(data != nullptr);
  const double weights = compiled_case.step->tabulate(key_of(s)).of_layer.dense;
  CHECK(t.gather.raw() == near(data->time(Collective::all_gather, Bytes{2.0 * weights}).time.raw()));
  CHECK(t.scatter.raw() == near(data->time(Collective::reduce_scatter, Bytes{4.0 * weights}).time.raw()));
  s.zero = 1;
  CHECK(compiled_case.step->time(compiled_case.step->tabulate(key_of(s)), s, 64.0).gather.raw() == 0.0);
}

TEST_CASE("stragglers add 0.94 % of the step a doubling above eight GPUs") {
  Case c;
  const auto share = [&](std::int64_t gpus) {
    c.gpus = gpus;
    c.batch = 64 * gpus;
    const Estimate e = price(compiled(c), layout(8, 1, gpus));
    return e.time[Term::straggler] / (e.step - e.time[Term::straggler]);
  };
  CHECK(share(8) == 0.0);
  CHECK(share(16) == near(0.0094));
  CHECK(share(1024) == near(0.0094 * 7.0));
}

TEST_CASE("the slowest of n boards lies as far out as the largest of n normal draws") {
  // Harter 1961, Biometrika 48, table 1: expected values of normal order statistics.
  CHECK(std::abs(largest_of(1)) < 1e-12);
  CHECK(largest_of(8) == doctest::Approx(1.4236).epsilon(0.01));
  CHECK(largest_of(100) == doctest::Approx(2.5076).epsilon(0.005));
  CHECK(largest_of(65536) > 4.2);
  CHECK(largest_of(65536) < 4.4);
}

TEST_CASE("boards that spread more than usual make compute wait, more so the more there are") {
  const auto waited = [](std::optional<double> spread, std::int64_t gpus) {
    Case c;
    c.gpus = gpus;
    c.batch = 64 * gpus;
    c.board_spread = spread;
    const Estimate e = price(compiled(c), layout(8, 1, gpus));
    return e.time[Term::straggler] / compute_of(e.time);
  };
  const double usual = StepPhysics{}.board_spread;
  CHECK(waited(3.0 * usual, 8) == 0.0);
  for (const std::int64_t gpus : {64, 1024}) {
    CAPTURE(gpus);
    const double none = waited(std::nullopt, gpus);
    CHECK(waited(usual, gpus) == none);
    CHECK(waited(3.0 * usual, gpus) - none ==
          near(2.0 * usual * (largest_of(static_cast<double>(gpus)) - largest_of(8))));
    CHECK(waited(0.0, gpus) <= none);
    CHECK(waited(0.0, gpus) >= 0.0);
  }
}

TEST_CASE("LoRA forms hardly any weight gradients and reduces adapters alone") {
  Case full;
  Case lora;
  lora.options.method = Method::lora;
  const StepTable all = compiled(full).step->tabulate({});
  const StepTable adapters = compiled(lora).step->tabulate({});
  CHECK(adapters.layer.forward.gemm == all.layer.forward.gemm);
  CHECK(adapters.layer.backward.gemm < 0.6 * all.layer.backward.gemm);
  CHECK(adapters.head.product < all.head.product);
  CHECK(adapters.of_layer.trained_dense < 0.01 * all.of_layer.trained_dense);
}

TEST_CASE("8-bit recipes run products faster and pay for casts") {
  Case wide;
  wide.gpu = "h100-sxm-80gb";
  wide.node = "dgx-h100";
  wide.software = "nemo-megatron";
  Case narrow = wide;
  narrow.precision = Precision::fp8;
  const StepTable bf16 = compiled(wide).step->tabulate({});
  const StepTable fp8 = compiled(narrow).step->tabulate({});
  CHECK(fp8.layer.forward.gemm < 0.65 * bf16.layer.forward.gemm);
  CHECK(fp8.layer.forward.elementwise > bf16.layer.forward.elementwise);
  CHECK(fp8.layer.forward.attention == bf16.layer.forward.attention);  // stays in 16 bit
  CHECK(fp8.head.product == bf16.head.product);
}

TEST_CASE("a term left out is zero and the step is shorter by it or more") {
  Case c;
  c.gpus = 32;
  const Strategy s = [] {
    Strategy x = layout(4, 2, 32);
    x.recompute = Recompute::full;
    return x;
  }();
  const Estimate whole = price(compiled(c), s);
  for (const Term term : {Term::gemm, Term::attention, Term::elementwise, Term::recompute, Term::head, Term::optimizer,
                          Term::tp_comm, Term::pp_comm, Term::dp_comm, Term::bubble, Term::straggler}) {
    const std::string_view name = term_names[static_cast<std::size_t>(term)];
    CAPTURE(name);
    c.without = {std::string{name}};
    const Estimate less = price(compiled(c), s);
    CHECK(whole.time[term].raw() > 0.0);
    CHECK(less.time[term].raw() == 0.0);
    CHECK(less.step < whole.step);
  }
  CHECK_THROWS_AS(static_cast<void>(parse_terms(std::vector<std::string>{"bubbel"})), ConfigError);
}

TEST_CASE("experts: an even spread over ep ranks does the same work, and pays for the exchange") {
  Case c;
  c.gpu = "h100-sxm-80gb";
  c.node = "dgx-h100";
  c.software = "megatron-bridge";
  Moe moe;
  moe.experts = 64;
  moe.top_k = 4;
  moe.expert_ffn_hidden = 2048;
  c.architecture.moe = moe;
  const CompiledTraining compiled_case = compiled(c);
  const StepTable alone = compiled_case.step->tabulate({1, 1, 1, 1, 4, false, Recompute::none, 8});
  const StepTable spread = compiled_case.step->tabulate({1, 1, 8, 1, 4, false, Recompute::none, 8});
  CHECK(alone.layer.forward.ep.raw() == 0.0);
  const GroupCollectives* group = compiled_case.step->groups().find(8, 1);
  REQUIRE(group != nullptr);
  const Seconds dispatch = group->time(Collective::dispatch, Bytes{2.0 * 4.0 * tokens * 4.0 * 4096.0}).time;
  CHECK(spread.layer.forward.ep.raw() == near(2.0 * dispatch.raw()));
  // Fewer, fuller products: never slower than one an expert.
  CHECK(spread.layer.forward.gemm < 1.0001 * alone.layer.forward.gemm);
  CHECK(spread.of_layer.experts == near(alone.of_layer.experts / 8.0));
}
