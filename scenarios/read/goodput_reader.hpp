// SPDX-License-Identifier: Apache-2.0
// Tables [goodput] and [target] of a training scenario.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/goodput/question.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::goodput {

/// What the rest of the scenario says of the job that may fail.
struct JobFacts {
  std::int64_t gpus = 1, gpus_per_node = 1;
  bool asks_run = false;  ///< tokens are stated, or follow from a target
  Bytes states{};         ///< weights and optimizer states of the whole job
  double bytes_per_parameter = 0.0;
  std::optional<BytesPerSecond> host_link;  ///< of a GPU
  std::string gpu;
};

/// nullopt without the table. What is not stated and follows from the job is told in `assumptions`; what does not
/// follow is a problem with published examples, and so is a job that no run of it gets ahead of.
[[nodiscard]] std::optional<Question> read_goodput(ConfigTable& root,
                                                   const JobFacts& job,
                                                   std::vector<std::string>& assumptions);

/// What the law needs of the question.
struct TargetFacts {
  const Architecture* architecture = nullptr;
  bool full = true;           ///< all weights are trained
  double batch_tokens = 0.0;  ///< of a step
  double tokens = 0.0;        ///< as stated; 0: blank
};
/// nullopt without the table. With `loss` the tokens follow, which must then be blank; without it the loss of the
/// stated ones. Problems: neither or both, a loss out of reach, a network that the law does not know.
[[nodiscard]] std::optional<Target> read_target(ConfigTable& root,
                                                const TargetFacts& facts,
                                                std::vector<std::string>& assumptions);

}  // namespace headroom::goodput
