// SPDX-License-Identifier: Apache-2.0
// Planning the training of a network given as an op list: memory, FLOP and traffic. Its time is not priced yet.
#pragma once

#include <headroom/hardware/catalog.hpp>
#include <headroom/model/precision.hpp>
#include <headroom/model/train/network_memory.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct NetworkScenario {
  std::string name;
  std::string file;
  Network network;
  Device device;
  std::int64_t gpus = 1;
  std::int64_t dp = 1;
  std::int64_t global_batch = 1;  ///< samples of one optimizer step
  Precision precision = Precision::bf16;
  NetworkTraining training;
  bool micro_batch_open = false;  ///< blank: the largest that fits
  bool recompute_open = false;    ///< blank: none when that fits, else full
  bool gradients_open = false;    ///< blank: fp32, under ZeRO 3 as the weights
  std::vector<std::string> assumptions;
};

/// Keys to change, and what the memory is then.
struct NetworkRemedy {
  std::vector<std::string> changes;
  Bytes memory{};
};

struct NetworkPlan {
  NetworkScenario scenario;           ///< open axes filled
  std::vector<std::string> problems;  ///< rules the strategy breaks, each with the way out
  NetworkMemory memory;
  Bytes fragmentation{};  ///< the allocator's slack
  Bytes framework{};      ///< context, communicators and workspace
  Bytes capacity{};
  Interval<Bytes> interval;             ///< of total()
  std::string interval_source;          ///< where its width comes from
  std::vector<NetworkRemedy> remedies;  ///< when it does not fit
  std::int64_t accumulation = 1;
  Flops step_flops{};  ///< of all GPUs, recomputation included
  Bytes traffic{};     ///< sent per GPU and step for data parallelism
  NetworkInference inference;
  std::int64_t inference_batch = 0;  ///< the largest that fits
  std::vector<std::string> notes;
  [[nodiscard]] Bytes total() const noexcept { return memory.total() + fragmentation + framework; }
  [[nodiscard]] bool fits() const noexcept { return total() <= capacity; }
  [[nodiscard]] bool feasible() const noexcept { return problems.empty() && fits(); }
};

/// Whether `model` names a network, a TOML file, or holds ops.
[[nodiscard]] bool asks_for_network(const ConfigValue& root,
                                    const ModelLibrary& models,
                                    const NetworkLibrary& networks);

/// Bytes of a parameter's gradient that a blank `gradients` means.
[[nodiscard]] double default_gradient_bytes(Precision precision, int zero) noexcept;

/// Reads a scenario whose model is a network: [hardware] gpu, gpus; [training] global_batch, precision, gradients,
/// optimizer or optimizer_bytes; [strategy] dp, zero, micro_batch, recompute none|full, recompute_every,
/// recompute_parts. A model file is looked for beside `file`. Throws ConfigError with every problem at once.
[[nodiscard]] NetworkScenario read_network_scenario(const ConfigValue& root,
                                                    const std::string& file,
                                                    const Catalog& catalog,
                                                    const NetworkLibrary& networks);

/// Fills the open axes and prices memory, FLOP and traffic. ConfigError when the SKU's capacity is unknown.
[[nodiscard]] NetworkPlan make_network_plan(NetworkScenario scenario);

}  // namespace headroom
