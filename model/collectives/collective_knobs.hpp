// SPDX-License-Identifier: Apache-2.0
// Settings of NCCL and of the network that change how a collective moves its bytes and that no sweep measures: priced
// from what they move, with the interval as wide as that leaves it.
#pragma once

#include <headroom/model/collectives/collective_time.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct CollectiveKnobs {
  bool registered = false;  ///< user buffers are registered (ncclCommRegister, symmetric windows)
  bool sharp = false;       ///< switches of the network reduce (CollNet)
  /// Sends to other hosts go through the GPU on the receiver's rail (NCCL_P2P_PXN_LEVEL); nullopt: not said.
  std::optional<bool> pxn;
  [[nodiscard]] bool any() const noexcept { return registered || sharp || pxn.has_value(); }
};

struct KnobbedTime {
  CollectiveTime time;
  Seconds low{}, high{};
  Seconds links{};                 ///< the bytes alone, at the links' rates
  std::vector<std::string> notes;  ///< what each knob changes and what of it is not measured
};
/// The time with the knobs; `p90` is the quantile of the plain time's error. n ranks, k hosts of g, buffer S.
/// @code
/// SHARP       a NIC sends S/g where trees and rings send 2 (k-1)/k S/g and more (Graham et al. 2016): the plain time
///             with the network's rate 2 (n-1)/n times higher; the interval reaches up to the plain time
/// PXN on      max(all-to-all of g ranks inside, all-to-all of k ranks on one rail): (g-1) + (k-1) messages, not n-1;
///             up to the sum of both
/// registered  no copy through NCCL's buffers: down to the launch and the bytes at the links' rate; of NVLS 4 channels
///             on one host (5 of reduce-scatter), 6 on several, as NCCL's registration sets them
/// @endcode
[[nodiscard]] KnobbedTime with_knobs(CollectiveKnobs knobs,
                                     const CollectiveCurves& curves,
                                     const NetworkCurve& network,
                                     const GroupView& view,
                                     CollectiveOptions options,
                                     Collective collective,
                                     Bytes bytes,
                                     double p90);

/// Bytes that a GPU's share of its host's NICs sends, by the algorithm of `time`; zero within one domain.
[[nodiscard]] Bytes bytes_per_nic(CollectiveKnobs knobs,
                                  const CollectiveTime& time,
                                  const GroupView& view,
                                  Collective collective,
                                  Bytes bytes) noexcept;

}  // namespace headroom
