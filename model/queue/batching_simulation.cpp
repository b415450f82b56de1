// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/queue/batching_simulation.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace headroom {
namespace {

/// Arrivals of one class, drawn when they are first looked at and kept until served. A batch never looks further ahead
/// than its own size, so that the ring stays as small however long the queue grows.
class Arrivals {
 public:
  Arrivals(const QueuedClass& asked, std::int64_t ahead, std::uint64_t seed, std::uint64_t stream)
      : random_{seed, stream},
        gap_{1.0 / asked.rate},
        periodic_{asked.periodic},
        times_(std::bit_ceil(static_cast<std::size_t>(ahead) + 1)),
        mask_{times_.size() - 1} {
    // A camera's first frame comes at any phase of the others'.
    last_ = periodic_ ? -gap_ * random_.uniform() : 0.0;
  }
  /// The i-th of those that were not served, from 0.
  [[nodiscard]] double at(std::int64_t i) noexcept {
    while (static_cast<std::int64_t>(drawn_ - served_) <= i) {
      last_ += periodic_ ? gap_ : gap_ * random_.exponential();
      times_[drawn_++ & mask_] = last_;
    }
    return times_[(served_ + static_cast<std::size_t>(i)) & mask_];
  }
  void serve(std::int64_t count) noexcept { served_ += static_cast<std::size_t>(count); }
  /// Those at or before `time`, `most` at most.
  [[nodiscard]] std::int64_t waiting(double time, std::int64_t most) noexcept {
    std::int64_t count = 0;
    while (count < most && at(count) <= time) {
      ++count;
    }
    return count;
  }

 private:
  RandomStream random_;
  double gap_;
  bool periodic_;
  std::vector<double> times_;
  std::size_t mask_;
  std::size_t drawn_ = 0, served_ = 0;
  double last_ = 0.0;
};

[[nodiscard]] Picoseconds picoseconds(double seconds) noexcept {
  return Picoseconds{static_cast<std::int64_t>(std::min(seconds * 1e12, 9.2e18))};
}

class Server {
 public:
  Server(const CallCurve& curve,
         const BatchingRule& rule,
         std::span<const QueuedClass> classes,
         std::uint64_t seed,
         double call_spread)
      : curve_{curve},
        rule_{rule},
        asked_{classes},
        most_{std::min(rule.max_batch, curve.largest())},
        random_{seed, classes.size()},
        shape_{call_spread > 0.0 ? 1.0 / (call_spread * call_spread) : 0.0},
        free_(static_cast<std::size_t>(rule.instances), 0.0),
        taken_(classes.size()) {
    for (std::size_t c = 0; c < classes.size(); ++c) {
      arrivals_.emplace_back(classes[c], most_, seed, c);
    }
    outcome_.classes.resize(classes.size());
    outcome_.batches.assign(static_cast<std::size_t>(most_), 0);
  }

  BatchingOutcome serve(std::int64_t requests) {
    std::int64_t seen = 0;
    while (seen < requests) {
      const auto instance = next_instance();
      const double oldest = oldest_arrival();
      const double start = std::max(*instance, leaves(oldest));
      if (const std::int64_t dropped = drop_late(start); dropped > 0) {
        seen += dropped;
        continue;
      }
      const std::int64_t size = take(start, start >= oldest + rule_.window.raw());
      const double spread = shape_ > 0.0 ? random_.gamma(shape_) / shape_ : 1.0;
      double took = curve_.of(size).raw() * spread;
      double together = 1.0;
      if (rule_.shared) {
        together += static_cast<double>(busy_beside(instance, start));
        took *= together;
      }
      finish(start + took);
      *instance = start + took;
      ++outcome_.batches[static_cast<std::size_t>(size - 1)];
      ++outcome_.calls;
      outcome_.busy += took / together;
      outcome_.span = start + took;
      seen += size;
    }
    return std::move(outcome_);
  }

 private:
  using Instance = std::vector<double>::iterator;
  /// The instance that is free first; of idle ones that of the GPU with the fewest calls. A GPU's stand side by side.
  [[nodiscard]] Instance next_instance() noexcept {
    const Instance first = std::min_element(free_.begin(), free_.end());
    if (!rule_.shared || rule_.gpus <= 1) {
      return first;
    }
    const double begin = std::max(*first, leaves(oldest_arrival()));
    Instance best = first;
    std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();
    for (Instance each = free_.begin(); each != free_.end(); ++each) {
      const std::ptrdiff_t busy = *each <= begin ? busy_beside(each, begin) : fewest;
      if (busy < fewest) {
        best = each;
        fewest = busy;
      }
    }
    return best;
  }
  /// Calls under way at `time` on the instance's GPU.
  [[nodiscard]] std::ptrdiff_t busy_beside(Instance instance, double time) noexcept {
    const std::ptrdiff_t each = static_cast<std::ptrdiff_t>(rule_.instances / std::max<std::int64_t>(rule_.gpus, 1));
    const Instance begin = free_.begin() + (instance - free_.begin()) / each * each;
    return std::count_if(begin, begin + each, [&](double f) { return f > time; });
  }
  [[nodiscard]] double oldest_arrival() noexcept {
    double oldest = std::numeric_limits<double>::infinity();
    for (Arrivals& each : arrivals_) {
      oldest = std::min(oldest, each.at(0));
    }
    return oldest;
  }

  /// When the queue would call whatever instances do: the first batch is full or the window over.
  [[nodiscard]] double leaves(double oldest) noexcept {
    const double closes = oldest + rule_.window.raw();
    const std::int64_t enough = rule_.preferred.empty() ? most_ : std::min(rule_.preferred.front(), most_);
    if (rule_.window.raw() <= 0.0) {
      return oldest;
    }
    if (arrivals_.size() == 1) {
      return std::min(closes, arrivals_.front().at(enough - 1));
    }
    // The arrival that makes it enough, all classes merged.
    std::fill(taken_.begin(), taken_.end(), 0);
    double reached = oldest;
    for (std::int64_t i = 0; i < enough; ++i) {
      std::size_t next = 0;
      for (std::size_t c = 1; c < arrivals_.size(); ++c) {
        if (arrivals_[c].at(taken_[c]) < arrivals_[next].at(taken_[next])) {
          next = c;
        }
      }
      reached = arrivals_[next].at(taken_[next]++);
      if (reached >= closes) {
        return closes;
      }
    }
    return reached;
  }

  /// Requests of classes that reject which `start` comes too late for.
  std::int64_t drop_late(double start) noexcept {
    std::int64_t dropped = 0;
    for (std::size_t c = 0; c < asked_.size(); ++c) {
      const double deadline = asked_[c].deadline.raw();
      if (!asked_[c].rejects || deadline <= 0.0) {
        continue;
      }
      while (arrivals_[c].at(0) + deadline < start) {
        arrivals_[c].serve(1);
        ClassOutcome& outcome = outcome_.classes[c];
        ++outcome.requests;
        ++outcome.late;
        ++outcome.dropped;
        ++dropped;
      }
    }
    return dropped;
  }

  /// Fills taken_ and returns the batch's size.
  std::int64_t take(double start, bool window_over) noexcept {
    std::int64_t waiting = 0;
    for (std::size_t c = 0; c < arrivals_.size(); ++c) {
      taken_[c] = arrivals_[c].waiting(start, most_ - waiting);
      waiting += taken_[c];
    }
    std::int64_t size = waiting;
    if (!window_over || rule_.window.raw() <= 0.0) {
      for (const std::int64_t preferred : rule_.preferred) {
        if (preferred <= waiting) {
          size = preferred;
        }
      }
    }
    std::int64_t rest = size;
    for (std::int64_t& of_class : taken_) {
      of_class = std::min(of_class, rest);
      rest -= of_class;
    }
    return size;
  }

  void finish(double end) noexcept {
    for (std::size_t c = 0; c < arrivals_.size(); ++c) {
      ClassOutcome& outcome = outcome_.classes[c];
      const double deadline = asked_[c].deadline.raw();
      for (std::int64_t i = 0; i < taken_[c]; ++i) {
        const double latency = end - arrivals_[c].at(i);
        outcome.latency.add(picoseconds(latency), 1);
        outcome.seconds += latency;
        outcome.late += deadline > 0.0 && latency > deadline ? 1 : 0;
      }
      outcome.requests += taken_[c];
      arrivals_[c].serve(taken_[c]);
    }
  }

  const CallCurve& curve_;
  const BatchingRule& rule_;
  std::span<const QueuedClass> asked_;
  std::int64_t most_;
  RandomStream random_;
  double shape_;
  std::vector<double> free_;
  std::vector<std::int64_t> taken_;
  std::vector<Arrivals> arrivals_;
  BatchingOutcome outcome_;
};

}  // namespace

void BatchingOutcome::add(const BatchingOutcome& other) {
  for (std::size_t c = 0; c < classes.size(); ++c) {
    classes[c].latency.add(other.classes[c].latency);
    classes[c].seconds += other.classes[c].seconds;
    classes[c].requests += other.classes[c].requests;
    classes[c].late += other.classes[c].late;
    classes[c].dropped += other.classes[c].dropped;
  }
  for (std::size_t b = 0; b < batches.size(); ++b) {
    batches[b] += other.batches[b];
  }
  calls += other.calls;
  span += other.span;
  busy += other.busy;
}

double BatchingOutcome::mean_batch() const noexcept {
  double samples = 0.0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    samples += static_cast<double>(b + 1) * static_cast<double>(batches[b]);
  }
  return calls > 0 ? samples / static_cast<double>(calls) : 0.0;
}

double BatchingOutcome::utilisation(std::int64_t instances) const noexcept {
  return span > 0.0 ? busy / (span * static_cast<double>(instances)) : 0.0;
}

BatchingOutcome simulate_batching(const CallCurve& curve,
                                  const BatchingRule& rule,
                                  std::span<const QueuedClass> classes,
                                  std::int64_t requests,
                                  std::uint64_t seed,
                                  double call_spread) {
  return Server{curve, rule, classes, seed, call_spread}.serve(requests);
}

}  // namespace headroom
