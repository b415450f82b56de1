// SPDX-License-Identifier: Apache-2.0
// What a folder of samples says of the host: cores, memory bandwidth, the link.
#include <headroom/calibrate/probe/host_reading.hpp>

#include <doctest/doctest.h>
#include <sched.h>

#include <thread>

using namespace headroom;

TEST_CASE("the triad of any number of threads is faster than a disk and slower than any memory, and is checked") {
  for (const std::int64_t threads : {1, 2, 5}) {
    CAPTURE(threads);
    const BytesPerSecond rate = host_triad(threads, 1 << 20, 3);
    CHECK(rate > BytesPerSecond{0.05e9});
    CHECK(rate < BytesPerSecond{100e12});
  }
}

TEST_CASE("cores are those that this process may run on, not those of the machine") {
  std::int64_t of_one = 0;
  std::thread{[&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0) {
      of_one = usable_cores();
    }
  }}.join();
  CHECK(of_one == 1);
  CHECK(usable_cores() >= 1);
}

TEST_CASE("of two readings of the link the faster counts, and one is enough") {
  DeviceReading idle;
  idle.pcie_generation = 1;
  DeviceReading busy;
  busy.pcie_generation = 5;
  busy.pcie_width = 16;
  HostReading host;
  see_link(host, idle, busy);
  CHECK(host.pcie_generation == 5);
  CHECK(host.pcie_width == 16);
  see_link(host, busy, idle);
  CHECK(host.pcie_generation == 5);
  see_link(host, {}, {});
  CHECK(!host.pcie_generation);
}
