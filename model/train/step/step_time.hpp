// SPDX-License-Identifier: Apache-2.0
// The time of one training step: layers into stages, stages into a pipeline, then what data parallelism, the optimizer
// and stragglers add. Tables hold what a layer key decides; a strategy then costs some dozen additions.
#pragma once

#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/train/step/axis_traffic.hpp>
#include <headroom/model/train/step/layer_step.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace headroom {

/// Layers of the middle and of the last stage. Layers that do not divide go to the early stages; where L + 2 divides,
/// embedding and head count as a layer each (Megatron-LM, account_for_embedding_in_pipeline_split).
struct StageLayers {
  double middle = 0.0, last = 0.0;
  double first = 0.0;
};
[[nodiscard]] StageLayers split_stages(double layers, double stages) noexcept;
/// The same where the strategy states layers of the first or the last stage (Megatron-LM,
/// --decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers): the others share the rest. `beside_head`
/// prediction layers follow the last stage's own, stated or not.
[[nodiscard]] StageLayers split_stages(double layers, const Strategy& strategy, double beside_head) noexcept;

/// One micro-batch's times, and what of them data parallelism adds.
struct StepTime {
  Breakdown time;
  double layers = 0.0;  ///< of the stage that sets the pace
  double micro_batches = 1.0;
  bool head_binds = false;
  Seconds layer{};              ///< forward and backward of one layer
  Seconds slowest{};            ///< stage, one micro-batch
  Seconds stages{};             ///< all stages, one micro-batch
  Seconds hidden_exchanges{};   ///< of the slowest stage and one micro-batch, beside another's compute
  Seconds pair_wait{};          ///< of it, for the host, beyond that of passes alone; below zero: less
  Seconds send{};               ///< one activation to the next stage
  Seconds reduction{};          ///< gradients and weights over data ranks, all of it
  Seconds hidden{};             ///< of it beside compute
  Seconds gather{}, scatter{};  ///< ZeRO 3, of one layer
  double updated = 0.0;         ///< parameters of the rank's update
  Seconds copies{};             ///< to and from the host, of all micro-batches and the update, before any overlap
  Seconds host_update{};        ///< of the parameters, on the host
  FedStep fed;                  ///< by storage, host and copies
  double samples = 0.0;         ///< of one host in a step
  double sharers = 1.0;         ///< GPUs that stragglers are drawn from
  Seconds dispatch{};           ///< of the host, to send a step, where it reads back
  Seconds synced{};             ///< what reading back adds to a step on average
};

/// A recipe on a job's groups. Tables are built on first use and kept. Safe to call from several threads.
class StepModel {
 public:
  StepModel(StepRecipe recipe, std::shared_ptr<const JobGroups> groups, std::int64_t lora_rank);

  [[nodiscard]] StepTable tabulate(const LayerKey& key) const;

  /// core      = m max(stage) + (sum of stages - max) / v + 2 send ((p - 1) + m v exposed)
  ///             (Narayanan et al. 2021, section 2.2); schedules that wait for equal stages by schedule.hpp
  /// ZeRO 3    f = ov(f, G), b = ov(b, G + S), ov(c, x) = max(c + sig o min(c, x), x) + (1 - o) min(c, x)
  /// exposed   = R - hid + sig hid, hid = min(o R, 0.8 of the last micro-batch)
  /// optimizer = 40 bytes a local parameter over B, Muon's products, and a fixed part
  /// offload   = m max(0, copy - share of each pass) + gradients as far as the last backward pass does not hide them +
  ///             host update + weights (Ren et al. 2021, ZeRO-Offload, section 4) + paged moments both ways
  /// sync      = (dispatch - what of it is exposed anyway) / steps between two reads (rank_conduct.hpp)
  /// step      = ((core + exposed + optimizer + offload + sync) (1 + straggler log2(max(N / 8, 1))) + compute
  ///             board_wait(N)) x level of the user's own runs; ranks whose spread is stated: slowest_share()
  /// data      = what the step then waits for its samples (input_pipeline.hpp)
  /// `host`: what the rank keeps on its host.
  [[nodiscard]] StepTime time(const StepTable& table,
                              const Strategy& strategy,
                              double global_batch,
                              const HostMemory& host = {}) const noexcept;
  /// The same where the traffic is known.
  [[nodiscard]] StepTime time(const StepTable& table,
                              const Strategy& strategy,
                              double global_batch,
                              const HostMemory& host,
                              const StepTraffic& traffic) const noexcept;
  [[nodiscard]] StepTraffic traffic(const StepTable& table, const Strategy& strategy) const noexcept;

  /// Bytes that a rank sends in a step for data parallelism: what time() prices as its collectives, each as many as a
  /// ring sends (bytes_per_rank()).
  [[nodiscard]] Bytes data_parallel_bytes(const StepTable& table,
                                          const Strategy& strategy,
                                          double micro_batches) const noexcept;

  /// The same for tensor parallelism, of a stage's mean share of the layers.
  [[nodiscard]] Bytes tensor_parallel_bytes(const LayerKey& key, std::int64_t stages, double micro_batches) const;

  /// What a rank sends over each of its groups, by axis. A middle stage's activations forward and their gradients back.
  [[nodiscard]] AxisTraffic axis_traffic(const StepTable& table,
                                         const LayerKey& key,
                                         const Strategy& strategy,
                                         double micro_batches) const;

  /// No strategy of this layer table, number of stages and micro-batches takes less, whatever its schedule, chunks,
  /// ZeRO stage and split of the layers: every stage's mean share of layers and head, nothing exposed, no bubble.
  [[nodiscard]] Seconds least_time(const StepTable& table, std::int64_t stages, double micro_batches) const noexcept;

  /// What all tables share that give a rank as many tokens, columns and experts.
  struct RankProducts {
    std::vector<LayerProducts> layers;  ///< of each kind
    HeadTimes head;                     ///< of all passes through it, with what joins prediction modules to it
  };
  [[nodiscard]] std::shared_ptr<const RankProducts> products(const LayerKey& key) const;
  /// A table without its groups, and the groups into a table: many strategies share the one and not the other.
  [[nodiscard]] StepTable tabulate_layers(const LayerKey& key, const RankProducts& products) const;
  void regroup(const LayerKey& key, StepTable& table) const;

  [[nodiscard]] const LayerPricer& pricer() const noexcept { return pricer_; }
  [[nodiscard]] const JobGroups& groups() const noexcept { return *groups_; }
  /// To price the same job again.
  [[nodiscard]] const std::shared_ptr<const JobGroups>& shared_groups() const noexcept { return groups_; }
  [[nodiscard]] double layers() const noexcept { return layers_; }
  /// What a stage of several adds to each micro-batch.
  [[nodiscard]] Seconds stage_overhead(const Strategy& s) const noexcept {
    return s.pp > 1 && on(Term::host) ? static_cast<double>(s.vpp) * pricer_.recipe().stack.stage : Seconds{};
  }
  /// Of each stage, as the strategy states or the software splits them.
  [[nodiscard]] StageLayers stages(const Strategy& strategy) const noexcept {
    return split_stages(layers_, strategy, heads_ - 1.0);
  }

 private:
  struct Kind {
    Block block;
    double layers = 0.0;  ///< prediction modules with them, as often as they run
    double held = 0.0;    ///< of which the weights are held
    BlockParameters parameters;
    LoraParameters adapters;
  };
  /// A layer key, packed, with the strides, for the order decides them.
  using CacheKey = std::array<std::uint64_t, 5>;
  struct CacheHash {
    [[nodiscard]] std::size_t operator()(const CacheKey& key) const noexcept;
  };
  /// Layers before what hides, what is formed again and what waits: of each dispatcher each kind.
  using BareLayers = std::vector<LayerTimes>;
  [[nodiscard]] static CacheKey cache_key(const LayerKey& key, const RankGroups& ranks) noexcept;
  [[nodiscard]] LayerTimes priced_mean(const LayerKey& key,
                                       const RankGroups& ranks,
                                       const RankProducts& products) const;
  [[nodiscard]] std::shared_ptr<const BareLayers> bare_layers(const LayerKey& key,
                                                              const RankGroups& ranks,
                                                              const RankProducts& products,
                                                              const std::vector<LayerOps>& ops) const;
  [[nodiscard]] std::shared_ptr<const std::vector<LayerOps>> ops_of(std::uint16_t tensor_ranks) const;
  [[nodiscard]] LayerTimes mean_layer(const LayerKey& key, const RankGroups& ranks, const RankProducts& products) const;
  void add_parameters(const LayerKey& key, StepTable& table) const noexcept;
  void set_groups(const LayerKey& key, const RankGroups& ranks, StepTable& table) const;
  [[nodiscard]] static Seconds bubble(const StepTable& table, const Strategy& s, const StepTime& t) noexcept;
  template <class Visit>
  void for_each_reduced(const StepTable& table, const Strategy& s, const Visit& visit) const noexcept;
  template <class Visit>
  void for_each_sharded(const StepTable& table, const Strategy& s, const Visit& visit) const noexcept;
  void add_reduction(const StepTable& table, const Strategy& s, StepTraffic& traffic) const noexcept;
  void add_data_parallel(const Strategy& s, const StepTraffic& traffic, StepTime& t) const noexcept;
  void add_pipeline(const StepTable& table, const Strategy& s, const StepTraffic& traffic, StepTime& t) const noexcept;
  void add_optimizer(const StepTable& table, const Strategy& s, bool on_host, StepTime& t) const noexcept;
  void add_offload(const StepTable& table, const HostMemory& host, StepTime& t) const noexcept;
  void add_reads(const Strategy& s, StepTime& t) const noexcept;
  void add_stragglers(StepTime& t) const noexcept;
  [[nodiscard]] Seconds dispatch(const Strategy& s, const StepTime& t) const noexcept;
  /// Of the step, where no spread of the ranks is stated.
  [[nodiscard]] double fitted_stragglers() const noexcept { return fitted_stragglers_; }
  void add_data(const Strategy& s, double global_batch, StepTime& t) const noexcept;
  [[nodiscard]] static double paired(const Strategy& s, double micro_batches) noexcept;
  [[nodiscard]] bool on(Term term) const noexcept { return !pricer_.recipe().without.has(term); }

  LayerPricer pricer_;
  std::shared_ptr<const JobGroups> groups_;
  std::vector<Kind> kinds_;
  double layers_ = 1.0;                  ///< prediction modules included
  double heads_ = 1.0;                   ///< and their passes through the head
  double embedding_ = 0.0, head_ = 0.0;  ///< parameters of the ends
  double board_wait_ = 0.0;              ///< what boards of the SKU's own spread add to compute
  double fitted_stragglers_ = 0.0;
  mutable std::mutex mutex_;
  mutable std::unordered_map<CacheKey, LayerTimes, CacheHash> cache_;
  mutable std::unordered_map<CacheKey, std::shared_ptr<const BareLayers>, CacheHash> bare_;
  mutable std::map<std::uint16_t, std::shared_ptr<const std::vector<LayerOps>>>
      ops_;  ///< of each kind, by tensor ranks
  mutable std::map<std::array<std::uint16_t, 5>, std::shared_ptr<const RankProducts>> products_;
};

/// Adds the step's terms line by line to `recorder`.
void record_step(const StepModel& model,
                 const StepTable& table,
                 const LayerKey& key,
                 const Strategy& strategy,
                 const StepTime& time,
                 ExplainRecorder& recorder);

}  // namespace headroom
