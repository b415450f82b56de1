// SPDX-License-Identifier: Apache-2.0
// From layers to a stage: which layers it holds, how many micro-batches are in flight, and the two moments of its peak.
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/held_layers.hpp>
#include <headroom/model/train/memory/held_stages.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Who holds the head also holds the prediction modules' layers.
void add_prediction_layers(const CompiledMemory& c, HeldLayers& result) noexcept {
  result.layers += c.mtp;
  result.of_kind[c.mtp_kind] += c.mtp;
}

/// Which ends of the network a stage holds.
struct Ends {
  bool first = false, last = false;
};

Ends ends_of_stage(const Strategy& s, std::int64_t stage) noexcept {
  const bool front = stage == 0;
  const bool back = stage == s.pp - 1;
  if (is_folded(s)) {
    return {front, front};
  }
  return is_two_way(s) ? Ends{front || back, front || back} : Ends{front, back};
}

StageParameters parameters_of_stage(const CompiledMemory& c,
                                    const MemoryTable& t,
                                    const HeldLayers& own,
                                    const Ends& ends) noexcept {
  StageParameters p;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    // Modules that share their weights run more often than they are held.
    const double shared = ends.last && k == c.mtp_kind ? c.mtp - c.mtp_held : 0.0;
    const double held = own.of_kind[k] - shared;
    p.dense += held * t.kinds[k].dense;
    p.experts += held * t.kinds[k].experts;
    p.norms += held * t.kinds[k].norms;
    p.dense_adapters += own.of_kind[k] * t.kinds[k].dense_adapters;
    p.expert_adapters += own.of_kind[k] * t.kinds[k].expert_adapters;
    if (own.of_kind[k] > 0.0) {
      p.largest_layer = std::max(p.largest_layer, t.kinds[k].dense + t.kinds[k].experts);
    }
  }
  // Tied tables stand on both ends of a pipeline, and once where one rank holds both. Prediction modules read the table
  // beside the head too.
  p.embedding = ends.first || (ends.last && c.mtp > 0.0 && !c.tied) ? t.embedding : 0.0;
  p.head = ends.last && (!c.tied || !ends.first) ? t.head : 0.0;
  p.ends = p.embedding + p.head;
  p.norms += ends.last ? t.final_norm + c.mtp_held * c.mtp_norms : 0.0;
  p.dense += p.ends + (ends.last ? t.final_norm + c.mtp_held * (t.mtp_projection + c.mtp_norms) : 0.0);
  return p;
}

void add_states(const StateMemory& states, StageMemory& m) noexcept {
  m.bytes[MemoryTerm::weights] += states.weights;
  m.bytes[MemoryTerm::gradients] += states.gradients;
  m.bytes[MemoryTerm::optimizer] += states.optimizer;
}

/// Moments of what the optimizer treats apart.
Bytes moments_beside(const CompiledMemory& c, const StageParameters& p) noexcept {
  const MomentsApart& more = c.states.apart;
  return Bytes{more.embedding * p.embedding + (c.tied ? more.embedding : more.head) * p.head + more.norms * p.norms};
}

void fill_states(const CompiledMemory& c, const Strategy& s, StageMemory& m) noexcept {
  StageParameters& p = m.parameters;
  const double all = real(s.dp) * s.cp;
  const double ranks = s.shard_ranks > 0 ? std::min(all, static_cast<double>(s.shard_ranks)) : all;
  const double expert_ranks = std::max(1.0, ranks * s.tp / (static_cast<double>(s.ep) * s.etp));
  StateBytes bytes = c.states;
  bytes.gradients += all > 1.0 ? bytes.buckets : 0.0;
  add_states(state_memory(p.dense, bytes, s.zero, ranks), m);
  add_states(state_memory(p.experts, bytes, s.zero, expert_ranks), m);
  m.bytes[MemoryTerm::optimizer] += moments_beside(c, p) / (s.zero >= 1 ? ranks : 1.0);
  if (c.frozen_embedding_bytes > 0.0) {
    const double shards = s.zero >= 3 ? ranks : 1.0;
    m.bytes[MemoryTerm::weights] += Bytes{
        (p.ends * (c.frozen_embedding_bytes - c.states.weights) + p.norms * (frozen_norm_bytes - c.states.weights)) /
        shards};
  }
  const bool adapted = c.options.method != Method::full;
  if (adapted) {
    m.frozen = m.bytes[MemoryTerm::weights];
    add_states(state_memory(p.dense_adapters, c.adapter_states, s.zero, ranks), m);
    add_states(state_memory(p.expert_adapters, c.adapter_states, s.zero, expert_ranks), m);
  }
  const double dense = adapted ? p.dense_adapters : p.dense;
  const double experts = adapted ? p.expert_adapters : p.experts;
  p.updated = s.zero >= 1 ? dense / ranks + experts / expert_ranks : dense + experts;
  const Bytes average{average_bytes * p.updated};
  m.host.average = c.options.average == WeightAverage::host ? average : Bytes{};
  m.bytes[MemoryTerm::optimizer] += c.options.average == WeightAverage::gpu ? average : Bytes{};
  if (c.options.offload_optimizer || c.options.offload_parameters) {
    m.host.states = m.bytes[MemoryTerm::optimizer];
    m.host.updated = p.updated;
    m.bytes[MemoryTerm::optimizer] = Bytes{};
  }
  if (c.options.offload_parameters) {
    m.host.weights = m.bytes[MemoryTerm::weights];
    m.host.states += m.host.weights + m.bytes[MemoryTerm::gradients];
    m.bytes[MemoryTerm::weights] = m.bytes[MemoryTerm::gradients] = m.frozen = Bytes{};
  }
}

/// Layers between two kept inputs under full recomputation: no block is longer than the layers that run in a row.
struct Blocks {
  double length = 1.0;
  double number = 0.0;  ///< of the layers that one micro-batch crosses on this rank
};

/// Of a number of layers or blocks: without SSE 4.1 std::ceil is a function call.
double rounded_up(double count) noexcept {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(count));
  return whole < count ? whole + 1.0 : whole;
}

Blocks blocks_of_stage(const Strategy& s, double layers) noexcept {
  const double chunks = is_folded(s) ? chunks_of(s.schedule, s.vpp) : s.vpp;
  const double in_a_row = std::max(1.0, rounded_up(layers / chunks));
  const double length = std::min(static_cast<double>(s.recompute_block), in_a_row);
  return {length, std::min(layers, chunks * rounded_up(in_a_row / length))};
}

/// What a stage keeps of what it sends and receives.
double stage_buffers(const CompiledMemory& c,
                     const MemoryTable& t,
                     const Strategy& s,
                     const Ends& ends,
                     double micro_batches,
                     double in_flight) noexcept {
  if (s.pp == 1 || c.stack.stage_buffers == StageBuffers::none) {
    return 0.0;
  }
  const double chunks = chunks_of(s.schedule, s.vpp);
  const double sends = chunks - (ends.last ? 1.0 : 0.0);
  const double receives = chunks - (ends.first ? 1.0 : 0.0);
  if (c.stack.stage_buffers == StageBuffers::micro_batches) {
    return (sends * (in_flight + micro_batches) + receives * micro_batches) * t.saved_input;
  }
  const double whole = t.saved_input * (s.sequence_parallel ? s.tp : 1.0);
  return sends > 0.0 ? (sends * in_flight / s.tp + 2.0) * whole : 0.0;
}

void fill_activations(const CompiledMemory& c,
                      const MemoryTable& t,
                      const HeldLayers& own,
                      const Strategy& s,
                      const Ends& ends,
                      double micro_batches,
                      StageHolding& h) noexcept {
  const bool full = s.recompute == Recompute::full;
  // Of two ways a micro-batch crosses one of the two stages that a rank holds.
  const double share = is_two_way(s) ? 0.5 : 1.0;
  double units = share * own.layers;  // what is kept piece by piece: layers or inputs of blocks
  double pass = ends.last ? share * c.mtp * t.mtp_saved : 0.0;
  if (full) {
    units = blocks_of_stage(s, units).number;
    pass += units * t.saved_input;
  } else {
    for (std::size_t k = 0; k < c.kinds.size(); ++k) {
      pass += share * own.of_kind[k] * t.kinds[k].activations;
    }
  }
  const double kept = h.in_flight * pass;
  double stays = kept;
  const bool offloaded = c.options.offload_activations || (full && c.options.offload_checkpoints);
  if (offloaded && units > 0.0) {
    stays = std::min(kept, 2.0 * pass / units);  // the one in use and the one on its way
    h.host.activations = Bytes{kept - stays};
    h.host.per_pass = h.host.activations / std::max(1.0, h.in_flight);
  }
  // The mask of the dropout behind the embedding (Korthikanti et al. 2022, section 4.3).
  stays += ends.first && c.dropout ? h.in_flight * share * t.saved_input / c.element_bytes : 0.0;
  stays += stage_buffers(c, t, s, ends, micro_batches_a_flush(s, micro_batches), h.in_flight * share);
  h.activations = Bytes{stays};
}

double dummies_of_stage(const CompiledMemory& c, const MemoryTable& t, const HeldLayers& own) noexcept {
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

/// Weights that are gathered at once, never more than the stage has, and reduce buckets, which hold gradients of the
/// compute format: whole ones, but for flat copies at ZeRO 1, of what the stage trains.
double documented_buffers(const CompiledMemory& c, const Strategy& s, const StageParameters& p) noexcept {
  const StackBuffers& b = c.stack.buffers;
  if (s.zero == 1) {
    const bool adapted = c.options.method != Method::full;
    const double trained = adapted ? p.dense_adapters + p.expert_adapters : p.dense + p.experts;
    return c.element_bytes * std::min(b.zero1_buckets * b.reduce_bucket, trained);
  }
  const double gathered = s.zero >= 3 ? std::min(b.live_parameters, p.dense + p.experts) : 0.0;
  const double buckets = s.zero >= 3 ? b.zero3_buckets : s.zero == 2 ? b.zero2_buckets : 0.0;
  return c.gather_bytes * gathered + c.element_bytes * buckets * b.reduce_bucket;
}

/// Workspace of the two moments, and what is gathered and reduced then or all the time.
struct Workspaces {
  double layer = 0.0, loss = 0.0;
  double layer_gathers = 0.0, loss_gathers = 0.0, kept = 0.0;
};

void add_gathers(const CompiledMemory& c,
                 const MemoryTable& t,
                 const Strategy& s,
                 const StageParameters& p,
                 bool last,
                 Workspaces& w) noexcept {
  const double wide = c.element_bytes;  // the ends are gathered in the compute format whatever the recipe
  // Gradients are reduced as the software does, never narrower than they are.
  const double reduction = std::max(c.stack.reduce_bytes, c.element_bytes);
  const double trained = c.options.method == Method::full ? reduction : 0.0;
  if (s.pp > 1 && c.stack.pipeline_keeps_gradients) {
    // Nothing is reduced before the last micro-batch: the whole stage's compute copy and gradients stay.
    w.kept += (c.gather_bytes + trained) * (p.dense + p.experts) + (wide - c.gather_bytes) * p.ends;
  } else if (c.stack.gathers) {
    // One unit computed, one prefetched (Zhao et al. 2023, section 3.3), one reduced.
    w.layer_gathers = (2.0 * c.gather_bytes + trained) * p.largest_layer;
    const double head = c.stack.keeps_ends_gathered ? trained : wide + trained;
    w.kept += c.stack.keeps_ends_gathered ? wide * p.ends : 0.0;
    w.loss_gathers = last ? head * t.head + c.gather_bytes * p.largest_layer : 0.0;
  }
}

/// A lone GPU shares nothing with anyone.
bool is_alone(const Strategy& s) noexcept {
  return real(s.dp) * s.tp * s.pp * s.cp <= 1.0;
}

/// What full recomputation forms again at most: with the inputs kept it is never more than keeping all would be.
double most_formed_again(const CompiledMemory& c,
                         const MemoryTable& t,
                         const HeldLayers& own,
                         const Blocks& blocks,
                         const Strategy& s,
                         double in_flight) noexcept {
  double everything = 0.0;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    everything += own.of_kind[k] * t.kinds[k].activations;
  }
  return in_flight * ((is_two_way(s) ? 0.5 : 1.0) * everything - blocks.number * t.saved_input);
}

/// What the backward pass of a layer takes at most, with what it forms again.
double layer_workspace(const CompiledMemory& c,
                       const MemoryTable& t,
                       const Strategy& s,
                       const HeldLayers& own,
                       double in_flight) noexcept {
  const bool full = s.recompute == Recompute::full;
  const Blocks blocks = full ? blocks_of_stage(s, (is_two_way(s) ? 0.5 : 1.0) * own.layers) : Blocks{};
  const double most = full ? most_formed_again(c, t, own, blocks, s, in_flight) : 0.0;
  double workspace = 0.0;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    if (own.of_kind[k] > 0.0) {
      const double again = t.kinds[k].formed_again;
      workspace = std::max(workspace, t.kinds[k].workspace + (full ? std::min(blocks.length * again, most) : again));
    }
  }
  return workspace;
}

Workspaces workspaces_of_stage(const CompiledMemory& c,
                               const MemoryTable& t,
                               const Strategy& s,
                               const StageParameters& p,
                               const StageHolding& h) noexcept {
  Workspaces w;
  w.layer = h.workspace;
  w.loss = h.loss;
  w.kept = documented_buffers(c, s, p);
  if (s.zero >= 3 && (!is_alone(s) || c.options.offload_parameters)) {
    add_gathers(c, t, s, p, h.last, w);
  }
  return w;
}

/// Communicators that a rank opens: of each group of axes with more ranks than itself.
double communicators_of(const CompiledMemory& c, const Strategy& s) noexcept {
  if (is_alone(s) || c.stack.groups.empty()) {
    return is_alone(s) ? 0.0 : 1.0;
  }
  double opened = 0.0;
  for (const CommunicatorGroup& g : c.stack.groups) {
    const bool shared = (g.tp && s.tp > 1) || (g.cp && s.cp > 1) || (g.dp && s.dp > 1) || (g.pp && s.pp > 1);
    opened += shared ? 1.0 : 0.0;
  }
  return opened;
}

/// Context, communicators and what else lies outside the allocator; `outside` counts one communicator.
Bytes outside_of(const CompiledMemory& c, const Strategy& s) noexcept {
  return c.stack.outside + (communicators_of(c, s) - 1.0) * c.stack.communicators;
}

/// What the allocator holds beyond what is live where nothing limits it.
Bytes wanted_slack(const CompiledMemory& c, const Strategy& s, const StageMemory& m, Bytes late_gradients) noexcept {
  const Bytes states = m.bytes[MemoryTerm::weights] + m.bytes[MemoryTerm::gradients] + m.bytes[MemoryTerm::optimizer];
  Bytes slack = late_gradients;  // their blocks stay with the pool
  if (c.stack.reserve_ratio > 0.0) {
    const double ratio = s.tp > 1 ? c.stack.reserve_ratio_tp : c.stack.reserve_ratio;
    slack += (ratio - 1.0) * (m.live() - states);
  } else {
    const Bytes workspace = m.bytes[MemoryTerm::workspace] + m.bytes[MemoryTerm::logits] +
                            m.bytes[MemoryTerm::gather_buffers] - c.stack.fixed;
    slack += c.stack.reserve_activations * m.bytes[MemoryTerm::activations] + c.stack.reserve_workspace * workspace;
  }
  return std::max(Bytes{}, slack);
}

/// The peak is the loss or the backward pass of a layer; fills what only one of them holds.
void fill_peak(const CompiledMemory& c, const Workspaces& w, bool late, StageMemory& m, Bytes& given_back) noexcept {
  const Bytes gradients = late ? m.bytes[MemoryTerm::gradients] : Bytes{};
  const double loss = w.loss + w.loss_gathers;
  const double layer = w.layer + w.layer_gathers;
  m.bytes[MemoryTerm::workspace] = c.stack.fixed;
  if (loss > 0.0 && Bytes{loss} - gradients >= Bytes{layer}) {
    m.moment = PeakMoment::loss;
    m.bytes[MemoryTerm::logits] = Bytes{w.loss};
    m.bytes[MemoryTerm::gather_buffers] = Bytes{w.kept + w.loss_gathers};
    m.bytes[MemoryTerm::gradients] -= gradients;
    given_back = gradients;
  } else {
    m.bytes[MemoryTerm::workspace] += Bytes{w.layer};
    m.bytes[MemoryTerm::gather_buffers] = Bytes{w.kept + w.layer_gathers};
    given_back = late ? Bytes{std::max(0.0, loss - layer)} : Bytes{};
  }
}

/// The update may be the peak instead: nothing of a pass stands then. Its blocks are of other sizes than those of the
/// passes, so that the allocator holds both: what is returned is held beside the peak.
Bytes fill_update(
    const CompiledMemory& c, const Strategy& s, const Workspaces& w, Bytes gradients, StageMemory& m) noexcept {
  const Bytes update{update_bytes_of(c, s) * m.parameters.updated};
  const Bytes passes = m.bytes[MemoryTerm::activations] + m.bytes[MemoryTerm::workspace] - c.stack.fixed +
                       m.bytes[MemoryTerm::logits] + m.bytes[MemoryTerm::gather_buffers] - Bytes{w.kept};
  if (update + gradients <= passes + m.bytes[MemoryTerm::gradients]) {
    return update;
  }
  m.moment = PeakMoment::update;
  m.bytes[MemoryTerm::gradients] = gradients;
  m.bytes[MemoryTerm::activations] = m.bytes[MemoryTerm::logits] = Bytes{};
  m.bytes[MemoryTerm::gather_buffers] = Bytes{w.kept};
  m.bytes[MemoryTerm::workspace] = c.stack.fixed + update;
  return passes;
}

/// Moments of a paged optimizer lie on the device as far as there is surely room, and else on the host.
void page_out(const CompiledMemory& c, StageMemory& m) noexcept {
  const Bytes moments = c.paged_share * m.bytes[MemoryTerm::optimizer];
  if (moments > Bytes{}) {
    const Bytes beyond = device_interval(m, c.stack).high - c.capacity;
    constexpr Bytes page{4096.0};
    const Bytes needed = beyond > Bytes{} ? beyond / (1.0 + c.stack.interval) + page : Bytes{};
    m.host.paged = std::min(needed, moments);
    m.host.states += m.host.paged;
    m.bytes[MemoryTerm::optimizer] -= m.host.paged;
  }
}

}  // namespace

StageHolding stage_holding(const CompiledMemory& c,
                           const MemoryTable& t,
                           const Strategy& s,
                           double micro_batches,
                           std::int64_t stage) noexcept {
  StageHolding h;
  const Ends ends = ends_of_stage(s, stage);
  HeldLayers own = layers_of_stage(c, s, stage);
  if (ends.last) {
    add_prediction_layers(c, own);
  }
  h.last = ends.last;
  h.layers = own.layers;
  h.parameters = parameters_of_stage(c, t, own, ends);
  h.in_flight = micro_batches_in_flight(s, real(stage), micro_batches);
  fill_activations(c, t, own, s, ends, micro_batches, h);
  h.dummies = Bytes{dummies_of_stage(c, t, own)};
  h.workspace = layer_workspace(c, t, s, own, h.in_flight);
  h.loss = ends.last ? t.loss : 0.0;
  h.outside = outside_of(c, s);
  return h;
}

StageMemory stage_memory(const CompiledMemory& c,
                         const MemoryTable& t,
                         const Strategy& s,
                         double micro_batches,
                         const StageHolding& h) noexcept {
  StageMemory m;
  m.layers = h.layers;
  m.parameters = h.parameters;
  m.in_flight = h.in_flight;
  m.host = h.host;
  fill_states(c, s, m);
  m.bytes[MemoryTerm::activations] = h.activations;
  m.bytes[MemoryTerm::dummy_gradients] = h.dummies;
  const Workspaces w = workspaces_of_stage(c, t, s, m.parameters, h);
  // Gradients that do not exist yet at the only micro-batch's loss leave the layers' backward as the other candidate.
  Bytes given_back{};
  const Bytes gradients = m.bytes[MemoryTerm::gradients];
  fill_peak(c, w, c.stack.gradients_are_late && micro_batches <= 1.0, m, given_back);
  m.wanted_slack = wanted_slack(c, s, m, given_back);
  m.wanted_slack += fill_update(c, s, w, gradients, m);
  // Near the limit the allocator gives back: it never holds more than the device has left.
  m.bytes[MemoryTerm::framework] = h.outside;
  page_out(c, m);
  m.bytes[MemoryTerm::fragmentation] = std::max(Bytes{}, std::min(m.wanted_slack, c.capacity - m.live() - h.outside));
  return m;
}

StageMemory stage_memory(const CompiledMemory& c,
                         const MemoryTable& t,
                         const Strategy& s,
                         double micro_batches,
                         std::int64_t stage) noexcept {
  return stage_memory(c, t, s, micro_batches, stage_holding(c, t, s, micro_batches, stage));
}

}  // namespace headroom
