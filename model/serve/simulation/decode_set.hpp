// SPDX-License-Identifier: Apache-2.0
// The decoding sequences of an engine, advanced together: a step costs the same for one and for a thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Every member gains one token per tick, unless tick_with() says what all gain. Its keys follow from the tick at which
/// it joined, so that a tick only changes counters. A heap orders members by their end; a count per slot of
/// `block_tokens` ticks tells how many open a block.
class DecodeSet {
 public:
  /// `block_tokens` 0: blocks are counted elsewhere, and neither growth() nor ticks_within() is asked for.
  DecodeSet(std::int64_t capacity, std::int64_t block_tokens);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  /// Ticks so far, from which a member's tokens are counted.
  [[nodiscard]] std::int64_t now() const noexcept { return now_; }
  /// Cached keys of all members together.
  [[nodiscard]] std::int64_t cached() const noexcept { return cached_; }
  /// Ticks until the first member leaves. Precondition: size() > 0.
  [[nodiscard]] std::int64_t until_end() const noexcept { return heap_.front().end - now_; }

  /// Ticks, which are tokens without drafts, that all members together have yet to go.
  [[nodiscard]] std::int64_t left() const noexcept { return ends_ - now_ * size_; }

  /// Adds a member with `kv` cached keys that leaves after `left` >= 1 ticks; `order` breaks ties.
  void join(std::uint32_t id, std::int64_t kv, std::int64_t left, std::int64_t order);
  /// Removes a member that has not ended; `kv` is its current number of keys.
  void leave(std::uint32_t id, std::int64_t kv) noexcept;
  /// Removes the next member that ends now; false if there is none. `kv_of(id)` is its current number of keys.
  template <class Keys>
  bool pop_ended(std::uint32_t& id, const Keys& kv_of) noexcept {
    if (heap_.empty() || heap_.front().end != now_) {
      return false;
    }
    id = heap_.front().id;
    ends_ -= now_;
    pop();
    forget(kv_of(id));
    return true;
  }

  /// Additional blocks that the next `ticks` ticks fill.
  [[nodiscard]] std::int64_t growth(std::int64_t ticks) const noexcept;
  /// The most ticks, up to `limit`, that fill at most `blocks` blocks.
  [[nodiscard]] std::int64_t ticks_within(std::int64_t blocks, std::int64_t limit) const noexcept;
  void tick(std::int64_t ticks) noexcept;

  /// A tick of members that gain varying numbers of tokens (drafts), together `tokens`.
  void tick_with(std::int64_t tokens) noexcept {
    ++now_;
    cached_ += tokens;
  }

 private:
  struct Member {
    std::int64_t end, order;
    std::uint32_t id;
    [[nodiscard]] bool after(const Member& other) const noexcept {
      return end != other.end ? end > other.end : order > other.order;
    }
  };
  void pop() noexcept;
  /// Moves the member at `at`, the only one out of order, up or down to its place.
  void settle(std::size_t at) noexcept;
  void forget(std::int64_t kv) noexcept;
  /// The slot of a member: the ticks, modulo block_tokens, at which it needs a block.
  [[nodiscard]] std::size_t slot(std::int64_t kv) const noexcept;
  void count_slot(std::int64_t kv, std::int64_t members) noexcept;

  std::int64_t block_tokens_;
  std::int64_t size_ = 0, now_ = 0, cached_ = 0;
  std::int64_t ends_ = 0;  ///< sum of the ticks at which members leave
  std::vector<Member> heap_;
  std::vector<std::int64_t> filling_;  ///< members by the tick, modulo block_tokens, at which they open a block
};

}  // namespace headroom
