// SPDX-License-Identifier: Apache-2.0
// Sequences that join, leave early and end, against a list that is searched each time.
#include <headroom/model/serve/engine/drafted_steps.hpp>
#include <headroom/model/serve/simulation/decode_set.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace headroom;

namespace {

struct Listed {
  std::int64_t end, order, joined, kv;
  std::uint32_t id;
};

}  // namespace

TEST_CASE("decode set: whoever leaves early, the others end at their ticks and in their order") {
  CHECK(rc::check([] {
    constexpr std::int64_t block_tokens = 16;
    DecodeSet set{256, block_tokens};
    std::vector<Listed> list;
    std::int64_t joined = 0;
    const auto keys = [&](const Listed& one) { return one.kv + set.now() - one.joined; };
    for (int event = *rc::gen::inRange(1, 300); event > 0; --event) {
      const int what = list.size() < 200 ? *rc::gen::inRange(0, 4) : 3;
      if (what < 2) {
        const auto kv = *rc::gen::inRange<std::int64_t>(1, 100), left = *rc::gen::inRange<std::int64_t>(1, 40);
        set.join(static_cast<std::uint32_t>(joined), kv, left, joined);
        list.push_back({set.now() + left, joined, set.now(), kv, static_cast<std::uint32_t>(joined)});
        ++joined;
      } else if (what == 2 && !list.empty()) {
        const auto one = list.begin() + static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, list.size()));
        set.leave(one->id, keys(*one));
        list.erase(one);
      } else if (!list.empty()) {
        const auto first = std::min_element(list.begin(), list.end(), [](const Listed& a, const Listed& b) {
          return std::tie(a.end, a.order) < std::tie(b.end, b.order);
        });
        RC_ASSERT(set.until_end() == first->end - set.now());
        set.tick(set.until_end());
        std::uint32_t id = 0;
        RC_ASSERT(set.pop_ended(id, [&](std::uint32_t) { return keys(*first); }));
        RC_ASSERT(id == first->id);
        list.erase(first);
        while (set.pop_ended(id, [&](std::uint32_t one) {
          return keys(*std::find_if(list.begin(), list.end(), [&](const Listed& l) { return l.id == one; }));
        })) {
          list.erase(std::find_if(list.begin(), list.end(), [&](const Listed& l) { return l.id == id; }));
        }
      }
      std::int64_t cached = 0, left = 0;
      for (const Listed& one : list) {
        cached += keys(one);
        left += one.end - set.now();
      }
      RC_ASSERT(set.size() == static_cast<std::int64_t>(list.size()));
      RC_ASSERT(set.cached() == cached);
      RC_ASSERT(set.left() == left);
    }
  }));
}

TEST_CASE("drafts: what all members gain and need in a step is the sum of what each does by itself") {
  constexpr std::int64_t block_tokens = 16;
  const Speculation speculation{3, 0.6, 11};
  struct Member {
    std::uint32_t id;
    std::int32_t output;
    DraftedMember now, given, drawn;
    std::int64_t since, until;
  };
  DraftedSteps steps{speculation, block_tokens, true};
  std::vector<Member> members;
  std::int64_t extended = 0, left = 0;
  const auto join = [&](Member& member, std::int64_t tick) {
    member.given = member.drawn = member.now;
    member.since = tick;
    member.until = tick + steps.join(member.id, member.drawn, member.output, tick);
  };
  for (std::int64_t tick = 0; tick < 4000; ++tick) {
    if (tick % 7 == 0 && tick < 3000) {
      const auto id = static_cast<std::uint32_t>(tick);
      Member member{
          .id = id, .output = 2 + static_cast<std::int32_t>(tick % 1500), .now = {}, .given = {}, .drawn = {}};
      member.now = {static_cast<std::int32_t>(1 + tick % 90), 1, static_cast<std::int32_t>(1 + tick % 90 / 16), 0};
      join(member, tick);
      members.push_back(member);
    }
    if (tick % 31 == 0 && members.size() > 5) {
      Member& goes = members[static_cast<std::size_t>(tick) % members.size()];
      steps.leave(goes.id, goes.given, goes.output, goes.since, tick);
      REQUIRE(goes.given.kv == goes.now.kv);
      REQUIRE(goes.given.generated == goes.now.generated);
      REQUIRE(goes.given.held == goes.now.held);
      REQUIRE(goes.given.steps == goes.now.steps);
      goes = members.back();
      members.pop_back();
      ++left;
    }
    std::int64_t tokens = 0, blocks = 0;
    for (Member& member : members) {
      DraftedMember& now = member.now;
      const std::int64_t wanted = (now.kv + 1 + speculation.draft + block_tokens - 1) / block_tokens;
      const std::int64_t more = std::max<std::int64_t>(wanted - now.held, 0);
      const std::int64_t gained = std::min<std::int64_t>(speculation.tokens(speculation.stream(member.id), now.steps++),
                                                         member.output - now.generated);
      blocks += more;
      tokens += gained;
      now.held += static_cast<std::int32_t>(more);
      now.kv += static_cast<std::int32_t>(gained);
      now.generated += static_cast<std::int32_t>(gained);
    }
    REQUIRE(steps.at(tick).blocks() == blocks);
    REQUIRE(steps.at(tick).tokens() == tokens);
    steps.forget(tick);
    for (std::size_t i = 0; i < members.size();) {
      if (members[i].until != tick + 1) {
        ++i;
        continue;
      }
      REQUIRE(members[i].drawn.generated == members[i].now.generated);
      REQUIRE(members[i].drawn.held == members[i].now.held);
      if (members[i].now.generated < members[i].output) {
        join(members[i++], tick + 1);
        ++extended;
      } else {
        members[i] = members.back();
        members.pop_back();
      }
    }
  }
  CHECK(extended > 100);
  CHECK(left > 50);
  CHECK(members.empty());
}

TEST_CASE("drafts: as many are accepted as the probability of each says") {
  const Speculation speculation{4, 0.7, 5};
  std::array<double, 6> counts{};
  constexpr std::int64_t draws = 200'000;
  for (std::int64_t i = 0; i < draws; ++i) {
    counts[static_cast<std::size_t>(
        speculation.tokens(speculation.stream(static_cast<std::uint64_t>(i % 100)), i / 100))] += 1.0;
  }
  // k drafts are accepted and the next is not: a^k (1 - a), all of them a^4; three deviations of a binomial's count.
  for (std::size_t k = 0; k <= 4; ++k) {
    const double chance = std::pow(0.7, static_cast<double>(k)) * (k < 4 ? 0.3 : 1.0);
    CHECK(std::abs(counts[k + 1] / draws - chance) < 3.0 * std::sqrt(chance * (1.0 - chance) / draws));
  }
  CHECK(Speculation{3, 1.0, 1}.tokens(9, 9) == 4);
  CHECK(Speculation{3, 0.0, 1}.tokens(9, 9) == 1);
}
