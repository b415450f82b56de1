// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/kernels/convolution.hpp>
#include <headroom/model/kernels/memory_ops.hpp>
#include <headroom/model/train/network/network_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Host time of a backward pass, and of what it forms again, over that of the forward pass; as of layers.
constexpr double backward_launches = 2.0;
constexpr double recomputed_launches = 1.1;

/// Why no curve prices the kernels of an op; empty where one does.
std::string_view lacks_kernels(const Op& op) noexcept {
  if (is_depthwise(op)) {
    return "a depthwise convolution runs on no tensor path, and no curve of other kernels exists";
  }
  if (op.kind == OpKind::conv_transpose) {
    return "no curve describes the kernels of a transposed convolution's training";
  }
  if (op.kind == OpKind::product) {
    return "no curve describes the kernels of a product of two activations in training";
  }
  return op.kind == OpKind::recurrent ? "no curve describes the kernels of a recurrent layer's steps" : "";
}

/// FLOP of products, convolutions and attention in one sample's forward pass through the stages that `counts`.
template <class Counts>
Flops forward_products(const Network& network, Counts counts) {
  Flops forward{};
  for (const Stage& stage : network.stages) {
    for (std::size_t i = stage.first; counts(stage) && i < stage.first + stage.count; ++i) {
      const Op& op = network.ops[i];
      forward += multiplies(op.kind) ? real(stage.repeat) * stage.per_sample * op.forward : Flops{};
    }
  }
  return forward;
}

ConvShape conv_shape(const OpSizes& s, double batch) noexcept {
  ConvShape shape;
  shape.batch = batch;
  shape.in_channels = s.in;
  shape.out_channels = s.out;
  shape.groups = s.groups;
  for (std::size_t i = 0; i < s.plane.size(); ++i) {
    shape.in[i] = s.plane[i];
    shape.kernel[i] = s.kernel[i];
    shape.stride[i] = s.stride[i];
    shape.padding[i] = s.padding[i];
    shape.dilation[i] = s.dilation[i];
  }
  return shape;
}

}  // namespace

/// A stage's block, one micro-batch, without the host.
struct NetworkStep::Block {
  double repeat = 1.0;
  double ops = 0.0;
  double parameters = 0.0;
  LayerPass forward, backward;
  Seconds recompute{};
};

double NetworkStepTime::hidden_share() const noexcept {
  return traffic > Seconds{} ? std::max(0.0, 1.0 - time[Term::dp_comm] / traffic) : 0.0;
}

double NetworkStepTime::computing_share() const noexcept {
  Seconds own{};
  for (const Term term : {Term::gemm, Term::attention, Term::elementwise, Term::recompute, Term::optimizer}) {
    own += time[term];
  }
  return step() > Seconds{} ? own / step() : 0.0;
}

Flops model_flops(const Network& network) noexcept {
  return 3.0 * forward_products(network, [](const Stage&) { return true; });
}

Flops recomputed_flops(const Network& network, const SegmentRecompute& recompute) noexcept {
  return forward_products(network, [&](const Stage& stage) { return recompute.covers(stage.part); });
}

std::vector<std::string> ops_without_kernels(const Network& network) {
  std::vector<std::string> found;
  for (const Op& op : network.ops) {
    if (const std::string_view why = lacks_kernels(op); !why.empty()) {
      found.push_back(op.name + ": " + std::string{why});
    }
  }
  return found;
}

NetworkStep::NetworkStep(Network network, NetworkRecipe recipe, std::shared_ptr<const JobGroups> groups)
    : network_{std::move(network)},
      recipe_{std::move(recipe)},
      groups_{std::move(groups)},
      kernels_{groups_->data(), recipe_.device, recipe_.stack, recipe_.physics, recipe_.level, recipe_.precision},
      element_{recipe_.training.activation_bytes} {
  const NetworkRecipe& r = recipe_;
  data_ = groups_->find(r.training.ranks, 1);
  for (const Stage& stage : network_.stages) {
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      if (network_.ops[i].kind == OpKind::attention) {
        attending_.push_back(stage.part);
        break;
      }
    }
  }
}

double NetworkStep::passes_over_listed(const Stage& stage) const {
  const bool attends = std::find(attending_.begin(), attending_.end(), stage.part) != attending_.end();
  return attends ? recipe_.stack.elementwise : 1.0;
}

void NetworkStep::product_time(const Op& op, double passes, bool first, OpTime& t) const noexcept {
  const double m = passes * op.sizes.rows;
  const double n = op.sizes.out;
  const double k = op.sizes.in;
  const ProductTimes p = kernels_.product(m, n, k, 1.0, 1.0);
  t.term = Term::gemm;
  t.forward = p.forward;
  t.backward = p.weight_gradient;
  if (!first) {
    t.backward += p.data_gradient;
  }
  t.casts_forward = p.casts_forward;
  t.casts_backward = p.casts_backward;
}

/// In 16 bit whatever the recipe: training software has no narrower convolutions.
void NetworkStep::conv_times(const Op& op, double passes, bool first, OpTime& t) const noexcept {
  const ConvShape shape = conv_shape(op.sizes, passes);
  const auto takes = [&](const GemmModel& model, ConvPass pass) {
    return kernels_.wide_factor() * conv_time(model, kernels_.wide_format(), shape, pass);
  };
  t.term = Term::gemm;
  t.forward = takes(kernels_.wide(), ConvPass::forward);
  t.backward = takes(kernels_.wide_gradient(), ConvPass::weight_gradient);
  if (!first) {
    t.backward += takes(kernels_.wide(), ConvPass::data_gradient);
  }
}

void NetworkStep::attention_times(const Op& op, double passes, OpTime& t) const noexcept {
  const OpSizes& s = op.sizes;
  const AttentionTimes times = s.fused ? kernels_.attention({passes * s.windows, s.rows / s.windows, s.context, s.heads,
                                                             s.kv_heads, s.width, 0.0, s.causal})
                                       : kernels_.unfused(passes * s.rows * s.context * s.heads, s.width,
                                                          std::fmod(s.width, 8.0) == 0.0, element_);
  t.term = Term::attention;
  t.forward = times.forward;
  t.backward = times.backward;
}

/// What a pass over memory reads and writes forward.
Bytes NetworkStep::moved(const Op& op, double passes) const noexcept {
  const OpSizes& s = op.sizes;
  const double in = passes * op.input_elements;
  const double out = passes * op.output_elements;
  switch (op.kind) {
    case OpKind::norm: {
      const MemoryOp once = norm(passes * s.rows, s.width, element_);
      return once.moved() + Bytes{(s.readings - 1.0) * in * element_};
    }
    case OpKind::gather: return gather(passes * s.rows, s.width, element_).moved();
    // Rows are read one by one, a bag's sum is written once.
    case OpKind::embedding_bag: return gather(passes * s.rows, s.width, element_).read + Bytes{out * element_};
    case OpKind::elementwise: return elementwise(out, in / out, element_).moved();
    case OpKind::pool:
    case OpKind::reduce:
    case OpKind::move:
    case OpKind::conv:
    case OpKind::gemm:
    case OpKind::attention:
    case OpKind::conv_transpose:
    case OpKind::product:
    case OpKind::recurrent: break;
  }
  return Bytes{(in + out) * element_};
}

OpTime NetworkStep::op_time(const Stage& stage, const Op& op) const {
  const double passes = (op.once ? 1.0 : real(recipe_.training.micro_batch)) * stage.per_sample;
  const bool first = op.reads.empty() && stage.repeat == 1;  // no gradient of pixels or ids is formed
  OpTime t;
  switch (op.kind) {
    case OpKind::gemm: product_time(op, passes, first, t); return t;
    case OpKind::conv: conv_times(op, passes, first, t); return t;
    case OpKind::attention: attention_times(op, passes, t); return t;
    case OpKind::embedding_bag:
    case OpKind::elementwise:
    case OpKind::norm:
    case OpKind::gather:
    case OpKind::pool:
    case OpKind::reduce:
    case OpKind::move:
    case OpKind::conv_transpose:
    case OpKind::product:
    case OpKind::recurrent: break;
  }
  t.forward = passes_over_listed(stage) * (moved(op, passes) / bandwidth());
  t.backward = 2.0 * t.forward;
  return t;
}

NetworkStep::Block NetworkStep::block_of(const Stage& stage) const {
  Block block;
  block.repeat = real(stage.repeat);
  block.ops = static_cast<double>(stage.count);
  block.parameters = stage.parameters;
  for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
    const OpTime t = op_time(stage, network_.ops[i]);
    Seconds LayerPass::*part = t.term == Term::gemm        ? &LayerPass::gemm
                               : t.term == Term::attention ? &LayerPass::attention
                                                           : &LayerPass::elementwise;
    if (on(t.term)) {
      block.forward.*part += t.forward;
      block.backward.*part += t.backward;
    }
    if (on(Term::elementwise)) {
      block.forward.elementwise += t.casts_forward;
      block.backward.elementwise += t.casts_backward;
    }
  }
  const NetworkRecipe& r = recipe_;
  const bool accumulates = r.global_batch > real(r.training.ranks) * real(r.training.micro_batch);
  if (accumulates && on(Term::elementwise)) {
    block.backward.elementwise += Bytes{r.stack.accumulation_bytes * block.parameters} / bandwidth();
  }
  if (r.training.recompute.covers(stage.part) && on(Term::recompute)) {
    block.recompute = block.forward.total();
  }
  return block;
}

void NetworkStep::add_blocks(const std::vector<Block>& blocks, NetworkStepTime& t) const noexcept {
  for (const Block& block : blocks) {
    t.forward.add(block.forward, block.repeat);
    t.backward.add(block.backward, block.repeat);
    t.recompute += block.repeat * block.recompute;
  }
  const double m = t.micro_batches;
  t.time[Term::gemm] = m * (t.forward.gemm + t.backward.gemm);
  t.time[Term::attention] = m * (t.forward.attention + t.backward.attention);
  t.time[Term::elementwise] = m * (t.forward.elementwise + t.backward.elementwise);
  t.time[Term::recompute] = m * t.recompute;
}

/// The host runs ahead over a whole pass, so that short ops hide behind long ones.
void NetworkStep::add_host(const std::vector<Block>& blocks, NetworkStepTime& t) const noexcept {
  const NetworkRecipe& r = recipe_;
  double again = 0.0;
  for (const Block& block : blocks) {
    t.ops += block.repeat * block.ops;
    again += block.recompute > Seconds{} ? block.repeat * block.ops : 0.0;
  }
  if (!on(Term::host)) {
    return;
  }
  const Seconds of_op = (narrow_recipe(r.precision) ? r.physics.fp8_host : 1.0) / ops_of_a_layer * r.stack.host;
  t.launches = t.ops * of_op;
  t.host_forward = wait_for_host(t.forward.total(), t.launches);
  t.host_backward = wait_for_host(t.backward.total() + t.recompute,
                                  (backward_launches * t.ops + recomputed_launches * again) * of_op);
  t.time[Term::host] = t.micro_batches * (t.host_forward + t.host_backward);
}

Seconds NetworkStep::reaches(Collective collective, double bytes) const noexcept {
  return reached(data_, collective, bytes, recipe_.physics, recipe_.stack);
}

/// ZeRO 3 gathers a block's weights before each pass and scatters its gradients; ZeRO 2 scatters alone (Rajbhandari et
/// al. 2020, section 7). The host's waiting is spread over the blocks as their time is.
void NetworkStep::add_sharded(const std::vector<Block>& blocks, NetworkStepTime& t) const {
  const NetworkTraining& training = recipe_.training;
  if (training.zero < 2 || data_ == nullptr || !on(Term::dp_comm)) {
    return;
  }
  const StepStack& stack = recipe_.stack;
  const double sig = recipe_.physics.overlap_slowdown;
  const auto spread = [](Seconds gpu, Seconds wait) { return gpu > Seconds{} ? 1.0 + wait / gpu : 1.0; };
  const double ahead = spread(t.forward.total(), t.host_forward);
  const double back = spread(t.backward.total() + t.recompute, t.host_backward);
  Seconds exposed{}, first_gather{}, last_scatter{};
  for (const Block& block : blocks) {
    const Seconds gather =
        training.zero >= 3 ? reaches(Collective::all_gather, training.states.weights * block.parameters) : Seconds{};
    const Seconds scatter = reaches(Collective::reduce_scatter, training.states.gradients * block.parameters);
    const Seconds forward = ahead * block.forward.total();
    const Seconds backward = back * (block.backward.total() + block.recompute);
    exposed += block.repeat * (overlapped(forward, gather, stack.dp_overlap, sig) - forward +
                               overlapped(backward, gather + scatter, stack.dp_overlap, sig) - backward);
    t.gather += block.repeat * gather;
    t.scatter += block.repeat * scatter;
    first_gather = first_gather > Seconds{} ? first_gather : gather;
    last_scatter = last_scatter > Seconds{} ? last_scatter : scatter;  // the first block's gradients come last
  }
  t.time[Term::dp_comm] = t.micro_batches * exposed + first_gather + last_scatter;
  t.traffic += t.micro_batches * (2.0 * t.gather + t.scatter);
}

void NetworkStep::add_reduction(NetworkStepTime& t) const {
  const NetworkTraining& training = recipe_.training;
  if (data_ == nullptr || !on(Term::dp_comm)) {
    return;
  }
  const double gradients = training.states.gradients * network_.parameters;
  const double weights = training.states.weights * network_.parameters;
  Seconds broadcasts{};  // of weights that are updated hide behind nothing
  if (training.zero == 0) {
    t.reduction = reaches(Collective::all_reduce, gradients);
  } else if (training.zero == 1) {
    const double ranks = real(training.ranks);
    const bool broadcast = recipe_.stack.broadcast_weights;
    broadcasts = broadcast ? ranks * reaches(Collective::broadcast, weights / ranks) : Seconds{};
    t.reduction = reaches(Collective::reduce_scatter, gradients);
    t.reduction += broadcast ? broadcasts : reaches(Collective::all_gather, weights);
  } else if (training.zero == 2) {
    t.reduction = reaches(Collective::all_gather, weights);
  }
  const Seconds micro_batch = t.forward.total() + t.backward.total() + t.recompute + t.host_forward + t.host_backward +
                              (training.zero >= 2 ? t.time[Term::dp_comm] / t.micro_batches : Seconds{});
  t.hidden = std::min(recipe_.stack.dp_overlap * (t.reduction - broadcasts), hiding_room * micro_batch);
  t.time[Term::dp_comm] += t.reduction - t.hidden + recipe_.physics.overlap_slowdown * t.hidden;
  t.traffic += t.reduction;
}

void NetworkStep::add_rest(NetworkStepTime& t) const noexcept {
  const NetworkRecipe& r = recipe_;
  t.updated = network_.parameters / (r.training.zero >= 1 ? real(r.training.ranks) : 1.0);
  if (on(Term::optimizer)) {
    t.time[Term::optimizer] = Bytes{r.physics.optimizer_bytes * t.updated} / bandwidth() + r.stack.optimizer_step;
  }
  t.sharers = real(groups_->ranks());
  if (on(Term::straggler)) {
    const double doublings = std::log2(std::max(1.0, t.sharers / straggler_free));
    t.time[Term::straggler] = r.physics.straggler * doublings * t.time.total() +
                              board_wait(r.device, r.physics, t.sharers) * compute_of(t.time);
  }
}

/// A host loads for the replicas that it holds.
void NetworkStep::add_data(NetworkStepTime& t) const noexcept {
  const NetworkRecipe& r = recipe_;
  if (!r.feed || !on(Term::data)) {
    return;
  }
  const double ranks = real(r.training.ranks);
  const double replicas = std::min(ranks, std::max(1.0, real(r.host_gpus)));
  t.samples = replicas * r.global_batch / ranks;
  t.fed = feed_step(*r.feed, t.samples, replicas * r.host_link.value_or(BytesPerSecond{}), t.time.total());
  t.time[Term::data] = t.fed.exposed;
}

NetworkStepTime NetworkStep::time() const {
  std::vector<Block> blocks;
  blocks.reserve(network_.stages.size());
  for (const Stage& stage : network_.stages) {
    blocks.push_back(block_of(stage));
  }
  NetworkStepTime t;
  t.micro_batches = recipe_.global_batch / (real(recipe_.training.ranks) * real(recipe_.training.micro_batch));
  add_blocks(blocks, t);
  add_host(blocks, t);
  add_sharded(blocks, t);
  add_reduction(t);
  add_rest(t);
  add_data(t);
  return t;
}

}  // namespace headroom
