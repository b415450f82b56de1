// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/collective.hpp>
#include <headroom/model/train/network/network_memory.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {
namespace {

/// Segments are numbered along the network: blocks that run forward again together share one, any other block has one
/// of its own. A segment never crosses from one part into another.
class Segments {
 public:
  Segments(const Network& network, const NetworkTraining& training) {
    for (const Stage& stage : network.stages) {
      const bool again = training.recompute.covers(stage.part);
      first_.push_back(number_.size());
      recomputed_.push_back(again);
      for (std::int64_t i = 0; i < stage.repeat; ++i) {
        const bool joins = again && held_ > 0 && held_ < training.recompute.every && part_ == stage.part;
        held_ = again ? (joins ? held_ + 1 : 1) : 0;
        current_ += joins ? 0 : 1;
        part_ = stage.part;
        number_.push_back(current_);
      }
    }
    first_.push_back(number_.size());
  }

  [[nodiscard]] bool recomputed(std::size_t stage) const { return recomputed_[stage]; }
  [[nodiscard]] std::int64_t of(std::size_t stage, std::int64_t block) const {
    return number_[first_[stage] + static_cast<std::size_t>(block)];
  }
  /// Whether every block of `reader` stands in the segment of the last block of `writer`.
  [[nodiscard]] bool together(std::size_t writer, std::size_t reader) const {
    const std::int64_t segment = number_[first_[writer + 1] - 1];
    return number_[first_[reader]] == segment && number_[first_[reader + 1] - 1] == segment;
  }

 private:
  std::vector<std::int64_t> number_;  ///< of every block
  std::vector<std::size_t> first_;    ///< block of every stage
  std::vector<bool> recomputed_;
  std::string part_;
  std::int64_t held_ = 0, current_ = -1;
};

/// Elements that the blocks of one stage store from the forward pass on.
struct StageStore {
  double block = 0.0;     ///< a block whose successor stands in the same segment, or in none
  double boundary = 0.0;  ///< a recomputed block whose successor starts another segment: its result
  double last = 0.0;      ///< the last block
};

StageStore store_of(const Network& network,
                    const Segments& segments,
                    const std::vector<std::size_t>& stage_of,
                    std::size_t s) {
  const Stage& stage = network.stages[s];
  StageStore store;
  const bool again = segments.recomputed(s);
  if (!again) {
    store.block = stage.kept_elements;
    store.last = stage.last_kept_elements;
  }
  for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
    const Op& op = network.ops[i];
    const double result = stage.per_sample * op.output_elements;
    if (again && i + 1 == stage.first + stage.count) {
      store.boundary = result;
    }
    // A result that another segment reads, to run forward again or to go backward, is stored once.
    const bool wanted = std::any_of(op.readers.begin(), op.readers.end(), [&](std::size_t reader) {
      const std::size_t t = stage_of[reader];
      return t != s && (segments.recomputed(t) ? !(again && segments.together(s, t)) : network.ops[reader].keeps_input);
    });
    store.last += wanted && (again || !op.kept_by_last) ? result : 0.0;
  }
  return store;
}

/// Walks the blocks forward: what is stored grows, and every segment offers a peak of the backward pass through it.
class Walk {
 public:
  Walk(const Network& network, const NetworkTraining& training, NetworkMemory& memory)
      : network_{network}, training_{training}, memory_{memory}, segments_{network, training} {
    stage_of_.reserve(network.ops.size());
    for (std::size_t s = 0; s < network.stages.size(); ++s) {
      stage_of_.insert(stage_of_.end(), network.stages[s].count, s);
    }
  }

  void run() {
    for (std::size_t s = 0; s < network_.stages.size(); ++s) {
      const Stage& stage = network_.stages[s];
      const StageStore store = store_of(network_, segments_, stage_of_, s);
      const Bytes before = stored_;
      for (std::int64_t i = 0; i < stage.repeat; ++i) {
        enter(s, i);
        const bool last = i + 1 == stage.repeat;
        const bool closes = last || segments_.of(s, i + 1) != segments_.of(s, i);
        const double fixed = segments_.recomputed(s) ? 0.0 : stage.kept_bytes;
        stored_ += bytes(last ? store.last : store.block + (closes ? store.boundary : 0.0), fixed);
        if (segments_.recomputed(s)) {
          again_ += bytes(last ? stage.last_kept_elements : stage.kept_elements, stage.kept_bytes);
        }
        gradients_ = std::max(gradients_, bytes(stage.gradient_elements, 0.0));
        offer(s, i);
      }
      kept_[stage.part] += stored_ - before;
    }
    memory_.kept = stored_;
    name_moment();
  }

  [[nodiscard]] const std::map<std::string, Bytes>& kept() const noexcept { return kept_; }

 private:
  [[nodiscard]] Bytes bytes(double elements, double fixed) const {
    return Bytes{static_cast<double>(training_.micro_batch) * (elements * training_.activation_bytes + fixed)};
  }

  /// A new segment starts with nothing run again.
  void enter(std::size_t s, std::int64_t i) {
    if (segments_.of(s, i) != segment_) {
      segment_ = segments_.of(s, i);
      again_ = gradients_ = Bytes{};
    }
  }

  void offer(std::size_t s, std::int64_t i) {
    if (stored_ + again_ + gradients_ >= memory_.activations + memory_.recomputed + memory_.gradients) {
      memory_.activations = stored_;
      memory_.recomputed = again_;
      memory_.gradients = gradients_;
      peak_stage_ = s;
      peak_block_ = i;
    }
  }

  void name_moment() {
    if (network_.stages.empty()) {
      return;
    }
    const Stage& stage = network_.stages[peak_stage_];
    memory_.moment = "backward of " + stage.name + (stage.repeat == 1 ? "" : " " + std::to_string(peak_block_ + 1));
  }

  const Network& network_;
  const NetworkTraining& training_;
  NetworkMemory& memory_;
  Segments segments_;
  std::vector<std::size_t> stage_of_;  ///< of every op
  std::map<std::string, Bytes> kept_;
  std::int64_t segment_ = -1;
  Bytes stored_{}, again_{}, gradients_{};
  std::size_t peak_stage_ = 0;
  std::int64_t peak_block_ = 0;
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
        memory.recompute_flops += t.recompute.covers(name) ? blocks * stage.forward : Flops{};
      }
    }
    const auto found = kept.find(name);
    part.activations = found == kept.end() ? Bytes{} : found->second;
    part.share = memory.kept.raw() > 0.0 ? part.activations / memory.kept : 0.0;
    memory.parts.push_back(std::move(part));
  }
}

}  // namespace

bool SegmentRecompute::covers(std::string_view part) const noexcept {
  return every > 0 && (parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end());
}

NetworkMemory training_memory(const Network& network, const NetworkTraining& training) {
  NetworkMemory memory;
  const auto ranks = static_cast<double>(training.ranks);
  memory.states = state_memory(network.parameters, training.states, training.zero, ranks);
  memory.inputs = static_cast<double>(training.micro_batch) * network.input_bytes();
  Walk walk{network, training, memory};
  walk.run();
  double largest_block = 0.0;
  for (const Stage& stage : network.stages) {
    largest_block = std::max(largest_block, stage.parameters);
  }
  if (training.zero >= 3 && training.ranks > 1) {
    memory.gathered = Bytes{largest_block * (2.0 * training.states.weights + reduced_bytes)};
  }
  sum_parts(network, training, walk.kept(), memory);
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
