// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/drafted_steps.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace headroom {

DraftedSteps::DraftedSteps(const Speculation& speculation, std::int64_t block_tokens, bool counts_blocks)
    : speculation_{speculation}, block_tokens_{block_tokens}, counts_blocks_{counts_blocks} {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::uint64_t least = static_cast<std::uint64_t>(i) << (64 - leading_bits);
    const std::uint64_t most = least | (~std::uint64_t{0} >> leading_bits);
    const std::int64_t tokens = speculation.tokens_of(least);
    tokens_[i] =
        tokens == speculation.tokens_of(most) && tokens < compare ? static_cast<std::uint8_t>(tokens) : compare;
  }
}

DraftedSteps::Walk DraftedSteps::walk(std::uint32_t id, const DraftedMember& member) const noexcept {
  Walk walk;
  walk.state = speculation_.stream(id) + static_cast<std::uint64_t>(member.steps) * golden_step;
  walk.room = counts_blocks_ ? member.held * block_tokens_ - member.kv : std::numeric_limits<std::int64_t>::max() / 2;
  walk.generated = member.generated;
  return walk;
}

std::int64_t DraftedSteps::draw(Walk& walk) const noexcept {
  const std::uint64_t bits = scatter(walk.state);
  walk.state += golden_step;
  const std::uint8_t tokens = tokens_[bits >> (64 - leading_bits)];
  return tokens != compare ? tokens : speculation_.tokens_of(bits);
}

std::uint64_t DraftedSteps::advance(Walk& walk, std::int64_t tokens) const noexcept {
  // A draft mostly opens one block or none, which is told without a branch that nobody could foresee.
  auto blocks = static_cast<std::int64_t>(walk.room <= speculation_.draft);
  walk.room += block_tokens_ & -blocks;
  if (walk.room <= speculation_.draft) {
    const std::int64_t more = (speculation_.draft - walk.room) / block_tokens_ + 1;
    walk.room += more * block_tokens_;
    blocks += more;
  }
  walk.room -= tokens;
  walk.generated += tokens;
  walk.blocks += blocks;
  return static_cast<std::uint64_t>(tokens) | (static_cast<std::uint64_t>(blocks) << 32);
}

DraftedMember DraftedSteps::behind(const Walk& walk, const DraftedMember& member, std::int64_t ticks) noexcept {
  const auto generated = static_cast<std::int32_t>(walk.generated);
  return {member.kv + generated - member.generated, generated, member.held + static_cast<std::int32_t>(walk.blocks),
          member.steps + static_cast<std::int32_t>(ticks)};
}

std::int64_t DraftedSteps::join(std::uint32_t id,
                                DraftedMember& member,
                                std::int32_t output,
                                std::int64_t now) noexcept {
  Walk on = walk(id, member);
  std::int64_t ticks = 0;
  for (const std::int64_t before = output - speculation_.draft; ticks < horizon && on.generated < before; ++ticks) {
    sums_[slot(now + ticks)].both += advance(on, draw(on));
  }
  for (; ticks < horizon && on.generated < output; ++ticks) {
    sums_[slot(now + ticks)].both += advance(on, std::min(draw(on), output - on.generated));
  }
  member = behind(on, member, ticks);
  return ticks;
}

void DraftedSteps::leave(
    std::uint32_t id, DraftedMember& member, std::int32_t output, std::int64_t since, std::int64_t now) noexcept {
  const DraftedMember given = member;
  Walk on = walk(id, given);
  for (std::int64_t tick = since; tick < since + horizon && on.generated < output; ++tick) {
    if (tick == now) {
      member = behind(on, given, tick - since);
    }
    const std::uint64_t more = advance(on, std::min(draw(on), output - on.generated));
    if (tick >= now) {
      sums_[slot(tick)].both -= more;
    }
  }
}

}  // namespace headroom
