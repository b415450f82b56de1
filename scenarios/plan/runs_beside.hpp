// SPDX-License-Identifier: Apache-2.0
// Measured rows as plans are held beside them, looked up once for all plans.
#pragma once

#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Rows of training that a plan may be held beside, each with what tells how near it is: looked up once for all plans.
/// Rows that are in doubt, hold a problem, or cannot be predicted are passed over; of several metrics of one
/// configuration the first that is a time counts, else the first throughput.
class JobsOfRuns {
 public:
  JobsOfRuns(std::vector<RunFile> files, const Sources& sources);

  struct Job {
    const RunRow* row = nullptr;
    JobFeatures features;
  };
  /// By configuration (configuration_key).
  [[nodiscard]] const std::map<std::string, Job, std::less<>>& jobs() const noexcept { return jobs_; }

 private:
  std::vector<RunFile> files_;
  std::map<std::string, Job, std::less<>> jobs_;
};

/// The same of rows of serving: steady loads with a rate or a time between tokens.
class ServersOfRuns {
 public:
  ServersOfRuns(std::vector<RunFile> files, const Sources& sources);

  struct Server {
    const RunRow* row = nullptr;
    std::string sku, generation;  ///< ids
    std::string network;          ///< id of the preset
  };
  [[nodiscard]] const std::map<std::string, Server, std::less<>>& servers() const noexcept { return servers_; }

 private:
  std::vector<RunFile> files_;
  std::map<std::string, Server, std::less<>> servers_;
};

/// The nearest of `published` and of the user's `own`, which counts where both hold a configuration by equal metrics.
[[nodiscard]] NearestRuns nearest_runs(const TrainScenario& train,
                                       const JobsOfRuns& published,
                                       std::span<const RunFile> own,
                                       const Sources& sources);
/// Those inside the radius of the same network served in the same phases. Unlike as above: ranks of a replica, lengths,
/// sequences a rank, SKU, engine and format of the weights.
[[nodiscard]] NearestRuns nearest_runs(const ServeScenario& serve,
                                       const ServersOfRuns& published,
                                       const Sources& sources);

}  // namespace headroom
