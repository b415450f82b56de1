// SPDX-License-Identifier: Apache-2.0
// The sequences of an engine that decode, advanced all together: a step costs the same for one and for a thousand.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom {

/// Every member gains one token a tick. What a member holds follows from the tick at which it joined, so that a tick is
/// counters alone; members that reach their end wait in a heap, and those that fill a block in a count for each of the
/// `block_tokens` ticks at which that happens.
class DecodeSet {
 public:
  DecodeSet(std::int64_t capacity, std::int64_t block_tokens);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Ticks so far: what a member's tokens are counted from.
  [[nodiscard]] std::int64_t now() const noexcept { return now_; }
  /// Keys that are cached for all members together.
  [[nodiscard]] std::int64_t cached() const noexcept { return cached_; }
  /// Ticks until the first member leaves. Precondition: size() > 0.
  [[nodiscard]] std::int64_t until_end() const noexcept { return heap_.front().end - now_; }

  /// `kv` keys cached, `left` >= 1 ticks to stay; `order` decides between members that end together.
  void join(std::uint32_t id, std::int64_t kv, std::int64_t left, std::int64_t order);
  /// Takes out a member that has not ended; `kv` are its keys now.
  void leave(std::uint32_t id, std::int64_t kv) noexcept;
  /// Takes out the next member whose end is now; false when there is none. `kv_of(id)` are its keys now.
  template <class Keys>
  bool pop_ended(std::uint32_t& id, const Keys& kv_of) noexcept {
    if (heap_.empty() || heap_.front().end != now_) {
      return false;
    }
    id = heap_.front().id;
    pop();
    forget(kv_of(id));
    return true;
  }

  /// Blocks that the next `ticks` ticks fill, beyond those held.
  [[nodiscard]] std::int64_t growth(std::int64_t ticks) const noexcept;
  /// The most ticks, up to `limit`, whose growth is no more than `blocks`.
  [[nodiscard]] std::int64_t ticks_within(std::int64_t blocks, std::int64_t limit) const noexcept;
  void tick(std::int64_t ticks) noexcept;

  /// For members that gain other numbers of tokens (speculation): `tokens` more keys in all, and no tick.
  void gain(std::int64_t tokens) noexcept { cached_ += tokens; }

 private:
  struct Member {
    std::int64_t end, order;
    std::uint32_t id;
    [[nodiscard]] bool after(const Member& other) const noexcept {
      return end != other.end ? end > other.end : order > other.order;
    }
  };
  void pop() noexcept;
  void forget(std::int64_t kv) noexcept;
  /// The slot of a member: ticks at which it needs a block are congruent to it.
  [[nodiscard]] std::size_t slot(std::int64_t kv) const noexcept;

  std::int64_t block_tokens_;
  std::int64_t size_ = 0, now_ = 0, cached_ = 0;
  std::vector<Member> heap_;
  std::vector<std::int64_t> filling_;  ///< members by the tick, modulo block_tokens, that opens a block
};

}  // namespace headroom
