// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/post_training/answer_lengths.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

constexpr double bytes_of_format(std::string_view precision) noexcept {
  return precision == "fp8" || precision == "int8" ? 1.0 : precision == "fp32" ? 4.0 : 2.0;
}

/// The pool's GPUs as engines: the width that the question states, else each power of two of one host.
std::vector<std::int64_t> widths(const PostTrainQuestion& q, std::int64_t gpus) {
  if (q.rollout_tp > 0) {
    return {q.rollout_tp};
  }
  std::vector<std::int64_t> all;
  for (std::int64_t tp = 1; tp <= std::min(gpus, std::max<std::int64_t>(8, q.per_node)); tp *= 2) {
    all.push_back(tp);
  }
  return all;
}

/// States of the trainer that leave its GPUs for a rollout and come back: optimizer, gradients and weights, each way
/// over the link to the host (Sheng et al. 2024, section 5.2; NeMo RL offloads the same).
Seconds swap_time(const PostTrainQuestion& q, const TrainerPrice& trainer) {
  const Node* const node =
      q.node.empty() ? q.sources->catalog.reference_node(q.device) : &q.sources->catalog.node(q.node);
  const std::optional<BytesPerSecond> link = host_link_of(q.device, node);
  if (!link) {
    return Seconds{};
  }
  const Bytes held = trainer.memory[MemoryTerm::optimizer] + trainer.memory[MemoryTerm::weights];
  return 2.0 * (held / *link);
}

/// Parameters of a second network over those of the policy; without a name as large.
double size_beside(const PostTrainQuestion& q, const std::string& model) {
  return model.empty() ? 1.0 : count_parameters(q.sources->models.find(model)).total / q.parameters;
}

/// What trainers of samples add to their stack, losses over the vocabulary and batches that are put together, passes
/// through memory and takes the longer beside products, the more of these a GPU does while it moves a byte (Williams et
/// al. 2009). Stretches are those of an H100; where the catalog lacks a rate they stay so.
double stretch_on(const Device& device, double stretch) noexcept {
  constexpr double h100 = 989.4e12 / 3.35e12;  // FLOP a byte: NVIDIA H100 data sheet, bf16 without sparsity
  const auto& peak = device.peak[static_cast<std::size_t>(Rate::bf16)];
  const auto& bandwidth = device.memory.bandwidth;
  return peak && bandwidth ? 1.0 + (stretch - 1.0) * (peak->value.raw() / bandwidth->value.raw()) / h100 : stretch;
}

void set_trained_phases(const PostTrainQuestion& q, const PostTrainNumbers& s, PostTrainWay& way) {
  const AlgorithmForm form = form_of(q.algorithm);
  const double ranks = q.padded ? 1.0 : real(std::int64_t{way.trainer.strategy.dp});  // padded ones are alike
  const auto sequences = static_cast<double>(q.answers());
  const double mini = q.mini_batch > 0 ? std::min(real(q.mini_batch), sequences) : sequences;
  const double train_stretch = stretch_on(q.device, s.train), pass_stretch = stretch_on(q.device, s.logprob);
  // A batch in parts comes in the order in which it was ready, the short answers first: its mini-batches are alike.
  const bool balanced = q.software.balances_ranks || (way.flow.order == PostTrainOrder::asynchronous && q.parts > 1.0);
  // One process puts a padded batch together and hands it out: of each pass, and where a trainer fetches from a queue.
  const Seconds handed =
      form.samples ? sequences * (q.prompt_tokens + q.lengths.most) * q.software.controller : Seconds{};
  // What trainers of samples add to their stack, losses over the vocabulary and batches that are put together, goes by
  // the token; attention takes what it takes. Passes go over the whole batch at once, which all software deals out by
  // tokens.
  const TrainerPrice& t = way.trainer;
  const Seconds looks = t.attention / 3.0;
  const Seconds looked = rank_imbalance(q.lengths, q.prompt_tokens, ranks, sequences / ranks, true) *
                         (pass_stretch * (t.forward - std::min(t.forward, looks)) + std::min(t.forward, looks));
  const Seconds pass = looked + handed;
  PhaseTimes& p = way.phases;
  p[Phase::train] = rank_imbalance(q.lengths, q.prompt_tokens, ranks, mini / ranks, balanced) *
                    (train_stretch * (t.train - std::min(t.train, t.attention)) + std::min(t.train, t.attention));
  p[Phase::logprob] = form.samples && q.old_logprobs ? pass : Seconds{};
  p[Phase::reference] = q.reference ? pass : Seconds{};
  if (form.critic) {
    p[Phase::critic] = size_beside(q, q.critic_model) * (looked + p[Phase::train]) + handed;
  }
  p[Phase::reward] = q.reward;
  if (!q.reward_model.empty()) {
    p[Phase::reward] += size_beside(q, q.reward_model) * looked + handed;
  }
  if (form.samples) {  // of supervised steps the trainer's own stack holds all
    p[Phase::other] = s.fixed + (way.flow.order == PostTrainOrder::asynchronous ? handed : Seconds{});
  }
}

}  // namespace

Seconds sync_time(const PostTrainQuestion& q,
                  std::span<const SyncPath> paths,
                  WeightSync way,
                  double engine_ranks,
                  double trainer_ranks,
                  bool hosts) {
  WeightSend send;
  send.tensors = q.tensors;
  send.domain = real(q.per_node);
  send.trainer_ranks = trainer_ranks;
  send.weights = Bytes{q.parameters * bytes_of_format(q.rollout_precision)};
  send.engine_ranks = engine_ranks;
  send.hosts = hosts;
  send.gathers = q.software.gathers(q.model.empty() ? q.backend : backend_of(q).first);
  send.to_host = q.device.pcie.rate ? q.device.pcie.rate->value : BytesPerSecond{25e9};
  send.outside = q.outside.value_or(BytesPerSecond{25e9});
  send.inside = q.device.scale_up.per_gpu ? q.device.scale_up.per_gpu->value
                : q.device.pcie.rate      ? q.device.pcie.rate->value
                                          : BytesPerSecond{25e9};
  const WeightSync path = way_between(way, hosts);
  return q.pause + weight_sync_time(path, send, paths[static_cast<std::size_t>(path)]);
}

void set_phases(const PostTrainQuestion& q,
                const PostTrainNumbers& numbers,
                std::span<const SyncPath> paths,
                PostTrainWay& way) {
  set_trained_phases(q, numbers, way);
  if (way.engine_tp > 0) {
    const bool apart = way.flow.placement == PostTrainPlacement::split;
    way.phases[Phase::rollout] = numbers.rollout * way.rollout.times.whole;
    way.flow.rollout_steady = numbers.rollout * way.rollout.steady;
    way.flow.group = numbers.rollout * way.rollout.group;
    way.phases[Phase::sync] = sync_time(q, paths, way.sync, real(way.engine_tp), real(way.train_gpus),
                                        way.flow.placement != PostTrainPlacement::colocated || q.gpus > q.per_node);
    way.phases[Phase::swap] = apart ? Seconds{} : numbers.swap + way.swap_bytes;
  }
  PhaseTimes waited = way.phases;
  if (q.software.sync_beside && way.flow.order == PostTrainOrder::asynchronous) {
    waited[Phase::sync] = waited[Phase::other] = Seconds{};
  }
  way.step = step_of_phases(waited, way.flow);
}

PostTrainWay price_way(const PostTrainQuestion& q,
                       PoolPrices& prices,
                       const PostTrainFlow& flow,
                       std::int64_t rollout_gpus) {
  PostTrainWay way;
  way.flow = flow;
  const bool together = flow.placement == PostTrainPlacement::colocated;
  const bool apart = flow.placement == PostTrainPlacement::split;
  const bool samples = form_of(q.algorithm).samples;
  way.gpus = q.rollout_device ? q.gpus + q.rollout_device_gpus : q.gpus;
  way.rollout_gpus = together ? q.gpus : rollout_gpus;
  way.train_gpus = !apart || q.rollout_device ? q.gpus : q.gpus - rollout_gpus;
  way.sync = q.sync.value_or(together ? q.software.sync_local : q.software.sync_split);
  way.trainer = prices.trainer(way.train_gpus);
  if (!way.trainer.fits) {
    way.possible = false;
    way.why_not = way.trainer.why_not;
  }
  if (!apart && samples) {
    way.swap_bytes = swap_time(q, way.trainer);
  }
  if (samples) {
    const Device& device = q.rollout_device && !together ? *q.rollout_device : q.device;
    const double fraction =
        q.memory_fraction.value_or(!apart ? q.software.colocated_fraction : q.software.split_fraction);
    std::string why_not = "no engine holds the model on " + std::to_string(way.rollout_gpus) + " GPUs";
    Seconds least{1e300};
    for (const std::int64_t tp : widths(q, way.rollout_gpus)) {
      const EnginePrice& engine = prices.engine(tp, fraction, device);
      if (!engine.why_not.empty() || tp > way.rollout_gpus) {
        why_not = engine.why_not.empty() ? why_not : engine.why_not;
        continue;
      }
      const PricedRollout rollout =
          price_rollout(q, engine, way.rollout_gpus / tp, flow.order == PostTrainOrder::asynchronous);
      if (rollout.times.whole < least) {
        least = rollout.times.whole;
        way.rollout = rollout;
        way.engine_tp = tp;
        way.engines = way.rollout_gpus / tp;
        way.slots = engine.slots;
        way.engine_memory = engine.memory;
      }
      if (q.least_tp) {
        break;
      }
    }
    if (way.engine_tp == 0) {
      way.possible = false;
      way.why_not = way.why_not.empty() ? why_not : way.why_not + "; " + why_not;
    }
  }
  set_phases(q, q.software.numbers, q.software.paths, way);
  return way;
}

}  // namespace headroom
