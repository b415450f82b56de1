// SPDX-License-Identifier: Apache-2.0
// The answer to a batch question: calls by batch; GPUs, batch and window for requests; GPUs, hours and dollars of a
// job.
#pragma once

#include <headroom/scenarios/inference/call_book.hpp>
#include <headroom/scenarios/inference/data_plan.hpp>
#include <headroom/scenarios/money/formulas.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Share of a class's requests that may come beyond their deadline.
inline constexpr double most_late = 0.01;
inline constexpr std::array<double, 4> told_shares{0.5, 0.95, 0.99, 0.999};

struct ClassTail {
  std::string name;
  std::array<Seconds, told_shares.size()> latency{};
  double late = 0.0;  ///< share of its requests beyond its deadline
  double dropped = 0.0;
};

/// One setting under the load of one GPU, simulated.
struct BatchTail {
  std::int64_t max_batch = 1;
  Seconds window{};
  double mean_batch = 1.0;
  double utilisation = 0.0;                           ///< of the GPU at the peak
  Seconds mean{};                                     ///< latency of all requests
  std::array<Seconds, told_shares.size()> latency{};  ///< of the same
  std::vector<ClassTail> classes;
  std::vector<std::int64_t> batches;  ///< calls by samples, index b - 1
  double late = 0.0, dropped = 0.0;
};

/// Requests answered by GPUs that each have a queue of their own and an even share of the load.
struct OnlinePlan {
  std::int64_t gpus = 1;
  std::int64_t gpus_at_middle = 1;    ///< that hold the promise if the curve is right
  bool rate_asked = false;            ///< the rate was left open, and `peak_rate` is the highest that keeps the promise
  bool holds = true;                  ///< every promise, with the probability asked for
  std::optional<double> probability;  ///< of that, over the width of the curve; nothing where nothing is asked
  std::string why;                    ///< where it does not: what no number of GPUs mends, or what binds
  double peak_rate = 0.0;             ///< requests a second of all GPUs
  double capacity = 0.0;              ///< of all GPUs in full batches
  double mean_utilisation = 0.0;      ///< at the mean rate
  std::optional<double> served;       ///< of a rate that was open, what the engine's server reached of such loops
  std::optional<double> streams;      ///< that the rate makes
  Seconds beside{};                   ///< of a latency: network, stages and copies beside wait and call
  BatchTail taken;
  std::vector<BatchTail> windows;  ///< the taken batch under other windows
  std::vector<BatchTail> batches;  ///< the taken window under other batches
  std::optional<Dollars> per_million;
  std::optional<DollarsPerSecond> price;  ///< of all GPUs
  std::optional<Joules> energy;           ///< of a request
};

struct ClosedPlan {
  ClosedLoop loop;  ///< before one GPU
};

/// A job's time at shares of its distribution: half, 80 %, 95 % of runs end by then.
inline constexpr std::array<double, 3> job_shares{0.5, 0.8, 0.95};
struct JobPlan {
  std::int64_t gpus = 1;
  std::int64_t gpus_at_middle = 1;
  std::int64_t units = 1, unit_gpus = 1;  ///< GPUs that call a network, one each; replicas of a language model
  bool holds = true;
  std::string why;
  std::int64_t batch = 1;    ///< samples of a call of a network
  double rate = 0.0;         ///< records a second of one unit, what feeds it included
  double rate_needed = 0.0;  ///< of all
  double busy = 1.0;         ///< share of a GPU's time in calls
  double records = 0.0;
  double lost = 0.0;    ///< records that an interruption loses at most
  double useful = 1.0;  ///< share of the GPUs' time that is not lost to interruptions and starts
  std::array<Seconds, job_shares.size()> time{};
  std::optional<double> probability;  ///< of ending by the deadline; nothing without one
  std::optional<Dollars> cost;
  std::optional<Dollars> per_million;
  std::optional<Joules> energy;
  std::vector<std::string> notes;
};

/// How many nodes a rack feeds.
struct RackPlan {
  Watts node{};
  bool measured = false;
  std::int64_t nodes = 0;  ///< 0: no rack is stated
};

/// One of several ways that were asked for.
struct BatchChoice {
  std::string gpu, engine, precision;
  std::int64_t instances = 1, gpus = 0;
  bool holds = false;
  std::string why;
  std::optional<Dollars> per_million;  ///< samples
  std::optional<double> per_dollar;    ///< samples
  double roof = 0.0;                   ///< samples a second of one GPU that no kernels exceed; 0: not known
};

struct BatchPlan {
  BatchScenario scenario;
  CallBook book;
  std::optional<DataPlan> data;  ///< of one host, where [data] says what a sample asks
  std::string binds;             ///< "gpu", or what feeds it
  std::optional<OnlinePlan> online;
  std::optional<ClosedPlan> closed;
  std::optional<JobPlan> job;
  std::optional<RackPlan> rack;
  std::vector<BatchChoice> choices;  ///< of a search, the one taken first; else none
  [[nodiscard]] bool feasible() const noexcept {
    return (!online || online->holds) && (!job || job->holds) && !book.points.empty() && book.points.front().fits;
  }
};

[[nodiscard]] BatchPlan make_batch_plan(BatchScenario scenario);

}  // namespace headroom
