// SPDX-License-Identifier: Apache-2.0
// Runs independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace headroom {

/// More threads than any machine of today has need of.
inline constexpr unsigned most_threads = 1024;

/// Number of threads to use: `asked`, or the machine's hardware threads (at least 1) if `asked` is 0; `most_threads` at
/// most.
[[nodiscard]] unsigned thread_count(unsigned asked) noexcept;

/// Runs work(i) for i in 0 .. n - 1 on up to `threads` threads including the calling one; on fewer where the system
/// starts no more. Of the exceptions that `work` throws, the one with the smallest i is rethrown.
void on_threads(unsigned threads, std::size_t n, const std::function<void(std::size_t)>& work);

/// Calls `tick` from a thread of its own each time that `seconds` have passed, until it returns false or the timer is
/// destroyed, which waits for a call under way. Where threads cannot start it never calls.
class Timer {
 public:
  Timer(double seconds, std::function<bool()> tick);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  struct Waiting;
  std::unique_ptr<Waiting> waiting_;
};

}  // namespace headroom
