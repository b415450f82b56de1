// SPDX-License-Identifier: Apache-2.0
// Tables of profilers, read: the layouts of Nsight Compute and plain ones, and what is refused.
#include <headroom/calibrate/import/kernel_profile.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace headroom;

namespace {

double held(const ProfiledKernel& kernel, Counter counter) {
  return kernel.get(counter).value_or(-1.0);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read_kernel_profiles(text, "p.csv"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

const std::string details =
    "loss 0.25, \"fine\"\n"
    "==PROF== Connected to process 12\n"
    "\"ID\",\"Process Name\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule "
    "Name\"\n"
    "\"0\",\"app\",\"gather<float, 4>(const float *)\",\"SOL\",\"Duration\",\"usecond\",\"1,234.50\",\"\"\n"
    "\"0\",\"app\",\"gather<float, 4>(const float *)\",\"SOL\",\"Memory Throughput\",\"%\",\"91.2\",\"\"\n"
    "\"0\",\"app\",\"gather<float, 4>(const float *)\",\"SOL\",\"DRAM Throughput\",\"%\",\"90.5\",\"\"\n"
    "\"0\",\"app\",\"gather<float, 4>(const float *)\",\"SOL\",\"\",\"\",\"\",\"SOLBottleneck\"\n"
    "\"0\",\"app\",\"gather<float, 4>(const float *)\",\"Memory\",\"Memory Throughput\",\"Tbyte/second\",\"1.8\",\"\"\n"
    "\"0\",\"app\",\"gather<float, 4>(const float *)\",\"Launch\",\"Registers Per "
    "Thread\",\"register/thread\",\"40\",\"\"\n"
    "\"1\",\"app\",\"scan\",\"SOL\",\"Duration\",\"msecond\",\"2\",\"\"\n"
    "\"1\",\"app\",\"scan\",\"SOL\",\"DRAM Throughput\",\"%\",\"20\",\"\"\n"
    "\"1\",\"app\",\"scan\",\"SOL\",\"SM Frequency\",\"Ghz\",\"1.4\",\"\"\n";

}  // namespace

TEST_CASE("a counter a row is read by its name and unit, kernel by kernel") {
  const KernelProfiles read = read_kernel_profiles(details, "p.csv");
  CHECK(read.form == "ncu --page details");
  REQUIRE(read.kernels.size() == 2);
  const ProfiledKernel& first = read.kernels.front();
  CHECK(first.name == "gather<float, 4>(const float *)");
  CHECK(held(first, Counter::duration) == doctest::Approx(1.2345e-3));
  CHECK(held(first, Counter::all_memory_use) == doctest::Approx(0.912));
  CHECK(held(first, Counter::memory_use) == doctest::Approx(0.905));
  CHECK(held(first, Counter::memory_rate) == doctest::Approx(1.8e12));
  CHECK(held(first, Counter::registers) == 40.0);
  CHECK(held(read.kernels[1], Counter::duration) == doctest::Approx(2e-3));
}

TEST_CASE("a kernel a row is read with the units below the header, stalls by their reasons") {
  const std::string text =
      "\"ID\",\"Kernel "
      "Name\",\"Block "
      "Size\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"launch__block_size\",\"smsp__average_"
      "warps_issue_stalled_long_scoreboard_per_issue_active.ratio\",\"smsp__average_warps_issue_stalled_wait_per_issue_"
      "active.ratio\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\"\n"
      "\"\",\"\",\"\",\"nsecond\",\"Mbyte\",\"\",\"inst\",\"inst\",\"%\"\n"
      "\"0\",\"copy\",\"(256, 1, 1)\",\"12,345\",\"1.5\",\"256\",\"17.25\",\"1.5\",\"7\"\n"
      "\"1\",\"copy\",\"(256, 1, 1)\",\"10,000\",\"1.5\",\"256\",\"16\",\"1.5\",\"(!) nan\"\n";
  const KernelProfiles read = read_kernel_profiles(text, "p.csv");
  CHECK(read.form == "ncu --page raw");
  REQUIRE(read.kernels.size() == 2);
  CHECK(held(read.kernels[0], Counter::duration) == doctest::Approx(12.345e-6));
  CHECK(held(read.kernels[0], Counter::memory_read) == doctest::Approx(1.5e6));
  CHECK(held(read.kernels[0], Counter::block) == 256.0);
  CHECK(held(read.kernels[0], Counter::sm_use) == doctest::Approx(0.07));
  REQUIRE(read.kernels[0].stalls.size() == 2);
  CHECK(read.kernels[0].stalls[0].reason == "long_scoreboard");
  CHECK(read.kernels[0].stalls[0].cycles == 17.25);
  CHECK_FALSE(read.kernels[1].get(Counter::sm_use).has_value());
}

TEST_CASE("a plain table has its units in a column or behind the values") {
  const ProfiledKernel one =
      read_kernel_profiles("counter,value,unit\nduration,2,ms\ndram_throughput,90,%\nstall_barrier,3,\n", "p.csv")
          .kernels.front();
  const ProfiledKernel other =
      read_kernel_profiles("counter,value\nduration,2 ms\ndram_throughput,90\nstall_barrier,3\n", "p.csv")
          .kernels.front();
  for (const ProfiledKernel& kernel : {one, other}) {
    CHECK(held(kernel, Counter::duration) == doctest::Approx(2e-3));
    CHECK(held(kernel, Counter::memory_use) == doctest::Approx(0.9));
    REQUIRE(kernel.stalls.size() == 1);
    CHECK(kernel.stalls.front().reason == "barrier");
  }
}

TEST_CASE("of two families of counters that tell the same stalls one is kept") {
  const ProfiledKernel kernel = read_kernel_profiles(
                                    "counter,value,unit\nduration,2,ms\ndram_throughput,90,%\n"
                                    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio,2,inst\n"
                                    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio,3,inst\n"
                                    "smsp__pcsamp_warps_issue_stalled_wait,2000,warp\n",
                                    "p.csv")
                                    .kernels.front();
  REQUIRE(kernel.stalls.size() == 2);
  CHECK(kernel.stalls[0].cycles == 2.0);
  CHECK(kernel.stalls[1].cycles == 3.0);
}

TEST_CASE("a file of another kind, and one without kernels, are refused") {
  CHECK(refusal("a,b\n1,2\n").starts_with("p.csv:1:1: error: is no profile of a kernel"));
  CHECK(refusal("counter,value\n").find("has no kernel") != std::string::npos);
  CHECK(refusal("") != "");
  CHECK(refusal("==PROF== no kernels were profiled\n") != "");
}

TEST_CASE("numbers grouped otherwise than in threes are none") {
  for (const std::string value : {"1,23", ",123", "12,3456", "1,234.5.6", "1e999", "nan", "-3", "9,00"}) {
    CAPTURE(value);
    CHECK(refusal("counter,value,unit\nduration,\"" + value + "\",ms\ndram_throughput,1,%\n")
              .find("p.csv:2:10: error: 'duration' is") == 0);
  }
  CHECK(refusal("counter,value,unit\nduration,\"1,234,567.5\",ns\ndram_throughput,1,%\n") == "");
}
