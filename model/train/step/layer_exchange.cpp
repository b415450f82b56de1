// SPDX-License-Identifier: Apache-2.0
// How the tokens of experts meet them: what dispatchers send, at which rate, and what of it runs beside compute.
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/moe_all_to_all.hpp>
#include <headroom/model/train/step/layer_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>

#include <algorithm>
#include <numeric>

namespace headroom {
namespace {

/// Places of `held` experts each that a token meets, of `places`: drawn by a router, or k experts side by side, the
/// first a multiple of k. Such a run crosses an end of a place in (k - gcd(k, held)) / held of the cases.
double places_met(bool consecutive, double places, std::int64_t chosen, double held) {
  if (!consecutive || held < 1.0) {
    return ranks_reached(places, real(chosen));
  }
  const std::int64_t step = std::gcd(chosen, static_cast<std::int64_t>(held));
  return std::min(places, 1.0 + real(chosen - step) / held);
}

}  // namespace

DispatcherForm dispatcher_form(ExpertDispatcher dispatcher) noexcept {
  switch (dispatcher) {
    case ExpertDispatcher::deepep: return {true, 0.55, 0.95, 4.0};
    case ExpertDispatcher::hybridep: return {true, 0.70, 0.95, 4.0};
    case ExpertDispatcher::alltoall: break;
  }
  return {false, 1.0, 0.0, 6.0};
}

/// `element`: bytes of an element on its way. The group is there.
LayerPricer::Exchanged LayerPricer::exchanged(const Sizes& z, const GroupView& view, double element) const {
  const StepRecipe& r = recipe_;
  const Moe& moe = *r.architecture.moe;
  const DispatcherForm form = dispatcher_form(z.dispatcher);
  const double width = moe.latent > 0 ? real(moe.latent) : z.hidden;
  const double row = element * width * kept_rows() * z.tokens / (z.key.sequence_parallel ? z.t : 1.0);
  const auto chosen = real(moe.top_k);
  Exchanged sent;
  if (!form.once_a_rank) {
    sent.buffer = Bytes{chosen * row};
    return sent;
  }
  // Where the router keeps the experts of a token to M domains, as many of M as k draws meet.
  const auto domains = static_cast<double>(view.domains);
  const auto local = static_cast<double>(view.per_domain);
  const std::int64_t limit = r.options.experts.domains;
  const double open = limit > 0 ? std::min(domains, real(limit)) : domains;
  // A domain sends on to each of its ranks that holds an expert of the token.
  const double held = real(moe.experts) / (domains * local);
  const bool beside = r.experts.consecutive;
  const double inside_copies = places_met(beside, open * local, moe.top_k, held) * (local - 1.0) / local;
  sent.inside = Bytes{inside_copies * row};
  if (view.domains > 1) {
    // One copy a token and domain that holds one of its experts (DeepSeek-AI 2024, DeepSeek-V3, section 3.2.2): of K
    // domains, K (1 - (1 - 1/K)^k) are met, one of K is the token's own.
    const double copies = places_met(beside, open, moe.top_k, local * held) * (domains - 1.0) / domains;
    sent.outside = Bytes{copies * row};
  }
  return sent;
}

Seconds LayerPricer::exchange(const Sizes& z, const JobGroups& groups, double element) const {
  const GroupCollectives* group = groups.find(z.ranks.experts);
  if (group == nullptr || !recipe_.architecture.moe) {
    return {};
  }
  const StepRecipe& r = recipe_;
  const DispatcherForm form = dispatcher_form(z.dispatcher);
  const GroupView& view = group->view();
  const Exchanged sent = exchanged(z, view, element);
  const bool leaves = view.domains > 1;
  if (!form.once_a_rank) {
    const double reach = leaves ? r.physics.nic * r.stack.nic : r.stack.link;
    return group->time(Collective::dispatch, sent.buffer).time / reach;
  }
  const Seconds inside = view.per_domain > 1 ? sent.inside / (r.stack.link * form.link * view.inside_all) : Seconds{};
  if (!leaves) {
    return r.physics.exchange + inside;
  }
  return r.physics.exchange + std::max(inside, sent.outside / (form.network * view.outside_all));
}

double exchanges_beside(const StepRecipe& r, bool pairs) noexcept {
  const bool ordered = pairs || r.options.experts.units > 0 || r.experts.launch == ExpertLaunch::full_graphs;
  return ordered ? 1.0 : r.physics.expert_overlap;
}

/// Exchanges beside compute, as far as it reaches: a share within a micro-batch; with overlapped experts those of one
/// beside the opposite pass of another (DeepSeek-AI 2024, DeepSeek-V3, section 3.2.1). What is hidden slows compute.
void LayerPricer::hide_exchanges(LayerTimes& t, const LayerKey& key, const LayerProducts& products) const noexcept {
  const StepRecipe& r = recipe_;
  // Multiprocessors that are kept for exchanges have slowed compute already.
  const double gain = r.options.experts.units > 0 ? 1.0 : 1.0 - r.physics.overlap_slowdown;
  const auto compute = [](const LayerPass& pass) { return pass.gemm + pass.attention + pass.scan + pass.elementwise; };
  if (r.stack.ep_overlap > 0.0) {
    for (LayerPass* pass : {&t.forward, &t.backward}) {
      pass->ep -= gain * std::min(r.stack.ep_overlap * pass->ep, compute(*pass));
    }
  }
  // Shared experts on a stream of their own: a pass's exchanges run beside their products, which hide nothing else.
  // Left out, products leave the exchanges as they are with them, and take none of the other compute.
  Seconds taken{};
  if (r.experts.shared_beside) {
    const Seconds forward = std::min(t.forward.ep, products.shared_forward);
    const Seconds backward = std::min(t.backward.ep, products.shared_backward);
    t.forward.ep -= gain * forward;
    t.backward.ep -= gain * backward;
    taken = on(Term::gemm) ? forward + backward : Seconds{};
  }
  if (key.overlap_experts) {
    // A weight gradient that is not put off is done before the exchange that follows it begins.
    const bool delays = r.options.experts.delays_weight_gradients.value_or(true);
    const Seconds late = delays ? Seconds{} : t.weight_gradients - std::min(taken, products.shared_weight_gradients);
    const Seconds room = std::max(Seconds{}, compute(t.forward) + compute(t.backward) - taken - late);
    const Seconds exchanges = t.forward.ep + t.backward.ep;
    t.ep_hidden = gain * std::min(exchanges_beside(r, false) * exchanges, room);
    t.ep_paired = gain * std::min(exchanges, room);
  }
}

/// The collective needs counts of every rank, sorts rows again by expert, and sends their weights by themselves. Fixed
/// shapes need no counts.
double LayerPricer::dispatch_launches(ExpertLaunch launch, const Sizes& z) const noexcept {
  if (z.dispatcher != ExpertDispatcher::alltoall || z.key.ep <= 1) {
    return 0.0;
  }
  const StepPhysics& physics = recipe_.physics;
  return physics.collective_launches - (launch == ExpertLaunch::eager ? 0.0 : physics.count_launches);
}

void LayerPricer::add_pair_waits(LayerTimes& t, const LayerKey& key, Seconds launches) const noexcept {
  if (!key.overlap_experts) {
    return;
  }
  const Seconds gpu = t.forward.total() + t.backward.total() + t.recompute;
  const Seconds alone = t.host_forward + t.host_backward + t.sync;
  t.wait_hidden = wait_for_host(gpu - t.ep_hidden, launches) - alone;
  t.wait_paired = wait_for_host(gpu - t.ep_paired, launches) - alone;
}

}  // namespace headroom
