// SPDX-License-Identifier: Apache-2.0
// Ends an answer that is cancelled or has had its time with what it found until then.
#pragma once

#include <headroom/answers/door/answer.hpp>
#include <headroom/core/on_threads.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace headroom {

/// Stops a search, a fleet's plan or a curve: at the latest a twentieth of a second after its time, and where a search
/// tells its progress. Must outlive the answer.
class AnswerWatch {
 public:
  /// `seconds` from now, nullopt: as long as it takes. `cancel`: ends it as soon as it is true; null: nothing does.
  AnswerWatch(std::optional<double> seconds, const std::atomic<bool>* cancel) : seconds_{seconds}, cancel_{cancel} {}

  /// `told`: of a search's progress, with the seconds since the start.
  void set(AnswerOptions& how, std::function<void(const SearchProgress&, double)> told = {}) {
    how.stop = &stop_;
    how.time_over = [this] { return !(cancel_ != nullptr && cancel_->load()); };
    how.progress = [this, told = std::move(told)](const SearchProgress& progress) {
      look();
      if (told) {
        told(progress, passed());
      }
    };
    if (seconds_ || cancel_ != nullptr) {
      timer_.emplace(0.05, [this] { return !look(); });
    }
  }

 private:
  [[nodiscard]] double passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// Whether it is stopped.
  bool look() {
    if ((seconds_ && passed() >= *seconds_) || (cancel_ != nullptr && cancel_->load())) {
      stop_.store(true);
    }
    return stop_.load();
  }

  std::optional<double> seconds_;
  const std::atomic<bool>* cancel_;
  std::atomic<bool> stop_{false};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<Timer> timer_;  ///< last, for it looks at the others until it is gone
};

}  // namespace headroom
