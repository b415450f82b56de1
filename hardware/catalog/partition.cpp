// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/partition.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

using Profiles = std::span<const PartitionProfile* const>;

std::int64_t total(Profiles profiles, std::int64_t PartitionProfile::*slices) {
  return std::accumulate(profiles.begin(), profiles.end(), std::int64_t{0},
                         [&](std::int64_t sum, const PartitionProfile* p) { return sum + p->*slices; });
}

std::string names_of(Profiles profiles) {
  return joined(profiles, [](const PartitionProfile* p) { return p->name; });
}

/// Why the profiles cannot stand together whatever their places; empty: counts allow it.
std::string too_many(const PartitionScheme& scheme, Profiles profiles) {
  for (const PartitionProfile* p : profiles) {
    if (scheme.kind == PartitionKind::modes && p != profiles.front()) {
      return "a mode holds for the whole card, and " + profiles.front()->name + " and " + p->name + " are two";
    }
    const auto of_it = std::count(profiles.begin(), profiles.end(), p);
    if (of_it > p->most.value) {
      return std::to_string(of_it) + " slices " + p->name + " are asked, and a card has at most " +
             std::to_string(p->most.value);
    }
  }
  const auto more = [&](std::int64_t asked, std::int64_t has, std::string_view of) {
    return asked <= has ? std::string{}
                        : names_of(profiles) + " take " + std::to_string(asked) + " " + std::string{of} +
                              ", and the card has " + std::to_string(has);
  };
  if (std::string why =
          more(total(profiles, &PartitionProfile::compute_slices), scheme.compute_slices.value, "compute slices");
      !why.empty()) {
    return why;
  }
  if (std::string why =
          more(total(profiles, &PartitionProfile::memory_slices), scheme.memory_slices.value, "memory slices");
      !why.empty()) {
    return why;
  }
  if (!scheme.decoders) {
    return {};
  }
  std::int64_t decoders = 0;
  for (const PartitionProfile* p : profiles) {
    decoders += p->decoders ? p->decoders->value : 0;
  }
  return more(decoders, scheme.decoders->value, "video decoders");
}

/// Finds places for the profiles from `next` on, the largest first, since they have the fewest.
bool place(Profiles profiles,
           std::span<const std::size_t> order,
           std::size_t next,
           std::vector<bool>& taken,
           std::vector<std::int64_t>& starts) {
  if (next == order.size()) {
    return true;
  }
  const PartitionProfile& profile = *profiles[order[next]];
  // From the back, as a driver leaves the front for what may begin there alone.
  for (auto start = profile.starts.value.rbegin(); start != profile.starts.value.rend(); ++start) {
    const auto first = taken.begin() + *start;
    const auto last = first + profile.memory_slices;
    if (std::find(first, last, true) != last) {
      continue;
    }
    std::fill(first, last, true);
    starts[order[next]] = *start;
    if (place(profiles, order, next + 1, taken, starts)) {
      return true;
    }
    std::fill(first, last, false);
  }
  return false;
}

void extend(const PartitionScheme& scheme,
            std::span<const PartitionProfile* const> plain,
            std::size_t from,
            std::vector<const PartitionProfile*>& chosen,
            std::vector<std::vector<const PartitionProfile*>>& out) {
  bool maximal = true;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    chosen.push_back(plain[i]);
    const bool fits = place_slices(scheme, chosen).possible();
    maximal = maximal && !fits;
    if (fits && i >= from) {
      extend(scheme, plain, i, chosen, out);
    }
    chosen.pop_back();
  }
  if (maximal && !chosen.empty()) {
    out.push_back(chosen);
  }
}

template <class T>
void scale(std::optional<Sourced<T>>& number, double share) {
  if (number) {
    number->value = share * number->value;
  }
}

}  // namespace

bool PartitionProfile::plain() const {
  return name.find('+') == std::string::npos && !name.ends_with("-me");
}

const PartitionProfile* PartitionScheme::find(std::string_view profile) const {
  const auto found =
      std::find_if(profiles.begin(), profiles.end(), [&](const PartitionProfile& p) { return p.name == profile; });
  return found == profiles.end() ? nullptr : &*found;
}

double PartitionScheme::memory_share(const PartitionProfile& profile) const {
  return real(profile.memory_slices) / real(memory_slices.value);
}

double PartitionScheme::card_share(const PartitionProfile& profile) const {
  return std::max(memory_share(profile), real(profile.compute_slices) / real(compute_slices.value));
}

std::string PartitionScheme::profiles_text() const {
  std::vector<std::string> words;
  for (const PartitionProfile& p : profiles) {
    if (p.plain()) {
      words.push_back(p.name + " (" +
                      (p.units ? std::to_string(p.units->value) + (kind == PartitionKind::mig ? " SMs, " : " CUs, ")
                               : std::string{}) +
                      (p.memory ? format(p.memory->value) + ", " : std::string{}) + "at most " +
                      std::to_string(p.most.value) + ")");
    }
  }
  return joined(words);
}

SlicePlaces place_slices(const PartitionScheme& scheme, std::span<const PartitionProfile* const> profiles) {
  SlicePlaces result;
  result.why = profiles.empty() ? "no slice is asked" : too_many(scheme, profiles);
  if (!result.possible()) {
    return result;
  }
  std::vector<std::size_t> order(profiles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair{profiles[a]->starts.value.size(), -profiles[a]->memory_slices} <
           std::pair{profiles[b]->starts.value.size(), -profiles[b]->memory_slices};
  });
  std::vector<bool> taken(static_cast<std::size_t>(scheme.memory_slices.value), false);
  result.starts.assign(profiles.size(), 0);
  if (!place(profiles, order, 0, taken, result.starts)) {
    result.starts.clear();
    const PartitionProfile& first = *profiles[order.front()];
    result.why = names_of(profiles) + " find no places together: " + first.name + " takes " +
                 std::to_string(first.memory_slices) + " of " + std::to_string(scheme.memory_slices.value) +
                 " memory slices and may begin at " +
                 joined(first.starts.value, [](std::int64_t start) { return std::to_string(start); }) + " alone";
  }
  return result;
}

std::vector<std::vector<const PartitionProfile*>> maximal_combinations(const PartitionScheme& scheme) {
  std::vector<const PartitionProfile*> plain;
  for (const PartitionProfile& p : scheme.profiles) {
    if (p.plain()) {
      plain.push_back(&p);
    }
  }
  std::vector<std::vector<const PartitionProfile*>> all;
  std::vector<const PartitionProfile*> chosen;
  extend(scheme, plain, 0, chosen, all);
  return all;
}

Bytes partition_memory(const Device& card, const PartitionScheme& scheme, const PartitionProfile& profile) {
  return profile.memory ? profile.memory->value : scheme.memory_share(profile) * card.capacity().value;
}

const PartitionProfile* least_profile(const Device& card, const PartitionScheme& scheme, Bytes memory) {
  const PartitionProfile* least = nullptr;
  for (const PartitionProfile& p : scheme.profiles) {
    if (p.plain() && partition_memory(card, scheme, p) >= memory &&
        (least == nullptr || std::pair{scheme.card_share(p), p.compute_slices} <
                                 std::pair{scheme.card_share(*least), least->compute_slices})) {
      least = &p;
    }
  }
  return least;
}

Device partition_device(const Device& card, const PartitionScheme& scheme, const PartitionProfile& profile) {
  if (!profile.units || !card.compute.units) {
    throw ConfigError{"the catalog has no number of SMs for " + profile.name + " of " + card.id +
                      "; state 'units' of the profile in a file of your own, partitions/" + scheme.id + ".toml"};
  }
  const double compute = real(profile.units->value) / real(card.compute.units->value);
  const double memory = scheme.memory_share(profile);
  Device slice = card;
  slice.id = card.id + "/" + profile.name;
  slice.name = card.name + ", slice " + profile.name;
  slice.aliases.clear();
  slice.partitions.clear();
  slice.notes = scheme.notes;
  slice.compute.units = profile.units;
  for (RateTable* rates : {&slice.peak, &slice.sparse}) {
    for (auto& rate : *rates) {
      scale(rate, compute);
    }
  }
  scale(slice.memory.marketed, memory);
  scale(slice.memory.bandwidth, memory);
  scale(slice.memory.l2, memory);
  // A program sees all that the instance holds: nvidia-smi's total and that of cudaMemGetInfo are one number there.
  const Bytes shown = partition_memory(card, scheme, profile);
  for (std::optional<Sourced<Bytes>>* size : {&slice.memory.usable, &slice.memory.visible}) {
    if (profile.memory) {
      *size = profile.memory;
    } else if (*size) {
      (*size)->value = shown;
    }
  }
  slice.memory.bus_width.reset();
  // The card's power is that of the units that slices can have together, 98 of 108 on an A100.
  const double power = real(profile.compute_slices) / real(scheme.compute_slices.value);
  scale(slice.power.tdp, power);
  scale(slice.power.idle, power);
  slice.scale_up = {};
  slice.slice = Device::Slice{.card = card.id,
                              .profile = profile.name,
                              .per_card = profile.most.value,
                              .share = scheme.card_share(profile),
                              .compute = compute,
                              .memory = memory,
                              .mig = scheme.kind == PartitionKind::mig,
                              .copy_engines = profile.copy_engines,
                              .decoders = profile.decoders,
                              .jpeg = profile.jpeg,
                              .ofa = profile.ofa};
  return slice;
}

}  // namespace headroom
