// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/phase_simulation.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace headroom {

Seconds simulate_steps(const PhaseTimes& p, const PostTrainFlow& flow, std::int64_t steps) {
  const bool one_pool = flow.placement != PostTrainPlacement::split;
  const bool ahead = !one_pool && flow.order != PostTrainOrder::synchronous;
  double engines = 0.0, trainer = 0.0;  // when each pool is free
  double first = 0.0;
  double batch = 0.0;  // when the batch that the next step trains is sampled
  const auto roll = [&](double from) {
    engines = std::max(engines, from) + p[Phase::rollout].raw();
    return engines;
  };
  if (ahead) {
    batch = roll(0.0);
  }
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (!ahead) {
      batch = roll(one_pool ? std::max(engines, trainer) : trainer);
    }
    const double ready = batch;
    if (one_pool) {
      trainer = std::max(trainer, engines);
    }
    if (ahead) {
      batch = roll(std::max(ready, trainer));  // of the weights before this step's
    }
    double now = std::max(trainer, ready);
    for (const Phase each : {Phase::reward, Phase::logprob, Phase::reference, Phase::critic, Phase::train}) {
      now += p[each].raw();
    }
    // New weights stop both pools.
    now = std::max(now, ahead ? batch : now);
    now += p[Phase::sync].raw() + p[Phase::swap].raw() + p[Phase::other].raw();
    trainer = now;
    engines = std::max(engines, now);
    if (step == 0) {
      first = now;
    }
  }
  return Seconds{(trainer - first) / static_cast<double>(std::max<std::int64_t>(1, steps))};
}

namespace {

/// A sample: when it is finished, and the version of the weights that began it.
struct Sampled {
  double end = 0.0;
  std::int64_t version = 0;
  friend bool operator>(const Sampled& a, const Sampled& b) { return a.end > b.end; }
};

class SampleRun {
 public:
  explicit SampleRun(const SampleFlow& flow) : flow_{flow} {
    allowed_ = static_cast<std::int64_t>(
        std::floor(static_cast<double>(flow.batch) * (1.0 + std::max(0.0, flow.staleness)) + 1e-9));
  }

  SampleCounts run(std::int64_t steps) {
    double idle = 0.0, first = 0.0;
    for (std::int64_t step = 0; step <= steps; ++step) {
      start_all();
      const double asked = now_;
      while (ready() < flow_.batch || waits_for_old()) {
        finish_one();
        start_all();
      }
      if (step > 0) {
        idle += std::max(0.0, now_ - asked);
      }
      take();
      const double trained = now_ + flow_.train.raw();
      while (!active_.empty() && active_.top().end <= trained) {
        finish_one();
        start_all();
      }
      now_ = trained;
      ++version_;
      in_flight_ -= flow_.batch;
      counts_.trained += flow_.batch;
      while (!flow_.partial && !active_.empty()) {
        finish_one();
      }
      stop(flow_.sync.raw());
      if (step == 0) {
        first = now_;
      }
    }
    const double all = now_ - first;
    counts_.step = Seconds{all / static_cast<double>(std::max<std::int64_t>(1, steps))};
    counts_.trainer_idle = all > 0.0 ? idle / all : 0.0;
    counts_.under_way = static_cast<std::int64_t>(active_.size());
    counts_.buffered = ready();
    return counts_;
  }

 private:
  [[nodiscard]] std::int64_t ready() const { return static_cast<std::int64_t>(finished_.size() - taken_); }

  void start_all() {
    while (static_cast<std::int64_t>(active_.size()) < flow_.slots && in_flight_ < allowed_) {
      const double time = flow_.times[static_cast<std::size_t>(counts_.started) % flow_.times.size()];
      active_.push({now_ + time, version_});
      ++by_version_[version_].under_way;
      ++counts_.started;
      ++in_flight_;
    }
  }

  void finish_one() {
    const Sampled next = active_.top();
    active_.pop();
    --by_version_[next.version].under_way;
    ++by_version_[next.version].finished;
    now_ = std::max(now_, next.end);
    finished_.push_back(next);
  }

  /// The oldest versions first, as a buffer with a bound on age hands them out.
  void take() {
    std::stable_sort(finished_.begin() + static_cast<std::ptrdiff_t>(taken_), finished_.end(),
                     [](const Sampled& a, const Sampled& b) { return a.version < b.version; });
    for (std::int64_t i = 0; i < flow_.batch; ++i) {
      const std::int64_t version = finished_[taken_++].version;
      counts_.oldest = std::max(counts_.oldest, version_ - version);
      if (auto at = by_version_.find(version); --at->second.finished == 0 && at->second.under_way == 0) {
        by_version_.erase(at);
      }
    }
  }

  /// Whether what is under way leaves later steps more samples than they can take before these are too old: of those
  /// that begin with version w or before, batch (w + bound - version) have time behind this step.
  [[nodiscard]] bool waits_for_old() const {
    const auto bound = static_cast<std::int64_t>(std::ceil(flow_.staleness));
    std::int64_t under_way = 0, finished = 0;
    for (const auto& [version, counts] : by_version_) {
      under_way += counts.under_way;
      finished += counts.finished;
      const std::int64_t later = flow_.batch * (version + bound - version_);
      if (under_way + std::max<std::int64_t>(0, finished - flow_.batch) > std::max<std::int64_t>(0, later)) {
        return under_way > 0;
      }
    }
    return false;
  }

  /// Engines stand still, and what is under way ends later.
  void stop(double time) {
    now_ += time;
    std::priority_queue<Sampled, std::vector<Sampled>, std::greater<>> later;
    for (; !active_.empty(); active_.pop()) {
      Sampled each = active_.top();
      each.end += time;
      later.push(each);
    }
    active_ = std::move(later);
  }

  const SampleFlow& flow_;
  std::int64_t allowed_ = 1;
  double now_ = 0.0;
  std::int64_t version_ = 0, in_flight_ = 0;
  std::priority_queue<Sampled, std::vector<Sampled>, std::greater<>> active_;
  struct OfVersion {
    std::int64_t under_way = 0, finished = 0;
  };
  std::map<std::int64_t, OfVersion> by_version_;  ///< samples not yet trained
  std::vector<Sampled> finished_;
  std::size_t taken_ = 0;
  SampleCounts counts_;
};

}  // namespace

SampleCounts simulate_samples(const SampleFlow& flow, std::int64_t steps) {
  return SampleRun{flow}.run(steps);
}

}  // namespace headroom
