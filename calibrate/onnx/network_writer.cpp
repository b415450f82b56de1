// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/onnx/network_writer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::onnx_file {
namespace {

/// The name of an input's format in a network file.
std::string_view format_of(std::int32_t type) noexcept {
  switch (type) {
    case fp16:
    case 4:
    case 5: return "fp16";  // and integers of 16 bits
    case bf16: return "bf16";
    case int32:
    case 12: return "int32";
    case int64:
    case 13:
    case fp64: return "int64";
    case fp32:
    case 0: return "fp32";
    default: return "uint8";
  }
}

[[nodiscard]] bool is_ids(std::int32_t type) noexcept {
  return format_of(type).starts_with("int");
}

/// The sizes of one sample: without the first, where it is the one sample.
Sizes sample_of(const Sizes& sizes) {
  if (sizes.size() > 1 && sizes.front() == 1) {
    return {sizes.begin() + 1, sizes.end()};
  }
  return sizes.empty() ? Sizes{1} : sizes;
}

std::string list_text(const Sizes& sizes) {
  return "[" + joined(sizes, [](std::int64_t size) { return std::to_string(size); }) + "]";
}

}  // namespace

double elements_of(const Sizes& sizes) noexcept {
  double product = 1.0;
  for (const std::int64_t size : sizes) {
    product *= real(size);
  }
  return product;
}

std::int64_t product_of(const Sizes& sizes) noexcept {
  return static_cast<std::int64_t>(elements_of(sizes));  // at most 2^53, as the reader of the file saw to
}

std::int64_t integer_of(const Node& node, const std::string& key, std::int64_t usual) {
  const auto found = node.attributes.find(key);
  return found == node.attributes.end() || found->second.integers.empty() ? usual : found->second.integers.front();
}

Sizes integers_of(const Node& node, const std::string& key, std::size_t count, std::int64_t usual) {
  const auto found = node.attributes.find(key);
  return found == node.attributes.end() || found->second.integers.size() != count ? Sizes(count, usual)
                                                                                  : found->second.integers;
}

NetworkWriter::NetworkWriter(const Graph& graph) : graph_{graph} {
  for (const std::string& name : graph.inputs) {
    const Sizes sample = sample_of(sizes(name));
    Written input{new_name(name), sample};
    if (is_ids(tensor(name).type)) {
      input.seen.insert(input.seen.begin(), 1);
    }
    values_.emplace(name, std::move(input));
    if (sizes(name).size() > 1 && sizes(name).front() > 1) {
      remarks_.push_back(
          "input " + quoted(name) + " begins with the size " + std::to_string(sizes(name).front()) +
          ", so that one sample of the op list is all that; where it is a batch, export the model with a "
          "batch of 1 or a dynamic one");
    }
  }
}

void NetworkWriter::run() {
  for (const Node& node : graph_.nodes) {
    if (computed(node).empty()) {  // random numbers, or made of what is idle
      idle_.insert(node.outputs.begin(), node.outputs.end());
      continue;
    }
    const std::vector<MapRow>& rows = maps();
    // ONNX Runtime's own ops are called as those of ONNX that they stand for; other domains have names of their own.
    const bool known = node.domain.empty() || node.domain == "com.microsoft";
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const MapRow& one) { return known && one.op == node.op; });
    const Map map = row == rows.end() ? &NetworkWriter::by_bytes_with_warning : row->map;
    const bool whole = takes_any_operand(map) || (!fixed(node.inputs[0]) && !node.outputs[0].empty());
    (this->*(whole ? map : &NetworkWriter::by_bytes_with_warning))(node);
  }
}

/// Others read a computed first input and write a first result.
bool NetworkWriter::takes_any_operand(Map map) noexcept {
  using W = NetworkWriter;
  return map == &W::by_bytes || map == &W::by_bytes_with_warning || map == &W::several || map == &W::gemm ||
         map == &W::matmul || map == &W::einsum || map == &W::concat || map == &W::gather || map == &W::same ||
         map == &W::quantise || map == &W::recurrent;
}

std::string NetworkWriter::text() const {
  std::string text = "input = [\n";
  for (const std::string& name : graph_.inputs) {
    const Written& input = values_.at(name);
    if (read_.contains(input.op)) {
      text += "  { name = " + toml_string(input.op) + ", shape = " + list_text(sample_of(sizes(name))) +
              ", dtype = \"" + std::string{format_of(tensor(name).type)} + "\" },\n";
    }
  }
  text += "]\nop = [\n";
  for (const std::string& line : lines_) {
    text += line;
  }
  return text + "]\n";
}

const Tensor& NetworkWriter::tensor(const std::string& name) const {
  static const Tensor none;
  const auto found = graph_.tensors.find(name);
  return found == graph_.tensors.end() ? none : found->second;
}

bool NetworkWriter::has_input(const Node& node, std::size_t i) const {
  return i < node.inputs.size() && !node.inputs[i].empty();
}

bool NetworkWriter::fixed(const std::string& name) const {
  return !values_.contains(name);
}

bool NetworkWriter::learned(const std::string& name) const {
  return fixed(name) && elements(name) > 1.0 && !tensor(name).root.empty();
}

Written NetworkWriter::value(const std::string& name) const {
  return values_.at(name);
}

std::vector<std::string> NetworkWriter::computed(const Node& node) const {
  std::vector<std::string> names;
  for (const std::string& name : node.inputs) {
    if (!name.empty() && !fixed(name) && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

/// Names of tensors and nodes hold what a network file's names do not.
std::string NetworkWriter::new_name(const std::string& wanted) {
  std::string name;
  for (const char c : wanted) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || c == '/' || c == '.' || c == ':';
    name += plain ? c : '_';
  }
  if (name.empty() || name == "in") {
    name += "tensor";
  }
  std::string taken = name;
  for (int number = 2; !names_.insert(taken).second; ++number) {
    taken = name + "#" + std::to_string(number);
  }
  return taken;
}

std::string NetworkWriter::name_of(const Node& node) {
  return new_name(node.name.empty() ? node.op + "_" + std::to_string(ops_) : node.name);
}

void NetworkWriter::line(const std::string& name,
                         std::string_view kind,
                         const std::vector<Written>& reads,
                         const std::string& keys) {
  std::string after;
  for (const Written& read : reads) {
    after += (after.empty() ? "" : ", ") + toml_string(read.op);
    read_.insert(read.op);
  }
  lines_.push_back("  { name = " + toml_string(name) + ", kind = \"" + std::string{kind} +
                   "\", after = " + (reads.size() == 1 ? after : "[" + after + "]") + keys + " },\n");
}

Written NetworkWriter::as(const Written& tensor, const Sizes& seen) {
  if (tensor.seen == seen) {
    return tensor;
  }
  Written& view = views_[{tensor.op, seen}];
  if (view.op.empty()) {
    view = {new_name(tensor.op + ".view"), seen};
    line(view.op, "view", {tensor}, ", shape = " + list_text(seen));
  }
  return view;
}

Written NetworkWriter::part(const Written& tensor, std::int64_t of, std::int64_t count) {
  const Written whole = as(tensor, {of});
  if (count >= of) {
    return whole;
  }
  const Written slice{new_name(tensor.op + ".part"), {count}};
  line(slice.op, "slice", {whole}, ", channels = " + std::to_string(count));
  return slice;
}

Written NetworkWriter::put(const Node& node,
                           std::string_view kind,
                           const std::vector<Written>& reads,
                           const std::string& keys,
                           const Sizes& seen) {
  const Written written{name_of(node), seen};
  line(written.op, kind, reads, keys);
  ++ops_;
  constexpr std::string_view own = "headroom.";  // of chains that were folded
  ++written_[node.op.starts_with(own) ? node.op.substr(own.size()) : node.op];
  return written;
}

void NetworkWriter::result(const Node& node, const Written& written) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i == 0) {
      values_.insert_or_assign(node.outputs[i], written);
    } else {
      idle_.insert(node.outputs[i]);
    }
  }
}

std::string NetworkWriter::shared(const std::string& name) {
  const std::string& root = tensor(name).root;
  return root.empty() || counted_.insert(root).second ? "" : ", shared = true";
}

void NetworkWriter::by_bytes(const Node& node) {
  std::vector<Written> reads;
  for (const std::string& name : computed(node)) {
    reads.push_back(value(name));
  }
  double weights = 0.0;
  for (const std::string& name : node.inputs) {
    if (!name.empty() && learned(name) && counted_.insert(tensor(name).root).second) {
      weights += elements(name);
    }
  }
  const std::string keys =
      weights > 0.0 ? ", learned = " + std::to_string(static_cast<std::int64_t>(weights)) : std::string{};
  std::int64_t all = 0;
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty() && !sizes(node.outputs[i]).empty()) {
      outputs.push_back(i);
      all += product_of(sizes(node.outputs[i]));
    }
  }
  if (outputs.size() <= 1) {
    const Sizes sample = sample_of(outputs.empty() ? Sizes{} : sizes(node.outputs[outputs.front()]));
    // Channels first; of rows they are the last size.
    Sizes seen{sample.back()};
    seen.insert(seen.end(), sample.begin(), sample.end() - 1);
    const Written written = put(node, "custom", reads, ", shape = " + list_text(seen) + keys, seen);
    for (const std::string& output : node.outputs) {
      values_.insert_or_assign(output, written);
    }
    return;
  }
  const Written whole = put(node, "custom", reads, ", shape = [" + std::to_string(all) + "]" + keys, {all});
  for (const std::size_t i : outputs) {
    values_.insert_or_assign(node.outputs[i], part(whole, all, product_of(sizes(node.outputs[i]))));
  }
}

void NetworkWriter::by_bytes_with_warning(const Node& node) {
  ++unknown_[node.domain.empty() ? node.op : node.domain + "." + node.op];
  by_bytes(node);
}

const std::vector<NetworkWriter::MapRow>& NetworkWriter::maps() {
  using W = NetworkWriter;
  static const std::vector<MapRow> rows = [] {
    std::vector<MapRow> all{
        {"Conv", &W::conv},
        {"QLinearConv", &W::conv},
        {"ConvInteger", &W::conv},
        {"ConvTranspose", &W::conv_transpose},
        {"Gemm", &W::gemm},
        {"MatMul", &W::matmul},
        {"QLinearMatMul", &W::matmul},
        {"MatMulInteger", &W::matmul},
        {"Einsum", &W::einsum},
        {"headroom.Attention", &W::attention},
        {"Softmax", &W::softmax},
        {"LogSoftmax", &W::softmax},
        {"PRelu", &W::prelu},
        {"Transpose", &W::transpose},
        {"Concat", &W::concat},
        {"Split", &W::split},
        {"Slice", &W::slice},
        {"Gather", &W::gather},
        {"Resize", &W::resize},
        {"Upsample", &W::resize},
        {"Cast", &W::cast},
        {"CastLike", &W::cast},
    };
    const auto add = [&](Map map, std::initializer_list<std::string_view> ops) {
      for (const std::string_view op : ops) {
        all.push_back({op, map});
      }
    };
    add(&W::recurrent, {"LSTM", "GRU", "RNN"});
    add(&W::pool, {"MaxPool", "AveragePool", "LpPool"});
    add(&W::global_pool, {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"});
    add(&W::norm, {"BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization",
                   "RMSNormalization", "SimplifiedLayerNormalization"});
    add(&W::unary, {"Relu",       "LeakyRelu",   "ThresholdedRelu",
                    "Elu",        "Selu",        "Celu",
                    "Sigmoid",    "HardSigmoid", "Tanh",
                    "Gelu",       "FastGelu",    "QuickGelu",
                    "Silu",       "Swish",       "Mish",
                    "HardSwish",  "Clip",        "Softplus",
                    "Softsign",   "Erf",         "Exp",
                    "Log",        "Sqrt",        "Reciprocal",
                    "Neg",        "Abs",         "Floor",
                    "Ceil",       "Round",       "Sign",
                    "Sin",        "Cos",         "Tan",
                    "Asin",       "Acos",        "Atan",
                    "Sinh",       "Cosh",        "Asinh",
                    "Acosh",      "Atanh",       "Not",
                    "BitwiseNot", "IsNaN",       "IsInf",
                    "Shrink"});
    add(&W::several,
        {"Add",  "Sub",         "Mul",      "Div",        "Pow",       "Mod",        "Min",     "Max",
         "Sum",  "Mean",        "And",      "Or",         "Xor",       "Equal",      "Greater", "GreaterOrEqual",
         "Less", "LessOrEqual", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Where"});
    add(&W::reduce, {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                     "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin"});
    add(&W::same, {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Expand", "Tile", "Pad"});
    add(&W::quantise, {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"});
    add(&W::by_bytes, {"TopK",
                       "NonMaxSuppression",
                       "NonZero",
                       "GatherElements",
                       "GatherND",
                       "Scatter",
                       "ScatterElements",
                       "ScatterND",
                       "OneHot",
                       "CumSum",
                       "SpaceToDepth",
                       "DepthToSpace",
                       "ReverseSequence",
                       "Trilu",
                       "Compress",
                       "Unique",
                       "EyeLike",
                       "RoiAlign",
                       "MaxRoiPool",
                       "MaxUnpool",
                       "GridSample",
                       "LRN",
                       "LpNormalization",
                       "MeanVarianceNormalization",
                       "Hardmax",
                       "CenterCropPad",
                       "Col2Im",
                       "Range"});
    return all;
  }();
  return rows;
}

}  // namespace headroom::onnx_file
