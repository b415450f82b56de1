// SPDX-License-Identifier: Apache-2.0
// Memory-bound kernels: their traffic, their time, and what fusing them saves.
#pragma once

#include <headroom/model/kernels/curve.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headroom {

struct MemoryOp {
  Bytes read{};
  Bytes written{};
  double rows = 0.0;  ///< rows of a kernel with one CTA per row; 0: a flat grid over the elements

  [[nodiscard]] constexpr Bytes moved() const noexcept { return read + written; }
};

/// Reads `inputs` operands and writes one, of `elements` elements of `bytes` bytes.
[[nodiscard]] MemoryOp elementwise(double elements, double inputs, double bytes) noexcept;
/// LayerNorm or RMSNorm: reads and writes the rows and reads `weights` vectors of one row's width.
[[nodiscard]] MemoryOp norm(double rows, double width, double bytes, double weights = 1.0) noexcept;
/// Cross-entropy of logits in one online pass (Milakov and Gimelshein 2018); a second, in-place pass for its gradient.
[[nodiscard]] MemoryOp softmax_cross_entropy(double rows, double vocab, double bytes, bool gradient) noexcept;
/// Rows of a table selected by 8-byte indices, as in an embedding lookup. A row is read in whole 32-byte sectors (CUDA
/// C++ Programming Guide, device memory accesses).
[[nodiscard]] MemoryOp gather(double rows, double width, double bytes) noexcept;
/// Reduces every row to one number.
[[nodiscard]] MemoryOp reduction(double rows, double width, double bytes) noexcept;
/// Casts to another width with a 4-byte scale per `block` elements; block 0: one scale for all.
[[nodiscard]] MemoryOp quantise(double rows, double width, double from, double to, double block = 0.0) noexcept;
/// Finds the largest magnitude of each row, before quantise().
[[nodiscard]] MemoryOp scan_for_scale(double rows, double width, double bytes) noexcept;

/// Bytes of one parameter that an update touches. Moments are those of moment_bytes(Optimizer): 8 for Adam.
struct UpdateBytes {
  double moments = 8.0;
  double gradient = 4.0;
  double weight = 2.0;
  double master = 4.0;  ///< 0: no master copy, the weights themselves are updated
};
/// Reads gradient, moments and master (or weight); writes moments, master and weight. 30 bytes per parameter for Adam
/// with 32-bit gradients and 16-bit weights with a master copy.
[[nodiscard]] MemoryOp optimizer_pass(double parameters, const UpdateBytes& bytes) noexcept;

/// A chain of ops, each of which reads the output of its predecessor, as one kernel: intermediate results stay in
/// registers, other inputs are still read. n passes of N elements of b bytes move 2 n N b apart and 2 N b fused.
[[nodiscard]] MemoryOp fused(std::span<const MemoryOp> chain) noexcept;
[[nodiscard]] Bytes moved(std::span<const MemoryOp> chain) noexcept;

enum class MemoryParameter : std::uint8_t {
  launch,          ///< time of one kernel inside a graph
  bandwidth,       ///< share of the memory's bandwidth
  unit_rate,       ///< rate that one SM can reach over its even share of the memory's bandwidth
  block,           ///< time of one CTA of a kernel with one CTA per row
  residency,       ///< share of L2 that holds a benchmark's operands
  residency_gain,  ///< bandwidth of operands found in L2 over memory bandwidth
  count
};
inline constexpr std::size_t memory_parameter_count = static_cast<std::size_t>(MemoryParameter::count);
using MemoryCurve = std::array<double, memory_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, memory_parameter_count>& memory_parameters() noexcept;

enum class MemoryBound : std::uint8_t { launch, memory, parallelism, blocks };
inline constexpr std::array<std::string_view, 4> memory_bound_names{"launch", "memory", "too few CTAs", "CTAs of rows"};

struct MemoryTime {
  Seconds total{};
  Seconds launch{};
  Seconds stream{};  ///< all bytes at the sustained bandwidth
  Seconds ramp{};    ///< all bytes at the rate that the pass's CTAs can reach
  Seconds blocks{};  ///< CTAs of rows, one after another on each SM
  MemoryBound bound = MemoryBound::launch;
};

class MemoryModel {
 public:
  MemoryModel(const MemoryCurve& curve, const KernelDevice& device, Residency residency = Residency::memory) noexcept;

  /// Time of V bytes moved by C CTAs (4 KiB each in a flat grid), with B the memory bandwidth:
  /// @code
  /// T      = launch + cbrt(stream^3 + ramp^3 + blocks^3)
  /// stream = V / (bandwidth B), less what a benchmark finds in L2
  /// ramp   = V / (min(1, C / SM) unit_rate B): too few CTAs to keep bytes in flight on every SM (Little 1961)
  /// blocks = rows block / SM, for kernels with one CTA per row
  /// @endcode
  [[nodiscard]] Seconds time(const MemoryOp& op) const noexcept { return explain(op).total; }
  [[nodiscard]] MemoryTime explain(const MemoryOp& op) const noexcept;

 private:
  [[nodiscard]] double value(MemoryParameter p) const noexcept { return curve_[static_cast<std::size_t>(p)]; }

  MemoryCurve curve_;
  double units_ = 1.0;
  double byte_time_ = 0.0;
  double unit_byte_time_ = 0.0;  ///< time of one byte with all SMs at their own limit, s
  double resident_ = 0.0;
};

}  // namespace headroom
