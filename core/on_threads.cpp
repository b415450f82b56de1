// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace headroom {
namespace {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
constexpr bool threads_start = false;
#else
constexpr bool threads_start = true;
#endif

/// Threads that are joined when their scope ends.
class Helpers {
 public:
  Helpers() = default;
  ~Helpers() { join(); }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// Whether the system had a thread for it.
  template <class Work>
  [[nodiscard]] bool start(const Work& work) {
    try {
      threads_.emplace_back(work);
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }
  void join() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

unsigned thread_count(unsigned asked) noexcept {
  if (!threads_start) {
    return 1;
  }
  return std::clamp(asked > 0 ? asked : std::thread::hardware_concurrency(), 1U, most_threads);
}

void on_threads(unsigned threads, std::size_t n, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = n;
  std::exception_ptr error;
  const auto loop = [&] {
    for (std::size_t i = next++; i < n; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock{mutex};
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
      }
    }
  };
  Helpers helpers;
  const std::size_t most = std::min<std::size_t>(threads_start ? std::min(threads, most_threads) : 1, n);
  for (std::size_t i = 1; i < most && helpers.start(loop); ++i) {
  }
  loop();
  helpers.join();
  if (error) {
    std::rethrow_exception(error);
  }
}

struct Timer::Waiting {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread thread;

  void run(std::chrono::duration<double> each, const std::function<bool()>& tick) {
    std::unique_lock lock{mutex};
    while (!changed.wait_for(lock, each, [this] { return over; })) {
      if (!tick()) {
        return;
      }
    }
  }
};

Timer::Timer(double seconds, std::function<bool()> tick) : waiting_{std::make_unique<Waiting>()} {
  constexpr double longest = 1e8;  // seconds: what a clock can add to its time
  if (threads_start) {
    const std::chrono::duration<double> each{std::clamp(seconds, 0.0, longest)};
    waiting_->thread = std::thread{[this, each, tick = std::move(tick)] { waiting_->run(each, tick); }};
  }
}

Timer::~Timer() {
  {
    const std::lock_guard lock{waiting_->mutex};
    waiting_->over = true;
  }
  waiting_->changed.notify_one();
  if (waiting_->thread.joinable()) {
    waiting_->thread.join();
  }
}

}  // namespace headroom
