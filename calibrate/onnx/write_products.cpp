// SPDX-License-Identifier: Apache-2.0
// Ops that multiply: convolutions, products of matrices, attention, recurrent layers; and pools, which have windows
// too.
#include <headroom/calibrate/onnx/network_writer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace headroom::onnx_file {
namespace {

std::string key(std::string_view name, std::int64_t value) {
  return ", " + std::string{name} + " = " + std::to_string(value);
}

/// One number where all are equal.
std::string key(std::string_view name, const Sizes& sizes) {
  const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size == sizes.front(); });
  if (equal) {
    return key(name, sizes.front());
  }
  return ", " + std::string{name} + " = [" + joined(sizes, [](std::int64_t size) { return std::to_string(size); }) +
         "]";
}

std::string key_unless(std::string_view name, const Sizes& sizes, std::int64_t usual) {
  const bool as_usual = std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) { return size == usual; });
  return as_usual ? "" : key(name, sizes);
}

/// The equal padding of both sides that leaves `out` places, where there is one: file formats that pad unevenly, or
/// that round up, are met where the number of places is the same.
std::optional<std::int64_t> padding_for(const WindowKeys& w, std::size_t i) {
  const std::int64_t spans = w.dilation[i] * (w.kernel[i] - 1) + 1;
  for (std::int64_t padding = 0; padding <= spans; ++padding) {
    const std::int64_t free = w.in[i] + 2 * padding - spans;
    if (free >= 0 && free / w.stride[i] + 1 == w.out[i]) {
      return padding;
    }
    if (free >= 0 && free / w.stride[i] + 1 > w.out[i]) {
      break;
    }
  }
  return std::nullopt;
}

/// Sizes that windows can have: at least 1, and no larger than a network file takes.
bool are_sizes(const Sizes& sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size >= 1 && size <= 65'535; });
}

}  // namespace

/// The input of a window, in the shape that it moves over, and the window's keys in `text`. Where no equal padding
/// leaves as many places, the input is padded before.
Written NetworkWriter::windowed(const Node& node, const WindowKeys& w, std::int64_t channels, std::string& text) {
  Sizes seen{channels};
  seen.insert(seen.end(), w.in.begin(), w.in.end());
  Written read = as(value(node.inputs[0]), seen);
  Sizes paddings;
  bool pads = false;
  for (std::size_t i = 0; i < w.in.size(); ++i) {
    const std::optional<std::int64_t> padding = padding_for(w, i);
    paddings.push_back(padding.value_or(0));
    if (!padding) {
      seen[i + 1] = (w.out[i] - 1) * w.stride[i] + w.dilation[i] * (w.kernel[i] - 1) + 1;
      pads = true;
    } else if (*padding > 0) {
      seen[i + 1] = w.in[i] + 2 * *padding;
    }
  }
  if (pads) {
    std::fill(paddings.begin(), paddings.end(), 0);
    const Written padded{new_name(read.op + ".padded"), seen};
    line(padded.op, "custom", {read},
         ", shape = [" + joined(seen, [](std::int64_t size) { return std::to_string(size); }) + "]");
    read = padded;
  }
  text += key("kernel", w.kernel) + key_unless("dilation", w.dilation, 1) + key_unless("padding", paddings, 0);
  return read;
}

namespace {

/// A window over the plane of a tensor [N, C, plane...]; samples beyond the first are places of the plane. Nothing
/// where the plane has no direction or too many.
std::optional<WindowKeys> window_of(const Node& node, const Sizes& in, const Sizes& out, Sizes kernel) {
  const std::size_t directions = in.size() < 2 ? 0 : in.size() - 2;
  if (directions == 0 || directions + (in[0] > 1 ? 1 : 0) > 3 || out.size() != in.size() ||
      kernel.size() != directions) {
    return std::nullopt;
  }
  WindowKeys w{std::move(kernel),
               integers_of(node, "strides", directions, 1),
               integers_of(node, "dilations", directions, 1),
               {},
               {in.begin() + 2, in.end()},
               {out.begin() + 2, out.end()}};
  if (!are_sizes(w.kernel) || !are_sizes(w.stride) || !are_sizes(w.dilation)) {
    return std::nullopt;
  }
  if (in[0] > 1) {
    w.kernel.insert(w.kernel.begin(), 1);
    w.stride.insert(w.stride.begin(), 1);
    w.dilation.insert(w.dilation.begin(), 1);
    w.in.insert(w.in.begin(), in[0]);
    w.out.insert(w.out.begin(), out[0]);
  }
  return w;
}

Sizes with_channels(std::int64_t channels, const Sizes& plane) {
  Sizes sizes{channels};
  sizes.insert(sizes.end(), plane.begin(), plane.end());
  return sizes;
}

}  // namespace

void NetworkWriter::conv(const Node& node) {
  const std::size_t at = node.op == "QLinearConv" ? 3 : 1;
  const std::size_t bias = node.op == "QLinearConv" ? 8 : 2;
  if (!has_input(node, at) || fixed(node.inputs[0]) || !fixed(node.inputs[at])) {
    by_bytes_with_warning(node);  // a kernel that is computed
    return;
  }
  const Sizes& in = sizes(node.inputs[0]);
  const Sizes& weights = sizes(node.inputs[at]);
  const std::int64_t groups = integer_of(node, "group", 1);
  const auto w = weights.size() < 3 ? std::nullopt
                                    : window_of(node, in, sizes(node.outputs[0]), {weights.begin() + 2, weights.end()});
  if (!w || groups < 1 || in[1] != weights[1] * groups || weights[0] % groups != 0) {
    by_bytes_with_warning(node);
    return;
  }
  std::string text = key("out_channels", weights[0]);
  const Written read = windowed(node, *w, in[1], text);
  text += key_unless("stride", w->stride, 1) + (groups > 1 ? key("groups", groups) : "") +
          (has_input(node, bias) && node.op != "ConvInteger" ? "" : ", bias = false") + shared(node.inputs[at]);
  result(node, put(node, "conv", {read}, text, with_channels(weights[0], w->out)));
}

void NetworkWriter::conv_transpose(const Node& node) {
  const bool usual = has_input(node, 1) && !fixed(node.inputs[0]) && fixed(node.inputs[1]);
  const Sizes weights = usual ? sizes(node.inputs[1]) : Sizes{};
  const Sizes in = usual ? sizes(node.inputs[0]) : Sizes{};
  const std::int64_t groups = integer_of(node, "group", 1);
  const auto w = weights.size() < 3 ? std::nullopt
                                    : window_of(node, in, sizes(node.outputs[0]), {weights.begin() + 2, weights.end()});
  if (!w || groups < 1 || in[1] != weights[0] || in[1] % groups != 0) {
    by_bytes_with_warning(node);
    return;
  }
  Sizes paddings;
  Sizes beyond;
  for (std::size_t i = 0; i < w->in.size(); ++i) {
    // Places without padding: (n - 1) s + d (k - 1) + 1 (Dumoulin and Visin 2016, relationship 13).
    const std::int64_t all = (w->in[i] - 1) * w->stride[i] + w->dilation[i] * (w->kernel[i] - 1) + 1;
    const std::int64_t padding = std::max<std::int64_t>(0, (all - w->out[i] + 1) / 2);
    paddings.push_back(padding);
    beyond.push_back(w->out[i] - (all - 2 * padding));
  }
  const std::string text = key("out_channels", weights[1] * groups) + key("kernel", w->kernel) +
                           key_unless("stride", w->stride, 1) + key_unless("dilation", w->dilation, 1) +
                           key_unless("padding", paddings, 0) + key_unless("output_padding", beyond, 0) +
                           (groups > 1 ? key("groups", groups) : "") + (has_input(node, 2) ? "" : ", bias = false") +
                           shared(node.inputs[1]);
  result(node, put(node, "conv_transpose", {as(value(node.inputs[0]), with_channels(in[1], w->in))}, text,
                   with_channels(weights[1] * groups, w->out)));
}

void NetworkWriter::pool(const Node& node) {
  const Sizes& in = sizes(node.inputs[0]);
  const std::size_t directions = in.size() < 2 ? 0 : in.size() - 2;
  const auto w = window_of(node, in, sizes(node.outputs[0]), integers_of(node, "kernel_shape", directions, 0));
  if (!w) {
    by_bytes_with_warning(node);
    return;
  }
  std::string text;
  const Written read = windowed(node, *w, in[1], text);
  text += key("stride", w->stride);
  result(node, put(node, node.op == "MaxPool" ? "max_pool" : "avg_pool", {read}, text, with_channels(in[1], w->out)));
}

void NetworkWriter::global_pool(const Node& node) {
  const Sizes& in = sizes(node.inputs[0]);
  if (in.size() < 3 || in.size() > 5 || in[0] > 1) {
    reduce(node);
    return;
  }
  const Sizes plane{in.begin() + 2, in.end()};
  result(node, put(node, "global_pool", {as(value(node.inputs[0]), with_channels(in[1], plane))}, "",
                   with_channels(in[1], Sizes(plane.size(), 1))));
}

/// A product of two operands of which one may be learned; of both, what stands in front of rows and columns is groups.
void NetworkWriter::product(
    const Node& node, const Operand& a, const Operand& b, std::int64_t summed, std::int64_t groups, bool bias) {
  const bool learned_a = fixed(a.name);
  if (learned_a && fixed(b.name)) {
    by_bytes(node);
    return;
  }
  const Operand& moving = learned_a ? b : a;
  const Operand& other = learned_a ? a : b;
  if (learned_a || fixed(b.name)) {
    const std::string with = (bias ? "" : ", bias = false") + shared(other.name);
    if (other.groups == 1 || moving.groups == 1) {
      result(node, put(node, "gemm", {value(moving.name)},
                       key("rows", moving.groups * moving.rows) + key("in", summed) +
                           key("out", other.groups * other.rows) + with));
    } else {  // each group has weights of its own, as in a grouped convolution of one place
      result(node, put(node, "conv", {as(value(moving.name), {groups * summed, moving.rows})},
                       key("out_channels", groups * other.rows) + key("kernel", 1) + key("groups", groups) + with,
                       {groups * other.rows, moving.rows}));
    }
    return;
  }
  const auto whole = [&](const Operand& one) {  // an operand of fewer groups, repeated
    const Written read = value(one.name);
    if (one.groups == groups) {
      return read;
    }
    const Sizes seen{summed, groups * one.rows};
    const Written repeated{new_name(read.op + ".repeated"), seen};
    line(repeated.op, "custom", {read}, ", shape = [" + std::to_string(seen[0]) + ", " + std::to_string(seen[1]) + "]");
    return repeated;
  };
  // An operand without groups serves all rows of the other.
  const bool one_a = a.groups == 1;
  const bool one_b = b.groups == 1;
  const std::int64_t heads = one_a || one_b ? 1 : groups;
  const std::int64_t rows = one_b ? a.groups * a.rows : a.rows;
  const std::int64_t columns = one_a && !one_b ? b.groups * b.rows : b.rows;
  const std::vector<Written> reads =
      heads == 1 ? std::vector{value(a.name), value(b.name)} : std::vector{whole(a), whole(b)};
  result(node, put(node, "product", reads,
                   ", function = \"values\"" + key("rows", rows) + key("in", summed) + key("out", columns) +
                       (heads > 1 ? key("heads", heads) : "")));
}

void NetworkWriter::gemm(const Node& node) {
  const Sizes a = has_input(node, 1) ? sizes(node.inputs[0]) : Sizes{};
  const Sizes b = has_input(node, 1) ? sizes(node.inputs[1]) : Sizes{};
  if (a.size() != 2 || b.size() != 2) {
    by_bytes_with_warning(node);
    return;
  }
  const bool turned_a = integer_of(node, "transA", 0) != 0;
  const bool turned_b = integer_of(node, "transB", 0) != 0;
  const Operand left{node.inputs[0], 1, a[turned_a ? 1 : 0]};
  const Operand right{node.inputs[1], 1, b[turned_b ? 0 : 1]};
  product(node, left, right, a[turned_a ? 0 : 1], 1, has_input(node, 2));
}

void NetworkWriter::matmul(const Node& node) {
  const std::size_t at = node.op == "QLinearMatMul" ? 3 : 1;
  Sizes a = has_input(node, at) ? sizes(node.inputs[0]) : Sizes{};
  Sizes b = has_input(node, at) ? sizes(node.inputs[at]) : Sizes{};
  if (a.empty() || b.empty()) {
    by_bytes_with_warning(node);
    return;
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
  }
  if (b.size() == 1) {
    b.push_back(1);
  }
  const std::int64_t rows = a[a.size() - 2];
  const std::int64_t summed = a.back();
  const std::int64_t columns = b.back();
  if (summed != b[b.size() - 2]) {
    by_bytes_with_warning(node);
    return;
  }
  const std::int64_t groups =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(elements(node.outputs[0]) / (real(rows) * real(columns))));
  const Operand left{node.inputs[0], product_of({a.begin(), a.end() - 2}), rows};
  const Operand right{node.inputs[at], product_of({b.begin(), b.end() - 2}), columns};
  product(node, left, right, summed, groups, node.op == "MatMul" && has_input(node, 2));
}

/// Of two operands, with letters that both and the result have (groups), that both have (summed), or that one and the
/// result have (rows).
void NetworkWriter::einsum(const Node& node) {
  const auto stated = node.attributes.find("equation");
  std::string equation = stated == node.attributes.end() ? "" : stated->second.text;
  std::erase(equation, ' ');
  const std::size_t comma = equation.find(',');
  const std::size_t arrow = equation.find("->");
  if (node.inputs.size() != 2 || comma == std::string::npos || arrow == std::string::npos || comma > arrow ||
      equation.find('.') != std::string::npos) {
    by_bytes_with_warning(node);
    return;
  }
  const std::string a = equation.substr(0, comma);
  const std::string b = equation.substr(comma + 1, arrow - comma - 1);
  const std::string out = equation.substr(arrow + 2);
  std::map<char, std::int64_t> size;
  const auto take = [&](const std::string& letters, const Sizes& sizes) {
    for (std::size_t i = 0; i < letters.size() && letters.size() == sizes.size(); ++i) {
      size[letters[i]] = sizes[i];
    }
    return letters.size() == sizes.size();
  };
  bool simple = take(a, sizes(node.inputs[0])) && take(b, sizes(node.inputs[1]));
  std::int64_t groups = 1;
  std::int64_t summed = 1;
  Operand left{node.inputs[0]};
  Operand right{node.inputs[1]};
  for (const auto& [letter, count] : size) {
    const bool in_a = a.find(letter) != std::string::npos;
    const bool in_b = b.find(letter) != std::string::npos;
    const bool in_out = out.find(letter) != std::string::npos;
    simple = simple && (in_out || (in_a && in_b)) && std::count(a.begin(), a.end(), letter) < 2 &&
             std::count(b.begin(), b.end(), letter) < 2;
    (in_a && in_b ? (in_out ? groups : summed) : in_a ? left.rows : right.rows) *= count;
  }
  if (!simple) {
    by_bytes_with_warning(node);
    return;
  }
  left.groups = groups;
  right.groups = groups;
  product(node, left, right, summed, groups, false);
}

void NetworkWriter::attention(const Node& node) {
  std::vector<Written> reads;
  for (const std::string& name : node.inputs) {
    reads.push_back(value(name));
  }
  result(node,
         put(node, "attention", reads,
             key("heads", integer_of(node, "heads", 1)) + key("tokens", integer_of(node, "tokens", 1)) +
                 key("head_dim", integer_of(node, "head_dim", 1)) + key("context", integer_of(node, "context", 1))));
}

void NetworkWriter::recurrent(const Node& node) {
  const bool usual = has_input(node, 2) && !fixed(node.inputs[0]) && fixed(node.inputs[1]) && fixed(node.inputs[2]);
  const Sizes in = usual ? sizes(node.inputs[0]) : Sizes{};
  const Sizes weights = usual ? sizes(node.inputs[1]) : Sizes{};
  const Sizes state = usual ? sizes(node.inputs[2]) : Sizes{};
  if (in.size() != 3 || weights.size() != 3 || state.size() != 3 || weights[0] > 2 || weights[2] != in[2]) {
    by_bytes_with_warning(node);
    return;
  }
  const bool samples_first = integer_of(node, "layout", 0) == 1;
  if (in[samples_first ? 0 : 1] > 1) {
    remarks_.push_back(node.place + ": its " + std::to_string(in[samples_first ? 0 : 1]) +
                       " sequences are taken as one after another");
  }
  const std::string_view kind = node.op == "LSTM" ? "lstm" : node.op == "GRU" ? "gru" : "recurrent";
  const std::int64_t steps = in[0] * in[1];
  const Written whole =
      put(node, kind, {value(node.inputs[0])},
          (kind == "recurrent" ? std::string{", function = \"rnn\""} : std::string{}) + key("rows", steps) +
              key("in", in[2]) + key("out", state[2]) + (weights[0] == 2 ? key("directions", 2) : "") +
              (has_input(node, 3) ? "" : key("biases", 0)) + shared(node.inputs[1]));
  const std::int64_t all = steps * state[2] * weights[0];
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].empty()) {  // all results, then the last state and cell
      values_.insert_or_assign(node.outputs[i], i == 0 ? whole : part(whole, all, product_of(sizes(node.outputs[i]))));
    }
  }
}

}  // namespace headroom::onnx_file
