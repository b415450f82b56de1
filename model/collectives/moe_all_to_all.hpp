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

/// One call, as one rank sees it.
struct MoeExchange {
  double hidden = 0.0;   ///< elements of a token
  double tokens = 0.0;   ///< tokens of this rank
  double topk = 1.0;     ///< experts of a token
  double experts = 1.0;  ///< experts of all ranks
  double sms = 0.0;      ///< SMs given to communication; 0: all of the device
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
  net_share,  ///< share of the NICs' rate
  wide,       ///< exponent with which the NICs' rate falls with the nodes above four
  count
};
inline constexpr std::size_t moe_exchange_parameter_count = static_cast<std::size_t>(MoeExchangeParameter::count);
using MoeExchangeCurve = std::array<double, moe_exchange_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, moe_exchange_parameter_count>& moe_exchange_parameters() noexcept;

/// Expected number of ranks that a token with `topk` experts, drawn evenly, is sent to: r (1 - (1 - 1/r)^topk).
[[nodiscard]] double ranks_reached(double ranks, double topk) noexcept;

class MoeExchangeModel {
 public:
  /// `units`: streaming multiprocessors of the device.
  MoeExchangeModel(const MoeExchangeCurve& curve, const MoeTransport& transport, double units) noexcept
      : curve_{curve}, transport_{transport}, units_{units} {}

  /// Time for t tokens of h elements of b bytes on n ranks in k nodes:
  /// @code
  /// T       = launch + hop log2(nodes, or ranks of one domain) + expert E + token t + norm4(link, workers, network)
  /// link    = t r h b (n-1)/n / (share inside)
  /// workers = t r h b / (w worker inside / 100)
  /// network = t R h b (k-1)/k / (net_share outside) max(1, k/4)^wide
  /// r = ranks_reached(n), R = ranks_reached(k); top-k where each expert gets its own copy (then without ^wide)
  /// w = SMs given to communication, or one group of warps per expert, at most the SMs
  /// @endcode
  /// (DeepSeek-AI 2025, DeepEP: dispatch over the network once per node, then over NVLink; its low-latency kernels send
  /// one message per expert.)
  [[nodiscard]] Seconds time(const MoeExchange& exchange, const GroupView& view) const noexcept;
  /// Bytes that this rank sends to others.
  [[nodiscard]] Bytes sent(const MoeExchange& exchange, const GroupView& view) const noexcept;

 private:
  MoeExchangeCurve curve_;
  MoeTransport transport_;
  double units_;
};

}  // namespace headroom
