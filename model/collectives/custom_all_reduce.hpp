// SPDX-License-Identifier: Apache-2.0
// All-reduce kernels that inference engines launch inside their graphs: ranks read each other's buffers directly.
#pragma once

#include <headroom/model/collectives/collective_time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom {

enum class CustomParameter : std::uint8_t {
  launch,
  hop,         ///< flags of one other rank
  one_shot,    ///< of the ring's rate: every rank reads all buffers
  two_shot,    ///< of the ring's rate: reduce-scatter, then all-gather
  barrier,     ///< between the two
  limit,       ///< buffer of two ranks from which the engine leaves it to NCCL
  limit_fall,  ///< by which the limit shrinks when the ranks double
  library_2,   ///< NCCL's time as the engine calls it, over the fitted one: by ranks
  library_4,
  library_8,
  host,      ///< shortest time of a call outside a graph, by two ranks
  host_hop,  ///< what it grows by when the ranks double
  count
};
inline constexpr std::size_t custom_parameter_count = static_cast<std::size_t>(CustomParameter::count);
using CustomCurve = std::array<double, custom_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, custom_parameter_count>& custom_parameters() noexcept;

/// T below the limit = launch + (n-1) hop + min( (n-1) S / (one_shot e link), barrier + 2(n-1)/n S / (two_shot e link)
/// ), one shot alone for two ranks, whose second shot saves nothing (TensorRT-LLM and vLLM, custom all-reduce kernels:
/// one-shot and two-shot); from the limit on NCCL's time. e is the ring's share of the link at n ranks. A call outside
/// a graph takes at least host + host_hop log2(n/2), into which the kernel's time disappears until it is longer.
class CustomAllReduceModel {
 public:
  CustomAllReduceModel(const CustomCurve& curve, const CollectiveCurves& library, bool eager) noexcept
      : curve_{curve}, library_{library}, eager_{eager} {}

  [[nodiscard]] Seconds time(Bytes bytes, const GroupView& view) const noexcept;
  /// With NCCL's time known already: what a fit asks thousands of times.
  [[nodiscard]] Seconds time(Bytes bytes, const GroupView& view, Seconds library) const noexcept;

 private:
  CustomCurve curve_;
  CollectiveCurves library_;
  bool eager_;
};

}  // namespace headroom
