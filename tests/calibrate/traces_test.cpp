// SPDX-License-Identifier: Apache-2.0
// Traces of profilers: read as they stream by, and the time of a GPU told apart.
#include <headroom/calibrate/traces/device_time.hpp>
#include <headroom/calibrate/traces/kineto_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/scratch_folder.hpp"
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace headroom {
namespace {

using test::ScratchFolder;

/// An event of work on GPU 0, times in microseconds.
std::string work(const std::string& name, double at, double lasts, int stream, int correlation, const char* category) {
  return R"({"ph": "X", "cat": ")" + std::string{category} + R"(", "name": ")" + name + R"(", "pid": 0, "tid": )" +
         std::to_string(stream) + R"(, "ts": )" + std::to_string(at) + R"(, "dur": )" + std::to_string(lasts) +
         R"(, "args": {"device": 0, "stream": )" + std::to_string(stream) + R"(, "correlation": )" +
         std::to_string(correlation) + R"(, "grid": [8, 2, 1]}})";
}

std::string call(
    const std::string& name, double at, double lasts, int correlation, const char* category = "cuda_runtime") {
  return R"({"ph": "X", "cat": ")" + std::string{category} + R"(", "name": ")" + name +
         R"(", "pid": 100, "tid": 100, "ts": )" + std::to_string(at) + R"(, "dur": )" + std::to_string(lasts) +
         R"(, "args": {"correlation": )" + std::to_string(correlation) + "}}";
}

std::string trace_of(const std::vector<std::string>& events, const std::string& before = "") {
  std::string text = "{" + before + "\"traceEvents\": [";
  for (std::size_t i = 0; i < events.size(); ++i) {
    text += (i == 0 ? "" : ",\n") + events[i];
  }
  return text + "]}";
}

Timeline read(const std::string& text) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  std::ofstream{path} << text;
  return read_kineto(path);
}

double idle(const DeviceTime& time, IdleCause cause) {
  return 1e6 * time.idle[static_cast<std::size_t>(cause)].raw();
}

TEST_CASE("traces: overlapping work is counted once, computing before communication before copies") {
  // Computing 0 to 10, a collective 5 to 25 beside and after it, a copy 20 to 40: 10 + 15 + 15 us busy of 50.
  const Timeline timeline = read(trace_of(
      {work("gemm", 0, 10, 7, 1, "kernel"), work("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 5, 20, 20, 2, "kernel"),
       work("Memcpy DtoH", 20, 20, 7, 3, "gpu_memcpy"), work("gemm", 49, 1, 7, 4, "kernel")}));
  const DeviceTime time = device_time(timeline, 0);
  CHECK(1e6 * time.window().raw() == doctest::Approx(50));
  CHECK(1e6 * time.computing.raw() == doctest::Approx(11));
  CHECK(1e6 * time.communication.raw() == doctest::Approx(20));
  CHECK(1e6 * time.exposed_communication.raw() == doctest::Approx(15));
  CHECK(1e6 * time.copies.raw() == doctest::Approx(20));
  CHECK(1e6 * time.exposed_copies.raw() == doctest::Approx(15));
  CHECK(1e6 * time.all_idle().raw() == doctest::Approx(9));
  CHECK((time.busy() + time.all_idle()).raw() == doctest::Approx(time.window().raw()));
  const std::vector<NamedTime> names = time_by_name(timeline, 0);
  REQUIRE(names.size() == 3);
  CHECK(names[2].count == 2);
  CHECK(timeline.work.front().blocks == 16);
}

TEST_CASE("traces: a gap belongs to what the host did until the work was sent, then to its way and its waits") {
  // First gap, 10 to 110: the host waits until 60 for the GPU, which is dry since 10, makes samples until 90, launches
  // at 98 to 100: 60 us belong to the wait. The work begins 10 us later. Second gap, 120 to 220: the work was sent at
  // 20 already, and waited for something else.
  const Timeline timeline = read(trace_of(
      {call("cudaLaunchKernel", -5, 2, 1), work("a", 0, 10, 7, 1, "kernel"), call("cudaStreamSynchronize", 10, 50, 50),
       call("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 60, 30, 51, "user_annotation"),
       call("cudaLaunchKernel", 98, 2, 2), work("b", 110, 10, 7, 2, "kernel"), call("cudaLaunchKernel", 101, 2, 3),
       work("c", 220, 10, 7, 3, "kernel")}));
  const DeviceTime time = device_time(timeline, 0);
  CHECK(idle(time, IdleCause::sync) == doctest::Approx(60));
  CHECK(idle(time, IdleCause::data) == doctest::Approx(30));
  CHECK(idle(time, IdleCause::host) == doctest::Approx(0));
  CHECK(idle(time, IdleCause::launch) == doctest::Approx(10));
  CHECK(idle(time, IdleCause::wait) == doctest::Approx(100));
  REQUIRE(time.gaps.size() == 2);
  CHECK(time.gaps[0].cause == IdleCause::sync);
  CHECK(time.gaps[1].cause == IdleCause::wait);
  CHECK(timeline.names.name(timeline.work[time.gaps[1].next].name) == "c");
}

TEST_CASE("traces: a host that never waits and sends late is itself the cause") {
  const Timeline timeline = read(trace_of({call("cudaLaunchKernel", -5, 2, 1), work("a", 0, 10, 7, 1, "kernel"),
                                           call("cudaLaunchKernel", 48, 2, 2), work("b", 55, 10, 7, 2, "kernel")}));
  const DeviceTime time = device_time(timeline, 0);
  CHECK(idle(time, IdleCause::host) == doctest::Approx(40));
  CHECK(idle(time, IdleCause::launch) == doctest::Approx(5));
  CHECK(idle(time, IdleCause::sync) == doctest::Approx(0));
}

TEST_CASE("traces: a clock that counts from 1970 keeps its nanoseconds") {
  const Timeline timeline = read(
      R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1682725898237042.123,
          "dur": 1.001, "args": {}}]})");
  REQUIRE(timeline.work.size() == 1);
  CHECK(timeline.work[0].begin == 1682725898237042123);
  CHECK(timeline.work[0].end - timeline.work[0].begin == 1001);
}

TEST_CASE("traces: a list alone, old categories, numbers as text, facts of the device and the rank are read") {
  const Timeline plain = read(
      R"([{"ph": "X", "cat": "Kernel", "name": "k", "pid": "2", "tid": "stream 7", "ts": "5", "dur": "3"},
          {"ph": "i", "name": "mark", "ts": 1}, {"ph": "X", "cat": "kernel", "name": "no time"}])");
  CHECK(plain.work.size() == 1);
  CHECK(plain.work[0].device == 2);
  CHECK(plain.events == 3);
  CHECK(plain.passed_over == 2);
  const Timeline told =
      read(trace_of({}, R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132, "nested":
                           [{"name": "no"}]}], "distributedInfo": {"rank": 3, "world_size": 8}, )"));
  REQUIRE(told.devices.size() == 1);
  CHECK(told.devices[0].name == "NVIDIA H100 80GB HBM3");
  CHECK(told.devices[0].units == 132);
  CHECK(told.rank == 3);
  CHECK(told.world_size == 8);
}

TEST_CASE("traces: what breaks off, is damaged or is no trace is refused with its place and the way out") {
  const auto said = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(read(text));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  const std::string whole = trace_of({work("k", 0, 1, 7, 1, "kernel")});
  CHECK(said(whole).empty());
  CHECK(said(whole.substr(0, whole.size() / 2)).find("the text breaks here") != std::string::npos);
  CHECK(said("{\"events\": []}").find("no list \"traceEvents\"") != std::string::npos);
  CHECK(said("").find(":1:1: error: the text breaks here") != std::string::npos);
  CHECK(said(std::string{"\x1f\x8b\x08\x00 cut", 8}).find("packed file") != std::string::npos);
  CHECK(said("{\"traceEvents\": " + std::string(100'000, '[')).find("values are nested deeper here") !=
        std::string::npos);
}

}  // namespace
}  // namespace headroom
