// SPDX-License-Identifier: Apache-2.0
// What crosses the host link, and who shares it.
#include <headroom/hardware/fabric/host_copies.hpp>

#include <doctest/doctest.h>

#include "wirings.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

/// Eight GPUs of which four each hang below one of two switches, whose way up is as wide as a GPU's own.
NodeWiring two_ports() {
  NodeWiring host = pcie_host(8, false, 12.5, 2);
  host.switch_socket = {0, 1};
  host.gpu_switch = {0, 0, 0, 0, 1, 1, 1, 1};
  return host;
}

double times_alone(const NodeWiring& host, double busy, double quantile) {
  const HostCopy copy{Seconds{}, gigabytes_per_second(50.0)};
  const Bytes each{1e9};
  return contended_copy(host, 0, copy, each, busy, quantile) / copy_time(copy, each);
}

}  // namespace

TEST_CASE("256 images in fp32 take 13.4 ms pinned and 28.0 ms pageable, a quarter of that in bytes") {
  const Bytes batch{256.0 * 3 * 224 * 224 * 4};
  const HostCopy pinned{Seconds{}, gigabytes_per_second(11.5)}, pageable{Seconds{}, gigabytes_per_second(5.5)};
  CHECK(copy_time(pinned, batch).raw() * 1e3 == doctest::Approx(13.4).epsilon(0.002));
  CHECK(copy_time(pageable, batch).raw() * 1e3 == doctest::Approx(28.0).epsilon(0.002));
  CHECK(copy_time(pinned, batch / 4.0) / copy_time(pinned, batch) == doctest::Approx(0.25));
}

TEST_CASE("a thousand copies of 4 KiB cost their starts, one of 4 MB its bytes") {
  const HostCopy copy{Seconds{10e-6}, gigabytes_per_second(12.0)};
  CHECK(copy_time(copy, Bytes{4096.0}, 1000.0).raw() * 1e3 >= 10.0);
  CHECK(copy_time(copy, Bytes{4096.0}, 1000.0).raw() * 1e3 == doctest::Approx(10.34).epsilon(0.001));
  CHECK(copy_time(copy, Bytes{4e6}).raw() * 1e3 == doctest::Approx(0.343).epsilon(0.002));
}

TEST_CASE("eight GPUs behind two ports: all copying, each takes four times as long") {
  const NodeWiring host = two_ports();
  CHECK(port_sharers(host, 0) == 4);
  CHECK(port_sharers(host, 7) == 4);
  CHECK(times_alone(host, 1.0, 0.99) == doctest::Approx(4.0));
  CHECK(times_alone(host, 1.0, 0.5) == doctest::Approx(4.0));
  CHECK(times_alone(host, 0.0, 0.99) == doctest::Approx(1.0));
  // Three others, each copying half of the time: none 1/8, at most one 1/2, at most two 7/8.
  CHECK(times_alone(host, 0.5, 0.12) == doctest::Approx(1.0));
  CHECK(times_alone(host, 0.5, 0.5) == doctest::Approx(2.0));
  CHECK(times_alone(host, 0.5, 0.87) == doctest::Approx(3.0));
  CHECK(times_alone(host, 0.5, 0.99) == doctest::Approx(4.0));
}

TEST_CASE("a root complex a GPU and a link to the CPU's own memory are not shared, a wide port is less") {
  CHECK(port_sharers(pcie_host(8, false, 12.5, 2), 3) == 1);
  CHECK(times_alone(pcie_host(8, false, 12.5, 2), 1.0, 0.99) == doctest::Approx(1.0));
  NodeWiring joined = two_ports();
  joined.host_link = LinkKind::c2c;
  CHECK(times_alone(joined, 1.0, 0.99) == doctest::Approx(1.0));
  NodeWiring wide = two_ports();
  wide.switch_pcie = 2.0 * wide.gpu_pcie;
  CHECK(times_alone(wide, 1.0, 0.99) == doctest::Approx(2.0));
}
