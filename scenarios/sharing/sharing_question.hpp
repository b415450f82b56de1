// SPDX-License-Identifier: Apache-2.0
// Several tenants on one card: what each runs, when, what it is promised and what it is kept apart from.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/sharing/shared_calls.hpp>
#include <headroom/model/sharing/shared_card.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A part of every day, "20:00-06:00": minutes since midnight. An end at or before the begin is of the next day.
struct DailyHours {
  std::int64_t begin = 0, end = 1440;
  [[nodiscard]] bool holds(std::int64_t minute) const noexcept {
    return begin < end ? minute >= begin && minute < end : minute >= begin || minute < end;
  }
  [[nodiscard]] double hours() const noexcept {
    return static_cast<double>(begin < end ? end - begin : end + 1440 - begin) / 60.0;
  }
};
/// nullopt for a text that is none.
[[nodiscard]] std::optional<DailyHours> read_daily_hours(std::string_view text);

struct Tenant {
  std::string name;
  bool trains = false;
  std::shared_ptr<const ConfigValue> workload;  ///< a whole document on the card; null: what follows is stated
  std::optional<BatchScenario> network;         ///< the workload, where it is calls of a network
  std::optional<Scenario> served;               ///< or an engine under traffic
  std::optional<double> busy;
  std::optional<Bytes> memory;
  double rate = 0.0;  ///< requests a second; 0: a call behind the other
  std::optional<Seconds> call;
  double spread = 0.0;
  std::optional<Seconds> step;
  Isolation isolation = Isolation::none;
  double weight = 1.0;
  std::optional<DailyHours> hours;  ///< nothing: the whole day
  std::vector<BatchPromise> promises;
};

struct SharingQuestion {
  const Sources* sources = nullptr;          ///< must outlive the question
  const NetworkLibrary* networks = nullptr;  ///< likewise
  std::string name, file;
  Device card;
  const PartitionScheme* scheme = nullptr;  ///< null: nothing cuts the card
  std::optional<CardSharing> mode;          ///< nothing: any
  std::int64_t simulated = 200'000;
  std::uint64_t seed = 1;
  std::vector<Tenant> tenants;
  std::optional<Watts> power_cap;
  Money money;
  std::vector<std::string> assumptions;
};

/// Whether a document asks for it: kind sharing, or [[tenant]] where no kind is stated.
[[nodiscard]] bool asks_for_sharing(const ConfigValue& root) noexcept;

/// ConfigError with every problem at once: those of the tenants' workloads; a share above 1; a tenant whose memory no
/// profile or not even the card holds; an isolation that the stated mode does not give; slices of a card that has none;
/// memory beyond the card's under a mode of one card.
[[nodiscard]] SharingQuestion read_sharing(const ConfigValue& root,
                                           const std::string& file,
                                           const Sources& sources,
                                           const NetworkLibrary& networks);
SharingQuestion read_sharing(const ConfigValue& root,
                             const std::string& file,
                             const Sources&& gone,
                             const NetworkLibrary& networks) = delete;

/// A tenant's workload on another device of the catalog, a slice of the card: document and [hardware].
[[nodiscard]] ConfigValue workload_on(const ConfigValue& workload, const std::string& gpu);

}  // namespace headroom
