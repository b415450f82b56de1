// SPDX-License-Identifier: Apache-2.0
// Ops that pass over tensors without a product, and those that only move them.
#include <headroom/calibrate/onnx/network_writer.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::onnx_file {
namespace {

struct Word {
  std::string_view op, kind;
};

/// Functions of one tensor that a network file has a word for; others cost what an exponential does: a pass.
constexpr std::array unary_words{
    Word{"Relu", "relu"},
    Word{"LeakyRelu", "leaky_relu"},
    Word{"ThresholdedRelu", "relu"},
    Word{"Elu", "elu"},
    Word{"Selu", "elu"},
    Word{"Celu", "elu"},
    Word{"Sigmoid", "sigmoid"},
    Word{"HardSigmoid", "hard_sigmoid"},
    Word{"Tanh", "tanh"},
    Word{"Gelu", "gelu"},
    Word{"FastGelu", "gelu"},
    Word{"QuickGelu", "quick_gelu"},
    Word{"Silu", "silu"},
    Word{"Swish", "silu"},
    Word{"Mish", "silu"},
    Word{"HardSwish", "hard_swish"},
    Word{"Clip", "relu6"},
};

/// Functions of several tensors whose gradient reads what they read.
constexpr std::array<std::string_view, 3> factors{"Mul", "Div", "Pow"};

/// [C, plane...] of [N, C, plane...].
Sizes channels_first(const Sizes& sizes) {
  if (sizes.size() < 2) {
    return sizes.empty() ? Sizes{1} : sizes;
  }
  Sizes seen{sizes[1]};
  if (sizes[0] > 1) {
    seen.push_back(sizes[0]);
  }
  seen.insert(seen.end(), sizes.begin() + 2, sizes.end());
  return seen;
}

std::string list(const Sizes& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) {
    text += (text.empty() ? "[" : ", ") + std::to_string(size);
  }
  return text + "]";
}

}  // namespace

void NetworkWriter::unary(const Node& node) {
  const auto* const word =
      std::find_if(unary_words.begin(), unary_words.end(), [&](const Word& one) { return one.op == node.op; });
  const Written read = value(computed(node).front());
  result(node, put(node, word == unary_words.end() ? "exp" : word->kind, {read}, "", read.seen));
}

void NetworkWriter::softmax(const Node& node) {
  const Written read = value(node.inputs[0]);
  result(node, put(node, node.op == "Softmax" ? "softmax" : "log_softmax", {read}, "", read.seen));
}

void NetworkWriter::cast(const Node& node) {
  if (tensor(node.inputs[0]).type == tensor(node.outputs[0]).type) {
    same(node);
    return;
  }
  const Written read = value(node.inputs[0]);
  result(node, put(node, "copy", {read}, "", read.seen));
}

/// Add, multiply and the like: of equal tensors; of one and a smaller one, which stands for many; of one and a weight.
void NetworkWriter::several(const Node& node) {
  const bool factor = std::find(factors.begin(), factors.end(), node.op) != factors.end();
  const std::string kind = factor ? "mul" : "add";
  const auto all = real(product_of(sizes(node.outputs[0])));
  std::vector<Written> whole;
  std::vector<Written> smaller;
  double small = 0.0;  // elements of the smaller ones; -1: they differ
  for (const std::string& name : computed(node)) {
    const double count = elements(name);
    if (count == all) {
      whole.push_back(value(name));
    } else {
      small = smaller.empty() || small == count ? count : -1.0;
      smaller.push_back(value(name));
    }
  }
  std::string weight;
  for (const std::string& name : node.inputs) {
    if (!name.empty() && learned(name) && (weight.empty() || elements(name) > elements(weight))) {
      weight = name;
    }
  }
  const bool many = small < 0.0 || (small > 0.0 && real(static_cast<std::int64_t>(all / small)) * small != all);
  if (whole.empty() || many) {
    by_bytes(node);
    return;
  }
  if (!smaller.empty()) {
    const auto channels = static_cast<std::int64_t>(small);
    const auto places = static_cast<std::int64_t>(all / small);
    for (Written& one : whole) {
      one = as(one, {channels, places});
    }
    for (const Written& one : smaller) {
      whole.push_back(as(one, {channels}));
    }
    result(node, put(node, kind, whole, "", {channels, places}));
    return;
  }
  if (whole.size() > 1) {
    result(node, put(node, kind, whole, "", whole.front().seen));
    return;
  }
  if (weight.empty()) {
    result(node, put(node, kind, whole, ", inputs = 1", whole.front().seen));
    return;
  }
  const double count = elements(weight);
  if (count == all) {
    result(node, put(node, kind, whole, ", learned = true" + shared(weight), whole.front().seen));
    return;
  }
  const auto channels = static_cast<std::int64_t>(count);
  const auto places = static_cast<std::int64_t>(all / count);
  if (count > all || real(places) * count != all) {  // each of the two is larger in some direction
    by_bytes(node);
    return;
  }
  const Written read = as(whole.front(), {channels, places});
  result(node, put(node, factor ? "scale" : "bias", {read}, shared(weight), read.seen));
}

void NetworkWriter::prelu(const Node& node) {
  const Written read = value(node.inputs[0]);
  const auto slopes = static_cast<std::int64_t>(has_input(node, 1) ? elements(node.inputs[1]) : 1.0);
  const std::int64_t all = product_of(sizes(node.inputs[0]));
  if (slopes < 1 || all % slopes != 0 || !fixed(node.inputs[1])) {
    by_bytes(node);
    return;
  }
  const Written seen = as(read, {slopes, all / slopes});
  result(node, put(node, "prelu", {seen}, shared(node.inputs[1]), seen.seen));
}

void NetworkWriter::norm(const Node& node) {
  const Sizes& in = sizes(node.inputs[0]);
  const bool affine = has_input(node, 1) && fixed(node.inputs[1]);
  const std::string keys = (affine ? "" : ", affine = false") + (affine ? shared(node.inputs[1]) : "");
  const bool by_rows = node.op == "LayerNormalization" || node.op.ends_with("RMSNormalization") ||
                       node.op == "SimplifiedLayerNormalization";
  if (!by_rows) {
    const Written read = as(value(node.inputs[0]), channels_first(in));
    const std::string_view kind = node.op == "BatchNormalization"      ? "batch_norm"
                                  : node.op == "InstanceNormalization" ? "instance_norm"
                                                                       : "group_norm";
    result(node, put(node, kind, {read}, keys, read.seen));
    return;
  }
  const auto rank = static_cast<std::int64_t>(in.size());
  std::int64_t axis = integer_of(node, "axis", -1);
  axis = std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, std::max<std::int64_t>(rank - 1, 0));
  const std::int64_t width = integer_of(node, "width", product_of({in.begin() + axis, in.end()}));
  const Written read = value(node.inputs[0]);
  result(node, put(node, node.op == "LayerNormalization" ? "layer_norm" : "rms_norm", {read},
                   ", width = " + std::to_string(width) + keys, read.seen));
}

void NetworkWriter::reduce(const Node& node) {
  const std::int64_t out = product_of(sizes(node.outputs[0]));
  if (real(out) >= elements(node.inputs[0])) {
    same(node);
    return;
  }
  result(node, put(node, "reduce", {value(node.inputs[0])}, ", out = " + std::to_string(out)));
}

/// The same elements in another shape are no op; where there are more or fewer, they are written.
void NetworkWriter::same(const Node& node) {
  const std::string& from = node.inputs[0];
  if (fixed(from) || elements(from) != elements(node.outputs[0])) {
    by_bytes(node);
    return;
  }
  result(node, value(from));
}

void NetworkWriter::quantise(const Node& node) {
  // Engines fold these into the ops between them, which then work on 8 bits.
  ++quantised_;
  fixed(node.inputs[0]) ? by_bytes(node) : result(node, value(node.inputs[0]));
}

void NetworkWriter::transpose(const Node& node) {
  const Sizes& in = sizes(node.inputs[0]);
  Sizes usual;
  for (std::size_t i = in.size(); i > 0; --i) {
    usual.push_back(static_cast<std::int64_t>(i) - 1);
  }
  const auto stated = node.attributes.find("perm");
  Sizes order =
      stated == node.attributes.end() || stated->second.integers.size() != in.size() ? usual : stated->second.integers;
  std::erase_if(order, [&](std::int64_t axis) {
    return axis < 0 || axis >= static_cast<std::int64_t>(in.size()) || in[static_cast<std::size_t>(axis)] == 1;
  });
  if (std::is_sorted(order.begin(), order.end())) {  // sizes of 1 alone change places
    same(node);
    return;
  }
  const Written read = value(node.inputs[0]);
  result(node, put(node, "transpose", {read}, "", read.seen));
}

void NetworkWriter::concat(const Node& node) {
  const Sizes& out = sizes(node.outputs[0]);
  const auto rank = static_cast<std::int64_t>(out.size());
  std::int64_t axis = integer_of(node, "axis", 0);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank) {
    by_bytes_with_warning(node);
    return;
  }
  const bool image = axis == 1 && rank >= 3 && out[0] == 1;
  const std::int64_t places =
      product_of(image ? Sizes{out.begin() + 2, out.end()} : Sizes{out.begin(), out.begin() + axis});
  const auto seen_as = [&](std::int64_t channels) {
    Sizes seen{channels};
    if (image) {
      seen.insert(seen.end(), out.begin() + 2, out.end());
    } else if (places > 1) {
      seen.push_back(places);
    }
    return seen;
  };
  std::vector<Written> reads;
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      continue;
    }
    const auto channels = static_cast<std::int64_t>(elements(name) / real(places));
    if (real(channels) * real(places) != elements(name)) {  // sizes of which a file states others
      sum = -1;
      break;
    }
    if (!fixed(name)) {
      reads.push_back(as(value(name), seen_as(channels)));
    } else if (learned(name) && counted_.insert(tensor(name).root).second) {
      weights += channels;
    } else {
      sum = -1;  // a constant that no weight is
      break;
    }
    sum += channels;
  }
  if (real(sum) * real(places) != elements(node.outputs[0])) {
    by_bytes(node);
    return;
  }
  if (reads.size() == 1 && weights == 0) {
    result(node, reads.front());
    return;
  }
  result(node, put(node, "concat", reads, weights > 0 ? ", learned = " + std::to_string(weights) : std::string{},
                   seen_as(sum)));
}

void NetworkWriter::split(const Node& node) {
  const Written whole = value(node.inputs[0]);
  const std::int64_t of = product_of(sizes(node.inputs[0]));
  if (of > 1'073'741'824) {
    by_bytes(node);
    return;
  }
  for (const std::string& output : node.outputs) {
    if (!output.empty()) {
      values_.insert_or_assign(output, part(whole, of, product_of(sizes(output))));
    }
  }
}

void NetworkWriter::slice(const Node& node) {
  const std::int64_t of = product_of(sizes(node.inputs[0]));
  const std::int64_t count = product_of(sizes(node.outputs[0]));
  if (fixed(node.inputs[0]) || count > of || of > 1'073'741'824) {
    by_bytes(node);
    return;
  }
  result(node, part(value(node.inputs[0]), of, count));
}

/// Rows of a table of weights are an embedding; one part of a tensor is a slice; others are gathered.
void NetworkWriter::gather(const Node& node) {
  if (!has_input(node, 1)) {
    by_bytes_with_warning(node);
    return;
  }
  const std::string& data = node.inputs[0];
  const std::string& places = node.inputs[1];
  const std::int64_t count = product_of(sizes(places));
  const double all = elements(node.outputs[0]);
  const auto width = static_cast<std::int64_t>(all / real(count));
  if (real(width) * real(count) != all || width < 1) {
    by_bytes(node);
    return;
  }
  const std::string size = ", width = " + std::to_string(width);
  if (fixed(data) && learned(data)) {
    const auto rows = static_cast<std::int64_t>(elements(data) / real(width));
    result(node,
           put(node, "embedding", {value(places)},
               ", rows = " + std::to_string(rows) + size + ", lookups = " + std::to_string(count) + shared(data)));
    return;
  }
  if (fixed(places) && all < elements(data) && count == 1) {
    slice(node);
    return;
  }
  std::vector<Written> reads;
  for (const std::string& name : computed(node)) {
    reads.push_back(value(name));
  }
  result(node, put(node, "gather", reads, ", rows = " + std::to_string(count) + size, {width, count}));
}

void NetworkWriter::resize(const Node& node) {
  const Sizes& in = sizes(node.inputs[0]);
  const Sizes& out = sizes(node.outputs[0]);
  const bool image = in.size() >= 3 && in.size() <= 5 && out.size() == in.size() && in[0] == 1 && out[0] == 1 &&
                     in[1] == out[1] &&
                     std::all_of(out.begin() + 2, out.end(), [](auto size) { return size <= 65'535; });
  if (!image) {
    by_bytes(node);
    return;
  }
  const Sizes seen = channels_first(out);
  result(node, put(node, "upsample", {as(value(node.inputs[0]), channels_first(in))},
                   ", to = " + list({seen.begin() + 1, seen.end()}), seen));
}

}  // namespace headroom::onnx_file
