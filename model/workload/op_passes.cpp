// SPDX-License-Identifier: Apache-2.0
// Ops that pass over tensors without a product, the words that name ops, and views.
#include <headroom/core/real.hpp>
#include <headroom/model/workload/op_shapes.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

struct ElementwiseRow {
  std::string_view name;
  std::int64_t inputs;
  double flops;  ///< of one result element and input, forward; as many backward
  bool keeps_input, keeps_output;
  double mask_bytes;   ///< of one element
  double primitives;   ///< kernels of software that has none for the whole
  double parameters;   ///< of one channel
  std::int64_t parts;  ///< of the input's channels that make one of the result: 2 of gated functions
};

// clang-format off
constexpr std::array elementwise_rows{
    //               name           inputs flops  input  output mask primitives parameters parts
    ElementwiseRow{"add",           2,     1.0,   false, false, 0.0, 1.0,       0.0,       1},
    ElementwiseRow{"mul",           2,     1.0,   true,  false, 0.0, 1.0,       0.0,       1},
    ElementwiseRow{"relu",          1,     1.0,   false, true,  0.0, 1.0,       0.0,       1},
    ElementwiseRow{"gelu",          1,     1.0,   true,  false, 0.0, 8.0,       0.0,       1},
    ElementwiseRow{"silu",          1,     1.0,   true,  false, 0.0, 2.0,       0.0,       1},
    ElementwiseRow{"sigmoid",       1,     1.0,   false, true,  0.0, 1.0,       0.0,       1},
    ElementwiseRow{"tanh",          1,     1.0,   false, true,  0.0, 1.0,       0.0,       1},
    ElementwiseRow{"softmax",       1,     1.0,   false, true,  0.0, 3.0,       0.0,       1},
    ElementwiseRow{"dropout",       1,     1.0,   false, false, 1.0, 1.0,       0.0,       1},
    ElementwiseRow{"copy",          1,     0.0,   false, false, 0.0, 1.0,       0.0,       1},
    ElementwiseRow{"relu6",         1,     1.0,   true,  false, 0.0, 1.0,       0.0,       1},
    ElementwiseRow{"leaky_relu",    1,     1.0,   true,  false, 0.0, 1.0,       0.0,       1},
    ElementwiseRow{"elu",           1,     1.0,   false, true,  0.0, 1.0,       0.0,       1},
    ElementwiseRow{"exp",           1,     1.0,   false, true,  0.0, 1.0,       0.0,       1},
    ElementwiseRow{"quick_gelu",    1,     1.0,   true,  false, 0.0, 3.0,       0.0,       1},  // x sigmoid(1.702 x)
    ElementwiseRow{"hard_sigmoid",  1,     1.0,   true,  false, 0.0, 3.0,       0.0,       1},  // relu6(x + 3) / 6
    ElementwiseRow{"hard_swish",    1,     1.0,   true,  false, 0.0, 4.0,       0.0,       1},  // x relu6(x + 3) / 6
    ElementwiseRow{"log_softmax",   1,     1.0,   false, true,  0.0, 3.0,       0.0,       1},
    ElementwiseRow{"rotary",        1,     1.0,   false, false, 0.0, 4.0,       0.0,       1},  // x cos + rotated x sin
    ElementwiseRow{"glu",           1,     1.0,   true,  false, 0.0, 2.0,       0.0,       2},  // a sigmoid(b)
    ElementwiseRow{"swiglu",        1,     1.0,   true,  false, 0.0, 3.0,       0.0,       2},  // a silu(b)
    ElementwiseRow{"geglu",         1,     1.0,   true,  false, 0.0, 9.0,       0.0,       2},  // a gelu(b)
    ElementwiseRow{"gated_tanh",    1,     1.0,   true,  false, 0.0, 3.0,       0.0,       2},  // tanh(a) sigmoid(b)
    ElementwiseRow{"scale",         1,     1.0,   true,  false, 0.0, 1.0,       1.0,       1},
    ElementwiseRow{"bias",          1,     1.0,   false, false, 0.0, 1.0,       1.0,       1},
    ElementwiseRow{"prelu",         1,     1.0,   true,  false, 0.0, 1.0,       1.0,       1},
};
// clang-format on

constexpr auto elementwise_names = [] {
  std::array<std::string_view, elementwise_rows.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = elementwise_rows[i].name;
  }
  return names;
}();

struct NormRow {
  std::string_view name;
  double parameters;  ///< of one channel
  double statistics;  ///< of one token
  double flops;       ///< of one element, forward
  double readings;    ///< of the input, forward
  double primitives;  ///< kernels of software that has none for the whole
};

// clang-format off
// Arithmetic of one element: layer norm sums, subtracts, squares, sums, divides, scales and shifts; rms norm squares,
// sums, divides and scales. Batch, group and instance norm keep a pair of statistics a channel or group, too few to
// count; their statistics are done before the first result (Ioffe and Szegedy 2015, algorithm 1), so that the input is
// read twice.
constexpr std::array norm_rows{
    //        name       parameters statistics flops readings primitives
    NormRow{"layer",     2.0,       2.0,       7.0,  1.0,     8.0},
    NormRow{"rms",       1.0,       1.0,       4.0,  1.0,     5.0},
    NormRow{"batch",     2.0,       0.0,       7.0,  2.0,     1.0},
    NormRow{"group",     2.0,       0.0,       7.0,  2.0,     8.0},
    NormRow{"instance",  2.0,       0.0,       7.0,  2.0,     8.0},
};
// clang-format on

constexpr std::array<std::string_view, 5> norm_functions{"layer", "rms", "batch", "group", "instance"};

constexpr std::array<std::string_view, 9> move_names{
    "concat", "upsample", "space_to_depth", "depth_to_space", "crop", "transpose", "roll", "repeat_rows", "custom"};

constexpr std::array<OpWord, 12> other_words{OpWord{"depthwise", OpKind::conv, "", OpWord::Form::depthwise},
                                             OpWord{"max_pool", OpKind::pool, "max", OpWord::Form::plain},
                                             OpWord{"avg_pool", OpKind::pool, "avg", OpWord::Form::plain},
                                             OpWord{"global_pool", OpKind::pool, "avg", OpWord::Form::global},
                                             OpWord{"embedding", OpKind::embedding_bag, "", OpWord::Form::embedding},
                                             OpWord{"lstm", OpKind::recurrent, "lstm", OpWord::Form::plain},
                                             OpWord{"gru", OpKind::recurrent, "gru", OpWord::Form::plain},
                                             OpWord{"scores", OpKind::product, "scores", OpWord::Form::plain},
                                             OpWord{"values", OpKind::product, "values", OpWord::Form::plain},
                                             OpWord{"view", OpKind::move, "", OpWord::Form::view},
                                             OpWord{"slice", OpKind::move, "", OpWord::Form::slice},
                                             OpWord{"flatten", OpKind::move, "", OpWord::Form::flatten}};

/// Norms as words.
constexpr std::array<std::string_view, 5> norm_words{"layer_norm", "rms_norm", "batch_norm", "group_norm",
                                                     "instance_norm"};

const std::vector<OpWord>& word_table() {
  static const std::vector<OpWord> table = [] {
    std::vector<OpWord> all;
    for (std::size_t i = 0; i < op_kind_names.size(); ++i) {
      all.push_back({op_kind_names[i], static_cast<OpKind>(i), "", OpWord::Form::plain});
    }
    all.insert(all.end(), other_words.begin(), other_words.end());
    for (const std::string_view name : elementwise_names) {
      all.push_back({name, OpKind::elementwise, name, OpWord::Form::plain});
    }
    for (std::size_t i = 0; i < norm_words.size(); ++i) {
      all.push_back({norm_words[i], OpKind::norm, norm_functions[i], OpWord::Form::plain});
    }
    for (const std::string_view name : move_names) {
      all.push_back({name, OpKind::move, name, OpWord::Form::plain});
    }
    return all;
  }();
  return table;
}

/// The largest of what an element-wise op reads; of others each channel or each place may stand for many.
std::optional<TensorShape> broadcast(ConfigTable& table, const OpInputs& inputs) {
  const TensorShape* largest = inputs.first();
  if (largest == nullptr) {
    return std::nullopt;
  }
  for (const TensorShape& shape : inputs.shapes) {
    largest = shape.elements() > largest->elements() ? &shape : largest;
  }
  for (const TensorShape& shape : inputs.shapes) {
    const bool every_place = shape.channels == largest->channels && shape.places() == 1.0;
    const bool every_channel = shape.channels == 1 && shape.places() == largest->places();
    if (shape.elements() != largest->elements() && !every_place && !every_channel) {
      table.problem("kind", "the op reads " + shape_text(largest->sizes()) + " and " + shape_text(shape.sizes()) +
                                ": tensors have to be equal, or one of them to have one place, or one channel at as "
                                "many places; name others in 'after' or 'with'");
      return std::nullopt;
    }
  }
  return *largest;
}

/// What passes over tensors write and read, without arithmetic.
void note_move(Op& op, double in, double out) {
  op.input_elements = in;
  op.chain_elements = in;
  op.output_elements = out;
}

}  // namespace

const OpWord* read_op_word(ConfigTable& table) {
  if (!table.has("kind")) {
    static_cast<void>(table.choice("kind", op_kind_names));  // says that it is missing
    return nullptr;
  }
  const std::optional<std::string> said = table.maybe_text("kind");
  if (!said) {
    return nullptr;
  }
  const std::vector<OpWord>& words = word_table();
  const auto found = std::find_if(words.begin(), words.end(), [&](const OpWord& row) { return row.word == *said; });
  if (found != words.end()) {
    return &*found;
  }
  std::string kinds;
  for (const std::string_view kind : op_kind_names) {
    kinds += std::string{kind} + ", ";
  }
  std::vector<std::string_view> all;
  all.reserve(words.size());
  for (const OpWord& word : words) {
    all.push_back(word.word);
  }
  table.problem("kind", "'kind' is " + quoted(*said) + "; it must be one of " + kinds +
                            "or a function's name, as relu, layer_norm or max_pool" + suggestion(*said, all));
  return nullptr;
}

TensorShape read_embedding_bag(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  const TensorShape* read = inputs.first();
  const double rows = real(table.integer("rows", op_size));
  const std::int64_t width = table.integer("width", op_size);
  const bool counted = table.has("lookups");
  const std::int64_t lookups = stated_or(
      table, "lookups", read ? std::optional{static_cast<std::int64_t>(read->elements())} : std::nullopt, inputs);
  if (!counted && read != nullptr && !inputs.ids) {
    table.problem("kind",
                  "what is looked up are whole numbers; name an input of dtype int32 or int64 in 'after', or "
                  "state 'lookups'");
  }
  const bool each = word.form == OpWord::Form::embedding;  // every row that is looked up is a result
  const std::int64_t bags = table.maybe_integer("bags", op_size).value_or(each ? lookups : 1);
  const std::int64_t tables = table.maybe_integer("tables", op_size).value_or(1);
  op.parameters = product(table, "rows", "parameters", {rows, real(width), real(tables)});
  op.output_elements = product(table, "width", "elements", {real(bags), real(width), real(tables)});
  op.sizes.rows = real(lookups) * real(tables);
  op.sizes.width = real(width);
  op.forward = Flops{product(table, "lookups", "additions", {real(lookups), real(width), real(tables)})};
  op.weight_elements = op.forward.raw();
  op.backward = op.forward;
  op.kept_bytes = index_bytes * (real(lookups) + real(bags)) * real(tables);
  if (!counted && read != nullptr && each) {
    return {width * tables, read->channels == 1 ? read->plane : std::vector{bags}};
  }
  return {width * tables, bags == 1 ? std::vector<std::int64_t>{} : std::vector{bags}};
}

TensorShape read_elementwise(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  const bool stated = table.has("elements");
  const std::optional<TensorShape> largest = stated ? std::nullopt : broadcast(table, inputs);
  const bool told = stated || largest || !inputs.known || inputs.shapes.empty();
  const double elements = real(
      told ? stated_or(table, "elements",
                       largest ? std::optional{static_cast<std::int64_t>(largest->elements())} : std::nullopt, inputs)
           : 1);
  const ElementwiseRow& row = elementwise_rows[function_of(table, word, elementwise_names)];
  const bool learned = table.maybe_boolean("learned").value_or(false);
  const auto named = static_cast<std::int64_t>(inputs.shapes.size());
  const std::int64_t usual = row.inputs == 1 || stated ? row.inputs : std::max(row.inputs, named + (learned ? 1 : 0));
  const std::int64_t count = table.maybe_integer("inputs", {1, 64}).value_or(usual);
  if (row.inputs == 1 && count != 1) {
    table.problem("inputs", "'inputs' is " + std::to_string(count) + "; '" + std::string{row.name} + "' reads one");
  }
  if (learned && row.inputs == 1) {
    table.problem("learned", "'" + std::string{row.name} + "' reads one tensor, so that none of two can be learned");
  }
  op.function = row.name;
  op.primitives = row.primitives;
  op.chain_elements = elements;
  op.output_elements = elements / real(row.parts);
  op.input_elements = elements * real(count - (learned ? 1 : 0));
  if (largest && named == count - (learned ? 1 : 0)) {
    op.input_elements = 0.0;
    for (const TensorShape& shape : inputs.shapes) {
      op.input_elements += shape.elements();
    }
  }
  op.sizes.operands = real(count - (learned ? 1 : 0));
  op.forward = Flops{row.flops * elements * real(count)};
  op.backward = op.forward;
  op.keeps_input = row.keeps_input;
  op.keeps_output = row.keeps_output;
  op.kept_bytes = row.mask_bytes * elements;
  TensorShape shape = largest ? *largest
                      : inputs.first() != nullptr && inputs.first()->elements() == elements
                          ? *inputs.first()
                          : TensorShape{1, {static_cast<std::int64_t>(elements)}};
  op.parameters = row.parameters * real(shape.channels) + (learned ? elements : 0.0);
  op.weight_elements = op.parameters;
  if (row.parts > 1 && !inputs.missed) {
    divides(table, "kind", "the channels", shape.channels, row.parts);
    shape.channels = std::max<std::int64_t>(1, shape.channels / row.parts);
  }
  return shape;
}

TensorShape read_norm(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  const TensorShape* read = inputs.first();
  const std::int64_t width = stated_or(table, "width", read ? std::optional{read->channels} : std::nullopt, inputs);
  std::optional<std::int64_t> places;
  if (read != nullptr) {
    places = std::max<std::int64_t>(1, static_cast<std::int64_t>(read->elements() / real(width)));
    if (!table.has("tokens")) {
      divides(table, "width", "the elements read,", static_cast<std::int64_t>(read->elements()), width);
    }
  }
  const std::int64_t tokens = stated_or(table, "tokens", places, inputs);
  const NormRow& row = norm_rows[function_of(table, word, norm_functions)];
  const bool affine = table.maybe_boolean("affine").value_or(true);
  op.function = row.name;
  op.primitives = row.primitives;
  op.parameters = affine ? row.parameters * real(width) : 0.0;
  op.weight_elements = op.parameters;
  op.sizes.rows = real(tokens);
  op.sizes.width = real(width);
  op.sizes.readings = row.readings;
  op.input_elements = product(table, "width", "elements", {real(tokens), real(width)});
  op.output_elements = op.input_elements;
  op.chain_elements = op.input_elements;
  op.forward = Flops{row.flops * op.input_elements};
  op.backward = 2.0 * op.forward;  // of the input, and of scale and shift
  op.keeps_input = true;
  op.kept_bytes = statistic_bytes * row.statistics * real(tokens);
  return read != nullptr && read->elements() == op.input_elements ? *read : TensorShape{width, {tokens}};
}

TensorShape read_gather(ConfigTable& table, const OpWord&, const OpInputs& inputs, Op& op) {
  const TensorShape* read = inputs.first();
  const std::int64_t rows = table.integer("rows", op_size);
  const std::int64_t width = stated_or(table, "width", read ? std::optional{read->channels} : std::nullopt, inputs);
  op.output_elements = product(table, "width", "elements", {real(rows), real(width)});
  op.input_elements = op.output_elements;
  op.sizes.rows = real(rows);
  op.sizes.width = real(width);
  op.kept_bytes = index_bytes * real(rows);
  return {width, {rows}};
}

TensorShape read_reduce(ConfigTable& table, const OpWord&, const OpInputs& inputs, Op& op) {
  const TensorShape* read = inputs.first();
  const std::int64_t elements = stated_or(
      table, "elements", read ? std::optional{static_cast<std::int64_t>(read->elements())} : std::nullopt, inputs);
  const std::int64_t out = stated_or(table, "out", read ? std::optional{read->channels} : std::nullopt, inputs);
  if (out > elements && !inputs.missed) {
    table.problem("out", "'out' " + std::to_string(out) + " is more than 'elements' " + std::to_string(elements) +
                             ": a reduction only makes fewer");
  }
  note_move(op, real(elements), real(out));
  op.forward = Flops{real(elements)};
  op.backward = op.forward;
  if (read != nullptr && real(out) == read->places() && out != read->channels) {
    return {1, read->plane};  // over the channels of every place
  }
  return {out, {}};
}

TensorShape read_move(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  const std::size_t function = function_of(table, word, move_names);
  op.function = move_names[function];
  inputs.missed = !inputs.known;
  TensorShape out = inputs.first() == nullptr ? TensorShape{} : *inputs.first();
  if (table.has("elements") || (inputs.known && inputs.shapes.empty())) {
    const std::int64_t elements = table.integer("elements", op_size);
    note_move(op, real(elements), real(elements));
    return {1, {elements}};
  }
  double in = 0.0;  // elements
  for (const TensorShape& shape : inputs.shapes) {
    in += shape.elements();
  }
  const std::size_t rank = std::max<std::size_t>(1, std::min<std::size_t>(3, out.plane.size()));
  switch (function) {
    case 0: {  // concat
      static constexpr std::array<std::string_view, 2> axes{"channels", "rows"};
      const bool rows = table.maybe_choice("axis", axes).value_or(0) == 1;
      const std::int64_t learned = table.maybe_integer("learned", op_size).value_or(0);
      std::int64_t sum = learned;
      for (const TensorShape& shape : inputs.shapes) {
        sum += rows ? static_cast<std::int64_t>(shape.places()) : shape.channels;
        if (inputs.known && (rows ? shape.channels != out.channels : shape.places() != out.places())) {
          table.problem("kind", "the op joins " + shape_text(out.sizes()) + " and " + shape_text(shape.sizes()) +
                                    (rows ? ", which differ in channels" : ", which differ in their planes") +
                                    "; make them equal, or name others in 'after' or 'with'");
        }
      }
      op.parameters = real(learned) * (rows ? real(out.channels) : out.places());
      op.weight_elements = op.parameters;
      if (rows) {
        out.plane = {sum};
      } else {
        out.channels = sum;
      }
      break;
    }
    case 1: {  // upsample
      const auto factor = read_directions(table, "factor", 1, rank, std::array<std::int64_t, 3>{0, 0, 0});
      if (table.has("to")) {
        const auto to = read_directions(table, "to", 1, rank, std::nullopt);
        for (std::size_t i = 0; i < out.plane.size() && i < 3; ++i) {
          out.plane[i] = to[i];
        }
      } else if (factor[0] == 0) {
        table.problem("kind", "an upsampling needs 'factor' or 'to', e.g. factor = 2");
      } else {
        for (std::size_t i = 0; i < out.plane.size() && i < 3; ++i) {
          out.plane[i] *= factor[i];
        }
      }
      break;
    }
    case 2:
    case 3: {  // space_to_depth, depth_to_space
      const auto factor = read_directions(table, "factor", 1, rank, std::nullopt);
      for (std::size_t i = 0; i < out.plane.size() && i < 3; ++i) {
        if (function == 2) {
          divides(table, "factor", "the plane's", out.plane[i], factor[i]);
          out.plane[i] = std::max<std::int64_t>(1, out.plane[i] / factor[i]);
          out.channels *= factor[i];
        } else {
          divides(table, "factor", "the channels", out.channels, factor[i]);
          out.plane[i] *= factor[i];
          out.channels = std::max<std::int64_t>(1, out.channels / factor[i]);
        }
      }
      break;
    }
    case 4: {  // crop
      const auto to = read_directions(table, "to", 1, rank, std::nullopt);
      for (std::size_t i = 0; i < out.plane.size() && i < 3; ++i) {
        out.plane[i] = to[i];
      }
      break;
    }
    case 7:  // repeat_rows: each row as often as asked
      out.plane = {static_cast<std::int64_t>(out.places()) * table.integer("times", op_size)};
      break;
    case 8: {  // custom: no more is known than what it reads and writes, weights among it
      const std::vector<std::int64_t> shape = table.integers("shape");
      if (shape.empty() && table.has("shape")) {
        table.problem("shape", "'shape' is empty; state the sizes of what the op writes, e.g. shape = [64, 56, 56]");
      }
      for (const std::int64_t size : shape) {
        if (size < 1 || size > largest_size) {
          table.problem("shape", "'shape' holds " + std::to_string(size) + "; every size must be 1 to 1073741824");
          return out;
        }
      }
      op.parameters = real(table.maybe_integer("learned", {1, static_cast<std::int64_t>(largest_count)}).value_or(0));
      op.weight_elements = op.parameters;
      out = shape.empty() ? TensorShape{} : TensorShape{shape[0], {shape.begin() + 1, shape.end()}};
      break;
    }
    default: break;  // transpose, roll
  }
  const double handed = in;
  if (function == 4) {
    in = out.elements();  // of a crop the rest is not read
  }
  note_move(op, in + (function == 8 ? op.parameters : 0.0),
            product(table, "kind", "elements", {real(out.channels), out.places()}));
  op.chain_elements = handed;
  return out;
}

TensorShape read_view(ConfigTable& table, const OpWord& word, const OpInputs& inputs) {
  const TensorShape* read = inputs.first();
  if (word.form == OpWord::Form::flatten) {
    return read == nullptr ? TensorShape{} : TensorShape{static_cast<std::int64_t>(read->elements()), {}};
  }
  if (word.form == OpWord::Form::slice) {
    const std::optional<std::int64_t> channels = table.maybe_integer("channels", op_size);
    const std::optional<std::int64_t> rows = table.maybe_integer("rows", op_size);
    if (read == nullptr) {
      return {};
    }
    if (channels.value_or(1) > read->channels || real(rows.value_or(1)) > read->places()) {
      table.problem("kind", "a slice cannot hold more than the tensor that is read, " + shape_text(read->sizes()));
    }
    TensorShape out{channels.value_or(read->channels), read->plane};
    if (rows) {
      out.plane = *rows == 1 ? std::vector<std::int64_t>{} : std::vector{*rows};
    }
    return out;
  }
  const std::vector<std::int64_t> shape = table.integers("shape");
  if (shape.empty()) {
    return {};
  }
  TensorShape out{shape[0], {shape.begin() + 1, shape.end()}};
  if (read != nullptr && out.elements() != read->elements()) {
    table.problem("shape", "'shape' " + shape_text(shape) + " has " + format_count(out.elements()) +
                               " elements, but what is read, " + shape_text(read->sizes()) + ", has " +
                               format_count(read->elements()));
  }
  return out;
}

TensorShape read_op_shapes(ConfigTable& table, const OpWord& word, const OpInputs& inputs, Op& op) {
  using Reader = TensorShape (*)(ConfigTable&, const OpWord&, const OpInputs&, Op&);
  static constexpr std::array<Reader, op_kind_names.size()> readers{
      read_conv, read_gemm,   read_attention,      read_embedding_bag, read_elementwise, read_norm, read_gather,
      read_pool, read_reduce, read_conv_transpose, read_product,       read_recurrent,   read_move};
  op.kind = word.kind;
  return readers[static_cast<std::size_t>(word.kind)](table, word, inputs, op);
}

}  // namespace headroom
