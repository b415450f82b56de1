// SPDX-License-Identifier: Apache-2.0
// Memory of a network given as an op list: training under ZeRO with segments recomputed, and inference without a graph.
#pragma once

#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/workload/op_list.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Which blocks are recomputed: segments of `every` blocks in a row store what other segments read of them and run
/// forward once more (Chen et al. 2016, section 4). A block is one of a stage's repeats, or one op of a plain list. 0:
/// none, 1: every block by itself ("full"). With `parts` only blocks of these parts.
struct SegmentRecompute {
  std::int64_t every = 0;
  std::vector<std::string> parts;
  /// Whether blocks of `part` run forward once more.
  [[nodiscard]] bool covers(std::string_view part) const noexcept;
};

struct NetworkTraining {
  StateBytes states;
  int zero = 0;
  std::int64_t ranks = 1;         ///< data parallel
  std::int64_t micro_batch = 1;   ///< samples of one GPU and pass
  double activation_bytes = 2.0;  ///< of one element: 2 in 16-bit recipes, 4 in fp32
  SegmentRecompute recompute;
};

/// What a modality or tower takes part in.
struct PartMemory {
  std::string name;
  double parameters = 0.0;
  Flops forward{};      ///< of one sample
  Bytes inputs{};       ///< of the micro-batch
  Bytes activations{};  ///< kept at the end of the forward pass
  double share = 0.0;   ///< of the activations of all parts
};

struct NetworkMemory {
  StateMemory states;
  /// ZeRO 3: the two largest blocks' weights, one in use and one on its way, and one block's gradients on theirs out.
  Bytes gathered{};
  Bytes inputs{};  ///< of the micro-batch
  // At the peak:
  Bytes activations{};  ///< kept for the backward passes to come
  Bytes recomputed{};   ///< of the segment that runs forward again
  Bytes gradients{};    ///< of one op's input and output
  std::string moment;   ///< "backward of camera_block 12"
  // At the end of the forward pass:
  Bytes kept{};
  std::vector<PartMemory> parts;
  Flops recompute_flops{};  ///< of one sample, beyond forward and backward
  [[nodiscard]] Bytes total() const noexcept {
    return states.total() + gathered + inputs + activations + recomputed + gradients;
  }
};

/// Gradients are reduced in fp32, whatever is kept of them: as in stage_memory(), of training without op lists.
inline constexpr double reduced_bytes = 4.0;

/// The backward pass walks the segments from the end; the peak is the largest, over segments, of what earlier segments
/// keep, the segment's own tensors (recomputed or kept) and the gradients of one op (Chen et al. 2016, equation 1, with
/// the input of the segment counted apart and its result still alive). States: Rajbhandari et al. 2020, as
/// state_memory().
[[nodiscard]] NetworkMemory training_memory(const Network& network, const NetworkTraining& training);

/// What inference holds: weights, and per sample the input and the two largest adjacent tensors; no graph is kept.
struct NetworkInference {
  Bytes weights{};
  Bytes per_sample{};
  [[nodiscard]] Bytes total(std::int64_t batch) const noexcept {
    return weights + static_cast<double>(batch) * per_sample;
  }
};
[[nodiscard]] NetworkInference inference_memory(const Network& network, double bytes_per_element) noexcept;

/// The largest batch with weights + workspace + batch x per_sample <= usable; 0 when not even one fits.
[[nodiscard]] std::int64_t largest_batch(Bytes usable, Bytes weights, Bytes workspace, Bytes per_sample) noexcept;

/// Bytes one rank sends for data parallelism in one step of `accumulation` micro-batches. ZeRO 0 all-reduces gradients;
/// 1 reduce-scatters them and gathers weights; 2 does the first in every micro-batch, for its gradients are sharded;
/// 3 gathers weights for forward and for backward in every micro-batch (Rajbhandari et al. 2020, section 7).
[[nodiscard]] Bytes data_parallel_bytes(
    double parameters, const StateBytes& bytes, int zero, std::int64_t ranks, std::int64_t accumulation) noexcept;

}  // namespace headroom
