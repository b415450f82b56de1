// SPDX-License-Identifier: Apache-2.0
// A question about a network given as an op list, resolved against the catalog.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/train/step/input_pipeline.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct NetworkScenario {
  const ModelData* data = nullptr;  ///< of the sources, which must outlive the scenario
  std::string name;
  std::string file;
  Network network;
  Device device;
  std::optional<Node> host;
  std::optional<Cluster> cluster;
  std::int64_t gpus = 1;
  std::int64_t dp = 1;
  std::int64_t global_batch = 1;  ///< samples of one optimizer step
  Precision precision = Precision::bf16;
  NetworkTraining training;
  MemoryStack software;                           ///< of it the time of a step alone
  std::optional<CheckpointForm> checkpoint_form;  ///< of the checkpoint that the run loads; nothing: not asked
  double samples = 0.0;                           ///< of the whole run; 0: not asked
  std::optional<Seconds> measured_time;           ///< of that run as somebody measured it
  std::optional<double> target;                   ///< share of the peak that model FLOP should reach
  Money money;
  EnergyQuestion energy;
  std::optional<Watts> power_cap;  ///< of one GPU
  double clock = 1.0;              ///< of the multiprocessors as stated, over the SKU's own
  std::int64_t gpus_per_node = 1;
  std::optional<DataFeed> feed;   ///< nothing: data is taken not to bind
  bool micro_batch_open = false;  ///< blank: the largest that fits
  bool recompute_open = false;    ///< blank: none when that fits, else full
  bool gradients_open = false;    ///< blank: fp32, under ZeRO 3 as the weights
  std::vector<std::string> assumptions;
};

/// Bytes of a parameter's gradient that a blank `gradients` means.
[[nodiscard]] double default_gradient_bytes(Precision precision, int zero) noexcept;

}  // namespace headroom
