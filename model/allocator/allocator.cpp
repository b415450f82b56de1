// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/allocator/allocator.hpp>

#include <algorithm>
#include <cassert>
#include <iterator>

namespace headroom {
namespace {

constexpr std::uint64_t large_base = 1ULL << 60;  // base address of the large pool's expandable segment

std::uint64_t up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint64_t down(std::uint64_t value, std::uint64_t unit) {
  return value / unit * unit;
}

/// Size of the segment that is requested from the device when no free block fits.
std::uint64_t segment_size(std::uint64_t size) {
  if (size <= caching::small_request) {
    return caching::small_segment;
  }
  return size < caching::large_request ? caching::large_segment : up(size, caching::large_rounding);
}

}  // namespace

CachingAllocator::CachingAllocator(std::uint64_t capacity, bool expandable)
    : capacity_{capacity}, expandable_{expandable} {
  pool(true).page = caching::small_segment;
  pool(false).page = caching::large_segment;
  pool(false).base = pool(false).end = large_base;
}

std::optional<std::uint64_t> CachingAllocator::allocate(std::uint64_t bytes) {
  if (bytes > capacity_) {
    empty_cache();  // PyTorch returns its cache before the request fails
    return std::nullopt;
  }
  const std::uint64_t size = std::max(up(bytes, caching::block), caching::block);
  const bool small = size <= caching::small_request;
  std::uint64_t address = 0;
  if (!take_free(size, small, address)) {
    if (!reserve(size, small)) {
      empty_cache();
      if (!reserve(size, small)) {
        return std::nullopt;
      }
    }
    const bool taken = take_free(size, small, address);
    assert(taken);
    static_cast<void>(taken);
  }
  stats_.allocated += blocks_.at(address).size;
  stats_.peak_allocated = std::max(stats_.peak_allocated, stats_.allocated);
  return address;
}

/// Hands out the smallest free block that fits, and splits off the rest if it is worth keeping.
bool CachingAllocator::take_free(std::uint64_t size, bool small, std::uint64_t& address) {
  const auto best = pool(small).free.lower_bound({size, 0});
  if (best == pool(small).free.end()) {
    return false;
  }
  address = best->second;
  const auto at = blocks_.find(address);
  Block whole = at->second;
  forget(at);
  const std::uint64_t rest = whole.size - size;
  const bool split = small || expandable_ ? rest >= caching::block : rest > caching::small_request;
  if (split) {
    Block behind = whole;
    behind.size = rest;
    whole.size = size;
    place(address + size, behind);
  }
  whole.state = State::live;
  place(address, whole);
  return true;
}

bool CachingAllocator::reserve(std::uint64_t size, bool small) {
  return expandable_ ? grow(size, small) : reserve_segment(size, small);
}

void CachingAllocator::add_reserved(std::uint64_t bytes) noexcept {
  stats_.reserved += bytes;
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
}

bool CachingAllocator::reserve_segment(std::uint64_t size, bool small) {
  const std::uint64_t segment = segment_size(size);
  if (segment > capacity_ - stats_.reserved) {
    return false;
  }
  add_reserved(segment);
  place(next_segment_, {segment, next_segment_, State::free, small});
  next_segment_ += segment;
  return true;
}

/// The lowest address from which free and unmapped blocks, or the open end, hold `size` bytes: an unmapped block or the
/// free block before it.
std::uint64_t CachingAllocator::room_from(const Pool& pool, std::uint64_t size) const {
  const auto start_of = [&](std::uint64_t address) {
    const auto at = blocks_.lower_bound(address);
    if (at != blocks_.begin()) {
      const auto before = std::prev(at);
      if (before->second.state == State::free && before->first >= pool.base &&
          before->first + before->second.size == address) {
        return before->first;
      }
    }
    return address;
  };
  for (const std::uint64_t unmapped : pool.unmapped) {
    const std::uint64_t start = start_of(unmapped);
    std::uint64_t reach = start;
    for (auto at = blocks_.find(start); reach - start < size; ++at) {
      if (reach == pool.end) {
        return start;
      }
      if (at == blocks_.end() || at->first != reach || at->second.state == State::live) {
        break;
      }
      reach += at->second.size;
    }
    if (reach - start >= size) {
      return start;
    }
  }
  return start_of(pool.end);
}

bool CachingAllocator::grow(std::uint64_t size, bool small) {
  Pool& grown = pool(small);
  const std::uint64_t from = room_from(grown, size);
  return map_pages(grown, small, from, from + size);
}

/// Maps the unmapped pages of [from, until). If the device has too little left, returns false and maps nothing.
bool CachingAllocator::map_pages(Pool& grown, bool small, std::uint64_t from, std::uint64_t until) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;  // address, size
  std::uint64_t wanted = 0;
  for (auto at = blocks_.lower_bound(from); at != blocks_.end() && at->first < std::min(until, grown.end); ++at) {
    if (at->second.state == State::unmapped) {
      pieces.emplace_back(at->first, std::min(at->second.size, up(until - at->first, grown.page)));
      wanted += pieces.back().second;
    }
  }
  const std::uint64_t beyond = until > grown.end ? up(until - grown.end, grown.page) : 0;
  wanted += beyond;
  if (wanted > capacity_ - stats_.reserved) {
    return false;
  }
  for (const auto& [address, size] : pieces) {
    const auto at = blocks_.find(address);
    Block rest = at->second;
    forget(at);
    rest.size -= size;
    if (rest.size > 0) {
      place(address + size, rest);
    }
    place(address, {size, grown.base, State::free, small});
  }
  if (beyond > 0) {
    const std::uint64_t end = grown.end;
    grown.end += beyond;
    place(end, {beyond, grown.base, State::free, small});
  }
  add_reserved(wanted);
  return true;
}

/// Enters a block; a free or unmapped block joins neighbours of the same state in its segment.
void CachingAllocator::place(std::uint64_t address, const Block& block) {
  Block joined = block;
  if (block.state != State::live) {
    const auto joins = [&](Blocks::iterator other) {
      return other->second.state == block.state && other->second.segment == block.segment &&
             other->second.small == block.small;
    };
    const auto behind = blocks_.find(address + block.size);
    if (behind != blocks_.end() && joins(behind)) {
      joined.size += behind->second.size;
      forget(behind);
    }
    const auto from = blocks_.lower_bound(address);
    if (from != blocks_.begin()) {
      const auto before = std::prev(from);
      if (joins(before) && before->first + before->second.size == address) {
        address = before->first;
        joined.size += before->second.size;
        forget(before);
      }
    }
  }
  blocks_.emplace(address, joined);
  if (joined.state == State::free) {
    pool(joined.small).free.emplace(joined.size, address);
  } else if (joined.state == State::unmapped) {
    pool(joined.small).unmapped.insert(address);
  }
}

void CachingAllocator::forget(Blocks::iterator at) {
  Pool& home = pool(at->second.small);
  home.free.erase({at->second.size, at->first});
  home.unmapped.erase(at->first);
  blocks_.erase(at);
}

void CachingAllocator::release(std::uint64_t address) {
  const auto at = blocks_.find(address);
  assert(at != blocks_.end() && at->second.state == State::live);
  Block block = at->second;
  stats_.allocated -= block.size;
  blocks_.erase(at);
  block.state = State::free;
  place(address, block);
}

void CachingAllocator::empty_cache() {
  if (expandable_) {
    release_pages(true);
    release_pages(false);
  } else {
    release_segments();
  }
}

/// A segment is unused if one free block spans it.
void CachingAllocator::release_segments() {
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    const auto next = std::next(at);
    const bool last = next == blocks_.end() || next->second.segment != at->second.segment;
    if (at->second.state == State::free && at->first == at->second.segment && last) {
      stats_.reserved -= at->second.size;
      forget(at);
    }
    at = next;
  }
}

void CachingAllocator::release_pages(bool small) {
  Pool& home = pool(small);
  const FreeBlocks all = home.free;
  for (const auto& [size, address] : all) {
    const std::uint64_t first = home.base + up(address - home.base, home.page);
    const std::uint64_t last = home.base + down(address + size - home.base, home.page);
    if (first >= last) {
      continue;
    }
    const auto at = blocks_.find(address);
    Block part = at->second;
    forget(at);
    stats_.reserved -= last - first;
    if (first > address) {
      part.size = first - address;
      place(address, part);
    }
    if (address + size > last) {
      part.size = address + size - last;
      place(last, part);
    }
    place(first, {last - first, home.base, State::unmapped, small});
  }
}

std::uint64_t CachingAllocator::largest_grant() const {
  std::uint64_t hole = 0;
  std::uint64_t returnable = 0;
  for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
    const Block& block = at->second;
    if (block.state != State::free) {
      continue;
    }
    const std::uint64_t most = block.small ? caching::small_request : block.size;
    hole = std::max(hole, std::min(most, block.size));
    const auto next = std::next(at);
    if (expandable_) {
      const Pool& home = pools_[block.small ? 0 : 1];
      const std::uint64_t first = up(at->first - home.base, home.page);
      const std::uint64_t last = down(at->first + block.size - home.base, home.page);
      returnable += last > first ? last - first : 0;
    } else if (at->first == block.segment && (next == blocks_.end() || next->second.segment != block.segment)) {
      returnable += block.size;
    }
  }
  const std::uint64_t rest = capacity_ - stats_.reserved + returnable;
  return std::max(hole, down(rest, expandable_ ? caching::large_segment : caching::large_rounding));
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> CachingAllocator::live() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (const auto& [address, block] : blocks_) {
    if (block.state == State::live) {
      result.emplace_back(address, block.size);
    }
  }
  return result;
}

}  // namespace headroom
