// SPDX-License-Identifier: Apache-2.0
// Bytes of states and of one layer's activations, term by term.
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// What one layer reads, writes and keeps, in the two token counts that sequence parallelism tells apart.
struct Tokens {
  double whole = 0.0;    ///< of the rank
  double sharded = 0.0;  ///< under sequence parallelism
};

Tokens tokens_of(const ActivationShape& s) noexcept {
  const double tokens = s.micro_batch * s.seq_len / s.cp;
  return {tokens, s.sequence_parallel ? tokens / s.tp : tokens};
}

/// Queries, keys, values and the attention's output; of latents (DeepSeek-AI 2024, DeepSeek-V2, section 2.1) also they
/// themselves, their norms' outputs and the rotary key, one for all heads.
double mixer_bytes(const ActivationShape& s, const Tokens& t) noexcept {
  const double floor = s.latent > 0.0 ? 0.0 : s.head_dim;
  const double outputs = s.two_outputs && s.latent <= 0.0 ? 2.0 : 1.0;
  // In 8 bit the attention keeps its own copies; the projection behind it keeps its input unless it is frozen.
  const double behind = s.dropped_inputs ? 0.0 : s.input_bytes;
  const double output_bytes = s.narrow_attention ? 1.0 + behind : s.narrow_saved ? 1.5 : s.element_bytes;
  const double multiplied = s.narrow_attention ? 1.0 : s.element_bytes;
  const double norm_bytes = s.again.has(RecomputePart::layernorm) ? 0.0 : s.input_bytes;
  return (s.element_bytes + norm_bytes) * s.latent * t.sharded  //
         + s.element_bytes * s.rope * t.whole                   //
         + multiplied * (s.queries / s.tp + std::max(s.keys / s.tp, floor) + std::max(s.values / s.tp, floor)) *
               t.whole                                          //
         + outputs * output_bytes * s.output * t.whole / s.tp;  // input of the output projection
}

double scores_bytes(const ActivationShape& s, const Tokens& t) noexcept {
  if (s.heads <= 0.0) {
    return 0.0;
  }
  if (s.flash_attention && s.again.has(RecomputePart::core_attn)) {
    return 0.0;
  }
  if (s.flash_attention) {
    return 4.0 * s.heads * t.whole / s.tp;  // the softmax's log-sum, fp32 (Dao et al. 2022, algorithm 1)
  }
  if (s.recompute != Recompute::none) {
    return 0.0;
  }
  // The softmax's input and output; with dropout output, mask and result: 5 a s of equation 1 in 16 bit.
  return (2.0 * s.element_bytes + (s.dropout ? 1.0 : 0.0)) * s.heads * s.seq_len * t.whole / s.tp;
}

/// Around the nonlinearity: outputs of the first matrices and the input of the last.
double inner_bytes(const ActivationShape& s) noexcept {
  return s.element_bytes * (s.gated ? 2.0 : 1.0) + s.input_bytes;
}

/// The same inside experts.
double expert_inner_bytes(const ActivationShape& s) noexcept {
  const double outputs = (s.narrow_saved ? 1.0 : s.element_bytes) * (s.gated ? 2.0 : 1.0);
  return outputs + (s.again.has(RecomputePart::moe_act) ? 0.0 : s.input_bytes);
}

double feed_forward_bytes(const ActivationShape& s, const Tokens& t) noexcept {
  if (s.experts <= 0.0) {
    return (inner_bytes(s) - (s.frozen_mlp ? s.input_bytes : 0.0)) * s.ffn * t.whole / s.tp;
  }
  // The routing weight is applied inside, so that expert outputs are not kept. The ranks that share an expert gather
  // each other's tokens and hold a slice of its width.
  const double inner = expert_inner_bytes(s);
  const double dispatched = t.sharded * s.routed * (s.sequence_parallel ? s.etp : 1.0);
  const double latent = s.expert_input < s.hidden ? (s.input_bytes + s.element_bytes) * s.expert_input : 0.0;
  return dispatched * (s.input_bytes * s.expert_input + inner * s.expert_ffn / s.etp)  //
         + latent * t.sharded                                                          // down, and before it goes up
         + inner * s.shared_ffn * t.whole / s.tp                                       // shared experts
         + 8.0 * s.experts * t.sharded;                                                // router logits and scores
}

}  // namespace

double moment_bytes(Optimizer optimizer) noexcept {
  switch (optimizer) {
    case Optimizer::adamw:
    case Optimizer::paged_adamw: return 8.0;
    case Optimizer::adamw_bf16: return 4.0;
    case Optimizer::adamw_8bit:
    case Optimizer::paged_adamw_8bit: return 2.0;
    case Optimizer::momentum:
    case Optimizer::lion:
    case Optimizer::muon: return 4.0;
    case Optimizer::sgd:
    case Optimizer::adafactor: break;
  }
  return 0.0;
}

MomentsApart moments_apart(Optimizer optimizer) noexcept {
  const double adam = moment_bytes(Optimizer::adamw);
  const double more = adam - moment_bytes(optimizer);
  switch (optimizer) {
    case Optimizer::muon: return {more, more, more};
    case Optimizer::adamw_8bit:
    case Optimizer::paged_adamw_8bit: return {more, 0.0, 0.0};
    case Optimizer::adamw:
    case Optimizer::paged_adamw:
    case Optimizer::adamw_bf16:
    case Optimizer::momentum:
    case Optimizer::sgd:
    case Optimizer::lion:
    case Optimizer::adafactor: break;
  }
  return {};
}

StateBytes adam_states(Precision precision) noexcept {
  const double weights = row_of(precision).compute_bytes;
  const double master = weights < 4.0 ? 4.0 : 0.0;
  return {weights, weights, moment_bytes(Optimizer::adamw) + master};
}

StateBytes states_of_adapters(const MemoryStack& stack,
                              Precision precision,
                              std::optional<Optimizer> optimizer) noexcept {
  StateBytes bytes = adam_states(precision);
  const double adam = moment_bytes(Optimizer::adamw);
  double master = bytes.optimizer - adam, moments = adam;
  if (stack.adapters && bytes.weights < 4.0) {
    const StackAdapters& habit = *stack.adapters;
    bytes.weights = habit.weights;
    bytes.gradients = habit.gradients;
    master = habit.master;
    moments = habit.moments;
  }
  bytes.optimizer = master + (optimizer ? moment_bytes(*optimizer) : moments);
  return bytes;
}

StateMemory state_memory(double parameters, const StateBytes& bytes, int zero, double ranks) noexcept {
  StateMemory memory;
  memory.weights = Bytes{parameters * bytes.weights / (zero >= 3 ? ranks : 1.0)};
  memory.gradients = Bytes{parameters * bytes.gradients / (zero >= 2 ? ranks : 1.0)};
  memory.optimizer = Bytes{parameters * bytes.optimizer / (zero >= 1 ? ranks : 1.0)};
  return memory;
}

Bytes layer_activations(const ActivationShape& s) noexcept {
  // Korthikanti et al. 2022: activations (2 bytes in 16 bit), masks 1 byte. Sequence parallelism (equation 4) shards
  // what tensor parallelism alone replicates (equation 2).
  const Tokens t = tokens_of(s);
  if (s.recompute == Recompute::full) {
    return Bytes{s.element_bytes * s.hidden * t.sharded};  // the layer's input alone, section 5
  }
  const double norm_inputs = s.parts * s.element_bytes * s.hidden * t.sharded;
  // Inputs of the qkv and first MLP matrices.
  const double trained = s.dropped_inputs ? s.parts - 1.0 : s.parts;
  const double read = s.frozen_mlp && s.experts <= 0.0 ? std::max(0.0, trained - 1.0) : trained;
  const double norm_outputs = s.again.has(RecomputePart::layernorm) ? 0.0 : read * s.input_bytes * s.hidden * t.sharded;
  const double masks = s.dropout ? s.parts * s.hidden * t.sharded : 0.0;  // after attention and after the MLP
  return Bytes{norm_inputs + norm_outputs + masks + mixer_bytes(s, t) + scores_bytes(s, t) + feed_forward_bytes(s, t)};
}

double micro_batches_in_flight(const Strategy& s, double stage, double micro_batches) noexcept {
  const double chunks = chunks_of(s.schedule, s.vpp);
  return model_of(s.schedule)
      .in_flight({static_cast<double>(s.pp), chunks, stage, micro_batches_a_flush(s, micro_batches)});
}

NarrowAttention narrow_attention_of(const MemoryStack& stack,
                                    const MemoryOptions& options,
                                    Precision precision,
                                    std::string_view generation) noexcept {
  if (options.narrow_attention || options.method == Method::full || row_of(precision).weight_bytes >= 2.0) {
    const bool narrow = options.narrow_attention.value_or(false);
    return {narrow, narrow};
  }
  return {stack.narrows_attention(generation, false), stack.narrows_attention(generation, true)};
}

bool has_adapters(const LayerOp& op, AdapterTargets targets) noexcept {
  const bool matrix =
      op.kind == LayerOpKind::experts || (op.kind == LayerOpKind::product && op.part != LayerPart::router);
  return matrix && (targets == AdapterTargets::every_matrix || op.part == LayerPart::mixer);
}

LoraParameters lora_parameters(const Architecture& arch, const Block& b, double rank, AdapterTargets targets) noexcept {
  LoraParameters sum;
  for (const LayerOp& op : layer_ops(arch, b, LayerForm::training)) {
    if (!has_adapters(op, targets)) {
      continue;
    }
    if (op.kind == LayerOpKind::experts) {
      sum.experts += rank * op.count * (op.pieces + 1.0) * (op.input + op.width);
      sum.kept += rank * op.top_k * (op.pieces + 1.0);
      sum.inputs += op.top_k * (op.pieces * op.input + op.width);
      sum.read += op.top_k * (op.input + op.width);
    } else {
      sum.dense += rank * (op.pieces * op.k + op.n);
      sum.kept += rank * op.pieces;
      sum.inputs += op.pieces * op.k;
      sum.read += op.k;
    }
  }
  return sum;
}

double largest_matrix(const Architecture& arch, const Block& b) noexcept {
  double largest = 0.0;
  for (const LayerOp& op : layer_ops(arch, b, LayerForm::training)) {
    if (op.kind == LayerOpKind::experts) {
      largest = std::max(largest, op.input * op.width);
    } else if (op.kind == LayerOpKind::product && op.pieces == 1.0 && op.part != LayerPart::router) {
      largest = std::max(largest, op.n * op.k);  // no matrix beside others is larger than the projection behind them
    }
  }
  return largest;
}

}  // namespace headroom
