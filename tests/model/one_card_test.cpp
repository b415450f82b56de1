// SPDX-License-Identifier: Apache-2.0
// Fine-tuning on one card by hand: what a 4-bit base, adapters, paged moments, losses in parts and weights on the host
// take, and what unpacking and Muon's products cost.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include "stage_of.hpp"
#include "stated_step.hpp"

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;

namespace {

Architecture model(std::string_view id) {
  return ModelLibrary::standard().find(id);
}

MemoryOptions tuned(Method method, std::int64_t rank = 16) {
  MemoryOptions options;
  options.method = method;
  options.lora_rank = rank;
  return options;
}

StageMemory alone(std::string_view preset, std::string_view software, const MemoryOptions& options, Bytes capacity) {
  const MemoryStack& stack = stacks().find(software);
  Strategy s = strategy(1, 1, 1);
  s.zero = 0;
  s.recompute = Recompute::full;
  return stage(compile_memory(model(preset), stack, stack.states_of(Precision::bf16, "ada"), Precision::bf16, options,
                              2048, capacity),
               s, 4);
}

constexpr Bytes ample{1024.0 * gib};

CompiledTraining compiled_step(const MemoryOptions& options) {
  const Device& device = catalog().device("a100-sxm-80gb");
  TrainingWorkload work;
  work.shape = {8, 2048, 64};
  work.states = adam_states(Precision::bf16);
  work.options = options;
  work.host_link = BytesPerSecond{25e9};
  return compile(
      model("llama2-7b"), device,
      std::make_shared<const JobGroups>(test::model_data(), device, JobHosts{catalog().node("dgx-a100"), 0, {}, {}}, 8),
      test::stated_software(stacks().find("trl"), test::stated_stack()), work, test::stated_parameters());
}

constexpr double bandwidth = 0.78 * 2039e9;  // sustained on the A100's 2,039 GB/s

}  // namespace

TEST_CASE("a 4-bit base takes 4.5 bits a weight, doubly quantised 4.127") {
  CHECK(8.0 * nf4_bytes(false) == near(4.5));
  CHECK(8.0 * nf4_bytes(true) == doctest::Approx(4.127).epsilon(1e-4));
}

TEST_CASE("adapters take what their software's recipes keep, and a stated optimizer its own moments") {
  const Architecture arch = model("llama2-7b");
  const double adapters = 32.0 * lora_parameters(arch, arch.blocks().front(), 16).total();
  const auto optimizer = [&](std::string_view software, std::optional<Optimizer> stated) {
    MemoryOptions options = tuned(Method::lora);
    options.optimizer = stated;
    return alone("llama2-7b", software, options, ample).bytes[MemoryTerm::optimizer].raw() / adapters;
  };
  CHECK(optimizer("trl", std::nullopt) == near(8.0));
  CHECK(optimizer("unsloth", std::nullopt) == near(2.0));
  CHECK(optimizer("torchtune", std::nullopt) == near(4.0));
  CHECK(optimizer("megatron-core-te", std::nullopt) == near(12.0));
  CHECK(optimizer("trl", Optimizer::adamw_8bit) == near(2.0));
  CHECK(optimizer("megatron-core-te", Optimizer::sgd) == near(4.0));  // the master copy
}

TEST_CASE(
    "a paged optimizer's moments stay while there surely is room, and else lie on the host, no more than needed") {
  MemoryOptions options = tuned(Method::qlora, 64);
  options.optimizer = Optimizer::paged_adamw;
  const StageMemory room = alone("llama2-7b", "trl", options, ample);
  CHECK(room.host.total() == Bytes{});
  const MemoryStack& software = stacks().find("trl");
  const Bytes wanted = device_interval(room, software).high;
  const Bytes capacity = wanted - Bytes{0.5 * gib};
  const StageMemory tight = alone("llama2-7b", "trl", options, capacity);
  CHECK(tight.host.paged > Bytes{});
  CHECK(tight.host.paged == tight.host.states);
  CHECK((tight.bytes[MemoryTerm::optimizer] + tight.host.paged).raw() == near(room.bytes[MemoryTerm::optimizer].raw()));
  CHECK(device_interval(tight, software).high <= capacity);
  CHECK(device_interval(tight, software).high.raw() == near(capacity.raw(), 1e-5));
  const StageMemory none = alone("llama2-7b", "trl", options, Bytes{gib});
  CHECK(none.bytes[MemoryTerm::optimizer].raw() == 0.0);
  CHECK(none.host.paged == room.bytes[MemoryTerm::optimizer]);
}

TEST_CASE("offloaded parameters leave two layers on the device, and the host holds the shard with its states") {
  MemoryOptions options = tuned(Method::qlora);
  options.offload_parameters = true;
  const Architecture arch = model("llama2-7b");
  const CompiledMemory c = compiled(arch, "trl", 512, Precision::bf16, options);
  const CompiledMemory here = compiled(arch, "trl", 512, Precision::bf16, tuned(Method::qlora));
  Strategy s = strategy(1, 1, 2);
  s.zero = 3;
  s.recompute = Recompute::full;
  const StageMemory m = stage(c, s, 4);
  const StageMemory without = stage(here, s, 4);
  CHECK(m.bytes[MemoryTerm::weights].raw() == 0.0);
  CHECK(m.bytes[MemoryTerm::gradients].raw() == 0.0);
  CHECK(m.bytes[MemoryTerm::optimizer].raw() == 0.0);
  CHECK(m.host.states.raw() == near(states(without) * gib));
  CHECK(m.host.weights.raw() == near(without.bytes[MemoryTerm::weights].raw()));
  const double layer = block_parameters(arch, arch.blocks().front()).total();
  const double layers = m.moment == PeakMoment::layer_backward ? 2.0 : 1.0;  // in use and on its way
  const double ends = 2.0 * 2.0 * 32000.0 * 4096.0;                          // FSDP's root unit
  CHECK(m.bytes[MemoryTerm::gather_buffers].raw() == near(layers * nf4_bytes(false) * layer + ends));
}

TEST_CASE("a lone GPU gathers nothing and has no communicator") {
  Strategy s = strategy(1, 1, 1);
  s.zero = 3;
  const CompiledMemory c = compiled(model("llama3-8b"), "torchtune", 2048);
  const StageMemory one = stage(c, s, 1);
  CHECK(one.bytes[MemoryTerm::gather_buffers].raw() == 0.0);
  s.dp = 2;
  const StageMemory two = stage(c, s, 1);
  CHECK(two.bytes[MemoryTerm::gather_buffers].raw() > 0.0);
  CHECK((two.bytes[MemoryTerm::framework] - one.bytes[MemoryTerm::framework]).raw() == near(392.0 * 1024.0 * 1024.0));
}

TEST_CASE("a loss in parts holds the logits of a part: 256 tokens of TRL's, and of torchtune's 2 bytes and an eighth") {
  const auto logits = [](std::string_view software, MemoryOptions options) {
    const Architecture arch = model("llama3-8b");
    const double beside = 3.0 * 2.0 * 4096.0 * 2048.0;
    return (tabulate_memory(compiled(arch, software, 2048, Precision::bf16, options), {}).loss - beside) / 128256.0;
  };
  MemoryOptions options = tuned(Method::lora);
  CHECK(logits("trl", options) == near(14.0 * 256.0));
  CHECK(logits("axolotl", options) == near(14.0 * 2048.0));
  options.compiled = true;
  CHECK(logits("torchtune", options) == near((2.0 + 2.0 / 8.0) * 2048.0));
  options.fused_loss = false;
  CHECK(logits("torchtune", options) == near(12.0 * 2048.0));
  CHECK(logits("torchtune", MemoryOptions{}) == near(16.0 * 2048.0));  // of full recipes nobody says
}

TEST_CASE("frozen weights are bytes of a file: the upper end widens what stands beside them alone") {
  const MemoryStack& software = stacks().find("trl");
  const StageMemory m = alone("llama2-7b", "trl", tuned(Method::lora), ample);
  const Interval<Bytes> held = device_interval(m, software);
  const Bytes beside = m.live() + m.wanted_slack - m.frozen;
  CHECK(m.frozen.raw() > 13e9);
  CHECK((held.high - m.frozen).raw() == near((1.3 * beside + 1.5 * m.bytes[MemoryTerm::framework]).raw()));
}

TEST_CASE(
    "a step of QLoRA takes longer than one of LoRA: each product's weights are read in 4 bits and written in 16") {
  const StepTable lora = compiled_step(tuned(Method::lora)).step->tabulate({});
  const StepTable qlora = compiled_step(tuned(Method::qlora)).step->tabulate({});
  const Architecture arch = model("llama2-7b");
  const double matrices = 4.0 * 4096.0 * 4096.0 + 3.0 * 4096.0 * 11008.0;
  const double once = matrices * (nf4_bytes(false) + 2.0) / bandwidth;
  CHECK((qlora.layer.forward.elementwise - lora.layer.forward.elementwise).raw() == near(once));
  CHECK((qlora.layer.backward.elementwise - lora.layer.backward.elementwise).raw() == near(once));
  CHECK(qlora.layer.forward.gemm == lora.layer.forward.gemm);
  LayerKey again;
  again.recompute = Recompute::full;
  const StepTable recomputed = compiled_step(tuned(Method::qlora)).step->tabulate(again);
  CHECK(recomputed.layer.recompute == recomputed.layer.forward.total());  // unpacked once more
}

TEST_CASE("adapters move e (k + 4 n) bytes a token forward and e (5 k + 2 n) backward, and have no weight gradients") {
  const StepTable full = compiled_step({}).step->tabulate({});
  const StepTable lora = compiled_step(tuned(Method::lora)).step->tabulate({});
  const double h = 4096.0;
  const double f = 11008.0;
  const double in = h + h + h + f;  // of queries, keys and values, the output, both inner matrices, the last
  const double out = 3.0 * h + h + 2.0 * f + h;
  const double once = 2.0 * 2048.0 / bandwidth;
  CHECK((lora.layer.forward.elementwise - full.layer.forward.elementwise).raw() == near(once * (in + 4.0 * out)));
  CHECK((lora.layer.backward.elementwise - full.layer.backward.elementwise).raw() ==
        near(once * (5.0 * in + 2.0 * out)));
  CHECK(lora.layer.forward.gemm == full.layer.forward.gemm);
  CHECK(lora.layer.weight_gradients == Seconds{});
  CHECK((full.layer.backward.gemm - lora.layer.backward.gemm).raw() == near(full.layer.weight_gradients.raw()));
}

TEST_CASE("adapters of attention alone are those of its matrices") {
  const Architecture arch = model("llama2-7b");
  const Block block = arch.blocks().front();
  CHECK(lora_parameters(arch, block, 16, AdapterTargets::attention).total() ==
        near(16.0 * (3.0 * (4096.0 + 4096.0) + 4096.0 + 4096.0)));
  CHECK(lora_parameters(arch, block, 16).total() >
        1.5 * lora_parameters(arch, block, 16, AdapterTargets::attention).total());
  CHECK(targets_of(stacks().find("nemo-megatron")) == AdapterTargets::attention);
  CHECK(targets_of(stacks().find("trl")) == AdapterTargets::every_matrix);
}

TEST_CASE("an MLP without adapters keeps the inputs of neither its first nor its last matrix") {
  ActivationShape shape;
  shape.seq_len = 2048;
  shape.hidden = 4096;
  shape.ffn = 11008;
  shape.gated = true;
  const Bytes trained = layer_activations(shape);
  shape.frozen_mlp = true;
  CHECK((trained - layer_activations(shape)).raw() == near(2.0 * 2048.0 * (4096.0 + 11008.0)));
}

TEST_CASE("what adapters drop out is kept with its mask, and 8-bit attention keeps a byte of what it multiplies") {
  // Llama 2 70B, a token and layer: two norms' inputs, q, k, v and the output in 8 bit, log-sums of 64 heads, and the
  // two outputs of the first matrices of the MLP, whose other inputs nobody needs again.
  ActivationShape shape;
  shape.hidden = shape.queries = shape.output = 8192;
  shape.keys = shape.values = 1024;
  shape.heads = 64;
  shape.ffn = 28672;
  shape.gated = true;
  shape.input_bytes = 1;
  shape.frozen_mlp = shape.dropped_inputs = shape.narrow_attention = true;
  CHECK(layer_activations(shape).raw() ==
        near(2.0 * 2.0 * 8192 + (8192 + 2.0 * 1024 + 8192) + 4.0 * 64 + 2.0 * 2.0 * 28672));
  // MLPerf Training v5.0, Llama 2 70B LoRA, 8 B200 without and with 8 context ranks: max_memory_usage of the logs.
  const Device& device = catalog().device("b200-sxm-180gb");
  const auto logged = [&](std::uint16_t cp) {
    MemoryOptions options = tuned(Method::lora);
    const MemoryStack& stack = stacks().find("nemo-megatron");
    TrainingWorkload work;
    work.shape = {8L * cp, 8192, 8};
    work.precision = Precision::fp8;
    work.states = stack.states_of(Precision::fp8, device.generation);
    work.options = options;
    const CompiledTraining c = compile_for_memory(model("llama2-70b"), device, stack, work);
    Strategy s = strategy(1, 1, 8);
    s.cp = cp;
    // FP8_ACT in the configuration of the lone ranks alone: the activation's input in 8 bit.
    s.recompute = cp == 1 ? Recompute::selective : Recompute::none;
    return stage(c.memory, s, 1).live().raw() / gib;
  };
  CHECK(logged(1) == doctest::Approx(168.8).epsilon(0.04));
  CHECK(logged(8) == doctest::Approx(82.3).epsilon(0.04));
}

TEST_CASE("frozen matrices cast 3 of 5 bytes an element, and before Blackwell transpose what lies in 8 bit") {
  const auto casts = [](const char* sku, double gradients) {
    const Device& device = catalog().device(sku);
    const StepParameters all = test::stated_parameters();
    const StepKernels kernels{test::model_data(),         device,        test::stated_stack(), all.physics,
                              all.levels.of(device, 0.4), Precision::fp8};
    const ProductTimes t = kernels.product(2048, 4096, 8192, 1.0, gradients);
    const double rate = 0.78 * device.bandwidth().raw();
    return std::pair{t.casts_forward.raw() * rate, t.casts_backward.raw() * rate};
  };
  const double inputs = 2048.0 * 8192.0;
  const double outputs = 2048.0 * 4096.0;
  const double weights = 4096.0 * 8192.0;
  CHECK(casts("h100-sxm-80gb", 1.0).first == near(5.0 * (inputs + 0.5 * weights)));
  CHECK(casts("h100-sxm-80gb", 0.0).first == near(3.0 * inputs));
  CHECK(casts("h100-sxm-80gb", 0.0).second == near(3.0 * outputs + 2.0 * weights));
  CHECK(casts("b200-sxm-180gb", 0.0).second == near(3.0 * outputs));
}

TEST_CASE("documents packed into a sequence attend to themselves alone") {
  MemoryOptions options = tuned(Method::lora);
  const StepTable whole = compiled_step(options).step->tabulate({});
  options.document_tokens = 512.0;
  const StepTable packed = compiled_step(options).step->tabulate({});
  // A quarter of the pairs, and a diagonal of tiles that is computed whole.
  CHECK(packed.layer.forward.attention < 0.45 * whole.layer.forward.attention);
  CHECK(packed.layer.forward.attention > 0.2 * whole.layer.forward.attention);
  CHECK(packed.layer.forward.gemm == whole.layer.forward.gemm);
  options.document_tokens = 1e6;  // no longer than the sequence
  CHECK(compiled_step(options).step->tabulate({}).layer.forward.attention == whole.layer.forward.attention);
}

TEST_CASE("model FLOP of a token are 4 a frozen weight and 6 an adapter's, and scores of its own document alone") {
  const Architecture arch = model("llama2-7b");
  const double matrices = 6738415616.0 - 32000.0 * 4096 - 65.0 * 4096;  // no embedding table, no norms
  const double scores = 12.0 * 32 * 4096 * 2048;
  const double adapters = 32.0 * lora_parameters(arch, arch.blocks().front(), 16).total();
  CHECK(compiled_step(tuned(Method::full)).model_flops_per_token.raw() == near(6.0 * matrices + scores));
  MemoryOptions options = tuned(Method::lora);
  CHECK(compiled_step(options).model_flops_per_token.raw() == near(4.0 * matrices + 6.0 * adapters + scores));
  CHECK(compiled_step(tuned(Method::qlora)).model_flops_per_token == compiled_step(options).model_flops_per_token);
  options.document_tokens = 512.0;
  CHECK(compiled_step(options).model_flops_per_token.raw() == near(4.0 * matrices + 6.0 * adapters + 0.25 * scores));
}

TEST_CASE("offloaded weights come over the link for each pass, paged moments for the update and back") {
  MemoryOptions options = tuned(Method::qlora);
  const CompiledTraining c = compiled_step(options);
  Strategy s = strategy(1, 1, 8);
  s.zero = 3;
  const StepTable table = c.step->tabulate(key_of(s));
  HostMemory host;
  host.states = host.paged = Bytes{50e9};
  CHECK(c.step->time(table, s, 64, host).time[Term::offload].raw() == near(4.0));
  HostMemory weights;
  weights.states = weights.weights = Bytes{1e12};  // 40 s a pass: nothing hides that
  const StepTime slow = c.step->time(table, s, 64, weights);
  CHECK(slow.time[Term::offload].raw() > 8.0 * (2.0 * 40.0 - slow.layer.raw() * 32.0));
  CHECK(slow.time[Term::offload].raw() < 8.0 * 2.0 * 40.0);
}

TEST_CASE(
    "Muon's update takes five Newton-Schulz steps of three products a matrix, spread over ranks that share states") {
  MemoryOptions options;
  const CompiledTraining adam = compiled_step(options);
  options.optimizer = Optimizer::muon;
  const CompiledTraining muon = compiled_step(options);
  Strategy s = strategy(1, 1, 8);
  const auto update = [&](const CompiledTraining& c, int zero) {
    s.zero = static_cast<std::uint8_t>(zero);
    return c.step->time(c.step->tabulate(key_of(s)), s, 64).time[Term::optimizer].raw();
  };
  const auto flop = [](double a, double b) { return 5.0 * (4.0 * a * a * b + 2.0 * a * a * a); };
  const double all = 32.0 * (4.0 * flop(4096.0, 4096.0) + 3.0 * flop(4096.0, 11008.0));
  const double products = update(muon, 0) - update(adam, 0);
  CHECK(products > all / 312e12);
  CHECK(products < 2.0 * all / 312e12);
  CHECK((update(muon, 1) - update(adam, 1)) == near(products / 8.0));
}
