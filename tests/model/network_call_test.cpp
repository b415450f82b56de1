// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/infer/network_calls.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace headroom;

namespace {

/// A device and numbers with nothing hidden: 100 TFLOP/s, 1 TB/s, shares of 1, no launch, gap or shape costs.
CallDevice plain_device() {
  CallDevice d;
  d.peak = FlopsPerSecond{100e12};
  d.vector_rate = FlopsPerSecond{10e12};
  d.bandwidth = BytesPerSecond{1e12};
  d.product = 1.0;
  d.bandwidth_share = 1.0;
  return d;
}
CallPhysics plain_physics() {
  CallPhysics p;
  p.convolution = p.grouped = p.convolution_training = p.grouped_training = {1.0, 1.0, 1.0, 1.0};
  p.attention = 1.0;
  p.winograd = 0.5;
  p.depth = p.rows = 0.0;
  p.depthwise_bytes = 1.0;
  p.depthwise_flop = 1.0;
  p.bytes_8bit = 1.0;
  p.norm = 50.0;  // the larger
  p.training = 1.0;
  return p;
}
CallOp product(double m, double n, double k) {
  CallOp op;
  op.m = m;
  op.n = n;
  op.k = k;
  op.in = m * k;
  op.out = m * n;
  op.weights = k * n;
  return op;
}
double seconds(const CallOp& op, double batch, const CallPhysics& p, const NetworkEngine& e, const CallSetting& s) {
  return kernel_time(op, batch, plain_device(), p, e, s).raw();
}

}  // namespace

TEST_CASE("network call: a large product runs at its share of the peak, a thin one at the memory's rate") {
  const CallPhysics p = plain_physics();
  CHECK(seconds(product(4096, 4096, 4096), 1.0, p, {}, {}) == doctest::Approx(2 * std::pow(4096.0, 3) / 100e12));
  // One row: the weights are read, 2 bytes each.
  const double bytes = 2.0 * (4096.0 * 4096.0 + 2.0 * 4096.0);
  CHECK(seconds(product(1, 4096, 4096), 1.0, p, {}, {}) == doctest::Approx(bytes / 1e12));
  // Rows grow with the batch, weights do not.
  CHECK(seconds(product(1, 4096, 4096), 8.0, p, {}, {}) ==
        doctest::Approx(2.0 * (4096.0 * 4096.0 + 8.0 * 2.0 * 4096.0) / 1e12));
}

TEST_CASE("network call: shapes cost what their tiles leave empty") {
  CallPhysics p = plain_physics();
  p.depth = 100.0;
  CHECK(seconds(product(4096, 4096, 100), 1.0, p, {}, {}) == doctest::Approx(2.0 * 2.0 * 4096 * 4096 * 100 / 100e12));
  p.depth = 0.0;
  p.rows = 64.0;
  CHECK(seconds(product(64, 1e9, 4096), 1.0, p, {}, {}) == doctest::Approx(2.0 * 2.0 * 64 * 1e9 * 4096 / 100e12));
}

TEST_CASE("network call: Winograd's form saves multiplications of fp32 alone") {
  const CallPhysics p = plain_physics();
  CallOp op = product(4096, 4096, 4096);
  CallSetting fp32;
  fp32.format = CallFormat::fp32;
  const double direct = seconds(op, 1.0, p, {}, fp32);
  op.kind = CallOpKind::winograd;
  CHECK(seconds(op, 1.0, p, {}, fp32) == doctest::Approx(0.5 * direct));
  CHECK(seconds(op, 1.0, p, {}, {}) == doctest::Approx(direct));
}

TEST_CASE("network call: engines fuse, and attention kernels keep scores on the chip") {
  const CallPhysics p = plain_physics();
  CallOp norm;
  norm.kind = CallOpKind::batch_norm;
  norm.in = norm.out = 1e6;
  NetworkEngine eager;
  NetworkEngine folded;
  folded.fusion = Fusion::inference;
  CHECK(seconds(norm, 4.0, p, eager, {}) == doctest::Approx(4.0 * 2e6 * 2.0 / 1e12));
  CHECK(seconds(norm, 4.0, p, folded, {}) == 0.0);

  CallOp gelu;
  gelu.kind = CallOpKind::pointwise;
  gelu.primitives = 8.0;
  gelu.in = gelu.out = 1e6;
  NetworkEngine graph;
  graph.fusion = Fusion::graph;
  CHECK(seconds(gelu, 1.0, p, graph, {}) == doctest::Approx(0.8 * 8.0 * seconds(gelu, 1.0, p, eager, {})));

  CallOp softmax;
  softmax.kind = CallOpKind::softmax;
  softmax.in_attention = true;
  softmax.in = softmax.out = 1e6;
  NetworkEngine flash;
  flash.fused_attention = true;
  CHECK(seconds(softmax, 1.0, p, eager, {}) > 0.0);
  CHECK(seconds(softmax, 1.0, p, flash, {}) == 0.0);
}

TEST_CASE("network call: hosts that overlap hide launches, hosts that wait add them") {
  const CallPhysics p = plain_physics();
  const std::vector<CallOp> ops(100, product(4096, 4096, 4096));
  NetworkEngine engine;
  engine.launch = Seconds{50e-6};
  engine.overlap = 1.0;
  const double gpu = 100.0 * 2 * std::pow(4096.0, 3) / 100e12;
  CHECK(call_time(ops, 1.0, plain_device(), p, engine, {}).total().raw() == doctest::Approx(gpu + 100 * 50e-6));
  engine.overlap = 50.0;
  CHECK(call_time(ops, 1.0, plain_device(), p, engine, {}).total().raw() == doctest::Approx(gpu).epsilon(1e-3));
  // Small kernels: the host sets the pace, whatever the batch.
  const std::vector<CallOp> small(100, product(8, 64, 64));
  CHECK(call_time(small, 1.0, plain_device(), p, engine, {}).total().raw() == doctest::Approx(5e-3).epsilon(1e-3));
  CHECK(call_time(small, 8.0, plain_device(), p, engine, {}).total().raw() == doctest::Approx(5e-3).epsilon(1e-3));
}

TEST_CASE("network call: layers of a recurrent stack run beside each other, their work does not") {
  CallPhysics p = plain_physics();
  p.recurrent_gap = Seconds{10e-6};
  CallOp step = product(1, 4096, 1024);
  step.kind = CallOpKind::recurrent;
  step.weights = step.in = step.out = 0.0;
  step.count = 300.0;  // three layers of a hundred steps
  CallOp stacked = step;
  stacked.beside = 3.0;
  const CallTime apart = call_time(std::vector{step}, 1.0, plain_device(), p, {}, {});
  const CallTime together = call_time(std::vector{stacked}, 1.0, plain_device(), p, {}, {});
  CHECK(apart.gaps.raw() == doctest::Approx(300 * 10e-6));
  CHECK(together.gaps.raw() == doctest::Approx(100 * 10e-6));
  CHECK(together.products == apart.products);
}

TEST_CASE("network call: lstm layers that follow each other are one stack, an embedding reads what it looks up") {
  const ModelData data = ModelData::standard();
  const NetworkLibrary library{data.files()};
  double stacks_of_three = 0.0, stacks_of_two = 0.0;
  for (const CallOp& op : call_ops(library.find("rnnt-training"))) {
    if (op.kind == CallOpKind::recurrent) {
      (op.beside == 3.0 ? stacks_of_three : stacks_of_two) += op.count;
      CHECK((op.beside == 3.0 || op.beside == 2.0));
    }
  }
  CHECK(stacks_of_three == 3 * 205.0);           // frames halved after two layers
  CHECK(stacks_of_two == 2 * 410.0 + 2 * 40.0);  // frames, and pieces said
  // 214 lookups of 128 are read, 26 sums of 128 written.
  bool found = false;
  for (const CallOp& op : call_ops(library.find("dlrm-dcnv2"))) {
    if (op.kind == CallOpKind::gather) {
      CHECK(op.in == 214.0 * 128.0);
      CHECK(op.out == 26.0 * 128.0);
      found = true;
    }
  }
  CHECK(found);
}

TEST_CASE("network call: a board with less power for its rate runs products slower, and nothing else") {
  Device device;
  device.id = "card";
  device.compute_capability = "8.0";
  device.peak[static_cast<std::size_t>(Rate::fp16)] = Sourced<FlopsPerSecond>{FlopsPerSecond{312e12}};
  device.peak[static_cast<std::size_t>(Rate::fp32_vector)] = Sourced<FlopsPerSecond>{FlopsPerSecond{20e12}};
  device.memory.bandwidth = Sourced<BytesPerSecond>{BytesPerSecond{2e12}};
  CallRates rates;
  rates.physics = plain_physics();
  rates.physics.voltage = 0.5;
  rates.physics.draw = 1.0;
  CallSilicon silicon;
  silicon.capabilities = {"8.0"};
  silicon.product[static_cast<std::size_t>(CallFormat::half)] = 1.0;
  silicon.bandwidth = 1.0;
  silicon.watts_per_teraflops = 20.0;
  rates.silicon = {silicon};
  const auto at = [&](double watts) {
    device.power.tdp = Sourced<Watts>{Watts{watts}};
    return call_device(device, rates, {}, CallFormat::half, false);
  };
  CHECK(at(400.0).product == 1.0);  // 20 W for each of 20 TFLOP/s
  CHECK(at(700.0).product == 1.0);
  // f (1/2 + f/2)^2 = 48/125 at f = 0.6.
  CHECK(at(400.0 * 48.0 / 125.0).product == doctest::Approx(0.6));
  CHECK(at(400.0 * 48.0 / 125.0).bandwidth == at(400.0).bandwidth);
  device.power.tdp.reset();
  CHECK(call_device(device, rates, {}, CallFormat::half, false).product == 1.0);
}

TEST_CASE("network call: training is each product three times") {
  const std::vector<CallOp> forward{product(512, 256, 1024)};
  const std::vector<CallOp> all = training_ops(forward);
  REQUIRE(all.size() == 3);
  double flop = 0.0;
  for (const CallOp& op : all) {
    flop += op.flop();
  }
  CHECK(flop == doctest::Approx(3.0 * forward[0].flop()));
  // The gradient of weights sums over samples.
  CHECK(all[2].grows == BatchGrows::depth);
  CHECK(all[2].m == 1024.0);
  CHECK(all[2].k == 512.0);
}

TEST_CASE("network call: silicon, engines and hosts that ship are read and found") {
  const ModelData data = ModelData::standard();
  const CallRates& rates = call_rates(data);
  REQUIRE(rates.silicon_of("8.0") != nullptr);
  CHECK(rates.silicon_of("8.0")->name == "Ampere with HBM");
  CHECK(rates.silicon_of("6.1") == nullptr);
  CHECK(rates.host_of("2 x EPYC 7742")->launch < 1.0);
  CHECK(rates.host_of("abacus") == nullptr);
  CHECK(network_engine_of(data, "PyTorch (native framework)", "NGC 20.06", "")->id == "pytorch-1-2020");
  CHECK(network_engine_of(data, "PyTorch (native framework)", "NGC 21.06", "")->id == "pytorch-1");
  CHECK(network_engine_of(data, "PyTorch (native framework)", "NGC 24.01", "")->id == "pytorch");
  CHECK(network_engine_of(data, "TensorFlow (native framework)", "NGC 21.06", "xla=true")->id == "tensorflow-xla");
  CHECK(network_engine_of(data, "TensorFlow (native framework)", "NGC 20.06", "")->id == "tensorflow-2020");
  // A longer mark says more than its beginning, and a release's bounds more than none.
  CHECK(network_engine_of(data, "TensorFlow (native framework)", "NGC 20.06", "xla=encoder")->id ==
        "tensorflow-xla-encoder-2020");
  CHECK(network_engine_of(data, "PyTorch (native framework)", "NGC 20.06", "scripted")->id == "pytorch-scripted-2020");
  // A child has its base's numbers where it states none.
  CHECK(find_network_engine(data, "pytorch-1").launch == find_network_engine(data, "pytorch").launch);
  CHECK(find_network_engine(data, "pytorch-1").base == "pytorch");
  CHECK(network_engine_of(data, "an engine of the future", "", "") == nullptr);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_network_engine(data, "abacus")), doctest::Contains("there are: "),
                       ConfigError);
}

TEST_CASE("network call: a SKU that nobody measured is refused with its reason") {
  const ModelData data = ModelData::standard();
  Device device;
  device.id = "future";
  device.generation = "future";
  CHECK_THROWS_WITH_AS(static_cast<void>(call_device(device, call_rates(data), {}, CallFormat::half, false)),
                       doctest::Contains("no network was measured on GPUs like 'future'"), ConfigError);
}

TEST_CASE("network call: a release without a capability's kernels reaches less of its peak, and of no other") {
  const ModelData data = ModelData::standard();
  const Catalog catalog = Catalog::standard();
  const NetworkEngine& early = find_network_engine(data, "tensorflow-2020");
  const NetworkEngine& later = find_network_engine(data, "tensorflow");
  const auto share = [&](const char* gpu, const NetworkEngine& engine) {
    return call_device(catalog.device(gpu), call_rates(data), engine, CallFormat::half, false).product;
  };
  CHECK(share("t4", early) < 0.6 * share("t4", later));
  CHECK(share("a100-sxm-80gb", early) == share("a100-sxm-80gb", later));
}

TEST_CASE("network call: half matrix units halve what keeps a kernel from its peak") {
  const CallPhysics p = plain_physics();
  CallDevice device = plain_device();
  device.product = 0.5;
  const CallOp op = product(4096, 4096, 4096);
  const double at_peak = 2 * std::pow(4096.0, 3) / 100e12;
  CHECK(kernel_time(op, 1.0, device, p, {}, {}).raw() == doctest::Approx(2.0 * at_peak));
  device.units = 0.5;
  CHECK(kernel_time(op, 1.0, device, p, {}, {}).raw() == doctest::Approx(1.5 * at_peak));
}

TEST_CASE("network call: of 8-bit units the faster are taken") {
  const Catalog catalog = Catalog::standard();
  const ModelData data = ModelData::standard();
  const CallDevice b300 =
      call_device(catalog.device("b300-sxm-288gb"), call_rates(data), NetworkEngine{}, CallFormat::eight, false);
  CHECK(b300.peak >= catalog.device("b300-sxm-288gb").peak_of(Rate::fp8));
}
