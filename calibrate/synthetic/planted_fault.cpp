// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/synthetic/planted_fault.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr std::array plantable{CauseKind::data_loading,
                               CauseKind::host_sync,
                               CauseKind::launch_bound,
                               CauseKind::host_bound,
                               CauseKind::exposed_communication,
                               CauseKind::small_messages,
                               CauseKind::straggler,
                               CauseKind::imbalance,
                               CauseKind::exposed_copies,
                               CauseKind::memory_bound,
                               CauseKind::no_tensor_cores,
                               CauseKind::small_batch,
                               CauseKind::low_clock,
                               CauseKind::cold_cache,
                               CauseKind::collector,
                               CauseKind::fragmentation,
                               CauseKind::checkpointing,
                               CauseKind::mismatched_collective,
                               CauseKind::dead_rank,
                               CauseKind::recomputation};

bool hangs(CauseKind kind) {
  return kind == CauseKind::mismatched_collective || kind == CauseKind::dead_rank;
}

double between(RandomStream& draws, double low, double high) {
  return low + (high - low) * draws.uniform();
}

std::int64_t whole_between(RandomStream& draws, std::int64_t low, std::int64_t high) {
  return low + draws.below(high - low + 1);
}

std::int64_t launches_of(const SyntheticRun& run) {
  const auto count = [&](const std::vector<SyntheticKernel>& kernels) {
    std::int64_t sum = 0;
    for (const SyntheticKernel& kernel : kernels) {
      sum += (kernel.use == KernelUse::pass ? run.pass_parts : 1) * run.tiny_parts;
    }
    return sum;
  };
  const std::int64_t layer = (run.recomputes ? 2 : 1) * count(run.forward) + count(run.backward);
  return run.micro_batches * (run.layers * layer + count(run.head)) + count(run.optimizer);
}

/// What the host does in a step to send it.
double sending(const SyntheticRun& run) {
  return real(launches_of(run)) * (run.op_time + run.launch_time + run.python).raw();
}

/// The tensor cores of the GPU that drawn runs have, of its data sheet (NVIDIA H100 SXM: 989.4 TFLOP/s in bf16), and
/// the share that large products reach of it.
constexpr double tensor_rate = 989.4e12;
constexpr double reached = 0.65;

SyntheticKernel product(std::string name, double m, double n, double k, RandomStream& draws) {
  SyntheticKernel kernel;
  kernel.name = std::move(name);
  kernel.op = "aten::mm";
  kernel.use = KernelUse::product;
  kernel.m = m;
  kernel.n = n;
  kernel.k = k;
  kernel.time = Seconds{2.0 * m * n * k / (tensor_rate * reached * between(draws, 0.9, 1.1))};
  kernel.blocks = static_cast<std::int64_t>(std::ceil(m / 128.0) * std::ceil(n / 128.0));
  return kernel;
}

SyntheticKernel pass(std::string name, std::string op, double elements, double bytes_each) {
  SyntheticKernel kernel;
  kernel.name = std::move(name);
  kernel.op = std::move(op);
  kernel.use = KernelUse::pass;
  kernel.time = Seconds{elements * bytes_each / 2.8e12};  // of 3.35 TB/s, as a good kernel reaches
  kernel.blocks = static_cast<std::int64_t>(std::ceil(elements / 2048.0));
  return kernel;
}

}  // namespace

std::span<const CauseKind> plantable_faults() noexcept {
  return plantable;
}

SyntheticRun healthy_run(RandomStream& draws) {
  SyntheticRun run;
  run.seed = draws.bits();
  run.ranks = whole_between(draws, 2, 6);
  run.steps = whole_between(draws, 8, 12);
  run.layers = whole_between(draws, 3, 6);
  run.micro_batches = whole_between(draws, 1, 2);
  run.gpu = "NVIDIA H100 80GB HBM3";
  run.units = 132;
  run.memory = 85'018'279'936.0;
  const double tokens = 1024.0 * real(whole_between(draws, 4, 12));
  const double hidden = 512.0 * real(whole_between(draws, 4, 8));
  const double wide = 4.0 * hidden;
  const auto gemm = [&](int i, double n, double k) {
    return product("nvjet_tst_128x" + std::to_string(128 + 8 * i) + "_64x4_2x1_v_bz_TNN", tokens, n, k, draws);
  };
  SyntheticKernel attention;
  attention.op = "aten::_flash_attention_forward";
  attention.name =
      "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>>";
  attention.use = KernelUse::attention;
  attention.time = Seconds{2.0 * 2.0 * tokens * 2048.0 * hidden / (tensor_rate * 0.45)};
  attention.blocks = static_cast<std::int64_t>(tokens / 128.0 * hidden / 128.0);
  run.forward = {pass("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>",
                      "aten::native_layer_norm", tokens * hidden, 4.0),
                 gemm(0, 3.0 * hidden, hidden),
                 attention,
                 gemm(1, hidden, hidden),
                 pass("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>",
                      "aten::add", tokens * hidden, 6.0),
                 gemm(2, wide, hidden),
                 pass("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>", "aten::gelu",
                      tokens * wide, 4.0),
                 gemm(3, hidden, wide)};
  for (std::size_t i = run.forward.size(); i-- > 0;) {
    SyntheticKernel kernel = run.forward[i];
    if (kernel.use == KernelUse::product) {  // gradients of input and of weights
      SyntheticKernel other = product("nvjet_tst_192x" + std::to_string(128 + 8 * i) + "_64x3_1x2_h_bz_NTT", kernel.n,
                                      kernel.k, kernel.m, draws);
      kernel.name += "_dgrad";
      std::swap(kernel.n, kernel.k);
      run.backward.push_back(kernel);
      run.backward.push_back(other);
    } else {
      kernel.name += "_backward";
      kernel.op += "_backward";
      kernel.time = (kernel.use == KernelUse::attention ? 2.5 : 1.5) * kernel.time;
      run.backward.push_back(kernel);
    }
  }
  run.head = {gemm(9, 8192.0, hidden),
              pass("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>",
                   "aten::_log_softmax", tokens * 8192.0, 4.0)};
  const double weights = (4.0 * hidden * hidden + 2.0 * hidden * wide);
  run.optimizer = {pass("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
                        "aten::_fused_adamw_", weights * real(run.layers), 28.0 / real(run.ranks))};
  run.op_time = Seconds{between(draws, 8e-6, 20e-6)};
  run.launch_time = Seconds{between(draws, 3e-6, 6e-6)};
  run.reach = Seconds{between(draws, 3e-6, 7e-6)};
  run.python = Seconds{between(draws, 1e-6, 5e-6)};
  run.kernel_noise = between(draws, 0.01, 0.04);
  run.host_noise = between(draws, 0.05, 0.2);
  run.sample_bytes = 4.0 * 2.0 * tokens;
  run.copy_rate = 50e9;
  run.latency = Seconds{between(draws, 15e-6, 40e-6)};
  run.gradient_bytes = 2.0 * weights;
  run.bucket_bytes = run.gradient_bytes;
  run.sync_every = draws.uniform() < 0.5 ? 4 : 0;
  // Messages take 15 to 40 % of a step, which the backward pass hides.
  run.link = 1e18;
  const double step = mean_step(run).raw();
  run.link = run.gradient_bytes * real(run.layers) / (between(draws, 0.15, 0.4) / real(run.micro_batches) * step);
  const double host = sending(run);
  const double most = between(draws, 0.2, 0.6) * step;  // a host that keeps ahead
  if (host > most) {
    const double scale = most / host;
    run.op_time = scale * run.op_time;
    run.launch_time = scale * run.launch_time;
    run.python = scale * run.python;
  }
  // What the last message adds is no fault: it is made small by an earlier, smaller bucket.
  return run;
}

void plant(SyntheticRun& run, const PlantedFault& fault, const SyntheticRun& healthy, RandomStream& draws) {
  const double s = std::clamp(fault.strength, 0.01, 0.95);
  const double step = mean_step(healthy).raw();
  const double host = sending(healthy);
  const double more = step * s / (1.0 - s);  // that a step grows by
  // What the host can be ahead is what the driver's queue holds, at most what it has to spare.
  const double queue = 1024.0 / std::max(1024.0, real(launches_of(healthy)));
  const double beyond = std::min(std::max(0.0, step - host), queue * step) + more;
  switch (fault.kind) {
    case CauseKind::data_loading: run.fetch = Seconds{beyond}; break;
    case CauseKind::host_sync:
      // What the host does before it sends, and would do while the GPU works: with a number read back in each step it
      // does it while the GPU has nothing.
      run.sync_every = 1;
      run.program += Seconds{std::min(1.5 * more, 0.95 * std::max(0.0, step - host))};
      run.program_pieces = run.program_pieces == 2 ? 1 : run.program_pieces;
      break;
    case CauseKind::launch_bound:
      run.tiny_parts = std::max<std::int64_t>(2, std::llround(std::ceil((step + more) / std::max(host, 1e-9))));
      break;
    case CauseKind::host_bound:
      run.program += Seconds{beyond};
      run.program_pieces = whole_between(draws, 1, 4);
      break;
    case CauseKind::exposed_communication: run.overlaps = false; break;
    case CauseKind::small_messages: {
      const double messages = std::ceil((0.65 * step + more) / std::max(run.latency.raw(), 1e-6));
      run.bucket_bytes = run.gradient_bytes * real(run.layers) / messages;
      break;
    }
    case CauseKind::straggler:
      run.rank_times.assign(static_cast<std::size_t>(run.ranks), 1.0);
      run.rank_times[static_cast<std::size_t>(draws.below(run.ranks))] = 1.0 / (1.0 - s);
      break;
    case CauseKind::imbalance: {
      run.uneven.assign(static_cast<std::size_t>(run.ranks),
                        std::vector<double>(static_cast<std::size_t>(run.steps), 1.0));
      for (std::size_t step_at = 0; step_at < static_cast<std::size_t>(run.steps); ++step_at) {
        double sum = 0.0;
        for (auto& of_rank : run.uneven) {
          of_rank[step_at] = std::exp(1.2 * s * draws.normal());
          sum += of_rank[step_at];
        }
        for (auto& of_rank : run.uneven) {  // the same samples in all, shared out unevenly
          of_rank[step_at] *= real(run.ranks) / sum;
        }
      }
      break;
    }
    case CauseKind::exposed_copies:
      run.pinned = false;
      run.copy_rate = 10e9;
      run.sample_bytes = more * run.copy_rate;
      break;
    case CauseKind::memory_bound: run.pass_parts = 2 + std::llround(12.0 * s); break;
    case CauseKind::no_tensor_cores: run.product_slowdown = 11.0 + 4.0 * s; break;
    case CauseKind::small_batch: {
      double blocks = 0.0;
      double products = 0.0;
      for (const SyntheticKernel& kernel : run.forward) {
        blocks += kernel.use == KernelUse::product ? real(kernel.blocks) : 0.0;
        products += kernel.use == KernelUse::product ? 1.0 : 0.0;
      }
      run.batch = (0.4 - 0.35 * s) * real(run.units) * products / blocks;
      break;
    }
    case CauseKind::low_clock:
      run.slow_from = whole_between(draws, run.steps / 3, run.steps / 2);
      run.slow_clock = 1.0 + 2.0 * s / (1.0 - s);
      break;
    case CauseKind::cold_cache:
      run.cold_steps = whole_between(draws, 2, 3);
      run.cold = Seconds{more * real(run.steps - 1) / real(run.cold_steps - 1) + (step - host)};
      break;
    case CauseKind::collector:
      run.stop.each_step = 0.3;
      run.stop.time = Seconds{more / 0.3 + std::max(0.0, step - host)};
      break;
    case CauseKind::fragmentation:
      run.allocations = 3 + std::llround(12.0 * s);
      run.allocation = Seconds{more / real(2 * run.allocations)};
      break;
    case CauseKind::checkpointing:
      run.save_every = 3;
      run.save_bytes = 2e9;
      run.copy_rate = std::min(run.copy_rate, 20e9);
      run.save_bytes = 0.3 * 3.0 * more * run.copy_rate;
      run.save_time = Seconds{0.7 * 3.0 * more};
      break;
    case CauseKind::mismatched_collective:
      run.odd_rank = draws.below(run.ranks);
      run.lost_step = whole_between(draws, run.steps / 2, run.steps - 1);
      run.watchdog = Seconds{(10.0 + 60.0 * s) * step};
      break;
    case CauseKind::dead_rank:
      run.lost_rank = draws.below(run.ranks);
      run.lost_step = whole_between(draws, run.steps / 2, run.steps - 1);
      run.watchdog = Seconds{(10.0 + 60.0 * s) * step};
      break;
    case CauseKind::recomputation: run.recomputes = true; break;
    default: break;
  }
}

void rename_kernels(SyntheticRun& run, std::uint64_t seed) {
  const auto change = [&](std::vector<SyntheticKernel>& kernels) {
    for (SyntheticKernel& kernel : kernels) {
      std::uint64_t hash = seed;
      for (const char c : kernel.name) {
        hash = scatter(hash ^ static_cast<unsigned char>(c));
      }
      kernel.name = "kernel_" + std::to_string(hash % 1'000'000'007ULL);
    }
  };
  change(run.forward);
  change(run.backward);
  change(run.head);
  change(run.optimizer);
}

PlantedRun planted_run(std::uint64_t seed, CauseKind kind) {
  RandomStream draws{seed, 17};
  const SyntheticRun healthy = [&] {
    SyntheticRun run = healthy_run(draws);
    if (draws.uniform() < 0.7) {
      rename_kernels(run, seed);
    }
    return run;
  }();
  std::vector<PlantedFault> faults{{kind, between(draws, 0.15, 0.45)}};
  if (draws.below(3) == 0) {
    CauseKind other = kind;
    // Of two hangs the earlier one stops the run before the other can.
    while (other == kind || (hangs(kind) && hangs(other))) {
      other = plantable[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(plantable.size())))];
    }
    faults.push_back({other, between(draws, 0.15, 0.45)});
  }
  const std::uint64_t places = draws.bits();
  const auto with = [&](std::size_t without) {
    SyntheticRun run = healthy;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      RandomStream own{places, i};
      if (i != without) {
        plant(run, faults[i], healthy, own);
      } else if (faults[i].kind == CauseKind::host_sync) {  // the host's work stays, and is done while the GPU works
        SyntheticRun planted = run;
        plant(planted, faults[i], healthy, own);
        run.program = planted.program;
        run.program_pieces = planted.program_pieces;
      }
    }
    return run;
  };
  PlantedRun drawn;
  const double usual = mean_step(healthy).raw();
  std::vector<double> ratios(faults.size(), 0.0);
  constexpr double least = 0.08;
  const auto price = [&] {
    drawn.run = with(faults.size());
    const double now = mean_step(drawn.run).raw();
    // Watchdogs wait for many steps of the run as it is.
    drawn.run.watchdog = Seconds{drawn.run.watchdog.raw() * std::max(1.0, now / usual)};
    for (std::size_t i = 0; i < faults.size(); ++i) {
      // Where the batch is too small a step holds fewer samples: the same samples in larger steps.
      const double samples = faults[i].kind == CauseKind::small_batch ? drawn.run.batch : 1.0;
      ratios[i] = hangs(faults[i].kind) ? 0.0 : samples * mean_step(with(i)).raw() / now;
    }
  };
  price();
  for (int attempt = 0; attempt < 6; ++attempt) {
    bool enough = true;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      if (1.0 - ratios[i] < least) {
        faults[i].strength = std::min(0.9, 1.4 * faults[i].strength);
        enough = false;
      }
    }
    if (enough) {
      break;
    }
    price();
  }
  if (1.0 - ratios.front() < least && faults.size() == 1) {  // this run does not feel it
    return planted_run(scatter(seed), kind);
  }
  if (faults.size() > 1 && 1.0 - std::max(ratios[0], ratios[1]) < least) {  // one hides the other
    faults.erase(faults.begin() + (1.0 - ratios[0] < least ? 0 : 1));
    ratios.resize(1);
    price();
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ratios[a] < ratios[b]; });
  for (const std::size_t i : order) {
    drawn.faults.push_back(faults[i].kind);
    drawn.time_ratios.push_back(ratios[i]);
  }
  return drawn;
}

}  // namespace headroom
