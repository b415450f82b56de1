// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace headroom {

unsigned thread_count(unsigned asked) noexcept {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
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
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, n); ++i) {
    helpers.emplace_back(loop);
  }
  loop();
  helpers.clear();
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace headroom
