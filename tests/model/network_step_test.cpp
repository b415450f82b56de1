// SPDX-License-Identifier: Apache-2.0
// The step of an op list: every term by hand, and a transformer spelled op by op against the step of its architecture.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/convolution.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/network/network_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

Network network_of(const std::string& body) {
  const ConfigValue root = parse_toml("schema = 1\nid = \"n\"\nsource = \"test\"\n" + body, "n.toml");
  Diagnostics diagnostics;
  Network network = read_network(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  return network;
}

struct Case {
  std::string gpu = "a100-sxm-80gb";
  std::string node = "dgx-a100";
  std::int64_t gpus = 1;
  int zero = 0;
  std::int64_t micro_batch = 1;
  double global_batch = 1.0;
  Precision precision = Precision::bf16;
  SegmentRecompute recompute;
  StepStack stack = test::stated_stack();
  StepParameters parameters = test::stated_parameters();
  std::optional<DataFeed> feed{};
  TermSet without{};
};

NetworkStep step_of(Network network, const Case& c) {
  const Device& device = catalog().device(c.gpu);
  NetworkTraining training;
  training.states = adam_states(c.precision);
  training.states.gradients = 4.0;
  training.zero = c.zero;
  training.ranks = c.gpus;
  training.micro_batch = c.micro_batch;
  training.activation_bytes = row_of(c.precision).compute_bytes;
  training.recompute = c.recompute;
  const auto groups = std::make_shared<const JobGroups>(test::model_data(), device,
                                                        JobHosts{catalog().node(c.node), 0, {}, {}}, c.gpus);
  NetworkRecipe recipe;
  recipe.device = device;
  recipe.stack = c.stack;
  recipe.physics = c.parameters.physics;
  recipe.level = c.parameters.levels.of(device, c.parameters.physics.power_clock);
  recipe.precision = c.precision;
  recipe.training = training;
  recipe.global_batch = c.global_batch;
  recipe.host_gpus = std::min<std::int64_t>(8, c.gpus);
  recipe.feed = c.feed;
  recipe.without = c.without;
  return {std::move(network), std::move(recipe), groups};
}

NetworkStepTime time_of(const std::string& body, const Case& c) {
  return step_of(network_of(body), c).time();
}

std::string op_text(const std::string& name, const std::string& kind, const std::string& keys, int repeat = 1) {
  return "[[op]]\nname = \"" + name + "\"\npart = \"p\"\nkind = \"" + kind + "\"\n" + keys +
         "\nrepeat = " + std::to_string(repeat) + "\n";
}

constexpr double sustained = 0.78 * 2039e9;  // of the A100's 2,039 GB/s

// ---- a transformer op by op ----

std::string stage_op(const std::string& name, const std::string& kind, const std::string& keys) {
  return "[[stage.op]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\n" + keys + "\n";
}

std::string count(double value) {
  return std::to_string(static_cast<std::int64_t>(value));
}

/// Pre-norm blocks with a plain MLP, biases and rotary embedding of queries, keys and values; one part.
std::string spelled(const Architecture& a, double seq) {
  const double h = static_cast<double>(a.hidden);
  const double f = static_cast<double>(a.ffn_hidden);
  const double v = static_cast<double>(a.vocab);
  const auto gemm = [&](const std::string& name, double in, double out) {
    return stage_op(name, "gemm", "rows = " + count(seq) + "\nin = " + count(in) + "\nout = " + count(out));
  };
  const auto norm = [&](const std::string& name) {
    return stage_op(name, "norm", "function = \"layer\"\ntokens = " + count(seq) + "\nwidth = " + count(h));
  };
  const auto pass = [&](const std::string& name, const std::string& function, double width) {
    return stage_op(name, "elementwise", "function = \"" + function + "\"\nelements = " + count(seq * width));
  };
  return "[[stage]]\nname = \"embedding\"\npart = \"text\"\n" +
         stage_op(
             "table", "embedding_bag",
             "rows = " + count(v) + "\nwidth = " + count(h) + "\nlookups = " + count(seq) + "\nbags = " + count(seq)) +
         "[[stage]]\nname = \"layer\"\npart = \"text\"\nrepeat = " + std::to_string(a.layers) + "\n" + norm("norm1") +
         gemm("qkv", h, 3.0 * h) + pass("rotary", "copy", 3.0 * h) +
         stage_op("core", "attention",
                  "tokens = " + count(seq) + "\nheads = " + std::to_string(a.heads) +
                      "\nhead_dim = " + std::to_string(a.head_dim) + "\ncausal = true") +
         gemm("projection", h, h) + pass("residual1", "add", h) + norm("norm2") + gemm("up", h, f) +
         pass("act", "gelu", f) + gemm("down", f, h) + pass("residual2", "add", h) +
         "[[stage]]\nname = \"head\"\npart = \"text\"\n" + norm("last") + gemm("logits", h, v) +
         pass("loss", "softmax", v);
}

/// GPT-3 6.7B without what a list of ops does not have: a table tied to the head, learned positions, a vocabulary whose
/// rows start below 16 bytes.
Architecture gpt() {
  Architecture a = ModelLibrary::standard().find("gpt3-6.7b");
  a.tied_embeddings = false;
  a.learned_positions = 0;
  a.vocab = padded_vocabulary(a.vocab, 128);
  return a;
}

/// The step of the architecture, with the same numbers behind it.
StepTime by_layers(const Case& c, double seq, Recompute recompute) {
  StepRecipe recipe;
  const Device& device = catalog().device(c.gpu);
  recipe.architecture = gpt();
  recipe.device = device;
  recipe.stack = c.stack;
  recipe.physics = c.parameters.physics;
  recipe.level = c.parameters.levels.of(device, c.parameters.physics.power_clock);
  recipe.precision = c.precision;
  recipe.seq_len = seq;
  const auto groups = std::make_shared<const JobGroups>(test::model_data(), device,
                                                        JobHosts{catalog().node(c.node), 0, {}, {}}, c.gpus);
  const StepModel model{std::move(recipe), groups, 16};
  Strategy s;
  s.dp = static_cast<std::uint32_t>(c.gpus);
  s.zero = static_cast<std::uint8_t>(c.zero);
  s.micro_batch = static_cast<std::uint16_t>(c.micro_batch);
  s.recompute = recompute;
  return model.time(model.tabulate(key_of(s)), s, c.global_batch);
}

/// The same network both ways. A head is a product and a pass like any other, whose softmax moves 12 x bytes a logit
/// where a layered step's loss moves 28.
void two_ways(Case c, Recompute recompute) {
  constexpr double seq = 2048.0;
  CAPTURE(c.gpu);
  CAPTURE(c.gpus);
  CAPTURE(c.zero);
  c.recompute = recompute == Recompute::full ? SegmentRecompute{1, {}} : SegmentRecompute{};
  const NetworkStepTime ops = time_of(spelled(gpt(), seq), c);
  const StepTime layers = by_layers(c, seq, recompute);
  const auto of_layers = [&](Term term) { return layers.time[term].raw(); };
  CHECK(ops.step().raw() == near(layers.time.total().raw(), 0.03));
  CHECK((ops.time[Term::gemm] + ops.time[Term::elementwise]).raw() ==
        near(of_layers(Term::gemm) + of_layers(Term::elementwise) + of_layers(Term::head), 0.02));
  CHECK(ops.time[Term::attention].raw() == near(of_layers(Term::attention)));
  CHECK(ops.time[Term::optimizer].raw() == near(of_layers(Term::optimizer), 0.001));
  if (recompute == Recompute::full) {
    CHECK(ops.time[Term::recompute].raw() == near(of_layers(Term::recompute), 0.06));  // the head runs again too
  }
  if (c.zero == 1) {
    CHECK(ops.reduction.raw() == near(layers.reduction.raw(), 0.001));
    CHECK(ops.time[Term::dp_comm].raw() == near(of_layers(Term::dp_comm), 0.001));
  }
  if (c.zero == 3) {
    // Table and head are gathered and scattered in every micro-batch, not once in a step.
    CHECK(ops.time[Term::dp_comm].raw() == near(of_layers(Term::dp_comm), 0.10));
    CHECK(ops.time[Term::dp_comm].raw() > of_layers(Term::dp_comm));
  }
}

}  // namespace

TEST_CASE("two ways to one number: a GPT spelled op by op steps as its architecture does, on 1 GPU and on 8") {
  const StepStacks stacks = memory_stacks(test::model_data()).find("pytorch-fsdp").time;
  for (const auto& [gpu, node] : {std::pair{"a100-sxm-80gb", "dgx-a100"}, std::pair{"h100-sxm-80gb", "dgx-h100"}}) {
    Case one{gpu, node};
    one.stack = stacks.plain;
    one.parameters = step_parameters(test::model_data());
    one.micro_batch = 2;
    one.global_batch = 8.0;
    two_ways(one, Recompute::none);
    two_ways(one, Recompute::full);
    Case eight = one;
    eight.gpus = 8;
    eight.zero = 1;
    eight.global_batch = 64.0;
    two_ways(eight, Recompute::none);
    eight.zero = 3;
    two_ways(eight, Recompute::none);
  }
}

TEST_CASE("a pass over memory takes its bytes at the sustained bandwidth, x times as many where the part attends") {
  const std::string relu = op_text("a", "elementwise", "function = \"relu\"\nelements = 50000000");
  Case c;
  c.stack.elementwise = 3.0;
  const double bytes = 2.0 * 5e7 * 2.0;  // read and written
  const NetworkStepTime plain = time_of(relu, c);
  CHECK(plain.forward.elementwise.raw() == near(bytes / sustained));
  CHECK(plain.backward.elementwise.raw() == near(2.0 * bytes / sustained));
  const std::string beside = "[[input]]\nname = \"qkv\"\npart = \"p\"\nshape = [64, 768]\ndtype = \"bf16\"\n" +
                             op_text("b", "attention", "tokens = 64\nheads = 4\nhead_dim = 64\nafter = \"qkv\"") +
                             op_text("a", "elementwise", "function = \"relu\"\nelements = 16384\nafter = \"b\"");
  CHECK(time_of(beside, c).forward.elementwise.raw() == near(3.0 * 2.0 * 16384 * 2.0 / sustained));
}

TEST_CASE("batch norm reads its input twice, layer norm once, max pooling and sums move what they read and write") {
  const auto forward = [](const std::string& op) { return time_of(op, Case{}).forward.elementwise.raw() * sustained; };
  const double elements = 50176.0 * 64;
  const auto norm = [&](const std::string& function) {
    return forward(op_text("n", "norm", "function = \"" + function + "\"\ntokens = 50176\nwidth = 64"));
  };
  CHECK(norm("layer") == near(2.0 * (2.0 * elements + 64)));
  CHECK(norm("batch") == near(2.0 * (3.0 * elements + 64)));
  CHECK(forward(op_text("p", "pool", "function = \"max\"\nin = [64, 112, 112]\nkernel = 2")) ==
        near(2.0 * (1.25 * 64 * 112 * 112)));
  CHECK(forward(op_text("r", "reduce", "elements = 4096\nout = 4")) == near(2.0 * 4100));
  CHECK(forward(op_text("e", "embedding_bag", "rows = 1000\nwidth = 128\nlookups = 50\nbags = 2")) ==
        near(50.0 * (256 + 8) + 2.0 * 256));
}

TEST_CASE("a product forms three products, the first op of a network two: nobody needs the gradient of pixels") {
  const std::string first = "[[input]]\nname = \"x\"\npart = \"p\"\nshape = [512, 2048]\ndtype = \"bf16\"\n" +
                            op_text("one", "gemm", "rows = 512\nin = 2048\nout = 1024");
  const std::string both = first + op_text("two", "gemm", "rows = 512\nin = 1024\nout = 2048");
  std::string why;
  const Device& device = catalog().device("a100-sxm-80gb");
  const GemmModel model = step_product(test::model_data(), device, "bf16", false, why);
  const GemmModel gradient = step_product(test::model_data(), device, "bf16", true, why);
  Case c;
  c.micro_batch = 4;
  c.global_batch = 4.0;
  const NetworkStepTime one = time_of(first, c);
  const NetworkStepTime two = time_of(both, c);
  constexpr double level = 1.1;
  CHECK(one.forward.gemm.raw() == near(level * model.time({2048, 1024, 2048}).raw()));
  CHECK(one.backward.gemm.raw() == near(level * gradient.time({1024, 2048, 2048}).raw()));
  CHECK((two.backward.gemm - one.backward.gemm).raw() ==
        near(level * (model.time({2048, 1024, 2048}) + gradient.time({2048, 1024, 2048})).raw()));
}

TEST_CASE("cameras share weights: eight passes of one sample are one kernel of eight times the rows") {
  const auto staged = [](int passes) {
    return "[[stage]]\nname = \"s\"\npart = \"p\"\nper_sample = " + std::to_string(passes) + "\n" +
           stage_op("c", "conv", "in = [64, 56, 56]\nout_channels = 64\nkernel = 3\npadding = 1") +
           stage_op("a", "elementwise", "function = \"relu\"\nelements = 200704");
  };
  Case eight;
  eight.micro_batch = 8;
  eight.global_batch = 8.0;
  const NetworkStepTime cameras = time_of(staged(8), Case{});
  const NetworkStepTime samples = time_of(staged(1), eight);
  CHECK(cameras.forward.total().raw() == near(samples.forward.total().raw()));
  CHECK(cameras.backward.total().raw() == near(samples.backward.total().raw()));
}

TEST_CASE("recomputed parts run forward once more, the others do not") {
  const auto pass = [](const std::string& name, const std::string& part) {
    return "[[op]]\nname = \"" + name + "\"\npart = \"" + part +
           "\"\nkind = \"elementwise\"\nfunction = \"gelu\"\nelements = 10000000\n";
  };
  Case c;
  c.recompute = {1, {"b"}};
  c.global_batch = 3.0;
  const NetworkStepTime t = time_of(pass("one", "a") + pass("two", "b"), c);
  CHECK(t.recompute.raw() == near(0.5 * t.forward.total().raw()));
  CHECK(t.time[Term::recompute].raw() == near(3.0 * 0.5 * t.forward.total().raw()));
}

TEST_CASE("small ops wait for the host: eleven take what a layer's launches take, thrice with the backward pass") {
  const std::string small = op_text("a", "elementwise", "function = \"relu\"\nelements = 8", 11);
  const NetworkStepTime t = time_of(small, Case{});
  CHECK(t.ops == 11.0);
  CHECK(t.time[Term::host].raw() == near(3.0 * 350e-6, 1e-3));
  Case again;
  again.recompute = {1, {}};
  CHECK(time_of(small, again).time[Term::host].raw() == near(4.1 * 350e-6, 1e-3));
  // Large ones hide it: the pass is 300 times as long as its launches.
  const std::string large = op_text("a", "elementwise", "function = \"relu\"\nelements = 1000000000", 11);
  CHECK(time_of(large, Case{}).time[Term::host].raw() < 1e-6);
}

TEST_CASE("gradients beside the last micro-batch: R - hid + sig hid, of which ZeRO 0 and 1 send as much") {
  const std::string net = op_text("w", "gemm", "rows = 4096\nin = 8192\nout = 8192\nafter = \"x\"");
  const std::string body = "[[input]]\nname = \"x\"\npart = \"p\"\nshape = [4096, 8192]\ndtype = \"bf16\"\n" + net;
  Case c;
  c.gpus = 8;
  c.global_batch = 8.0;
  const NetworkStepTime open = time_of(body, c);
  CHECK(open.hidden_share() == 0.0);
  CHECK(open.time[Term::dp_comm].raw() == near(open.traffic.raw()));
  c.stack.dp_overlap = 0.5;
  const NetworkStepTime half = time_of(body, c);
  CHECK(half.hidden.raw() == near(0.5 * half.reduction.raw()));
  CHECK(half.time[Term::dp_comm].raw() == near((1.0 - 0.5 + 0.15 * 0.5) * half.reduction.raw()));
  CHECK(half.hidden_share() == near(0.5 * 0.85));
  c.zero = 1;
  const NetworkStepTime sharded = time_of(body, c);
  // 4 bytes of gradients scattered and 2 of weights gathered, where ZeRO 0 sends 4 twice.
  CHECK(sharded.reduction < half.reduction);
  CHECK(sharded.updated == near(half.updated / 8.0));
}

TEST_CASE("ZeRO 2 scatters in every micro-batch and gathers once, ZeRO 3 gathers twice in every one") {
  const std::string body = op_text("w", "gemm", "rows = 64\nin = 4096\nout = 4096", 4);
  Case c;
  c.gpus = 8;
  c.zero = 2;
  c.global_batch = 24.0;
  const NetworkStepTime two = time_of(body, c);
  CHECK(two.micro_batches == 3.0);
  CHECK(two.gather == Seconds{});
  CHECK(two.traffic.raw() == near((3.0 * two.scatter + two.reduction).raw()));
  c.zero = 3;
  const NetworkStepTime three = time_of(body, c);
  CHECK(three.reduction == Seconds{});
  CHECK(three.scatter.raw() == near(two.scatter.raw()));
  CHECK(three.traffic.raw() == near((3.0 * (2.0 * three.gather + three.scatter)).raw()));
  // Nothing overlaps: all of it is exposed, and the first gather and the last scatter twice over.
  CHECK(three.time[Term::dp_comm] >= three.traffic);
  CHECK(three.time[Term::dp_comm].raw() == near((three.traffic + 0.25 * (three.gather + three.scatter)).raw(), 1e-6));
}

TEST_CASE("stragglers take c a doubling above 8 GPUs, and a term that is left out is not in the sum") {
  const std::string body = op_text("a", "elementwise", "function = \"relu\"\nelements = 10000000");
  Case c;
  c.gpus = 64;
  c.global_batch = 64.0;
  const NetworkStepTime t = time_of(body, c);
  CHECK(t.time[Term::straggler].raw() == near(0.0094 * 3.0 * (t.step() - t.time[Term::straggler]).raw()));
  c.without = parse_terms(std::vector<std::string>{"straggler", "optimizer"});
  const NetworkStepTime less = time_of(body, c);
  CHECK(less.step().raw() == near((t.step() - t.time[Term::straggler] - t.time[Term::optimizer]).raw()));
}

TEST_CASE("a step waits for its samples: a host of eight replicas with two cores decodes 16 in 8 times their time") {
  const std::string body = op_text("a", "elementwise", "function = \"relu\"\nelements = 10000000");
  Case c;
  c.gpus = 16;
  c.global_batch = 32.0;
  const NetworkStepTime alone = time_of(body, c);
  DataFeed feed;
  feed.cpu = Seconds{0.1};
  feed.workers = 2.0;
  c.feed = feed;
  const NetworkStepTime fed = time_of(body, c);
  CHECK(fed.samples == 16.0);
  CHECK(fed.step().raw() == near(0.1 * 16.0 / 2.0));
  CHECK(fed.time[Term::data].raw() == near(0.8 - alone.step().raw()));
  c.without = parse_terms(std::vector<std::string>{"data"});
  CHECK(time_of(body, c).step().raw() == near(alone.step().raw()));
}

TEST_CASE("model FLOP are three forward passes of products, convolutions and attention, whatever else runs") {
  const std::string body = op_text("one", "gemm", "rows = 10\nin = 20\nout = 30") +
                           op_text("a", "elementwise", "function = \"gelu\"\nelements = 300");
  CHECK(model_flops(network_of(body)).raw() == 3.0 * 2.0 * 10 * 20 * 30);
  CHECK(recomputed_flops(network_of(body), {1, {}}).raw() == 2.0 * 10 * 20 * 30);
  CHECK(recomputed_flops(network_of(body), {}).raw() == 0.0);
  const std::string others =
      op_text("c", "conv", "in = [8, 16, 16]\nout_channels = 4\nkernel = 1") +
      op_text("a", "attention", "tokens = 16\ncontext = 24\nheads = 2\nhead_dim = 8\nkv_heads = 2\nafter = \"c\"");
  // The 1024 values of the result are 16 queries of 2 x 8 and 24 keys and values of as many.
  CHECK(model_flops(network_of(others)).raw() == 3.0 * (2.0 * 8 * 1024 + 4.0 * 16 * 24 * 16));
}

TEST_CASE("a convolution is an implicit product in each of its three passes, at the products' clock") {
  const std::string body =
      op_text("one", "conv", "in = [64, 56, 56]\nout_channels = 128\nkernel = 3\nstride = 2\npadding = 1") +
      op_text("two", "conv", "in = [128, 28, 28]\nout_channels = 256\nkernel = 1");
  std::string why;
  const Device& device = catalog().device("a100-sxm-80gb");
  const GemmFormat format = *find_gemm_format("bf16");
  const GemmModel model = step_product(test::model_data(), device, "bf16", false, why);
  const GemmModel gradient = step_product(test::model_data(), device, "bf16", true, why);
  ConvShape one;
  one.batch = 32.0;
  one.in_channels = 64.0;
  one.out_channels = 128.0;
  one.in = {56.0, 56.0, 1.0};
  one.kernel = {3.0, 3.0, 1.0};
  one.stride = {2.0, 2.0, 1.0};
  one.padding = {1.0, 1.0, 0.0};
  ConvShape two;
  two.batch = 32.0;
  two.in_channels = 128.0;
  two.out_channels = 256.0;
  two.in = {28.0, 28.0, 1.0};
  Case c;
  c.micro_batch = 32;
  c.global_batch = 32.0;
  const NetworkStepTime t = time_of(body, c);
  constexpr double level = 1.1;
  CHECK(
      t.forward.gemm.raw() ==
      near(
          level *
          (conv_time(model, format, one, ConvPass::forward) + conv_time(model, format, two, ConvPass::forward)).raw()));
  CHECK(t.backward.gemm.raw() == near(level * (conv_time(gradient, format, one, ConvPass::weight_gradient) +
                                               conv_time(gradient, format, two, ConvPass::weight_gradient) +
                                               conv_time(model, format, two, ConvPass::data_gradient))
                                                  .raw()));
}

TEST_CASE("gradients of several micro-batches are added up: the stack's bytes a parameter, in each of them") {
  const std::string body = op_text("w", "gemm", "rows = 64\nin = 4096\nout = 4096\nbias = false");
  Case c;
  const double alone = time_of(body, c).time[Term::elementwise].raw();
  CHECK(alone == 0.0);
  c.global_batch = 3.0;
  CHECK(time_of(body, c).time[Term::elementwise].raw() == near(3.0 * 9.2 * 4096 * 4096 / sustained));
}

TEST_CASE("8-bit recipes cast what products read, five bytes an element, convolutions stay in 16 bit") {
  const std::string product = op_text("w", "gemm", "rows = 4096\nin = 2048\nout = 1024\nbias = false");
  const std::string convolution = op_text("w", "conv", "in = [64, 56, 56]\nout_channels = 64\nkernel = 3");
  Case c{"h100-sxm-80gb", "dgx-h100"};
  c.micro_batch = 16;
  c.global_batch = 16.0;
  Case narrow = c;
  narrow.precision = Precision::fp8;
  const NetworkStepTime wide = time_of(product, c);
  const NetworkStepTime fp8 = time_of(product, narrow);
  const double bandwidth = 0.78 * catalog().device(c.gpu).bandwidth().raw();
  const double rows = 16.0 * 4096;
  CHECK(fp8.forward.gemm < wide.forward.gemm);
  CHECK(fp8.forward.elementwise.raw() == near(5.0 * (rows * 2048 + 0.5 * 2048 * 1024) / bandwidth));
  CHECK(fp8.backward.elementwise.raw() == near(5.0 * rows * 1024 / bandwidth));
  // Blocks of 32 are read once and written in two layouts, 33/32 bytes each; NVFP4 is read twice, for the tensor's
  // maximum comes first, and written as half a byte with 1/16 of scales.
  Case blocks{"b200-sxm-180gb", "dgx-b200"};
  const auto backward = [&](Precision precision) {
    blocks.micro_batch = 16;
    blocks.global_batch = 16.0;
    blocks.precision = precision;
    return time_of(product, blocks).backward.elementwise.raw();
  };
  CHECK(backward(Precision::mxfp8) / backward(Precision::fp8) == near((2.0 + 2.0 * 33.0 / 32.0) / 5.0));
  CHECK(backward(Precision::nvfp4) / backward(Precision::fp8) == near((4.0 + 2.0 * (0.5 + 1.0 / 16.0)) / 5.0));
  CHECK(time_of(convolution, narrow).forward.gemm == time_of(convolution, c).forward.gemm);
  CHECK(time_of(convolution, narrow).forward.elementwise == Seconds{});
}

TEST_CASE("a depthwise convolution has no kernel, one in groups of several channels has") {
  const auto missing = [](int groups) {
    return ops_without_kernels(network_of(
        op_text("c", "conv", "in = [32, 28, 28]\nout_channels = 32\nkernel = 3\ngroups = " + std::to_string(groups))));
  };
  REQUIRE(missing(32).size() == 1);
  CHECK(missing(32).front().starts_with("c: a depthwise convolution"));
  CHECK(missing(4).empty());
  CHECK(missing(1).empty());
}

TEST_CASE("a causal mask halves the time of attention, and not its FLOP") {
  const auto attention = [](const std::string& more) {
    return "[[input]]\nname = \"qkv\"\npart = \"p\"\nshape = [8192, 3072]\ndtype = \"bf16\"\n" +
           op_text("a", "attention", "tokens = 8192\nheads = 8\nhead_dim = 128\nafter = \"qkv\"\n" + more);
  };
  const NetworkStepTime whole = time_of(attention(""), Case{});
  const NetworkStepTime masked = time_of(attention("causal = true"), Case{});
  CHECK(masked.time[Term::attention].raw() == near(0.5 * whole.time[Term::attention].raw(), 0.05));
  CHECK(model_flops(network_of(attention("causal = true"))) == model_flops(network_of(attention(""))));
}

TEST_CASE("explained terms add up to the step") {
  Case c;
  c.gpus = 64;
  c.zero = 2;
  c.global_batch = 128.0;
  const NetworkStep step = step_of(NetworkLibrary::standard().find("perception-2b"), c);
  const NetworkStepTime t = step.time();
  ExplainRecorder recorder;
  record_network_step(step, t, recorder);
  double sum = 0.0;
  for (const ExplainEntry& entry : recorder.entries()) {
    CHECK_FALSE(entry.formula.empty());
    sum += entry.name == "step" ? 0.0 : entry.value;
  }
  CHECK(recorder.entries().back().name == "step");
  CHECK(sum == near(t.step().raw(), 1e-12));
  CHECK(t.hidden_share() >= 0.0);
  CHECK(t.computing_share() < 1.0);
}
