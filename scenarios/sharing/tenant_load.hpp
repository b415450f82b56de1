// SPDX-License-Identifier: Apache-2.0
// A tenant as the laws of sharing see it: its calls on the card and on slices, the share of them that its kernels take.
#pragma once

#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/sharing/sharing_question.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// An engine among others, which have it go on at `speed` while it has work: its traffic 1 / speed as fast on the
/// device alone, and all times over speed. `profile`: of the slice that it runs on; nullptr: the card.
struct EngineTimes {
  std::array<Seconds, 4> e2e{};  ///< p50, p95, p99; the last is not told and 0
  Seconds ttft_p95{}, tpot_p95{};
  std::vector<std::pair<std::string, std::pair<Seconds, Seconds>>> promises;  ///< key, limit and what is reached
  double busy = 0.0;  ///< share of the time in which the engine iterates
  Hertz offered{};
  bool overloaded = false;
};
/// A tenant on one device.
struct TenantLoad {
  SharedLoad load;
  Bytes need{};                       ///< memory, its context included
  std::optional<EngineTimes> engine;  ///< alone on the device, where it is one
  std::vector<std::string> notes;
};

/// Alone on the card. Calls of a network are those of its largest batch: stated, or the smallest that has 98 % of the
/// rate of the fastest. Of an engine a request is a call of the time that it keeps the engine iterating, exponential.
[[nodiscard]] TenantLoad load_on_card(const SharingQuestion& q, const Tenant& tenant);

/// On a slice at `clock` of a lone slice's; nothing where it does not run there, with `why`.
[[nodiscard]] std::optional<TenantLoad> load_on_slice(const SharingQuestion& q,
                                                      const Tenant& tenant,
                                                      const TenantLoad& on_card,
                                                      const PartitionProfile& profile,
                                                      double clock,
                                                      std::string& why);

/// As EngineTimes says.
[[nodiscard]] EngineTimes engine_times(const SharingQuestion& q,
                                       const Tenant& tenant,
                                       const PartitionProfile* profile,
                                       double speed);

}  // namespace headroom
