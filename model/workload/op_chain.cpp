// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/op_chain.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

/// The key that states what an op reads.
std::string shape_key(OpKind kind) {
  switch (kind) {
    case OpKind::gemm:
    case OpKind::product:
    case OpKind::recurrent: return "rows";
    case OpKind::attention:
    case OpKind::norm: return "tokens";
    case OpKind::elementwise:
    case OpKind::move:
    case OpKind::reduce: return "elements";
    case OpKind::conv:
    case OpKind::conv_transpose:
    case OpKind::pool: return "in";
    case OpKind::gather:
    case OpKind::embedding_bag: break;
  }
  return "rows";
}

/// Where a contradiction with what is read is told: at the key that names it, or that states the shape.
std::string place_of(const ConfigTable& table, OpKind kind) {
  for (const std::string& key : {std::string{"after"}, std::string{"with"}, shape_key(kind)}) {
    if (table.has(key)) {
      return key;
    }
  }
  return "kind";
}

}  // namespace

void OpChain::start_stage(ConfigTable table, Stage stage, const std::optional<OpTensor>& in) {
  stage.first = net_.ops.size();
  current_ = stage.per_sample;
  net_.stages.push_back(std::move(stage));
  stage_tables_.push_back(std::move(table));
  const bool same = in && in->known && (in->op ? passes_[*in->op] : 1.0) == current_;
  entering_.push_back(same ? in : std::nullopt);
}

void OpChain::end_stage() {
  Stage& stage = net_.stages.back();
  stage.count = net_.ops.size() - stage.first;
  if (stage.count == 0) {  // views alone
    net_.stages.pop_back();
    stage_tables_.pop_back();
    entering_.pop_back();
  }
  current_ = 1.0;
}

OpInputs OpChain::inputs_of(const std::vector<OpTensor>& reads, bool known) const {
  OpInputs inputs;
  inputs.known = known;
  for (const OpTensor& tensor : reads) {
    inputs.known = inputs.known && tensor.known;
    inputs.ids = tensor.input && net_.inputs[*tensor.input].ids;
    const double passes = tensor.op ? passes_[*tensor.op] : 1.0;
    if (passes == current_) {
      inputs.shapes.push_back(tensor.shape);
    } else if (tensor.input && static_cast<double>(tensor.shape.channels) == current_ && !tensor.shape.plane.empty()) {
      // Each pass takes one of the first size: a camera's image.
      inputs.shapes.push_back({tensor.shape.plane.front(), {tensor.shape.plane.begin() + 1, tensor.shape.plane.end()}});
    } else {
      return {{}, inputs.known, inputs.ids};  // by the pass and by the sample: shapes have to be stated
    }
  }
  return inputs;
}

OpTensor OpChain::add(ConfigTable& table,
                      const OpWord& word,
                      std::string name,
                      const std::vector<OpTensor>& reads,
                      bool known,
                      bool shared) {
  Op op;
  op.name = std::move(name);
  const OpInputs inputs = inputs_of(reads, known);
  op.once = table.maybe_boolean("once").value_or(false);
  const std::size_t before = table.diagnostics().size();
  OpTensor result;
  result.shape = read_op_shapes(table, word, inputs, op);
  // Shapes stated in full are known whatever comes before.
  const bool shaped = table.diagnostics().size() == before && !inputs.missed;
  table.finish();
  for (const OpTensor& tensor : reads) {
    if (tensor.op) {
      op.reads.push_back(*tensor.op);
    } else if (tensor.input) {
      op.reads_inputs.push_back(*tensor.input);
    }
  }
  if (shared) {
    op.parameters = 0.0;
  }
  if (shaped && inputs.known) {
    check(table, reads, op);
  }
  result.name = op.name;
  result.known = shaped;
  result.op = net_.ops.size();
  net_.ops.push_back(std::move(op));
  passes_.push_back(current_);
  shaped_.push_back(shaped);
  return result;
}

OpTensor OpChain::add_broken(ConfigTable&, std::string name) {
  OpTensor result;
  result.name = name;
  result.op = net_.ops.size();
  Op op;
  op.name = std::move(name);
  net_.ops.push_back(std::move(op));
  passes_.push_back(current_);
  shaped_.push_back(false);
  return result;
}

OpTensor OpChain::view(ConfigTable& table, const OpWord& word, const std::vector<OpTensor>& reads, bool known) {
  OpTensor result;
  if (reads.size() == 1) {
    result = reads.front();
  } else if (known) {
    table.problem("kind", "a view, a slice or something flattened is of one tensor; name it in 'after'");
    known = false;
  }
  const std::size_t before = table.diagnostics().size();
  const OpInputs inputs = inputs_of(reads, known);
  result.shape = read_view(table, word, inputs);
  result.known = inputs.known && table.diagnostics().size() == before;
  result.viewed = true;
  table.finish();
  return result;
}

/// What a tensor hands over in one sample, all passes.
double OpChain::handed_by(const OpTensor& tensor) const {
  if (tensor.viewed) {
    return tensor.shape.elements() * (tensor.op ? passes_[*tensor.op] : 1.0);
  }
  return tensor.op ? net_.ops[*tensor.op].output_elements * passes_[*tensor.op] : net_.inputs[*tensor.input].elements;
}

/// An op must be handed what it reads.
void OpChain::check(ConfigTable& table, const std::vector<OpTensor>& reads, Op& op) const {
  if (op.chain_elements == 0.0 || reads.empty()) {
    return;
  }
  const std::string place = place_of(table, op.kind);
  if (op.kind == OpKind::elementwise) {
    check_elementwise(table, reads, op, place);
    return;
  }
  double handed = 0.0;
  std::string names;
  for (const OpTensor& tensor : reads) {
    handed += handed_by(tensor);
    names += (names.empty() ? "" : " and ") + quoted(tensor.name);
  }
  if (reads.size() == 1 && reads[0].op && !reads[0].viewed && !op.input_shape.empty()) {
    const Op& before = net_.ops[*reads[0].op];
    if (!before.output_shape.empty() && before.output_shape != op.input_shape) {
      table.problem(place, op.name + " reads " + shape_text(op.input_shape) + ", but " + quoted(before.name) +
                               " writes " + shape_text(before.output_shape) +
                               "; make them equal or name another op in 'after'");
      return;
    }
  }
  const double wanted = op.chain_elements * current_;
  if (handed != wanted) {
    const std::string what =
        op.kind == OpKind::attention ? " elements of a sample (q, k and v), but " : " elements of a sample, but ";
    table.problem(place, op.name + " reads " + format_count(wanted) + what + names +
                             (reads.size() > 1 ? " write " : " writes ") + format_count(handed) +
                             "; make them equal or name another op in 'after'");
  }
}

/// Every tensor that an element-wise op reads has its size, unless the op took it from them; those that no op of the
/// list writes are kept apart.
void OpChain::check_elementwise(ConfigTable& table,
                                const std::vector<OpTensor>& reads,
                                Op& op,
                                const std::string& place) const {
  if (table.has("elements")) {
    for (const OpTensor& tensor : reads) {
      const double elements = handed_by(tensor);
      if (elements != op.chain_elements * current_) {
        table.problem(place, op.name + " reads " + format_count(op.chain_elements * current_) +
                                 " elements of a sample, but " + quoted(tensor.name) + " writes " +
                                 format_count(elements) + "; make them equal or name another op in 'after'");
      }
    }
  }
  const double inputs = op.sizes.operands;
  const auto named = static_cast<double>(reads.size());
  if (named > inputs) {
    table.problem("after", op.name + " reads " + format_count(inputs) + " tensor(s), but 'after' names " +
                               format_count(named) + "; state 'inputs'");
  } else if (op.keeps_input) {
    op.kept_elements = (inputs - named) * op.chain_elements;
  }
}

void OpChain::check_repeats() {
  for (std::size_t s = 0; s < net_.stages.size(); ++s) {
    const Stage& stage = net_.stages[s];
    if (stage.repeat == 1 || stage.count == 0 || !shaped_[stage.first] || !shaped_[stage.first + stage.count - 1]) {
      continue;
    }
    const Op& first = net_.ops[stage.first];
    const Op& last = net_.ops[stage.first + stage.count - 1];
    const std::optional<OpTensor>& in = entering_[s];
    const bool reads_another = in && !(first.reads.size() + first.reads_inputs.size() == 1 &&
                                       (in->op ? first.reads == std::vector{*in->op} : !first.reads_inputs.empty()));
    const double reads = reads_another ? in->shape.elements() : first.chain_elements;
    if (reads != 0.0 && reads != last.output_elements) {
      stage_tables_[s].problem("repeat", "a repeated block must write what the next one reads: " + quoted(last.name) +
                                             " writes " + format_count(last.output_elements) + " elements, " +
                                             (reads_another ? "the first block reads " + quoted(in->name) + " of "
                                                            : quoted(first.name) + " reads ") +
                                             format_count(reads));
    }
  }
}

}  // namespace headroom
