// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/cost/collective.hpp>
#include <headroom/model/train/network_memory.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {
namespace {

/// One block of a stage as the walk meets it: the last block of a stage may keep another result than the others.
struct Block {
  const Stage* stage = nullptr;
  std::int64_t index = 0;
  bool recomputed = false;
};

/// Bytes a block keeps of one micro-batch when nothing is recomputed.
Bytes kept_of(const Block& block, const NetworkTraining& t) {
  const bool last = block.index + 1 == block.stage->repeat;
  const double elements = last ? block.stage->last_kept_elements : block.stage->kept_elements;
  return Bytes{static_cast<double>(t.micro_batch) * (elements * t.activation_bytes + block.stage->kept_bytes)};
}

Bytes of_elements(double elements, const NetworkTraining& t) {
  return Bytes{static_cast<double>(t.micro_batch) * elements * t.activation_bytes};
}

bool recomputes(const NetworkTraining& t, const std::string& part) {
  const std::vector<std::string>& parts = t.recompute.parts;
  return t.recompute.every > 0 && (parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end());
}

/// Walks the blocks forward and closes segments: what is stored grows, and every segment offers a peak of the backward
/// pass that starts from it.
class Walk {
 public:
  Walk(const NetworkTraining& training, NetworkMemory& memory, std::map<std::string, Bytes>& kept)
      : training_{training}, memory_{memory}, kept_{kept} {}

  void add(const Block& block) {
    const bool joins =
        block.recomputed && recomputed_ && held_ > 0 && held_ < training_.recompute.every && part_ == block.stage->part;
    if (!joins) {
      close();
      part_ = block.stage->part;
      recomputed_ = block.recomputed;
      const bool sample = block.index == 0 && block.stage->reads_sample;  // counted among the inputs
      boundary_ = sample ? Bytes{} : of_elements(block.stage->boundary_elements, training_);
    }
    tensors_ += kept_of(block, training_);
    gradients_ = std::max(gradients_, of_elements(block.stage->gradient_elements, training_));
    last_ = block;
    ++held_;
  }

  void close() {
    if (held_ == 0) {
      return;
    }
    const Bytes stored = recomputed_ ? boundary_ : tensors_;
    const Bytes again = recomputed_ ? tensors_ : Bytes{};
    stored_ += stored;
    kept_[part_] += stored;
    if (stored_ + again + gradients_ >= memory_.activations + memory_.recomputed + memory_.gradients) {
      memory_.activations = stored_;
      memory_.recomputed = again;
      memory_.gradients = gradients_;
      peak_ = last_;
    }
    held_ = 0;
    tensors_ = gradients_ = boundary_ = Bytes{};
  }

  [[nodiscard]] Bytes stored() const noexcept { return stored_; }
  [[nodiscard]] std::string moment() const {
    if (peak_.stage == nullptr) {
      return "none";
    }
    const bool single = peak_.stage->repeat == 1;
    return "backward of " + peak_.stage->name + (single ? "" : " " + std::to_string(peak_.index + 1));
  }

 private:
  const NetworkTraining& training_;
  NetworkMemory& memory_;
  std::map<std::string, Bytes>& kept_;
  Block last_, peak_;
  std::string part_;
  std::int64_t held_ = 0;  ///< blocks of the open segment
  bool recomputed_ = false;
  Bytes stored_{}, boundary_{}, tensors_{}, gradients_{};
};

void sum_parts(const Network& network,
               const NetworkTraining& t,
               const std::map<std::string, Bytes>& kept,
               NetworkMemory& memory) {
  for (const std::string& name : network.parts()) {
    PartMemory part;
    part.name = name;
    for (const NetworkInput& input : network.inputs) {
      if (input.part == name) {
        part.inputs += static_cast<double>(t.micro_batch) * input.bytes();
      }
    }
    for (const Stage& stage : network.stages) {
      if (stage.part == name) {
        const auto blocks = static_cast<double>(stage.repeat);
        part.parameters += blocks * stage.parameters;
        part.forward += blocks * stage.forward;
        memory.recompute_flops += recomputes(t, name) ? blocks * stage.forward : Flops{};
      }
    }
    const auto found = kept.find(name);
    part.activations = found == kept.end() ? Bytes{} : found->second;
    part.share = memory.kept.raw() > 0.0 ? part.activations / memory.kept : 0.0;
    memory.parts.push_back(std::move(part));
  }
}

}  // namespace

NetworkMemory training_memory(const Network& network, const NetworkTraining& training) {
  NetworkMemory memory;
  const auto ranks = static_cast<double>(training.ranks);
  memory.states = state_memory(network.parameters, training.states, training.zero, ranks);
  memory.inputs = static_cast<double>(training.micro_batch) * network.input_bytes();
  double largest_block = 0.0;
  std::map<std::string, Bytes> kept;
  Walk walk{training, memory, kept};
  for (const Stage& stage : network.stages) {
    largest_block = std::max(largest_block, stage.parameters);
    const bool again = recomputes(training, stage.part);
    for (std::int64_t i = 0; i < stage.repeat; ++i) {
      walk.add({&stage, i, again});
    }
  }
  walk.close();
  memory.moment = walk.moment();
  memory.kept = walk.stored();
  if (training.zero >= 3 && training.ranks > 1) {
    memory.gathered = Bytes{2.0 * largest_block * training.states.weights};
  }
  sum_parts(network, training, kept, memory);
  return memory;
}

NetworkInference inference_memory(const Network& network, double bytes_per_element) noexcept {
  return {Bytes{network.parameters * bytes_per_element},
          network.input_bytes() + Bytes{network.adjacent_elements * bytes_per_element}};
}

std::int64_t largest_batch(Bytes usable, Bytes weights, Bytes workspace, Bytes per_sample) noexcept {
  const Bytes room = usable - weights - workspace;
  if (room.raw() < 0.0 || per_sample.raw() <= 0.0) {
    return 0;
  }
  return static_cast<std::int64_t>(std::min(room / per_sample, 1e15));
}

Bytes data_parallel_bytes(
    double parameters, const StateBytes& bytes, int zero, std::int64_t ranks, std::int64_t accumulation) noexcept {
  const Bytes gradients{parameters * bytes.gradients};
  const Bytes weights{parameters * bytes.weights};
  const auto passes = static_cast<double>(accumulation);
  const Bytes scatter = bytes_per_rank(Collective::reduce_scatter, gradients, ranks);
  const Bytes gather = bytes_per_rank(Collective::all_gather, weights, ranks);
  switch (zero) {
    case 0: return bytes_per_rank(Collective::all_reduce, gradients, ranks);
    case 1: return scatter + gather;
    case 2: return passes * scatter + gather;
    default: return passes * (scatter + 2.0 * gather);
  }
}

}  // namespace headroom
