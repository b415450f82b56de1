// SPDX-License-Identifier: Apache-2.0
// The answer to tenants of one card: each way to share it, what every tenant gets and waits, what is stranded, who pays
// what, and the way to take.
#pragma once

#include <headroom/scenarios/inference/batch_plan.hpp>
#include <headroom/scenarios/sharing/sharing_question.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A promise to a tenant's requests, at the tenant's worst hour.
struct SharedPromise {
  std::string what;  ///< "p95", of an engine "ttft_p95"
  Seconds limit{}, reached{};
  bool kept = false;
};

/// What one tenant gets under a way to share.
struct TenantShare {
  std::string profile;     ///< of its slice; empty: it has none
  std::int64_t start = 0;  ///< memory slice at which that begins
  Bytes cap{};             ///< of the card's memory, its context included; of a slice all that the slice shows
  double speed = 1.0;      ///< of its speed alone on the card while it has work under way, at its worst hour
  double under_way = 0.0;  ///< share of the day in which it has work under way
  double used = 0.0;       ///< share of the card's day that its kernels take
  std::optional<std::array<Seconds, told_shares.size()>> latency;  ///< at its worst hour; of an engine without the last
  std::optional<Seconds> ttft_p95, tpot_p95;                       ///< of an engine
  std::vector<SharedPromise> promises;
  bool falls_behind = false;
  double card_hours = 0.0;      ///< work a day, in hours of the card alone
  std::optional<double> steps;  ///< of a training, a day
  double paid = 0.0;            ///< share of the price
  std::optional<DollarsPerSecond> price;
};

struct SharingWay {
  CardSharing sharing = CardSharing::none;
  std::vector<std::string> why_not;  ///< what makes it impossible, then promises that it misses; empty: it does it
  bool possible = true;
  std::int64_t missed = 0;  ///< promises, and queues that grow without end
  std::int64_t cards = 1;
  std::vector<TenantShare> tenants;  ///< in the order of the question; none where it is not possible
  /// Work of all tenants that are ever under way at one time, all of them under way, over that of one alone; and the
  /// most that no way to share exceeds (sharing_bound()).
  double together = 1.0, together_bound = 1.0;
  double mean_speed = 1.0;         ///< of the tenants, by their weights
  std::optional<double> slowdown;  ///< of MIG: what a slice loses when all others are busy; nothing: not known, 0 taken
  Bytes asked{};                   ///< by the tenants that run at one time, contexts included, the most of the day
  Bytes stranded{};                ///< of the memory of all cards, that nobody asks for
  Bytes stranded_by_name{};        ///< of MIG: the same by the gigabytes of the profiles' names, contexts apart
  double stranded_memory_share = 0.0;
  double used = 0.0;                                   ///< share of the cards' day that kernels take
  double stranded_hours = 0.0;                         ///< of the cards, a day
  std::int64_t compute_slices = 0, memory_slices = 0;  ///< of MIG, that are given
  std::optional<DollarsPerSecond> price;               ///< of the cards
  [[nodiscard]] bool good() const noexcept { return possible && missed == 0; }
};

struct SharingPlan {
  SharingQuestion question;
  std::vector<SharingWay> ways;      ///< in the order of CardSharing
  std::optional<std::size_t> taken;  ///< of them; nothing: none is possible
  std::string why;                   ///< of the way that is taken, or why none is
  std::vector<std::string> notes;
  [[nodiscard]] bool feasible() const noexcept { return taken && ways[*taken].good(); }
};

/// Takes the stated way; of any the one that misses the fewest promises, then the one on the fewest cards, then the one
/// that leaves tenants the most of their speed, by their weights.
[[nodiscard]] SharingPlan make_sharing_plan(SharingQuestion question);

}  // namespace headroom
