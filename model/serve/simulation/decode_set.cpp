// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/decode_set.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom {

DecodeSet::DecodeSet(std::int64_t capacity, std::int64_t block_tokens)
    : block_tokens_{block_tokens}, filling_(static_cast<std::size_t>(block_tokens), 0) {
  heap_.reserve(static_cast<std::size_t>(capacity));
}

std::size_t DecodeSet::slot(std::int64_t kv) const noexcept {
  // A tick opens a block for members whose blocks are full, which is the case in (-kv mod B) ticks.
  const std::int64_t ticks = (block_tokens_ - kv % block_tokens_) % block_tokens_;
  return static_cast<std::size_t>((now_ + ticks) % block_tokens_);
}

void DecodeSet::count_slot(std::int64_t kv, std::int64_t members) noexcept {
  if (block_tokens_ > 0) {
    filling_[slot(kv)] += members;
  }
}

void DecodeSet::join(std::uint32_t id, std::int64_t kv, std::int64_t left, std::int64_t order) {
  heap_.push_back({now_ + left, order, id});
  std::push_heap(heap_.begin(), heap_.end(), [](const Member& a, const Member& b) { return a.after(b); });
  ++size_;
  ends_ += now_ + left;
  cached_ += kv;
  count_slot(kv, 1);
}

void DecodeSet::pop() noexcept {
  std::pop_heap(heap_.begin(), heap_.end(), [](const Member& a, const Member& b) { return a.after(b); });
  heap_.pop_back();
}

void DecodeSet::settle(std::size_t at) noexcept {
  for (std::size_t parent; at > 0 && at < heap_.size() && heap_[parent = (at - 1) / 2].after(heap_[at]); at = parent) {
    std::swap(heap_[parent], heap_[at]);
  }
  for (std::size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
    if (child + 1 < heap_.size() && heap_[child].after(heap_[child + 1])) {
      ++child;
    }
    if (!heap_[at].after(heap_[child])) {
      return;
    }
    std::swap(heap_[at], heap_[child]);
  }
}

void DecodeSet::forget(std::int64_t kv) noexcept {
  --size_;
  cached_ -= kv;
  count_slot(kv, -1);
}

void DecodeSet::leave(std::uint32_t id, std::int64_t kv) noexcept {
  const auto found = std::find_if(heap_.begin(), heap_.end(), [&](const Member& m) { return m.id == id; });
  ends_ -= found->end;
  *found = heap_.back();
  heap_.pop_back();
  settle(static_cast<std::size_t>(found - heap_.begin()));
  forget(kv);
}

std::int64_t DecodeSet::growth(std::int64_t ticks) const noexcept {
  std::int64_t blocks = ticks / block_tokens_ * size_;
  std::int64_t at = now_ % block_tokens_;
  for (std::int64_t i = ticks % block_tokens_; i > 0; --i) {
    blocks += filling_[static_cast<std::size_t>(at)];
    at = at + 1 == block_tokens_ ? 0 : at + 1;
  }
  return blocks;
}

std::int64_t DecodeSet::ticks_within(std::int64_t blocks, std::int64_t limit) const noexcept {
  // Each member needs at most one block per block_tokens ticks, so far from the pool's end nothing is counted.
  if ((limit / block_tokens_ + 1) * size_ <= blocks) {
    return limit;
  }
  const std::int64_t rounds = size_ > 0 ? blocks / size_ : 0;
  std::int64_t ticks = rounds * block_tokens_;
  std::int64_t left = blocks - rounds * size_;
  std::int64_t at = now_ % block_tokens_;
  while (ticks < limit && filling_[static_cast<std::size_t>(at)] <= left) {
    left -= filling_[static_cast<std::size_t>(at)];
    at = at + 1 == block_tokens_ ? 0 : at + 1;
    ++ticks;
  }
  return std::min(ticks, limit);
}

void DecodeSet::tick(std::int64_t ticks) noexcept {
  now_ += ticks;
  cached_ += ticks * size_;
}

}  // namespace headroom
