// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/search/ranks/thread_ranks.hpp>

#include <chrono>

namespace headroom {

class ThreadRanks::End : public Ranks {
 public:
  End(ThreadRanks& all, int own) : all_{all}, own_{own} {}

  [[nodiscard]] int count() const override { return static_cast<int>(all_.boxes_.size()); }

  void send(int to, std::string text) override {
    const std::lock_guard lock{all_.mutex_};
    Box& box = of(to);
    if (!of(own_).dead && !box.dead) {
      box.messages.push_back({own_, std::move(text)});
      box.filled.notify_one();
    }
  }

  [[nodiscard]] std::optional<RankMessage> receive(Seconds wait) override {
    std::unique_lock lock{all_.mutex_};
    Box& box = of(own_);
    box.filled.wait_for(lock, std::chrono::duration<double>(wait.raw()), [&] { return !box.messages.empty(); });
    if (box.messages.empty()) {
      return std::nullopt;
    }
    RankMessage message = std::move(box.messages.front());
    box.messages.pop_front();
    return message;
  }

  [[nodiscard]] std::vector<int> lost() override {
    const std::lock_guard lock{all_.mutex_};
    std::vector<int> dead;
    for (int rank = 0; rank < count(); ++rank) {
      Box& box = of(rank);
      if (box.dead && !box.told) {
        box.told = true;
        dead.push_back(rank);
      }
    }
    return dead;
  }

 private:
  [[nodiscard]] Box& of(int rank) const { return *all_.boxes_[static_cast<std::size_t>(rank)]; }

  ThreadRanks& all_;
  int own_;
};

ThreadRanks::ThreadRanks(int count) {
  for (int rank = 0; rank < count; ++rank) {
    boxes_.push_back(std::make_unique<Box>());
    ends_.push_back(std::make_unique<End>(*this, rank));
  }
}

void ThreadRanks::kill(int rank) {
  const std::lock_guard lock{mutex_};
  boxes_[static_cast<std::size_t>(rank)]->dead = true;
}

}  // namespace headroom
