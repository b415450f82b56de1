// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/model/sharing/slice_packing.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

class Packer {
 public:
  Packer(const PartitionScheme& scheme, std::span<const std::vector<SliceOption>> tenants)
      : scheme_{scheme}, tenants_{tenants}, least_behind_(tenants.size() + 1, 0) {
    for (std::size_t i = tenants.size(); i-- > 0;) {
      std::int64_t least = scheme.memory_slices.value + 1;
      for (const SliceOption& option : tenants[i]) {
        least = std::min(least, option.profile->memory_slices);
      }
      least_behind_[i] = least_behind_[i + 1] + least;
    }
  }

  SlicePacking run() {
    if (least_behind_[0] <= scheme_.memory_slices.value) {
      choose(0, scheme_.memory_slices.value, scheme_.compute_slices.value);
    }
    if (best_.profiles.empty() && !tenants_.empty()) {
      best_.why = why_none();
    }
    return std::move(best_);
  }

 private:
  void choose(std::size_t i, std::int64_t memory_left, std::int64_t compute_left) {
    if (i == tenants_.size()) {
      keep_if_better();
      return;
    }
    for (const SliceOption& option : tenants_[i]) {
      const std::int64_t memory = memory_left - option.profile->memory_slices;
      const std::int64_t compute = compute_left - option.profile->compute_slices;
      if (memory < least_behind_[i + 1] || compute < 0) {
        continue;
      }
      taken_.push_back(&option);
      choose(i + 1, memory, compute);
      taken_.pop_back();
    }
  }

  void keep_if_better() {
    std::int64_t missed = 0, product = 1;
    Bytes stranded{};
    std::vector<const PartitionProfile*> profiles;
    for (const SliceOption* option : taken_) {
      missed += option->missed;
      stranded = stranded + option->stranded;
      product *= option->profile->compute_slices;
      profiles.push_back(option->profile);
    }
    const std::tuple cost{missed, stranded.raw(), -product};
    if (!best_.profiles.empty() && cost >= best_cost_) {
      return;
    }
    SlicePlaces placed = place_slices(scheme_, profiles);
    if (!placed.possible()) {
      last_why_ = placed.why;
      return;
    }
    best_cost_ = cost;
    best_.profiles = std::move(profiles);
    best_.starts = std::move(placed.starts);
  }

  [[nodiscard]] std::string why_none() const {
    if (!last_why_.empty()) {
      return last_why_;
    }
    return "the least slices of " + counted(static_cast<std::int64_t>(tenants_.size()), "tenant") + " have " +
           std::to_string(least_behind_[0]) + " memory slices together, or more compute slices than the card's " +
           std::to_string(scheme_.compute_slices.value) + ", and the card has " +
           std::to_string(scheme_.memory_slices.value) + " memory slices";
  }

  const PartitionScheme& scheme_;
  std::span<const std::vector<SliceOption>> tenants_;
  std::vector<std::int64_t> least_behind_;  ///< memory slices of the tenants from each on, at the least
  std::vector<const SliceOption*> taken_;
  SlicePacking best_;
  std::tuple<std::int64_t, double, std::int64_t> best_cost_;
  std::string last_why_;
};

}  // namespace

SlicePacking pack_slices(const PartitionScheme& scheme, std::span<const std::vector<SliceOption>> tenants) {
  return Packer{scheme, tenants}.run();
}

}  // namespace headroom
