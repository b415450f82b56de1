// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/synthetic/run_of_plan.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/layers/layer_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {
namespace {

/// How the libraries of a vendor call their kernels.
struct KernelNames {
  std::string product, attention_forward, attention_backward;
};

KernelNames names_of(const Device& device) {
  if (device.vendor == "amd") {
    return {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN",
            "aiter::fmha_fwd_hd128_bf16_causal", "aiter::fmha_bwd_hd128_bf16_causal"};
  }
  const bool hopper = device.compute_capability >= "9.0" || device.compute_capability.size() > 3;
  return {hopper ? "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNT"
                 : "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x4_nn",
          hopper ? "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_128x128x128_4x1x1_kernel0_0"
                 : "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "
                   "cutlass::bfloat16_t>>",
          hopper ? "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_128x64x128_1x1x1_kernel0_0"
                 : "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128>>"};
}

std::int64_t tiles(double m, double n) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(m / 128.0) * std::ceil(n / 128.0)));
}

/// Kernels of a layer, with what each takes of its kind's time as `time` until that is known.
struct Layer {
  std::vector<SyntheticKernel> forward, backward;
  double product = 0.0, attention = 0.0, pass = 0.0;  // sums of both directions
};

Layer layer_of(const TrainScenario& train, const Strategy& s, double tokens) {
  const KernelNames names = names_of(train.device);
  LayerQuestion question;
  question.batch = real(static_cast<std::int64_t>(s.micro_batch));
  question.tokens = tokens;
  question.context = tokens;
  question.tp = real(static_cast<std::int64_t>(s.tp));
  Layer layer;
  const auto add = [&](std::vector<SyntheticKernel>& to, SyntheticKernel kernel, double share, double& sum) {
    kernel.time = Seconds{share};
    sum += share;
    to.push_back(std::move(kernel));
  };
  for (const LayerKernel& one :
       layer_kernels(train.architecture, distinct_blocks(train.architecture).front().block, question)) {
    SyntheticKernel kernel;
    if (one.kind == LayerOpKind::attention) {
      kernel.name = names.attention_forward;
      kernel.op = "aten::_scaled_dot_product_cudnn_attention";
      kernel.use = KernelUse::attention;
      kernel.blocks = tiles(question.batch * question.tokens, one.attention.heads * 128.0);
      add(layer.forward, kernel, 1.0, layer.attention);
    } else if (one.gemm.m > 1.0 && one.work > Flops{}) {
      kernel.name = names.product;
      kernel.op = "aten::mm";
      kernel.use = KernelUse::product;
      kernel.m = one.gemm.m;
      kernel.n = one.gemm.n;
      kernel.k = one.gemm.k;
      kernel.blocks = tiles(kernel.m, kernel.n);
      add(layer.forward, kernel, one.work.raw(), layer.product);
    } else {
      const bool norm = one.name.find("norm") != std::string::npos;
      kernel.name = norm ? "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
                         : "triton_poi_fused__to_copy_add_mul_silu_0";
      kernel.op = norm ? "aten::rms_norm" : "aten::mul";
      kernel.use = KernelUse::pass;
      kernel.blocks = std::max<std::int64_t>(1, static_cast<std::int64_t>(one.moved.raw() / 8192.0));
      add(layer.forward, kernel, std::max(1.0, one.moved.raw()), layer.pass);
    }
  }
  for (std::size_t i = layer.forward.size(); i-- > 0;) {
    SyntheticKernel kernel = layer.forward[i];
    const double share = kernel.time.raw();
    if (kernel.use == KernelUse::product) {
      SyntheticKernel weights = kernel;
      std::swap(kernel.n, kernel.k);
      kernel.name += "_dgrad";
      std::swap(weights.m, weights.k);
      weights.name += "_wgrad";
      weights.blocks = tiles(weights.m, weights.n);
      add(layer.backward, kernel, share, layer.product);
      add(layer.backward, weights, share, layer.product);
    } else if (kernel.use == KernelUse::attention) {
      kernel.name = names.attention_backward;
      kernel.op += "_backward";
      add(layer.backward, kernel, 2.5 * share, layer.attention);
    } else {
      kernel.name += "_backward";
      kernel.op += "_backward";
      add(layer.backward, kernel, 2.0 * share, layer.pass);
    }
  }
  return layer;
}

}  // namespace

SyntheticRun run_of_plan(const Plan& plan, std::int64_t ranks, std::int64_t steps) {
  const auto& train = std::get<TrainScenario>(plan.scenario.question);
  const auto& answer = std::get<TrainPlan>(plan.answer);
  const Strategy& s = answer.strategy;
  const Breakdown& time = answer.estimate.time;
  if (time.total() <= Seconds{}) {
    throw ConfigError{
        "the plan has no time of a step, so there is nothing to draw out; name a SKU whose kernels are "
        "measured"};
  }
  const std::int64_t all = train.work.shape.gpus;
  if (ranks > all) {
    throw ConfigError{"--ranks " + std::to_string(ranks) + " is more than the " + std::to_string(all) +
                      " GPUs of the job"};
  }
  SyntheticRun run;
  run.ranks = ranks;
  run.steps = steps;
  run.micro_batches = std::max<std::int64_t>(1, answer.estimate.micro_batches);
  const auto count = [](auto number) { return static_cast<std::int64_t>(number); };
  const double tokens = real(train.work.shape.seq_len) / real(count(s.cp));
  const std::int64_t layers = train.architecture.layers;
  run.layers = std::max<std::int64_t>(1, layers / std::max<std::int64_t>(1, count(s.pp)));
  run.gpu = train.device.aliases.empty() ? train.device.name : train.device.name;
  for (const std::string& alias : train.device.aliases) {  // as the driver calls it
    run.gpu = alias.starts_with("NVIDIA ") || alias.starts_with("AMD ") ? alias : run.gpu;
  }
  run.units = train.device.compute.units ? train.device.compute.units->value : 0;
  Layer layer = layer_of(train, s, tokens);
  const double passes = real(run.layers * run.micro_batches);
  const auto priced = [&](std::vector<SyntheticKernel>& kernels) {
    for (SyntheticKernel& kernel : kernels) {
      const double share = kernel.time.raw();
      const Seconds term = kernel.use == KernelUse::product     ? time[Term::gemm] + time[Term::measured_level]
                           : kernel.use == KernelUse::attention ? time[Term::attention] + time[Term::scan]
                                                                : time[Term::elementwise];
      const double sum = kernel.use == KernelUse::product     ? layer.product
                         : kernel.use == KernelUse::attention ? layer.attention
                                                              : layer.pass;
      kernel.time = std::max(1e-9, share / std::max(sum, 1e-300)) * (1.0 / passes) * term;
    }
  };
  priced(layer.forward);
  priced(layer.backward);
  Seconds forward{};
  for (const SyntheticKernel& kernel : layer.forward) {
    forward += kernel.time;
  }
  Seconds backward{};
  if (const Seconds again = (1.0 / passes) * time[Term::recompute]; again > 0.5 * forward) {
    run.recomputes = true;
    backward += again;
  } else if (again > Seconds{}) {  // attention alone
    SyntheticKernel kernel = layer.forward.front();
    for (const SyntheticKernel& one : layer.forward) {
      kernel = one.use == KernelUse::attention ? one : kernel;
    }
    kernel.time = again;
    layer.backward.insert(layer.backward.begin(), kernel);
  }
  for (const SyntheticKernel& kernel : layer.backward) {
    backward += kernel.time;
  }
  run.forward = std::move(layer.forward);
  run.backward = std::move(layer.backward);
  const auto one_kernel = [&](std::string name, std::string op, KernelUse use, Seconds takes) {
    SyntheticKernel kernel;
    kernel.name = std::move(name);
    kernel.op = std::move(op);
    kernel.use = use;
    kernel.time = takes;
    kernel.blocks = 8 * std::max<std::int64_t>(1, run.units);
    return kernel;
  };
  if (time[Term::head] > Seconds{}) {
    run.head = {one_kernel(names_of(train.device).product + "_head", "aten::mm", KernelUse::product,
                           (1.0 / real(run.micro_batches)) * time[Term::head])};
  }
  if (time[Term::optimizer] > Seconds{}) {
    run.optimizer = {
        one_kernel("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
                   "aten::_fused_adamw_", KernelUse::pass, time[Term::optimizer])};
  }
  // Messages inside a layer: of tensor, context and expert groups, four a layer.
  const Seconds inside = time[Term::tp_comm] + time[Term::cp_comm] + time[Term::ep_comm];
  if (inside > Seconds{}) {
    const std::int64_t tp = count(s.tp);
    run.tensor_ranks = tp > 1 && ranks % tp == 0 ? tp : 1;
    run.tensor_bytes = 2.0 * real(count(s.micro_batch)) * tokens * real(train.architecture.hidden);
    run.tensor_link = run.tensor_bytes / std::max(1e-9, inside.raw() / (4.0 * passes));
  }
  if (count(s.dp) > 1) {
    run.gradient_bytes = std::max(answer.sent_data.raw(), 1.0) / real(run.layers);
    run.bucket_bytes = run.gradient_bytes;
    const double ahead = real(run.layers - 1) * backward.raw();
    const double exposed = time[Term::dp_comm].raw();
    const double sends = exposed > 0.0 ? exposed + ahead : 0.3 * ahead;
    run.link = run.gradient_bytes * real(run.layers) / std::max(1e-9, sends);
  }
  run.bubble = time[Term::bubble];
  run.stage_message = time[Term::pp_comm];
  run.fetch = time[Term::data];
  run.program = time[Term::host] + time[Term::host_sync];
  run.program_pieces = run.layers;
  run.sync_every = run.program > 0.005 * time.total() ? 1 : 0;
  run.copy_rate = train.work.host_link ? train.work.host_link->raw() : 25e9;
  run.sample_bytes = 8.0 * real(count(s.micro_batch)) * tokens * real(run.micro_batches);  // ids and labels
  if (time[Term::offload] > Seconds{}) {
    run.pinned = false;
    run.sample_bytes = time[Term::offload].raw() * run.copy_rate;
  }
  if (time[Term::straggler] > Seconds{} && ranks > 1) {
    run.rank_times.assign(static_cast<std::size_t>(ranks), 1.0);
    run.rank_times.back() = 1.0 + time[Term::straggler] / (passes * (forward + backward));
  }
  // Of an eager program on a server's core; one that could not keep ahead is the term above.
  const double launches =
      passes * real(count(run.forward.size() + run.backward.size() + 4)) + real(count(run.optimizer.size()));
  const double each = std::min(15e-6, 0.4 * time.total().raw() / std::max(1.0, launches));
  run.op_time = Seconds{0.7 * each};
  run.launch_time = Seconds{0.25 * each};
  run.python = Seconds{0.05 * each};
  run.reach = Seconds{5e-6};
  run.kernel_noise = 0.02;
  run.host_noise = 0.1;
  return run;
}

}  // namespace headroom
