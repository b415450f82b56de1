// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/inference/data_plan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr double unbound = std::numeric_limits<double>::infinity();
constexpr std::int64_t simulated_steps = 20'000;
constexpr std::array<std::int64_t, 4> told_prefetch{1, 2, 4, 8};

/// One host under a scenario.
class HostData {
 public:
  HostData(const BatchScenario& s, std::int64_t batch, Seconds called, Bytes occupied)
      : s_{s}, feed_{*s.feed}, asked_{s.pipeline}, batch_{real(batch)}, called_{called}, occupied_{occupied} {
    gpus_ = real(std::min(s.gpus_per_node, s.gpus.value_or(s.gpus_per_node)));
    link_ = host_link_of(s.device, s.host ? &*s.host : nullptr).value_or(BytesPerSecond{});
  }

  [[nodiscard]] DataPlan plan() {
    DataPlan plan;
    stages(plan);
    copies(plan);
    storage(plan);
    pace(plan, storage_);
    plan.latency = plan.flow.latency() + feed_.cpu;
    if (plan.copy && batch_ > 0.0) {
      plan.latency += (1.0 / batch_) * taken_copy(plan);
    }
    load(plan);
    cached(plan);
    reads(plan);
    plan.memory_traffic = BytesPerSecond{plan.rate * traffic().raw()};
    return plan;
  }

 private:
  void stages(DataPlan& plan) {
    host_.gpus = gpus_;
    host_.cores = feed_.workers;
    host_.core_time = feed_.cpu;
    host_.link = link_;
    host_.called = (1.0 / batch_) * called_;
    host_.result = asked_.result;
    plan.flow = stage_flow(asked_.stages, host_);
    const Seconds on_gpu = host_.called + plan.flow.on_gpu;
    plan.called_share = on_gpu > Seconds{} ? host_.called / on_gpu : 1.0;
    if (const auto best = best_places(asked_.stages, host_)) {
      plan.best = stage_flow(*best, host_);
      for (std::size_t i = 0; i < best->size(); ++i) {
        if ((*best)[i].on != asked_.stages[i].on) {
          plan.moves.push_back((*best)[i].name + " to the " +
                               std::string{stage_place_names[static_cast<std::size_t>((*best)[i].on)]});
        }
      }
    }
  }

  void copies(DataPlan& plan) {
    if (feed_.fed <= Bytes{} || link_ <= BytesPerSecond{}) {
      return;
    }
    CopyPlan copy;
    const double pieces = real(asked_.copies);
    copy.batch = batch_ * feed_.fed;
    copy.time = copy_time(copy.batch, pieces, asked_.copy_latency, link_);
    if (asked_.pageable_link) {
      copy.pageable = copy_time(copy.batch, pieces, asked_.copy_latency, *asked_.pageable_link);
    }
    if (asked_.copies > 1) {
      copy.in_one = copy_time(copy.batch, 1.0, asked_.copy_latency, link_);
    }
    copy.pinned = real(std::max<std::int64_t>(feed_.prefetch, 1)) * gpus_ * copy.batch;
    if (asked_.host_links) {
      const Seconds step = called_ + batch_ * plan.flow.on_gpu;
      copy.shared = shared_link(gpus_, real(*asked_.host_links), copy.time / std::max(step, copy.time));
    }
    plan.copy = copy;
    copied_ = BytesPerSecond{gpus_ * copy.batch.raw() / taken_copy(plan).raw()};
    if (copy.shared) {
      copied_ = (1.0 / copy.shared->at_once) * copied_;
    }
    if (asked_.set) {
      ResidentPlan resident;
      const double samples = feed_.stored > Bytes{} ? *asked_.set / feed_.stored : *asked_.set / feed_.fed;
      resident.set = samples * feed_.fed;
      resident.crossed = real(asked_.epochs) * resident.set;
      resident.once = resident.set / link_;
      resident.crossing = resident.crossed / link_;
      resident.fits = occupied_ + resident.set <= s_.device.visible_capacity().value;
      plan.resident = resident;
    }
  }
  [[nodiscard]] Seconds taken_copy(const DataPlan& plan) const noexcept {
    return feed_.pinned ? plan.copy->time : plan.copy->pageable.value_or(plan.copy->time);
  }

  void storage(DataPlan& plan) {
    storage_ = feed_.storage;
    if (asked_.set && asked_.cache && storage_ > BytesPerSecond{}) {
      CachePlan cache;
      cache.reads =
          cached_reads(*asked_.set, *asked_.cache, storage_, asked_.cache_bandwidth.value_or(BytesPerSecond{}));
      storage_ = cache.reads.over(real(asked_.epochs));
      plan.cache = cache;
    }
    more_.clear();
    if (asked_.iops) {
      more_.push_back({"reads", *asked_.iops / reads_per_sample()});
    }
    if (asked_.memory_bandwidth && traffic() > Bytes{}) {
      more_.push_back({"host memory", asked_.memory_bandwidth->raw() / traffic().raw()});
    }
  }

  /// What binds where storage delivers so much.
  void pace(DataPlan& plan, BytesPerSecond stored) const {
    InputPipeline pipeline;
    pipeline.stored = feed_.stored;
    pipeline.fed = feed_.fed;
    pipeline.cpu = feed_.cpu;
    pipeline.cores = feed_.workers;
    pipeline.storage = std::isfinite(stored.raw()) ? stored : BytesPerSecond{};
    pipeline.copy = copied_;
    const Seconds step = called_ + batch_ * plan.flow.on_gpu;
    pipeline.gpu_samples = feed_.gpu_rate > 0.0 ? feed_.gpu_rate : gpus_ * batch_ / step.raw();
    pipeline.overlapped_copy = feed_.pinned;
    plan.input = input_rate(pipeline);
    plan.more = more_;
    plan.binds = input_stage_names[static_cast<std::size_t>(plan.input.binds)];
    plan.rate = plan.input.rate;
    const auto bind = [&](const std::string& name, double rate) {
      if (rate < plan.rate) {
        plan.rate = rate;
        plan.binds = name;
      }
    };
    for (const NamedRate& each : more_) {
      bind(each.name, each.rate);
    }
    bind(plan.flow.binds, plan.flow.rate);
    plan.busy = plan.rate / pipeline.gpu_samples;
  }

  void load(DataPlan& plan) const {
    const Seconds work = feed_.cpu + shared_work();
    if (asked_.spread <= 0.0 || work <= Seconds{} || feed_.workers < 1.0) {
      return;
    }
    LoaderPlan loader;
    loader.queue.workers = static_cast<std::int64_t>(feed_.workers);
    loader.queue.prefetch = std::max<std::int64_t>(feed_.prefetch, 1);
    loader.queue.load = batch_ * work;
    loader.queue.spread = asked_.spread;
    // The GPUs of a host take batches in turn.
    loader.queue.step = Seconds{batch_ * plan.busy / plan.rate};
    loader.outcome = simulate_loader(loader.queue, simulated_steps, 1);
    for (const std::int64_t prefetch : told_prefetch) {
      LoaderQueue other = loader.queue;
      other.prefetch = prefetch;
      loader.others.push_back({prefetch, simulate_loader(other, simulated_steps, 1)});
    }
    const double simulated = loader.outcome.busy * batch_ / loader.queue.step.raw();
    if (simulated < plan.rate) {
      plan.busy *= simulated / plan.rate;
      plan.rate = simulated;
      plan.binds = "decode";
    }
    plan.loader = std::move(loader);
  }

  void cached(DataPlan& plan) const {
    if (!plan.cache) {
      return;
    }
    CachePlan& cache = *plan.cache;
    DataPlan epoch = plan;
    pace(epoch, cache.reads.first);
    cache.first = epoch.rate;
    pace(epoch, cache.reads.later);
    cache.later = epoch.rate;
    cache.storage_first = BytesPerSecond{cache.first * feed_.stored.raw()};
    cache.storage_later = BytesPerSecond{(1.0 - cache.reads.hit) * cache.later * feed_.stored.raw()};
  }

  void reads(DataPlan& plan) const {
    if (feed_.stored > Bytes{} && (asked_.shard || asked_.iops)) {
      plan.reads = ReadsPlan{plan.rate * reads_per_sample(), plan.rate, BytesPerSecond{plan.rate * feed_.stored.raw()}};
    }
  }

  [[nodiscard]] double reads_per_sample() const noexcept {
    return asked_.shard ? std::min(1.0, feed_.stored / *asked_.shard) : 1.0;
  }
  [[nodiscard]] Seconds shared_work() const noexcept {
    Seconds work{};
    for (const PipelineStage& stage : asked_.stages) {
      if (stage.on == StagePlace::cpu && stage.cores <= 0.0) {
        work += stage.share * stage.now();
      }
    }
    return work;
  }
  [[nodiscard]] Bytes traffic() const noexcept {
    const bool worked_on = feed_.cpu > Seconds{} || shared_work() > Seconds{};
    const Bytes fed = feed_.fed > Bytes{} ? feed_.fed : feed_.stored;
    return host_memory_traffic(feed_.stored, fed, worked_on, asked_.direct);
  }

  const BatchScenario& s_;
  const DataFeed& feed_;
  const PipelineQuestion& asked_;
  double batch_;
  Seconds called_;
  Bytes occupied_;
  double gpus_ = 1.0;
  BytesPerSecond link_{}, copied_{}, storage_{};
  PipelineHost host_;
  std::vector<NamedRate> more_;
};

}  // namespace

DataPlan plan_data(const BatchScenario& scenario, std::int64_t batch, Seconds called, Bytes occupied) {
  return HostData{scenario, batch, called, occupied}.plan();
}

}  // namespace headroom
