// SPDX-License-Identifier: Apache-2.0
// The time of a matrix product C[m,n] = A[m,k] B[k,n]: tiles over SMs, and a K loop limited by compute, L2 or latency.
#pragma once

#include <headroom/model/kernels/curve.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace headroom {

/// How operands are stored and at which rate they multiply. Sizes are in bytes per element including block scales.
struct GemmFormat {
  std::string_view name;
  Rate rate = Rate::bf16;
  double weight_bytes = 2.0;
  double activation_bytes = 2.0;
  double output_bytes = 2.0;
  bool quantises = false;  ///< the measured kernel includes the cast of 16-bit activations to this format
  int alignment = 8;       ///< m, n and k must be multiples of this for the tensor path without padding
};

/// The format of a name that a measured kernel or a probe may use; nullptr if it is unknown. Aliases such as "bfloat16"
/// are accepted as in the measured files.
[[nodiscard]] const GemmFormat* find_gemm_format(std::string_view name) noexcept;
[[nodiscard]] std::span<const GemmFormat> gemm_formats() noexcept;

struct GemmShape {
  double m = 1.0;  ///< rows of the activations (tokens)
  double n = 1.0;  ///< columns of the weights
  double k = 1.0;  ///< depth
};

enum class GemmParameter : std::uint8_t {
  compute,         ///< share of the dense peak that a full wave of large tiles sustains
  bandwidth,       ///< share of the memory's bandwidth
  launch,          ///< time of one kernel inside a graph
  chain,           ///< an SM's shortest time per K element at two bytes, for any tile
  fill,            ///< pipeline prologue and epilogue, in K elements
  split,           ///< time of the reduction after a split K
  l2_rate,         ///< L2-to-SM bandwidth over memory bandwidth
  wave,            ///< weight (0 to 1) of whole waves against even spreading
  write,           ///< write bandwidth over read bandwidth
  droop,           ///< slow-down of compute when power limits the clock
  droop_time,      ///< loop time at which half of the droop has set in
  residency,       ///< share of L2 that holds a benchmark's operands
  residency_gain,  ///< bandwidth of operands found in L2 over memory bandwidth
  quantise,        ///< passes over the activations before a quantised product, in units of 3 m k bytes
  count
};
inline constexpr std::size_t gemm_parameter_count = static_cast<std::size_t>(GemmParameter::count);
using GemmCurve = std::array<double, gemm_parameter_count>;

/// Names, units, bounds and priors, in enum order. Priors are medians over the measured SKUs, widths their spread.
[[nodiscard]] const std::array<CurveParameter, gemm_parameter_count>& gemm_parameters() noexcept;

enum class GemmBound : std::uint8_t { launch, compute, l2, latency, memory };
inline constexpr std::array<std::string_view, 5> gemm_bound_names{"launch", "compute", "L2 to SM", "latency", "memory"};

struct GemmTime {
  Seconds total{};
  Seconds launch{};
  Seconds quantise{};
  Seconds loop{};    ///< tiles and waves, including droop
  Seconds memory{};  ///< memory traffic alone
  Seconds reduce{};  ///< reduction after a split K
  int tile_m = 0;
  int tile_n = 0;
  int split = 1;
  double waves = 0.0;  ///< CTAs over SMs
  double hit = 0.0;    ///< share of the operands found in L2; 0 outside a benchmark
  GemmBound bound = GemmBound::launch;
};

/// One curve on one device for one format. The constructor precomputes everything that does not depend on the shape.
class GemmModel {
 public:
  /// `copies`: weight matrices that a benchmark rotates through; used only with Residency::benchmark.
  GemmModel(const GemmCurve& curve,
            const KernelDevice& device,
            const GemmFormat& format,
            Residency residency = Residency::memory,
            double copies = 1.0) noexcept;

  /// T = launch + quantise + min over tile and split s of norm3(loop, memory) + reduce. P is the peak, B the memory
  /// bandwidth; a, b, c are the bytes of an element of activation, weight and output:
  /// @code
  /// loop   = w u (k / s + fill) (1 + droop loop / (loop + droop_time))
  /// u      = norm4(2 tm tn SM / (compute P), min(CTAs, SM) (tm a + tn b) / (l2_rate B), chain b / 2)
  /// w      = wave ceil(x) + (1 - wave) x above one wave x = CTAs / SM, else 1
  /// memory = (n k b + m k a + m n c / write) / (bandwidth B), less what a benchmark finds in L2
  /// reduce = split + 4 s m n / (2 bandwidth B) for s > 1
  /// @endcode
  /// L2 traffic of tiles: Hong and Kung 1981, applied to one level. Wave quantisation, the latency-bound K chain, split
  /// K and droop (the power limit on long kernels) are fitted to measured kernels.
  [[nodiscard]] Seconds time(const GemmShape& shape) const noexcept { return evaluate(shape).total; }
  /// Time for operands that are not stored as these matrices, such as those of an implicit product (convolution.hpp):
  /// memory = moved / (bandwidth B), nothing found in L2.
  [[nodiscard]] Seconds time(const GemmShape& shape, Bytes moved) const noexcept;
  [[nodiscard]] GemmTime explain(const GemmShape& shape) const noexcept { return described(evaluate(shape), shape); }
  [[nodiscard]] GemmTime explain(const GemmShape& shape, Bytes moved) const noexcept;

  /// Time of the FLOP alone in full waves, with the clock reduced as in kernels of that length: loop (1 + droop loop /
  /// (loop + droop_time)) with loop = 2 m n k / (compute P).
  [[nodiscard]] Seconds sustained(const GemmShape& shape) const noexcept;
  /// Lower bound without tile search: launch + norm3(2 m n k / (compute P), memory). Never above time().
  [[nodiscard]] Seconds bound(const GemmShape& shape) const noexcept;

 private:
  struct Tile {
    double m = 0.0;
    double n = 0.0;
    double inverse_m = 0.0;
    double inverse_n = 0.0;
    double compute4 = 0.0;  ///< fourth power of the seconds per K element
    double l2 = 0.0;        ///< seconds per K element and CTA
  };
  struct Found {
    Seconds total{};
    double loop = 0.0;
    double memory = 0.0;
    double reduce = 0.0;
    double hit = 0.0;
    const Tile* tile = nullptr;
    int split = 1;
    double waves = 0.0;
  };
  [[nodiscard]] Found evaluate(const GemmShape& shape) const noexcept;
  [[nodiscard]] Found search(const GemmShape& shape, double memory) const noexcept;
  [[nodiscard]] GemmTime described(const Found& found, const GemmShape& shape) const noexcept;
  [[nodiscard]] double memory_time(const GemmShape& shape, double& hit) const noexcept;
  /// The fourth power of w u (depth + fill), s^4.
  [[nodiscard]] double loop4_of(const Tile& tile, double ctas, double depth) const noexcept;
  [[nodiscard]] double drooped(double loop) const noexcept;
  [[nodiscard]] double quantise_time(const GemmShape& shape) const noexcept;
  [[nodiscard]] double value(GemmParameter p) const noexcept { return curve_[static_cast<std::size_t>(p)]; }

  static constexpr std::size_t tile_count = 8;
  GemmCurve curve_;
  GemmFormat format_;
  std::array<Tile, tile_count> tiles_;
  double units_ = 1.0;
  double flop_time_ = 0.0;  ///< time of one FLOP at the sustained rate, s
  double inverse_write_ = 1.0;
  double byte_time_ = 0.0;  ///< time of one byte at the sustained bandwidth, s
  double chain4_ = 0.0;     ///< fourth power of the chain time per K element
  double resident_ = 0.0;   ///< bytes of L2 that a benchmark fills; 0: off
  double copies_ = 1.0;
};

}  // namespace headroom
