// SPDX-License-Identifier: Apache-2.0
// Traces as a reading of a run: parts that sum to the step, causes, and the step without each.
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace headroom {
namespace {

/// Builds a trace of one GPU in microseconds.
struct Maker {
  Timeline timeline;
  std::int64_t correlation = 0;

  Maker() { timeline.threads = {"1/1"}; }
  void kernel(double launched, double begin, double lasts, DeviceWork work = DeviceWork::compute) {
    const TraceTime at = ns(launched);
    timeline.host.push_back(
        {at - 2000, at, timeline.names.number("cudaLaunchKernel"), 0, HostWork::runtime, correlation});
    timeline.work.push_back(
        {ns(begin), ns(begin + lasts), timeline.names.number("k"), 0, 7, work, correlation, 0, 0.0});
    ++correlation;
  }
  /// A copy from pageable memory, whose call returns when it is done.
  void copy(double begin, double lasts, double bytes) {
    timeline.host.push_back({ns(begin) - 5000, ns(begin + lasts), timeline.names.number("cudaMemcpyAsync"), 0,
                             HostWork::runtime, correlation});
    timeline.work.push_back({ns(begin), ns(begin + lasts), timeline.names.number("Memcpy HtoD (Pageable -> Device)"), 0,
                             7, DeviceWork::copy, correlation, 0, bytes});
    ++correlation;
  }
  void host(const std::string& name, double begin, double end, HostWork work = HostWork::runtime) {
    timeline.host.push_back({ns(begin), ns(end), timeline.names.number(name), 0, work, -1});
  }
  void step(int number, double begin, double end) {
    timeline.ranges.push_back({ns(begin), ns(end), timeline.names.number("ProfilerStep#" + std::to_string(number)), 0});
  }
  static TraceTime ns(double us) { return static_cast<TraceTime>(1000.0 * us + 0.5); }
  Timeline made() {
    std::stable_sort(timeline.host.begin(), timeline.host.end(),
                     [](const HostSpan& a, const HostSpan& b) { return a.begin < b.begin; });
    return std::move(timeline);
  }
};

RunReading read(const Timeline& timeline) {
  const TracedRank rank = traced_rank(timeline);
  return reading_of({&rank, 1});
}

TEST_CASE("trace reading: a host that waits each step costs what it dispatches, and would be hidden without the wait") {
  // A step dispatches for 3.5 ms, the GPU computes 10 ms, the host waits for it: 13.5 ms in place of 10, 25.9 % less
  // (the seed's arithmetic for a host sync every step).
  Maker maker;
  for (int i = 0; i < 6; ++i) {
    const double at = 13'500.0 * i;
    maker.step(i, at, at + 13'500.0);
    maker.kernel(at + 3'500.0, at + 3'500.0, 10'000.0);
    maker.host("cudaStreamSynchronize", at + 3'501.0, at + 13'501.0);
  }
  const RunReading reading = read(maker.made());
  CHECK(reading.steps == 5);
  CHECK(1e3 * reading.step->raw() == doctest::Approx(13.5));
  REQUIRE(!reading.causes.empty());
  CHECK(reading.causes.front().kind == CauseKind::host_sync);
  CHECK(*reading.causes.front().time_ratio == doctest::Approx(10.0 / 13.5).epsilon(0.001));
}

TEST_CASE("trace reading: parts sum to the step") {
  Maker maker;
  for (int i = 0; i < 4; ++i) {
    const double at = 1'000.0 * i;
    maker.step(i, at, at + 1'000.0);
    maker.kernel(at + 5, at + 10, 300);
    maker.kernel(at + 6, at + 250, 250, DeviceWork::communication);
    maker.kernel(at + 7, at + 480, 100, DeviceWork::copy);
    maker.kernel(at + 800, at + 805, 50);
  }
  const RunReading reading = read(maker.made());
  Seconds sum{};
  for (const TimePart& part : reading.parts) {
    sum += part.time;
  }
  CHECK(sum.raw() == doctest::Approx(reading.step->raw()));
  CHECK(1e6 * reading.parts[0].time.raw() == doctest::Approx(350));
  CHECK(1e6 * reading.parts[1].time.raw() == doctest::Approx(190));  // 310 to 500
  CHECK(1e6 * reading.parts[2].time.raw() == doctest::Approx(80));   // 500 to 580
}

TEST_CASE("trace reading: samples that are fetched while the GPU waits are the first cause, and worth what they take") {
  Maker maker;
  for (int i = 0; i < 4; ++i) {
    const double at = 1'000.0 * i;
    maker.step(i, at, at + 1'000.0);
    maker.host("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at, at + 590, HostWork::annotation);
    maker.kernel(at + 598, at + 600, 400);
  }
  const RunReading reading = read(maker.made());
  REQUIRE(!reading.causes.empty());
  CHECK(reading.causes.front().kind == CauseKind::data_loading);
  CHECK(reading.causes.front().lost == doctest::Approx(0.59).epsilon(0.01));
}

TEST_CASE("trace reading: the rank whose kernels take longer is the straggler, and the others' waits are its cost") {
  // Three ranks compute 500 us, one 700 us, then all are 50 us in a message; hosts wait for their GPUs.
  std::vector<Timeline> timelines;
  for (const double computing : {500.0, 500.0, 700.0, 500.0}) {
    Maker maker;
    for (int i = 0; i < 5; ++i) {
      const double at = 755.0 * i;
      maker.step(i, at, at + 755.0);
      maker.kernel(at, at + 5, computing);
      maker.kernel(at + 2.5, at + 5 + computing, 750 - computing, DeviceWork::communication);
      maker.host("cudaDeviceSynchronize", at + 3, at + 755);
    }
    timelines.push_back(maker.made());
    timelines.back().rank = static_cast<std::int64_t>(timelines.size()) - 1;
  }
  std::vector<TracedRank> ranks;
  for (const Timeline& timeline : timelines) {
    ranks.push_back(traced_rank(timeline));
  }
  const RunReading reading = reading_of(ranks);
  const auto found = std::find_if(reading.causes.begin(), reading.causes.end(),
                                  [](const Cause& cause) { return cause.kind == CauseKind::straggler; });
  REQUIRE(found != reading.causes.end());
  CHECK(found->says.find("rank 2") != std::string::npos);
  CHECK(*found->time_ratio == doctest::Approx(555.0 / 755.0).epsilon(0.01));
}

TEST_CASE("trace reading: copies are cured by pinned memory, then by going beside the step before") {
  // The seed's arithmetic: copy 6, compute 4. Pinned memory at twice the rate: 7. And overlapped: 4.
  Maker maker;
  for (int i = 0; i < 6; ++i) {
    const double at = 10'000.0 * i;
    maker.step(i, at, at + 10'000.0);
    maker.copy(at, 6'000.0, 6e7);
    maker.kernel(at + 6'005.0, at + 6'010.0, 3'985.0);
  }
  const RunReading reading = read(maker.made());
  REQUIRE(!reading.causes.empty());
  CHECK(reading.causes.front().kind == CauseKind::exposed_copies);
  CHECK(*reading.causes.front().time_ratio == doctest::Approx(0.4).epsilon(0.01));
  const auto table = std::find_if(reading.tables.begin(), reading.tables.end(),
                                  [](const FindingTable& t) { return t.key == "copies"; });
  REQUIRE(table != reading.tables.end());
  REQUIRE(table->rows.size() == 3);
  CHECK(1e3 * std::get<Seconds>(table->rows[1][1]).raw() == doctest::Approx(7.0).epsilon(0.01));
  CHECK(1e3 * std::get<Seconds>(table->rows[2][1]).raw() == doctest::Approx(4.0).epsilon(0.01));
}

TEST_CASE("trace reading: ranks that were profiled in different steps are refused with their steps") {
  std::vector<TracedRank> ranks;
  for (const int first : {0, 10}) {
    Maker maker;
    for (int i = 0; i < 3; ++i) {
      const double at = 1'000.0 * i;
      maker.step(first + i, at, at + 1'000.0);
      maker.kernel(at, at + 5, 900.0);
    }
    ranks.push_back(traced_rank(maker.made()));
  }
  std::string said;
  try {
    static_cast<void>(reading_of(ranks));
  } catch (const ConfigError& error) {
    said = error.what();
  }
  CHECK(said.find("11, 12") != std::string::npos);
  CHECK(said.find("none in common") != std::string::npos);
}

}  // namespace
}  // namespace headroom
