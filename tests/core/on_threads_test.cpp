// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace headroom;

TEST_CASE("a timer calls again and again until it is told to stop or is gone") {
  std::atomic<int> twice{0};
  std::atomic<int> often{0};
  {
    const Timer two{0.001, [&] { return ++twice < 2; }};
    const Timer more{0.001, [&] {
                       ++often;
                       return true;
                     }};
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while ((often < 5 || twice < 2) && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  CHECK(twice == 2);
  CHECK(often >= 5);
  const int then = often;
  std::this_thread::sleep_for(std::chrono::milliseconds{5});
  CHECK(often == then);
}

TEST_CASE("a timer that is gone before its time has never called, however long that is") {
  std::atomic<int> calls{0};
  for (const double seconds : {60.0, 1e300}) {
    const Timer never{seconds, [&] {
                        ++calls;
                        return true;
                      }};
  }
  CHECK(calls == 0);
}
