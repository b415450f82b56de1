// SPDX-License-Identifier: Apache-2.0
// Bandwidth of device memory by size: the driver's copy, a copy kernel, STREAM's triad (McCalpin 1995).
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>

namespace headroom::probes {
namespace {

enum class Op : std::int32_t { memcpy, copy, triad };  // NOLINT(performance-enum-size): Request::variant

/// Contiguous sets of arrays, used in turn.
struct Arrays {
  DeviceMemory memory;
  std::int64_t bytes;     ///< bytes of one array
  std::int64_t of_a_set;  ///< arrays per set
  std::int64_t copies;

  [[nodiscard]] void* at(std::int64_t turn, std::int64_t array) const {
    return memory.at((((turn % copies) * of_a_set) + array) * bytes);
  }
};

void enqueue(Op op, const Arrays& arrays, std::int64_t i, cudaStream_t stream) {
  const std::int64_t bytes = arrays.bytes;
  switch (op) {
    case Op::memcpy:
      check(cudaMemcpyAsync(arrays.at(i, 1), arrays.at(i, 0), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice,
                            stream),
            "cudaMemcpyAsync");
      return;
    case Op::copy: check(copy(arrays.at(i, 1), arrays.at(i, 0), bytes, stream), "copy kernel"); return;
    case Op::triad:
      check(triad(arrays.at(i, 2), arrays.at(i, 0), arrays.at(i, 1), bytes, stream), "triad kernel");
      return;
  }
  throw Refused{"unknown copy probe"};
}

}  // namespace

void warm_up(const Session& session) {
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  constexpr double least = 0.3;
  constexpr std::int64_t launches = 100;
  const DeviceMemory from{bytes};
  const DeviceMemory to{bytes};
  const Enqueue one = [&](std::int64_t, cudaStream_t stream) {
    check(copy(to.at(), from.at(), bytes, stream), "copy kernel");
  };
  (void)rough_seconds(session.stream, one);
  const Replay replay{session.stream, launches, one};
  (void)time_sustained(session.stream, replay, least);
}

Result measure_copy(const Session& session, const Request& request) {
  const Op op{request.variant};
  constexpr std::int64_t alignment = 256;
  if (request.array_bytes <= 0 || request.array_bytes % alignment != 0 || request.copies <= 0) {
    throw Refused{"arrays must be a positive multiple of 256 bytes"};
  }
  const std::int64_t of_a_set = op == Op::triad ? 3 : 2;
  const std::int64_t all = request.copies * of_a_set * request.array_bytes;
  const Arrays arrays{DeviceMemory{all}, request.array_bytes, of_a_set, request.copies};
  check(fill_normal(arrays.memory.at(), all / 4, Element::fp32, 1, session.stream.get()), "fill kernel");
  const Enqueue one = [&](std::int64_t i, cudaStream_t stream) { enqueue(op, arrays, i, stream); };
  return replayed_spans(session.stream, request, one);
}

}  // namespace headroom::probes
