// SPDX-License-Identifier: Apache-2.0
// From layers to a stage: which layers it holds, how many micro-batches are in flight, and the two moments of its peak.
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// How far what lies beyond the number that a software prints was seen to differ between runs.
constexpr double beyond_printed = 1.5;

/// The layers of one stage: their number and how many are of each kind.
struct StageLayers {
  double layers = 0.0;
  /// Of the network's kinds; those behind them are never set, for a search asks millions of stages.
  std::array<double, CompiledMemory::most_kinds> of_kind;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  explicit StageLayers(const CompiledMemory& c) noexcept { std::fill_n(of_kind.begin(), c.kinds.size(), 0.0); }
};

void add_layers(const CompiledMemory& c, std::int64_t from, std::int64_t to, StageLayers& result) noexcept {
  from = std::clamp<std::int64_t>(from, 0, c.layers);
  to = std::clamp<std::int64_t>(to, from, c.layers);
  result.layers += real(to - from);
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const std::size_t row = k * static_cast<std::size_t>(c.layers + 1);
    result.of_kind[k] += c.before[row + static_cast<std::size_t>(to)] - c.before[row + static_cast<std::size_t>(from)];
  }
}

/// Whether `parts` parts are alike: as they are, or with embedding and loss standing for a layer each.
bool divides(const CompiledMemory& c, std::int64_t parts) noexcept {
  return c.layers % parts == 0 || (c.stack.uneven == UnevenSplit::ends_count && (c.layers + 2) % parts == 0);
}

/// Adds one of `parts` consecutive parts of the network; what cannot be even gives early parts one layer more.
void add_part(const CompiledMemory& c, std::int64_t parts, std::int64_t part, StageLayers& result) noexcept {
  if (divides(c, parts)) {
    const std::int64_t shift = c.layers % parts == 0 ? 0 : 1;
    const std::int64_t size = (c.layers + 2 * shift) / parts;
    add_layers(c, part * size - shift, (part + 1) * size - shift, result);
    return;
  }
  const std::int64_t least = c.layers / parts;
  const std::int64_t more = c.layers % parts;
  const std::int64_t from = part * least + std::min(part, more);
  add_layers(c, from, from + least + (part < more ? 1 : 0), result);
}

bool is_folded(const Strategy& s) noexcept {
  return placement_of(s.schedule, s.pp) == StagePlacement::folded;
}
bool is_two_way(const Strategy& s) noexcept {
  return placement_of(s.schedule, s.pp) == StagePlacement::two_way;
}

/// One stage of a split that the strategy states: the others share what the stated ones leave.
void add_stated_stage(const CompiledMemory& c, const Strategy& s, std::int64_t stage, StageLayers& result) noexcept {
  const std::int64_t left = c.layers - s.first_stage_layers - s.last_stage_layers;
  const std::int64_t others = s.pp - (s.first_stage_layers > 0 ? 1 : 0) - (s.last_stage_layers > 0 ? 1 : 0);
  const std::int64_t each = others > 0 ? left / others : 0;
  const std::int64_t first = s.first_stage_layers > 0 ? s.first_stage_layers : each;
  const std::int64_t from = stage == 0 ? 0 : first + (stage - 1) * each;
  const bool rest = stage == s.pp - 1;
  add_layers(c, from, rest ? c.layers : stage == 0 ? first : from + each, result);
}

/// Layers that divide go round the stages chunk by chunk. Others go in one part a stage.
StageLayers layers_of_stage(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  StageLayers result{c};
  const std::int64_t stages = s.pp;
  if (is_folded(s)) {
    const std::int64_t chunks = chunks_of(s.schedule, s.vpp);
    for (std::int64_t i = 0; i < chunks; ++i) {  // down the ranks and up again
      add_part(c, chunks * stages, i % 2 == 0 ? i * stages + stage : (i + 1) * stages - 1 - stage, result);
    }
  } else if (is_two_way(s)) {
    for (const std::int64_t held : {stage, stages - 1 - stage}) {
      if (states_stages(s)) {
        add_stated_stage(c, s, held, result);
      } else {
        add_part(c, stages, held, result);
      }
    }
  } else if (states_stages(s)) {
    add_stated_stage(c, s, stage, result);
  } else if (divides(c, stages * s.vpp)) {
    for (std::int64_t i = 0; i < s.vpp; ++i) {
      add_part(c, stages * s.vpp, i * stages + stage, result);
    }
  } else {
    add_part(c, stages, stage, result);
  }
  return result;
}

/// Who holds the head also holds the prediction modules' layers.
void add_prediction_layers(const CompiledMemory& c, StageLayers& result) noexcept {
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
                                    const StageLayers& own,
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
                      const StageLayers& own,
                      const Strategy& s,
                      const Ends& ends,
                      double micro_batches,
                      StageMemory& m) noexcept {
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
  const double kept = m.in_flight * pass;
  double stays = kept;
  const bool offloaded = c.options.offload_activations || (full && c.options.offload_checkpoints);
  if (offloaded && units > 0.0) {
    stays = std::min(kept, 2.0 * pass / units);  // the one in use and the one on its way
    m.host.activations = Bytes{kept - stays};
    m.host.per_pass = m.host.activations / std::max(1.0, m.in_flight);
  }
  // The mask of the dropout behind the embedding (Korthikanti et al. 2022, section 4.3).
  stays += ends.first && c.dropout ? m.in_flight * share * t.saved_input / c.element_bytes : 0.0;
  stays += stage_buffers(c, t, s, ends, micro_batches, m.in_flight * share);
  m.bytes[MemoryTerm::activations] = Bytes{stays};
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
                         const StageLayers& own,
                         const Blocks& blocks,
                         const Strategy& s,
                         double in_flight) noexcept {
  double everything = 0.0;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    everything += own.of_kind[k] * t.kinds[k].activations;
  }
  return in_flight * ((is_two_way(s) ? 0.5 : 1.0) * everything - blocks.number * t.saved_input);
}

Workspaces workspaces_of_stage(const CompiledMemory& c,
                               const MemoryTable& t,
                               const Strategy& s,
                               const StageLayers& own,
                               const StageMemory& m,
                               bool last) noexcept {
  Workspaces w;
  const bool full = s.recompute == Recompute::full;
  const Blocks blocks = full ? blocks_of_stage(s, (is_two_way(s) ? 0.5 : 1.0) * own.layers) : Blocks{};
  const double most = full ? most_formed_again(c, t, own, blocks, s, m.in_flight) : 0.0;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    if (own.of_kind[k] > 0.0) {
      const double again = t.kinds[k].formed_again;
      w.layer = std::max(w.layer, t.kinds[k].workspace + (full ? std::min(blocks.length * again, most) : again));
    }
  }
  w.loss = last ? t.loss : 0.0;
  w.kept = documented_buffers(c, s, m.parameters);
  if (s.zero >= 3 && (!is_alone(s) || c.options.offload_parameters)) {
    add_gathers(c, t, s, m.parameters, last, w);
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
  const bool away = c.options.offload_optimizer || c.options.offload_parameters;
  const double bytes = c.stack.update.bytes + (s.zero < 3 ? c.stack.update.flat : 0.0);
  const Bytes update{away ? 0.0 : bytes * m.parameters.updated};
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

StageMemory stage_memory(const CompiledMemory& c,
                         const MemoryTable& t,
                         const Strategy& s,
                         double micro_batches,
                         std::int64_t stage) noexcept {
  StageMemory m;
  const Ends ends = ends_of_stage(s, stage);
  StageLayers own = layers_of_stage(c, s, stage);
  if (ends.last) {
    add_prediction_layers(c, own);
  }
  m.layers = own.layers;
  m.parameters = parameters_of_stage(c, t, own, ends);
  m.in_flight = micro_batches_in_flight(s, real(stage), micro_batches);
  fill_states(c, s, m);
  fill_activations(c, t, own, s, ends, micro_batches, m);
  m.bytes[MemoryTerm::dummy_gradients] = Bytes{dummies_of_stage(c, t, own)};
  const Workspaces w = workspaces_of_stage(c, t, s, own, m, ends.last);
  // Gradients that do not exist yet at the only micro-batch's loss leave the layers' backward as the other candidate.
  Bytes given_back{};
  const Bytes gradients = m.bytes[MemoryTerm::gradients];
  fill_peak(c, w, c.stack.gradients_are_late && micro_batches <= 1.0, m, given_back);
  m.wanted_slack = wanted_slack(c, s, m, given_back);
  m.wanted_slack += fill_update(c, s, w, gradients, m);
  // Near the limit the allocator gives back: it never holds more than the device has left.
  const Bytes outside = outside_of(c, s);
  m.bytes[MemoryTerm::framework] = outside;
  page_out(c, m);
  m.bytes[MemoryTerm::fragmentation] = std::max(Bytes{}, std::min(m.wanted_slack, c.capacity - m.live() - outside));
  return m;
}

namespace {

/// Of pipelines whose stages follow one another, the layer that a stage begins with, of its first chunk.
std::int64_t first_layer_of(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  if (states_stages(s)) {
    const std::int64_t others = s.pp - (s.first_stage_layers > 0 ? 1 : 0) - (s.last_stage_layers > 0 ? 1 : 0);
    const std::int64_t each = others > 0 ? (c.layers - s.first_stage_layers - s.last_stage_layers) / others : 0;
    const std::int64_t first = s.first_stage_layers > 0 ? s.first_stage_layers : each;
    return first + (stage - 1) * each;
  }
  const std::int64_t whole = std::int64_t{s.pp} * s.vpp;
  const std::int64_t parts = divides(c, whole) ? whole : s.pp;
  if (divides(c, parts)) {
    const std::int64_t shift = c.layers % parts == 0 ? 0 : 1;
    return stage * ((c.layers + 2 * shift) / parts) - shift;
  }
  return stage * (c.layers / parts) + std::min(stage, c.layers % parts);
}

/// Of such a pipeline, the next stage between the ends that may hold other layers than `stage`, or the last one.
std::int64_t next_unlike(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  if (first_layer_of(c, s, stage) < c.uniform_from) {
    return stage + 1;
  }
  const std::int64_t last = s.pp - 1;
  const bool even = states_stages(s) || divides(c, std::int64_t{s.pp} * s.vpp) || divides(c, s.pp);
  const std::int64_t fewer = even ? last : c.layers % s.pp;  // from this one on stages have a layer less
  return std::max(stage + 1, fewer > stage ? std::min(fewer, last) : last);
}

/// What is held of a stage's memory where nothing limits it is at most that of the fullest one, whose interval widens
/// it by the software's width at least, but for frozen weights.
Bytes least_upper_end(const StageMemory& m, const MemoryStack& software) noexcept {
  constexpr double rounding = 1.0 - 1e-12;
  return rounding * (m.frozen > Bytes{} ? 1.0 : std::min(1.0 + software.interval, beyond_printed)) * m.wanted();
}

}  // namespace

FullestStage fullest_stage(
    const CompiledMemory& c, const MemoryTable& t, const Strategy& s, double micro_batches, Bytes room) noexcept {
  FullestStage best;
  const auto look = [&](std::int64_t stage) {
    const StageMemory m = stage_memory(c, t, s, micro_batches, stage);
    // Stages that the device's limit makes alike differ in what they would hold without it.
    if (stage == 0 || m.wanted() > best.memory.wanted()) {
      best.memory = m;
      best.stage = static_cast<std::int32_t>(stage);
    }
    if (stage == 0 || m.host.total() > best.host.total()) {
      best.host = m.host;
    }
  };
  const auto is_beyond = [&] {
    const Bytes least = room < any_room ? least_upper_end(best.memory, c.stack) : Bytes{};
    best.at_least = least > room ? least : Bytes{};
    return least > room;
  };
  look(0);
  if (is_beyond()) {
    return best;
  }
  // The number in flight never rises along a pipeline of one stage after another: of stages between the ends with the
  // same layers the first holds the largest.
  const bool falling = placement_of(s.schedule, s.pp) == StagePlacement::looped;
  StageLayers looked{c};
  for (std::int64_t stage = 1; stage < s.pp; stage = falling ? next_unlike(c, s, stage) : stage + 1) {
    if (falling && stage + 1 < s.pp) {
      const StageLayers own = layers_of_stage(c, s, stage);
      if (stage > 1 && std::equal(own.of_kind.begin(), own.of_kind.begin() + c.kinds.size(), looked.of_kind.begin())) {
        continue;
      }
      looked = own;
    }
    look(stage);
    if (is_beyond()) {
      break;
    }
  }
  return best;
}

Interval<Bytes> device_interval(const StageMemory& memory, const MemoryStack& software) noexcept {
  const Bytes live = memory.live();
  const Bytes outside = memory.bytes[MemoryTerm::framework];
  const auto printed = [&](Bytes slack) {
    return software.measured == MemoryKind::live       ? live
           : software.measured == MemoryKind::reserved ? live + slack
                                                       : live + slack + outside;
  };
  const Bytes held = printed(memory.bytes[MemoryTerm::fragmentation]);
  const Bytes wanted = printed(memory.wanted_slack);
  const double width = 1.0 + software.interval;
  return {held / width + (memory.device() - held) / beyond_printed, memory.device(),
          memory.frozen + width * (wanted - memory.frozen) + beyond_printed * (memory.wanted() - wanted)};
}

}  // namespace headroom
