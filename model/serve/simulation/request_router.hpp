// SPDX-License-Identifier: Apache-2.0
// The router of a simulated fleet: which engine a request goes to, and the queue where it waits for one.
#pragma once

#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace headroom {

/// A first-in, first-out queue of at most the reserved number of entries in total.
template <class Entry>
class FirstInFirstOut {
 public:
  void reserve(std::size_t entries) { entries_.reserve(entries); }
  [[nodiscard]] bool empty() const noexcept { return head_ == entries_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - head_; }
  [[nodiscard]] const Entry& front() const noexcept { return entries_[head_]; }
  void push(const Entry& entry) { entries_.push_back(entry); }
  void pop() noexcept { ++head_; }

 private:
  std::vector<Entry> entries_;
  std::size_t head_ = 0;
};

/// Selects the next of the `count` engines from `first` on. With several models, `each` consecutive engines share a
/// device, and a device is selected.
class RequestRouter {
 public:
  RequestRouter(
      const ServingFleet& fleet, std::size_t first, std::size_t count, std::size_t requests, std::size_t each = 1)
      : routing_{fleet.routing}, first_{first}, count_{count / each}, each_{each}, random_{fleet.seed, first} {
    if (routing_ == RequestRouting::shared_queue) {
      queue.reserve(requests);
    }
  }
  FirstInFirstOut<std::uint32_t> queue;  ///< queue of RequestRouting::shared_queue

  /// Index of an engine, or nullopt if the request must wait for a place.
  [[nodiscard]] std::optional<std::size_t> choose(const std::vector<SimulatedEngine>& engines) noexcept {
    switch (routing_) {
      case RequestRouting::round_robin: return first_ + turn_++ % count_;
      case RequestRouting::random:
        return first_ + static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count_)));
      case RequestRouting::least_outstanding:
      case RequestRouting::prefix: return least(engines);
      case RequestRouting::shared_queue: break;
    }
    const std::size_t engine = least(engines);
    return engines[engine].outstanding() < engines[engine].settings().max_num_seqs ? std::optional{engine}
                                                                                   : std::nullopt;
  }

  /// With several models, which never wait here: the first engine of the selected device.
  [[nodiscard]] std::size_t choose_device(const std::vector<SimulatedEngine>& engines) noexcept {
    switch (routing_) {
      case RequestRouting::round_robin: return first_ + turn_++ % count_ * each_;
      case RequestRouting::random:
        return first_ + static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(count_))) * each_;
      case RequestRouting::least_outstanding:
      case RequestRouting::prefix:
      case RequestRouting::shared_queue: break;
    }
    return least_device(engines);
  }

 private:
  [[nodiscard]] std::size_t least(const std::vector<SimulatedEngine>& engines) const noexcept {
    std::size_t best = first_;
    for (std::size_t i = first_ + 1; i < first_ + count_; ++i) {
      best = engines[i].outstanding() < engines[best].outstanding() ? i : best;
    }
    return best;
  }
  /// The first engine of the device with the fewest requests over all its models.
  [[nodiscard]] std::size_t least_device(const std::vector<SimulatedEngine>& engines) const noexcept {
    std::size_t best = first_;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = first_; i < first_ + count_ * each_; i += each_) {
      std::int64_t outstanding = 0;
      for (std::size_t model = 0; model < each_; ++model) {
        outstanding += engines[i + model].outstanding();
      }
      best = outstanding < fewest ? i : best;
      fewest = std::min(fewest, outstanding);
    }
    return best;
  }
  RequestRouting routing_;
  std::size_t first_, count_, each_, turn_ = 0;
  RandomStream random_;
};

}  // namespace headroom
