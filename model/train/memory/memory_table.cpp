// SPDX-License-Identifier: Apache-2.0
// Compiles a network for memory and tabulates its layers for one layer key.
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <algorithm>

namespace headroom {
namespace {

bool same_mixer(const Block& a, const Block& b) noexcept {
  return a.mixer == b.mixer && a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim;
}

bool same_ffn(const Block& a, const Block& b) noexcept {
  return a.feed_forward == b.feed_forward && a.ffn_hidden == b.ffn_hidden;
}

/// Windows change no size that training keeps.
bool same_sizes(const Block& a, const Block& b) noexcept {
  return same_mixer(a, b) && same_ffn(a, b);
}

/// The kind of a block, which becomes one where no layer was of it.
std::size_t kind_of_block(const Architecture& arch,
                          const MemoryOptions& options,
                          const Block& block,
                          CompiledMemory& c) {
  const auto known = std::find_if(c.kinds.begin(), c.kinds.end(),
                                  [&](const LayerKind& kind) { return same_sizes(kind.block, block); });
  if (known != c.kinds.end()) {
    return static_cast<std::size_t>(known - c.kinds.begin());
  }
  LayerKind kind{block, block_parameters(arch, block)};
  kind.adapters = lora_parameters(arch, block, real(options.lora_rank), targets_of(c.stack));
  kind.largest_matrix = largest_matrix(arch, block);
  kind.mixer_group = kind.ffn_group = static_cast<std::uint32_t>(c.kinds.size());
  for (const LayerKind& other : c.kinds) {
    kind.mixer_group = same_mixer(other.block, kind.block) ? other.mixer_group : kind.mixer_group;
    kind.ffn_group = same_ffn(other.block, kind.block) ? other.ffn_group : kind.ffn_group;
  }
  c.kinds.push_back(kind);
  return c.kinds.size() - 1;
}

/// LoRA and classifiers leave prediction modules out.
bool predicts(const Architecture& arch, const MemoryOptions& options) noexcept {
  return arch.mtp_layers > 0 && options.method == Method::full && !arch.patches && arch.layers > 0;
}

void compile_kinds(const Architecture& arch, const MemoryOptions& options, CompiledMemory& c) {
  const std::vector<Block> blocks = arch.blocks();
  std::vector<std::size_t> kind_of(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    kind_of[i] = kind_of_block(arch, options, blocks[i], c);
  }
  if (predicts(arch, options)) {
    c.mtp_kind = kind_of_block(arch, options, arch.prediction_block(), c);
  }
  if (c.kinds.size() > CompiledMemory::most_kinds) {
    throw ConfigError{"model '" + arch.id + "' has " + std::to_string(c.kinds.size()) + " kinds of layers; " +
                      std::to_string(CompiledMemory::most_kinds) + " are planned for at most"};
  }
  c.before.assign(c.kinds.size() * (blocks.size() + 1), 0);
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const std::size_t row = k * (blocks.size() + 1);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      c.before[row + i + 1] = static_cast<std::uint16_t>(c.before[row + i] + (kind_of[i] == k ? 1 : 0));
    }
  }
  c.uniform_from = static_cast<std::int64_t>(blocks.size());
  while (c.uniform_from > 0 && kind_of[static_cast<std::size_t>(c.uniform_from) - 1] == kind_of.back()) {
    --c.uniform_from;
  }
}

/// Elements a token that a recurrent mixer keeps in 16 bit beside the input of its output projection. Mamba-2
/// (mamba_ssm, mamba_split_conv1d_scan_combined): z, x, B, C and dt as projected, and the scan's output; the
/// convolution runs again. Delta rules (flash-linear-attention, chunk.py of gated_delta_rule and kda): q, k and v
/// before and after the convolution and normed keys, z, the output, a chunk's pairs, KDA's decay in fp32 and the gates'
/// low rank. Mamba (selective_scan_interface.py): x and z, x convolved, dt, B, C and the output; a chunk of 2,048
/// tokens' states are few.
double kept_of_scan(const LayerOp& op) noexcept {
  const double keys = op.kv_heads * op.width;
  switch (op.mixer) {
    case Mixer::mamba2: return 3.0 * op.output + 2.0 * keys + op.heads;
    case Mixer::delta_net: return 2.0 * (op.output + 2.0 * keys) + 2.0 * keys + 2.0 * op.output + op.heads * 64.0;
    case Mixer::kda: return 2.0 * (op.output + 2.0 * keys) + 5.0 * keys + 2.0 * op.output + 2.0 * op.heads * 64.0;
    default: return 5.0 * op.output + 2.0 * op.width;
  }
}

/// Rows of experts that are kept, over the mean: buffers of a stated size hold as many whether they come or not, but
/// for pages, which hold what came; an expert with a capacity computes no more and no fewer.
double kept_rows(const CompiledMemory& c) noexcept {
  const ExpertTraffic& experts = c.options.experts;
  return experts.rank_capacity > 0.0 && !experts.paged ? experts.rank_capacity
         : experts.capacity > 0.0                      ? experts.capacity
                                                       : c.stack.expert_imbalance;
}

ActivationShape shape_of(const CompiledMemory& c, const LayerKey& key, const Block& block) noexcept {
  const Architecture& arch = c.architecture;
  ActivationShape s;
  s.micro_batch = key.micro_batch;
  s.seq_len = c.seq_len;
  s.hidden = c.hidden;
  s.tp = key.tp;
  s.cp = key.cp;
  s.element_bytes = c.element_bytes;
  s.input_bytes = c.input_bytes;
  s.narrow_saved = c.options.narrow_saved.value_or(false);
  s.gated = arch.gated_mlp;
  s.sequence_parallel = key.sequence_parallel;
  s.flash_attention = c.options.flash_attention;
  s.dropout = c.dropout;
  s.narrow_attention = c.attention.narrow(key.cp) && s.flash_attention;
  s.dropped_inputs = drops_inputs(c.stack, c.options);
  s.frozen_mlp = c.options.method != Method::full && targets_of(c.stack) == AdapterTargets::attention;
  const bool exchanged = key.cp_form == CpForm::ulysses && key.cp > 1;
  s.two_outputs = (c.stack.copies_attention_output && key.cp > 1) || exchanged;
  s.recompute = key.recompute == Recompute::full ? Recompute::none : key.recompute;
  s.heads = s.ffn = 0.0;
  s.parts = (block.mixer != Mixer::none ? 1.0 : 0.0) + (block.feed_forward != FeedForward::none ? 1.0 : 0.0);
  for (const LayerOp& op : layer_ops(arch, block, LayerForm::training)) {
    switch (op.kind) {
      case LayerOpKind::attention:
        s.heads = op.heads;
        // After Ulysses' exchange every rank of the context group holds at least one head of its own too.
        s.head_dim = real(block.head_dim) * (exchanged ? key.cp : 1);
        s.queries = op.heads * op.width;
        s.keys = op.kv_heads * op.width;
        s.values = op.output / op.heads * op.kv_heads;
        s.output = op.output;
        s.latent = op.latent;
        s.rope = op.rope;
        break;
      case LayerOpKind::scan:
        s.queries = kept_of_scan(op);
        s.output = op.output;
        break;
      case LayerOpKind::experts:
        s.expert_input = op.input;
        s.experts = op.count;
        s.routed = op.top_k * kept_rows(c);
        s.expert_ffn = op.width;
        s.etp = key.etp;
        break;
      case LayerOpKind::activation: (op.part == LayerPart::shared ? s.shared_ffn : s.ffn) = op.width; break;
      case LayerOpKind::product:
      case LayerOpKind::pass:
      case LayerOpKind::reduction:
      case LayerOpKind::exchange: break;
    }
  }
  return s;
}

/// torchtitan's per-op policy: every second matmul's output and the attention's stay: half of q, k, v, projection and
/// MLP outputs, the layer's input, the softmax's log-sum.
double every_second_matmul(const ActivationShape& s) noexcept {
  const double tokens = s.micro_batch * s.seq_len / s.cp;
  const double residual = s.sequence_parallel ? tokens / s.tp : tokens;
  const double routed = s.experts > 0.0 ? s.routed * s.expert_ffn : 0.0;
  const double ffn = s.experts > 0.0 ? s.shared_ffn : s.ffn;
  return s.element_bytes * ((2.0 * s.hidden + routed) * residual + (2.0 * s.output + s.keys + ffn) * tokens / s.tp) +
         4.0 * s.heads * tokens / s.tp;
}

/// What stays where the job states which parts run again. Queries that are not compressed are no up-projection's.
double kept_beside_parts(const CompiledMemory& c, ActivationShape s, const RecomputeParts& parts) noexcept {
  s.again = parts;
  s.recompute = s.again.has(RecomputePart::core_attn) ? Recompute::selective : Recompute::none;
  if (s.again.has(RecomputePart::mla_up_proj) && s.latent > 0.0) {
    s.keys = s.values = 0.0;
    s.queries = c.architecture.mla && c.architecture.mla->q_rank > 0 ? 0.0 : s.queries;
  }
  return layer_activations(s).raw();
}

double kept_selectively(const CompiledMemory& c, const ActivationShape& s, const RecomputeParts& taken) noexcept {
  if (const RecomputeParts& parts = taken.any() ? taken : c.options.recompute_parts; parts.any()) {
    return kept_beside_parts(c, s, parts);
  }
  switch (c.stack.selective) {
    case SelectiveRecompute::every_second_matmul: return every_second_matmul(s);
    case SelectiveRecompute::activation_in_8_bit: {
      const double tokens = s.micro_batch * s.seq_len / s.cp;
      const double inner = s.experts > 0.0 ? s.routed * s.expert_ffn + s.shared_ffn : s.ffn;
      const bool narrow = c.input_bytes < c.element_bytes && s.gated;
      return layer_activations(s).raw() - (narrow ? 2.0 * inner * tokens / s.tp : 0.0);
    }
    case SelectiveRecompute::core_attention: break;
  }
  return layer_activations(s).raw();
}

/// Gradients of the last matrix's input and the first matrices' outputs; without a fused kernel also the scores'.
double backward_workspace(const ActivationShape& s) noexcept {
  const double tokens = s.micro_batch * s.seq_len / s.cp;
  const double inner = s.element_bytes * (s.gated ? 3.0 : 2.0);
  const double routed = s.routed * (s.sequence_parallel ? s.etp * tokens / s.tp : tokens);
  const double ffn = s.experts > 0.0 ? inner * s.expert_ffn / s.etp * routed : inner * s.ffn * tokens / s.tp;
  return ffn + (s.flash_attention ? 0.0 : s.element_bytes * s.heads * s.seq_len * tokens / s.tp);
}

/// Of pages: the buffers of the layer that runs, as far as they hold more rows than the pages keep of them.
double stash_buffers(const CompiledMemory& c, const ActivationShape& s) noexcept {
  const ExpertTraffic& experts = c.options.experts;
  if (s.experts <= 0.0 || !experts.paged || experts.rank_capacity <= kept_rows(c)) {
    return 0.0;
  }
  const double rows = s.routed / kept_rows(c) * (experts.rank_capacity - kept_rows(c)) * s.micro_batch * s.seq_len /
                      s.cp / (s.sequence_parallel ? s.tp / s.etp : 1.0);
  const double inner = s.element_bytes * (s.gated ? 2.0 : 1.0) + s.input_bytes;
  return rows * (s.input_bytes * s.hidden + inner * s.expert_ffn / s.etp);
}

/// Keys and values of other context ranks: all of them gathered, or of a ring the two shards on their way. Where nobody
/// states the form they are none of what was fitted.
double context_buffers(const ActivationShape& s, CpForm form) noexcept {
  if (s.cp <= 1.0 || form == CpForm::unstated || form == CpForm::ulysses) {
    return 0.0;
  }
  const double shards = form == CpForm::ring ? 2.0 : s.cp;
  const double tokens = s.micro_batch * s.seq_len / s.cp;
  return shards * s.element_bytes * tokens * std::max((s.keys + s.values) / s.tp, 2.0 * s.head_dim);
}

/// Bytes of a logit at the loss. The stacks state them for 16-bit outputs; an fp32 output is the fp32 copy that the
/// loss would make of it, so that the 16-bit one falls away.
double bytes_of_a_logit(const MemoryStack& stack, const MemoryOptions& options, double element) noexcept {
  const bool compiled = options.compiled;
  const double stated = is_fused(stack, options)
                            ? (compiled ? stack.logit_bytes_fused_compiled : stack.logit_bytes_fused)
                            : (compiled ? stack.logit_bytes_compiled : stack.logit_bytes);
  return element > 2.0 ? std::max(element, stated - 2.0) : stated;
}

/// The same over tensor ranks that share the words of an unfused loss; 0 where the software treats both alike.
double bytes_of_a_shared_logit(const MemoryStack& stack, const MemoryOptions& options, double element) noexcept {
  if (is_fused(stack, options) || stack.logit_bytes_tp <= 0.0) {
    return 0.0;
  }
  return element > 2.0 ? std::max(element, stack.logit_bytes_tp - 2.0) : stack.logit_bytes_tp;
}

/// Beyond a rank's part, inputs of products that are kept as they were gathered (`MemoryStack::keeps_gathered_inputs`):
/// in front of the mixer and of a dense MLP.
double gathered_inputs(const CompiledMemory& c, const ActivationShape& s) noexcept {
  if (!c.stack.keeps_gathered_inputs || !s.sequence_parallel) {
    return 0.0;
  }
  const double tokens = s.micro_batch * s.seq_len / s.cp;
  const double inputs = s.parts - (s.experts > 0.0 ? 1.0 : 0.0);
  return inputs * s.input_bytes * s.hidden * (tokens - tokens / s.tp);
}

/// Gradients of such an input, whole, of two products that read it, before they are summed and scattered.
double gathered_gradients(const CompiledMemory& c, const ActivationShape& s) noexcept {
  const bool whole = c.stack.keeps_gathered_inputs && s.sequence_parallel && s.tp > 1.0;
  return whole ? 2.0 * s.element_bytes * s.hidden * s.micro_batch * s.seq_len / s.cp : 0.0;
}

/// Method, formats and states of a run that trains adapters.
void freeze_base(const MemoryStack& stack, Precision precision, CompiledMemory& c) {
  const MemoryOptions& options = c.options;
  c.adapter_states = states_of_adapters(stack, precision, options.optimizer);
  c.states.gradients = 0.0;
  c.states.optimizer = 0.0;
  c.states.buckets = 0.0;
  c.states.apart = {};
  if (options.method == Method::qlora) {
    c.states.weights = nf4_bytes(doubly_quantised(stack, options));
    c.gather_bytes = c.states.weights;  // gathered as it is stored, dequantised matrix by matrix
    c.frozen_embedding_bytes = c.element_bytes;
  } else {
    c.states.weights = row_of(precision).weight_bytes < 2.0 ? 1.0 : c.element_bytes;
  }
}

/// Of the optimizer's bytes those that a paged one may move: moments, not a master copy.
double paged_share(const MemoryOptions& options, double optimizer_bytes) noexcept {
  const bool paged = options.optimizer && is_paged(*options.optimizer) && optimizer_bytes > 0.0;
  return paged ? std::min(1.0, moment_bytes(*options.optimizer) / optimizer_bytes) : 0.0;
}

/// Stand-ins, in the format of the weights, for the weight gradient of each distinct shape of a layer; `router` and
/// norms have none.
void add_dummies(
    const CompiledMemory& c, const LayerKind& kind, double tp, double etp, MemoryTable::Row& row) noexcept {
  if (!c.stack.dummy_gradients || c.options.method != Method::full) {
    return;
  }
  const BlockParameters& p = kind.parameters;
  row.mixer_dummies = c.element_bytes * (p.mixer / tp + p.mixer_replicated);
  row.ffn_dummies = c.element_bytes * ((p.dense_ffn + p.shared_experts) / tp + p.expert / etp);
}

void compile_prediction(const Architecture& arch, const ParameterCount& parameters, CompiledMemory& c) {
  if (!predicts(arch, c.options)) {
    return;
  }
  c.mtp = real(arch.mtp_layers);
  c.mtp_held = real(arch.mtp_weights());
  c.mtp_projection = 2.0 * c.hidden * c.hidden;
  c.mtp_norms = parameters.mtp / c.mtp_held - c.kinds[c.mtp_kind].parameters.total() - c.mtp_projection;
}

}  // namespace

bool is_fused(const MemoryStack& stack, const MemoryOptions& options) noexcept {
  return options.fused_loss.value_or(stack.fuses_loss(options.method != Method::full));
}

bool doubly_quantised(const MemoryStack& stack, const MemoryOptions& options) noexcept {
  return options.double_quant.value_or(stack.adapters && stack.adapters->double_quant);
}

bool dropout_by_habit(const MemoryStack& stack, const Architecture& arch) noexcept {
  return stack.dropout && !arch.gated_mlp;
}

CompiledMemory compile_memory(const Architecture& arch,
                              const MemoryStack& stack,
                              const StateBytes& states,
                              Precision precision,
                              const MemoryOptions& options,
                              std::int64_t seq_len,
                              Bytes capacity) {
  CompiledMemory c;
  c.architecture = arch;
  c.stack = stack;
  c.options = options;
  c.capacity = capacity;
  c.layers = arch.layers;
  c.hidden = real(arch.hidden);
  c.vocab = real(arch.vocab);
  c.seq_len = real(seq_len);
  const ParameterCount parameters = count_parameters(arch);
  c.embedding = parameters.embedding;
  c.final_norm = parameters.final_norm;
  c.tied = arch.tied_embeddings;
  c.head = c.tied ? c.vocab * c.hidden : parameters.head;
  c.states = states;
  const bool narrow = row_of(precision).weight_bytes < 2.0;
  c.element_bytes = row_of(precision).compute_bytes;
  c.gather_bytes = stack.fp8_gathers && narrow && !options.row_scales ? 1.0 : c.element_bytes;
  c.input_bytes = options.narrow_saved.value_or(stack.fp8_saved_inputs && narrow) ? 1.0 : c.element_bytes;
  c.logit_bytes = bytes_of_a_logit(stack, options, c.element_bytes);
  c.logit_bytes_tp = bytes_of_a_shared_logit(stack, options, c.element_bytes);
  c.dropout = options.dropout.value_or(dropout_by_habit(stack, arch));
  if (is_fused(stack, options)) {
    c.part_bytes = stack.logit_bytes;
    c.part_tokens = stack.loss_tokens;
  }
  if (options.method != Method::full) {
    freeze_base(stack, precision, c);
  }
  c.paged_share =
      paged_share(options, options.method == Method::full ? c.states.optimizer : c.adapter_states.optimizer);
  compile_kinds(arch, options, c);
  compile_prediction(arch, parameters, c);
  return c;
}

namespace {

void add_layer_shares(const CompiledMemory& c, MemoryTable& table) noexcept {
  table.least = {1e300, 1e300};
  table.least_activations = 1e300;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const MemoryTable::Row& row = table.kinds[k];
    const double layers = c.before[(k + 1) * static_cast<std::size_t>(c.layers + 1) - 1];
    table.least.dense = std::min(table.least.dense, row.dense);
    table.least.experts = std::min(table.least.experts, row.experts);
    table.mean.dense += layers * row.dense / real(c.layers);
    table.mean.experts += layers * row.experts / real(c.layers);
    table.least_activations = std::min(table.least_activations, row.activations);
  }
}

}  // namespace

MemoryTable tabulate_memory(const CompiledMemory& c, const LayerKey& key) noexcept {
  MemoryTable table;
  table.kinds.resize(c.kinds.size());
  const double tp = key.tp;
  const double tokens = key.micro_batch * c.seq_len / key.cp;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const LayerKind& kind = c.kinds[k];
    const BlockParameters& p = kind.parameters;
    const ActivationShape shape = shape_of(c, key, kind.block);
    MemoryTable::Row& row = table.kinds[k];
    row.dense = (p.mixer + p.dense_ffn + p.shared_experts) / tp + p.mixer_replicated + p.norms + p.router;
    row.experts = p.experts / (static_cast<double>(key.ep) * key.etp);
    row.norms = p.norms;
    row.dense_adapters = kind.adapters.dense / tp;
    row.expert_adapters = kind.adapters.experts / (static_cast<double>(key.ep) * key.etp);
    ActivationShape whole = shape;
    whole.recompute = Recompute::none;
    const double all = layer_activations(whole).raw() + gathered_inputs(c, shape);
    row.activations = key.recompute == Recompute::selective ? kept_selectively(c, shape, key.parts) : all;
    // The backward pass of a layer holds all that no recomputation would have kept of it.
    row.formed_again = key.recompute == Recompute::full ? all : all - row.activations;
    if (c.options.method != Method::full) {
      const double copies = c.stack.adapters && c.stack.adapters->copies_inputs ? kind.adapters.inputs / tp : 0.0;
      const double dropped = shape.dropped_inputs ? (c.element_bytes + 1.0) * kind.adapters.read / tp : 0.0;
      const double between = (c.element_bytes * (kind.adapters.kept + copies) + dropped) * tokens;
      row.activations += between;
      row.formed_again += key.recompute == Recompute::full ? between : 0.0;
    }
    row.workspace = backward_workspace(shape) + gathered_gradients(c, shape) + context_buffers(shape, key.cp_form) +
                    stash_buffers(c, shape);
    if (c.options.method == Method::qlora) {
      row.workspace += c.element_bytes * kind.largest_matrix / tp;  // Dettmers et al. 2023, section 3, equation 5
    }
    add_dummies(c, kind, tp, key.etp, row);
  }
  const double vocab = real(padded_vocabulary(c.architecture.vocab, c.options.vocab_multiple, key.tp));
  const double padding = (vocab - c.vocab) * c.hidden;
  table.embedding = (c.embedding + padding) / tp;
  table.head = (c.head + padding) / tp;
  table.final_norm = c.final_norm;
  table.saved_input = c.element_bytes * c.hidden * (key.sequence_parallel ? tokens / tp : tokens);
  // The head: logits in all their copies; its norm's input, output and the gradient of its input, gathered; what its
  // reduce-scatter brings back; a stand-in gradient.
  const double dummy = c.stack.dummy_gradients && c.options.method == Method::full ? c.element_bytes * table.head : 0.0;
  const double part = c.part_bytes * vocab * std::min(tokens, c.part_tokens) / tp;
  const double logit = logit_bytes_of(c, key.tp);
  table.loss = logit * vocab * tokens / tp + part + 3.0 * c.element_bytes * c.hidden * tokens +
               (key.sequence_parallel ? c.element_bytes * c.hidden * tokens / tp : 0.0) + dummy;
  if (c.architecture.patches) {
    table.loss = 0.0;  // a classifier's logits are a few numbers an image
  }
  if (c.mtp > 0.0) {
    // Each module's logits join the loss, its head norm's input and output stay beside them.
    table.loss += c.mtp * (logit * vocab * tokens / tp + 2.0 * c.element_bytes * c.hidden * tokens);
    table.mtp_projection = c.mtp_projection / tp;
    // Inputs of the two norms; without full recomputation also their joined outputs, the projection's input.
    const double joined = key.recompute == Recompute::full ? 0.0 : 2.0 * c.input_bytes / c.element_bytes;
    table.mtp_saved = (2.0 + joined) * table.saved_input;
  }
  add_layer_shares(c, table);
  return table;
}

}  // namespace headroom
