// SPDX-License-Identifier: Apache-2.0
// The habits of an SM: loads of neighbours, banks, divergence, few CTAs, syncs of a grid and atomics.
#include <headroom/calibrate/probes/pass_kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>
#include <headroom/calibrate/probes/unit/unit_kernels.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace headroom::probes {
namespace {

constexpr std::int64_t number_bytes = 4;  // fp32 and unsigned
constexpr std::int64_t word_bytes = 16;
constexpr std::int64_t lanes = 32;

std::int64_t placed(std::int64_t bytes) {
  constexpr std::int64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

void require(bool good, const char* why) {
  if (!good) {
    throw Refused{why};
  }
}

bool is_power_of_two(std::int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

std::int64_t sms_of(const Session& session) {
  int sms = 0;
  check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, session.device), "cudaDeviceGetAttribute");
  return sms;
}

/// The `i`-th number of a result that has been computed.
template <class Number>
Number number_at(const DeviceMemory& memory, std::int64_t i) {
  Number number{};
  check(cudaMemcpy(&number, memory.at(i * number_bytes), sizeof number, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return number;
}

/// Runs once and compares four of the `count` numbers written with the host's; throws Refused when they differ by more
/// than `tolerance`.
template <class Number, class Expected>
void verify(const Session& session,
            const Enqueue& one,
            const DeviceMemory& result,
            std::int64_t count,
            double tolerance,
            Expected expected) {
  one(0, session.stream.get());
  session.stream.wait();
  const std::int64_t last = count - 1;
  for (const std::int64_t place : std::array<std::int64_t, 4>{0, last / 3, last / 2, last}) {
    const auto got = static_cast<double>(number_at<Number>(result, place));
    const auto right = static_cast<double>(expected(place));
    if (!(std::abs(got - right) <= tolerance)) {
      throw Refused{"the unit's result is wrong: number " + std::to_string(place) + " is " + std::to_string(got) +
                    " where the host finds " + std::to_string(right)};
    }
  }
}

/// An array of numbers that the host can tell, pattern_at(i).
DeviceMemory patterned(const Session& session, std::int64_t bytes) {
  DeviceMemory memory{bytes};
  check(write_pattern(memory.at(), bytes, session.stream.get()), "write kernel");
  session.stream.wait();
  return memory;
}

/// stride and offset: sets of an array, used in turn.
Result measure_strided(const Session& session, const Request& request, std::int64_t stride, std::int64_t offset) {
  const std::int64_t loads = request.count;
  require(loads > 0 && loads % loads_per_block == 0, "loads must be a positive multiple of 2048");
  require(request.copies > 0, "sets of arrays must be counted from 1");
  const std::int64_t set_bytes = placed((loads * stride + offset) * number_bytes);
  const DeviceMemory from = patterned(session, request.copies * set_bytes);
  const std::int64_t blocks = loads / loads_per_block;
  const DeviceMemory sums{blocks * number_bytes};
  const Enqueue one = [&](std::int64_t i, cudaStream_t stream) {
    const auto* set = static_cast<const float*>(from.at(i % request.copies * set_bytes)) + offset;
    check(strided_loads(static_cast<float*>(sums.at()), set, loads, stride, stream), "strided loads");
  };
  // Exact: multiples of 1/128 whose sums stay below 2^11.
  verify<float>(session, one, sums, blocks, 0.0, [&](std::int64_t block) {
    double sum = 0.0;
    for (std::int64_t i = block * loads_per_block; i < (block + 1) * loads_per_block; ++i) {
      sum += static_cast<double>(pattern_at(offset + (i * stride)));
    }
    return sum;
  });
  return replayed_spans(session.stream, request, one);
}

/// random: sets of places in one array, used in turn.
Result measure_random(const Session& session, const Request& request) {
  constexpr std::int64_t mebi = std::int64_t{1} << 20;
  constexpr std::int64_t most_mebi = 8192;  // 2^31 places
  require(is_power_of_two(request.width) && request.width <= most_mebi,
          "an array of random places needs a power of two of MiB, at most 8192");
  const std::int64_t loads = request.count;
  const std::int64_t places = request.width * mebi / number_bytes;
  require(loads > 0 && loads % loads_per_block == 0, "loads must be a positive multiple of 2048");
  require(request.copies > 0 && request.copies <= places / loads, "an array has fewer places than its sets of loads");
  const DeviceMemory from = patterned(session, places * number_bytes);
  const std::int64_t blocks = loads / loads_per_block;
  const DeviceMemory sums{blocks * number_bytes};
  const Enqueue one = [&](std::int64_t i, cudaStream_t stream) {
    check(random_loads(static_cast<float*>(sums.at()), static_cast<const float*>(from.at()), i % request.copies * loads,
                       loads, places, stream),
          "random loads");
  };
  verify<float>(session, one, sums, blocks, 0.0, [&](std::int64_t block) {
    double sum = 0.0;
    for (std::int64_t i = block * loads_per_block; i < (block + 1) * loads_per_block; ++i) {
      sum += static_cast<double>(pattern_at(random_place(i, places)));
    }
    return sum;
  });
  return replayed_spans(session.stream, request, one);
}

Result measure_banks(const Session& session, const Request& request) {
  const std::int64_t stride = request.width;
  require(stride > 0 && stride <= most_bank_stride, "a stride over banks must be 1 to 64 words");
  require(request.count > 0 && request.count % bank_turn == 0, "loads must be a positive multiple of 32");
  const std::int64_t blocks = sms_of(session) * unit_blocks_per_sm;
  const std::int64_t threads = blocks * unit_block_threads;
  const DeviceMemory totals{threads * number_bytes};
  const Enqueue one = [&](std::int64_t /*i*/, cudaStream_t stream) {
    check(bank_loads(static_cast<std::uint32_t*>(totals.at()), stride, request.count, blocks, stream), "bank loads");
  };
  verify<std::uint32_t>(session, one, totals, threads, 0.0, [&](std::int64_t thread) {
    std::uint32_t turn = 0;
    for (std::int64_t i = 0; i < bank_turn; ++i) {
      turn += bank_word((thread % lanes * stride) + i);
    }
    return turn * static_cast<std::uint32_t>(request.count / bank_turn);
  });
  return replayed_spans(session.stream, request, one);
}

Result measure_diverge(const Session& session, const Request& request) {
  require(request.width > 0 && request.width <= lanes, "a warp has 1 to 32 paths");
  require(request.count > 0 && request.count % path_turn == 0, "steps must be a positive multiple of 16");
  const std::int64_t blocks = sms_of(session) * unit_blocks_per_sm;
  const std::int64_t threads = blocks * unit_block_threads;
  const DeviceMemory ends{threads * number_bytes};
  const Enqueue one = [&](std::int64_t /*i*/, cudaStream_t stream) {
    check(diverging_paths(static_cast<float*>(ends.at()), request.width, request.count, blocks, stream),
          "diverging paths");
  };
  verify<float>(session, one, ends, threads, 0.0, [&](std::int64_t thread) {
    const std::int64_t path = thread % lanes % request.width;
    float x = 0.0F;
    for (std::int64_t step = 0; step < request.count; ++step) {
      x = std::fma(x, path_factor(path), path_term(path));
    }
    return x;
  });
  return replayed_spans(session.stream, request, one);
}

Result measure_occupancy(const Session& session, const Request& request) {
  require(request.width >= 0, "CTAs an SM must be counted from 1");
  require(request.count > 0 && request.copies > 0, "words and arrays must be counted from 1");
  std::int64_t shared = 0;
  std::int64_t reached = 0;
  check(shared_bytes_for(request.width, &shared, &reached), "occupancy");
  if (reached <= 0 || (request.width > 0 && reached != request.width)) {
    throw Refused{"this device holds " + std::to_string(reached) + " CTAs an SM of " +
                  std::to_string(unit_small_block_threads) + " threads with " + std::to_string(shared) +
                  " bytes of shared memory"};
  }
  const std::int64_t words = request.count;
  const std::int64_t set_bytes = placed(words * word_bytes);
  const DeviceMemory from = patterned(session, request.copies * set_bytes);
  const std::int64_t blocks = sms_of(session) * reached;
  const DeviceMemory sums{blocks * number_bytes};
  const Enqueue one = [&](std::int64_t i, cudaStream_t stream) {
    check(limited_read(static_cast<float*>(sums.at()), from.at(i % request.copies * set_bytes), words, blocks, shared,
                       stream),
          "limited read");
  };
  constexpr std::int64_t word_numbers = word_bytes / number_bytes;
  // Rounding of fp32 sums of numbers below 1.
  const double tolerance = 1e-5 * static_cast<double>(word_numbers * (words / blocks + unit_small_block_threads));
  verify<float>(session, one, sums, blocks, tolerance, [&](std::int64_t block) {
    double sum = 0.0;
    for (std::int64_t row = block * unit_small_block_threads; row < words; row += blocks * unit_small_block_threads) {
      const std::int64_t end = std::min(row + unit_small_block_threads, words);
      for (std::int64_t i = row * word_numbers; i < end * word_numbers; ++i) {
        sum += static_cast<double>(pattern_at(i));
      }
    }
    return sum;
  });
  return replayed_spans(session.stream, request, one);
}

/// Each sync is checked in a short launch of its own; the latency is that of one sync of a long launch.
Result measure_grid_sync(const Session& session, const Request& request) {
  int able = 0;
  check(cudaDeviceGetAttribute(&able, cudaDevAttrCooperativeLaunch, session.device), "cudaDeviceGetAttribute");
  require(able != 0, "this device launches no cooperative grids");
  require(request.width > 0 && request.count > 0, "CTAs an SM and syncs must be counted from 1");
  const std::int64_t blocks = sms_of(session) * request.width;
  const DeviceMemory slots{blocks * number_bytes};
  const DeviceMemory wrong{number_bytes};
  check(cudaMemset(slots.at(), 0, static_cast<std::size_t>(blocks * number_bytes)), "cudaMemset");
  check(cudaMemset(wrong.at(), 0, number_bytes), "cudaMemset");
  const auto launch = [&](std::int64_t syncs, bool checked, cudaStream_t stream) {
    check(grid_syncs(static_cast<std::uint32_t*>(slots.at()), static_cast<std::uint32_t*>(wrong.at()), syncs, checked,
                     blocks, stream),
          "cooperative launch");
  };
  constexpr std::int64_t checked_syncs = 32;
  check(cudaDeviceSynchronize(), "cudaMemset");
  launch(checked_syncs, true, session.stream.get());
  session.stream.wait();
  require(number_at<std::uint32_t>(wrong, 0) == 0, "a CTA passed a sync before all had come to it");
  require(number_at<std::uint32_t>(slots, blocks - 1) == checked_syncs, "the grid left out a sync");
  Result result = replayed_or_streamed_spans(
      session.stream, request, [&](std::int64_t /*i*/, cudaStream_t stream) { launch(request.count, false, stream); });
  const auto syncs = static_cast<double>(request.count);
  for (double* seconds : {&result.latency_seconds, &result.fastest_seconds, &result.slowest_seconds}) {
    *seconds /= syncs;
  }
  for (double& seconds : result.told_seconds) {
    seconds /= syncs;
  }
  return result;
}

Result measure_atomics(const Session& session, const Request& request) {
  constexpr std::int64_t most_addresses = std::int64_t{1} << 30;
  require(is_power_of_two(request.width) && request.width <= most_addresses,
          "addresses of atomics must be a power of two");
  require(request.count > 0, "updates must be counted from 1");
  const std::int64_t blocks = sms_of(session) * unit_blocks_per_sm;
  const DeviceMemory counters{request.width * number_bytes};
  check(cudaMemset(counters.at(), 0, static_cast<std::size_t>(request.width * number_bytes)), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaMemset");
  const Enqueue one = [&](std::int64_t /*i*/, cudaStream_t stream) {
    check(atomic_adds(static_cast<std::uint32_t*>(counters.at()), request.width, request.count, blocks, stream),
          "atomics");
  };
  const std::int64_t updates = blocks * unit_block_threads * request.count;
  require(updates < std::int64_t{1} << 32, "too many updates for a counter of 32 bits");
  verify<std::uint32_t>(session, one, counters, request.width, 0.0, [&](std::int64_t address) {
    return updates / request.width + (address < updates % request.width ? 1 : 0);
  });
  return replayed_spans(session.stream, request, one);
}

}  // namespace

Result measure_unit(const Session& session, const Request& request) {
  constexpr std::int64_t most_stride = 4096;
  switch (UnitOp{request.variant}) {
    case UnitOp::stride:
      require(request.width > 0 && request.width <= most_stride, "a stride must be 1 to 4096 elements");
      return measure_strided(session, request, request.width, 0);
    case UnitOp::offset:
      require(request.width > 0 && request.width <= most_stride, "an offset must be 1 to 4096 elements");
      return measure_strided(session, request, 1, request.width);
    case UnitOp::random: return measure_random(session, request);
    case UnitOp::banks: return measure_banks(session, request);
    case UnitOp::diverge: return measure_diverge(session, request);
    case UnitOp::occupancy: return measure_occupancy(session, request);
    case UnitOp::grid_sync: return measure_grid_sync(session, request);
    case UnitOp::atomics: return measure_atomics(session, request);
  }
  throw Refused{"unknown habit of a unit"};
}

}  // namespace headroom::probes
