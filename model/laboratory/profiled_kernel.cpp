// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <string_view>

namespace headroom {
namespace {

constexpr double warp_threads = 32.0;  // a profile is of a GPU of NVIDIA
constexpr double sector_bytes = 32.0;

/// The sum of those that are there; nullopt: none is.
std::optional<double> sum_of(const ProfiledKernel& kernel, std::initializer_list<Counter> counters) {
  std::optional<double> sum;
  for (const Counter counter : counters) {
    if (const auto value = kernel.get(counter)) {
      sum = sum.value_or(0.0) + *value;
    }
  }
  return sum;
}

std::optional<double> ratio_of(std::optional<double> above, std::optional<double> below) {
  return above && below && *below > 0.0 ? std::optional{*above / *below} : std::nullopt;
}

std::optional<double> sector_use_of(const ProfiledKernel& kernel, double element) {
  if (const auto use = kernel.get(Counter::sector_use)) {
    return std::min(*use, 1.0);
  }
  const bool both = kernel.get(Counter::store_sectors) && kernel.get(Counter::store_requests);
  const auto sectors =
      both ? sum_of(kernel, {Counter::load_sectors, Counter::store_sectors}) : kernel.get(Counter::load_sectors);
  const auto requests =
      both ? sum_of(kernel, {Counter::load_requests, Counter::store_requests}) : kernel.get(Counter::load_requests);
  const auto each =
      kernel.get(Counter::sectors_per_load) ? kernel.get(Counter::sectors_per_load) : ratio_of(sectors, requests);
  if (!each || !(*each > 0.0)) {
    return std::nullopt;
  }
  return std::min(warp_threads * element / sector_bytes / *each, 1.0);
}

double sum_of(const std::vector<StallPart>& stalls) {
  return std::accumulate(stalls.begin(), stalls.end(), 0.0,
                         [](double sum, const StallPart& stall) { return sum + stall.cycles; });
}

bool is_one_of(std::string_view reason, std::initializer_list<std::string_view> reasons) {
  return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

/// What a cure changes.
struct Change {
  std::array<double, 4> work{1.0, 1.0, 1.0, 1.0};  ///< of each unit, after over before
  double waiting = 1.0;                            ///< of the touched stalls where no unit holds the kernel up
  double instructions = 1.0;
  std::initializer_list<std::string_view> touched{};
};

CuredProfile changed(ProfileCure cure, const ProfiledKernel& kernel, const ProfileState& state, const Change& change) {
  CuredProfile after{cure, 1.0, kernel.stalls};
  double use = 0.0;
  for (std::size_t i = 0; i < state.use.size(); ++i) {
    use = std::max(use, change.work[i] * state.use[i]);
  }
  double touched = 0.0;
  for (const StallPart& stall : kernel.stalls) {
    touched += is_one_of(stall.reason, change.touched) ? stall.cycles : 0.0;
  }
  const double untouched = state.stalled - touched;
  const bool waits = state.held_by == HeldBy::latency;
  if (!waits) {
    after.ratio = use / state.most_use();
    if (state.stalled > 0.0) {
      after.ratio = std::max(after.ratio, change.instructions * untouched / state.stalled);
    }
  } else if (state.stalled > 0.0) {
    // No unit may come beyond its peak.
    after.ratio = std::max(use, change.instructions * (untouched + change.waiting * touched) / state.stalled);
  } else {
    after.ratio = change.instructions;
  }
  after.ratio = std::min(after.ratio, 1.0);
  if (state.stalled > 0.0) {
    const double left = std::max(0.0, after.ratio / change.instructions * state.stalled - untouched);
    for (StallPart& stall : after.stalls) {
      if (touched > 0.0 && is_one_of(stall.reason, change.touched)) {
        stall.cycles *= left / touched;
      }
    }
  }
  return after;
}

}  // namespace

double ProfileState::most_use() const noexcept {
  return *std::max_element(use.begin(), use.end());
}

ProfileState state_of(const ProfiledKernel& kernel, double element, BytesPerSecond bandwidth) {
  ProfileState state;
  state.time = Seconds{kernel.get(Counter::duration).value_or(0.0)};
  std::optional<double> moved = kernel.get(Counter::memory_bytes);
  if (!moved) {
    moved = sum_of(kernel, {Counter::memory_read, Counter::memory_written});
  }
  if (!moved && kernel.get(Counter::memory_rate)) {
    moved = *kernel.get(Counter::memory_rate) * state.time.raw();
  }
  if (moved) {
    state.moved = Bytes{*moved};
  }
  std::optional<double> memory = kernel.get(Counter::memory_use);
  if (!memory && state.moved && bandwidth > BytesPerSecond{} && state.time > Seconds{}) {
    memory = *state.moved / state.time / bandwidth;
  }
  if (!memory) {
    memory = kernel.get(Counter::all_memory_use);
  }
  state.use = {std::min(memory.value_or(0.0), 1.0), kernel.get(Counter::l2_use).value_or(0.0),
               kernel.get(Counter::l1_use).value_or(0.0),
               std::max(kernel.get(Counter::sm_use).value_or(0.0), kernel.get(Counter::tensor_use).value_or(0.0))};
  if (state.most_use() >= busy_unit) {
    state.held_by = static_cast<HeldBy>(std::max_element(state.use.begin(), state.use.end()) - state.use.begin());
  }
  state.sector_use = sector_use_of(kernel, element);
  const auto conflicts = kernel.get(Counter::conflicts)
                             ? kernel.get(Counter::conflicts)
                             : sum_of(kernel, {Counter::load_conflicts, Counter::store_conflicts});
  state.conflict_share = ratio_of(conflicts, kernel.get(Counter::shared_wavefronts));
  if (state.conflict_share) {
    state.conflict_share = std::min(*state.conflict_share, 1.0);
  }
  const auto active = kernel.get(Counter::active_threads)
                          ? kernel.get(Counter::active_threads)
                          : ratio_of(kernel.get(Counter::thread_instructions), kernel.get(Counter::instructions));
  if (active) {
    state.active_share = std::min(*active / warp_threads, 1.0);
  }
  state.occupancy = kernel.get(Counter::occupancy);
  // A fused multiply-add is two FLOP, and a packed one of fp16 four.
  state.vector_work =
      Flops{2.0 * kernel.get(Counter::fp32_fma).value_or(0.0) + kernel.get(Counter::fp32_add).value_or(0.0) +
            kernel.get(Counter::fp32_mul).value_or(0.0) + 4.0 * kernel.get(Counter::fp16_fma).value_or(0.0) +
            2.0 * kernel.get(Counter::fp64_fma).value_or(0.0)};
  state.stalled = sum_of(kernel.stalls);
  return state;
}

std::vector<CuredProfile> profile_cures(const ProfiledKernel& kernel, const ProfileState& state, double tensor_gain) {
  constexpr double least_gain = 0.99;
  constexpr double well = 0.9;  // counters that are so good need no cure
  std::vector<CuredProfile> cures;
  const auto consider = [&](ProfileCure cure, const Change& change) {
    CuredProfile after = changed(cure, kernel, state, change);
    if (after.ratio < least_gain) {
      cures.push_back(std::move(after));
    }
  };
  const bool waits = state.held_by == HeldBy::latency;
  if (const auto used = state.sector_use; used && *used < well) {
    double memory = *used;
    // Where caches already serve what loads leave of a sector, the memory is asked for no more than what is used.
    const auto sectors = sum_of(kernel, {Counter::load_sectors, Counter::store_sectors});
    if (sectors && state.moved && state.moved->raw() > 0.0) {
      memory = std::clamp(*used * *sectors * sector_bytes / state.moved->raw(), *used, 1.0);
    }
    consider(ProfileCure::coalesce,
             {{memory, *used, *used, 1.0}, *used, 1.0, {"long_scoreboard", "lg_throttle", "drain"}});
  }
  if (const auto share = state.conflict_share; share && *share > 1.0 - well) {
    consider(ProfileCure::banks,
             {{1.0, 1.0, 1.0 - *share, 1.0}, 1.0 - *share, 1.0, {"short_scoreboard", "mio_throttle"}});
  }
  if (const auto active = state.active_share; active && *active < well) {
    consider(ProfileCure::converge, {{1.0, 1.0, 1.0, *active}, 1.0, *active, {}});
  }
  if (waits && state.stalled > 0.0) {
    consider(ProfileCure::in_flight, {{1.0, 1.0, 1.0, 1.0}, 0.5, 1.0, {"long_scoreboard"}});
  }
  if (waits && state.occupancy && *state.occupancy > 0.0) {
    const double ratio = std::max(state.most_use(), *state.occupancy / std::min(1.0, 2.0 * *state.occupancy));
    if (ratio < least_gain) {
      cures.push_back({ProfileCure::occupancy, ratio, kernel.stalls});
    }
  }
  consider(ProfileCure::barriers, {{1.0, 1.0, 1.0, 1.0}, 0.0, 1.0, {"barrier"}});
  if (state.held_by == HeldBy::memory) {
    consider(ProfileCure::fewer_bytes, {{0.5, 0.5, 0.5, 1.0}, 0.5, 1.0, {"long_scoreboard", "lg_throttle", "drain"}});
  }
  if (state.held_by == HeldBy::compute && tensor_gain > 1.0 && state.vector_work > Flops{}) {
    consider(ProfileCure::tensor, {{1.0, 1.0, 1.0, 1.0 / tensor_gain}, 1.0, 1.0 / tensor_gain, {"math_pipe_throttle"}});
  }
  std::stable_sort(cures.begin(), cures.end(),
                   [](const CuredProfile& a, const CuredProfile& b) { return a.ratio < b.ratio; });
  return cures;
}

std::string dominant_stall(const std::vector<StallPart>& stalls) {
  const StallPart* most = nullptr;
  for (const StallPart& stall : stalls) {
    if (!is_one_of(stall.reason, {"selected", "not_selected"}) && (most == nullptr || stall.cycles > most->cycles)) {
      most = &stall;
    }
  }
  return most == nullptr ? "" : most->reason;
}

}  // namespace headroom
