// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/host_reading.hpp>

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace headroom {
namespace {

/// Releases a fixed number of threads together.
class Gate {
 public:
  explicit Gate(std::int64_t threads) : threads_{threads} {}
  void meet() {
    std::unique_lock lock{mutex_};
    const std::int64_t round = round_;
    if (++waiting_ == threads_) {
      waiting_ = 0;
      ++round_;
      wake_.notify_all();
    } else {
      wake_.wait(lock, [&] { return round_ != round; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::int64_t threads_, waiting_ = 0, round_ = 0;
};

std::optional<std::int64_t> larger(std::optional<std::int64_t> a, std::optional<std::int64_t> b) noexcept {
  return a && b ? std::max(*a, *b) : a ? a : b;
}

}  // namespace

std::int64_t usable_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) {
    return CPU_COUNT(&set);
  }
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

BytesPerSecond host_triad(std::int64_t threads, std::int64_t bytes, int passes) {
  using Clock = std::chrono::steady_clock;
  constexpr double scalar = 3.0;
  const auto count = static_cast<std::size_t>(bytes) / sizeof(double);
  // A std::vector would touch all its memory from this thread.
  const std::unique_ptr<double[]> a{new double[count]};  // NOLINT(*-avoid-c-arrays)
  const std::unique_ptr<double[]> b{new double[count]};  // NOLINT(*-avoid-c-arrays)
  const std::unique_ptr<double[]> c{new double[count]};  // NOLINT(*-avoid-c-arrays)
  Gate gate{threads};
  Clock::time_point start{};
  double best = std::numeric_limits<double>::infinity();
  const auto work = [&](std::int64_t thread) {
    const auto part = [&](std::int64_t i) {
      return count * static_cast<std::size_t>(i) / static_cast<std::size_t>(threads);
    };
    const std::size_t begin = part(thread);
    const std::size_t end = part(thread + 1);
    for (std::size_t i = begin; i < end; ++i) {
      a[i] = 0.0;
      b[i] = 1.0 + static_cast<double>(i % 7);
      c[i] = 2.0;
    }
    for (int pass = 0; pass < passes; ++pass) {
      gate.meet();
      if (thread == 0) {
        start = Clock::now();
      }
      gate.meet();
      for (std::size_t i = begin; i < end; ++i) {
        a[i] = b[i] + scalar * c[i];
      }
      gate.meet();
      if (thread == 0) {
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
      }
    }
  };
  std::vector<std::thread> pool;
  for (std::int64_t thread = 1; thread < threads; ++thread) {
    pool.emplace_back(work, thread);
  }
  work(0);
  for (std::thread& thread : pool) {
    thread.join();
  }
  // Uses the result, so that the compiler cannot remove the computation.
  const std::size_t last = count - 1;
  const bool right = a[last] == b[last] + scalar * c[last];
  return right ? Bytes{3.0 * static_cast<double>(count * sizeof(double))} / Seconds{best} : BytesPerSecond{};
}

HostReading read_host() {
  constexpr std::int64_t array = std::int64_t{64} << 20;  // three of them exceed the caches of most sockets
  constexpr int passes = 5;
  HostReading host;
  host.cores = usable_cores();
  try {
    host.memory = host_triad(host.cores, array, passes);
  } catch (const std::bad_alloc&) {
    host.memory.reset();  // host without enough memory: not measured
  }
  return host;
}

void see_link(HostReading& host, const DeviceReading& before, const DeviceReading& after) noexcept {
  host.pcie_generation = larger(before.pcie_generation, after.pcie_generation);
  host.pcie_width = larger(before.pcie_width, after.pcie_width);
}

}  // namespace headroom
