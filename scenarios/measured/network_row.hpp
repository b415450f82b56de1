// SPDX-License-Identifier: Apache-2.0
// From a measured row of a network that is no language model to a prediction: calls of a batch, closed loops of
// clients, steps of training.
#pragma once

#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/infer/training_step.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/train/network/network_memory.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/measured/network_spelling.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ServedQueue;

/// What a row's columns describe, of one network under one engine: all but the numbers that a fit moves.
struct NetworkRowCall {
  std::string network;                       ///< id
  const std::vector<CallOp>* ops = nullptr;  ///< of one evaluation of one sample; the row model keeps them
  double flop = 0.0;                         ///< of the same
  const NetworkEngine* engine = nullptr;
  const Device* device = nullptr;
  CallSetting setting;
  std::string host_cpu;  ///< of the reference node; empty: none is known
  double gpus = 1.0;
  std::optional<Watts> cap;   ///< on each GPU's power; nullopt: none
  double clock = 1.0;         ///< of products under the cap, over the uncapped clock
  double core_clock = 1.0;    ///< of it all, over the SKU's, where an operator set it
  double memory_clock = 1.0;  ///< of memory, likewise
  FlopsPerSecond beside{};    ///< what accelerators beside the GPU add to the rate of an offline run
  double tokens = 1.0;        ///< of a sample, where rates count them
  double evaluations = 1.0;   ///< of the network for a sample
  double steps = 1.0;         ///< one after another
  double shared = 1.0;        ///< ranks that share each sample's tokens
  Seconds exchange{};         ///< of one sample between them
  double merged = 0.0;        ///< elements that ranks in a ring merge of one sample
  const std::vector<CallOp>* after =
      nullptr;                        ///< of what decodes a sample on one rank after its steps; nullptr: nothing
  std::vector<double> batches;        ///< samples of a call; of several the one with the most samples a second is taken
  Seconds limit{};                    ///< within which a server answers 99 % of requests; 0: no server
  NetworkServer server;               ///< of a server
  NetworkHarness harness;             ///< the same
  double stated = 0.0;                ///< samples a second of one GPU that its requests ask for; 0: what it can serve
  Seconds waits{};                    ///< in the harness's queue before a call that is no full batch
  std::array<double, 4> over_mean{};  ///< percentiles (50, 90, 95, 99) of one sample's answers; 0: as of equal calls
  double together = 0.0;              ///< samples that clients of a closed loop keep at the server; 0: no loop
  std::optional<TrainingStep> step;   ///< of training; nothing: a call alone
  double converges = 0.0;             ///< samples that training takes to its target; 0: not published
};

/// What ranks that share a sample's tokens do beside its ops, in one evaluation of one sample.
struct SharedAttention {
  Seconds exchange{};     ///< on their links
  double merged = 0.0;    ///< elements of results that a ring's steps merge
  double launches = 0.0;  ///< of one call
};
/// Before and after each attention every one of `columns` ranks exchanges its part of queries, keys, values and results
/// with the others (Jacobs et al. 2023, DeepSpeed Ulysses, section 3.1); the ranks of a ring hand keys and values on,
/// beside the attention on those before, and merge its results (Liu, Zaharia and Abbeel 2023, Ring Attention, section
/// 3).
[[nodiscard]] SharedAttention shared_attention(
    const std::vector<CallOp>& ops, double element, double columns, double ring, const Device& device);

/// Samples a second of one GPU and seconds of a sample's answer.
struct NetworkPace {
  double rate = 0.0, seconds = 0.0, batch = 1.0;
};

/// Seconds of a server's answers: the mean, then the 50th, 90th, 95th and 99th percentile; each with its 80 % ends.
struct ServedLatency {
  double low = 0.0, middle = 0.0, high = 0.0;
};
inline constexpr std::size_t served_latency_count = 5;
using ServedLatencies = std::array<ServedLatency, served_latency_count>;
/// `engine` stands for the call's own, with other numbers in a fit.
[[nodiscard]] NetworkPace network_pace(const NetworkRowCall& call, const CallRates& rates, const NetworkEngine& engine);
/// The same on a device that is resolved.
[[nodiscard]] NetworkPace network_pace(const NetworkRowCall& call,
                                       const CallDevice& device,
                                       const CallPhysics& physics,
                                       const NetworkEngine& engine);

/// What one GPU draws on the mean while calls of `batch` samples follow each other: products as matrix units draw,
/// passes as memory does, the exchange between ranks that share a sample as communication, all else as a GPU that
/// waits.
[[nodiscard]] Watts network_watts(const NetworkRowCall& call,
                                  double batch,
                                  const CallRates& rates,
                                  const GpuPower& power);

/// Predicts rows of networks and caches their ops. Where a row's columns leave open which of several networks ran, it
/// is predicted as the geometric mean of all, and its interval holds all.
class NetworkRowModel {
 public:
  explicit NetworkRowModel(const Sources& sources);
  ~NetworkRowModel();
  /// Whether the catalog has a network by the row's name.
  [[nodiscard]] bool knows(const ServingConfiguration& run) const;
  /// Whether a publication's rows of training spell a network so.
  [[nodiscard]] bool trains(const RunConfiguration& run) const;
  /// The model sees the configuration and, where tables of equal columns differ, which of them the row stands in.
  [[nodiscard]] RowPrediction predict(const RunRow& row);
  /// The calls that a row may mean, with `assumed` of what no column says; empty, with the reason, where there is none.
  [[nodiscard]] std::vector<NetworkRowCall> calls(const RunRow& row, RowPrediction& refusal, std::string& assumed);
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + ops_.size() + groups_.size(); }

 private:
  struct Calls {
    std::vector<CallOp> ops;
    double input_bytes = 0.0;  ///< of one sample
    double flop = 0.0;         ///< of the same
    NetworkInference memory;
    TrainedTensors trained;
  };
  using Options = std::map<std::string, std::string, std::less<>>;
  /// `training`: the ops of a forward and a backward pass.
  [[nodiscard]] const Calls& calls_of(const std::string& id,
                                      const NetworkSizes& usual,
                                      std::optional<double> tokens,
                                      const Options& options,
                                      bool training);
  /// calls() of a row of training.
  [[nodiscard]] std::vector<NetworkRowCall> training_calls(const RunRow& row,
                                                           RowPrediction& refusal,
                                                           std::string& assumed);
  /// The GPUs of a row of training. ConfigError where the catalog has no link between them.
  [[nodiscard]] const JobGroups& groups_of(const RunConfiguration& run, const Device& device);
  void set_host(NetworkRowCall& call) const;

  /// Of a server; each of one network, format, GPU, engine and rule is simulated once.
  [[nodiscard]] const ServedQueue& served_queue(const NetworkRowCall& call);
  [[nodiscard]] RowPrediction predict_server(const RunRow& row, const NetworkRowCall& call, std::string assumed);
  /// The watts of a server's whole system at the rate that is predicted.
  [[nodiscard]] RowPrediction predict_server_watts(const NetworkRowCall& call, std::string assumed);
  /// nullopt where the catalog has no TDP.
  [[nodiscard]] std::optional<GpuPower> power_of(const NetworkRowCall& call) const;

  const Sources& sources_;
  RowDevices devices_;
  std::map<std::string, Calls, std::less<>> ops_;
  std::map<std::string, std::unique_ptr<const ServedQueue>, std::less<>> served_;
  std::map<std::string, std::unique_ptr<const JobGroups>, std::less<>> groups_;
};

/// The row's metric of a call at a pace, in the row's unit; nullopt where calls do not answer it.
[[nodiscard]] std::optional<double> network_value(const NetworkRowCall& call,
                                                  const NetworkPace& pace,
                                                  std::string_view metric);

}  // namespace headroom
