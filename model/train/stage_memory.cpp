// SPDX-License-Identifier: Apache-2.0
// From layers to a stage: which layers it holds, how many micro-batches are in flight, and the two moments of its peak.
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/train/memory.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

double count(std::int64_t n) noexcept {
  return static_cast<double>(n);
}

/// The layers of one stage: their number and how many are of each kind.
struct StageLayers {
  double layers = 0.0;
  std::array<double, CompiledMemory::most_kinds> of_kind{};
};

void add_layers(const CompiledMemory& c, std::int64_t from, std::int64_t to, StageLayers& result) noexcept {
  from = std::clamp<std::int64_t>(from, 0, c.layers);
  to = std::clamp<std::int64_t>(to, from, c.layers);
  result.layers += count(to - from);
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const std::size_t row = k * static_cast<std::size_t>(c.layers + 1);
    result.of_kind[k] += c.before[row + static_cast<std::size_t>(to)] - c.before[row + static_cast<std::size_t>(from)];
  }
}

/// Layers that divide go round the stages chunk by chunk. Others: embedding and loss stand for a layer each where the
/// software counts them and that makes the split even; else early stages take one more.
StageLayers layers_of_stage(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  StageLayers result;
  const std::int64_t parts = std::int64_t{s.pp} * s.vpp;
  const bool even = c.layers % parts == 0;
  if (even || (c.stack.uneven == UnevenSplit::ends_count && (c.layers + 2) % parts == 0)) {
    const std::int64_t shift = even ? 0 : 1;
    const std::int64_t chunk = (c.layers + 2 * shift) / parts;
    for (std::int64_t i = 0; i < s.vpp; ++i) {
      const std::int64_t from = (i * s.pp + stage) * chunk - shift;
      add_layers(c, from, from + chunk, result);
    }
    return result;
  }
  const std::int64_t least = c.layers / s.pp;
  const std::int64_t more = c.layers % s.pp;
  const std::int64_t from = stage * least + std::min(stage, more);
  add_layers(c, from, from + least + (stage < more ? 1 : 0), result);
  return result;
}

/// The last stage also holds the prediction modules' layers.
void add_prediction_layers(const CompiledMemory& c, StageLayers& result) noexcept {
  result.layers += c.mtp;
  result.of_kind[c.mtp_kind] += c.mtp;
}

struct StageParameters {
  double dense = 0.0, experts = 0.0;
  double embedding = 0.0, head = 0.0, norms = 0.0;  ///< of them
  double ends = 0.0;                                ///< embedding and head
  double adapters = 0.0;
  double largest_layer = 0.0;
};

StageParameters parameters_of_stage(
    const CompiledMemory& c, const MemoryTable& t, const StageLayers& own, bool first, bool last) noexcept {
  StageParameters p;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    p.dense += own.of_kind[k] * t.kinds[k].dense;
    p.experts += own.of_kind[k] * t.kinds[k].experts;
    p.norms += own.of_kind[k] * t.kinds[k].norms;
    p.adapters += own.of_kind[k] * c.kinds[k].adapters;
    if (own.of_kind[k] > 0.0) {
      p.largest_layer = std::max(p.largest_layer, t.kinds[k].dense + t.kinds[k].experts);
    }
  }
  // Tied tables stand on both ends of a pipeline and once without one. Prediction modules read the table on the last
  // stage too.
  p.embedding = first || (last && c.mtp > 0.0 && !c.tied) ? t.embedding : 0.0;
  p.head = last && (!c.tied || !first) ? t.head : 0.0;
  p.ends = p.embedding + p.head;
  p.norms += last ? t.final_norm + c.mtp * c.mtp_norms : 0.0;
  p.dense += p.ends + (last ? t.final_norm + c.mtp * (t.mtp_projection + c.mtp_norms) : 0.0);
  return p;
}

double moments_beside(const CompiledMemory& c, const StageParameters& p) noexcept {
  const MomentsApart& more = c.states.apart;
  return more.embedding * p.embedding + (c.tied ? more.embedding : more.head) * p.head + more.norms * p.norms;
}

void fill_states(const CompiledMemory& c, const Strategy& s, const StageParameters& p, StageMemory& m) noexcept {
  const double all = count(s.dp) * s.cp;
  const double ranks = s.shard_ranks > 0 ? std::min(all, static_cast<double>(s.shard_ranks)) : all;
  const double expert_ranks = std::max(1.0, ranks * s.tp / (static_cast<double>(s.ep) * s.etp));
  // DualPipe runs two directions at once: every rank holds two stages' parameters.
  const double copies = s.schedule == Schedule::dualpipe && s.pp > 1 ? 2.0 : 1.0;
  StateBytes bytes = c.states;
  bytes.gradients += all > 1.0 ? bytes.buckets : 0.0;
  const StateMemory dense = state_memory(copies * p.dense, bytes, s.zero, ranks);
  const StateMemory experts = state_memory(copies * p.experts, bytes, s.zero, expert_ranks);
  m.bytes[MemoryTerm::weights] = dense.weights + experts.weights;
  m.bytes[MemoryTerm::gradients] = dense.gradients + experts.gradients;
  m.bytes[MemoryTerm::optimizer] =
      dense.optimizer + experts.optimizer + Bytes{copies * moments_beside(c, p) / (s.zero >= 1 ? ranks : 1.0)};
  if (c.frozen_embedding_bytes > 0.0) {
    const double shards = s.zero >= 3 ? ranks : 1.0;
    m.bytes[MemoryTerm::weights] += Bytes{p.ends * (c.frozen_embedding_bytes - c.states.weights) / shards};
  }
  if (c.options.method != Method::full) {
    // Adapters train in 16 bit with fp32 moments and master: 2 + 2 + 12 (Hu et al. 2022, section 4.1).
    const StateMemory adapters = state_memory(p.adapters / s.tp, adam_states(Precision::bf16), s.zero, ranks);
    m.bytes[MemoryTerm::weights] += adapters.weights;
    m.bytes[MemoryTerm::gradients] += adapters.gradients;
    m.bytes[MemoryTerm::optimizer] += adapters.optimizer;
  }
  if (c.options.offload_optimizer) {
    m.host += m.bytes[MemoryTerm::optimizer];
    m.bytes[MemoryTerm::optimizer] = Bytes{};
  }
}

void fill_activations(const CompiledMemory& c,
                      const MemoryTable& t,
                      const StageLayers& own,
                      const Strategy& s,
                      bool last,
                      StageMemory& m) noexcept {
  double kept = last ? c.mtp * t.mtp_saved : 0.0;
  const bool full = s.recompute == Recompute::full;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    kept += own.of_kind[k] * (full ? t.saved_input / s.recompute_block : t.kinds[k].activations);
  }
  kept *= m.in_flight;
  const bool offloaded = c.options.offload_activations || (full && c.options.offload_checkpoints);
  if (offloaded && own.layers > 0.0) {
    const double one_layer = kept / (own.layers * std::max(m.in_flight, 1.0));
    m.host += Bytes{kept - std::min(kept, 2.0 * one_layer)};  // the one in use and the one on its way
    kept = std::min(kept, 2.0 * one_layer);
  }
  m.bytes[MemoryTerm::activations] = Bytes{kept};
}

double dummies_of_stage(const CompiledMemory& c, const MemoryTable& t, const StageLayers& own) noexcept {
  double sum = 0.0;
  std::uint64_t mixers = 0;
  std::uint64_t ffns = 0;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    if (own.of_kind[k] <= 0.0) {
      continue;
    }
    const std::uint64_t mixer = std::uint64_t{1} << c.kinds[k].mixer_group;
    const std::uint64_t ffn = std::uint64_t{1} << c.kinds[k].ffn_group;
    sum += (mixers & mixer) == 0 ? t.kinds[k].mixer_dummies : 0.0;
    sum += (ffns & ffn) == 0 ? t.kinds[k].ffn_dummies : 0.0;
    mixers |= mixer;
    ffns |= ffn;
  }
  return sum;
}

/// Weights that DeepSpeed gathers at once, never more than the stage has, and its whole reduce buckets.
double documented_buffers(const CompiledMemory& c, const Strategy& s, const StageParameters& p) noexcept {
  const StackBuffers& b = c.stack.buffers;
  const double gathered = s.zero >= 3 ? std::min(b.live_parameters, p.dense + p.experts) : 0.0;
  const double buckets = s.zero >= 3 ? b.zero3_buckets : s.zero == 2 ? b.zero2_buckets : 0.0;
  return c.gather_bytes * (gathered + buckets * b.reduce_bucket);
}

/// Workspace of the two moments, gathers included.
struct Workspaces {
  double layer = 0.0, loss = 0.0, kept = 0.0;
};

Workspaces workspaces_of_stage(const CompiledMemory& c,
                               const MemoryTable& t,
                               const Strategy& s,
                               const StageLayers& own,
                               const StageParameters& p,
                               bool last) noexcept {
  Workspaces w;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    if (own.of_kind[k] > 0.0) {
      w.layer = std::max(w.layer, t.kinds[k].workspace +
                                      (s.recompute == Recompute::full ? s.recompute_block * t.kinds[k].in_full : 0.0));
    }
  }
  w.loss = last ? t.loss : 0.0;
  w.kept = documented_buffers(c, s, p);
  if (s.zero < 3) {
    return w;
  }
  constexpr double wide = 2.0;  // the ends are gathered in 16 bit whatever the recipe
  const double trained = c.options.method == Method::full ? c.stack.reduce_bytes : 0.0;
  if (s.pp > 1 && c.stack.pipeline_keeps_gradients) {
    // Nothing is reduced before the last micro-batch: the whole stage's compute copy and gradients stay.
    w.kept += (c.gather_bytes + trained) * (p.dense + p.experts) + (wide - c.gather_bytes) * p.ends;
  } else if (c.stack.gathers) {
    // One unit computed, one prefetched (Zhao et al. 2023, section 3.3), one reduced.
    w.layer += (2.0 * c.gather_bytes + trained) * p.largest_layer;
    w.loss += last ? (wide + trained) * t.head + c.gather_bytes * p.largest_layer : 0.0;
  }
  return w;
}

/// Context, communicators and what else lies outside the allocator; a lone GPU has no communicator.
Bytes outside_of(const CompiledMemory& c, const Strategy& s) noexcept {
  const bool alone = count(s.dp) * s.tp * s.pp * s.cp <= 1.0;
  return c.stack.outside - (alone ? c.stack.communicators : Bytes{});
}

/// What the allocator holds beyond what is live. Never more than the device has left: near the limit it gives back.
Bytes reserve_of(const CompiledMemory& c, const Strategy& s, const StageMemory& m, Bytes late_gradients) noexcept {
  const Bytes states = m.bytes[MemoryTerm::weights] + m.bytes[MemoryTerm::gradients] + m.bytes[MemoryTerm::optimizer];
  Bytes reserve = late_gradients;  // their blocks stay with the pool
  if (c.stack.reserve_ratio > 0.0) {
    const double ratio = s.tp > 1 ? c.stack.reserve_ratio_tp : c.stack.reserve_ratio;
    reserve += (ratio - 1.0) * (m.live() - states);
  } else {
    const Bytes workspace = m.bytes[MemoryTerm::workspace] + m.bytes[MemoryTerm::logits] +
                            m.bytes[MemoryTerm::gather_buffers] - c.stack.fixed;
    reserve += c.stack.reserve_activations * m.bytes[MemoryTerm::activations] + c.stack.reserve_workspace * workspace;
  }
  return std::max(Bytes{}, std::min(reserve, c.capacity - m.live() - outside_of(c, s)));
}

}  // namespace

StageMemory stage_memory(const CompiledMemory& c,
                         const MemoryTable& t,
                         const Strategy& s,
                         double micro_batches,
                         std::int64_t stage) noexcept {
  StageMemory m;
  const bool first = stage == 0;
  const bool last = stage == s.pp - 1;
  StageLayers own = layers_of_stage(c, s, stage);
  if (last) {
    add_prediction_layers(c, own);
  }
  const StageParameters parameters = parameters_of_stage(c, t, own, first, last);
  m.in_flight = micro_batches_in_flight(s, count(stage), micro_batches);
  fill_states(c, s, parameters, m);
  fill_activations(c, t, own, s, last, m);
  m.bytes[MemoryTerm::dummy_gradients] = Bytes{dummies_of_stage(c, t, own)};
  const Workspaces w = workspaces_of_stage(c, t, s, own, parameters, last);
  m.bytes[MemoryTerm::gather_buffers] = Bytes{w.kept};
  m.bytes[MemoryTerm::workspace] = c.stack.fixed;
  // Gradients that do not exist yet at the only micro-batch's loss leave the layers' backward as the other candidate.
  const bool late = c.stack.gradients_are_late && micro_batches <= 1.0;
  const Bytes gradients = late ? m.bytes[MemoryTerm::gradients] : Bytes{};
  Bytes given_back{};
  if (w.loss > 0.0 && Bytes{w.loss} - gradients >= Bytes{w.layer}) {
    m.moment = PeakMoment::loss;
    m.bytes[MemoryTerm::logits] = Bytes{w.loss};
    m.bytes[MemoryTerm::gradients] -= gradients;
    given_back = gradients;
  } else {
    m.bytes[MemoryTerm::workspace] += Bytes{w.layer};
    given_back = late ? Bytes{std::max(0.0, w.loss - w.layer)} : Bytes{};
  }
  m.bytes[MemoryTerm::fragmentation] = reserve_of(c, s, m, given_back);
  m.bytes[MemoryTerm::framework] = outside_of(c, s);
  return m;
}

FullestStage fullest_stage(const CompiledMemory& c,
                           const MemoryTable& t,
                           const Strategy& s,
                           double micro_batches) noexcept {
  FullestStage best{stage_memory(c, t, s, micro_batches, 0), 0};
  const auto look = [&](std::int64_t stage) {
    const StageMemory m = stage_memory(c, t, s, micro_batches, stage);
    if (m.device() > best.memory.device()) {
      best = {m, static_cast<std::int32_t>(stage)};
    }
  };
  // Alike layers: what is in flight only falls along the pipeline, so the ends and the first full stage suffice.
  const bool falls = s.schedule == Schedule::one_f_one_b || s.schedule == Schedule::gpipe;
  if (c.kinds.size() == 1 && s.pp > 3 && falls) {
    look(1);
    look(s.pp - 1);
    return best;
  }
  for (std::int64_t stage = 1; stage < s.pp; ++stage) {
    look(stage);
  }
  return best;
}

}  // namespace headroom
