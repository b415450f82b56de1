// SPDX-License-Identifier: Apache-2.0
// What a sample passes through before and after a network is called: stages on cores of the host, on the GPU and on its
// fixed engines (video decoders, encoders, JPEG), joined as a graph without cycles.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class StagePlace : std::uint8_t { cpu, gpu, engine, count };
inline constexpr std::size_t stage_place_count = static_cast<std::size_t>(StagePlace::count);
inline constexpr std::array<std::string_view, stage_place_count> stage_place_names{"cpu", "gpu", "engine"};

/// One stage. Its time is of one sample, on one core, on the whole GPU or on one engine.
struct PipelineStage {
  std::string name;
  std::array<std::optional<Seconds>, stage_place_count> time;  ///< where it may run
  StagePlace on = StagePlace::cpu;                             ///< where it does; that time is there
  double share = 1.0;                                          ///< of all samples, that pass through it
  double cores = 0.0;              ///< of a host, its own; 0: it shares those of `PipelineHost`
  double engines = 1.0;            ///< of one GPU
  Bytes output{};                  ///< of a sample that leaves it
  std::vector<std::size_t> after;  ///< stages before it; `network_of()` is the network
  [[nodiscard]] Seconds now() const noexcept { return time[static_cast<std::size_t>(on)].value_or(Seconds{}); }
};

/// The network among the `before` of a graph's stages.
[[nodiscard]] inline std::size_t network_of(const std::vector<PipelineStage>& stages) noexcept {
  return stages.size();
}

/// The stages of one cycle in their order, empty where there is none.
[[nodiscard]] std::vector<std::size_t> cycle_of(const std::vector<PipelineStage>& stages);

/// Where the stages run.
struct PipelineHost {
  double gpus = 1.0;
  double cores = 0.0;     ///< that stages without cores of their own share; 0: not stated, they do not bind
  Seconds core_time{};    ///< what else those cores do for a sample
  BytesPerSecond link{};  ///< of one GPU, each way; 0: copies take no time
  Seconds called{};       ///< of the network for a sample, the GPU for itself
  Bytes result{};         ///< of a sample that leaves the network
};

struct StageRate {
  std::string name;
  StagePlace on = StagePlace::cpu;
  Seconds time{};  ///< of one sample
  double share = 1.0;
  double samples_per_s = 0.0;  ///< of a host; of a stage that shares cores or the GPU what all of them reach together
  double needed = 0.0;         ///< cores of a host, or engines of a GPU, that keep up with the GPUs
};

/// Stages at the places of one choice.
struct StageFlow {
  std::vector<StageRate> stages;
  double rate = 0.0;  ///< samples a second of a host, of the slowest of them; infinity where none takes time
  std::string binds;
  Seconds on_gpu{};            ///< of a sample, beside the network
  Seconds before{}, after{};   ///< the longest way to the network and from it, copies among them, one sample alone
  std::int64_t crossings = 0;  ///< between host and GPU
  Bytes crossed{};             ///< of a sample, both ways
  [[nodiscard]] Seconds latency() const noexcept { return before + after; }
};

/// Precondition: no cycles.
[[nodiscard]] StageFlow stage_flow(const std::vector<PipelineStage>& stages, const PipelineHost& host);

/// Stages that may run in several places, each where one sample gets through soonest, then with the fewest crossings;
/// nothing where none may move or more than `most_movable`.
inline constexpr std::size_t most_movable = 12;
[[nodiscard]] std::optional<std::vector<PipelineStage>> best_places(const std::vector<PipelineStage>& stages,
                                                                    const PipelineHost& host);

}  // namespace headroom
