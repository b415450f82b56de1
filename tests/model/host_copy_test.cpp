// SPDX-License-Identifier: Apache-2.0
// Copies between a host and a GPU: their arithmetic with plain numbers, and published rates that fitted no number.
#include <headroom/model/laboratory/host_copy.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"

using namespace headroom;
using test::near;

namespace {

HostCopyNumbers plain_copy_numbers() {
  HostCopyNumbers n;
  n.pinned = 1.0;
  n.both = 0.5;
  n.guest = 0.8;
  n.remote = 0.25;
  n.write_combined = 0.5;
  n.staging = BytesPerSecond{10e9};
  n.first_touch = BytesPerSecond{20e9};
  n.kernel_reads = BytesPerSecond{40e9};
  n.reach = Bytes{4e9};
  n.missing = BytesPerSecond{10e9};
  n.hip_start = Seconds{1e-3};
  return n;
}
HostCopy copy_of(double bytes) {
  HostCopy copy;
  copy.bytes = Bytes{bytes};
  return copy;
}
HostCopyMachine coherent() {
  HostCopyMachine machine;
  machine.link = BytesPerSecond{40e9};
  return machine;
}

}  // namespace

TEST_CASE("host copies: a lane of each PCIe generation has twice the rate of the one before") {
  CHECK(pcie_rate(3).raw() == near(15.754e9, 1e-4));  // 8 GT/s x 16 lanes x 128 / 130 bits
  CHECK(pcie_rate(5).raw() == near(63.015e9, 1e-4));
}

TEST_CASE("host copies: pageable memory is copied twice, unless the link reads the host's pages itself") {
  const HostCopyNumbers n = plain_copy_numbers();
  HostCopy copy = copy_of(1e9);
  HostCopyMachine pcie;
  pcie.pcie = 3;
  CHECK(host_copy_rate(copy, pcie, n).raw() == near(pcie_rate(3).raw()));
  copy.pinned = false;
  CHECK(host_copy_rate(copy, pcie, n).raw() == near(1.0 / (1.0 / pcie_rate(3).raw() + 1.0 / 10e9)));
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(40e9));
  copy.allocates = true;  // 25 ms of copying, 50 ms of touching
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(1e9 / 75e-3));
}

TEST_CASE("host copies: what shares or lengthens the way, and what starts late") {
  const HostCopyNumbers n = plain_copy_numbers();
  HostCopy copy = copy_of(40e6);
  copy.both = true;
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(20e9));
  copy.remote = true;
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(5e9));
  HostCopyMachine guest = coherent();
  guest.guest = true;
  CHECK(host_copy_rate(copy_of(40e6), guest, n).raw() == near(32e9));
  HostCopyMachine hip = coherent();
  hip.hip = true;
  CHECK(host_copy_rate(copy_of(40e6), hip, n).raw() == near(20e9));  // 1 ms of start, 1 ms of copying
}

TEST_CASE("host copies: a kernel's loads fetch less where the GPU's translations do not reach") {
  const HostCopyNumbers n = plain_copy_numbers();
  HostCopy copy = copy_of(1e9);
  copy.kernel = true;
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(40e9));
  copy.bytes = Bytes{8e9};  // half of it at 40 GB/s, half at 10
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(16e9));
  copy.to_device = false;  // stores wait for nothing
  CHECK(host_copy_rate(copy, coherent(), n).raw() == near(40e9));
}

TEST_CASE("host copies: published rates over PCIe 4 and 5 that no number was fitted to") {
  const HostCopyNumbers& n = host_copy_numbers(test::model_data());
  HostCopyMachine machine;
  machine.pcie = 5;
  HostCopy copy;
  copy.kernel = true;
  copy.to_device = false;
  // NVIDIA/nvbandwidth issue 24: 52.77 GB/s from eight H100 to their host.
  CHECK(host_copy_rate(copy, machine, n).raw() == near(52.77e9, 0.1));
  machine.pcie = 4;
  // msharmavikram in ZaidQureshi/bam issue 54: 25 GB/s into an A100.
  CHECK(host_copy_rate(HostCopy{}, machine, n).raw() == near(25e9, 0.1));
  // The same: 12 GB/s into a V100 behind PCIe 3.
  machine.pcie = 3;
  CHECK(host_copy_rate(HostCopy{}, machine, n).raw() == near(12e9, 0.1));
}
