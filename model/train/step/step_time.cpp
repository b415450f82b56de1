// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/layers/layer_kernels.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
namespace {

/// What a group's traffic takes in this recipe.
Seconds reached(const GroupCollectives* group, Collective collective, double bytes, const StepRecipe& r) noexcept {
  return reached(group, collective, bytes, r.physics, r.stack);
}

/// Bytes that are sent of a parameter's gradient.
double sent_gradient(const StepRecipe& r) noexcept {
  return r.options.sent_gradients ? compressed_bytes(Bytes{4.0}, *r.options.sent_gradients).raw()
                                  : r.stack.gradient_bytes;
}

/// Lists of the largest gradients are gathered by all ranks, whatever each then keeps of them.
bool gathers_gradients(const StepRecipe& r) noexcept {
  return r.options.sent_gradients && r.options.sent_gradients->form == GradientForm::topk;
}

/// Calls visit(group, collective, bytes) for the reduction of so many gradients.
template <class Visit>
void reduce_gradients(const StepRecipe& r,
                      const GroupCollectives* group,
                      Collective collective,
                      double parameters,
                      const Visit& visit) noexcept {
  const double bytes = sent_gradient(r) * parameters;
  if (gathers_gradients(r) && group != nullptr) {
    visit(group, Collective::all_gather, real(group->view().ranks) * bytes);
  } else {
    visit(group, collective, bytes);
  }
}

}  // namespace

StageLayers split_stages(double layers, double stages) noexcept {
  const double whole = std::floor(layers / stages);
  if (whole * stages == layers) {
    return {whole, whole, whole};
  }
  const double counted = std::floor((layers + 2.0) / stages);
  if (counted * stages == layers + 2.0) {
    return {counted, counted - 1.0, counted - 1.0};
  }
  const double most = std::ceil(layers / stages);
  return {most, whole, most};
}

StageLayers split_stages(double layers, const Strategy& s, double beside_head) noexcept {
  const double own = layers - beside_head;
  if (!states_stages(s)) {
    StageLayers even = split_stages(own, s.pp);
    even.last += beside_head;
    return even;
  }
  const double others = s.pp - (s.first_stage_layers > 0 ? 1.0 : 0.0) - (s.last_stage_layers > 0 ? 1.0 : 0.0);
  const double each = others > 0.0 ? (own - s.first_stage_layers - s.last_stage_layers) / others : 0.0;
  StageLayers split;
  split.first = s.first_stage_layers > 0 ? s.first_stage_layers : each;
  split.last = (s.last_stage_layers > 0 ? s.last_stage_layers : each) + beside_head;
  split.middle = s.pp > 2 ? each : 0.0;
  return split;
}

StepModel::StepModel(StepRecipe recipe, std::shared_ptr<const JobGroups> groups, std::int64_t lora_rank)
    : pricer_{groups->data(), std::move(recipe)}, groups_{std::move(groups)} {
  const StepRecipe& r = pricer_.recipe();
  const Architecture& arch = r.architecture;
  for (const CountedBlock& counted : distinct_blocks(arch)) {
    Kind kind{counted.block, real(counted.layers), real(counted.layers), block_parameters(arch, counted.block), {}};
    if (r.options.method != Method::full) {
      kind.adapters = lora_parameters(arch, counted.block, real(lora_rank), r.targets);
    }
    kinds_.push_back(kind);
  }
  if (arch.mtp_layers > 0) {
    const Block block = arch.prediction_block();
    auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) { return k.block == block; });
    if (kind == kinds_.end()) {
      kind = kinds_.insert(kind, Kind{block, 0.0, 0.0, block_parameters(arch, block), {}});
    }
    kind->layers += real(arch.mtp_layers);
    kind->held += real(arch.mtp_weights());
  }
  layers_ = real(arch.layers + arch.mtp_layers);
  heads_ = 1.0 + real(arch.mtp_layers);
  const ParameterCount ends = count_parameters(arch);
  embedding_ = ends.embedding;
  head_ = ends.head;
  board_wait_ = board_wait(r.device, r.physics, real(groups_->ranks()));
  fitted_stragglers_ = r.physics.straggler * std::log2(std::max(1.0, real(groups_->ranks()) / straggler_free));
}

/// ZeRO 3 gathers a layer's weights before each pass and scatters its gradients; ZeRO 2 scatters alone (Rajbhandari et
/// al. 2020, section 7). Calls visit(group, collective, bytes of the buffer) for each of one layer.
template <class Visit>
void StepModel::for_each_sharded(const StepTable& table, const Strategy& s, const Visit& visit) const noexcept {
  if (s.zero < 2 || !on(Term::dp_comm)) {
    return;
  }
  const StepRecipe& r = pricer_.recipe();
  const RankParameters& p = table.of_layer;
  if (s.zero >= 3) {
    visit(table.shard, Collective::all_gather, r.gathered_bytes * p.dense);
    visit(table.experts, Collective::all_gather, r.gathered_bytes * p.experts);
  }
  reduce_gradients(r, table.shard, Collective::reduce_scatter, p.trained_dense, visit);
  reduce_gradients(r, table.experts, Collective::reduce_scatter, p.trained_experts, visit);
}

StepTraffic StepModel::traffic(const StepTable& table, const Strategy& s) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  StepTraffic traffic;
  for_each_sharded(table, s, [&](const GroupCollectives* group, Collective collective, double bytes) {
    (collective == Collective::all_gather ? traffic.gather : traffic.scatter) += reached(group, collective, bytes, r);
  });
  if (on(Term::dp_comm)) {
    add_reduction(table, s, traffic);
  }
  if (s.pp > 1 && on(Term::pp_comm)) {
    traffic.send = reached(table.stages, Collective::send_recv, table.boundary, r);
  }
  return traffic;
}

/// Micro-batches whose exchanges hide beside another's compute: where the schedule overlaps passes all but the ramps,
/// which its form holds; else all but one.
double StepModel::paired(const Strategy& s, double micro_batches) noexcept {
  const double flushes = micro_batches / micro_batches_a_flush(s, micro_batches);
  return model_of(s.schedule).overlaps_passes ? micro_batches : std::max(0.0, micro_batches - flushes);
}

/// Fills the terms of the slowest stage, of the pipeline around it, and of what ZeRO 2 and 3 add to each layer.
void StepModel::add_pipeline(const StepTable& table,
                             const Strategy& s,
                             const StepTraffic& traffic,
                             StepTime& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  const LayerTimes& l = table.layer;
  const Seconds accumulation = t.micro_batches > 1.0 ? l.accumulation : Seconds{};
  const Seconds forward = l.forward.total() + l.host_forward + l.sync;
  const Seconds backward = l.backward.total() + l.recompute + l.host_backward + accumulation;
  const double sig = r.physics.overlap_slowdown;
  const Seconds sharded_forward = overlapped(forward, t.gather, r.stack.dp_overlap, sig);
  const Seconds sharded_backward = overlapped(backward, t.gather + t.scatter, r.stack.dp_overlap, sig);
  const bool shards = t.gather.raw() + t.scatter.raw() > 0.0;
  t.layer = shards ? sharded_forward + sharded_backward : forward + backward;

  StageLayers split = stages(s);
  const Seconds whole_head = table.head.total();
  double share = 1.0;
  if (placement_of(s.schedule, s.pp) == StagePlacement::two_way) {
    // Half of the micro-batches come from either end, and so does the head.
    split.first = split.last = 0.5 * (split.first + split.last);
    share = 0.5;
  }
  const Seconds head = share * whole_head;
  const double early = std::max(split.first, split.middle);
  t.head_binds = s.pp == 1 || split.last * t.layer + head > early * t.layer;
  t.layers = t.head_binds ? split.last : early;
  const double stages = s.pp;
  const Seconds fixed = stage_overhead(s);
  const Seconds bound_head = t.head_binds ? head : Seconds{};
  t.slowest = t.layers * t.layer + bound_head + fixed;
  t.stages = layers_ * t.layer + whole_head + stages * fixed;
  t.stages = std::max(t.stages, t.slowest);
  // Micro-batches run in pairs but for the ramps and one: `stages` stay those of lone passes.
  const bool pairs = model_of(s.schedule).overlaps_passes;
  t.hidden_exchanges = t.layers * (pairs ? l.ep_paired : l.ep_hidden);
  t.pair_wait = t.layers * (pairs ? l.wait_paired : l.wait_hidden);

  const double m = t.micro_batches;
  const double n = m * t.layers;
  t.time[Term::gemm] = n * (l.forward.gemm + l.backward.gemm);
  t.time[Term::attention] = n * (l.forward.attention + l.backward.attention);
  t.time[Term::scan] = n * (l.forward.scan + l.backward.scan);
  t.time[Term::elementwise] = n * (l.forward.elementwise + l.backward.elementwise + accumulation);
  t.time[Term::tp_comm] = n * (l.forward.tp + l.backward.tp);
  t.time[Term::cp_comm] = n * (l.forward.cp + l.backward.cp);
  t.time[Term::ep_comm] = n * (l.forward.ep + l.backward.ep) - paired(s, m) * t.hidden_exchanges;
  t.time[Term::recompute] = n * l.recompute;
  const Seconds head_host = t.head_binds ? share * table.head.host : Seconds{};
  // The host loses its lead once a pair, which `pair_wait` holds.
  const Seconds synced = s.overlap_experts ? t.layers * l.sync : Seconds{};
  t.time[Term::host] =
      n * (l.host_forward + l.host_backward) + m * (fixed + head_host) + paired(s, m) * (t.pair_wait + synced);
  t.time[Term::host_sync] = n * l.sync - paired(s, m) * synced;
  t.time[Term::head] = m * (bound_head - head_host);
  if (shards) {
    t.time[Term::dp_comm] = n * (t.layer - forward - backward) + t.gather + t.scatter;
  }
  if (s.pp == 1) {
    return;
  }
  if (on(Term::bubble)) {
    t.time[Term::bubble] = bubble(table, s, t);
  }
  if (on(Term::pp_comm)) {
    t.send = traffic.send;
    const double flushes = m / micro_batches_a_flush(s, m);
    t.time[Term::pp_comm] = 2.0 * (flushes * (stages - 1.0) + m * s.vpp * r.stack.p2p_exposed) * t.send;
  }
}

/// A schedule waits for the stages as they are, head and uneven splits included, or is that of equal stages as slow as
/// the slowest, as often as it flushes; sends are priced apart.
Seconds StepModel::bubble(const StepTable& table, const Strategy& s, const StepTime& t) noexcept {
  const double between = micro_batches_a_flush(s, t.micro_batches);
  const double flushes = t.micro_batches / between;
  const Seconds in_order = flushes * (t.stages - t.slowest) / s.vpp;
  const ScheduleModel& model = model_of(s.schedule);
  const Seconds pair = model.overlaps_passes ? t.slowest - t.hidden_exchanges + t.pair_wait : t.slowest;
  if (table.passes.raw() > 0.0) {
    return std::max(Seconds{}, flushes * table.passes - t.micro_batches * pair);
  }
  if (model.waits_for_stages) {
    return in_order;
  }
  const PipelineShape shape{s.schedule, s.pp, chunks_of(s.schedule, s.vpp), static_cast<std::int32_t>(between), false};
  if (broken_rule(shape) != ScheduleRule::none) {
    return in_order;
  }
  const LayerTimes& l = table.layer;
  const double share = 1.0 / shape.chunks;
  StageCosts stage;
  stage.forward = share * t.layers * (l.forward.total() + l.host_forward + l.sync);
  stage.backward_weight = share * t.layers * l.weight_gradients;
  stage.backward_input = std::max(Seconds{}, share * t.slowest - stage.forward - stage.backward_weight);
  stage.forward_with_backward = share * pair;
  return std::max(Seconds{}, flushes * pipeline_time(shape, stage) - t.micro_batches * pair);
}

/// Once a step: calls visit(group, collective, bytes of the buffer, times) for each.
template <class Visit>
void StepModel::for_each_reduced(const StepTable& table, const Strategy& s, const Visit& visit) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  if (!on(Term::dp_comm)) {
    return;
  }
  const double ends = r.options.method == Method::full ? (s.pp == 1 ? table.embedding + table.head_parameters
                                                                    : std::max(table.embedding, table.head_parameters))
                                                       : 0.0;
  const bool narrow = r.options.narrow_gather && narrow_recipe(r.precision);
  const double weight = narrow ? 1.0 : std::min(2.0, row_of(r.precision).compute_bytes);
  const double per_stage = layers_ / s.pp;
  const double dense = per_stage * table.of_layer.trained_dense + ends;
  const double experts = per_stage * table.of_layer.trained_experts;
  const auto once = [&](const GroupCollectives* group, Collective collective, double bytes) {
    visit(group, collective, bytes, 1.0);
  };
  const auto all_reduce = [&](const GroupCollectives* group, double parameters) {
    reduce_gradients(r, group, Collective::all_reduce, parameters, once);
  };
  const auto sharded = [&](const GroupCollectives* group, double parameters) {
    reduce_gradients(r, group, Collective::reduce_scatter, parameters, once);
    visit(group, Collective::all_gather, weight * parameters, 1.0);
  };
  if (s.zero == 0) {
    all_reduce(table.data, dense);
    all_reduce(table.experts, experts);
    return;
  }
  if (s.zero == 1) {
    sharded(table.experts, experts);
    if (r.stack.broadcast_weights) {
      const double sharers = s.shard_ranks > 0 ? s.shard_ranks : static_cast<double>(s.dp) * s.cp;
      reduce_gradients(r, table.shard, Collective::reduce_scatter, dense, once);
      visit(table.shard, Collective::broadcast, weight * dense / sharers, sharers);
    } else {
      sharded(table.shard, dense);
    }
  } else {
    // Layers are scattered as they come; what is left are the ends, ZeRO 2's weights and the replicas of a shard.
    sharded(table.shard, ends);
    if (s.zero == 2) {
      visit(table.shard, Collective::all_gather, weight * (dense - ends), 1.0);
    }
  }
  if (s.shard_ranks > 0) {
    all_reduce(table.replicas, dense / s.shard_ranks);
  }
}

void StepModel::add_reduction(const StepTable& table, const Strategy& s, StepTraffic& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  // Nothing of the last bucket hides: its gradients are ready when the backward pass is over. Nor do weights that ranks
  // broadcast once they have updated them.
  for_each_reduced(table, s, [&](const GroupCollectives* group, Collective collective, double bytes, double times) {
    const double bucket = r.options.bucket.raw();
    if (bucket <= 0.0 || bytes <= bucket) {
      const Seconds once = reached(group, collective, bytes, r);
      t.reduction += times * once;
      t.broadcasts += collective == Collective::broadcast ? times * once : Seconds{};
      t.last = std::max(t.last, bucket > 0.0 ? once : Seconds{});
      return;
    }
    const double full = std::ceil(bytes / bucket) - 1.0;
    const Seconds each = reached(group, collective, bucket, r);
    const Seconds rest = reached(group, collective, bytes - full * bucket, r);
    t.reduction += times * (full * each + rest);
    t.broadcasts += collective == Collective::broadcast ? times * (full * each + rest) : Seconds{};
    t.last = std::max(t.last, rest);
  });
}

void StepModel::add_data_parallel(const Strategy& s, const StepTraffic& traffic, StepTime& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  if (!on(Term::dp_comm)) {
    return;
  }
  t.reduction = traffic.reduction;
  const Seconds beside = t.reduction - traffic.broadcasts;
  t.hidden = std::min({r.stack.dp_overlap * beside, hiding_room * layers_ / s.pp * t.layer,
                       std::max(Seconds{}, beside - traffic.last)});
  t.time[Term::dp_comm] += t.reduction - t.hidden + r.physics.overlap_slowdown * t.hidden;
}

Bytes StepModel::data_parallel_bytes(const StepTable& table, const Strategy& s, double micro_batches) const noexcept {
  Bytes sent{};
  const auto add = [&](const GroupCollectives* group, Collective collective, double bytes, double times) {
    if (group != nullptr) {
      sent += times * bytes_per_rank(collective, Bytes{bytes}, group->view().ranks);
    }
  };
  for_each_reduced(table, s, add);
  const double passes = micro_batches * layers_ / s.pp;
  for_each_sharded(table, s, [&](const GroupCollectives* group, Collective collective, double bytes) {
    add(group, collective, bytes, collective == Collective::all_gather ? 2.0 * passes : passes);
  });
  return sent;
}

Bytes StepModel::tensor_parallel_bytes(const LayerKey& key, std::int64_t stages, double micro_batches) const {
  Bytes sent{};
  if (on(Term::tp_comm)) {
    for (const Kind& kind : kinds_) {
      sent += micro_batches * kind.layers / real(stages) * pricer_.tensor_bytes(kind.block, key);
    }
  }
  return sent;
}

AxisTraffic StepModel::axis_traffic(const StepTable& table,
                                    const LayerKey& key,
                                    const Strategy& s,
                                    double micro_batches) const {
  AxisTraffic traffic;
  const auto at = [&](TrafficAxis axis) -> AxisBytes& { return traffic[static_cast<std::size_t>(axis)]; };
  for (const Kind& kind : kinds_) {
    const double weight = kind.layers / layers_;
    if (on(Term::tp_comm)) {
      at(key.sequence_parallel ? TrafficAxis::sp : TrafficAxis::tp).layer +=
          weight * pricer_.tensor_bytes(kind.block, key);
    }
    if (on(Term::cp_comm)) {
      at(TrafficAxis::cp).layer += weight * pricer_.context_bytes(kind.block, key);
    }
    if (on(Term::ep_comm)) {
      at(TrafficAxis::ep).layer += weight * pricer_.expert_bytes(kind.block, key, *groups_, table.layer.dispatcher);
    }
  }
  for (AxisBytes& axis : traffic) {
    axis.step = micro_batches * layers_ / s.pp * axis.layer;
  }
  if (s.pp > 1 && on(Term::pp_comm)) {
    at(TrafficAxis::pp).step = 2.0 * micro_batches * s.vpp * Bytes{table.boundary};
  }
  StepTable without_ends = table;
  without_ends.embedding = without_ends.head_parameters = 0.0;
  at(TrafficAxis::dp) = {data_parallel_bytes(without_ends, s, micro_batches) / (layers_ / s.pp),
                         data_parallel_bytes(table, s, micro_batches)};
  return traffic;
}

void StepModel::add_optimizer(const StepTable& table, const Strategy& s, bool on_host, StepTime& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  const double ends = r.options.method == Method::full ? table.embedding + table.head_parameters : 0.0;
  const double sharers = s.shard_ranks > 0 ? s.shard_ranks : static_cast<double>(s.dp) * s.cp;
  const double data = s.zero >= 1 ? sharers : 1.0;
  const double expert_data =
      s.zero >= 1 ? std::max(1.0, static_cast<double>(s.dp) * s.cp * s.tp / (static_cast<double>(s.ep) * s.etp)) : 1.0;
  const double per_stage = layers_ / s.pp;
  t.updated = (per_stage * table.of_layer.trained_dense + (s.pp == 1 ? ends : 0.5 * ends)) / data +
              per_stage * table.of_layer.trained_experts / expert_data;
  if (on(Term::optimizer)) {
    const Seconds moved = Bytes{r.physics.optimizer_bytes * t.updated} / pricer_.bandwidth();
    const Seconds products = per_stage / data * table.newton_schulz;
    t.time[Term::optimizer] = (on_host ? Seconds{} : moved + products) + r.stack.optimizer_step;
  }
}

/// Saved inputs leave in the forward pass of their micro-batch and return in its backward pass; gradients leave during
/// the last backward pass, the host updates, weights return after it. Offloaded weights come for each pass instead, and
/// paged moments come for the update and go again.
void StepModel::add_offload(const StepTable& table, const HostMemory& host, StepTime& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  if (!on(Term::offload) || !r.host_link || host.total() <= Bytes{}) {
    return;
  }
  const LayerTimes& l = table.layer;
  const double room = r.physics.offload_overlap * t.layers;
  const Seconds forward = room * l.forward.total();
  const Seconds backward = room * (l.backward.total() + l.recompute);
  const Seconds pass = host.per_pass / *r.host_link;
  const Seconds weights = host.weights / *r.host_link;
  const Seconds paged = host.paged / *r.host_link;
  const Seconds way = Bytes{row_of(r.precision).compute_bytes * host.updated} / *r.host_link;
  // The processors wait for their memory (Ren et al. 2021, section 4.4: a fused, vectorised and threaded Adam).
  const Seconds one = r.host_memory ? Bytes{r.physics.host_update_bytes} / (r.physics.host_bandwidth * *r.host_memory)
                                    : r.physics.host_update;
  t.host_update = host.updated * real(r.host_gpus) * one;
  t.copies = 2.0 * (t.micro_batches * (pass + weights) + way + paged);
  const auto exposed = [](Seconds copy, Seconds beside) { return std::max(Seconds{}, copy - beside); };
  const Seconds passes = exposed(std::max(pass, weights), forward) + exposed(pass + weights, backward);
  const Seconds back = host.weights > Bytes{} ? Seconds{} : way;
  t.time[Term::offload] = t.micro_batches * passes + exposed(way, backward) + t.host_update + back + 2.0 * paged;
}

/// The host of a replica's first rank loads its samples; a host of several replicas those of all.
void StepModel::add_data(const Strategy& s, double global_batch, StepTime& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  if (!r.feed || !on(Term::data)) {
    return;
  }
  const double replica = static_cast<double>(s.tp) * s.pp * s.cp;
  const double replicas = std::min(static_cast<double>(s.dp), std::max(1.0, real(r.host_gpus) / replica));
  t.samples = replicas * global_batch / s.dp;
  t.fed = feed_step(*r.feed, t.samples, replicas * r.host_link.value_or(BytesPerSecond{}), t.time.total());
  t.time[Term::data] = t.fed.exposed;
}

StepTime StepModel::time(const StepTable& table,
                         const Strategy& s,
                         double global_batch,
                         const HostMemory& host) const noexcept {
  return time(table, s, global_batch, host, traffic(table, s));
}

StepTime StepModel::time(const StepTable& table,
                         const Strategy& s,
                         double global_batch,
                         const HostMemory& host,
                         const StepTraffic& traffic) const noexcept {
  StepTime t;
  t.micro_batches = global_batch / (static_cast<double>(s.dp) * s.micro_batch);
  t.gather = traffic.gather;
  t.scatter = traffic.scatter;
  add_pipeline(table, s, traffic, t);
  add_data_parallel(s, traffic, t);
  add_optimizer(table, s, host.updated > 0.0, t);
  add_offload(table, host, t);
  add_reads(s, t);
  add_stragglers(t);
  if (on(Term::measured_level)) {
    t.time[Term::measured_level] = (pricer_.recipe().measured.factor - 1.0) * t.time.total();
  }
  add_data(s, global_batch, t);
  return t;
}

Seconds StepModel::least_time(const StepTable& table, std::int64_t stages, double micro_batches) const noexcept {
  constexpr double rounding = 1.0 - 1e-9;  // sums in another order
  const StepRecipe& r = pricer_.recipe();
  // The most that any schedule's pairs gain.
  const Seconds hidden = std::max({Seconds{}, table.layer.pair_gain(false), table.layer.pair_gain(true)});
  // With exchanges hidden beside other micro-batches' compute the head may be what binds, and they are then fewer.
  const Seconds head = hidden > Seconds{} ? Seconds{} : table.head.total();
  const Seconds share = (layers_ * std::max(Seconds{}, table.layer.total() - hidden) + head) / real(stages);
  const double waits = r.conduct.states_ranks() ? slowest_share(r.conduct, fitted_stragglers(), real(groups_->ranks()))
                                                : fitted_stragglers() + std::min(0.0, board_wait_);
  const double stragglers = on(Term::straggler) ? 1.0 + waits : 1.0;
  const double level = on(Term::measured_level) ? r.measured.factor : 1.0;
  return rounding * level * stragglers * micro_batches * share;
}

}  // namespace headroom
