// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/ranks/call_order.hpp>

#include <algorithm>
#include <deque>

namespace headroom {
namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

class Player {
 public:
  Player(std::span<const CallSequence> ranks, std::span<const std::vector<std::size_t>> members)
      : ranks_{ranks}, members_{members} {
    play_.left.resize(ranks.size(), 0);
    play_.waits_for.resize(ranks.size());
    for (const CallSequence& rank : ranks) {
      passed_.push_back(rank.passed);
      passed_.back().resize(members.size(), -1);
    }
  }

  CallPlay play() {
    std::deque<std::size_t> groups;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (const OrderedCall* const call = next(r)) {
        groups.push_back(call->group);
      }
    }
    while (!groups.empty()) {
      const std::size_t group = groups.front();
      groups.pop_front();
      if (!meet(group)) {
        continue;
      }
      for (const std::size_t r : members_[group]) {
        if (const OrderedCall* const call = next(r)) {
          groups.push_back(call->group);
        }
      }
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (const OrderedCall* const call = next(r)) {
        for (const std::size_t m : members_[call->group]) {
          if (m != r && !arrived(m, *call)) {
            play_.waits_for[r].push_back(m);
          }
        }
      }
    }
    return play_;
  }

 private:
  [[nodiscard]] const OrderedCall* next(std::size_t rank) const {
    const auto& calls = ranks_[rank].calls;
    return play_.left[rank] < calls.size() ? &calls[play_.left[rank]] : nullptr;
  }
  [[nodiscard]] bool arrived(std::size_t rank, const OrderedCall& call) const {
    if (passed_[rank][call.group] >= call.number) {
      return true;
    }
    const OrderedCall* const own = next(rank);
    return own != nullptr && own->group == call.group && own->number == call.number && own->what == call.what;
  }
  /// Ends the lowest call of the group where all its members have entered it.
  bool meet(std::size_t group) {
    const OrderedCall* lowest = nullptr;
    for (const std::size_t r : members_[group]) {
      const OrderedCall* const call = next(r);
      if (call != nullptr && call->group == group && (lowest == nullptr || call->number < lowest->number)) {
        lowest = call;
      }
    }
    if (lowest == nullptr || !std::all_of(members_[group].begin(), members_[group].end(),
                                          [&](std::size_t r) { return arrived(r, *lowest); })) {
      return false;
    }
    const std::int64_t number = lowest->number;
    for (const std::size_t r : members_[group]) {
      const OrderedCall* const call = next(r);
      if (call != nullptr && call->group == group && call->number == number) {
        passed_[r][group] = number;
        ++play_.left[r];
      }
    }
    return true;
  }

  std::span<const CallSequence> ranks_;
  std::span<const std::vector<std::size_t>> members_;
  std::vector<std::vector<std::int64_t>> passed_;
  CallPlay play_;
};

/// Breadth first: the way back to the start that takes the fewest ranks; empty: there is none.
std::vector<std::size_t> circle_through(std::size_t start, std::span<const std::vector<std::size_t>> waits_for) {
  std::vector<std::size_t> before(waits_for.size(), nobody);
  std::deque<std::size_t> seen{start};
  std::vector<std::size_t> circle;
  for (; !seen.empty(); seen.pop_front()) {
    for (const std::size_t other : waits_for[seen.front()]) {
      if (other == start) {
        circle.push_back(seen.front());
        while (circle.back() != start) {
          circle.push_back(before[circle.back()]);
        }
        std::reverse(circle.begin(), circle.end());
        return circle;
      }
      if (before[other] == nobody) {
        before[other] = seen.front();
        seen.push_back(other);
      }
    }
  }
  return circle;
}

}  // namespace

bool CallPlay::all_end() const noexcept {
  return std::all_of(waits_for.begin(), waits_for.end(), [](const auto& others) { return others.empty(); });
}

CallPlay play_calls(std::span<const CallSequence> ranks, std::span<const std::vector<std::size_t>> members) {
  return Player{ranks, members}.play();
}

std::vector<std::size_t> waiting_circle(std::span<const std::vector<std::size_t>> waits_for) {
  for (std::size_t start = 0; start < waits_for.size(); ++start) {
    if (std::vector<std::size_t> circle = circle_through(start, waits_for); !circle.empty()) {
      return circle;
    }
  }
  return {};
}

}  // namespace headroom
