// SPDX-License-Identifier: Apache-2.0
// Signals as causes with their gains; healthy ones name none.
#include <headroom/calibrate/evidence/evidence.hpp>
#include <headroom/calibrate/diagnosis/period.hpp>
#include <headroom/calibrate/import/kernel_profile.hpp>
#include <headroom/calibrate/telemetry/engine_journal.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>
#include <headroom/calibrate/telemetry/training_log.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::says;

namespace {

/// One GPU whose samples are a second apart.
GpuSignals series_with(std::initializer_list<std::pair<Signal, double>> values, int samples = 20) {
  GpuSignals series{"f", "0", "NVIDIA A100-SXM4-80GB", {}, {}};
  for (int i = 0; i < samples; ++i) {
    GpuSample sample;
    sample.time = Seconds{1.0 * i};
    sample.line = i + 2;
    for (const auto& [signal, value] : values) {
      sample.at(signal) = value;
    }
    series.samples.push_back(sample);
  }
  return series;
}

RunReading reading_with(Signals signals) {
  Evidence evidence;
  evidence.files = {"f"};
  evidence.signals = std::move(signals);
  return reading_of(evidence);
}

RunReading reading_with(GpuSignals series) {
  Signals signals;
  signals.gpus.push_back(std::move(series));
  return reading_with(std::move(signals));
}

const Cause* cause_in(const RunReading& reading, CauseKind kind) {
  const auto found = std::find_if(reading.causes.begin(), reading.causes.end(),
                                  [&](const Cause& cause) { return cause.kind == kind; });
  return found == reading.causes.end() ? nullptr : &*found;
}

bool notes_say(const RunReading& reading, std::string_view part) {
  return std::any_of(reading.notes.begin(), reading.notes.end(), [&](const std::string& n) { return says(n, part); });
}

LatencySeries even_latencies(int requests, double apart) {
  LatencySeries series{"f", {}};
  for (int i = 0; i < requests; ++i) {
    series.points.push_back({Seconds{apart * i}, Seconds{0.08 + 0.001 * (i % 7)}, std::nullopt, i + 2});
  }
  return series;
}

}  // namespace

TEST_CASE("signal causes: healthy telemetry names no cause") {
  const RunReading reading = reading_with(series_with({{Signal::busy, 0.97},
                                                       {Signal::sm_active, 0.92},
                                                       {Signal::tensor_active, 0.45},
                                                       {Signal::memory_active, 0.40},
                                                       {Signal::sm_clock, 1.41e9},
                                                       {Signal::most_sm_clock, 1.41e9},
                                                       {Signal::reasons, 0.0}}));
  CHECK(reading.causes.empty());
  CHECK(*reading.use.busy == doctest::Approx(0.97));
  CHECK(*reading.use.tensor_active == doctest::Approx(0.45));
}

TEST_CASE("signal causes: products on the ordinary units gain what the catalog's peaks have it") {
  // A100: 19.5 TFLOP/s in FP32 on the ordinary units, 312 in BF16 (data sheet): 1/16, but the memory's 0.1 remains.
  const RunReading reading = reading_with(series_with(
      {{Signal::busy, 1.0}, {Signal::sm_active, 0.95}, {Signal::tensor_active, 0.0}, {Signal::memory_active, 0.1}}));
  REQUIRE(cause_in(reading, CauseKind::no_tensor_cores) != nullptr);
  CHECK(*cause_in(reading, CauseKind::no_tensor_cores)->time_ratio == doctest::Approx(0.1));
  const RunReading free = reading_with(series_with(
      {{Signal::busy, 1.0}, {Signal::sm_active, 0.95}, {Signal::tensor_active, 0.0}, {Signal::memory_active, 0.01}}));
  CHECK(*cause_in(free, CauseKind::no_tensor_cores)->time_ratio == doctest::Approx(19.5 / 312.0));
}

TEST_CASE("signal causes: few warps on idle units wait, few warps that keep the tensor pipe busy do not") {
  const auto with = [](double tensor) {
    return reading_with(series_with({{Signal::busy, 1.0},
                                     {Signal::sm_active, 0.9},
                                     {Signal::occupancy, 0.1},
                                     {Signal::tensor_active, tensor},
                                     {Signal::memory_active, 0.3}}));
  };
  REQUIRE(cause_in(with(0.2), CauseKind::small_batch) != nullptr);
  CHECK(cause_in(with(0.2), CauseKind::small_batch)->lost == doctest::Approx(0.7));
  CHECK(with(0.6).causes.empty());
}

TEST_CASE("signal causes: a host link near its rate is told") {
  // A100: PCIe 4.0 x16, 31.5 GB/s (data sheet).
  const auto with = [](double rate) {
    return reading_with(series_with({{Signal::busy, 0.9}, {Signal::pcie_received, rate}}));
  };
  CHECK(notes_say(with(20e9), "host link"));
  CHECK_FALSE(notes_say(with(5e9), "host link"));
}

TEST_CASE("signal causes: samples before the run begins and after it ends are no waits") {
  GpuSignals series = series_with({{Signal::busy, 0.95}}, 100);
  for (int i = 0; i < 40; ++i) {
    series.samples[static_cast<std::size_t>(i)].at(Signal::busy) = 0.0;
    series.samples[static_cast<std::size_t>(99 - i)].at(Signal::busy) = 0.0;
  }
  const RunReading reading = reading_with(std::move(series));
  CHECK(*reading.use.busy == doctest::Approx(0.95));
  CHECK(cause_in(reading, CauseKind::starved) == nullptr);
}

TEST_CASE("signal causes: stops of a fixed period are a checkpoint's, and cost what they last") {
  // Every 60 s the GPU rests for 12: a fifth of the time.
  GpuSignals series = series_with({{Signal::busy, 0.95}}, 600);
  for (int i = 0; i < 600; ++i) {
    if (i % 60 >= 48) {
      series.samples[static_cast<std::size_t>(i)].at(Signal::busy) = 0.0;
    }
  }
  const RunReading reading = reading_with(std::move(series));
  const Cause* const stop = cause_in(reading, CauseKind::checkpointing);
  REQUIRE(stop != nullptr);
  CHECK(stop->lost == doctest::Approx(0.2).epsilon(0.03));
  CHECK(says(stop->says, "Every 60.0 s"));
}

TEST_CASE("signal causes: reasons of a low clock and its price between the roofs") {
  const auto at = [](double reasons, double memory) {
    return reading_with(series_with({{Signal::busy, 1.0},
                                     {Signal::sm_clock, 1.128e9},
                                     {Signal::most_sm_clock, 1.41e9},
                                     {Signal::reasons, reasons},
                                     {Signal::memory_active, memory}}));
  };
  const RunReading heat = at(0x40, 0.2);
  REQUIRE(cause_in(heat, CauseKind::low_clock) != nullptr);
  CHECK(*cause_in(heat, CauseKind::low_clock)->time_ratio == doctest::Approx(0.8));
  CHECK(says(cause_in(heat, CauseKind::low_clock)->says, "heat"));
  CHECK(says(cause_in(at(0x4, 0.2), CauseKind::low_clock)->says, "power limit"));
  CHECK(says(cause_in(at(0x2, 0.2), CauseKind::low_clock)->says, "was set"));
  // At the memory's roof the clock costs nothing.
  CHECK(cause_in(at(0x40, 0.85), CauseKind::low_clock) == nullptr);
  // Idle samples are slow because they are idle.
  CHECK(cause_in(at(0x1, 0.2), CauseKind::low_clock) == nullptr);
}

TEST_CASE("signal causes: errors of the driver are told with their place") {
  const RunReading reading = reading_with(series_with({{Signal::busy, 1.0}, {Signal::xid, 79.0}}));
  CHECK(notes_say(reading, "f:2: GPU 0 reports XID 79: the GPU fell off the bus"));
}

TEST_CASE("signal causes: no GPU holds memory, so the program computes elsewhere") {
  const RunReading reading = reading_with(series_with({{Signal::busy, 0.0}, {Signal::memory_used, 4e6}}));
  const Cause* const wrong = cause_in(reading, CauseKind::wrong_device);
  REQUIRE(wrong != nullptr);
  CHECK(wrong->lost == 1.0);
  CHECK(says(wrong->says, "on the host"));
  CHECK(cause_in(reading, CauseKind::starved) == nullptr);
}

TEST_CASE("signal causes: phases sum to the step, with what no phase tells") {
  Signals signals;
  read_phases("step,data_ms,forward_ms,backward_ms,step_time_ms\n0,10,20,40,100\n", "f", signals);
  const RunReading reading = reading_with(std::move(signals));
  Seconds sum{};
  for (const TimePart& part : reading.parts) {
    sum += part.time;
  }
  CHECK(1e3 * reading.step->raw() == doctest::Approx(100.0));
  CHECK(sum.raw() == doctest::Approx(reading.step->raw()));
  CHECK(notes_say(reading, "'other'"));
}

TEST_CASE("signal causes: large collectives overlap, small ones fuse") {
  const auto of = [](const std::string& text) {
    Signals signals;
    read_phases(text, "f", signals);
    return reading_with(std::move(signals));
  };
  CHECK(cause_in(of("phase,ms,count\nforward,50,1\nall_reduce,50,4\n"), CauseKind::exposed_communication) != nullptr);
  CHECK(cause_in(of("phase,ms,count\nforward,50,1\nall_reduce,15,300\n"), CauseKind::small_messages) != nullptr);
  CHECK(cause_in(of("phase,ms,count,bytes\nforward,50,1,0\nall_reduce,50,300,4096\n"), CauseKind::small_messages) !=
        nullptr);
}

TEST_CASE("signal causes: even latencies, and ones that are all slow, have no spikes") {
  Signals signals;
  signals.latencies.push_back(even_latencies(400, 0.5));
  CHECK(reading_with(std::move(signals)).causes.empty());
}

TEST_CASE("signal causes: spikes after idleness, beside long prompts and at a period are told apart in one file") {
  LatencySeries series = even_latencies(2000, 0.5);
  Seconds shift{};
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    LatencyPoint& point = series.points[i];
    point.prompt = 200.0 + static_cast<double>(i % 11);
    if (i % 250 == 249) {  // five minutes of idleness before it
      shift += Seconds{300.0};
      point.latency = Seconds{2.0};
    } else if (i % 131 == 77) {
      point.prompt = 30000.0;
      point.latency = Seconds{0.4};
    }
    point.begin += shift;
  }
  Signals signals;
  signals.latencies.push_back(series);
  const RunReading reading = reading_with(std::move(signals));
  REQUIRE(cause_in(reading, CauseKind::cold_cache) != nullptr);
  REQUIRE(cause_in(reading, CauseKind::long_prompts) != nullptr);
  CHECK(cause_in(reading, CauseKind::collector) == nullptr);
  CHECK(reading.causes.size() == 2);
  // Eight requests follow idleness: 249, 499, ... 1999.
  CHECK(says(cause_in(reading, CauseKind::cold_cache)->says, "8 spikes of 8 requests"));
}

TEST_CASE("signal causes: a full cache with a queue is named, a queue with room is not") {
  const auto of = [](const std::string& use) {
    Signals signals;
    std::string text;
    for (int i = 0; i < 10; ++i) {
      text +=
          "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 900.0 tokens/s, Running: 12 reqs, Waiting: "
          "3 reqs, GPU KV cache usage: " +
          use + "%, Prefix cache hit rate: 0.0%\n";
    }
    read_engine_journal(text, "f", signals);
    return reading_with(std::move(signals));
  };
  const RunReading full = of("98.7");
  REQUIRE(cause_in(full, CauseKind::cache_full) != nullptr);
  CHECK(cause_in(full, CauseKind::cache_full)->lost == 1.0);
  CHECK(cause_in(of("40.0"), CauseKind::cache_full) == nullptr);
  CHECK(notes_say(of("40.0"), "--max-num-seqs"));
}

TEST_CASE("signal causes: the first overflows of loss scaling are no divergence, many later ones are") {
  const auto of = [](int first, int later) {
    std::string text = "precision: fp16\n";
    const std::string skip = "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8, reducing to 4\n";
    for (int i = 0; i < first; ++i) {
      text += skip;
    }
    for (int i = 0; i < 100; ++i) {
      text += "loss: 2.5\n";
    }
    for (int i = 0; i < later; ++i) {
      text += skip;
    }
    Signals signals;
    read_training_log(text, "f", signals);
    return reading_with(std::move(signals));
  };
  CHECK(of(8, 1).causes.empty());
  const RunReading reading = of(0, 25);  // 25 of 125 steps
  REQUIRE(cause_in(reading, CauseKind::format_range) != nullptr);
  CHECK(cause_in(reading, CauseKind::format_range)->lost == doctest::Approx(0.2));
}

TEST_CASE("signal causes: a format without tensor cores on the SKU, with what it has") {
  Signals signals;
  read_training_log("using Tesla V100-SXM2-32GB\nprecision: bf16\nloss: 2.5\n", "f", signals);
  const RunReading reading = reading_with(std::move(signals));
  const Cause* const path = cause_in(reading, CauseKind::no_tensor_cores);
  REQUIRE(path != nullptr);
  CHECK(*path->time_ratio == doctest::Approx(15.7 / 125.0));  // data sheet: FP32 over FP16
  CHECK(says(path->cure, "fp16"));
}

TEST_CASE("signal causes: jobs by state, and the node on which they fail") {
  std::string text = "JobID|State|ExitCode|Elapsed|NodeList\n";
  for (int i = 0; i < 12; ++i) {
    const bool bad = i % 4 == 0;
    text += std::to_string(i) + (bad ? "|NODE_FAIL|1:0|01:00:00|n07\n" : "|COMPLETED|0:0|01:00:00|n[01-03]\n");
    text += std::to_string(i) + ".batch|COMPLETED|0:0|01:00:00|n01\n";
  }
  Signals signals;
  read_accounting(text, "f", signals);
  const RunReading reading = reading_with(std::move(signals));
  const Cause* const failed = cause_in(reading, CauseKind::failed_jobs);
  REQUIRE(failed != nullptr);
  CHECK(failed->lost == doctest::Approx(0.25));  // three hours of twelve; steps count with their jobs
  CHECK(says(failed->says, "n07 (3 of its 3 jobs)"));
}

TEST_CASE("period: found under jitter and with events missing, not in random ones") {
  std::mt19937 random{11};
  std::normal_distribution<double> jitter{0.0, 1.0};
  std::uniform_real_distribution<double> anywhere{0.0, 1000.0};
  int found = 0;
  int invented = 0;
  constexpr int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<Seconds> events;
    for (int i = 0; i < 30; ++i) {
      if (i % 5 != trial % 5) {  // a fifth is missing
        events.emplace_back(30.0 * i + 1.5 * jitter(random));
      }
    }
    const auto period = period_of(events);
    found += period && std::abs(period->period.raw() - 30.0) < 0.3 ? 1 : 0;
    std::vector<Seconds> chance;
    for (int i = 0; i < 6 + trial % 40; ++i) {
      chance.emplace_back(anywhere(random));
    }
    std::sort(chance.begin(), chance.end());
    invented += period_of(chance) ? 1 : 0;
  }
  CHECK(found == trials);
  CHECK(invented <= trials / 50);
}

TEST_CASE("period: five events are too few, equal times have none") {
  CHECK_FALSE(period_of(std::vector<Seconds>{Seconds{0}, Seconds{1}, Seconds{2}, Seconds{3}, Seconds{4}}));
  CHECK_FALSE(period_of(std::vector<Seconds>(10, Seconds{5})));
  const auto even =
      period_of(std::vector<Seconds>{Seconds{0}, Seconds{1}, Seconds{2}, Seconds{3}, Seconds{4}, Seconds{5}});
  REQUIRE(even);
  CHECK(even->period.raw() == doctest::Approx(1.0).epsilon(0.01));
}

TEST_CASE("signal causes: counters of kernels name the memory, and the ordinary units where the tensor pipe rests") {
  const auto of = [](const std::string& text) {
    Signals signals;
    signals.profiles.push_back({"f", read_kernel_profiles(text, "f")});
    return reading_with(std::move(signals));
  };
  // 85 % of the memory's peak, 3 % of the tensor pipe: half the bytes take half the time.
  const RunReading memory =
      of("counter,value,unit\nduration,1,ms\ndram_throughput,85,%\nsm_throughput,20,%\ntensor_pipe,3,%\n");
  REQUIRE(cause_in(memory, CauseKind::memory_bound) != nullptr);
  CHECK(cause_in(memory, CauseKind::memory_bound)->lost == doctest::Approx(1.0));
  CHECK(*memory.use.memory_active == doctest::Approx(0.85));
  CHECK(*memory.use.tensor_active == doctest::Approx(0.03));
  const RunReading vector =
      of("counter,value,unit\nduration,1,ms\ndram_throughput,10,%\nsm_throughput,90,%\ntensor_pipe,0,%\n");
  CHECK(cause_in(vector, CauseKind::no_tensor_cores) != nullptr);
  // Tensor cores at work are what one wants.
  CHECK(of("counter,value,unit\nduration,1,ms\ndram_throughput,30,%\nsm_throughput,90,%\ntensor_pipe,90,%\n")
            .causes.empty());
}
