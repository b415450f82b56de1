// SPDX-License-Identifier: Apache-2.0
// A planner's question as its TOML states it, resolved against the catalog: nothing is left to look up.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/scenarios/advice/questions.hpp>
#include <headroom/scenarios/goodput/question.hpp>
#include <headroom/scenarios/money/money.hpp>
#include <headroom/scenarios/question/stated_training.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace headroom {

struct OwnNumbers;

struct TrainScenario {
  const ModelData* data = nullptr;  ///< of the sources, which must outlive the scenario
  Architecture architecture;
  Device device;
  std::int64_t domain = 1;  ///< GPUs of one scale-up domain
  std::optional<BytesPerSecond> scale_out;
  std::string node;
  std::optional<Node> host;  ///< the node type itself
  std::optional<Cluster> cluster;
  MemoryStack software;
  std::shared_ptr<const OwnNumbers> own;  ///< numbers that measured runs of the user's own moved; null: the fit's
  std::optional<Bytes> host_memory;       ///< of one node, for offloading
  std::optional<Watts> power_cap;         ///< of one GPU
  double clock = 1.0;                     ///< as stated, over the SKU's own
  std::int64_t gpus_per_node = 1;
  bool offload_to_nvme = false;
  TrainingWorkload work;
  StatedTraining stated;
  std::optional<CheckpointForm> checkpoint_form;  ///< of the checkpoint that the run loads; nothing: not asked
  double tokens = 0.0;                            ///< of the whole run; 0: not asked
  Strategy strategy;
  bool micro_batch_open = false;  ///< blank: the fastest legal value that fits
  bool recompute_open = false;
  bool balances_stages = true;  ///< end stages that nobody states, where the software takes any layers for them
  double confidence = 0.8;      ///< with which what is recommended keeps its limits
  TrainQuestions asked;         ///< beside the plan
  std::optional<goodput::Question> long_run;  ///< [goodput]: what failures and saves add
  std::optional<goodput::Target> target;      ///< [target]: from which `tokens` may follow

  /// That are paid for: those that train and those of spare hosts.
  [[nodiscard]] double gpus_held() const noexcept {
    return static_cast<double>(work.shape.gpus) + (long_run ? long_run->spare_gpus(gpus_per_node) : 0.0);
  }
};

struct ServingTraffic;
struct FleetQuestion;

/// A model beside the scenario's on the same GPUs, with weights and KV blocks of its own.
struct BesideServed {
  Architecture architecture;
  Precision weights = Precision::bf16;
  Precision kv = Precision::bf16;
  std::optional<double> kv_share;  ///< of the replica's KV pool; blank: by its need
};

struct ServeScenario {
  const ModelData* data = nullptr;  ///< of the sources, which must outlive the scenario
  Architecture architecture;
  Device device;
  std::optional<Node> host;
  std::optional<Watts> power_cap;  ///< of one GPU
  ServingStack engine;             ///< of its release
  std::string engine_version;      ///< as stated; empty: the current one
  ServingWorkload work;
  bool weights_open = false;                      ///< blank: the checkpoint's own format, else 16 bit
  bool fraction_open = false;                     ///< blank: the engine's default at the tp
  bool chunked_prefill = true;                    ///< a prompt may take several steps
  double confidence = 0.8;                        ///< with which what is recommended keeps its promises
  std::shared_ptr<const ServingTraffic> traffic;  ///< [traffic]: requests that come when they come; null: a fixed load
  std::shared_ptr<const FleetQuestion> fleet;     ///< beside it
  std::vector<BesideServed> beside;  ///< models that classes of [traffic] name; RequestClass::model counts them from 1
};

struct Sources;

/// A question as its author stated it: with typed changes it is resolved, and resolved again.
struct Statement {
  std::shared_ptr<const ConfigValue> document;
  std::string file;                  ///< whose problems those without a place of their own are
  const Sources* sources = nullptr;  ///< must outlive all that is resolved from it
};

/// A statement and what it means.
struct Scenario : Statement {
  std::string name;
  std::variant<TrainScenario, ServeScenario> question;
  Money money;
  EnergyQuestion energy;
  /// What the scenario left open and which value was taken: "zero = 1 (default)".
  std::vector<std::string> assumptions;
};

/// Where ids are looked up, and the numbers that answers are made of.
struct Sources {
  Catalog catalog;
  ModelLibrary models;
  ModelData data;

  /// What ships, files of `folders` over it; earlier folders win. Broken files are told when they are asked for.
  [[nodiscard]] static Sources of(const UserFolders& folders);
  /// With the folders of HEADROOM_DATA_DIR and the user's configuration. ConfigError for a folder that is none.
  [[nodiscard]] static Sources standard();
};

}  // namespace headroom
