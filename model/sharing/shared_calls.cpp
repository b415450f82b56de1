// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/time/random_stream.hpp>
#include <headroom/model/sharing/shared_calls.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>

namespace headroom {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Queue {
  RandomStream random;
  double next = never;           ///< the arrival that has not come yet
  std::deque<double> waiting{};  ///< arrivals, the call's first
  std::int64_t called = 0;       ///< of them, that the call answers
  double left = 0.0;             ///< of the call, as alone
  bool under_way = false;
  std::int64_t arrived = 0, calls = 0;  ///< since counting began
  double done = 0.0, passed = 0.0;      ///< work and time under way, since counting began
};

/// Speeds of the tenants in a set, asked once of each set that comes up.
class SpeedsOfSets {
 public:
  SpeedsOfSets(std::span<const SharedLoad> tenants, CardSharing sharing)
      : tenants_{tenants}, sharing_{sharing}, known_(std::size_t{1} << tenants.size()) {}
  /// One for each tenant; of those out of the set 0.
  [[nodiscard]] const std::vector<double>& of(std::size_t set) {
    std::vector<double>& speeds = known_[set];
    if (speeds.empty()) {
      std::vector<double> busy;
      for (std::size_t i = 0; i < tenants_.size(); ++i) {
        if ((set >> i & 1U) != 0) {
          busy.push_back(tenants_[i].busy);
        }
      }
      const std::vector<double> within = shared_speeds(sharing_, busy);
      speeds.assign(tenants_.size(), 0.0);
      std::size_t at = 0;
      for (std::size_t i = 0; i < tenants_.size(); ++i) {
        if ((set >> i & 1U) != 0) {
          speeds[i] = within[at++];
        }
      }
    }
    return speeds;
  }

 private:
  std::span<const SharedLoad> tenants_;
  CardSharing sharing_;
  std::vector<std::vector<double>> known_;
};

class SharedCardRun {
 public:
  SharedCardRun(std::span<const SharedLoad> tenants, CardSharing sharing, std::uint64_t seed)
      : tenants_{tenants}, speeds_{tenants, sharing}, outcomes_(tenants.size()) {
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      queues_.push_back({RandomStream{seed, i}});
      Queue& queue = queues_.back();
      if (tenants[i].rate > 0.0) {
        queue.next = queue.random.exponential() / tenants[i].rate;
      } else {
        begin_call(i);
      }
    }
  }

  std::vector<SharedOutcome> run(double span) {
    const double counted_from = span / 20.0;
    while (now_ < span) {
      step(span, counted_from);
    }
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const Queue& queue = queues_[i];
      SharedOutcome& outcome = outcomes_[i];
      const double counted = span - counted_from;
      outcome.mean_batch = queue.calls > 0 ? real(outcome.requests) / real(queue.calls) : 0.0;
      outcome.under_way = queue.passed / counted;
      outcome.work = queue.done / counted;
      // A queue in balance ends with what comes while a few calls are made.
      const std::int64_t left = static_cast<std::int64_t>(queue.waiting.size());
      outcome.falls_behind =
          tenants_[i].rate > 0.0 && left > 50 + queue.arrived / 50 && left > 4 * tenants_[i].curve.largest();
    }
    return std::move(outcomes_);
  }

 private:
  void begin_call(std::size_t i) {
    Queue& queue = queues_[i];
    const SharedLoad& tenant = tenants_[i];
    const std::int64_t waiting = static_cast<std::int64_t>(queue.waiting.size());
    queue.called = tenant.rate > 0.0 ? std::min(waiting, tenant.curve.largest()) : 1;
    const double shape = tenant.spread > 0.0 ? 1.0 / (tenant.spread * tenant.spread) : 0.0;
    queue.left = tenant.curve.of(queue.called).raw() * (shape > 0.0 ? queue.random.gamma(shape) / shape : 1.0);
    queue.under_way = true;
    set_ |= std::size_t{1} << i;
  }

  void end_call(std::size_t i, bool counted) {
    Queue& queue = queues_[i];
    SharedOutcome& outcome = outcomes_[i];
    if (tenants_[i].rate > 0.0) {
      for (std::int64_t c = 0; c < queue.called; ++c) {
        const double latency = now_ - queue.waiting.front();
        queue.waiting.pop_front();
        if (counted) {
          outcome.latency.add(Picoseconds{static_cast<std::int64_t>(std::min(latency * 1e12, 9.2e18))}, 1);
          outcome.seconds += latency;
          ++outcome.requests;
        }
      }
    }
    queue.calls += counted ? 1 : 0;
    queue.under_way = false;
    set_ &= ~(std::size_t{1} << i);
    if (tenants_[i].rate <= 0.0 || !queue.waiting.empty()) {
      begin_call(i);
    }
  }

  /// To the next arrival or the next end of a call.
  void step(double span, double counted_from) {
    const std::vector<double>& speeds = speeds_.of(set_);
    double at = span;
    std::size_t who = tenants_.size();
    bool arrives = false;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const Queue& queue = queues_[i];
      if (queue.next < at) {
        at = queue.next;
        who = i;
        arrives = true;
      }
      if (queue.under_way && now_ + queue.left / speeds[i] < at) {
        at = now_ + queue.left / speeds[i];
        who = i;
        arrives = false;
      }
    }
    const double passed = at - now_;
    const bool counted = now_ >= counted_from;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      Queue& queue = queues_[i];
      if (queue.under_way) {
        queue.left -= passed * speeds[i];
        queue.done += counted ? passed * speeds[i] : 0.0;
        queue.passed += counted ? passed : 0.0;
      }
    }
    now_ = at;
    if (who == tenants_.size()) {
      return;
    }
    if (!arrives) {
      end_call(who, counted);
      return;
    }
    Queue& queue = queues_[who];
    queue.waiting.push_back(now_);
    queue.arrived += counted ? 1 : 0;
    queue.next = now_ + queue.random.exponential() / tenants_[who].rate;
    if (!queue.under_way) {
      begin_call(who);
    }
  }

  std::span<const SharedLoad> tenants_;
  SpeedsOfSets speeds_;
  std::vector<Queue> queues_;
  std::vector<SharedOutcome> outcomes_;
  double now_ = 0.0;
  std::size_t set_ = 0;
};

}  // namespace

std::vector<SharedOutcome> simulate_shared(std::span<const SharedLoad> tenants,
                                           CardSharing sharing,
                                           std::int64_t requests,
                                           std::uint64_t seed) {
  double all = 0.0, rarest = never;
  for (const SharedLoad& tenant : tenants) {
    if (tenant.rate > 0.0) {
      all += tenant.rate;
      rarest = std::min(rarest, tenant.rate);
    }
  }
  if (all > 0.0) {
    const double span =
        std::max(real(requests) / all, std::min(real(requests) / 100.0 / rarest, 20.0 * real(requests) / all));
    return SharedCardRun{tenants, sharing, seed}.run(span);
  }
  std::vector<double> busy;
  for (const SharedLoad& tenant : tenants) {
    busy.push_back(tenant.busy);
  }
  const std::vector<double> speeds = shared_speeds(sharing, busy);
  std::vector<SharedOutcome> outcomes(tenants.size());
  for (std::size_t i = 0; i < tenants.size(); ++i) {
    outcomes[i].mean_batch = 1.0;
    outcomes[i].under_way = 1.0;
    outcomes[i].work = speeds[i];
  }
  return outcomes;
}

}  // namespace headroom
