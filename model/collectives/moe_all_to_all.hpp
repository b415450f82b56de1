// SPDX-License-Identifier: Apache-2.0
// Time of dispatch and combine of experts' tokens: DeepEP's normal and low-latency kernels, TensorRT-LLM's over NVLink.
#pragma once

#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/kernels/curve.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headroom {

/// Groups of equally many experts, of which those of a token lie in `chosen` at most. (DeepSeek-AI 2024, DeepSeek-V3,
/// section 2.1.2, node-limited routing: n_group and topk_group of a config.json.)
struct ExpertGroups {
  std::int64_t all = 0;  ///< 0 or 1: experts are chosen from all
  std::int64_t chosen = 0;
};

/// Where the experts of a group lie.
enum class ExpertPlaces : std::uint8_t {
  contiguous,  ///< in order over the ranks
  balanced,    ///< on any rank of their group's hosts, as a load balancer deals them
};

/// One call, as one rank sees it.
struct MoeExchange {
  double hidden = 0.0;   ///< elements of a token
  double tokens = 0.0;   ///< tokens of this rank
  double topk = 1.0;     ///< experts of a token
  double experts = 1.0;  ///< experts of all ranks
  double sms = 0.0;      ///< SMs given to communication; 0: all of the device
  ExpertGroups groups{};
  ExpertPlaces places = ExpertPlaces::contiguous;
  bool crowded = false;  ///< on the network that the curve was measured on, whose rate fell beyond four nodes
};

/// Which units inside a GPU limit the rate.
enum class MoeWorkers : std::uint8_t { none, sms, experts };

/// A family of kernels, named as its measurements are.
struct MoeTransport {
  std::string_view name;    ///< "deepep_normal_dispatch"
  double element = 2.0;     ///< bytes of an element in transit, with its scales
  bool once_a_rank = true;  ///< a token is sent to a rank once, however many of its experts are there
  MoeWorkers workers = MoeWorkers::none;
  bool rows = true;  ///< moves tokens; false: only their indices
};
[[nodiscard]] std::span<const MoeTransport> moe_transports() noexcept;
/// nullptr if the name is unknown.
[[nodiscard]] const MoeTransport* find_moe_transport(std::string_view name) noexcept;

enum class MoeExchangeParameter : std::uint8_t {
  launch,
  hop,        ///< time per doubling of the nodes, or of the ranks of one NVLink domain
  expert,     ///< time of the counters and flags of one expert
  token,      ///< time to look up the route and read the row of one token of this rank
  share,      ///< share of the link's rate
  worker,     ///< rate of one SM, or one expert's warps, in hundredths of the link's rate
  own,        ///< copies' worth of the workers' time that a token takes however many ranks it reaches
  head,       ///< bytes' worth of the workers' time that a copy takes however wide it is
  pace,       ///< time of one byte of a row that one warp passes on, in steps of a round trip each
  net_share,  ///< share of the NICs' rate
  wide,       ///< exponent with which the rate of the measured network fell with the nodes above four
  count
};
inline constexpr std::size_t moe_exchange_parameter_count = static_cast<std::size_t>(MoeExchangeParameter::count);
using MoeExchangeCurve = std::array<double, moe_exchange_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, moe_exchange_parameter_count>& moe_exchange_parameters() noexcept;

/// Expected number of ranks that a token with `topk` experts, drawn evenly, is sent to: r (1 - (1 - 1/r)^topk).
[[nodiscard]] double ranks_reached(double ranks, double topk) noexcept;

/// The same where a token's experts lie in M of G groups, and the groups lie whole on `parts` parts (hosts) of `each`
/// ranks: n = parts each,
/// @code
/// parts <= G   n (1 - sum over j of P(j) (1 - j / (M each))^topk),   P hypergeometric: j of a part's G / parts groups
///                                                                      are among the M chosen of G
/// parts > G    m (1 - (1 - 1/m)^topk),   m = M parts / G each ranks of the groups chosen
/// @endcode
/// Without groups, and where parts and groups do not divide, ranks_reached(n).
[[nodiscard]] double ranks_reached(std::int64_t parts,
                                   std::int64_t each,
                                   double topk,
                                   const ExpertGroups& groups) noexcept;

/// Of the ranks of `view`, by the groups of the experts and where these lie.
[[nodiscard]] double ranks_reached(const MoeExchange& exchange, const GroupView& view) noexcept;

class MoeExchangeModel {
 public:
  /// `units`: streaming multiprocessors of the device.
  MoeExchangeModel(const MoeExchangeCurve& curve, const MoeTransport& transport, double units) noexcept
      : curve_{curve}, transport_{transport}, units_{units} {}

  /// Time for t tokens of h elements of b bytes on n ranks in k nodes:
  /// @code
  /// T       = launch + hop log2(nodes, or ranks of one domain) + expert E + token t + pace h b
  ///           + norm4(link, workers, network)
  /// link    = t r h b (n-1)/n / (share inside)
  /// workers = t (r + own) (h b + head) / (w worker inside / 100)
  /// network = t R h b (k-1)/k / (net_share outside) max(1, k/4)^wide
  /// r = ranks_reached(n), R = ranks_reached(k), by groups; top-k where each expert gets its own copy
  /// w = SMs given to communication, or one group of warps per expert, at most the SMs
  /// @endcode
  /// (DeepSeek-AI 2025, DeepEP: dispatch over the network once per node, then over NVLink; its low-latency kernels send
  /// one message per expert.) `wide` counts for a `crowded` exchange alone: it is of the one network that the shared
  /// curves were measured on, whose eight nodes reached a third of the NICs' rate. The kernels themselves keep it:
  /// DeepEP's own table has 44 GB/s off the node on 4 and on 8 nodes, pplx-garden's 44 and 45 (docs/collectives.md).
  [[nodiscard]] Seconds time(const MoeExchange& exchange, const GroupView& view) const noexcept;
  /// Bytes that this rank sends to others.
  [[nodiscard]] Bytes sent(const MoeExchange& exchange, const GroupView& view) const noexcept;

 private:
  [[nodiscard]] double copies(const MoeExchange& exchange, const GroupView& view) const noexcept;

  MoeExchangeCurve curve_;
  MoeTransport transport_;
  double units_;
};

}  // namespace headroom
