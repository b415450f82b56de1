// SPDX-License-Identifier: Apache-2.0
// How a card can be cut: the profiles of its slices, where they may stand together, and a slice as a device of its own.
// One file of catalog/partitions a scheme, which the cards' files name.
#pragma once

#include <headroom/hardware/catalog/device.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Who cuts. Instances of NVIDIA's MIG may differ; a mode of AMD's compute and memory partitions holds for the card.
enum class PartitionKind : std::uint8_t { mig, modes };
inline constexpr std::array<std::string_view, 2> partition_kind_names{"mig", "modes"};

/// A form of slice that a card can be cut into. Counts of engines are of one slice; an absent one is not known.
struct PartitionProfile {
  std::string name;                            ///< "1g.10gb", "cpx-nps4"
  std::int64_t compute_slices = 1;             ///< 1 or more
  std::int64_t memory_slices = 1;              ///< 1 or more; L2 and bandwidth come with them
  std::optional<Sourced<std::int64_t>> units;  ///< SMs or compute units
  std::optional<Sourced<Bytes>> memory;        ///< that the slice shows; absent: its share by memory slices
  std::optional<Sourced<std::int64_t>> copy_engines, decoders, jpeg, ofa;
  Sourced<std::int64_t> most;                 ///< slices of this form on one card
  Sourced<std::vector<std::int64_t>> starts;  ///< memory slices, from 0, at which it may begin

  /// Neither with media engines or graphics beside its share, nor without: no name's "+me", "-me", "+gfx".
  [[nodiscard]] bool plain() const;
};

struct PartitionScheme {
  std::string id, name, file, notes;
  std::vector<std::string> aliases;
  PartitionKind kind = PartitionKind::mig;
  Sourced<std::int64_t> memory_slices;  ///< of the card
  Sourced<std::int64_t> compute_slices;
  std::optional<Sourced<std::int64_t>> decoders;  ///< of the card, where profiles compete for them
  std::vector<PartitionProfile> profiles;
  std::vector<std::string> unused_sources;

  /// nullptr where the scheme has no profile of that name.
  [[nodiscard]] const PartitionProfile* find(std::string_view profile) const;
  /// Part of the card's memory, bandwidth and L2 that comes with a profile's memory slices, 0 to 1.
  [[nodiscard]] double memory_share(const PartitionProfile& profile) const;
  /// Part of the card that a profile takes from its other tenants: its share of compute or of memory, the larger one
  /// (the dominant share of Ghodsi et al. 2011, Dominant Resource Fairness).
  [[nodiscard]] double card_share(const PartitionProfile& profile) const;
  /// "1g.10gb (14 SMs, 9.5 GiB, at most 7), ...": the plain profiles in words.
  [[nodiscard]] std::string profiles_text() const;
};

/// Reads one scheme; problems are added to `diagnostics`.
[[nodiscard]] PartitionScheme read_partitions(const ConfigValue& document,
                                              const std::string& file,
                                              Diagnostics& diagnostics);

/// Where slices stand on one card.
struct SlicePlaces {
  std::vector<std::int64_t> starts;  ///< the memory slice at which each begins, in the order in which they were asked
  std::string why;                   ///< why they cannot stand together; empty: they can

  [[nodiscard]] bool possible() const noexcept { return why.empty(); }
};
/// Places the profiles together on one card: none over another, none more often than the scheme allows, all of one mode
/// where a mode holds for the card. Exact: a placement that exists is found. Pointers into `scheme.profiles`.
[[nodiscard]] SlicePlaces place_slices(const PartitionScheme& scheme,
                                       std::span<const PartitionProfile* const> profiles);

/// The combinations of plain profiles to which no further plain profile can be added, each in the scheme's order.
[[nodiscard]] std::vector<std::vector<const PartitionProfile*>> maximal_combinations(const PartitionScheme& scheme);

/// The least plain profile, by its part of the card, whose slice on that card shows at least so much memory; nullptr
/// where even the largest does not.
[[nodiscard]] const PartitionProfile* least_profile(const Device& card, const PartitionScheme& scheme, Bytes memory);

/// Memory that a slice shows: the profile's own number, or the card's times its share.
[[nodiscard]] Bytes partition_memory(const Device& card,
                                     const PartitionScheme& scheme,
                                     const PartitionProfile& profile);

/// The slice as a device of its own, id CARD/PROFILE: peak rates by its SMs or compute units, bandwidth and L2 by its
/// memory slices, power by its part of the units that slices have, no links to other devices. ConfigError where the
/// catalog has neither the units of the profile nor those of the card.
[[nodiscard]] Device partition_device(const Device& card,
                                      const PartitionScheme& scheme,
                                      const PartitionProfile& profile);

}  // namespace headroom
