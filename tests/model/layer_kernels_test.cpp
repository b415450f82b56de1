// SPDX-License-Identifier: Apache-2.0
// The kernels of a layer: their work adds up to what the parameters and the context say, and curves price all of them.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/layers/layer_times.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"

using namespace headroom;

namespace {

Flops work_of(const Architecture& arch, const LayerQuestion& q, LayerOpKind kind) {
  Flops sum{};
  for (const CountedBlock& counted : distinct_blocks(arch)) {
    for (const LayerKernel& op : layer_kernels(arch, counted.block, q)) {
      sum += op.kind == kind ? static_cast<double>(counted.layers) * op.work : Flops{};
    }
  }
  return sum;
}

LayerQuestion question(LayerPhase phase, double batch, double tokens, double context, double tp = 1.0) {
  return {phase, batch, tokens, context, tp, 2.0, 2.0};
}

}  // namespace

TEST_CASE("products of a forward pass cost two FLOP for each matrix weight and token, backward twice that") {
  const Architecture arch = ModelLibrary::standard().find("llama3.1-8b");
  // 6 979 321 856 weights in the matrices of 32 layers: 8 030 261 248 less two tables of 128 256 x 4096 and 65 norms.
  const double weights = 8030261248.0 - 2.0 * 128256.0 * 4096.0 - 65.0 * 4096.0;
  const Flops forward = work_of(arch, question(LayerPhase::forward, 2, 1024, 1024), LayerOpKind::product);
  CHECK(forward.raw() == doctest::Approx(2.0 * weights * 2048.0).epsilon(1e-9));
  const Flops backward = work_of(arch, question(LayerPhase::backward, 2, 1024, 1024), LayerOpKind::product);
  CHECK(backward.raw() == doctest::Approx(2.0 * forward.raw()).epsilon(1e-9));
  const Flops of_rank = work_of(arch, question(LayerPhase::forward, 2, 1024, 1024, 4), LayerOpKind::product);
  CHECK(of_rank.raw() == doctest::Approx(forward.raw() / 4.0).epsilon(1e-9));
}

TEST_CASE("causal attention of s tokens is half of s squared, a decode step reads the whole context") {
  const Architecture arch = ModelLibrary::standard().find("llama3.1-8b");
  const double s = 4096.0;
  const Flops prefill = work_of(arch, question(LayerPhase::prefill, 1, s, s), LayerOpKind::attention);
  CHECK(prefill.raw() == doctest::Approx(32.0 * 4.0 * 32.0 * 128.0 * s * (s + 1.0) / 2.0).epsilon(1e-9));
  const Flops decode = work_of(arch, question(LayerPhase::decode, 8, 1, s), LayerOpKind::attention);
  CHECK(decode.raw() == doctest::Approx(32.0 * 4.0 * 32.0 * 128.0 * 8.0 * s).epsilon(1e-9));
}

TEST_CASE("latent attention decodes against the latent cache, 576 numbers a token whatever the heads") {
  const Architecture arch = ModelLibrary::standard().find("deepseek-v3");
  const LayerQuestion q = question(LayerPhase::decode, 1, 1, 10000);
  for (const LayerKernel& op : layer_kernels(arch, distinct_blocks(arch).front().block, q)) {
    if (op.kind == LayerOpKind::attention) {
      // The cache dominates: 10 000 tokens of 512 + 64 numbers in 2 bytes.
      CHECK(op.moved.raw() == doctest::Approx(10000.0 * 576.0 * 2.0).epsilon(0.03));
      CHECK(op.work.raw() == doctest::Approx(2.0 * 128.0 * (576.0 + 512.0) * 10000.0).epsilon(1e-9));
    }
  }
  CHECK(distinct_blocks(arch).size() == 2);
  CHECK(distinct_blocks(arch).back().layers == 58);
}

TEST_CASE("curves price every op of dense, latent and expert layers on every SKU that names a set") {
  const Catalog catalog = Catalog::standard();
  const ModelLibrary models = ModelLibrary::standard();
  for (const char* gpu : {"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb", "l40s", "v100-sxm2-32gb"}) {
    const Device& device = catalog.device(gpu);
    const LayerTimer timer{test::model_data(), device, *find_gemm_format(gpu[0] == 'v' ? "fp16" : "bf16"), 2.0};
    for (const char* model : {"llama3.1-8b", "deepseek-v3", "mixtral-8x7b"}) {
      const Architecture arch = models.find(model);
      for (const LayerPhase phase :
           {LayerPhase::forward, LayerPhase::backward, LayerPhase::prefill, LayerPhase::decode}) {
        const bool decode = phase == LayerPhase::decode;
        for (const LayerKernel& op :
             layer_kernels(arch, distinct_blocks(arch).back().block, question(phase, 4, decode ? 1 : 2048, 2048, 8))) {
          CAPTURE(gpu);
          CAPTURE(model);
          CAPTURE(op.name);
          const LayerKernelTime t = timer.time(op, phase);
          CHECK(t.time > Seconds{});
          CHECK(t.time >= op.work / t.peak);
        }
      }
    }
  }
}

TEST_CASE("heads that do not divide are told") {
  const ModelLibrary models = ModelLibrary::standard();
  const Architecture llama = models.find("llama3.1-8b");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(layer_kernels(llama, llama.blocks().front(), question(LayerPhase::decode, 1, 1, 128, 3))),
      doctest::Contains("does not divide"), ConfigError);
}

TEST_CASE("recurrent layers are priced: products, and a scan whose decode step moves the state both ways") {
  const Catalog catalog = Catalog::standard();
  const ModelLibrary models = ModelLibrary::standard();
  const LayerTimer timer{test::model_data(), catalog.device("h100-sxm-80gb"), *find_gemm_format("bf16"), 2.0};
  for (const char* model : {"nemotron-h-8b", "qwen3-next-80b-a3b", "kimi-linear-48b-a3b", "mamba-1.4b"}) {
    const Architecture arch = models.find(model);
    for (const LayerPhase phase : {LayerPhase::forward, LayerPhase::backward, LayerPhase::decode}) {
      int scans = 0;
      const double tokens = phase == LayerPhase::decode ? 1 : 4096;
      for (const LayerKernel& op : layer_kernels(arch, arch.blocks().front(), question(phase, 4, tokens, 4096))) {
        CAPTURE(model);
        CAPTURE(op.name);
        CHECK(timer.time(op, phase).time > Seconds{});
        scans += op.kind == LayerOpKind::scan ? 1 : 0;
      }
      CHECK(scans == 1);
    }
  }
  // Nemotron-H 8B: 128 heads of 64 x 128 numbers and 3 taps of 8,192 + 2 x 8 x 128 channels, in 2 bytes.
  const Architecture arch = models.find("nemotron-h-8b");
  for (const LayerKernel& op : layer_kernels(arch, arch.blocks().front(), question(LayerPhase::decode, 4, 1, 4096))) {
    if (op.kind == LayerOpKind::scan) {
      CHECK(op.moved.raw() >= 4.0 * 2.0 * 2.0 * (128.0 * 64.0 * 128.0 + 3.0 * 10240.0));
      CHECK(op.moved.raw() < 1.05 * 4.0 * 2.0 * 2.0 * (128.0 * 64.0 * 128.0 + 3.0 * 10240.0));
    }
  }
}
