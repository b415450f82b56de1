// SPDX-License-Identifier: Apache-2.0
// All-reduce kernels that inference engines launch inside their graphs; the ranks read each other's buffers directly.
#pragma once

#include <headroom/model/collectives/collective_time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom {

enum class CustomParameter : std::uint8_t {
  launch,
  hop,         ///< time of the flags of one other rank
  one_shot,    ///< rate over the ring's, if every rank reads all buffers
  two_shot,    ///< rate over the ring's, as reduce-scatter, then all-gather
  barrier,     ///< time of the barrier between the two
  limit,       ///< bytes from which the engine uses NCCL, for two ranks
  limit_fall,  ///< factor by which the limit shrinks when the ranks double
  library_2,   ///< NCCL's time as called by the engine over the fitted one, for N ranks
  library_4,
  library_8,
  host,      ///< shortest time of a call outside a graph, for two ranks
  host_hop,  ///< increase of `host` when the ranks double
  count
};
inline constexpr std::size_t custom_parameter_count = static_cast<std::size_t>(CustomParameter::count);
using CustomCurve = std::array<double, custom_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, custom_parameter_count>& custom_parameters() noexcept;

/// Time of a buffer of S bytes on n ranks, with e the ring's share of the link at n ranks:
/// @code
/// below the limit  launch + (n-1) hop + min((n-1) S / (one_shot e link), barrier + 2(n-1)/n S / (two_shot e link))
/// from the limit   NCCL's time x library_n
/// @endcode
/// Two ranks always use one shot, since a second shot saves nothing (TensorRT-LLM and vLLM, custom all-reduce kernels).
/// A call outside a graph takes at least host + host_hop log2(n/2), which hides the kernel's time until that is longer.
class CustomAllReduceModel {
 public:
  CustomAllReduceModel(const CustomCurve& curve, const CollectiveCurves& library, bool eager) noexcept
      : curve_{curve}, library_{library}, eager_{eager} {}

  [[nodiscard]] Seconds time(Bytes bytes, const GroupView& view) const noexcept;
  /// With NCCL's time given, for fits that evaluate one buffer thousands of times.
  [[nodiscard]] Seconds time(Bytes bytes, const GroupView& view, Seconds library) const noexcept;

 private:
  CustomCurve curve_;
  CollectiveCurves library_;
  bool eager_;
};

}  // namespace headroom
