// SPDX-License-Identifier: Apache-2.0
// What decoding sequences gain with drafts, step by step, added up ahead of time.
#pragma once

#include <headroom/model/serve/engine/scheduler.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom {

/// A member of a DecodeSet between two steps.
struct DraftedMember {
  std::int32_t kv = 0;         ///< keys in the cache
  std::int32_t generated = 0;  ///< output tokens
  std::int32_t held = 0;       ///< blocks, which have to hold a whole draft before it is verified
  std::int32_t steps = 0;      ///< of its request so far, for Speculation::tokens
};

/// How many drafts of a request's step are accepted depends on nothing but the request and the step's number. So what a
/// member will gain, and which blocks it will need, is drawn when it joins, up to `horizon` steps ahead, and added to
/// sums of all members by tick: an iteration then costs the same for one sequence and for a thousand.
class DraftedSteps {
 public:
  /// Most ticks that a member is drawn ahead.
  static constexpr std::int64_t horizon = 256;

  /// Tokens and blocks of all members together, fewer than 2^32 of either: sums of both are one sum.
  struct Sum {
    std::uint64_t both = 0;
    [[nodiscard]] std::int64_t tokens() const noexcept { return static_cast<std::int64_t>(both & 0xffffffffU); }
    [[nodiscard]] std::int64_t blocks() const noexcept { return static_cast<std::int64_t>(both >> 32); }
  };

  /// `counts_blocks`: whether blocks are taken step by step; otherwise members hold what they came with.
  DraftedSteps(const Speculation& speculation, std::int64_t block_tokens, bool counts_blocks);

  /// Draws a member's next ticks from `now` on, up to the horizon or its `output`; it is then what it will be behind
  /// them. Returns the ticks.
  std::int64_t join(std::uint32_t id, DraftedMember& member, std::int32_t output, std::int64_t now) noexcept;
  /// Takes back what join() added at tick `since` from `now` on; the member, as it was given to join(), is then what it
  /// is now.
  void leave(
      std::uint32_t id, DraftedMember& member, std::int32_t output, std::int64_t since, std::int64_t now) noexcept;

  /// What the members gain in the tick `now` and the blocks that they need for it.
  [[nodiscard]] const Sum& at(std::int64_t now) const noexcept { return sums_[slot(now)]; }
  /// Ends the tick `now`.
  void forget(std::int64_t now) noexcept { sums_[slot(now)] = {}; }

 private:
  /// Most random numbers of 53 bits with the same leading bits are below as many of the chances as each other, which a
  /// table then tells; of the others each has to be compared.
  static constexpr int leading_bits = 10;
  static constexpr std::uint8_t compare = 0xff;

  [[nodiscard]] static std::size_t slot(std::int64_t tick) noexcept {
    return static_cast<std::size_t>(tick) % static_cast<std::size_t>(horizon);
  }
  /// A member on its way from step to step.
  struct Walk {
    std::uint64_t state = 0;  ///< of its random numbers
    std::int64_t room = 0;    ///< keys that its blocks have place for; without end where blocks are not counted
    std::int64_t generated = 0;
    std::int64_t blocks = 0;  ///< that it took on its way
  };
  [[nodiscard]] Walk walk(std::uint32_t id, const DraftedMember& member) const noexcept;
  /// Tokens of the next step, as many as an answer without an end would gain.
  [[nodiscard]] std::int64_t draw(Walk& walk) const noexcept;
  /// A step of so many, and what it adds to the sums.
  [[nodiscard]] std::uint64_t advance(Walk& walk, std::int64_t tokens) const noexcept;
  /// The member, which set out as `member`, where the walk is after so many ticks.
  [[nodiscard]] static DraftedMember behind(const Walk& walk, const DraftedMember& member, std::int64_t ticks) noexcept;

  Speculation speculation_;
  std::int64_t block_tokens_;
  bool counts_blocks_;
  std::array<std::uint8_t, std::size_t{1} << leading_bits> tokens_{};
  std::array<Sum, horizon> sums_{};
};

}  // namespace headroom
