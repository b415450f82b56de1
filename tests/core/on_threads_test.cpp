// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>

#include <doctest/doctest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

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

TEST_CASE("threads that are asked for are no more than any machine needs") {
  CHECK(thread_count(7) == 7);
  CHECK(thread_count(0) >= 1);
  CHECK(thread_count(4'000'000'000U) == most_threads);
}

#ifdef __GLIBC__
TEST_CASE("work is done by fewer threads where the system starts no more") {
  pthread_attr_t before;
  pthread_attr_t huge;
  REQUIRE(pthread_getattr_default_np(&before) == 0);
  REQUIRE(pthread_attr_init(&huge) == 0);
  REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 47U) == 0);  // more than there are addresses
  REQUIRE(pthread_setattr_default_np(&huge) == 0);
  std::vector<int> done(100, 0);
  on_threads(8, done.size(), [&](std::size_t i) { done[i] += 1; });
  CHECK(done == std::vector<int>(100, 1));
  CHECK(pthread_setattr_default_np(&before) == 0);
  CHECK(pthread_attr_destroy(&huge) == 0);
  CHECK(pthread_attr_destroy(&before) == 0);
}
#endif
