// SPDX-License-Identifier: Apache-2.0
// Dispatch and combine of experts' tokens: DeepEP's kernels, normal and low-latency, and TensorRT-LLM's over NVLink.
#pragma once

#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/kernels/curve.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headroom {

/// One call, as a rank sees it.
struct MoeExchange {
  double hidden = 0.0;
  double tokens = 0.0;  ///< of this rank
  double topk = 1.0;
  double experts = 1.0;  ///< of all ranks
  double sms = 0.0;      ///< given to communication; 0: the kernel takes what it needs
};

/// Whose work inside a GPU bounds the rate.
enum class MoeWorkers : std::uint8_t { none, sms, experts };

/// A family of kernels, known by the name of its measurements.
struct MoeTransport {
  std::string_view name;    ///< "deepep_normal_dispatch"
  double element = 2.0;     ///< bytes of an element on its way, with its scales
  bool once_a_rank = true;  ///< a token goes to a rank once, however many of its experts live there
  MoeWorkers workers = MoeWorkers::none;
  bool rows = true;  ///< moves tokens; false: their indices alone
};
[[nodiscard]] std::span<const MoeTransport> moe_transports() noexcept;
/// nullptr: not known.
[[nodiscard]] const MoeTransport* find_moe_transport(std::string_view name) noexcept;

enum class MoeExchangeParameter : std::uint8_t {
  launch,
  hop,     ///< when the nodes double, or the ranks of one NVLink domain
  expert,  ///< counters and flags of one expert
  token,   ///< one token of this rank: its route looked up, its row read
  share,   ///< of the link
  worker,  ///< what one SM, or one expert's warps, move: over a hundredth of the link
  net_share,
  wide,  ///< how fast the NICs' rate falls with the nodes above four, as a power
  count
};
inline constexpr std::size_t moe_exchange_parameter_count = static_cast<std::size_t>(MoeExchangeParameter::count);
using MoeExchangeCurve = std::array<double, moe_exchange_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, moe_exchange_parameter_count>& moe_exchange_parameters() noexcept;

/// Ranks that a token with `topk` experts, drawn evenly, goes to: r (1 - (1 - 1/r)^topk).
[[nodiscard]] double ranks_reached(double ranks, double topk) noexcept;

class MoeExchangeModel {
 public:
  /// `units`: streaming multiprocessors of the device.
  MoeExchangeModel(const MoeExchangeCurve& curve, const MoeTransport& transport, double units) noexcept
      : curve_{curve}, transport_{transport}, units_{units} {}

  /// T = launch + hop log2(nodes, or ranks of one domain) + expert E + token t + norm4(link, workers, network)
  ///   link    = t r (n-1)/n h b / (share inside)              r ranks reached, or top-k where each expert gets its
  ///   copy workers = t r h b / (w worker inside / 100)             w SMs given, or one group of warps an expert up to
  ///   the SMs network = t R h b / (net_share outside) max(1, k/4)^wide   R other nodes reached (top-k (k-1)/k where
  ///   not joined)
  /// for t tokens of h elements of b bytes on n ranks of k nodes (DeepSeek-AI 2025, DeepEP: dispatch over the network
  /// to a node once, then over NVLink; its low-latency kernels one message an expert).
  [[nodiscard]] Seconds time(const MoeExchange& exchange, const GroupView& view) const noexcept;
  /// Bytes that this rank sends to others.
  [[nodiscard]] Bytes sent(const MoeExchange& exchange, const GroupView& view) const noexcept;

 private:
  MoeExchangeCurve curve_;
  MoeTransport transport_;
  double units_;
};

}  // namespace headroom
