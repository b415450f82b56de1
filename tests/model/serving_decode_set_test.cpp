// SPDX-License-Identifier: Apache-2.0
// Sequences that join, leave early and end, against a list that is searched each time.
#include <headroom/model/serve/simulation/decode_set.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
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
