// SPDX-License-Identifier: Apache-2.0
// What published rows mean by the name of a network: model/stacks/step/network-rows.toml, and how their servers batch.
#pragma once

#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/workload/op_list.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// What rows of training leave open beside the network.
struct TrainedSpelling {
  std::int64_t seq_len = 0;            ///< column that asks for it; 0: any
  double batch = 0.0;                  ///< samples of a call on one GPU where no column has them; 0: columns do
  bool accumulated = false;            ///< the column of the micro-batch counts all calls before an update
  double tokens = 1.0;                 ///< of a sample, where rates or batches count them
  bool batch_of_tokens = false;        ///< the column of the micro-batch counts tokens
  std::optional<Precision> precision;  ///< where the column is blank
  std::optional<Precision> narrow;     ///< the same on GPUs that have its units
  std::map<double, double> converges;  ///< samples to the target by global batch
};

/// How a publication's harness serves requests that come at random: model/stacks/step/network-servers.toml.
struct NetworkServer {
  std::vector<std::string> names, gpus, refs;  ///< of the model; beginnings of the GPU's; parts of the reference, all
  std::int64_t gpu_count = 0;                  ///< of the system; 0: any
  std::string format;                          ///< of weights; empty: any
  std::int64_t batch = 0;                      ///< samples of a call at most; 0: as many as fit
  std::int64_t streams = 1;                    ///< calls at a time on one GPU
  Seconds window{};                            ///< that a batch's oldest request waits at most
  double kept = 1.0;  ///< share of requests answered in their turn; the rest, the longest, when the run ends
  Bytes input{};      ///< of a sample, where it passes through the host; 0: starts on the device
};
/// What the harness leaves of the queue's rate.
struct NetworkHarness {
  std::vector<std::string> refs;
  double share = 1.0;               ///< that its operator asks for of the highest rate within the limit
  double spread = 0.1;              ///< standard deviation of its logarithm over systems
  double latency_width = 0.2;       ///< of latencies, beside how busy the system is: 1 / (1 + width) .. 1 + width
  BytesPerSecond host_bytes{1e30};  ///< of inputs that one host passes on
  double host_requests = 1e30;      ///< the same, requests a second
};

struct NetworkSpelling {
  std::vector<std::string> names;
  std::vector<std::string> networks;  ///< ids; several where columns do not say which
  std::string when;                   ///< text in a row's options that asks for it; empty: none
  std::vector<std::string> refs;      ///< parts of its source_ref or notes, all of which ask for it: a table's title
  int table = 0;                      ///< of several tables of equal columns under one title; 0: any
  double evaluations = 1.0;           ///< of the network for a sample
  double evaluations_per_step = 0.0;  ///< for each of the row's `steps`; 0: no step
  bool serial = false;                ///< one sample a call, on one GPU whatever the system has
  NetworkSizes sizes;                 ///< that no column states
  std::string runs;                   ///< what the publication runs and no column states ("xla"); empty: nothing
  std::string engine;                 ///< id of the engine where no column states it; empty: the columns do
  std::optional<Precision> fp32_is;   ///< format of products where the column says fp32 and the GPU has another's units
  std::optional<Precision> int8_is;   ///< the same where the column says int8 and most of the network has another's
  std::string narrow_from;  ///< compute capability from which rows that say fp16 ran in `trained.narrow`; empty: all
  std::string decoder;      ///< network that decodes a sample on one rank after its steps; empty: none
  std::string hidden;       ///< what no column says and how it is known, for print; empty: nothing
  Seconds server_limit{};   ///< within which the publication's server answers 99 % of requests; 0: none is run
  /// That a batch below the harness's own waits for more before it is called; 0: none.
  Seconds window{};
  /// Percentiles (50, 90, 95, 99) of one sample's answers over their mean, where samples differ in size; 0: they do
  /// not.
  std::array<double, 4> over_mean{};
  Seconds host_per_sample{};  ///< serial work of its host beside the network: boxes, masks
  TrainedSpelling trained;
  std::string source;
};

[[nodiscard]] const std::vector<NetworkSpelling>& network_spellings(const ModelData& data);
/// Those of rows of training: model/stacks/step/network-training-rows.toml.
[[nodiscard]] const std::vector<NetworkSpelling>& trained_spellings(const ModelData& data);
/// The one that a row means, of training rows as of others; nullptr where its name is no published spelling.
[[nodiscard]] const NetworkSpelling* spelling_of(const ModelData& data, const RunRow& row);
/// How its publication serves the row's network; a rule without batches and windows where none states it.
[[nodiscard]] NetworkServer server_of(const ModelData& data, const RunRow& row);
/// Precondition: the row is of a server.
[[nodiscard]] const NetworkHarness& harness_of(const ModelData& data, const RunRow& row);
/// Whether some publication spells a network so.
[[nodiscard]] bool spelled(const ModelData& data, std::string_view model);

}  // namespace headroom
