// SPDX-License-Identifier: Apache-2.0
// Traces as a reading of a run: parts that sum to the step, causes, and the step without each.
#include <headroom/calibrate/diagnosis/trace_reading.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
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
  std::vector<Timeline> timelines;
  for (const double computing : {500.0, 500.0, 700.0, 500.0}) {
    Maker maker;
    for (int i = 0; i < 4; ++i) {
      const double at = 1'000.0 * i;
      maker.step(i, at, at + 1'000.0);
      maker.kernel(at, at + 1, computing);
      maker.kernel(at, at + 1 + computing, 950 - computing, DeviceWork::communication);
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
  CHECK(found->lost == doctest::Approx(0.2).epsilon(0.01));
}

}  // namespace
}  // namespace headroom
