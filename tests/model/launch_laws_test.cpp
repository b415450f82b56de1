// SPDX-License-Identifier: Apache-2.0
// The laws of launches: their arithmetic with plain numbers, and published measurements that are cited where they
// stand.
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/laboratory/launch.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cmath>

using namespace headroom;
using test::near;

namespace {

constexpr Seconds us{1e-6};

LaunchHost plain_launch_host() {
  LaunchHost host;
  host.dispatch = 2.0 * us;
  host.argument = 0.1 * us;
  host.graph = 10.0 * us;
  host.graph_node = 0.5 * us;
  host.pickup = 3.0 * us;
  host.synchronise = 4.0 * us;
  return host;
}
LaunchDevice plain_launch_device() {
  LaunchDevice device;
  device.gap = 1.0 * us;
  device.node = 0.25 * us;
  device.barrier = 1.0 * us;
  device.barrier_block = 0.01 * us;
  return device;
}
double micro(Seconds time) {
  return time.raw() * 1e6;
}

}  // namespace

TEST_CASE("launches: the longer of host and GPU, and a wait after every so many kernels") {
  const LaunchHost host = plain_launch_host();
  const LaunchDevice device = plain_launch_device();
  LaunchLayer layer;
  layer.each = 1.0 * us;
  layer.argument = 0.4 * us;
  CHECK(micro(launch_time(host, layer, 2.0)) == near(2.0 + 1.0 + 2.0 * 0.5));
  // The host: 100 launches of 3 us, then the wait of 4 us.
  CHECK(micro(launched_time({100.0, 1.0 * us, 0.0, 0.0}, host, layer, device)) == near(100.0 * 3.0 + 4.0));
  // The GPU: one launch, 3 us until it starts, 100 kernels of 9 us, 99 gaps of 1 us.
  CHECK(micro(launched_time({100.0, 9.0 * us, 0.0, 0.0}, host, layer, device)) == near(3.0 + 3.0 + 900.0 + 99.0 + 4.0));
  // Waits after 3, 3 and 1 of 7: 3 + 3 + m 9 + (m - 1) + 4.
  CHECK(micro(launched_time({7.0, 9.0 * us, 0.0, 3.0}, host, layer, device)) == near(39.0 + 39.0 + 19.0));
  LaunchHost slow = host;
  slow.submit = 20.0 * us;
  CHECK(micro(launched_time({100.0, 9.0 * us, 0.0, 0.0}, slow, layer, device)) == near(2000.0 + 4.0));
}

TEST_CASE("launches: graphs, barriers across a grid, and where graphs pay") {
  const LaunchHost host = plain_launch_host();
  const LaunchDevice device = plain_launch_device();
  const LaunchLayer none;
  const KernelChain chain{8.0, 2.0 * us, 0.0, 0.0};
  // 10 + 8 x 0.5 + 3 + 8 (2 + 0.25) + 4
  CHECK(micro(graph_time(chain, host, device)) == near(39.0));
  CHECK(micro(grid_barrier_time(device, 300.0)) == near(4.0));
  // 2 + 3 + 8 (2 + 4) + 4
  CHECK(micro(persistent_time(chain, 300.0, host, device)) == near(57.0));
  // Launched: 2 + 3 + 2 m + (m - 1) + 4 = 8 + 3 m; a graph: 17 + 2.75 m: from m = 37 on.
  CHECK(graph_pays_from(chain, host, none, device) == 37.0);
  LaunchHost never = host;
  never.graph_node = 5.0 * us;
  CHECK(std::isinf(graph_pays_from(chain, never, none, device)));
}

TEST_CASE("launches: 117 empty kernels under WSL2, of which no number was fitted") {
  // ahrefs/ocannl issue 488: 735.4 us launched one by one, 82.9 us as a graph.
  const ModelData& data = test::model_data();
  const LaunchHost& host = find_launch_host(data, "wsl2");
  const LaunchLayer& driver = find_launch_layer(data, "driver");
  const LaunchDevice device = find_launch_device(data, "blackwell");
  const KernelChain chain{117.0, Seconds{}, 0.0, 0.0};
  CHECK(micro(launched_time(chain, host, driver, device)) == near(735.4, 0.05));
  CHECK(micro(graph_time(chain, host, device)) == near(82.9, 0.05));
  CHECK(graph_pays_from(chain, host, driver, device) <= 4.0);  // "from about N = 3 upward"
}

TEST_CASE("launches: 20,000 steps on GV100, launched, as graphs and with barriers across the grid") {
  // gunrock issue 438 and its test program: 20 times 1,000 steps on 1,024,000 words of 4 bytes, each read and written,
  // by 512 blocks; 110.885 ms, 104.635 ms and 375.927 ms.
  const ModelData& data = test::model_data();
  const LaunchHost& host = find_launch_host(data, "linux");
  const LaunchDevice device = find_launch_device(data, "volta");
  const Seconds kernel = device.start + Bytes{8.0 * 1024000.0} / device.cache;
  const KernelChain launched{20000.0, kernel, 3.0, 0.0};
  const KernelChain graphs{20000.0, kernel, 3.0, 1000.0};
  const Seconds one_by_one = launched_time(launched, host, find_launch_layer(data, "driver"), device);
  CHECK(one_by_one.raw() * 1e3 == near(110.885, 0.08));
  CHECK(graph_time(graphs, host, device).raw() * 1e3 == near(104.635, 0.08));
  CHECK(persistent_time(graphs, 512.0, host, device).raw() * 1e3 == near(375.927, 0.15));
}

TEST_CASE("launches: an id that is not known lists what there is, and an unmeasured generation says so") {
  const ModelData& data = test::model_data();
  CHECK_THROWS_WITH_AS(static_cast<void>(find_launch_host(data, "windows")),
                       doctest::Contains("there are: linux, wsl2"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_launch_layer(data, "cupy")),
                       doctest::Contains("driver, triton, inductor"), ConfigError);
  CHECK_FALSE(find_launch_device(data, "volta").assumed);
  const LaunchDevice hopper = find_launch_device(data, "hopper");
  CHECK(hopper.assumed);
  CHECK(hopper.generation == "hopper");
}
