// SPDX-License-Identifier: Apache-2.0
// Ops that multiply: windows over planes, products, attention, recurrent layers; and the words that name ops. What
// backward keeps is what PyTorch's autograd formulas read (pytorch/pytorch, tools/autograd/derivatives.yaml):
// convolution and linear their input; layer norm its input, mean and 1/deviation; max pooling its input and indices;
// relu, sigmoid, tanh and softmax their result; gelu and silu their input; mul both inputs; dropout its mask; add and
// sums nothing; fused attention q, k, v, its result and the log-sum of every query.
#include <headroom/core/real.hpp>
#include <headroom/model/workload/op_shapes.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// The plane of a conv or pool: `in`, or what is read. Neither where it is not known.
std::optional<TensorShape> read_plane(ConfigTable& table, const OpInputs& inputs) {
  if (!table.has("in")) {
    static_cast<void>(table.value("in"));
    const TensorShape* read = inputs.first();
    if (read == nullptr) {
      inputs.missed = true;
      if (inputs.known) {
        table.problem("in",
                      "missing key 'in' in [" + table.path() + "], the shape of one sample, e.g. in = [3, 224, 224]");
      }
      return std::nullopt;
    }
    if (read->plane.empty() || read->plane.size() > 3) {
      table.problem("kind", "the op reads " + shape_text(read->sizes()) + ", which has " +
                                std::to_string(read->plane.size()) +
                                " directions beside its channels; a window moves along 1 to 3: state 'in', or a view");
      return std::nullopt;
    }
    return *read;
  }
  const std::size_t before = table.diagnostics().size();
  const std::vector<std::int64_t> sizes = table.integers("in");
  if (table.diagnostics().size() != before) {
    return std::nullopt;
  }
  if (sizes.size() < 2 || sizes.size() > 4) {
    table.problem("in", "'in' has " + std::to_string(sizes.size()) +
                            " sizes; it must be [channels, height, width], with one direction or three likewise");
    return std::nullopt;
  }
  for (const std::int64_t value : sizes) {
    if (value < 1 || value > largest_size) {
      table.problem("in", "'in' holds " + std::to_string(value) + "; every size must be 1 to 1073741824");
      return std::nullopt;
    }
  }
  return TensorShape{sizes[0], {sizes.begin() + 1, sizes.end()}};
}

struct Window {
  TensorShape in;
  std::array<std::int64_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, padding{0, 0, 0};
  bool same = false;  ///< padded so that ceil(size / stride) places remain
  std::vector<std::int64_t> out;
  [[nodiscard]] double taps() const noexcept {
    double taps = 1.0;
    for (std::size_t i = 0; i < in.plane.size(); ++i) {
      taps *= real(kernel[i]);
    }
    return taps;
  }
};

/// Where a window may stand: floor((n + 2 p - d (k - 1) - 1) / s) + 1 (Dumoulin and Visin 2016, relationships 5, 15).
std::int64_t positions(ConfigTable& table, const Window& w, std::size_t i) {
  const std::int64_t n = w.in.plane[i];
  if (w.same) {
    return (n + w.stride[i] - 1) / w.stride[i];
  }
  const std::int64_t spans = w.dilation[i] * (w.kernel[i] - 1) + 1;
  if (n + 2 * w.padding[i] < spans) {
    table.problem("kernel", "'kernel' " + std::to_string(w.kernel[i]) + " is larger than the padded input " +
                                std::to_string(n + 2 * w.padding[i]) + " (" + std::to_string(n) +
                                " and twice padding " + std::to_string(w.padding[i]) + ")");
    return 1;
  }
  return (n + 2 * w.padding[i] - spans) / w.stride[i] + 1;
}

/// How many places a transposed convolution writes: (n - 1) s - 2 p + d (k - 1) + 1, and n s with "same" padding.
std::int64_t written(ConfigTable& table, const Window& w, std::size_t i, std::int64_t beyond) {
  const std::int64_t n = w.in.plane[i];
  if (w.same) {
    return n * w.stride[i];
  }
  const std::int64_t out = (n - 1) * w.stride[i] - 2 * w.padding[i] + w.dilation[i] * (w.kernel[i] - 1) + 1 + beyond;
  if (out < 1) {
    table.problem("padding", "'padding' " + std::to_string(w.padding[i]) + " leaves nothing of what is written");
    return 1;
  }
  return out;
}

std::optional<Window> read_window(ConfigTable& table,
                                  const OpInputs& inputs,
                                  const OpWord& word,
                                  bool stride_is_kernel) {
  Window w;
  const std::size_t before = table.diagnostics().size();
  const std::optional<TensorShape> in = read_plane(table, inputs);
  w.in = in.value_or(TensorShape{1, {1, 1}});
  const std::size_t rank = w.in.plane.size();
  if (word.form == OpWord::Form::global) {
    std::copy(w.in.plane.begin(), w.in.plane.end(), w.kernel.begin());
  } else {
    w.kernel = read_directions(table, "kernel", 1, rank, std::nullopt);
  }
  w.stride =
      read_directions(table, "stride", 1, rank, stride_is_kernel ? w.kernel : std::array<std::int64_t, 3>{1, 1, 1});
  w.dilation = read_directions(table, "dilation", 1, rank, std::array<std::int64_t, 3>{1, 1, 1});
  const ConfigValue* padding = table.value("padding");
  if (padding != nullptr && padding->kind == ConfigValue::Kind::text) {
    static constexpr std::array<std::string_view, 1> same{"same"};
    static_cast<void>(table.choice("padding", same));
    w.same = true;
  } else {
    w.padding = read_directions(table, "padding", 0, rank, std::array<std::int64_t, 3>{0, 0, 0});
  }
  if (!in || table.diagnostics().size() != before) {
    return std::nullopt;  // where a window may stand cannot be said
  }
  return w;
}

/// What kernels need of a window.
void note_window(const Window& w, Op& op) {
  op.sizes.dimensions = static_cast<int>(w.in.plane.size());
  for (std::size_t i = 0; i < w.in.plane.size(); ++i) {
    op.sizes.plane[i] = real(w.in.plane[i]);
    op.sizes.out_plane[i] = real(w.out[i]);
    op.sizes.kernel[i] = real(w.kernel[i]);
    op.sizes.stride[i] = real(w.stride[i]);
    op.sizes.dilation[i] = real(w.dilation[i]);
    op.sizes.padding[i] =
        w.same ? 0.5 * real(w.dilation[i] * (w.kernel[i] - 1)) : real(w.padding[i]);  // both sides of it together even
  }
}

struct Channels {
  std::int64_t out = 1, groups = 1;
  bool bias = true;
};

Channels read_channels(ConfigTable& table, const OpWord& word, const TensorShape& in, bool known) {
  Channels c;
  c.bias = true;
  if (word.form == OpWord::Form::depthwise) {
    c.out = table.maybe_integer("out_channels", op_size).value_or(in.channels);
    c.groups = in.channels;
  } else {
    c.out = table.integer("out_channels", op_size);
    c.groups = table.maybe_integer("groups", op_size).value_or(1);
  }
  c.bias = table.maybe_boolean("bias").value_or(true);
  if (known) {
    divides(table, "groups", "the input's channels", in.channels, c.groups);
    divides(table, "groups", "'out_channels'", c.out, c.groups);
  }
  return c;
}

/// What conv and conv_transpose share once their planes are known; `pixels` is where the products are made.
TensorShape note_conv(ConfigTable& table, const Window& w, const Channels& c, double pixels, Op& op) {
  const double taps = w.taps() * real(w.in.channels) / real(c.groups);
  const TensorShape out{c.out, w.out};
  op.weight_elements = product(table, "out_channels", "parameters", {taps, real(c.out)}) + (c.bias ? real(c.out) : 0.0);
  op.parameters = op.weight_elements;
  op.input_elements = product(table, "in", "elements", {real(w.in.channels), w.in.places()});
  op.output_elements = product(table, "out_channels", "elements", {real(c.out), out.places()});
  op.chain_elements = op.input_elements;
  op.input_shape = w.in.sizes();
  op.output_shape = out.sizes();
  op.sizes.in = real(w.in.channels);
  op.sizes.out = real(c.out);
  op.sizes.groups = real(c.groups);
  op.sizes.bias = c.bias;
  note_window(w, op);
  op.forward = Flops{2.0 * taps * (real(c.out) * pixels)};
  op.backward = 2.0 * op.forward;  // of the input and of the weights
  op.keeps_input = true;
  return out;
}

/// The gates of a recurrent layer (Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; Cho et
/// al. 2014; Elman 1990).
constexpr std::array<std::string_view, 3> cells{"lstm", "gru", "rnn"};
constexpr std::array<double, 3> cell_gates{4.0, 3.0, 1.0};

constexpr std::array<std::string_view, 2> product_functions{"scores", "values"};

}  // namespace

double TensorShape::places() const noexcept {
  double places = 1.0;
  for (const std::int64_t size : plane) {
    places *= real(size);
  }
  return places;
}

double TensorShape::elements() const noexcept {
  return real(channels) * places();
}

std::vector<std::int64_t> TensorShape::sizes() const {
  std::vector<std::int64_t> all{channels};
  all.insert(all.end(), plane.begin(), plane.end());
  return all;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t value : shape) {
    text += (text.empty() ? "[" : ", ") + std::to_string(value);
  }
  return text + "]";
}

std::int64_t stated_or(ConfigTable& table,
                       std::string_view key,
                       std::optional<std::int64_t> inferred,
                       const OpInputs& inputs) {
  if (!table.has(key) && (inferred || !inputs.known)) {
    static_cast<void>(table.value(key));
    inputs.missed = inputs.missed || !inferred;
    return inferred.value_or(1);
  }
  return table.integer(key, op_size);
}

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

void divides(ConfigTable& table, std::string_view key, std::string_view name, std::int64_t value, std::int64_t parts) {
  if (value % parts != 0) {
    table.problem(key, std::string{name} + " " + std::to_string(value) + " does not divide by '" + std::string{key} +
                           "' " + std::to_string(parts));
  }
}

std::array<std::int64_t, 3> read_directions(ConfigTable& table,
                                            std::string_view key,
                                            std::int64_t low,
                                            std::size_t rank,
                                            std::optional<std::array<std::int64_t, 3>> usual) {
  const Range<std::int64_t> range{low, 65535};
  std::array<std::int64_t, 3> all{1, 1, 1};
  const ConfigValue* found = table.value(key);
  if (found == nullptr) {
    if (usual) {
      return *usual;
    }
    static_cast<void>(table.integer(key, range));  // says that it is missing
    return all;
  }
  if (found->kind != ConfigValue::Kind::array) {
    all.fill(table.maybe_integer(key, range).value_or(1));
    return all;
  }
  const std::size_t before = table.diagnostics().size();
  const std::vector<std::int64_t> sizes = table.integers(key);
  if (table.diagnostics().size() != before) {
    return all;
  }
  if (sizes.size() != rank) {
    constexpr std::array<std::string_view, 4> forms{"", "[length]", "[height, width]", "[depth, height, width]"};
    table.problem(key, "'" + std::string{key} + "' has " + std::to_string(sizes.size()) +
                           " sizes; it must be one integer or " + std::string{forms[rank]});
    return all;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < range.low || sizes[i] > range.high) {
      table.problem(key, "'" + std::string{key} + "' holds " + std::to_string(sizes[i]) + "; every size must be " +
                             std::to_string(range.low) + " to " + std::to_string(range.high));
      return all;
    }
    all[i] = sizes[i];
  }
  return all;
}

std::size_t function_of(ConfigTable& table, const OpWord& word, std::span<const std::string_view> names) {
  if (word.function.empty()) {
    return table.choice("function", names);
  }
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), word.function) - names.begin());
}

TensorShape read_conv(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  std::optional<Window> w = read_window(table, inputs, word, false);
  const Channels c = read_channels(table, word, w ? w->in : TensorShape{}, w.has_value());
  for (std::size_t i = 0; w && i < w->in.plane.size(); ++i) {
    w->out.push_back(positions(table, *w, i));
  }
  return w ? note_conv(table, *w, c, TensorShape{1, w->out}.places(), op) : TensorShape{};
}

TensorShape read_conv_transpose(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  std::optional<Window> w = read_window(table, inputs, word, false);
  const std::array<std::int64_t, 3> beyond =
      read_directions(table, "output_padding", 0, w ? w->in.plane.size() : 2, std::array<std::int64_t, 3>{0, 0, 0});
  for (std::size_t i = 0; w && i < w->in.plane.size(); ++i) {
    w->out.push_back(written(table, *w, i, beyond[i]));
  }
  const Channels c = read_channels(table, word, w ? w->in : TensorShape{}, w.has_value());
  return w ? note_conv(table, *w, c, w->in.places(), op) : TensorShape{};
}

TensorShape read_pool(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  std::optional<Window> w = read_window(table, inputs, word, true);
  static constexpr std::array<std::string_view, 2> names{"max", "avg"};
  const std::size_t function = function_of(table, word, names);
  if (!w) {
    return {};
  }
  for (std::size_t i = 0; i < w->in.plane.size(); ++i) {
    w->out.push_back(positions(table, *w, i));
  }
  const TensorShape out{w->in.channels, w->out};
  op.function = names[function];
  op.input_elements = product(table, "in", "elements", {real(w->in.channels), w->in.places()});
  op.output_elements = product(table, "in", "elements", {real(w->in.channels), out.places()});
  op.chain_elements = op.input_elements;
  op.input_shape = w->in.sizes();
  op.output_shape = out.sizes();
  note_window(*w, op);
  op.forward = Flops{w->taps() * op.output_elements};
  op.backward = op.forward;
  op.keeps_input = true;
  op.kept_bytes = function == 0 ? index_bytes * op.output_elements : 0.0;
  return out;
}

TensorShape read_gemm(ConfigTable& table, const OpWord&, const OpInputs& inputs, Op& op) {
  const TensorShape* read = inputs.first();
  const bool states_in = table.has("in");
  const std::int64_t in = stated_or(table, "in", read ? std::optional{read->channels} : std::nullopt, inputs);
  std::optional<std::int64_t> places;
  if (read != nullptr) {
    places = static_cast<std::int64_t>(read->elements() / real(in));
    if (states_in && !table.has("rows") && std::fmod(read->elements(), real(in)) != 0.0) {
      divides(table, "in", "the elements read,", static_cast<std::int64_t>(read->elements()), in);
    }
  }
  const std::int64_t rows = stated_or(table, "rows", places, inputs);
  const std::int64_t out = table.integer("out", op_size);
  const bool bias = table.maybe_boolean("bias").value_or(true);
  op.weight_elements = product(table, "out", "parameters", {real(in), real(out)}) + (bias ? real(out) : 0.0);
  op.parameters = op.weight_elements;
  op.input_elements = product(table, "in", "elements", {real(rows), real(in)});
  op.output_elements = product(table, "out", "elements", {real(rows), real(out)});
  op.chain_elements = op.input_elements;
  op.sizes.rows = real(rows);
  op.sizes.in = real(in);
  op.sizes.out = real(out);
  op.sizes.bias = bias;
  op.forward = Flops{2.0 * real(rows) * real(in) * real(out)};
  op.backward = 2.0 * op.forward;
  op.keeps_input = true;
  if (read != nullptr && read->places() == real(rows)) {
    return {out, read->plane};
  }
  return {out, rows == 1 ? std::vector<std::int64_t>{} : std::vector{rows}};
}

namespace {

/// Of attention: what its tensors say of the sizes that the table leaves out.
struct AttentionReads {
  std::optional<std::int64_t> tokens, context, head_dim;
};

AttentionReads attention_reads(ConfigTable& table, const OpInputs& inputs, std::int64_t heads, std::int64_t kv_heads) {
  AttentionReads found;
  const TensorShape* q = inputs.first();
  if (q == nullptr) {
    return found;
  }
  found.tokens = static_cast<std::int64_t>(q->places());
  found.context = static_cast<std::int64_t>(inputs.shapes.size() > 1 ? inputs.shapes[1].places() : q->places());
  if (!table.has("head_dim")) {
    // q, k and v in one tensor, or q apart.
    const std::int64_t parts = inputs.shapes.size() == 1 ? heads + 2 * kv_heads : heads;
    if (q->channels % parts != 0) {
      table.problem("heads", "'heads' is " + std::to_string(heads) + ", but the " + std::to_string(q->channels) +
                                 " channels read do not divide by " + std::to_string(parts) +
                                 (inputs.shapes.size() == 1 ? ", the heads of q, k and v together" : ", those of q"));
    }
    found.head_dim = std::max<std::int64_t>(1, q->channels / parts);
  }
  return found;
}

}  // namespace

TensorShape read_attention(ConfigTable& table, const OpWord&, const OpInputs& inputs, Op& op) {
  const std::int64_t heads = table.integer("heads", op_size);
  const std::int64_t kv_heads = table.maybe_integer("kv_heads", op_size).value_or(heads);
  const AttentionReads found = attention_reads(table, inputs, heads, kv_heads);
  const std::int64_t tokens = stated_or(table, "tokens", found.tokens, inputs);
  const double head_dim = real(stated_or(table, "head_dim", found.head_dim, inputs));
  const std::optional<std::int64_t> window = table.maybe_integer("window", op_size);
  const bool given = table.has("tokens");
  double context =
      real(table.maybe_integer("context", op_size).value_or(given ? tokens : found.context.value_or(tokens)));
  const bool fused = table.maybe_boolean("fused").value_or(true);
  const bool causal = table.maybe_boolean("causal").value_or(false);
  divides(table, "kv_heads", "'heads'", heads, kv_heads);
  const double keys = context;  // of the whole sample
  if (window && inputs.known) {
    divides(table, "window", "the tokens", tokens, *window);
    op.sizes.windows = real(tokens) / real(*window);
    context = real(*window);
  }
  if (causal && keys != real(tokens)) {
    table.problem("causal", "'causal' needs as many keys as queries: 'context' is " + format_count(keys) +
                                ", 'tokens' " + std::to_string(tokens) + "; leave one of the two out");
  }
  op.sizes.rows = real(tokens);
  op.sizes.width = head_dim;
  op.sizes.context = context;
  op.sizes.heads = real(heads);
  op.sizes.kv_heads = real(kv_heads);
  op.sizes.fused = fused;
  op.sizes.causal = causal;
  op.output_elements = product(table, "heads", "elements", {real(tokens), real(heads), head_dim});
  op.input_elements =
      op.output_elements + product(table, "context", "elements", {2.0 * keys, real(kv_heads), head_dim});
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
  const TensorShape* q = inputs.first();
  const auto channels = static_cast<std::int64_t>(real(heads) * head_dim);
  return {channels, q != nullptr && q->places() == real(tokens) ? q->plane : std::vector{tokens}};
}

TensorShape read_product(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  const std::size_t function = function_of(table, word, product_functions);
  const std::int64_t heads = table.maybe_integer("heads", op_size).value_or(1);
  std::optional<std::int64_t> rows, in, out;
  const TensorShape* a = inputs.first();
  const bool stated = table.has("rows") && table.has("in") && table.has("out");
  if (!stated && a != nullptr && inputs.shapes.size() == 2) {
    const TensorShape& b = inputs.shapes[1];
    divides(table, "heads", "the first tensor's channels", a->channels, heads);
    divides(table, "heads", "the second tensor's channels", b.channels, heads);
    rows = static_cast<std::int64_t>(a->places());
    in = a->channels / heads;
    out = function == 0 ? static_cast<std::int64_t>(b.places()) : b.channels / heads;
    const double summed = function == 0 ? real(b.channels) / real(heads) : b.places();
    if (summed != real(*in)) {
      table.problem("kind", "a product sums over " + std::to_string(*in) + " of the first tensor " +
                                shape_text(a->sizes()) + ", but over " + format_count(summed) + " of the second " +
                                shape_text(b.sizes()) + "; make them equal, or name another in 'after' or 'with'");
    }
  } else if (!stated && a != nullptr) {
    table.problem("kind", "a product reads two tensors, but " + std::to_string(inputs.shapes.size()) +
                              " is named; name both in 'after', or the second in 'with'");
    rows = in = out = 1;
  }
  const std::int64_t m = stated_or(table, "rows", rows, inputs);
  const std::int64_t k = stated_or(table, "in", in, inputs);
  const std::int64_t n = stated_or(table, "out", out, inputs);
  const double g = real(heads);
  op.function = product_functions[function];
  op.sizes.rows = real(m);
  op.sizes.in = real(k);
  op.sizes.out = real(n);
  op.sizes.groups = g;
  op.input_elements = product(table, "in", "elements", {g, real(k), real(m) + real(n)});
  op.output_elements = product(table, "out", "elements", {g, real(m), real(n)});
  op.chain_elements = op.input_elements;
  op.forward = Flops{2.0 * op.output_elements * real(k)};
  op.backward = 2.0 * op.forward;
  op.keeps_input = true;
  const std::vector<std::int64_t> plane = a != nullptr && a->places() == real(m) ? a->plane : std::vector{m};
  return {heads * n, plane};
}

TensorShape read_recurrent(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  const TensorShape* read = inputs.first();
  const std::size_t cell = function_of(table, word, cells);
  const std::int64_t steps =
      stated_or(table, "rows", read ? std::optional{static_cast<std::int64_t>(read->places())} : std::nullopt, inputs);
  const double in = real(stated_or(table, "in", read ? std::optional{read->channels} : std::nullopt, inputs));
  const std::int64_t state = table.integer("out", op_size);
  const std::int64_t directions = table.maybe_integer("directions", {1, 2}).value_or(1);
  const double biases = real(table.maybe_integer("biases", {0, 2}).value_or(2));
  const double gates = cell_gates[cell];
  const double of_step = gates * real(state) * real(directions);
  op.function = cells[cell];
  op.weight_elements = product(table, "out", "parameters", {of_step, in + real(state) + biases});
  op.parameters = op.weight_elements;
  op.input_elements = product(table, "in", "elements", {real(steps), in});
  op.output_elements = product(table, "out", "elements", {real(steps), real(state), real(directions)});
  op.chain_elements = op.input_elements;
  op.sizes.rows = real(steps);
  op.sizes.in = in;
  op.sizes.out = real(state);
  op.sizes.directions = real(directions);
  op.sizes.gates = gates;
  op.sizes.bias = biases > 0.0;
  op.forward = Flops{2.0 * real(steps) * of_step * (in + real(state))};
  op.backward = 2.0 * op.forward;
  op.keeps_input = true;
  op.keeps_output = true;
  // The gates of every step, and an LSTM's cell beside its state.
  op.kept_elements = real(steps) * (of_step + (cell == 0 ? real(state * directions) : 0.0));
  return {state * directions, read != nullptr && read->places() == real(steps) ? read->plane : std::vector{steps}};
}

bool is_depthwise(const Op& op) noexcept {
  return op.kind == OpKind::conv && op.sizes.groups > 1.0 && op.sizes.groups == op.sizes.in;
}

bool multiplies(OpKind kind) noexcept {
  return kind == OpKind::conv || kind == OpKind::gemm || kind == OpKind::attention || kind == OpKind::conv_transpose ||
         kind == OpKind::product || kind == OpKind::recurrent;
}

std::vector<OpProduct> products_of(const Op& op) {
  const OpSizes& s = op.sizes;
  const double taps = s.kernel[0] * s.kernel[1] * s.kernel[2];
  switch (op.kind) {
    case OpKind::conv:
      return {{s.out_plane[0] * s.out_plane[1] * s.out_plane[2], s.out / s.groups, s.in / s.groups * taps, s.groups}};
    case OpKind::conv_transpose:
      return {{s.plane[0] * s.plane[1] * s.plane[2], s.out / s.groups * taps, s.in / s.groups, s.groups}};
    case OpKind::gemm: return {{s.rows, s.out, s.in}};
    case OpKind::product: return {{s.rows, s.out, s.in, s.groups, 1.0, true}};
    case OpKind::attention: {
      const double queries = s.rows / s.windows;
      const double groups = s.heads * s.windows;
      return {{queries, s.context, s.width, groups, 1.0, true}, {queries, s.width, s.context, groups, 1.0, true}};
    }
    case OpKind::recurrent:
      return {{s.rows, s.directions * s.gates * s.out, s.in}, {1.0, s.gates * s.out, s.out, s.directions, s.rows}};
    default: return {};
  }
}

}  // namespace headroom
