// SPDX-License-Identifier: Apache-2.0
// The time of a fused mixture-of-experts layer on one rank: two grouped products over the experts it holds.
#pragma once

#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/tile_menu.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// One layer as the ranks share it. All tokens of the expert group come in; the rank works off those routed to the
/// experts / ep experts that it holds, each of them inter / tp wide.
struct MoeShape {
  double tokens = 1.0;
  double hidden = 1.0;
  double inter = 1.0;  ///< of one expert, before tp
  double topk = 1.0;
  double experts = 1.0;
  double tp = 1.0;
  double ep = 1.0;
  bool gated = true;  ///< the first product makes 2 x inter columns

  [[nodiscard]] double held() const noexcept { return experts > ep ? experts / ep : 1.0; }
};

/// How tokens choose experts.
enum class Routing : std::uint8_t {
  balanced,   ///< every expert the same, spread as widely as the tokens allow
  uniform,    ///< at random with equal chances: few tokens leave experts without work
  power_law,  ///< loads x with density x^-alpha, experts on ranks at random, the hottest rank
};
struct MoeRouting {
  Routing kind = Routing::balanced;
  double alpha = 0.0;
};
/// "balanced", "uniform" or "power_law_1.2"; nothing when it is none of them.
[[nodiscard]] std::optional<MoeRouting> parse_routing(std::string_view text) noexcept;

/// Rows that each expert of one rank gets, as classes of experts with the same load; means over random routings, so
/// that neither rows nor experts are whole.
struct ExpertLoad {
  static constexpr std::size_t most_classes = 32;
  struct Class {
    double rows = 0.0;  ///< of each expert
    double experts = 0.0;
  };
  std::array<Class, most_classes> classes{};
  std::size_t count = 0;
  double rows = 0.0;    ///< of the rank
  double active = 0.0;  ///< experts with a row or more

  /// Tiles of `height` rows that cover all experts, each expert padded by itself.
  [[nodiscard]] double tiles(double height) const noexcept;
};

/// The load of the rank that the others wait for. With balanced or uniform routing any rank, with at least one row.
/// Power law: loads of experts between 1 and 0.8 x tokens (0.01 and 2 when there are fewer rows than experts) with
/// density x^-alpha, scaled to the rows there are, at most one row a token each, as the collector of the shared kernels
/// draws them; the hottest of ep ranks is the Blom (1958) quantile of a gamma distribution with the mean and variance
/// of the sum over experts / ep of them (Wilson and Hilferty 1931).
[[nodiscard]] ExpertLoad expert_load(const MoeShape& shape, const MoeRouting& routing) noexcept;

enum class MoeParameter : std::uint8_t {
  compute,         ///< share of the dense peak that a full wave of large tiles sustains
  bandwidth,       ///< share of the memory's bandwidth
  launch,          ///< of the layer's kernels inside a graph: routing, sort, permute, two products, unpermute
  chain,           ///< an SM's shortest time per K element at two bytes
  fill,            ///< pipeline prologue and epilogue, in K elements
  l2_rate,         ///< L2 to SM bandwidth over memory bandwidth
  passes,          ///< traffic of permute, activation, quantise and unpermute, in units of reading and writing once
  expert,          ///< per active expert: its entry in the grouped products' problem lists
  routing,         ///< per token and expert: top-k and sort
  residency,       ///< share of L2 that keeps a benchmark's operands
  residency_gain,  ///< bandwidth of operands found in L2 over memory bandwidth
  count
};
inline constexpr std::size_t moe_parameter_count = static_cast<std::size_t>(MoeParameter::count);
using MoeCurve = std::array<double, moe_parameter_count>;

/// Names, units, bounds and priors, in order. Those shared with GEMM keep its priors.
[[nodiscard]] const std::array<CurveParameter, moe_parameter_count>& moe_parameters() noexcept;

/// The pieces of one layer's time, for explanations; they add up to the total.
struct MoeTime {
  Seconds total{};
  Seconds launch{};
  Seconds up{};       ///< first grouped product
  Seconds down{};     ///< second
  Seconds passes{};   ///< permute, activation, quantise, unpermute
  Seconds experts{};  ///< per active expert
  Seconds routing{};
  Bytes weights{};  ///< of the active experts
  double hit = 0.0;
};

/// One curve on one device for one format. Construction precomputes what no shape changes.
class MoeModel {
 public:
  MoeModel(const MoeCurve& curve,
           const KernelDevice& device,
           const GemmFormat& format,
           Residency residency = Residency::memory) noexcept;

  /// T = launch + routing tokens experts + expert A + passes V / (bandwidth B)
  ///     + sum over both products of norm3(loop, memory)
  ///   loop   = min over tiles of (k + fill) norm4(w u_compute, w u_l2, chain b / 2)
  ///   w      = turns of x = (tiles of all experts) ceil(n / tn) / SM at the wave weight of GEMM
  ///   memory = (A n k b + R k a + R n c) / (bandwidth B)
  ///   V      = R h (2 + a) + R h 2 + tokens h 2, and R inter (2 + a) where activations are quantised
  /// for R rows on A active experts. Products: n = 2 inter / tp (1 x without gate), k = hidden, then n = hidden,
  /// k = inter / tp. The tile physics is GEMM's (gemm.hpp) with the tiles of all experts in one grid; no split K, and
  /// the latency of the K chain counts once, for a persistent grid loads its next tile while it works off one.
  [[nodiscard]] Seconds time(const MoeShape& shape, const ExpertLoad& load) const noexcept;
  [[nodiscard]] Seconds time(const MoeShape& shape, const MoeRouting& routing = {}) const noexcept {
    return time(shape, expert_load(shape, routing));
  }
  [[nodiscard]] MoeTime explain(const MoeShape& shape, const ExpertLoad& load) const noexcept;

 private:
  struct Tile {
    double inverse_n = 0.0;
    double compute4 = 0.0;   ///< fourth powers of times per K element
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
  double byte_time_ = 0.0;  ///< of one byte at the sustained bandwidth
  double chain4_ = 0.0;     ///< fourth power
  double resident_ = 0.0;   ///< bytes of L2 that a benchmark fills; 0: off
};

}  // namespace headroom
