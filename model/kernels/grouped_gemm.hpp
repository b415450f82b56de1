// SPDX-License-Identifier: Apache-2.0
// The time of a fused mixture-of-experts layer on one rank: two grouped products over the experts that it holds.
#pragma once

#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/tile_menu.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// One layer as the ranks share it. `tokens` are all tokens of the expert group; the rank processes those routed to the
/// experts / ep experts that it holds, each of them inter / tp wide.
struct MoeShape {
  double tokens = 1.0;
  double hidden = 1.0;
  double inter = 1.0;  ///< width of one expert, before tp
  double topk = 1.0;
  double experts = 1.0;
  double tp = 1.0;
  double ep = 1.0;
  bool gated = true;  ///< the first product has 2 x inter columns

  [[nodiscard]] double held() const noexcept { return experts > ep ? experts / ep : 1.0; }
};

/// How tokens choose experts.
enum class Routing : std::uint8_t {
  balanced,   ///< every expert has the same load, over as many experts as the tokens allow
  uniform,    ///< random with equal probabilities; with few tokens some experts are idle
  power_law,  ///< loads x with density x^-alpha, experts on ranks at random, the hottest rank
};
struct MoeRouting {
  Routing kind = Routing::balanced;
  double alpha = 0.0;
};
/// Parses "balanced", "uniform" or "power_law_1.2"; nullopt for any other text.
[[nodiscard]] std::optional<MoeRouting> parse_routing(std::string_view text) noexcept;

/// Rows that each expert of one rank receives, as classes of experts with equal load. Means over random routings, so
/// that neither rows nor experts need be whole numbers.
struct ExpertLoad {
  static constexpr std::size_t most_classes = 32;
  struct Class {
    double rows = 0.0;  ///< rows of each expert of the class
    double experts = 0.0;
  };
  std::array<Class, most_classes> classes{};
  std::size_t count = 0;
  double rows = 0.0;    ///< rows of the rank
  double active = 0.0;  ///< experts with at least one row

  /// Number of tiles of `height` rows that cover all experts, each expert padded separately.
  [[nodiscard]] double tiles(double height) const noexcept;
};

/// The load of the rank that the others wait for. With balanced or uniform routing that is any rank, with at least one
/// row. With a power law, expert loads between 1 and 0.8 x tokens (0.01 and 2 if there are fewer rows than experts)
/// have density x^-alpha, scaled to the number of rows, at most one row per token each, as in the benchmark behind the
/// measured curves. The hottest of ep ranks is the Blom (1958) quantile of a gamma distribution with the mean and
/// variance of the sum of experts / ep loads (Wilson and Hilferty 1931).
[[nodiscard]] ExpertLoad expert_load(const MoeShape& shape, const MoeRouting& routing) noexcept;

enum class MoeParameter : std::uint8_t {
  compute,         ///< share of the dense peak that a full wave of large tiles sustains
  bandwidth,       ///< share of the memory's bandwidth
  launch,          ///< time of the layer's kernels inside a graph: routing, sort, permute, products, unpermute
  chain,           ///< an SM's shortest time per K element at two bytes
  fill,            ///< pipeline prologue and epilogue, in K elements
  l2_rate,         ///< L2-to-SM bandwidth over memory bandwidth
  passes,          ///< traffic of permute, activation, quantise and unpermute over reading and writing once
  expert,          ///< time per active expert: its entry in the problem lists of the grouped products
  routing,         ///< time per token and expert: top-k and sort
  residency,       ///< share of L2 that holds a benchmark's operands
  residency_gain,  ///< bandwidth of operands found in L2 over memory bandwidth
  count
};
inline constexpr std::size_t moe_parameter_count = static_cast<std::size_t>(MoeParameter::count);
using MoeCurve = std::array<double, moe_parameter_count>;

/// Names, units, bounds and priors, in enum order. Parameters that GEMM also has keep its priors.
[[nodiscard]] const std::array<CurveParameter, moe_parameter_count>& moe_parameters() noexcept;

/// The parts of one layer's time, for explanations; they sum to the total.
struct MoeTime {
  Seconds total{};
  Seconds launch{};
  Seconds up{};       ///< first grouped product
  Seconds down{};     ///< second grouped product
  Seconds passes{};   ///< permute, activation, quantise, unpermute
  Seconds experts{};  ///< time per active expert, summed
  Seconds routing{};
  Bytes weights{};  ///< bytes of the active experts' weights
  /// Share of the operands found in L2; 0 outside a benchmark.
  double hit = 0.0;
};

/// One curve on one device for one format. The constructor precomputes everything that does not depend on the shape.
class MoeModel {
 public:
  MoeModel(const MoeCurve& curve,
           const KernelDevice& device,
           const GemmFormat& format,
           Residency residency = Residency::memory) noexcept;

  /// Time of a layer with R rows on A active experts. P is the peak, B the memory bandwidth; a, b, c are the bytes of
  /// an element of activation, weight and output:
  /// @code
  /// T      = launch + routing tokens experts + expert A + passes V / (bandwidth B)
  ///          + sum over both products of norm3(loop, memory)
  /// loop   = min over tiles of (k + fill) norm4(w u_compute, w u_l2, chain b / 2)
  /// w      = turns of x = (tiles of all experts) ceil(n / tn) / SM at the wave weight of GEMM
  /// memory = (A n k b + R k a + R n c) / (bandwidth B)
  /// V      = R h (2 + a) + R h 2 + tokens h 2, plus R inter (2 + a) if activations are quantised
  /// @endcode
  /// The products have n = 2 inter / tp (1 x without gate), k = hidden, then n = hidden, k = inter / tp. Tiles are
  /// priced as in gemm.hpp, with those of all experts in one grid and no split K. The latency of the K chain counts
  /// once, because a persistent grid loads its next tile while it computes one.
  [[nodiscard]] Seconds time(const MoeShape& shape, const ExpertLoad& load) const noexcept;
  [[nodiscard]] Seconds time(const MoeShape& shape, const MoeRouting& routing = {}) const noexcept {
    return time(shape, expert_load(shape, routing));
  }
  [[nodiscard]] MoeTime explain(const MoeShape& shape, const ExpertLoad& load) const noexcept;

 private:
  struct Tile {
    double inverse_n = 0.0;
    double compute4 = 0.0;   ///< fourth power of the seconds per K element
    double l2 = 0.0;         ///< seconds per K element and CTA
    std::size_t height = 0;  ///< index into `heights`
  };
  /// One product over all experts: columns, depth, and seconds of its memory traffic.
  struct Product {
    double n = 0.0;
    double k = 0.0;
    double memory = 0.0;
  };
  static constexpr std::array<double, 4> heights{16.0, 64.0, 128.0, 256.0};
  using Grid = std::array<double, heights.size()>;

  [[nodiscard]] double product(const Product& p, const Grid& tiles) const noexcept;
  [[nodiscard]] double value(MoeParameter p) const noexcept { return curve_[static_cast<std::size_t>(p)]; }

  MoeCurve curve_;
  GemmFormat format_;
  std::array<Tile, tile_menu.size()> tiles_;
  double units_ = 1.0;
  double byte_time_ = 0.0;  ///< time of one byte at the sustained bandwidth, s
  double chain4_ = 0.0;     ///< fourth power of the chain time per K element
  double resident_ = 0.0;   ///< bytes of L2 that a benchmark fills; 0: off
};

}  // namespace headroom
