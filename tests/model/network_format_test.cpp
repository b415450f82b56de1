// SPDX-License-Identifier: Apache-2.0
// Networks written compactly: shapes taken from the op before, blocks with sizes, and what is told of bad files.
#include <headroom/model/workload/op_list.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

Network network_of(const std::string& body, const NetworkSizes& sizes = {}) {
  const ConfigValue root = parse_toml("schema = 1\nid = \"n\"\nsource = \"test\"\n" + body, "n.toml");
  Diagnostics diagnostics;
  Network network = read_network(ConfigTable{root, "", diagnostics}, sizes);
  diagnostics.throw_if_any();
  return network;
}

std::string refusal_of(const std::string& body, const NetworkSizes& sizes = {}) {
  try {
    static_cast<void>(network_of(body, sizes));
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
  throw ConfigError{"no such op: " + std::string{name}};
}

std::string image(const std::string& shape) {
  return "[[input]]\nname = \"x\"\nshape = " + shape + "\ndtype = \"fp32\"\n";
}

/// A stage of ops, one a line.
std::string stage(const std::string& ops) {
  return "[[stage]]\nname = \"s\"\nop = [\n" + ops + "]\n";
}

std::vector<std::int64_t> shape_of(const Network& network, std::string_view name) {
  return op_of(network, name).output_shape;
}

}  // namespace

TEST_CASE("an op takes from the one before what it does not state") {
  const Network net = network_of(image("[3, 32, 32]") + stage(R"(
  { kind = "conv", out_channels = 8, kernel = 3, padding = "same", stride = 2, then = ["batch_norm", "relu"] },
  { kind = "max_pool", kernel = 2 },
  { kind = "flatten" },
  { kind = "gemm", out = 10, then = "softmax" },
)"));
  CHECK(shape_of(net, "s.conv1") == std::vector<std::int64_t>{8, 16, 16});
  CHECK(op_of(net, "s.conv1").parameters == 3.0 * 8 * 9);  // no bias before a batch norm
  CHECK(op_of(net, "s.conv1.batch_norm").sizes.rows == 256.0);
  CHECK(shape_of(net, "s.max_pool1") == std::vector<std::int64_t>{8, 8, 8});
  CHECK(op_of(net, "s.gemm1").parameters == 8.0 * 64 * 10 + 10);
  CHECK(op_of(net, "s.gemm1.softmax").primitives == 3.0);
  CHECK(net.ops.size() == 6);  // something flattened is no op
}

TEST_CASE("written out and written compactly a network is the same") {
  const Network explicit_form = network_of(image("[3, 8, 8]") + R"(
[[stage]]
name = "s"
part = "network"
[[stage.op]]
name = "c"
kind = "conv"
in = [3, 8, 8]
out_channels = 4
kernel = 3
padding = 1
bias = false
[[stage.op]]
name = "n"
kind = "norm"
function = "batch"
tokens = 64
width = 4
[[stage.op]]
name = "r"
kind = "elementwise"
function = "relu"
elements = 256
)");
  const Network compact = network_of(
      image("[3, 8, 8]") +
      stage("{ kind = \"conv\", out_channels = 4, kernel = 3, padding = 1, then = [\"batch_norm\", \"relu\"] }\n"));
  REQUIRE(compact.ops.size() == 3);
  CHECK(compact.parameters == explicit_form.parameters);
  CHECK(compact.forward.raw() == explicit_form.forward.raw());
  CHECK(compact.backward.raw() == explicit_form.backward.raw());
  CHECK(compact.stages[0].last_kept_elements == explicit_form.stages[0].last_kept_elements);
  CHECK(compact.adjacent_elements == explicit_form.adjacent_elements);
}

TEST_CASE("blocks have sizes, defaults and tensors, and a block of blocks stands for what it holds") {
  const std::string body = image("[\"first\", 16, 16]") + R"(
[sizes]
first = 4
[[block]]
name = "unit"
sizes = ["width"]
defaults = { stride = 1, inner = "2 * width" }
op = [
  { kind = "conv", out_channels = "inner", kernel = 1 },
  { kind = "conv", out_channels = "width", kernel = 3, padding = "same", stride = "stride" },
]
[[block]]
name = "residual"
op = [
  { block = "unit", width = "channels" },
  { kind = "add", with = "in" },
]
[[block]]
name = "pair"
op = [
  { block = "unit", width = 8, stride = 2 },
  { block = "residual", repeat = 3 },
]
[[block]]
name = "up"
reads = ["skip"]
op = [
  { kind = "upsample", factor = 2 },
  { kind = "concat", with = "skip" },
]
[[stage]]
op = [
  { name = "start", block = "unit", width = 4 },
  { name = "down", block = "pair" },
  { block = "up", skip = "start" },
]
)";
  const Network net = network_of(body);
  REQUIRE(net.stages.size() == 4);
  CHECK(net.stages[0].name == "start");
  CHECK(net.stages[1].name == "down.unit1");
  CHECK(net.stages[2].name == "down.residual1");
  CHECK(net.stages[2].repeat == 3);
  CHECK(op_of(net, "start.conv1").sizes.out == 8.0);
  CHECK(op_of(net, "down.residual1.unit1.conv1").sizes.out == 16.0);
  CHECK(op_of(net, "up1.concat1").output_elements == (8.0 + 4.0) * 16 * 16);
  CHECK(op_of(net, "down.residual1.add1").reads.size() == 2);
  // Another size of the network itself, and one that it does not have.
  CHECK(op_of(network_of(body, {{"first", 6}}), "start.conv1").sizes.in == 6.0);
  CHECK(refusal_of(body, {{"frist", 6}}) ==
        "n.toml:2:6: error: network 'n' has no size 'frist'; did you mean 'first'?; it has first");
}

TEST_CASE("repeats inside a block are ops of their own, of a stage they are counted") {
  const std::string body = image("[4, 8, 8]") + R"(
[[block]]
name = "cell"
op = [ { kind = "conv", out_channels = 4, kernel = 1 } ]
[[block]]
name = "tower"
op = [
  { block = "cell", repeat = 2 },
  { name = "last", kind = "gemm", out = 4, after = "in", repeat = 2 },
  { kind = "copy", after = "last" },
]
[[stage]]
op = [ { block = "tower", repeat = 5 } ]
)";
  const Network net = network_of(body);
  CHECK(net.stages.size() == 1);
  REQUIRE(net.ops.size() == 5);
  CHECK(net.parameters == 5.0 * 4 * (16 + 4));
  CHECK(net.ops[3].reads == std::vector<std::size_t>{2});  // the second copy reads the first
  CHECK(net.ops[4].reads == std::vector<std::size_t>{3});
}

TEST_CASE("convolutions of one and three directions, dilated, transposed and depthwise") {
  const Network net = network_of(image("[16, 100]") + stage(R"(
  { kind = "conv", out_channels = 32, kernel = 11, stride = 2, padding = 5 },
  { kind = "conv", out_channels = 32, kernel = 29, dilation = 2, padding = "same" },
  { kind = "depthwise", kernel = 5, padding = 2, bias = false },
  { kind = "conv_transpose", out_channels = 8, kernel = 4, stride = 2, padding = 1 },
  { kind = "view", shape = [8, 4, 5, 5] },
  { kind = "conv", out_channels = 2, kernel = [1, 3, 3], padding = [0, 1, 1], bias = false },
  { kind = "max_pool", kernel = [2, 1, 1] },
)"));
  CHECK(shape_of(net, "s.conv1") == std::vector<std::int64_t>{32, 50});
  CHECK(shape_of(net, "s.conv2") == std::vector<std::int64_t>{32, 50});
  CHECK(op_of(net, "s.conv2").forward.raw() == 2.0 * 32 * 32 * 29 * 50);
  const Op& depthwise = op_of(net, "s.depthwise1");
  CHECK(is_depthwise(depthwise));
  CHECK(depthwise.parameters == 32.0 * 5);
  CHECK(depthwise.forward.raw() == 2.0 * 32 * 5 * 50);
  const Op& up = op_of(net, "s.conv_transpose1");
  CHECK(up.output_shape == std::vector<std::int64_t>{8, 100});  // (50 - 1) 2 - 2 + 4
  CHECK(up.parameters == 32.0 * 8 * 4 + 8);
  CHECK(up.forward.raw() == 2.0 * 32 * 8 * 4 * 50);
  const Op& deep = op_of(net, "s.conv3");
  CHECK(deep.output_shape == std::vector<std::int64_t>{2, 4, 5, 5});
  CHECK(deep.parameters == 8.0 * 2 * 9);
  CHECK(shape_of(net, "s.max_pool1") == std::vector<std::int64_t>{2, 2, 5, 5});
  const std::vector<OpProduct> product = products_of(op_of(net, "s.conv3"));
  REQUIRE(product.size() == 1);
  CHECK(product[0].m == 100.0);
  CHECK(product[0].n == 2.0);
  CHECK(product[0].k == 72.0);
}

TEST_CASE("an LSTM of 512 both ways on 240 features has 4 x 512 x (240 + 512 + 2) x 2 parameters") {
  const Network net = network_of(image("[240, 100]") + stage("{ kind = \"lstm\", out = 512, directions = 2 },\n"
                                                             "{ kind = \"gru\", out = 8, biases = 1 },\n"));
  const Op& lstm = op_of(net, "s.lstm1");
  CHECK(lstm.parameters == 4.0 * 512 * (240 + 512 + 2) * 2);  // PyTorch keeps two bias vectors a gate
  CHECK(lstm.forward.raw() == 2.0 * 100 * 2 * 4 * 512 * (240 + 512));
  CHECK(op_of(net, "s.gru1").parameters == 3.0 * 8 * (1024 + 8 + 1));
  const std::vector<OpProduct> products = products_of(lstm);
  REQUIRE(products.size() == 2);
  CHECK(products[0].m == 100.0);
  CHECK(products[1].m == 1.0);
  CHECK(products[1].count == 100.0);
  CHECK(products[1].groups == 2.0);
}

TEST_CASE("attention from one tensor, from several, over windows: the same as two products and a softmax") {
  const Network net = network_of(image("[96, 16, 16]") + stage(R"(
  { name = "qkv", kind = "gemm", out = 288 },
  { name = "whole", kind = "attention", heads = 3 },
  { name = "windowed", kind = "attention", heads = 3, window = 64, after = "qkv" },
  { name = "q", kind = "gemm", out = 96, after = "x" },
  { name = "text", kind = "view", shape = [96, 256], after = "q" },
  { name = "some", kind = "slice", rows = 77, after = "text" },
  { name = "kv", kind = "gemm", out = 192 },
  { name = "cross", kind = "attention", heads = 3, after = ["q", "kv"] },
  { name = "s", kind = "scores", heads = 3, after = ["q", "q"] },
  { name = "p", kind = "softmax" },
  { name = "v", kind = "values", heads = 3, with = "q" },
)"));
  CHECK(op_of(net, "whole").forward.raw() == 4.0 * 256 * 256 * 96);
  CHECK(op_of(net, "windowed").forward.raw() == 4.0 * 256 * 64 * 96);
  CHECK(op_of(net, "windowed").sizes.windows == 4.0);
  CHECK(products_of(op_of(net, "windowed"))[0].groups == 12.0);
  CHECK(products_of(op_of(net, "windowed"))[0].m == 64.0);
  CHECK(op_of(net, "cross").sizes.context == 77.0);
  CHECK(op_of(net, "s").output_elements == 3.0 * 256 * 256);
  CHECK(op_of(net, "s").forward.raw() + op_of(net, "v").forward.raw() == op_of(net, "whole").forward.raw());
  CHECK(op_of(net, "v").output_elements == 96.0 * 256);
}

TEST_CASE("squeeze and excitation: one number a channel multiplies the whole plane") {
  const Network net = network_of(image("[64, 28, 28]") + stage(R"(
  { kind = "global_pool" },
  { kind = "gemm", out = "channels / 16", then = "relu" },
  { kind = "gemm", out = 64, then = "sigmoid" },
  { kind = "mul", with = "in" },
)"));
  CHECK(op_of(net, "s.mul1").output_elements == 64.0 * 28 * 28);
  CHECK(op_of(net, "s.mul1").input_elements == 64.0 * 28 * 28 + 64);
  CHECK(net.parameters == 64.0 * 4 + 4 + 4 * 64 + 64);
}

TEST_CASE("weights that stand twice are counted once, and learned operands are weights") {
  const Network net = network_of(image("[8, 10]") + stage(R"(
  { name = "first", kind = "gemm", out = 8, bias = false },
  { name = "again", kind = "gemm", out = 8, bias = false, shared = true },
  { kind = "add", learned = true },
  { kind = "concat", axis = "rows", learned = 1 },
  { kind = "scale" },
)"));
  CHECK(op_of(net, "again").parameters == 0.0);
  CHECK(op_of(net, "again").weight_elements == 64.0);
  CHECK(net.parameters == 64.0 + 80 + 8 + 8);
  CHECK(op_of(net, "s.concat1").output_elements == 88.0);
}

TEST_CASE("a custom op costs what it reads and writes, weights among it, and its result has the shape that it states") {
  const Network net = network_of(image("[8, 10, 10]") + stage(R"(
  { kind = "custom", shape = [4, 5, 5], learned = 30 },
  { kind = "conv", out_channels = 2, kernel = 1, bias = false },
)"));
  CHECK(net.ops[0].input_elements == 830.0);
  CHECK(net.ops[0].output_elements == 100.0);
  CHECK(net.parameters == 30.0 + 8);
  CHECK(net.ops[1].input_shape == std::vector<std::int64_t>{4, 5, 5});
  CHECK(refusal_of(image("[8]") + stage("{ kind = \"custom\", shape = [4, 0] },\n")).find("'shape' holds 0") !=
        std::string::npos);
}

TEST_CASE("an op made once a call is marked, and an input that lies on the device is not loaded") {
  const Network net = network_of("[[input]]\nname = \"x\"\nshape = [8, 10]\ndtype = \"fp16\"\nresident = true\n" +
                                 stage("{ kind = \"gemm\", out = 8, once = true },\n{ kind = \"relu\" },\n"));
  CHECK(net.ops[0].once);
  CHECK_FALSE(net.ops[1].once);
  CHECK(net.input_bytes().raw() == 0.0);
  CHECK(net.inputs[0].elements == 80.0);
}

TEST_CASE("published multiply-adds are held against the ops, unless a size is another") {
  const std::string body = "multiply_adds = { value = 700, source = \"paper\" }\n[sizes]\nrows = 10\n" +
                           std::string{"[[input]]\nname = \"x\"\nshape = [8, \"rows\"]\ndtype = \"fp32\"\n"} +
                           stage("{ kind = \"gemm\", out = 8 }\n");
  CHECK(refusal_of(body) == "n.toml:4:27: error: the ops make 640 multiply-adds, 'multiply_adds' states 700");
  CHECK(network_of(body, {{"rows", 20}}).product_flops().raw() == 2.0 * 1280);
}

TEST_CASE("what a compact file has wrong is told at its place, all at once") {
  const std::string text = refusal_of(image("[3, 8, 8]") + R"([[block]]
name = "cell"
sizes = ["w"]
op = [
  { kind = "conv", out_channels = "w * z", kernel = 3, padding = "same" },
  { block = "cell", w = 3 },
]
[[block]]
name = "idle"
op = [ { kind = "relu" } ]
[[stage]]
op = [
  { block = "cell", w = 64 },
  { block = "cell" },
  { block = "cel", w = 64 },
  { block = "cell", w = "64 / 3", u = 3 },
]
)");
  CHECK(
      text ==
      "n.toml:12:35: error: no size is called 'z'; write a whole number, or a name of [sizes] or of the block's sizes\n"
      "n.toml:13:13: error: block 'cell' uses itself: 'cell', 'cell'; a block uses only others\n"
      "n.toml:16:8: error: no op uses block 'idle'; use it or leave it out\n"
      "n.toml:21:3: error: missing key 'w': block 'cell' takes it as a size\n"
      "n.toml:22:13: error: no [[block]] is called 'cel'; did you mean 'cell'?\n"
      "n.toml:23:25: error: '64 / 3': 64 does not divide by 3\n"
      "n.toml:23:35: error: unknown key 'u' in [stage[0].op[3]]");
}

TEST_CASE("tensors that do not fit each other are told with both shapes") {
  const std::string text = refusal_of(image("[3, 8, 8]") + stage(R"(
  { name = "a", kind = "conv", out_channels = 8, kernel = 3, padding = "same" },
  { name = "b", kind = "max_pool", kernel = 2 },
  { kind = "add", with = "a" },
  { kind = "concat", after = ["a", "b"] },
  { kind = "gemm", out = 3, with = "later" },
  { name = "later", kind = "gelu", after = "x" },
  { kind = "attention", heads = 5, after = "x" },
  { kind = "embedding", rows = 10, width = 4, after = "x" },
)"));
  CHECK(text.find("n.toml:14:12: error: the op reads [8, 8, 8] and [8, 4, 4]") != std::string::npos);
  CHECK(text.find("n.toml:15:12: error: the op joins [8, 8, 8] and [8, 4, 4], which differ in their planes") !=
        std::string::npos);
  CHECK(text.find("n.toml:16:36: error: op 'later' stands later; an op reads what comes before it") !=
        std::string::npos);
  CHECK(text.find("n.toml:18:33: error: 'heads' is 5, but the 3 channels read do not divide by 15") !=
        std::string::npos);
  CHECK(text.find("n.toml:19:12: error: what is looked up are whole numbers") != std::string::npos);
}

TEST_CASE("the part is a stage's, not its ops'") {
  CHECK(refusal_of(image("[4, 8, 8]") + stage("{ kind = \"relu\", part = \"p\" },\n")) ==
        "n.toml:11:18: error: unknown key 'part' in [stage[0].op[0]]");
}

TEST_CASE("blocks that multiply each other stop at ten thousand ops") {
  std::string body = image("[4, 8, 8]") + "[[block]]\nname = \"b0\"\nop = [ { kind = \"relu\" } ]\n";
  for (int i = 1; i <= 4; ++i) {
    body += "[[block]]\nname = \"b" + std::to_string(i) + "\"\nop = [ { block = \"b" + std::to_string(i - 1) +
            "\", repeat = 60000 } ]\n";
  }
  CHECK(refusal_of(body + "[[stage]]\nop = [ { block = \"b4\" }, { kind = \"relu\" } ]\nname = \"s\"\n")
            .find("at most 10000 are read") != std::string::npos);
}

TEST_CASE("blocks in each other and views that are repeated end too") {
  std::string views = image("[4, 8, 8]") + "[[block]]\nname = \"b0\"\nop = [ { kind = \"view\", shape = [4, 64] } ]\n";
  std::string deep = image("[4, 8, 8]") + "[[block]]\nname = \"b0\"\nop = [ { kind = \"relu\" } ]\n";
  for (int i = 1; i <= 60; ++i) {
    const std::string block =
        "[[block]]\nname = \"b" + std::to_string(i) + "\"\nop = [ { block = \"b" + std::to_string(i - 1);
    deep += block + "\" }, { kind = \"relu\" } ]\n";
    views += i < 6 ? block + "\", repeat = 60000 } ]\n" : "";
  }
  const std::string last = "[[stage]]\nname = \"s\"\nop = [ { kind = \"relu\" }, { block = \"b";
  CHECK(refusal_of(views + last + "5\" } ]\n").find("more than 60000 items") != std::string::npos);
  CHECK(refusal_of(deep + last + "60\" } ]\n").find("stands more than 32 blocks deep") != std::string::npos);
}
