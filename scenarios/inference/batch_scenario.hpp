// SPDX-License-Identifier: Apache-2.0
// A question about calls of a network: requests that come one by one, or records that must be done by a time.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/infer/network_engine.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/queue/batching_simulation.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/inference/pipeline_question.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// A call as its owner measured it.
struct MeasuredCall {
  std::int64_t batch = 1;
  Seconds time{};
};

/// One class of requests; the first has the highest priority.
struct BatchClass {
  std::string name;
  double rate = 0.0;  ///< requests a second, mean
  Seconds deadline{};
  bool rejects = false;
};

/// Requests that come one by one. Of a peak the GPUs are sized for it; utilisation and dollars are of the mean.
struct BatchRequests {
  double rate = 0.0;  ///< of all classes; 0: the highest that keeps the promise is asked for
  double peak = 1.0;  ///< over the mean
  bool periodic = false;
  std::optional<double> stream;     ///< requests a second of one stream: cameras, videos
  Seconds round_trip{};             ///< of a request and its answer over the network
  std::vector<BatchClass> classes;  ///< one at least
  std::int64_t simulated = 200'000;
  std::uint64_t seed = 1;
};

/// A share of requests answered within a time: 0.95 within 100 ms.
struct BatchPromise {
  double share = 0.95;
  Seconds latency{};
};

/// Clients that each ask again once answered.
struct BatchClients {
  std::int64_t clients = 1, samples = 1;
  Seconds round_trip{};  ///< from an answer to the next request
};

/// Records that lie there. Interruptions, of spot machines say, lose what a chunk had done and a start.
struct BatchJob {
  double records = 0.0;
  std::optional<Seconds> deadline;
  std::optional<Dollars> budget;
  std::int64_t chunk = 10'000;  ///< records that are done or not
  double utilisation = 1.0;     ///< share of the GPUs' time that calls may take
  std::optional<Seconds> longest_call;
  double interruptions = 0.0;  ///< of one GPU a second
  Seconds start{};             ///< from asking for a GPU to its first record
};

/// What fills a GPU beside activations, where its owner knows it: blank values follow from the network.
struct BatchMemory {
  std::optional<Bytes> weights, sample, workspace;
  std::optional<Bytes> usable;  ///< of the GPU; nothing: all that the driver leaves
};

struct BatchScenario {
  const ModelData* data = nullptr;  ///< of the sources, which must outlive the scenario
  std::string name, file;
  std::optional<Network> network;  ///< nothing: calls alone describe it
  Device device;
  std::optional<Node> host;
  std::int64_t gpus_per_node = 1;
  std::optional<std::int64_t> gpus;  ///< nothing: the answer says how many
  const NetworkEngine* engine = nullptr;
  Precision precision = Precision::fp16;
  std::vector<MeasuredCall> calls;        ///< ascending batches
  std::optional<std::int64_t> max_batch;  ///< nothing: chosen
  std::optional<Seconds> window;          ///< nothing: chosen
  std::vector<std::int64_t> preferred;
  std::int64_t instances = 1;  ///< of the network on one GPU
  bool deterministic = false;  ///< the engine may not split sums over blocks
  double spread = 0.0;         ///< standard deviation of a call's time over its mean
  BatchMemory memory;
  std::optional<Watts> power_cap;  ///< of one GPU
  std::optional<DataFeed> feed;
  PipelineQuestion pipeline;  ///< counts where there is a feed
  std::optional<BatchRequests> requests;
  std::optional<BatchClients> clients;
  std::optional<BatchJob> job;
  std::vector<BatchPromise> promises;
  double confidence = 0.8;  ///< probability with which the promise must hold
  Money money;
  EnergyQuestion energy;
  std::optional<Watts> node_power;  ///< of a host with its GPUs while they work, as measured
  std::vector<std::string> assumptions;
};

}  // namespace headroom
