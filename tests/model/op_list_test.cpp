// SPDX-License-Identifier: Apache-2.0
// Networks as op lists: numbers of published nets and of hand arithmetic.
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

constexpr double gigabyte = 1e9;

Network network_of(const std::string& body) {
  const ConfigValue root = parse_toml("schema = 1\nid = \"n\"\nsource = \"test\"\n" + body, "n.toml");
  Diagnostics diagnostics;
  Network network = read_network(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  return network;
}

std::string refusal_of(const std::string& body) {
  try {
    static_cast<void>(network_of(body));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "read";
}

const Op& op_of(const Network& network, std::string_view name) {
  for (const Op& op : network.ops) {
    if (op.name == name) {
      return op;
    }
  }
  throw ConfigError{"no such op"};
}

/// A stem that keeps nothing, then 64 equal layers whose backward reads their result: 1000 elements each.
std::string sixty_four_layers() {
  return "[[op]]\nname = \"stem\"\npart = \"stem\"\nkind = \"elementwise\"\nelements = 1000\nfunction = \"copy\"\n"
         "[[op]]\nname = \"layer\"\npart = \"trunk\"\nkind = \"elementwise\"\nelements = 1000\nfunction = \"relu\"\n"
         "repeat = 64\n";
}

NetworkTraining plain_training() {
  NetworkTraining training;
  training.states = {2.0, 2.0, 12.0};
  return training;
}

}  // namespace

TEST_CASE("the first layers of ResNet-50: 9 408 and 128 parameters, 112 x 112 and 56 x 56, 118 M multiply-adds") {
  // He et al. 2016, table 1: 7x7, 64, stride 2, then 3x3 max pooling, stride 2.
  const Network net = network_of(R"(
[[input]]
name = "image"
part = "camera"
shape = [3, 224, 224]
dtype = "fp32"
[[op]]
name = "conv1"
part = "camera"
kind = "conv"
in = [3, 224, 224]
out_channels = 64
kernel = 7
stride = 2
padding = 3
bias = false
[[op]]
name = "bn1"
part = "camera"
kind = "norm"
function = "batch"
tokens = 12544
width = 64
[[op]]
name = "relu1"
part = "camera"
kind = "elementwise"
function = "relu"
elements = 802816
[[op]]
name = "pool1"
part = "camera"
kind = "pool"
function = "max"
in = [64, 112, 112]
kernel = 3
stride = 2
padding = 1
)");
  const Op& conv = op_of(net, "conv1");
  CHECK(conv.parameters == 64.0 * 3 * 7 * 7);
  CHECK(conv.output_shape == std::vector<std::int64_t>{64, 112, 112});
  CHECK(conv.forward.raw() == 2.0 * 118013952);  // 147 x 64 x 112 x 112
  CHECK(conv.backward.raw() == 2.0 * conv.forward.raw());
  CHECK(op_of(net, "pool1").output_shape == std::vector<std::int64_t>{64, 56, 56});
  CHECK(op_of(net, "bn1").parameters == 128.0);
  CHECK(net.parameters == 9408.0 + 128.0);
  CHECK(net.input_bytes().raw() == 3.0 * 224 * 224 * 4);
  // Kept: the norm's input, and relu's result once although pooling reads it again; pooling's int64 indices.
  double elements = 0.0;
  double bytes = 0.0;
  for (const Stage& stage : net.stages) {
    elements += stage.last_kept_elements;
    bytes += stage.kept_bytes;
  }
  CHECK(elements == 2.0 * 802816);
  CHECK(bytes == 8.0 * 64 * 56 * 56);
}

TEST_CASE("groups divide a convolution's weights and FLOP") {
  const std::string conv =
      "[[op]]\nname = \"c\"\npart = \"p\"\nkind = \"conv\"\nin = [32, 8, 8]\nout_channels = 64\nkernel = [3, 1]\n"
      "padding = [1, 0]\nbias = false\n";
  const Network whole = network_of(conv);
  const Network grouped = network_of(conv + "groups = 32\n");
  CHECK(whole.parameters == 64.0 * 32 * 3);
  CHECK(grouped.parameters == 64.0 * 3);
  CHECK(grouped.forward.raw() == 2.0 * 3 * 64 * 8 * 8);
}

TEST_CASE("a pre-norm transformer block has 12 h^2 + 13 h parameters and 24 t h^2 + 4 t^2 h FLOP in its products") {
  // h = 64, t = 16, 4 heads of 16: weights 12 x 4096; biases 3h + h + 4h + h = 9h, norms 4h.
  const std::string block = R"(
[[stage]]
name = "block"
part = "lidar"
repeat = 3
[[stage.op]]
name = "norm1"
kind = "norm"
function = "layer"
tokens = 16
width = 64
[[stage.op]]
name = "qkv"
kind = "gemm"
rows = 16
in = 64
out = 192
[[stage.op]]
name = "attention"
kind = "attention"
tokens = 16
heads = 4
head_dim = 16
[[stage.op]]
name = "projection"
kind = "gemm"
rows = 16
in = 64
out = 64
[[stage.op]]
name = "residual1"
kind = "elementwise"
function = "add"
elements = 1024
[[stage.op]]
name = "norm2"
kind = "norm"
function = "layer"
tokens = 16
width = 64
[[stage.op]]
name = "up"
kind = "gemm"
rows = 16
in = 64
out = 256
[[stage.op]]
name = "gelu"
kind = "elementwise"
function = "gelu"
elements = 4096
[[stage.op]]
name = "down"
kind = "gemm"
rows = 16
in = 256
out = 64
[[stage.op]]
name = "residual2"
kind = "elementwise"
function = "add"
elements = 1024
)";
  const Network net = network_of(block);
  const double h = 64, t = 16;
  CHECK(net.parameters == 3.0 * (12 * h * h + 13 * h));
  double products = 0.0;
  for (const Op& op : net.ops) {
    products += op.kind == OpKind::gemm || op.kind == OpKind::attention ? op.forward.raw() : 0.0;
  }
  CHECK(products == 24 * t * h * h + 4 * t * t * h);
  // Kept by a middle block, in elements: norm 1's result, q k v, attention's result, the first residual sum, norm 2's
  // result, the input and the result of gelu, and the block's result, which the next norm reads: 17 t h. That is
  // Korthikanti et al. 2022, equation 1, without scores and masks: 34 s b h bytes less two masks of s b h bytes.
  CHECK(net.stages[0].kept_elements == (1 + 3 + 1 + 1 + 1 + 4 + 4 + 1) * t * h);
  CHECK(net.stages[0].last_kept_elements == (1 + 3 + 1 + 1 + 1 + 4 + 4) * t * h);
  // Beside them 2 fp32 statistics a token and norm, and the log-sum of every head and token.
  CHECK(net.stages[0].kept_bytes == 2 * 2 * 4 * t + 4 * 4 * t);
}

TEST_CASE("unfused attention keeps the softmax's result, fused the log-sum and 5/4 of the backward FLOP") {
  const std::string op =
      "[[op]]\nname = \"a\"\npart = \"p\"\nkind = \"attention\"\ntokens = 10\nheads = 2\nhead_dim = 8\ncontext = 30\n";
  const Network fused = network_of(op);
  const Network plain = network_of(op + "fused = false\n");
  CHECK(op_of(fused, "a").kept_bytes == 4.0 * 10 * 2);
  CHECK(op_of(plain, "a").kept_elements == 10.0 * 2 * 30);
  CHECK(fused.forward.raw() == 2.0 * 2 * 10 * 30 * 2 * 8);
  CHECK(fused.backward.raw() == 2.5 * fused.forward.raw());
  CHECK(plain.backward.raw() == 2.0 * plain.forward.raw());
}

TEST_CASE("26 embedding tables of 1e6 x 128 are 3.328e9 parameters and add 25 rows each") {
  const Network net = network_of(
      "[[op]]\nname = \"e\"\npart = \"ids\"\nkind = \"embedding_bag\"\nrows = 1000000\nwidth = 128\nlookups = 25\n"
      "tables = 26\n[[op]]\nname = \"top\"\npart = \"mlp\"\nkind = \"gemm\"\nrows = 1\nin = 3328\nout = 1\n");
  CHECK(op_of(net, "e").parameters == 26e6 * 128);
  CHECK(op_of(net, "e").forward.raw() == 25.0 * 128 * 26);
}

TEST_CASE("what contradicts the op before is told with both shapes") {
  const std::string first =
      "[[op]]\nname = \"a\"\npart = \"p\"\nkind = \"conv\"\nin = [3, 8, 8]\nout_channels = 4\nkernel = 1\n";
  const std::string second =
      "[[op]]\nname = \"b\"\npart = \"p\"\nkind = \"conv\"\nin = [8, 8, 8]\nout_channels = 4\n"
      "kernel = 1\n";
  CHECK(refusal_of(first + second) ==
        "n.toml:15:6: error: b reads [8, 8, 8], but 'a' writes [4, 8, 8]; make them equal or name another op in "
        "'after'");
  CHECK(refusal_of(first + second + "after = \"aa\"\n") ==
        "n.toml:18:9: error: no op or input is called 'aa'; did you mean 'a'?");
}

TEST_CASE("weights 1 GB, workspace 1 GB and 50 MB an image leave 15 GB room for 260 images, not 261") {
  const Bytes usable{15 * gigabyte};
  const Bytes workspace{1 * gigabyte};
  // 500 M 16-bit parameters; 12.5 M elements in, 12.5 M out: 25 MB + 25 MB.
  const Network net = network_of(
      "[[op]]\nname = \"table\"\npart = \"p\"\nkind = \"embedding_bag\"\nrows = 5000000\nwidth = 100\nlookups = 1\n"
      "[[op]]\nname = \"image\"\npart = \"p\"\nkind = \"gather\"\nrows = 125000\nwidth = 100\n"
      "[[op]]\nname = \"filter\"\npart = \"p\"\nkind = \"elementwise\"\nelements = 12500000\nfunction = \"relu\"\n");
  const NetworkInference inference = inference_memory(net, 2.0);
  CHECK(inference.weights.raw() == 1 * gigabyte);
  CHECK(inference.per_sample.raw() == 50e6);
  CHECK(largest_batch(usable, inference.weights, workspace, inference.per_sample) == 260);
  CHECK((inference.total(260) + workspace) <= usable);
  CHECK((inference.total(261) + workspace) > usable);
  CHECK(largest_batch(Bytes{1.5 * gigabyte}, inference.weights, workspace, inference.per_sample) == 0);
}

TEST_CASE("64 equal layers keep 64 activations, 8 + 8 = 16 with a checkpoint every 8, 64 + 1 every layer") {
  const Network net = network_of(sixty_four_layers());
  NetworkTraining training = plain_training();
  const double layer = 1000 * 2.0;
  NetworkMemory memory = training_memory(net, training);
  CHECK((memory.activations + memory.recomputed).raw() == 64 * layer);
  CHECK(memory.recompute_flops.raw() == 0.0);
  training.recompute = {8, {}};
  memory = training_memory(net, training);
  CHECK(memory.activations.raw() == 8 * layer);
  CHECK(memory.recomputed.raw() == 8 * layer);
  CHECK(memory.recompute_flops.raw() == net.forward.raw());
  training.recompute = {1, {}};
  memory = training_memory(net, training);
  CHECK((memory.activations + memory.recomputed).raw() == (64 + 1) * layer);
  // Every 8 is the best of all: the square root of 64 (Chen et al. 2016, section 4.1).
  for (std::int64_t every = 1; every <= 64; ++every) {
    training.recompute = {every, {}};
    memory = training_memory(net, training);
    CHECK((memory.activations + memory.recomputed).raw() >= 16 * layer);
  }
}

TEST_CASE("recomputing a part leaves the others as they are") {
  const Network net = network_of(sixty_four_layers());
  NetworkTraining training = plain_training();
  training.recompute = {8, {"stem"}};
  CHECK(training_memory(net, training).activations.raw() == 64 * 1000 * 2.0);
  training.recompute = {8, {"trunk"}};
  CHECK(training_memory(net, training).activations.raw() == 8 * 1000 * 2.0);
}

TEST_CASE("a segment may span unlike ops: of eight in two segments only the result between them is stored") {
  std::string ops;
  for (const std::string name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    ops += "[[op]]\nname = \"" + name +
           "\"\npart = \"trunk\"\nkind = \"elementwise\"\nelements = 1000\nfunction = \"relu\"\n";
  }
  NetworkTraining training = plain_training();
  training.recompute = {4, {}};
  const NetworkMemory memory = training_memory(network_of(ops), training);
  CHECK(memory.kept.raw() == 1000 * 2.0);
  CHECK(memory.recomputed.raw() == 4 * 1000 * 2.0);
}

TEST_CASE("the training peak holds the saved activations, inference the two largest adjacent tensors alone") {
  // Results of 100, 300, 200 and 50 elements from an input of 80: the largest neighbours are 300 and 200.
  const auto gemm = [](const std::string& name, int in, int out) {
    return "[[op]]\nname = \"" + name + "\"\npart = \"p\"\nkind = \"gemm\"\nrows = 1\nin = " + std::to_string(in) +
           "\nout = " + std::to_string(out) + "\nbias = false\n";
  };
  const Network net = network_of("[[input]]\nname = \"x\"\npart = \"p\"\nshape = [80]\ndtype = \"fp16\"\n" +
                                 gemm("a", 80, 100) + gemm("b", 100, 300) + gemm("c", 300, 200) + gemm("d", 200, 50));
  const double batch = 7;
  const NetworkInference inference = inference_memory(net, 2.0);
  CHECK(inference.per_sample.raw() == 2.0 * 80 + 2.0 * (300 + 200));
  NetworkTraining training = plain_training();
  training.micro_batch = 7;
  const NetworkMemory memory = training_memory(net, training);
  // Each product keeps its input, the sample apart: 100 + 300 + 200. The gradients of c, 300 + 200, are the largest of
  // one op; a block's own result counts as alive during its backward pass.
  CHECK(memory.kept.raw() == batch * 2.0 * (100 + 300 + 200));
  CHECK(memory.activations.raw() == batch * 2.0 * (100 + 300 + 200));
  CHECK(memory.gradients.raw() == batch * 2.0 * (300 + 200));
  CHECK(memory.moment == "backward of c");
  CHECK(memory.total() > inference.total(7));
}

TEST_CASE("8 cameras of 1280 x 960 x 3 in fp16 are 59 MB a sample, shares of activations sum to 100 %") {
  const Network net = network_of(R"(
[[input]]
name = "images"
part = "camera"
shape = [8, 3, 960, 1280]
dtype = "fp16"
[[input]]
name = "points"
part = "lidar"
shape = [100000, 4]
dtype = "fp32"
[[stage]]
name = "stem"
part = "camera"
per_sample = 8
[[stage.op]]
name = "conv"
kind = "conv"
in = [3, 960, 1280]
out_channels = 32
kernel = 4
stride = 4
after = "images"
[[stage.op]]
name = "relu"
kind = "elementwise"
function = "relu"
elements = 2457600
[[stage]]
name = "pillars"
part = "lidar"
[[stage.op]]
name = "linear"
kind = "gemm"
rows = 100000
in = 4
out = 32
after = "points"
[[stage.op]]
name = "gelu"
kind = "elementwise"
function = "gelu"
elements = 3200000
)");
  CHECK(net.inputs[0].bytes().raw() == doctest::Approx(59e6).epsilon(1e-3));
  CHECK(net.inputs[0].bytes().raw() == 8.0 * 1280 * 960 * 3 * 2);
  NetworkTraining training = plain_training();
  training.micro_batch = 2;
  const NetworkMemory memory = training_memory(net, training);
  CHECK(memory.inputs.raw() == 2.0 * (8.0 * 1280 * 960 * 3 * 2 + 100000.0 * 4 * 4));
  REQUIRE(memory.parts.size() == 2);
  CHECK(memory.parts[0].activations.raw() == 2.0 * 2 * 8 * 2457600);
  CHECK(memory.parts[1].activations.raw() == 2.0 * 2 * 3200000);
  CHECK(memory.parts[0].share + memory.parts[1].share == doctest::Approx(1.0).epsilon(1e-12));
  CHECK(memory.parts[0].share == doctest::Approx(19660800.0 / (19660800 + 3200000)));
}

TEST_CASE("2e9 parameters on 64 GPUs keep 4.4375 GB of states under ZeRO 2 and send 7.875 GB a step") {
  // One embedding of 2e9: nothing else has parameters.
  const Network net = network_of(
      "[[op]]\nname = \"e\"\npart = \"p\"\nkind = \"embedding_bag\"\nrows = 20000000\nwidth = 100\nlookups = 1\n");
  NetworkTraining training = plain_training();
  training.zero = 2;
  training.ranks = 64;
  CHECK(training_memory(net, training).states.total().raw() == doctest::Approx(4.4375 * gigabyte));
  CHECK(data_parallel_bytes(2e9, training.states, 0, 64, 1).raw() == doctest::Approx(7.875 * gigabyte));
  CHECK(data_parallel_bytes(2e9, training.states, 2, 64, 1).raw() == doctest::Approx(7.875 * gigabyte));
  // Sharded gradients are reduced in every micro-batch; ZeRO 3 gathers twice as well: 1.5 x the all-reduce.
  CHECK(data_parallel_bytes(2e9, training.states, 2, 64, 4).raw() == doctest::Approx(5 * 3.9375 * gigabyte));
  CHECK(data_parallel_bytes(2e9, training.states, 3, 64, 1).raw() == doctest::Approx(1.5 * 7.875 * gigabyte));
  CHECK(data_parallel_bytes(2e9, training.states, 0, 1, 1).raw() == 0.0);
}

TEST_CASE("sizes beyond counting are refused, not wrapped") {
  const std::string gemm =
      "[[op]]\nname = \"g\"\npart = \"p\"\nkind = \"gemm\"\nrows = 1073741824\nin = 1073741824\n"
      "out = 1073741824\n";
  CHECK(refusal_of(gemm).find("more than 9.0e15 parameters") != std::string::npos);
  CHECK(refusal_of("[[op]]\nname = \"g\"\npart = \"p\"\nkind = \"gemm\"\nrows = 1\nin = 2147483648\nout = 1\n") ==
        "n.toml:9:6: error: 'in' is 2147483648; it must be 1 to 1073741824");
}
