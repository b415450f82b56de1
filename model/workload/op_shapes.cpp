// SPDX-License-Identifier: Apache-2.0
// One function a kind of op: its shapes, and what follows from them. What backward keeps is what PyTorch's autograd
// formulas read (pytorch/pytorch, tools/autograd/derivatives.yaml): convolution and linear their input; layer norm its
// input, mean and 1/deviation; max pooling its input and indices; relu, sigmoid, tanh and softmax their result; gelu
// and silu their input; mul both inputs; dropout its mask; add and sums nothing; fused attention q, k, v, its result
// and the log-sum of every query.
#include <headroom/core/real.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <initializer_list>
#include <optional>
#include <string>

namespace headroom {
namespace {

constexpr Range<std::int64_t> size{1, largest_size};
constexpr Range<std::int64_t> size_or_zero{0, largest_size};
constexpr double index_bytes = 8.0;      // int64 indices
constexpr double statistic_bytes = 4.0;  // fp32

/// The product of sizes; beyond what a double counts exactly it is a problem of `table`.
double product(ConfigTable& table, std::string_view key, std::string_view what, std::initializer_list<double> factors) {
  double result = 1.0;
  for (const double factor : factors) {
    result *= factor;
  }
  if (result > largest_count) {
    table.problem(
        key, "the sizes make more than 9.0e15 " + std::string{what} + ", which cannot be counted exactly; check them");
    return 1.0;
  }
  return result;
}

struct Plane {
  std::int64_t channels = 1, height = 1, width = 1;
};

/// [C, H, W].
std::optional<Plane> read_plane(ConfigTable& table) {
  if (!table.has("in")) {
    table.problem("in", "missing key 'in' in [" + table.path() + "], the shape of one sample, e.g. in = [3, 224, 224]");
    static_cast<void>(table.value("in"));
    return std::nullopt;
  }
  const std::size_t before = table.diagnostics().size();
  const std::vector<std::int64_t> sizes = table.integers("in");
  if (table.diagnostics().size() != before) {
    return std::nullopt;
  }
  if (sizes.size() != 3) {
    table.problem("in", "'in' has " + std::to_string(sizes.size()) + " sizes; it must be [channels, height, width]");
    return std::nullopt;
  }
  for (const std::int64_t value : sizes) {
    if (value < 1 || value > largest_size) {
      table.problem("in", "'in' holds " + std::to_string(value) + "; every size must be 1 to 1073741824");
      return std::nullopt;
    }
  }
  return Plane{sizes[0], sizes[1], sizes[2]};
}

struct Pair {
  std::int64_t high = 1, wide = 1;
};

/// One integer for both directions, or [height, width].
Pair read_pair(ConfigTable& table, std::string_view key, std::int64_t low, std::optional<Pair> usual) {
  const Range<std::int64_t> range{low, 65535};
  const ConfigValue* found = table.value(key);
  if (found == nullptr) {
    if (usual) {
      return *usual;
    }
    static_cast<void>(table.integer(key, range));  // says that it is missing
    return {};
  }
  if (found->kind != ConfigValue::Kind::array) {
    const std::int64_t both = table.maybe_integer(key, range).value_or(1);
    return {both, both};
  }
  const std::size_t before = table.diagnostics().size();
  const std::vector<std::int64_t> sizes = table.integers(key);
  if (table.diagnostics().size() != before) {
    return {};
  }
  if (sizes.size() != 2) {
    table.problem(key, "'" + std::string{key} + "' has " + std::to_string(sizes.size()) +
                           " sizes; it must be one integer or [height, width]");
    return {};
  }
  for (const std::int64_t value : sizes) {
    if (value < range.low || value > range.high) {
      table.problem(key, "'" + std::string{key} + "' holds " + std::to_string(value) + "; every size must be " +
                             std::to_string(range.low) + " to " + std::to_string(range.high));
      return {};
    }
  }
  return {sizes[0], sizes[1]};
}

/// Where a window of a conv or pool may stand: floor((n + 2 p - k) / s) + 1 (Dumoulin and Visin 2016, relationship 5).
std::int64_t positions(ConfigTable& table, std::int64_t n, std::int64_t k, std::int64_t s, std::int64_t p) {
  if (n + 2 * p < k) {
    table.problem("kernel", "'kernel' " + std::to_string(k) + " is larger than the padded input " +
                                std::to_string(n + 2 * p) + " (" + std::to_string(n) + " and twice padding " +
                                std::to_string(p) + ")");
    return 1;
  }
  return (n + 2 * p - k) / s + 1;
}

struct Window {
  Plane in;
  Pair kernel, stride, padding;
  std::int64_t height = 1, width = 1;  ///< of the result
};

Window read_window(ConfigTable& table, bool stride_is_kernel) {
  Window w;
  const std::size_t before = table.diagnostics().size();
  const std::optional<Plane> in = read_plane(table);
  w.in = in.value_or(Plane{});
  w.kernel = read_pair(table, "kernel", 1, std::nullopt);
  w.stride = read_pair(table, "stride", 1, stride_is_kernel ? w.kernel : Pair{1, 1});
  w.padding = read_pair(table, "padding", 0, Pair{0, 0});
  if (table.diagnostics().size() != before) {
    return w;  // where a window may stand cannot be said
  }
  w.height = positions(table, w.in.height, w.kernel.high, w.stride.high, w.padding.high);
  w.width = positions(table, w.in.width, w.kernel.wide, w.stride.wide, w.padding.wide);
  return w;
}

void divides(ConfigTable& table, std::string_view key, std::string_view name, std::int64_t value, std::int64_t parts) {
  if (value % parts != 0) {
    table.problem(key, std::string{name} + " " + std::to_string(value) + " does not divide by '" + std::string{key} +
                           "' " + std::to_string(parts));
  }
}

void read_conv(ConfigTable& table, Op& op) {
  const Window w = read_window(table, false);
  const std::int64_t out = table.integer("out_channels", size);
  const std::int64_t groups = table.maybe_integer("groups", size).value_or(1);
  const bool bias = table.maybe_boolean("bias").value_or(true);
  divides(table, "groups", "the input's channels", w.in.channels, groups);
  divides(table, "groups", "'out_channels'", out, groups);
  const double taps = real(w.kernel.high) * real(w.kernel.wide) * real(w.in.channels) / real(groups);
  op.parameters = product(table, "out_channels", "parameters", {taps, real(out)}) + (bias ? real(out) : 0.0);
  op.input_elements = product(table, "in", "elements", {real(w.in.channels), real(w.in.height), real(w.in.width)});
  op.output_elements = product(table, "out_channels", "elements", {real(out), real(w.height), real(w.width)});
  op.chain_elements = op.input_elements;
  op.input_shape = {w.in.channels, w.in.height, w.in.width};
  op.output_shape = {out, w.height, w.width};
  op.sizes.in = real(w.in.channels);
  op.sizes.out = real(out);
  op.sizes.plane = {real(w.in.height), real(w.in.width)};
  op.sizes.kernel = {real(w.kernel.high), real(w.kernel.wide)};
  op.sizes.stride = {real(w.stride.high), real(w.stride.wide)};
  op.sizes.padding = {real(w.padding.high), real(w.padding.wide)};
  op.sizes.groups = real(groups);
  op.forward = Flops{2.0 * taps * op.output_elements};
  op.backward = 2.0 * op.forward;  // of the input and of the weights
  op.keeps_input = true;
}

void read_gemm(ConfigTable& table, Op& op) {
  const double rows = real(table.integer("rows", size));
  const double in = real(table.integer("in", size));
  const double out = real(table.integer("out", size));
  const bool bias = table.maybe_boolean("bias").value_or(true);
  op.parameters = product(table, "out", "parameters", {in, out}) + (bias ? out : 0.0);
  op.input_elements = product(table, "in", "elements", {rows, in});
  op.output_elements = product(table, "out", "elements", {rows, out});
  op.chain_elements = op.input_elements;
  op.sizes.rows = rows;
  op.sizes.in = in;
  op.sizes.out = out;
  op.forward = Flops{2.0 * rows * in * out};
  op.backward = 2.0 * op.forward;
  op.keeps_input = true;
}

void read_attention(ConfigTable& table, Op& op) {
  const std::int64_t tokens = table.integer("tokens", size);
  const std::int64_t heads = table.integer("heads", size);
  const double head_dim = real(table.integer("head_dim", size));
  const double context = real(table.maybe_integer("context", size).value_or(tokens));
  const std::int64_t kv_heads = table.maybe_integer("kv_heads", size).value_or(heads);
  const bool fused = table.maybe_boolean("fused").value_or(true);
  const bool causal = table.maybe_boolean("causal").value_or(false);
  divides(table, "kv_heads", "'heads'", heads, kv_heads);
  if (causal && context != real(tokens)) {
    table.problem("causal", "'causal' needs as many keys as queries: 'context' is " + format_count(context) +
                                ", 'tokens' " + std::to_string(tokens) + "; leave one of the two out");
  }
  op.sizes = {real(tokens), 0.0, 0.0, head_dim, context, real(heads), real(kv_heads), fused, causal};
  op.output_elements = product(table, "heads", "elements", {real(tokens), real(heads), head_dim});
  op.input_elements =
      op.output_elements + product(table, "context", "elements", {2.0 * context, real(kv_heads), head_dim});
  op.chain_elements = op.input_elements;
  // Scores and weighted values, causal ones not halved (Chowdhery et al. 2022, appendix B): only their time is less.
  op.forward = Flops{4.0 * context * op.output_elements};
  // The fused backward forms the scores again: five products instead of four (Dao 2023, section 3.1).
  op.backward = (fused ? 2.5 : 2.0) * op.forward;
  op.keeps_input = true;
  op.keeps_output = fused;  // unfused attention is done with its result once it is written
  const double queries = real(tokens) * real(heads);
  if (fused) {
    op.kept_bytes = statistic_bytes * queries;  // Dao et al. 2022, algorithm 1
  } else {
    op.kept_elements = product(table, "context", "scores", {queries, context});  // the softmax's result
  }
}

void read_embedding_bag(ConfigTable& table, Op& op) {
  const double rows = real(table.integer("rows", size));
  const double width = real(table.integer("width", size));
  const double lookups = real(table.integer("lookups", size));
  const double bags = real(table.maybe_integer("bags", size).value_or(1));
  const double tables = real(table.maybe_integer("tables", size).value_or(1));
  op.parameters = product(table, "rows", "parameters", {rows, width, tables});
  op.output_elements = product(table, "width", "elements", {bags, width, tables});
  op.sizes.rows = lookups * tables;
  op.sizes.width = width;
  op.forward = Flops{product(table, "lookups", "additions", {lookups, width, tables})};
  op.backward = op.forward;
  op.kept_bytes = index_bytes * (lookups + bags) * tables;
}

struct ElementwiseRow {
  std::string_view name;
  std::int64_t inputs;
  double flops;  ///< of one result element and input, forward; as many backward
  bool keeps_input, keeps_output;
  double mask_bytes;  ///< of one element
};

// clang-format off
constexpr std::array elementwise_rows{
    //               name       inputs flops  input  output mask
    ElementwiseRow{"add",       2,     1.0,   false, false, 0.0},
    ElementwiseRow{"mul",       2,     1.0,   true,  false, 0.0},
    ElementwiseRow{"relu",      1,     1.0,   false, true,  0.0},
    ElementwiseRow{"gelu",      1,     1.0,   true,  false, 0.0},
    ElementwiseRow{"silu",      1,     1.0,   true,  false, 0.0},
    ElementwiseRow{"sigmoid",   1,     1.0,   false, true,  0.0},
    ElementwiseRow{"tanh",      1,     1.0,   false, true,  0.0},
    ElementwiseRow{"softmax",   1,     1.0,   false, true,  0.0},
    ElementwiseRow{"dropout",   1,     1.0,   false, false, 1.0},
    ElementwiseRow{"copy",      1,     0.0,   false, false, 0.0},
};
// clang-format on

void read_elementwise(ConfigTable& table, Op& op) {
  std::array<std::string_view, elementwise_rows.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = elementwise_rows[i].name;
  }
  const double elements = real(table.integer("elements", size));
  const ElementwiseRow& row = elementwise_rows[table.choice("function", names)];
  const std::int64_t inputs = table.maybe_integer("inputs", {1, 64}).value_or(row.inputs);
  if (row.inputs == 1 && inputs != 1) {
    table.problem("inputs", "'inputs' is " + std::to_string(inputs) + "; '" + std::string{row.name} + "' reads one");
  }
  op.chain_elements = elements;
  op.output_elements = elements;
  op.input_elements = elements * real(inputs);
  op.forward = Flops{row.flops * op.input_elements};
  op.backward = op.forward;
  op.keeps_input = row.keeps_input;
  op.keeps_output = row.keeps_output;
  op.kept_bytes = row.mask_bytes * elements;
}

struct NormRow {
  std::string_view name;
  double parameters;  ///< of one channel
  double statistics;  ///< of one token
  double flops;       ///< of one element, forward
  double readings;    ///< of the input, forward
};

// clang-format off
// Arithmetic of one element: layer norm sums, subtracts, squares, sums, divides, scales and shifts; rms norm squares,
// sums, divides and scales. Batch and group norm keep a pair of statistics a channel or group, too few to count; their
// statistics are done before the first result (Ioffe and Szegedy 2015, algorithm 1), so that the input is read twice.
constexpr std::array norm_rows{
    //        name    parameters statistics flops readings
    NormRow{"layer",  2.0,       2.0,       7.0,  1.0},
    NormRow{"rms",    1.0,       1.0,       4.0,  1.0},
    NormRow{"batch",  2.0,       0.0,       7.0,  2.0},
    NormRow{"group",  2.0,       0.0,       7.0,  2.0},
};
// clang-format on

void read_norm(ConfigTable& table, Op& op) {
  const double tokens = real(table.integer("tokens", size));
  const double width = real(table.integer("width", size));
  const NormRow& row =
      norm_rows[table.choice("function", std::array<std::string_view, 4>{"layer", "rms", "batch", "group"})];
  op.parameters = row.parameters * width;
  op.sizes.rows = tokens;
  op.sizes.width = width;
  op.sizes.readings = row.readings;
  op.input_elements = product(table, "width", "elements", {tokens, width});
  op.output_elements = op.input_elements;
  op.chain_elements = op.input_elements;
  op.forward = Flops{row.flops * op.input_elements};
  op.backward = 2.0 * op.forward;  // of the input, and of scale and shift
  op.keeps_input = true;
  op.kept_bytes = statistic_bytes * row.statistics * tokens;
}

void read_gather(ConfigTable& table, Op& op) {
  const double rows = real(table.integer("rows", size));
  const double width = real(table.integer("width", size));
  op.output_elements = product(table, "width", "elements", {rows, width});
  op.input_elements = op.output_elements;
  op.sizes.rows = rows;
  op.sizes.width = width;
  op.kept_bytes = index_bytes * rows;
}

void read_pool(ConfigTable& table, Op& op) {
  const Window w = read_window(table, true);
  const bool max = table.choice("function", std::array<std::string_view, 2>{"max", "avg"}) == 0;
  op.input_elements = product(table, "in", "elements", {real(w.in.channels), real(w.in.height), real(w.in.width)});
  op.output_elements = product(table, "in", "elements", {real(w.in.channels), real(w.height), real(w.width)});
  op.chain_elements = op.input_elements;
  op.input_shape = {w.in.channels, w.in.height, w.in.width};
  op.output_shape = {w.in.channels, w.height, w.width};
  op.forward = Flops{real(w.kernel.high) * real(w.kernel.wide) * op.output_elements};
  op.backward = op.forward;
  op.keeps_input = true;
  op.kept_bytes = max ? index_bytes * op.output_elements : 0.0;
}

void read_reduce(ConfigTable& table, Op& op) {
  const std::int64_t elements = table.integer("elements", size);
  const std::int64_t out = table.integer("out", size);
  if (out > elements) {
    table.problem("out", "'out' " + std::to_string(out) + " is more than 'elements' " + std::to_string(elements) +
                             ": a reduction only makes fewer");
  }
  op.input_elements = real(elements);
  op.chain_elements = real(elements);
  op.output_elements = real(out);
  op.forward = Flops{real(elements)};
  op.backward = op.forward;
}

using Reader = void (*)(ConfigTable&, Op&);
constexpr std::array<Reader, op_kind_names.size()> readers{read_conv,          read_gemm,        read_attention,
                                                           read_embedding_bag, read_elementwise, read_norm,
                                                           read_gather,        read_pool,        read_reduce};

}  // namespace

void read_op_shapes(ConfigTable& table, OpKind kind, Op& op) {
  op.kind = kind;
  readers[static_cast<std::size_t>(kind)](table, op);
}

}  // namespace headroom
