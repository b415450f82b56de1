// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/memory_ops.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

// Priors: medians over the quantise passes of eight measured SKUs and three engines.
constexpr std::array<CurveParameter, memory_parameter_count> parameter_table{{
    {"launch", CurveUnit::seconds, 2e-6, 0.0, 5e-8, 1e-3},
    {"bandwidth", CurveUnit::share, 0.8, 0.0, 0.02, 1.0},
    {"unit_rate", CurveUnit::share, 3.0, 0.5, 1.0, 50.0},
    {"block", CurveUnit::seconds, 1e-7, 1.0, 1e-10, 1e-4},
    {"residency", CurveUnit::share, 0.6, 0.5, 0.01, 3.0},
    {"residency_gain", CurveUnit::share, 4.0, 0.5, 1.0, 20.0},
}};

/// Bytes that a CTA of a flat grid moves: 256 threads of 16 bytes.
constexpr double flat_block = 4096.0;
constexpr double sector = 32.0;
constexpr double index_bytes = 8.0;
constexpr double scale_bytes = 4.0;

}  // namespace

MemoryOp elementwise(double elements, double inputs, double bytes) noexcept {
  return {Bytes{elements * inputs * bytes}, Bytes{elements * bytes}, 0.0};
}

MemoryOp norm(double rows, double width, double bytes, double weights) noexcept {
  return {Bytes{(rows + weights) * width * bytes}, Bytes{rows * width * bytes}, rows};
}

MemoryOp softmax_cross_entropy(double rows, double vocab, double bytes, bool gradient) noexcept {
  const double logits = rows * vocab * bytes;
  const double losses = rows * scale_bytes;
  return {Bytes{logits * (gradient ? 2.0 : 1.0) + rows * index_bytes}, Bytes{losses + (gradient ? logits : 0.0)}, rows};
}

MemoryOp gather(double rows, double width, double bytes) noexcept {
  const double fetched = std::ceil(width * bytes / sector) * sector;
  return {Bytes{rows * (fetched + index_bytes)}, Bytes{rows * width * bytes}, 0.0};
}

MemoryOp reduction(double rows, double width, double bytes) noexcept {
  return {Bytes{rows * width * bytes}, Bytes{rows * bytes}, rows};
}

MemoryOp quantise(double rows, double width, double from, double to, double block) noexcept {
  const double scales = block > 0.0 ? rows * std::ceil(width / block) * scale_bytes : scale_bytes;
  return {Bytes{rows * width * from}, Bytes{rows * width * to + scales}, 0.0};
}

MemoryOp scan_for_scale(double rows, double width, double bytes) noexcept {
  return {Bytes{rows * width * bytes}, Bytes{rows * scale_bytes}, 0.0};
}

MemoryOp optimizer_pass(double parameters, const UpdateBytes& b) noexcept {
  const double kept = b.master > 0.0 ? b.master : b.weight;
  const double written = b.moments + b.weight + b.master;
  return {Bytes{parameters * (b.gradient + b.moments + kept)}, Bytes{parameters * written}, 0.0};
}

MemoryOp fused(std::span<const MemoryOp> chain) noexcept {
  MemoryOp whole;
  Bytes carried{};
  for (const MemoryOp& op : chain) {
    whole.read += std::max(Bytes{}, op.read - carried);
    whole.written = op.written;
    whole.rows = std::max(whole.rows, op.rows);
    carried = op.written;
  }
  return whole;
}

Bytes moved(std::span<const MemoryOp> chain) noexcept {
  Bytes sum{};
  for (const MemoryOp& op : chain) {
    sum += op.moved();
  }
  return sum;
}

const std::array<CurveParameter, memory_parameter_count>& memory_parameters() noexcept {
  return parameter_table;
}

MemoryModel::MemoryModel(const MemoryCurve& curve, const KernelDevice& device, Residency residency) noexcept
    : curve_{curve},
      units_{device.units},
      byte_time_{1.0 / (value(MemoryParameter::bandwidth) * device.bandwidth.raw())},
      unit_byte_time_{1.0 / (value(MemoryParameter::unit_rate) * device.bandwidth.raw())},
      resident_{residency == Residency::benchmark ? value(MemoryParameter::residency) * device.l2.raw() : 0.0} {}

MemoryTime MemoryModel::explain(const MemoryOp& op) const noexcept {
  const double bytes = op.moved().raw();
  double stream = bytes * byte_time_;
  if (resident_ > 0.0) {
    const double fill = bytes / resident_;
    const double hit = std::exp(-fill * fill);
    stream *= 1.0 - hit + hit / value(MemoryParameter::residency_gain);
  }
  const double ctas = op.rows > 0.0 ? op.rows : std::ceil(bytes / flat_block);
  const double ramp = ctas > 0.0 ? bytes * unit_byte_time_ * units_ / std::min(ctas, units_) : 0.0;
  const double blocks = op.rows * value(MemoryParameter::block) / units_;
  const double work = std::cbrt(stream * stream * stream + ramp * ramp * ramp + blocks * blocks * blocks);
  const double launch = value(MemoryParameter::launch);
  MemoryTime t{Seconds{launch + work}, Seconds{launch}, Seconds{stream}, Seconds{ramp}, Seconds{blocks}};
  const double most = std::max({launch, stream, ramp, blocks});
  t.bound = most == launch   ? MemoryBound::launch
            : most == stream ? MemoryBound::memory
            : most == ramp   ? MemoryBound::parallelism
                             : MemoryBound::blocks;
  return t;
}

}  // namespace headroom
