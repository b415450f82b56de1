// SPDX-License-Identifier: Apache-2.0
// `headroom op` for passes over memory: elementwise, norm, softmax-cross-entropy, embedding, gather, reduction,
// quantize, optimizer.
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/render/op_answer.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/memory_ops.hpp>
#include <headroom/model/train/memory/memory.hpp>

#include <array>

namespace headroom::cli {
namespace {

/// The measured cast from 16 to 8 bits, which also stands in for all other passes (the answer says so).
constexpr std::string_view measured_cast = "scale_matrix";

struct PassQuestion {
  std::string_view kind;
  std::string_view kernel;  ///< name in the curves
  std::string sizes;        ///< sizes for print
  std::vector<Member> fields;
  MemoryOp op;
  double cast_rows = 0.0;  ///< CTAs of a cast whose kernel uses one per row
  std::string engine;
};

MemoryOp scaled(const MemoryOp& op, double bytes, double rows) {
  return {bytes * op.read, bytes * op.written, rows * op.rows};
}

OpAnswer answer_pass(const ModelData& data, const Device& device, const PassQuestion& q) {
  const CurveSet& set = find_curve_set(data, device);
  OpAnswer a;
  a.title = q.sizes;
  a.question = q.fields;
  a.limits = pass_limits(device);
  const ChosenMemory chosen = choose_memory(set, device, q.kernel, q.engine);
  a.why = chosen.why;
  MemoryOp op = q.op;
  // vLLM's casts use a CTA per row; the other engines' run over all elements.
  if (q.cast_rows > 0.0 && chosen.engine == "vllm") {
    op.rows = q.cast_rows;
  }
  const MemoryModel model{chosen.values, a.limits};
  const MemoryTime t = model.explain(op);
  a.time = t.total;
  a.launch = t.launch;
  a.bound = memory_bound_names[static_cast<std::size_t>(t.bound)];
  a.moved = op.moved();
  a.written = op.written;
  a.rows.emplace_back("traffic", format(op.read) + " read, " + format(op.written) + " written");
  a.details = {{"read_bytes", op.read}, {"written_bytes", op.written}};
  a.parts = {{"launch", "launch_s", t.launch},
             {"bytes at the sustained bandwidth, alone", "stream_s", t.stream},
             {"what its CTAs can draw, alone", "ramp_s", t.ramp},
             {"CTAs of rows, alone", "blocks_s", t.blocks}};
  add_device_effects(a, [&](const KernelDevice& limits) { return MemoryModel{chosen.values, limits}.time(op); });
  add_effect(a, "half the bytes an element", model.time(scaled(op, 0.5, 1.0)));
  add_effect(a, "twice as much in one call, per element", 0.5 * model.time(scaled(op, 2.0, 2.0)));
  finish(a, chosen.p90);
  return a;
}

OpQuestion ask(FormReader& in, PassQuestion q) {
  q.engine = in.text("--engine");
  return [q = std::move(q)](const ModelData& data, const Device& device) { return answer_pass(data, device, q); };
}

/// Rows and columns of a matrix, which most passes work on.
struct Sheet {
  double rows = 1.0;
  double columns = 1.0;
  GemmFormat format;

  [[nodiscard]] double bytes() const noexcept { return format.activation_bytes; }
};

Sheet read_sheet(FormReader& in) {
  return {in.size("--rows"), in.size("--columns"), in.format()};
}

PassQuestion question_of(std::string_view kind, const Sheet& s, const MemoryOp& op) {
  PassQuestion q;
  q.kind = kind;
  q.kernel = kind;
  q.sizes = format_count(s.rows) + " x " + format_count(s.columns) + ", " + std::string{s.format.name};
  q.fields = {{"dtype", std::string{s.format.name}}, {"rows", s.rows}, {"columns", s.columns}};
  q.op = op;
  return q;
}

OpQuestion read_elementwise(FormReader& in) {
  const double elements = in.size("--elements");
  const double inputs = in.size_or("--inputs", 1.0);
  const GemmFormat& format = in.format();
  PassQuestion q;
  q.kind = q.kernel = "elementwise";
  q.sizes = format_count(elements) + " elements of " + format_count(inputs) +
            (inputs > 1.0 ? " operands, " : " operand, ") + std::string{format.name};
  q.fields = {{"dtype", std::string{format.name}}, {"elements", elements}, {"inputs", inputs}};
  q.op = elementwise(elements, inputs, format.activation_bytes);
  return ask(in, std::move(q));
}

OpQuestion read_norm(FormReader& in) {
  const Sheet s = read_sheet(in);
  return ask(in, question_of("norm", s, norm(s.rows, s.columns, s.bytes())));
}

OpQuestion read_cross_entropy(FormReader& in) {
  const Sheet s = read_sheet(in);
  const bool gradient = in.flag("--gradient");
  PassQuestion q =
      question_of("softmax-cross-entropy", s, softmax_cross_entropy(s.rows, s.columns, s.bytes(), gradient));
  q.sizes += gradient ? ", with its gradient" : "";
  q.fields.push_back({"gradient", gradient});
  return ask(in, std::move(q));
}

OpQuestion read_embedding(FormReader& in) {
  const Sheet s = read_sheet(in);
  return ask(in, question_of("embedding", s, gather(s.rows, s.columns, s.bytes())));
}

OpQuestion read_gather(FormReader& in) {
  const Sheet s = read_sheet(in);
  return ask(in, question_of("gather", s, gather(s.rows, s.columns, s.bytes())));
}

OpQuestion read_reduction(FormReader& in) {
  const Sheet s = read_sheet(in);
  return ask(in, question_of("reduction", s, reduction(s.rows, s.columns, s.bytes())));
}

OpQuestion read_quantize(FormReader& in) {
  const Sheet s = read_sheet(in);
  const GemmFormat& to = in.format("fp8", "--to");
  PassQuestion q = question_of("quantize", s, quantise(s.rows, s.columns, s.bytes(), to.activation_bytes));
  q.kernel = measured_cast;
  q.sizes += " to " + std::string{to.name};
  q.fields.push_back({"to", std::string{to.name}});
  q.cast_rows = s.rows;
  return ask(in, std::move(q));
}

OpQuestion read_optimizer(FormReader& in) {
  const double parameters = in.size("--parameters");
  const std::size_t chosen = in.choice("--optimizer", optimizer_names, optimizer_names.front());
  const GemmFormat& weight = in.format();
  const GemmFormat& gradient = in.format("fp32", "--grad-dtype");
  constexpr double full = 4.0;
  const bool master = !in.flag("--no-master") && weight.weight_bytes < full;
  const UpdateBytes bytes{moment_bytes(static_cast<Optimizer>(chosen)), gradient.weight_bytes, weight.weight_bytes,
                          master ? full : 0.0};
  PassQuestion q;
  q.kind = q.kernel = "optimizer";
  q.sizes = format_count(parameters) + " parameters, " + std::string{optimizer_names[chosen]} + ", weights in " +
            std::string{weight.name} + (master ? " under an fp32 master copy" : "") + ", gradients in " +
            std::string{gradient.name};
  q.fields = {{"dtype", std::string{weight.name}},
              {"grad_dtype", std::string{gradient.name}},
              {"optimizer", std::string{optimizer_names[chosen]}},
              {"master", master},
              {"parameters", parameters}};
  q.op = optimizer_pass(parameters, bytes);
  return ask(in, std::move(q));
}

constexpr std::array pass_table{
    OpKind{"elementwise", "elements of the result", read_elementwise, Fusable::pass},
    OpKind{"norm", "rows are tokens, columns the hidden width", read_norm, Fusable::row_pass},
    OpKind{"softmax-cross-entropy", "rows are tokens, columns the vocabulary", read_cross_entropy, Fusable::row_pass},
    OpKind{"embedding", "rows are tokens, columns the width of the table", read_embedding},
    OpKind{"gather", "rows that are fetched, and their width", read_gather},
    OpKind{"reduction", "every row to one number", read_reduction, Fusable::row_pass},
    OpKind{"quantize", "rows are tokens, columns the hidden width", read_quantize, Fusable::pass},
    OpKind{"optimizer", "parameters that the rank updates", read_optimizer},
};

}  // namespace

std::span<const OpKind> pass_kinds() noexcept {
  return pass_table;
}

}  // namespace headroom::cli
