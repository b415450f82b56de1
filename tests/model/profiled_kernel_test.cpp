// SPDX-License-Identifier: Apache-2.0
// Kernels as profilers count them: what holds them up, and what cures leave of their time and stalls.
#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace headroom;

namespace {

/// A kernel that the memory holds up, every load of which is scattered: 32 sectors a request, 20 cycles before each
/// instruction, 18 of them for data.
ProfiledKernel scattered() {
  ProfiledKernel kernel;
  kernel.name = "gather";
  kernel.at(Counter::duration) = 2e-3;
  kernel.at(Counter::memory_use) = 0.9;
  kernel.at(Counter::l2_use) = 0.45;
  kernel.at(Counter::sm_use) = 0.05;
  kernel.at(Counter::load_sectors) = 32e6;
  kernel.at(Counter::load_requests) = 1e6;
  kernel.at(Counter::memory_bytes) = 32e6 * 32.0;
  kernel.stalls = {{"long_scoreboard", 18.0}, {"wait", 0.8}, {"selected", 1.0}, {"not_selected", 0.2}};
  return kernel;
}

double cycles_of(const std::vector<StallPart>& stalls, const std::string& reason) {
  const auto found = std::find_if(stalls.begin(), stalls.end(), [&](const auto& s) { return s.reason == reason; });
  return found == stalls.end() ? 0.0 : found->cycles;
}

double all_of(const std::vector<StallPart>& stalls) {
  return std::accumulate(stalls.begin(), stalls.end(), 0.0, [](double sum, const auto& s) { return sum + s.cycles; });
}

const CuredProfile* find_cure(const std::vector<CuredProfile>& cures, ProfileCure cure) {
  const auto found = std::find_if(cures.begin(), cures.end(), [&](const auto& c) { return c.cure == cure; });
  return found == cures.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a kernel that uses an eighth of its sectors takes an eighth of the time once they are coalesced") {
  const ProfiledKernel kernel = scattered();
  const ProfileState state = state_of(kernel, 4.0, {});
  CHECK(state.held_by == HeldBy::memory);
  CHECK(*state.sector_use == doctest::Approx(0.125));  // 32 x 4 B of 32 sectors
  CHECK(dominant_stall(kernel.stalls) == "long_scoreboard");
  const std::vector<CuredProfile> cures = profile_cures(kernel, state, 1.0);
  REQUIRE(!cures.empty());
  CHECK(cures.front().cure == ProfileCure::coalesce);
  CHECK(cures.front().ratio == doctest::Approx(0.125));
  // As many warps wait before as many instructions: 20 x 0.125 = 2.5 cycles, of which 2 are not for data.
  CHECK(all_of(cures.front().stalls) == doctest::Approx(2.5));
  CHECK(cycles_of(cures.front().stalls, "long_scoreboard") == doctest::Approx(0.5));
  CHECK(cycles_of(cures.front().stalls, "wait") == 0.8);
  CHECK(dominant_stall(cures.front().stalls) == "wait");
}

TEST_CASE("a cure stops at the next roof, and at stalls that it does not touch") {
  ProfiledKernel kernel = scattered();
  kernel.at(Counter::sm_use) = 0.45;
  // Memory falls to 0.9 / 8, the SMs stay at 0.45: half of 0.9.
  CHECK(profile_cures(kernel, state_of(kernel, 4.0, {}), 1.0).front().ratio == doctest::Approx(0.5));
  kernel = scattered();
  kernel.stalls = {{"long_scoreboard", 12.0}, {"barrier", 8.0}};
  const std::vector<CuredProfile> cures = profile_cures(kernel, state_of(kernel, 4.0, {}), 1.0);
  const CuredProfile* const coalesced = find_cure(cures, ProfileCure::coalesce);
  REQUIRE(coalesced != nullptr);
  CHECK(coalesced->ratio == doctest::Approx(8.0 / 20.0));
  CHECK(dominant_stall(coalesced->stalls) == "barrier");
}

TEST_CASE("where caches serve the rest of the sectors coalescing spares the memory nothing") {
  ProfiledKernel kernel = scattered();
  kernel.at(Counter::memory_bytes) = 32e6 * 32.0 / 8.0;  // what is used, and no more
  const std::vector<CuredProfile> cures = profile_cures(kernel, state_of(kernel, 4.0, {}), 1.0);
  CHECK(find_cure(cures, ProfileCure::coalesce) == nullptr);
}

TEST_CASE("a kernel without a busy unit waits, and gains by what it has in flight") {
  ProfiledKernel kernel;
  kernel.at(Counter::duration) = 1e-3;
  kernel.at(Counter::memory_use) = 0.3;
  kernel.at(Counter::occupancy) = 0.25;
  kernel.stalls = {{"long_scoreboard", 8.0}, {"selected", 1.0}, {"wait", 1.0}};
  const ProfileState state = state_of(kernel, 4.0, {});
  CHECK(state.held_by == HeldBy::latency);
  const std::vector<CuredProfile> cures = profile_cures(kernel, state, 1.0);
  const CuredProfile* const ahead = find_cure(cures, ProfileCure::in_flight);
  REQUIRE(ahead != nullptr);
  CHECK(ahead->ratio == doctest::Approx((2.0 + 4.0) / 10.0));
  CHECK(cycles_of(ahead->stalls, "long_scoreboard") == doctest::Approx(4.0));
  // Twice the warps: half the time, above the 0.3 of the memory's roof.
  const CuredProfile* const warps = find_cure(cures, ProfileCure::occupancy);
  REQUIRE(warps != nullptr);
  CHECK(warps->ratio == doctest::Approx(0.5));
}

TEST_CASE("conflicts and divergence are priced by what they take") {
  ProfiledKernel kernel;
  kernel.at(Counter::duration) = 1e-3;
  kernel.at(Counter::memory_use) = 0.1;
  kernel.at(Counter::l1_use) = 0.9;
  kernel.at(Counter::conflicts) = 31e6;
  kernel.at(Counter::shared_wavefronts) = 32e6;
  const ProfileState state = state_of(kernel, 4.0, {});
  CHECK(*state.conflict_share == doctest::Approx(31.0 / 32.0));
  // L1 falls to 0.9 / 32, below the memory's 0.1.
  const CuredProfile* banks = nullptr;
  const std::vector<CuredProfile> cures = profile_cures(kernel, state, 1.0);
  banks = find_cure(cures, ProfileCure::banks);
  REQUIRE(banks != nullptr);
  CHECK(banks->ratio == doctest::Approx(0.1 / 0.9));

  ProfiledKernel branchy;
  branchy.at(Counter::duration) = 1e-3;
  branchy.at(Counter::memory_use) = 0.1;
  branchy.at(Counter::sm_use) = 0.8;
  branchy.at(Counter::instructions) = 1e6;
  branchy.at(Counter::thread_instructions) = 8e6;
  const ProfileState parted = state_of(branchy, 4.0, {});
  CHECK(*parted.active_share == doctest::Approx(0.25));
  const std::vector<CuredProfile> sorted = profile_cures(branchy, parted, 1.0);
  REQUIRE(find_cure(sorted, ProfileCure::converge) != nullptr);
  CHECK(find_cure(sorted, ProfileCure::converge)->ratio == doctest::Approx(0.25));
}

TEST_CASE("the memory's use follows from bytes, time and bandwidth where no counter says it") {
  ProfiledKernel kernel;
  kernel.at(Counter::duration) = 1e-3;
  kernel.at(Counter::memory_read) = 1.0e9;
  kernel.at(Counter::memory_written) = 0.5e9;
  CHECK(state_of(kernel, 4.0, BytesPerSecond{2e12}).use.front() == doctest::Approx(0.75));
  CHECK(state_of(kernel, 4.0, {}).use.front() == 0.0);
}

TEST_CASE("stalls of a cured kernel are never negative, nor its time longer") {
  for (int i = 0; i < 200; ++i) {
    ProfiledKernel kernel;
    kernel.at(Counter::duration) = 1e-3;
    kernel.at(Counter::memory_use) = 0.05 * (i % 20);
    kernel.at(Counter::l1_use) = 0.07 * (i % 13);
    kernel.at(Counter::sm_use) = 0.11 * (i % 9);
    kernel.at(Counter::sectors_per_load) = 1.0 + i % 32;
    kernel.at(Counter::active_threads) = 1.0 + i % 32;
    kernel.at(Counter::occupancy) = 0.01 * (1 + i % 100);
    kernel.stalls = {{"long_scoreboard", 0.3 * (i % 41)},
                     {"barrier", 0.2 * (i % 17)},
                     {"lg_throttle", 0.1 * (i % 7)},
                     {"short_scoreboard", 0.1 * (i % 5)},
                     {"selected", 1.0}};
    const ProfileState state = state_of(kernel, 4.0, {});
    double before = 0.0;
    for (const CuredProfile& cure : profile_cures(kernel, state, 8.0)) {
      CAPTURE(i);
      CAPTURE(static_cast<int>(cure.cure));
      CHECK(cure.ratio > 0.0);
      CHECK(cure.ratio < 1.0);
      CHECK(cure.ratio >= before);
      before = cure.ratio;
      for (const StallPart& stall : cure.stalls) {
        CHECK(stall.cycles >= 0.0);
      }
      CHECK(all_of(cure.stalls) <= state.stalled * (1.0 + 1e-9));
    }
  }
}
