// SPDX-License-Identifier: Apache-2.0
// Graphs of ONNX become networks with the parameters and FLOP of their closed forms; what is broken is told with its
// place and a way out.
#include <headroom/calibrate/onnx/onnx_network.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <doctest/doctest.h>

#include "../support/onnx_model.hpp"
#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::onnx_graph;
using headroom::test::onnx_int;
using headroom::test::onnx_ints;
using headroom::test::onnx_text;
using headroom::test::OnnxDims;
using headroom::test::OnnxGraph;
using headroom::test::says;

namespace {

/// Whether the reader was built; names it to the program.
bool readable() {
#ifdef HEADROOM_ONNX_MODULE
  setenv("HEADROOM_ONNX_LIBRARY", HEADROOM_ONNX_MODULE, 1);  // NOLINT(concurrency-mt-unsafe)
  return true;
#else
  MESSAGE("Skipped: built without libonnx");
  return false;
#endif
}

ImportedOnnx imported(const std::string& file, const std::vector<std::string>& shapes = {}) {
  const test::ScratchFolder folder;
  return import_onnx(folder.write("Net.onnx", file), {"", shapes});
}

Network network_in(const ImportedOnnx& imported) {
  CAPTURE(imported.toml);
  const ConfigValue root = parse_toml(imported.toml, "net.toml");
  Diagnostics diagnostics;
  Network network = read_network(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  return network;
}

/// What a file is refused with; empty where it is not.
std::string refusal(const std::string& file, const std::vector<std::string>& shapes = {}) {
  try {
    static_cast<void>(imported(file, shapes));
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string remarks_of(const ImportedOnnx& imported) {
  std::string all;
  for (const std::string& remark : imported.remarks) {
    all += remark + "\n";
  }
  return all;
}

/// ResNet-50 (He et al. 2016, table 1), with its stride in the 3 x 3 convolution as torchvision has it.
OnnxGraph resnet_50() {
  OnnxGraph g;
  g.input("image", {"batch", 3, 224, 224});
  int number = 0;
  const auto conv = [&](const std::string& in, std::int64_t from, std::int64_t to, std::int64_t kernel,
                        std::int64_t stride, bool relu) {
    const std::string name = "conv" + std::to_string(++number);
    const std::int64_t pad = kernel / 2;
    g.weight(name + ".w", {to, from, kernel, kernel});
    g.node("Conv", {in, name + ".w"}, {name},
           {onnx_ints("kernel_shape", {kernel, kernel}), onnx_ints("strides", {stride, stride}),
            onnx_ints("pads", {pad, pad, pad, pad})});
    for (const char* part : {".scale", ".shift", ".mean", ".variance"}) {
      g.weight(name + part, {to});
    }
    g.node("BatchNormalization", {name, name + ".scale", name + ".shift", name + ".mean", name + ".variance"},
           {name + ".bn"});
    if (relu) {
      g.node("Relu", {name + ".bn"}, {name + ".relu"});
    }
    return name + (relu ? ".relu" : ".bn");
  };
  std::string last = conv("image", 3, 64, 7, 2, true);
  g.node("MaxPool", {last}, {"pool"},
         {onnx_ints("kernel_shape", {3, 3}), onnx_ints("strides", {2, 2}), onnx_ints("pads", {1, 1, 1, 1})});
  last = "pool";
  std::int64_t channels = 64;
  std::int64_t width = 64;
  int block = 0;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int i = 0; i < blocks; ++i) {
      const std::int64_t stride = i == 0 && width > 64 ? 2 : 1;
      std::string deep = conv(last, channels, width, 1, 1, true);
      deep = conv(deep, width, width, 3, stride, true);
      deep = conv(deep, width, 4 * width, 1, 1, false);
      const std::string beside = i == 0 ? conv(last, channels, 4 * width, 1, stride, false) : last;
      const std::string name = "block" + std::to_string(++block);
      g.node("Add", {deep, beside}, {name});
      g.node("Relu", {name}, {name + ".relu"});
      last = name + ".relu";
      channels = 4 * width;
    }
    width *= 2;
  }
  g.node("GlobalAveragePool", {last}, {"mean"});
  g.node("Flatten", {"mean"}, {"flat"});
  g.weight("fc.w", {1000, 2048}).weight("fc.b", {1000});
  g.node("Gemm", {"flat", "fc.w", "fc.b"}, {"classes"}, {onnx_int("transB", 1)});
  g.output("classes");
  return g;
}

/// A transformer's layer as PyTorch exports it: products of matrices, decomposed layer norms and GELU, reshapes by
/// sizes that are computed.
OnnxGraph transformer_layer(std::int64_t hidden, std::int64_t heads, std::int64_t inner) {
  OnnxGraph g;
  g.input("x", {"batch", "seq", hidden});
  g.number("two").number("epsilon").number("root").number("one").number("half").number("scale");
  const auto linear = [&](const std::string& in, const std::string& name, std::int64_t from, std::int64_t to) {
    g.weight(name + ".w", {from, to}).weight(name + ".b", {to});
    g.node("MatMul", {in, name + ".w"}, {name + ".product"});
    g.node("Add", {name + ".b", name + ".product"}, {name});
    return name;
  };
  const auto norm = [&](const std::string& in, const std::string& name) {
    g.weight(name + ".w", {hidden}).weight(name + ".b", {hidden});
    g.node("ReduceMean", {in}, {name + ".mean"}, {onnx_ints("axes", {-1})});
    g.node("Sub", {in, name + ".mean"}, {name + ".centred"});
    g.node("Pow", {name + ".centred", "two"}, {name + ".square"});
    g.node("ReduceMean", {name + ".square"}, {name + ".variance"}, {onnx_ints("axes", {-1})});
    g.node("Add", {name + ".variance", "epsilon"}, {name + ".stable"});
    g.node("Sqrt", {name + ".stable"}, {name + ".deviation"});
    g.node("Div", {name + ".centred", name + ".deviation"}, {name + ".unit"});
    g.node("Mul", {name + ".unit", name + ".w"}, {name + ".scaled"});
    g.node("Add", {name + ".scaled", name + ".b"}, {name});
    return name;
  };
  g.node("Shape", {"x"}, {"shape"});
  g.integers("at1", {1}, true).integers("zero", {0}).integers("heads", {heads}).integers("width", {hidden / heads});
  g.integers("minus", {-1});
  g.node("Gather", {"shape", "at1"}, {"tokens.scalar"});
  g.node("Unsqueeze", {"tokens.scalar", "zero"}, {"tokens"});
  g.node("Concat", {"minus", "tokens", "heads", "width"}, {"split.shape"}, {onnx_int("axis", 0)});
  g.integers("merged.shape", {0, 0, hidden});
  const std::string normed = norm("x", "norm1");
  const auto head = [&](const std::string& name, const OnnxDims& order) {
    linear(normed, name, hidden, hidden);
    g.node("Reshape", {name, "split.shape"}, {name + ".heads"});
    g.node("Transpose", {name + ".heads"}, {name + ".turned"}, {onnx_ints("perm", order)});
    return name + ".turned";
  };
  const std::string q = head("q", {0, 2, 1, 3});
  const std::string k = head("k", {0, 2, 3, 1});
  const std::string v = head("v", {0, 2, 1, 3});
  g.node("MatMul", {q, k}, {"scores"});
  g.node("Div", {"scores", "scale"}, {"scaled"});
  g.node("Softmax", {"scaled"}, {"weights"}, {onnx_int("axis", -1)});
  g.node("MatMul", {"weights", v}, {"values"});
  g.node("Transpose", {"values"}, {"values.turned"}, {onnx_ints("perm", {0, 2, 1, 3})});
  g.node("Reshape", {"values.turned", "merged.shape"}, {"merged"});
  g.node("Add", {linear("merged", "out", hidden, hidden), "x"}, {"sum1"});
  const std::string wide = linear(norm("sum1", "norm2"), "up", hidden, inner);
  g.node("Div", {wide, "root"}, {"gelu.in"});
  g.node("Erf", {"gelu.in"}, {"gelu.erf"});
  g.node("Add", {"gelu.erf", "one"}, {"gelu.shifted"});
  g.node("Mul", {wide, "gelu.shifted"}, {"gelu.product"});
  g.node("Mul", {"gelu.product", "half"}, {"gelu"});
  g.node("Add", {linear("gelu", "down", inner, hidden), "sum1"}, {"sum2"});
  g.output("sum2");
  return g;
}

std::size_t count_of(const Network& network, OpKind kind, std::string_view function = "") {
  return static_cast<std::size_t>(std::count_if(network.ops.begin(), network.ops.end(), [&](const Op& op) {
    return op.kind == kind && (function.empty() || op.function == function);
  }));
}

/// Turns one bit of every `stride`th byte of a file; what is no longer a network is refused as bad input.
void turn_bits(std::size_t stride) {
  if (!readable()) return;
  const std::string whole = transformer_layer(64, 4, 128).file();
  for (std::size_t i = 0; i < whole.size(); i += stride) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    static_cast<void>(refusal(changed, {"seq=16"}));
  }
}

/// Reads every `stride`th model of the package libonnx-testdata, in the order of their names.
void read_test_models(std::size_t stride) {
  const std::filesystem::path models{"/usr/share/libonnx-testdata/data"};
  if (!std::filesystem::exists(models)) {
    MESSAGE("Skipped: no package libonnx-testdata");
    return;
  }
  if (!readable()) return;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{models}) {
    if (entry.path().extension() == ".onnx") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  int read = 0;
  int all = 0;
  for (std::size_t i = 0; i < files.size(); i += stride) {
    ++all;
    CAPTURE(files[i]);
    try {
      static_cast<void>(network_in(import_onnx(files[i], {})));
      ++read;
    } catch (const ConfigError& error) {
      CHECK(!says(error.what(), "as an op list"));
      if (std::getenv("HEADROOM_TELL") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
        MESSAGE(std::string{error.what()});
      }
    }
  }
  MESSAGE(read << " of " << all);
  CHECK(read * 10 > all * 7);
}

}  // namespace

TEST_CASE("ResNet-50 from ONNX is ResNet-50 of the catalog") {
  if (!readable()) return;
  const ImportedOnnx result = imported(resnet_50().file());
  const Network network = network_in(result);
  const Network catalog = NetworkLibrary::standard().find("resnet-50");
  CHECK(network.id == "net");
  CHECK(network.parameters == 25'557'032.0);  // torchvision
  CHECK(network.parameters == catalog.parameters);
  CHECK(network.product_flops().raw() == catalog.product_flops().raw());
  CHECK(network.inputs.front().shape == std::vector<std::int64_t>{3, 224, 224});
  CHECK(count_of(network, OpKind::conv) == 53);
  CHECK(says(remarks_of(result), "size 'batch' is taken as 1"));
  CHECK(says(remarks_of(result), "state precision = \"fp32\""));
}

TEST_CASE(
    "a transformer's layer from ONNX has the work of its closed form, and its parts are what they were before export") {
  if (!readable()) return;
  const double h = 768.0;
  const double f = 3072.0;
  const double t = 128.0;
  const Network network = network_in(imported(transformer_layer(768, 12, 3072).file(), {"seq=128"}));
  CHECK(network.parameters == 4.0 * (h * h + h) + 2.0 * h * f + f + h + 4.0 * h);
  CHECK(network.product_flops().raw() == 2.0 * t * (4.0 * h * h + 2.0 * h * f) + 4.0 * t * t * h);
  CHECK(count_of(network, OpKind::attention) == 1);
  CHECK(count_of(network, OpKind::gemm) == 6);
  CHECK(network.ops.size() == 12);
  CHECK(count_of(network, OpKind::norm, "layer") == 2);
  CHECK(count_of(network, OpKind::elementwise, "gelu") == 1);
  CHECK(count_of(network, OpKind::elementwise) == 3);  // two sums beside it
  // At another length, from the same file.
  const Network longer = network_in(imported(transformer_layer(768, 12, 3072).file(), {"x=1x512x768"}));
  CHECK(longer.product_flops().raw() == 2.0 * 512.0 * (4.0 * h * h + 2.0 * h * f) + 4.0 * 512.0 * 512.0 * h);
}

TEST_CASE("recurrent layers from ONNX have the gates' parameters and work in both directions") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("x", {100, 1, 80});
  g.weight("w", {2, 4 * 512, 80}).weight("r", {2, 4 * 512, 512}).weight("b", {2, 8 * 512});
  g.node("LSTM", {"x", "w", "r", "b"}, {"all", "last"},
         {onnx_int("hidden_size", 512), onnx_text("direction", "bidirectional")});
  g.node("Transpose", {"all"}, {"turned"}, {onnx_ints("perm", {0, 2, 1, 3})});
  g.integers("shape", {100, 1, 1024});
  g.node("Reshape", {"turned", "shape"}, {"joined"});
  g.weight("w2", {1, 3 * 256, 1024}).weight("r2", {1, 3 * 256, 256});
  g.node("GRU", {"joined", "w2", "r2"}, {"second"}, {onnx_int("hidden_size", 256)});
  g.output("second").output("last");
  const Network network = network_in(imported(g.file()));
  const double first = 2.0 * 4.0 * 512.0 * (80.0 + 512.0);
  const double second = 3.0 * 256.0 * (1024.0 + 256.0);
  CHECK(network.parameters == first + 2.0 * 2.0 * 4.0 * 512.0 + second);
  CHECK(network.product_flops().raw() == 2.0 * 100.0 * (first + second));
}

TEST_CASE(
    "convolutions of every kind keep their shapes: groups, dilation, uneven padding, transposed, three directions") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("x", {1, 32, 57, 57});
  g.weight("depthwise", {32, 1, 3, 3}).weight("bias", {32});
  g.node("Conv", {"x", "depthwise", "bias"}, {"a"},
         {onnx_int("group", 32), onnx_ints("strides", {2, 2}), onnx_text("auto_pad", "SAME_UPPER")});
  g.weight("dilated", {64, 16, 3, 3});
  g.node("Conv", {"a", "dilated"}, {"b"},
         {onnx_int("group", 2), onnx_ints("dilations", {2, 2}), onnx_ints("pads", {2, 1, 2, 2})});
  g.weight("up", {64, 24, 2, 2});
  g.node("ConvTranspose", {"b", "up"}, {"c"}, {onnx_ints("strides", {2, 2})});
  g.node("AveragePool", {"c"}, {"d"},
         {onnx_ints("kernel_shape", {2, 2}), onnx_ints("strides", {2, 2}), onnx_int("ceil_mode", 1)});
  g.integers("volume", {1, 24, 1, 29, 28}).weight("deep", {8, 24, 1, 3, 3});
  g.node("Reshape", {"d", "volume"}, {"e"});
  g.node("Conv", {"e", "deep"}, {"f"}, {onnx_ints("kernel_shape", {1, 3, 3})});
  g.output("f");
  const Network network = network_in(imported(g.file()));
  CHECK(network.parameters == 32.0 * 9.0 + 32.0 + 64.0 * 16.0 * 9.0 + 64.0 * 24.0 * 4.0 + 8.0 * 24.0 * 9.0);
  const double multiply_adds = 29.0 * 29.0 * 32.0 * 9.0 + 29.0 * 28.0 * 64.0 * 16.0 * 9.0 +
                               29.0 * 28.0 * 64.0 * 24.0 * 4.0 + 27.0 * 26.0 * 8.0 * 24.0 * 9.0;
  CHECK(network.product_flops().raw() == 2.0 * multiply_adds);
}

TEST_CASE("products of ONNX: Gemm, Einsum, groups of weights, quantised ones") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("x", {1, 8, 64});
  g.weight("experts", {8, 64, 32});
  g.integers("grouped", {8, 1, 64});
  g.node("Reshape", {"x", "grouped"}, {"rows"});
  g.node("MatMul", {"rows", "experts"}, {"a"});  // each row has weights of its own
  g.integers("flat", {8, 32});
  g.node("Reshape", {"a", "flat"}, {"b"});
  g.weight("e", {16, 32});
  g.node("Einsum", {"b", "e"}, {"c"}, {onnx_text("equation", "bi,oi->bo")});
  g.weight("q", {16, 24}, test::onnx_int8).number("s").weight("z", {}, test::onnx_int8);
  g.node("DequantizeLinear", {"q", "s", "z"}, {"weights"});
  g.node("QuantizeLinear", {"c", "s", "z"}, {"c8"});
  g.node("DequantizeLinear", {"c8", "s", "z"}, {"cq"});
  g.node("MatMul", {"cq", "weights"}, {"d"});
  g.node("Einsum", {"d", "d"}, {"e2"}, {onnx_text("equation", "ik,jk->ij")});
  g.output("e2");
  const ImportedOnnx result = imported(g.file());
  const Network network = network_in(result);
  CHECK(network.parameters == 8.0 * 64.0 * 32.0 + 16.0 * 32.0 + 16.0 * 24.0);
  CHECK(network.product_flops().raw() ==
        2.0 * (8.0 * 64.0 * 32.0 + 8.0 * 32.0 * 16.0 + 8.0 * 16.0 * 24.0 + 8.0 * 8.0 * 24.0));
  CHECK(says(remarks_of(result), "quantised"));
}

TEST_CASE("embeddings, shared weights and learned sums count once") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("ids", {1, 16}, test::onnx_int64);
  g.weight("table", {1000, 64}).weight("places", {16, 64});
  g.node("Gather", {"table", "ids"}, {"x"});
  g.node("Add", {"x", "places"}, {"y"});
  g.node("Transpose", {"table"}, {"turned"}, {onnx_ints("perm", {1, 0})});
  g.node("MatMul", {"y", "turned"}, {"logits"});
  g.output("logits");
  const Network network = network_in(imported(g.file()));
  CHECK(network.parameters == 1000.0 * 64.0 + 16.0 * 64.0);
  CHECK(network.product_flops().raw() == 2.0 * 16.0 * 64.0 * 1000.0);
}

TEST_CASE("an op that nobody knows is priced by its bytes, named and counted") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("x", {1, 64, 10, 10});
  g.weight("w", {64, 7});
  g.node("Swirl", {"x", "w"}, {"y"}, {}, "com.acme");
  g.node("Relu", {"y"}, {"z"});
  g.output("z");
  const std::string refused = refusal(g.file());
  CHECK(says(refused,
             "node 1 'y' (Swirl): the shape of its result 'y' is not known, for no rule of ONNX says what op "
             "'Swirl' of 'com.acme' does; state it, e.g. --shape y=1x100x4"));
  const ImportedOnnx result = imported(g.file(), {"y=1x32x20x20"});
  CHECK(says(remarks_of(result), "priced by these bytes: 1 com.acme.Swirl"));
  const Network network = network_in(result);
  const Op& custom = network.ops.front();
  CHECK(custom.function == "custom");
  CHECK(custom.input_elements == 6400.0 + 448.0);
  CHECK(custom.output_elements == 12800.0);
  CHECK(network.parameters == 448.0);
}

TEST_CASE("graphs inside nodes are counted once, with a warning") {
  if (!readable()) return;
  OnnxGraph body;
  body.weight("w", {64, 64});
  body.node("MatMul", {"x", "w"}, {"deep"}).node("Relu", {"deep"}, {"then"}).output("then");
  OnnxGraph other;
  other.node("Identity", {"x"}, {"else"}).output("else");
  OnnxGraph g;
  g.input("x", {4, 64}).input("c", {1}, test::onnx_bool);
  g.node("If", {"c"}, {"y"}, {onnx_graph("then_branch", body.message()), onnx_graph("else_branch", other.message())});
  g.output("y");
  const ImportedOnnx result = imported(g.file());
  CHECK(network_in(result).parameters == 4096.0);
  CHECK(says(remarks_of(result), "node 1 'y' (If): its then_branch is counted once"));
}

TEST_CASE("ops of later opsets than libonnx knows are read as they are meant") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("x", {1, 32, 8, 8});
  g.integers("axes", {2, 3}).weight("w", {32}).weight("b", {32});
  g.node("GroupNormalization", {"x", "w", "b"}, {"normed"}, {onnx_int("num_groups", 4)});
  g.node("Gelu", {"normed"}, {"curved"}, {onnx_text("approximate", "tanh")});
  g.node("Split", {"curved"}, {"left", "right"}, {onnx_int("axis", 1), onnx_int("num_outputs", 2)});
  g.node("Mul", {"left", "right"}, {"product"});
  g.node("ReduceMean", {"product", "axes"}, {"mean"}, {onnx_int("keepdims", 0)});
  g.weight("fc", {16, 10});
  g.node("MatMul", {"mean", "fc"}, {"y"});
  g.output("y");
  const Network network = network_in(imported(g.file(21)));
  CHECK(network.parameters == 2.0 * 32.0 + 160.0);
  CHECK(network.product_flops().raw() == 320.0);
  CHECK(count_of(network, OpKind::norm, "group") == 1);
  CHECK(count_of(network, OpKind::elementwise, "gelu") == 1);
  CHECK(network.ops.size() == 5);
}

TEST_CASE("a loop carries its tensors with the shapes that they have before it") {
  if (!readable()) return;
  OnnxGraph body;
  body.input("i", {}, test::onnx_int64).input("go", {}, test::onnx_bool).input("state", {"a", "b"});
  body.weight("w", {64, 64});
  body.node("MatMul", {"state", "w"}, {"next"}).node("Identity", {"go"}, {"on"});
  body.output("on").output("next");
  OnnxGraph g;
  g.input("x", {4, 64}).integers("times", {8}, true);
  g.node("Loop", {"times", "", "x"}, {"y"}, {onnx_graph("body", body.message())});
  g.node("Relu", {"y"}, {"z"}).output("z");
  const ImportedOnnx result = imported(g.file());
  CHECK(network_in(result).product_flops().raw() == 2.0 * 4.0 * 64.0 * 64.0);
  CHECK(says(remarks_of(result), "node 1 'y' (Loop): its body is counted once, however often it runs"));
}

TEST_CASE("every problem of an ONNX file is told at once, with its place and a way out") {
  if (!readable()) return;
  OnnxGraph g;
  g.input("x", {"batch", 3, "height", "width"}).input("mask", {"batch", "height"});
  g.raw("w", {8, 3, 3, 3}, 100).raw("v", {-4, 2}, 8);
  g.node("Conv", {"x", "w"}, {"y"});
  g.node("Add", {"y", "nowhere"}, {"z"});
  g.node("Mul", {"p", "y"}, {"q"}).node("Relu", {"q"}, {"p"});
  g.output("z").output("missing");
  const std::string told = refusal(g.file());
  CHECK(says(told, "initializer 'w': its sizes 8x3x3x3 ask for 864 bytes, but it holds 100"));
  CHECK(says(told, "initializer 'v': has the size -4 (-4x2)"));
  CHECK(says(told, "node 2 'z' (Add): reads 'nowhere', which is no input, no initializer and no result of a node"));
  CHECK(says(told, "node 3 'q' (Mul), node 4 'p' (Relu): wait for each other's results, in a cycle"));
  CHECK(says(told, "output 'missing': no node writes it"));

  OnnxGraph open;
  open.input("x", {"batch", 3, "height", "width"}).input("mask", {"batch", "height"});
  open.node("Relu", {"x"}, {"y"}).node("Relu", {"mask"}, {"z"}).output("y").output("z");
  const std::string sizes = refusal(open.file());
  CHECK(says(sizes,
             "input 'x', size 3 of 4: is dynamic, 'height'; set it with --shape height=N, or all of them with "
             "--shape x=1x3xNxN"));
  CHECK(says(sizes, "'width'; set it with --shape width=N"));
  CHECK(!says(sizes, "'batch'"));
  CHECK(refusal(open.file(), {"height=8", "width=8"}).empty());
  CHECK(says(refusal(open.file(), {"height=8", "width=8", "depth=2"}),
             "--shape depth=2: no input, tensor or dynamic size "
             "has this name; the inputs are 'x', 'mask'"));
  CHECK(says(refusal(open.file(), {"height=8", "x=1x3x8"}), "input 'x': has 4 sizes, but --shape states 1x3x8"));
  CHECK(says(refusal(open.file(), {"height=0"}), "'height=0' is no shape"));
  CHECK(says(refusal(open.file(), {"height=8", "height=9"}), "'height' is stated twice"));
}

TEST_CASE("what is no ONNX file, or only a part of one, is refused as that") {
  if (!readable()) return;
  const std::string whole = resnet_50().file();
  CHECK(says(refusal(whole.substr(0, whole.size() / 2)), "is no ONNX model, or is cut off"));
  CHECK(says(refusal("schema = 1\nid = \"net\"\n"), "is no ONNX model"));
  CHECK(says(refusal(""), "holds no graph"));
  CHECK(says(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "git lfs pull"));
  CHECK(says(refusal(OnnxGraph{}.file()), "its graph has no nodes"));
  const test::ScratchFolder folder;
  const std::string large = folder.write("large.onnx", "x");
  std::filesystem::resize_file(large, (std::uintmax_t{1} << 31U) + 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(import_onnx(large, {})), doctest::Contains("is larger than 2 GiB"),
                       ConfigError);
  OnnxGraph zero;
  zero.input("x", {1, 0, 5}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(says(refusal(zero.file()), "input 'x', size 2 of 3: is 0, so that the tensor is empty"));
  OnnxGraph vast;
  vast.input("x", {1, 1 << 30, 1 << 30}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(says(refusal(vast.file()), "more than 9.0e15 elements"));
}

TEST_CASE("a size of one place, as few as one bit turned: a byte in thirty of a file is read or refused") {
  turn_bits(29);
}

TEST_CASE("long: a size of one place, as few as one bit turned: every byte of a file is read or refused") {
  turn_bits(1);
}

TEST_CASE("models that come with libonnx are read or refused: one in six of them") {
  read_test_models(6);
}

TEST_CASE("long: models that come with libonnx are read or refused: all of them") {
  read_test_models(1);
}
