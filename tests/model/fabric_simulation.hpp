// SPDX-License-Identifier: Apache-2.0
// Messages over the fabric graph, event by event: each starts when those that it waits for have arrived, drains at its
// max-min fair share of every link on its way, and arrives a fixed time later. The oracle of the closed forms.
#pragma once

#include <headroom/hardware/fabric/max_min.hpp>

#include "../support/max_min_rates.hpp"
#include <algorithm>
#include <limits>
#include <vector>

namespace headroom::test {

struct Message {
  std::int64_t from = 0, to = 0;
  double bytes = 0.0;
  double latency = 0.0;            ///< from drained to arrived
  std::vector<std::size_t> needs;  ///< messages that must have arrived
  std::size_t after = no_message;  ///< the one before it on its hop must have drained
  static constexpr std::size_t no_message = static_cast<std::size_t>(-1);
};

class FabricSimulation {
 public:
  explicit FabricSimulation(const FabricGraph& graph) : graph_(graph) {}

  std::size_t add(Message message) {
    messages_.push_back(std::move(message));
    return messages_.size() - 1;
  }

  /// Seconds until the last message has arrived.
  double run() {
    arrival_.assign(messages_.size(), never);
    drained_.assign(messages_.size(), never);
    left_.clear();
    for (const Message& m : messages_) {
      left_.push_back(m.bytes);
      routes_.push_back({graph_.route(m.from, m.to)});
    }
    waiting_.resize(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      waiting_[i] = i;
    }
    while (!waiting_.empty() || !active_.empty()) {
      start_ready();
      step();
    }
    return *std::max_element(arrival_.begin(), arrival_.end());
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  [[nodiscard]] double ready_at(std::size_t i) const {
    const Message& m = messages_[i];
    double at = m.after == Message::no_message ? 0.0 : drained_[m.after];
    for (const std::size_t need : m.needs) {
      at = std::max(at, arrival_[need]);
    }
    return at;
  }

  void start_ready() {
    std::erase_if(waiting_, [&](std::size_t i) {
      const bool ready = ready_at(i) <= now_ + tolerance();
      if (ready) {
        active_.push_back(i);
      }
      return ready;
    });
  }

  [[nodiscard]] double tolerance() const { return 1e-9 * now_ + 1e-15; }

  /// On to the next moment at which a message has drained or may start.
  void step() {
    std::vector<Flow> flows;
    for (const std::size_t i : active_) {
      flows.push_back(routes_[i]);
    }
    const std::vector<BytesPerSecond> rates = max_min_rates(graph_.links(), flows);
    double next = never;
    for (std::size_t k = 0; k < active_.size(); ++k) {
      next = std::min(next, now_ + left_[active_[k]] / rates[k].raw());
    }
    for (const std::size_t i : waiting_) {
      const double at = ready_at(i);
      next = at > now_ ? std::min(next, at) : next;
    }
    for (std::size_t k = 0; k < active_.size(); ++k) {
      left_[active_[k]] -= (next - now_) * rates[k].raw();
    }
    now_ = next;
    std::erase_if(active_, [&](std::size_t i) {
      // What rounding leaves must not ask for a step shorter than the clock can show.
      const bool done = left_[i] <= 1e-7 * messages_[i].bytes;
      if (done) {
        drained_[i] = now_;
        arrival_[i] = now_ + messages_[i].latency;
      }
      return done;
    });
  }

  const FabricGraph& graph_;
  std::vector<Message> messages_;
  std::vector<Flow> routes_;
  std::vector<double> arrival_, drained_, left_;
  std::vector<std::size_t> waiting_, active_;
  double now_ = 0.0;
};

}  // namespace headroom::test
