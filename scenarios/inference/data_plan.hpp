// SPDX-License-Identifier: Apache-2.0
// The way of samples to the GPUs of one host and from them: what binds, how long it takes, and what would take less.
#pragma once

#include <headroom/model/pipeline/host_path.hpp>
#include <headroom/model/pipeline/loader_queue.hpp>
#include <headroom/model/pipeline/stage_graph.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>
#include <headroom/scenarios/inference/call_book.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A part of the way and what it lets through, samples a second of a host.
struct NamedRate {
  std::string name;
  double rate = 0.0;
};

/// A batch over the link of one GPU.
struct CopyPlan {
  Bytes batch{};
  Seconds time{};                   ///< from pinned memory, nothing beside it
  std::optional<Seconds> pageable;  ///< from memory that is not pinned
  std::optional<Seconds> in_one;    ///< as one copy, where it is several
  Bytes pinned{};                   ///< of the host, for the batches that are loaded ahead
  std::optional<SharedLink> shared;
};

/// The data set over epochs, from storage and from a cache of the host.
struct CachePlan {
  CachedReads reads;
  double first = 0.0, later = 0.0;                  ///< samples a second of a host, everything else as it is
  BytesPerSecond storage_first{}, storage_later{};  ///< that the host reads from storage for it
};

/// The data set kept on the GPU.
struct ResidentPlan {
  Bytes set{}, crossed{};  ///< once, and in every epoch
  Seconds once{}, crossing{};
  bool fits = true;
};

struct ReadsPlan {
  double reads = 0.0;  ///< a second of a host, as samples lie in storage
  double files = 0.0;  ///< of a file a sample
  BytesPerSecond rate{};
};

struct LoaderChoice {
  std::int64_t prefetch = 1;
  LoaderOutcome outcome;
};
struct LoaderPlan {
  LoaderQueue queue;
  LoaderOutcome outcome;
  std::vector<LoaderChoice> others;  ///< by batches ahead
};

struct DataPlan {
  InputRate input;                 ///< storage, cores, copies and GPUs
  std::vector<NamedRate> more;     ///< what else binds
  StageFlow flow;                  ///< stages as they stand
  std::optional<StageFlow> best;   ///< where some may move, at their best places
  std::vector<std::string> moves;  ///< to there: "normalise to the gpu"
  double called_share = 1.0;       ///< of the GPU's time of a sample, in the network
  std::string binds = "gpu";
  double rate = 0.0;  ///< samples a second of a host, of all
  double busy = 1.0;  ///< share of the GPUs' time
  Seconds latency{};  ///< of a sample, beside the network: cores, stages, copies
  std::optional<CopyPlan> copy;
  std::optional<CachePlan> cache;
  std::optional<ResidentPlan> resident;
  std::optional<ReadsPlan> reads;
  std::optional<LoaderPlan> loader;
  BytesPerSecond memory_traffic{};  ///< of the host, at that rate
};

/// Precondition: the scenario has [data]. `called`: of a batch of `batch` samples, without stages on the GPU.
[[nodiscard]] DataPlan plan_data(const BatchScenario& scenario, std::int64_t batch, Seconds called, Bytes occupied);

}  // namespace headroom
