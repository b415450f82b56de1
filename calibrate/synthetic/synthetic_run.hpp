// SPDX-License-Identifier: Apache-2.0
// A training run that never was: what its GPUs and hosts would have to do, so that timelines follow by simulation. A
// fault is a change of these causes, never of the timeline, so that its cost is the difference of two simulations.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/traces/timeline.hpp>
#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

enum class KernelUse : std::uint8_t { product, attention, pass };

/// A kernel of a layer, and the op of the framework that launches it.
struct SyntheticKernel {
  std::string name;  ///< as the libraries of the field call it
  std::string op;    ///< "aten::mm"
  KernelUse use = KernelUse::pass;
  Seconds time{};                    ///< with the whole batch, on a GPU at its clock
  std::int64_t blocks = 1;           ///< of its grid
  double m = 0.0, n = 0.0, k = 0.0;  ///< of a product [m, k] [k, n]; 0: of none
};

/// A stop of a host that comes every so often, such as a collector's.
struct HostStop {
  Seconds time{};
  double each_step = 0.0;  ///< chance of one in a step, of each rank by itself
};

struct SyntheticRun {
  std::int64_t ranks = 4, steps = 8, layers = 8, micro_batches = 1;
  std::string gpu;                                 ///< as the driver calls it
  std::int64_t units = 132;                        ///< SMs
  double memory = 0.0;                             ///< bytes of the GPU
  std::vector<SyntheticKernel> forward, backward;  ///< of a layer and a micro-batch
  std::vector<SyntheticKernel> head;               ///< the loss and its gradients
  std::vector<SyntheticKernel> optimizer;

  // Gradients: an all-reduce for each bucket, ready layer by layer from the last.
  double gradient_bytes = 0.0;    ///< of a layer
  double bucket_bytes = 0.0;      ///< at least so many are sent at once
  double link = 1.0;              ///< bytes of a message a second
  Seconds latency{};              ///< of a message
  bool overlaps = true;           ///< messages go beside the backward pass; else it is waited for
  std::int64_t tensor_ranks = 1;  ///< that reduce what each half of a layer gives, with nothing beside it
  double tensor_bytes = 0.0;      ///< of such a message
  double tensor_link = 1.0;
  Seconds bubble{};         ///< that a pipeline's stages wait for each other in a step
  Seconds stage_message{};  ///< between stages, in a step

  // The host.
  Seconds op_time{};                  ///< of an op, its launch apart
  Seconds launch_time{};              ///< of a call that launches
  Seconds reach{};                    ///< from a launch to the first moment of its work
  Seconds python{};                   ///< between two ops
  Seconds fetch{};                    ///< of the samples of a whole batch, which the host waits for
  double sample_bytes = 0.0;          ///< of a whole batch
  double copy_rate = 1.0;             ///< bytes a second from the host to the GPU
  bool pinned = true;                 ///< copies leave the host free, on a stream of their own, a step ahead
  std::int64_t syncs_each_layer = 0;  ///< numbers that are read back in a pass over a layer
  std::int64_t sync_every = 0;        ///< steps between readings of the loss; 0: none
  Seconds program{};                  ///< of a step, in which the host does anything but send
  std::int64_t program_pieces = 2;
  HostStop stop;
  std::int64_t save_every = 0;  ///< steps between checkpoints; 0: none
  double save_bytes = 0.0;
  Seconds save_time{};           ///< of writing, in which the host waits
  std::int64_t allocations = 0;  ///< blocks that are got from the driver and given back in a step
  Seconds allocation{};          ///< of one such call
  std::int64_t cold_steps = 0;   ///< first steps in which the host compiles or tries algorithms
  Seconds cold{};                ///< in each of them

  // The work of the GPUs.
  std::int64_t pass_parts = 1;                 ///< kernels that a pass over a tensor is written as
  std::int64_t tiny_parts = 1;                 ///< pieces of a kernel, as long as it together
  double product_slowdown = 1.0;               ///< of products on the ordinary units
  double batch = 1.0;                          ///< share of the batch that fills the GPU
  bool recomputes = false;                     ///< layers are formed again before their backward pass
  double slow_clock = 1.0;                     ///< kernels' times from `slow_from` on
  std::int64_t slow_from = 0;                  ///< a step
  std::vector<double> rank_times;              ///< kernels' times of each rank; empty: alike
  std::vector<std::vector<double>> uneven;     ///< of each rank and step; empty: alike
  std::int64_t lost_rank = -1, odd_rank = -1;  ///< that stops, or skips a collective; -1: none
  std::int64_t lost_step = 0;                  ///< in which it does
  Seconds watchdog{};                          ///< after which a run that hangs is ended

  // Noise, of logarithms.
  double kernel_noise = 0.0, host_noise = 0.0;
  std::uint64_t seed = 1;
};

/// A timeline of each rank. `clocks`: rank's clocks differ by up to this.
[[nodiscard]] std::vector<Timeline> simulate(const SyntheticRun& run, Seconds clocks = {});

/// Mean time of a step of a simulated run after the first, up to where it ends or hangs.
[[nodiscard]] Seconds mean_step(const SyntheticRun& run);

}  // namespace headroom
