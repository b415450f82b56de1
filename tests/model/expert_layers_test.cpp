// SPDX-License-Identifier: Apache-2.0
// Layers of experts: how they are launched, what the host reads back, what their dispatchers move, rows that are
// dropped and padded, prediction modules, and the recipes of a software that say so.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/collectives/moe_all_to_all.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <cmath>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

/// 64 experts of which a token meets 8; small enough that an eager host is what they wait for.
Architecture expert_network() {
  Architecture arch;
  arch.id = "experts";
  arch.layers = 24;
  arch.hidden = 2048;
  arch.heads = 16;
  arch.kv_heads = 8;
  arch.head_dim = 128;
  arch.ffn_hidden = 8192;
  arch.gated_mlp = true;
  arch.vocab = 51200;
  Moe moe;
  moe.experts = 64;
  moe.top_k = 8;
  moe.expert_ffn_hidden = 1024;
  arch.moe = moe;
  return arch;
}

constexpr Seconds dense_host{350e-6};
constexpr Seconds moe_host{1e-3};
constexpr Seconds expert_host{50e-6};
/// A dense layer's host is that of 11 launches. The collective has 11 of its own here, 4 of which count tokens.
constexpr Seconds one_launch = dense_host / 11.0;
constexpr Seconds collective_host = 11.0 * one_launch;
constexpr Seconds sorting_host = 7.0 * one_launch;

StepStack stack() {
  StepStack stack = test::stated_stack();
  stack.host = dense_host;
  stack.moe_launch = moe_host;
  stack.expert_launch = expert_host;
  return stack;
}

CompiledTraining compiled(const ExpertTraffic& experts,
                          Architecture architecture = expert_network(),
                          std::int64_t gpus = 8,
                          const std::vector<ExpertRule>& recipes = {},
                          Precision precision = Precision::bf16,
                          const char* sku = "h100-sxm-80gb",
                          const char* host = "dgx-h100",
                          Method method = Method::full,
                          TermSet without = {}) {
  const Device& device = catalog().device(sku);
  TrainingWorkload work;
  work.shape = {gpus, 4096, 64};
  work.precision = precision;
  work.states = adam_states(work.precision);
  work.options.experts = experts;
  work.options.method = method;
  MemoryStack software = test::stated_software(memory_stacks(test::model_data()).find("megatron-core"), stack());
  if (!recipes.empty()) {
    software.experts = recipes;
  }
  return compile(
      architecture, device,
      std::make_shared<const JobGroups>(test::model_data(), device, JobHosts{catalog().node(host), 0, {}, {}}, gpus),
      software, work, test::stated_parameters(), without);
}

Strategy spread(int ep, std::int64_t gpus = 8) {
  Strategy s;
  s.dp = static_cast<std::uint32_t>(gpus);
  s.ep = static_cast<std::uint16_t>(ep);
  return s;
}

LayerTimes layer(const ExpertTraffic& experts, const Strategy& s, std::int64_t gpus = 8) {
  return compiled(experts, expert_network(), gpus).step->tabulate(key_of(s)).layer;
}

ExpertTraffic launched(ExpertLaunch launch) {
  ExpertTraffic experts;
  experts.launch = launch;
  return experts;
}

ExpertTraffic sent_by(ExpertDispatcher dispatcher) {
  ExpertTraffic experts;
  experts.dispatcher = dispatcher;
  return experts;
}

double waited(Seconds gpu, Seconds host) {
  return std::pow(std::pow(gpu.raw(), 5.0) + std::pow(host.raw(), 5.0), 0.2) - gpu.raw();
}

}  // namespace

TEST_CASE("an eager layer of experts launches what a dense layer does, its own and each local expert's kernels") {
  for (const int ep : {1, 8}) {
    const LayerTimes l = layer({}, spread(ep));
    // Without other ranks nothing is exchanged.
    const Seconds host = dense_host + moe_host + 64.0 / ep * expert_host + (ep > 1 ? collective_host : Seconds{});
    CHECK(l.host_forward.raw() == near(waited(l.forward.total(), host), 1e-6));
    CHECK(l.host_backward.raw() == near(waited(l.backward.total(), 2.0 * host), 1e-6));
  }
  // Equal rows are one batch, and so are products of one kernel.
  ExpertTraffic fused;
  fused.fused_products = true;
  const LayerTimes one_batch = layer(launched(ExpertLaunch::static_shapes), spread(8));
  CHECK(one_batch.host_forward.raw() ==
        near(waited(one_batch.forward.total(), dense_host + moe_host + sorting_host), 1e-6));
  const LayerTimes one_kernel = layer(fused, spread(8));
  CHECK(one_kernel.host_forward.raw() ==
        near(waited(one_kernel.forward.total(), dense_host + moe_host + collective_host), 1e-6));
  const LayerTimes flexible = layer(sent_by(ExpertDispatcher::hybridep), spread(8));
  CHECK(flexible.host_forward.raw() ==
        near(waited(flexible.forward.total(), dense_host + moe_host + 8.0 * expert_host), 1e-6));
  CHECK(layer(launched(ExpertLaunch::static_shapes), spread(8)).sync == Seconds{});
  ExpertTraffic padded;
  padded.capacity = 1.0;
  CHECK(layer(padded, spread(8)).sync == Seconds{});
}

TEST_CASE("launches are counted: a router's and latent attention's, where no graph holds them") {
  StepStack own = stack();
  own.router_launches = 33.0;
  own.rotary_launches = 17.0;
  Architecture latent = expert_network();
  latent.mixer = Mixer::mla;
  Mla mla;
  mla.kv_rank = 512;
  mla.rope_dim = 64;
  mla.nope_dim = 128;
  mla.value_dim = 128;
  latent.mla = mla;
  const auto hosts = [&](const Architecture& arch, ExpertLaunch launch) {
    const CompiledTraining c = compiled(sent_by(ExpertDispatcher::hybridep), arch);
    StepRecipe recipe = c.step->pricer().recipe();
    recipe.stack = own;
    recipe.experts.launch = launch;
    return StepModel{recipe, c.step->shared_groups(), 16}.tabulate(key_of(spread(8))).layer;
  };
  const Seconds rest = dense_host + moe_host + 8.0 * expert_host;
  const LayerTimes eager = hosts(expert_network(), ExpertLaunch::eager);
  CHECK(eager.host_forward.raw() == near(waited(eager.forward.total(), rest + 33.0 * one_launch), 1e-6));
  const LayerTimes latents = hosts(latent, ExpertLaunch::eager);
  CHECK(latents.host_forward.raw() ==
        near(waited(latents.forward.total(), rest + (33.0 + 5.0 + 17.0) * one_launch), 1e-6));
  // Graphs hold both; what is left are their gaps and the experts.
  const Seconds gaps{16.0 * 0.5e-6};
  const LayerTimes graphs = hosts(latent, ExpertLaunch::partial_graphs);
  CHECK(graphs.host_forward.raw() == near(waited(graphs.forward.total(), gaps + moe_host + 8.0 * expert_host), 1e-6));
}

TEST_CASE("layers and mixers that a narrow recipe leaves in 16 bit take its products' time there, without casts") {
  const auto with = [](Precision precision, double layers, bool mixers) {
    std::vector<ExpertRule> rules(1);
    rules[0].habits.wide_layers = layers;
    rules[0].habits.wide_mixers = mixers;
    return compiled({}, expert_network(), 8, rules, precision).step->tabulate(key_of(spread(8))).layer;
  };
  const LayerTimes wide = with(Precision::bf16, 0.0, false);
  const LayerTimes narrow = with(Precision::fp8, 0.0, false);
  // 6 of 24 layers: a quarter of what 16 bit takes, three quarters of the narrow time. Weights and casts alike.
  const LayerTimes mixed = with(Precision::fp8, 6.0, false);
  CHECK(mixed.forward.gemm.raw() == near(0.25 * wide.forward.gemm.raw() + 0.75 * narrow.forward.gemm.raw(), 1e-9));
  CHECK(mixed.backward.gemm.raw() == near(0.25 * wide.backward.gemm.raw() + 0.75 * narrow.backward.gemm.raw(), 1e-9));
  const LayerTimes all = with(Precision::fp8, 24.0, false);
  CHECK(all.forward.gemm.raw() == near(wide.forward.gemm.raw(), 1e-9));
  CHECK(all.forward.elementwise < mixed.forward.elementwise);
  // Mixers alone: less than all products.
  const LayerTimes mixers = with(Precision::fp8, 0.0, true);
  CHECK(mixers.forward.gemm > narrow.forward.gemm);
  CHECK(mixers.forward.gemm < wide.forward.gemm);
  CHECK(with(Precision::bf16, 24.0, true).forward.gemm == wide.forward.gemm);
}

TEST_CASE("narrow recipes launch an expert's casts one by one beside its products, and align the rows that it gets") {
  StepPhysics physics;
  physics.tensor_casts = 4.0;
  physics.block_casts = 1.0;
  physics.fp4_casts = 2.0;
  CHECK(expert_launches(physics, Precision::bf16) == 1.0);
  CHECK(expert_launches(physics, Precision::fp8) == 5.0);  // zeroed, found, made a scale and used, then the product
  CHECK(expert_launches(physics, Precision::mxfp8) == 2.0);
  CHECK(expert_launches(physics, Precision::nvfp4) == 3.0);
  const auto narrow = [](const ExpertTraffic& experts) {
    return compiled(experts, expert_network(), 8, {}, Precision::fp8).step->tabulate(key_of(spread(8))).layer;
  };
  const LayerTimes l = narrow({});
  const Seconds host = 0.85 * dense_host + moe_host + 8.0 * 5.0 * expert_host + collective_host;
  CHECK(l.host_forward.raw() == near(waited(l.forward.total(), host), 1e-6));
  // Padded and unpadded: a row of 2048 elements of 2 bytes is read and written twice, 4096 tokens meet 8 experts.
  ExpertTraffic padded = launched(ExpertLaunch::static_shapes);
  const Seconds more = l.forward.elementwise - narrow(padded).forward.elementwise;
  CHECK(more.raw() == near(1.05 * 4096.0 * 8.0 * (4.0 * 2.0 * 2048.0) / (0.78 * 3.35e12), 1e-3));
  // HybridEP pads as it permutes.
  ExpertTraffic flexible = sent_by(ExpertDispatcher::hybridep);
  const Seconds eager = narrow(flexible).forward.elementwise;
  flexible.launch = ExpertLaunch::static_shapes;
  CHECK(eager == narrow(flexible).forward.elementwise);
}

TEST_CASE("a host that reads back its experts' counts waits for the router and launches into an empty queue") {
  const LayerTimes eager = layer({}, spread(8));
  // No less than the latency; and as the experts' launches outlast their kernels, attention shows beside them.
  const double latency = 60e-6;
  CHECK(eager.sync.raw() > latency);
  const Seconds attention = eager.forward.attention + eager.forward.elementwise + eager.forward.gemm;
  CHECK(eager.sync.raw() < latency + attention.raw());
  // Twice with a second forward pass, and a little more.
  Strategy s = spread(8);
  s.recompute = Recompute::full;
  CHECK(layer({}, s).sync.raw() == near(2.1 * eager.sync.raw(), 1e-6));
  s.recompute = Recompute::none;
  const CompiledTraining c = compiled({});
  const Estimate e = evaluate(c, tabulate(c, key_of(s)), s);
  CHECK(e.time[Term::host_sync].raw() == near(8.0 * 24.0 * eager.sync.raw()));
}

TEST_CASE("graphs: partial ones leave the experts' launches and the sync, a full one leaves gaps between kernels") {
  const LayerTimes partial = layer(launched(ExpertLaunch::partial_graphs), spread(8));
  const Seconds gaps{16.0 * 0.5e-6};
  // Preprocessing, which counts tokens, is captured; what sorts and sends them is not.
  const Seconds left = moe_host + 8.0 * expert_host + sorting_host;
  CHECK(partial.host_forward.raw() == near(waited(partial.forward.total(), gaps + left), 1e-6));
  CHECK(partial.sync.raw() > 60e-6);
  const LayerTimes full = layer(launched(ExpertLaunch::full_graphs), spread(8));
  CHECK(full.sync == Seconds{});
  CHECK(full.host_forward.raw() == near(waited(full.forward.total(), Seconds{(16.0 + 24.0) * 0.5e-6}), 1e-4));
  // Graphs of router and preprocessing alone leave a dense layer's launches.
  std::vector<ExpertRule> rules(1);
  rules[0].habits.launch = ExpertLaunch::partial_graphs;
  rules[0].habits.eager_attention = true;
  const LayerTimes router = compiled({}, expert_network(), 8, rules).step->tabulate(key_of(spread(8))).layer;
  CHECK(router.host_forward.raw() == near(waited(router.forward.total(), dense_host + left), 1e-6));
  // Graphs of layers whose shapes nobody fixed are partial.
  Strategy s = spread(8);
  s.cuda_graphs = true;
  CHECK(layer({}, s).host_forward == partial.host_forward);
}

TEST_CASE(
    "a capacity scales products, passes and exchanges, buffers of a stated size passes and memory, pages memory "
    "alone") {
  ExpertTraffic half = launched(ExpertLaunch::static_shapes);
  ExpertTraffic twice = half;
  half.capacity = 1.0;
  twice.capacity = 2.0;
  const LayerTimes one = layer(half, spread(8));
  const LayerTimes two = layer(twice, spread(8));
  CHECK(one.forward.ep == layer(launched(ExpertLaunch::static_shapes), spread(8)).forward.ep);
  CHECK(two.forward.ep > 1.8 * one.forward.ep);
  CHECK(two.forward.gemm > 1.3 * one.forward.gemm);
  // 2 bytes x 8 rows a token of 6 f_e and 12 h, at 1.05 x and 0.78 of 3.35 TB/s.
  const double added = 1.05 * 4096.0 * 8.0 * (6.0 * 1024.0 + 12.0 * 2048.0);
  const double bandwidth = compiled(half).step->pricer().bandwidth().raw();
  CHECK((two.forward.elementwise - one.forward.elementwise).raw() == near(added / bandwidth, 1e-6));
  ExpertTraffic buffers = launched(ExpertLaunch::full_graphs);
  const auto kept = [](const ExpertTraffic& experts) {
    const CompiledTraining c = compiled(experts);
    return tabulate_memory(c.memory, key_of(spread(8))).kinds[0];
  };
  const MemoryTable::Row came = kept(buffers);
  buffers.rank_capacity = 3.0;
  const LayerPass forward = layer(launched(ExpertLaunch::full_graphs), spread(8)).forward;
  const LayerPass whole = layer(buffers, spread(8)).forward;
  CHECK(whole.gemm == forward.gemm);
  CHECK(whole.ep == forward.ep);
  CHECK((whole.elementwise - forward.elementwise).raw() == near(2.0 * added / bandwidth, 1e-6));
  const MemoryTable::Row held = kept(buffers);
  // Twice more of 8 rows a token: the input, two outputs and the input of the last matrix.
  const double more = 2.0 * 8.0 * 4096.0 * (2.0 * 2048.0 + 6.0 * 1024.0);
  CHECK(held.activations - came.activations == near(more));
  buffers.paged = true;
  const MemoryTable::Row paged = kept(buffers);
  CHECK(paged.activations == came.activations);
  CHECK(layer(buffers, spread(8)).forward.elementwise == forward.elementwise);
  CHECK(paged.workspace - came.workspace == near(more));
}

TEST_CASE("DeepEP and HybridEP send a token to a rank once, and permute its rows once") {
  const LayerTimes all = layer(sent_by(ExpertDispatcher::alltoall), spread(8));
  const LayerTimes once = layer(sent_by(ExpertDispatcher::deepep), spread(8));
  const LayerTimes hybrid = layer(sent_by(ExpertDispatcher::hybridep), spread(8));
  const GroupView view = compiled({}).step->groups().find(8, 1)->view();
  const double bytes = ranks_reached(8.0, 8.0) * 7.0 / 8.0 * 2.0 * 2048.0 * 4096.0;
  CHECK(once.forward.ep.raw() == near(2.0 * (15e-6 + bytes / (0.55 * view.inside_all.raw())), 1e-6));
  CHECK(hybrid.forward.ep < once.forward.ep);
  CHECK(all.forward.elementwise > once.forward.elementwise);
  CHECK(hybrid.forward.elementwise == once.forward.elementwise);
  // Between hosts the collective sends a copy for each expert, the others one for each host.
  CHECK(layer(sent_by(ExpertDispatcher::deepep), spread(64, 64), 64).forward.ep <
        0.8 * layer(sent_by(ExpertDispatcher::alltoall), spread(64, 64), 64).forward.ep);
}

TEST_CASE("tokens whose experts stand side by side go to the few ranks and hosts that hold them") {
  const auto sent = [](bool consecutive, std::int64_t top_k, int ep, std::int64_t gpus) {
    ExpertRule recipe;
    recipe.habits.dispatcher = ExpertDispatcher::deepep;
    recipe.habits.consecutive = consecutive;
    Architecture arch = expert_network();
    arch.moe->top_k = top_k;
    const CompiledTraining c = compiled({}, arch, gpus, {recipe});
    return c.step->tabulate(key_of(spread(ep, gpus))).layer.forward.ep.raw();
  };
  const auto takes = [](double copies, double rate) { return 2.0 * (15e-6 + copies * 2.0 * 2048.0 * 4096.0 / rate); };
  // Eight experts a rank: a token's eight are one rank's; of six, which start at even places, 1 + 4/8 ranks.
  const double inside = 0.55 * compiled({}).step->groups().find(8, 1)->view().inside_all.raw();
  CHECK(sent(true, 8, 8, 8) == near(takes(1.0 * 7.0 / 8.0, inside), 1e-6));
  CHECK(sent(true, 6, 8, 8) == near(takes(1.5 * 7.0 / 8.0, inside), 1e-6));
  CHECK(sent(false, 8, 8, 8) == near(takes(ranks_reached(8.0, 8.0) * 7.0 / 8.0, inside), 1e-6));
  // On eight hosts of one expert a rank they are one host's, and cross the network in one case of eight not.
  CHECK(sent(true, 8, 64, 64) < 0.5 * sent(false, 8, 64, 64));
}

TEST_CASE("weight gradients that are not put off leave less compute for exchanges to hide beside") {
  ExpertTraffic late;
  late.delays_weight_gradients = true;
  ExpertTraffic early;
  early.delays_weight_gradients = false;
  Strategy s = spread(64, 64);
  s.overlap_experts = true;
  const LayerTimes all = layer({}, s, 64);
  CHECK(layer(late, s, 64).ep_hidden == all.ep_hidden);
  CHECK(layer(early, s, 64).ep_hidden.raw() == near(all.ep_hidden.raw() - 0.85 * all.weight_gradients.raw(), 1e-6));
}

TEST_CASE("a pair of passes with overlapped exchanges is launched beside its compute, not beside what compute hides") {
  StepStack own = stack();
  const auto model = [&](StepStack numbers, ExpertLaunch launch) {
    const CompiledTraining c = compiled(sent_by(ExpertDispatcher::hybridep), expert_network(), 64);
    StepRecipe recipe = c.step->pricer().recipe();
    recipe.stack = std::move(numbers);
    recipe.experts.launch = launch;
    return StepModel{recipe, c.step->shared_groups(), 16};
  };
  Strategy s = spread(64, 64);
  s.overlap_experts = true;
  const LayerTimes l = model(own, ExpertLaunch::eager).tabulate(key_of(s)).layer;
  REQUIRE(l.ep_hidden > Seconds{});
  // Three forward passes' launches and a count that is read back, 60 us.
  const Seconds host = dense_host + moe_host + expert_host;
  const Seconds launches = 3.0 * host + Seconds{60e-6};
  const Seconds gpu = l.forward.total() + l.backward.total();
  CHECK((l.wait_hidden + l.host_forward + l.host_backward + l.sync).raw() ==
        near(waited(gpu - l.ep_hidden, launches), 1e-6));
  // A graph of all layers launches nothing: its gaps are those of both passes.
  const LayerTimes graph = model(own, ExpertLaunch::full_graphs).tabulate(key_of(s)).layer;
  CHECK((graph.wait_hidden + graph.host_forward + graph.host_backward).raw() ==
        near(waited(gpu - graph.ep_hidden, Seconds{3.0 * 40.0 * 0.5e-6}), 1e-4));
  CHECK(model(own, ExpertLaunch::eager).tabulate(key_of(spread(64, 64))).layer.wait_hidden == Seconds{});

  // Where the host takes much longer than everything else, a pair takes its launches, however much of its exchanges
  // compute hides; what is read back costs the first micro-batch alone.
  own.host = own.moe_launch = Seconds{50e-3};
  const StepModel slow = model(own, ExpertLaunch::eager);
  const double passes = 24.0;
  const double head = 3.0 * 50e-3;  // look-up, product and loss launch as much as three dense layers
  const auto hosts = [&](const StepTime& t) { return t.time.total() - t.time[Term::straggler]; };
  s.micro_batch = 1;
  const StepTime paired = slow.time(slow.tabulate(key_of(s)), s, 512.0, {});
  const Seconds each = 3.0 * (Seconds{100e-3} + expert_host);
  CHECK(hosts(paired).raw() == near(8.0 * (passes * each.raw() + head), 0.01));
  CHECK(paired.time[Term::host_sync].raw() == near(passes * slow.tabulate(key_of(s)).layer.sync.raw(), 1e-6));
}

TEST_CASE("shared experts on a stream of their own hide exchanges as far as their products last") {
  Architecture arch = expert_network();
  TermSet without;
  const auto with = [&](bool beside, std::int64_t width, Method method = Method::full, bool pairs = false) {
    ExpertRule recipe;
    recipe.habits.dispatcher = ExpertDispatcher::hybridep;
    recipe.habits.shared_beside = beside;
    arch.moe->shared_ffn_hidden = width;
    const CompiledTraining c =
        compiled({}, arch, 64, {recipe}, Precision::bf16, "h100-sxm-80gb", "dgx-h100", method, without);
    LayerKey key = key_of(spread(64, 64));
    key.overlap_experts = pairs;
    return std::pair{c.step->tabulate(key).layer, c.step->pricer().products(distinct_blocks(arch).front().block, key)};
  };
  const auto [plain, unused] = with(false, 8192);
  CHECK(unused.shared_forward == Seconds{});
  CHECK(unused.shared_backward == Seconds{});
  // Wide ones outlast the exchange, of which 15 % come back as slower compute; thin ones hide as much as they take.
  const auto [wide, wide_time] = with(true, 65536);
  REQUIRE(wide_time.shared_forward > plain.forward.ep);
  CHECK(wide.forward.ep.raw() == near(0.15 * plain.forward.ep.raw(), 1e-9));
  const auto [thin, thin_time] = with(true, 128);
  REQUIRE(thin_time.shared_backward < plain.backward.ep);
  CHECK((plain.forward.ep - thin.forward.ep).raw() == near(0.85 * thin_time.shared_forward.raw(), 1e-6));
  CHECK((plain.backward.ep - thin.backward.ep).raw() == near(0.85 * thin_time.shared_backward.raw(), 1e-6));
  // Gradients of data and weights are two products of the forward's size, frozen weights take the first alone.
  CHECK(wide_time.shared_backward / wide_time.shared_forward == near(2.0, 0.1));
  const LayerProducts frozen = with(true, 65536, Method::lora).second;
  CHECK(frozen.shared_backward / frozen.shared_forward == near(1.0, 0.1));

  // Beside the opposite pass, what hid a pass's own exchanges hides no more of them.
  const auto compute = [](const LayerPass& pass) { return pass.gemm + pass.attention + pass.scan + pass.elementwise; };
  const auto [alone, none] = with(false, 128, Method::full, true);
  const auto [paired, products] = with(true, 128, Method::full, true);
  const Seconds room = compute(alone.forward) + compute(alone.backward);
  REQUIRE(alone.forward.ep + alone.backward.ep > room);
  CHECK(alone.ep_paired.raw() == near(0.85 * room.raw(), 1e-9));
  CHECK(paired.ep_paired.raw() == near(0.85 * (room - products.shared_forward - products.shared_backward).raw(), 1e-9));

  // Without products a step has their time less, and its exchanges stay as they are with them.
  without.add(Term::gemm);
  const LayerTimes left = with(true, 128).first;
  CHECK(left.forward.gemm == Seconds{});
  CHECK(left.forward.ep == thin.forward.ep);
  CHECK(left.backward.ep == thin.backward.ep);
  // What pairs hide is hidden beside the compute that is left, of which the shared experts took nothing.
  const auto [bare, gone] = with(true, 128, Method::full, true);
  CHECK(bare.ep_paired.raw() == near(0.85 * (compute(bare.forward) + compute(bare.backward)).raw(), 1e-9));
}

TEST_CASE("4-bit recipes that leave prediction modules in 16 bit and mixers' output projections in 8") {
  const Architecture arch = ModelLibrary::standard().find("nemotron-3-super-120b-a12b");
  const auto with = [&](Precision precision, bool modules, bool outputs) {
    std::vector<ExpertRule> rules(1);
    rules[0].habits.wide_modules = modules;
    rules[0].habits.eight_bit_outputs = outputs;
    return compiled({}, arch, 8, rules, precision, "b200-sxm-180gb", "dgx-b200");
  };
  const LayerKey key = key_of(spread(8));
  const auto gemm = [&](const CompiledTraining& c, const Block& block) {
    return c.step->pricer().products(block, key).all.forward.gemm.raw();
  };
  Block mixer;
  for (const CountedBlock& kind : distinct_blocks(arch)) {
    mixer = is_recurrent(kind.block.mixer) ? kind.block : mixer;
  }
  REQUIRE(is_recurrent(mixer.mixer));
  const CompiledTraining four = with(Precision::nvfp4, false, false);
  const CompiledTraining outputs = with(Precision::nvfp4, false, true);
  const CompiledTraining eight = with(Precision::mxfp8, false, false);
  // A 4-bit product takes half of an 8-bit one here. [4096 tokens, 4096, 8192] is what goes back to twice.
  std::string why;
  const double out = step_product(test::model_data(), catalog().device("b200-sxm-180gb"), "fp8", false, why)
                         .time({4096, 4096, 8192})
                         .raw();
  CHECK(gemm(outputs, mixer) - gemm(four, mixer) == near(0.5 * out, 1e-9));
  CHECK(gemm(eight, mixer) == near(2.0 * gemm(four, mixer), 1e-9));
  CHECK(gemm(with(Precision::mxfp8, false, true), mixer) == gemm(eight, mixer));
  // The module's block is attention and experts, which no layer of this network is both of.
  const CompiledTraining modules = with(Precision::nvfp4, true, false);
  const CompiledTraining wide = with(Precision::bf16, false, false);
  CHECK(gemm(modules, arch.prediction_block()) == near(gemm(wide, arch.prediction_block()), 1e-9));
  CHECK(gemm(modules, mixer) == gemm(four, mixer));
  CHECK(modules.step->pricer().prediction(key).raw() == near(wide.step->pricer().prediction(key).raw(), 1e-9));
  // A module whose block is a layer's as well is priced as that layer.
  Architecture alike = expert_network();
  alike.mtp_layers = 1;
  std::vector<ExpertRule> rules(1);
  rules[0].habits.wide_modules = true;
  const Block block = distinct_blocks(alike).front().block;
  CHECK(gemm(compiled({}, alike, 8, rules, Precision::fp8), block) ==
        gemm(compiled({}, alike, 8, {}, Precision::fp8), block));
}

TEST_CASE("a prediction module is a layer on the last stage, a pass through the head and a product of 2 h by h") {
  Architecture predicts = expert_network();
  predicts.mtp_layers = 1;
  const CompiledTraining with = compiled({}, predicts);
  const CompiledTraining without = compiled({});
  Strategy s;
  s.pp = 4;
  s.dp = 2;
  s.ep = 2;
  const StageLayers split = with.step->stages(s);
  CHECK(split.last == without.step->stages(s).last + 1.0);
  CHECK(split.first == without.step->stages(s).first);
  const StepTable t = with.step->tabulate(key_of(s));
  const StepTable plain = without.step->tabulate(key_of(s));
  CHECK(t.head.loss.raw() == near(2.0 * plain.head.loss.raw()));
  CHECK(t.head.product.raw() == near(2.0 * plain.head.product.raw() + with.step->pricer().prediction(key_of(s)).raw()));
}

TEST_CASE("a software's recipe of experts is the first that holds, a model matches by the start of its name") {
  std::vector<ExpertRule> rules(2);
  rules[0].releases = {"mb26.06"};
  rules[0].devices = {"gb200-nvl72"};
  rules[0].models = {"Qwen3"};
  rules[0].precisions = {"mxfp8"};
  rules[0].habits.launch = ExpertLaunch::full_graphs;
  rules[1].devices = {"gb200-nvl72"};
  rules[1].habits.launch = ExpertLaunch::partial_graphs;
  const auto launch = [&](std::string_view release, std::string_view device, std::string_view model, Precision p) {
    return expert_habits(rules, {release, device, model, p}).launch;
  };
  CHECK(launch("mb26.06", "gb200-nvl72", "Qwen3_30B_a3B", Precision::mxfp8) == ExpertLaunch::full_graphs);
  CHECK(launch("mb26.06", "gb200-nvl72", "Qwen3_30B_a3B", Precision::bf16) == ExpertLaunch::partial_graphs);
  CHECK(launch("mb26.02", "gb200-nvl72", "Qwen3_30B_a3B", Precision::mxfp8) == ExpertLaunch::partial_graphs);
  CHECK(launch("mb26.06", "gb200-nvl72", "DeepSeekV3", Precision::mxfp8) == ExpertLaunch::partial_graphs);
  CHECK(launch("mb26.06", "h100-sxm-80gb", "Qwen3_30B_a3B", Precision::mxfp8) == ExpertLaunch::eager);
}

TEST_CASE("Megatron-Bridge's published recipes: graphs of the whole step on NVL72 from 26.06, eager on H100") {
  const auto of = [&](std::string_view software, std::string_view device, std::string_view model) {
    const MemoryStack& stack = memory_stacks(test::model_data()).find(software);
    return expert_habits(stack.experts, {"mb26.04", device, model, Precision::mxfp8});
  };
  for (const std::string_view model : {"DeepSeekV3", "deepseek-v3"}) {
    const ExpertHabits late = of("megatron-bridge-2026", "gb300-nvl72", model);
    CHECK(late.launch == ExpertLaunch::full_graphs);
    CHECK(late.predicts);
    CHECK(late.fused_products);
    const ExpertHabits early = of("megatron-bridge-performance", "gb300-nvl72", model);
    CHECK(early.launch == ExpertLaunch::eager);
    CHECK(early.recompute_parts.has(RecomputePart::mla_up_proj));
    CHECK_FALSE(early.recompute_parts.has(RecomputePart::moe_act));
  }
  CHECK(of("megatron-bridge-performance", "gb200-nvl72", "Qwen3_235B_a22B").launch == ExpertLaunch::partial_graphs);
  CHECK(of("megatron-bridge-performance", "gb200-nvl72", "Qwen3_235B_a22B").dispatcher == ExpertDispatcher::hybridep);
  CHECK(of("megatron-bridge-2026", "h100-sxm-80gb", "Qwen3_30B_a3B").launch == ExpertLaunch::eager);
  // scripts/performance/configs at v0.4.0 (26.04): HybridEP for B200's larger batch too, where releases before had
  // none.
  CHECK(of("megatron-bridge-performance", "b200-sxm-180gb", "GPT OSS 120B").dispatcher == ExpertDispatcher::hybridep);
  CHECK(expert_habits(memory_stacks(test::model_data()).find("megatron-bridge-performance").experts,
                      {"mb26.02", "b200-sxm-180gb", "GPT OSS 120B", Precision::mxfp8})
            .dispatcher == ExpertDispatcher::alltoall);
  // The library's recipes exchange by the collective, but for the one that says otherwise.
  const auto library = [&](std::string_view device, std::string_view model) {
    return expert_habits(memory_stacks(test::model_data()).find("megatron-bridge").experts,
                         {"", device, model, Precision::bf16});
  };
  CHECK(library("h100-sxm-80gb", "Qwen3-30B-A3B").dispatcher == ExpertDispatcher::hybridep);
  CHECK(library("h100-sxm-80gb", "Qwen3-30B-A3B").launch == ExpertLaunch::partial_graphs);
  CHECK(library("h100-sxm-80gb", "Qwen3-30B-A3B").eager_attention);
  CHECK(library("h100-sxm-80gb", "Moonlight-16B-A3B").dispatcher == ExpertDispatcher::alltoall);
  CHECK(library("h100-sxm-80gb", "Moonlight-16B-A3B").launch == ExpertLaunch::eager);
  // Networks without experts have no such habits.
  Architecture dense = expert_network();
  dense.moe.reset();
  CHECK(compiled(launched(ExpertLaunch::full_graphs), dense).step->pricer().recipe().experts.launch ==
        ExpertLaunch::eager);
}

TEST_CASE("of several dispatchers a layer takes the one with which it is shortest, and says which") {
  const CompiledTraining c = compiled({}, expert_network(), 64);
  const auto with = [&](std::vector<ExpertDispatcher> dispatchers, ExpertDispatcher own) {
    StepRecipe recipe = c.step->pricer().recipe();
    recipe.dispatchers = std::move(dispatchers);
    recipe.experts.dispatcher = own;
    return StepModel{recipe, c.step->shared_groups(), 16}.tabulate(key_of(spread(64, 64))).layer;
  };
  const LayerTimes own = with({}, ExpertDispatcher::alltoall);
  const LayerTimes flexible = with({}, ExpertDispatcher::hybridep);
  REQUIRE(flexible.total() < own.total());
  CHECK(own.dispatcher == ExpertDispatcher::alltoall);
  for (const ExpertDispatcher habit : {ExpertDispatcher::alltoall, ExpertDispatcher::hybridep}) {
    const LayerTimes open =
        with({ExpertDispatcher::alltoall, ExpertDispatcher::deepep, ExpertDispatcher::hybridep}, habit);
    CHECK(open.dispatcher != ExpertDispatcher::alltoall);  // over NICs both others are alike
    CHECK(open.total() == flexible.total());
  }
}
