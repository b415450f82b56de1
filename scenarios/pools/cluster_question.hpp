// SPDX-License-Identifier: Apache-2.0
// What a document of kind cluster asks: pools of unlike GPUs, tenants, and jobs that are questions of their own or
// stated numbers.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/scheduler/cluster_jobs.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct Sources;

/// What a question's answer takes of a pool.
struct JobCost {
  std::string why;              ///< one sentence: why it does not run on this SKU; empty: it does
  std::int64_t gpus = 0;        ///< 0 where it does not run
  std::optional<Seconds> time;  ///< to its end; nothing: it has none, as a service
  std::string basis;            ///< what the time is: "80 % of runs end within it"; empty without one
};

/// A scenario that a job names, on one SKU. It holds a question of any kind but a cluster.
class JobQuestion {
 public:
  JobQuestion() = default;
  virtual ~JobQuestion() = default;
  JobQuestion(const JobQuestion&) = delete;
  JobQuestion& operator=(const JobQuestion&) = delete;

  /// Whether its answer says when it ends; a service holds its GPUs for as long as somebody says.
  [[nodiscard]] virtual bool ends() const = 0;
  /// Answers it. ConfigError where it cannot be answered as it is asked.
  [[nodiscard]] virtual JobCost cost() const = 0;
};

/// Reads a scenario as a question. ConfigError with every problem of it at once.
using QuestionReader = std::function<std::shared_ptr<const JobQuestion>(ConfigValue document, const std::string& file)>;

namespace pools {

struct AskedPool {
  scheduler::Pool pool;
  std::string gpu;  ///< id of the SKU
  std::string vendor;
  std::optional<Device::Slice> slice;         ///< of a SKU that is a slice of a card
  std::map<std::string, std::string> labels;  ///< its own, and gpu, pool and zone
  double speed = 1.0;                         ///< of jobs of one stated time
  GpuPrice price;
};

/// What a job takes on a pool, in numbers or as a question.
struct AskedChoice {
  std::size_t pool = 0;
  std::optional<std::int64_t> gpus;             ///< stated
  std::optional<Seconds> time;                  ///< stated, on this pool
  std::shared_ptr<const JobQuestion> question;  ///< null: both are stated
  bool spill = false;
};

struct AskedJob {
  std::string name, scenario;  ///< scenario: its path; empty without one
  std::size_t tenant = 0;
  std::int64_t count = 1;
  bool service = false;
  bool ordered = false;  ///< its choices stand in its owner's order; else the cheapest goes first
  Seconds arrival{};
  std::optional<Seconds> deadline, crash;
  std::int64_t priority = 0;
  bool preemptible = false;
  Seconds checkpoint{}, restart{};
  std::vector<std::size_t> after;
  std::map<std::string, std::string> needs;
  std::vector<AskedChoice> choices;  ///< at least one
};

/// So many replicas: a number, or a share of all.
struct ReplicaCount {
  double share = 0.0;
  std::optional<std::int64_t> number;
};

struct AskedRollout {
  std::size_t job = 0;
  Seconds at{};
  std::optional<std::int64_t> replicas;
  ReplicaCount surge, unavailable;
  Seconds start{}, drain{};
};

struct ClusterQuestion {
  std::string name;
  std::vector<AskedPool> pools;
  std::vector<scheduler::Tenant> tenants;
  bool tenants_stated = false;
  std::vector<AskedJob> jobs;
  scheduler::Policy policy;
  std::optional<Seconds> horizon;
  std::vector<AskedRollout> rollouts;
  std::vector<std::string> assumptions;
};

/// The most jobs, counted, and the most waits of one job for another.
inline constexpr std::int64_t most_counted_jobs = 100'000;
inline constexpr std::int64_t most_waits = 2'000'000;

/// ConfigError with every problem at once: those of the document, and those of each scenario that it names at their
/// places in that scenario's file. `reader` is asked once for a scenario on a SKU.
[[nodiscard]] ClusterQuestion read_cluster(const ConfigValue& document,
                                           const std::string& file,
                                           const Sources& sources,
                                           const QuestionReader& reader);

}  // namespace pools
}  // namespace headroom
