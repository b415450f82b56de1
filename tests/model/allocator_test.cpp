// SPDX-License-Identifier: Apache-2.0
// The caching allocator's rules one by one, holes among them, and what must hold for any sequence of requests.
#include <headroom/model/allocator/allocation_trace.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <sstream>

using namespace headroom;

namespace {

constexpr std::uint64_t kib = 1ULL << 10;
constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t gib = 1ULL << 30;

AllocationTrace trace_of(const std::string& rows) {
  std::istringstream stream{"event,id,bytes\n" + rows};
  Diagnostics diagnostics;
  AllocationTrace trace = read_allocation_trace(stream, "t.csv", diagnostics);
  diagnostics.throw_if_any();
  return trace;
}

std::uint64_t reserved_for(std::uint64_t bytes, bool expandable = false) {
  CachingAllocator allocator{gib, expandable};
  REQUIRE(allocator.allocate(bytes));
  return allocator.stats().reserved;
}

/// Five 8 GiB blocks come and go; five of 6 GiB take their segments and leave 2 GiB of each.
std::string holes_by_reuse() {
  std::string rows;
  for (const std::string& row :
       {std::string{"alloc,long%,8 GiB\n"}, std::string{"free,long%,\n"}, std::string{"alloc,short%,6 GiB\n"}}) {
    for (const char digit : {'0', '1', '2', '3', '4'}) {
      std::string line = row;
      line[line.find('%')] = digit;
      rows += line;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("sizes are rounded to 512 bytes, segments to 2 MiB, 20 MiB or a multiple of 2 MiB") {
  CachingAllocator allocator{gib, false};
  REQUIRE(allocator.allocate(1));
  CHECK(allocator.stats().allocated == 512);
  REQUIRE(allocator.allocate(513));
  CHECK(allocator.stats().allocated == 512 + 1024);
  CHECK(reserved_for(1) == 2 * mib);
  CHECK(reserved_for(1 * mib) == 2 * mib);
  CHECK(reserved_for(1 * mib + 1) == 20 * mib);
  CHECK(reserved_for(10 * mib - 512) == 20 * mib);
  CHECK(reserved_for(10 * mib) == 10 * mib);
  CHECK(reserved_for(11 * mib) == 12 * mib);
  // Expandable: pages of 2 MiB for small requests, 20 MiB for all others.
  CHECK(reserved_for(1, true) == 2 * mib);
  CHECK(reserved_for(11 * mib, true) == 20 * mib);
  CHECK(reserved_for(21 * mib, true) == 40 * mib);
}

TEST_CASE("small and large requests share no segment, two small ones share theirs") {
  CachingAllocator allocator{gib, false};
  REQUIRE(allocator.allocate(900 * kib));
  REQUIRE(allocator.allocate(900 * kib));
  CHECK(allocator.stats().reserved == 2 * mib);
  REQUIRE(allocator.allocate(2 * mib));
  CHECK(allocator.stats().reserved == 22 * mib);
  REQUIRE(allocator.allocate(17 * mib));  // the rest of the 20 MiB segment is 18 MiB
  CHECK(allocator.stats().reserved == 22 * mib);
}

TEST_CASE("a large block is split when more than 1 MiB is left, else handed out whole") {
  CachingAllocator allocator{gib, false};
  const auto block = allocator.allocate(100 * mib);
  REQUIRE(block);
  allocator.release(*block);
  REQUIRE(allocator.allocate(99 * mib));
  CHECK(allocator.stats().allocated == 100 * mib);
  CachingAllocator other{gib, false};
  const auto again = other.allocate(100 * mib);
  REQUIRE(again);
  other.release(*again);
  REQUIRE(other.allocate(99 * mib - 512));
  CHECK(other.stats().allocated == 99 * mib - 512);
}

TEST_CASE("the smallest block that fits is taken, and freed neighbours join") {
  CachingAllocator allocator{gib, false};
  const auto big = allocator.allocate(200 * mib);
  const auto fit = allocator.allocate(100 * mib);
  REQUIRE((big && fit));
  allocator.release(*big);
  allocator.release(*fit);
  CHECK(allocator.allocate(90 * mib) == fit);
  // big is split in three, all freed: 200 MiB in one piece again.
  const auto a = allocator.allocate(150 * mib);
  const auto b = allocator.allocate(30 * mib);
  const auto c = allocator.allocate(20 * mib);
  REQUIRE((a && b && c));
  CHECK(allocator.stats().reserved == 300 * mib);
  allocator.release(*a);
  allocator.release(*c);
  allocator.release(*b);
  CHECK(allocator.allocate(200 * mib) == big);
  CHECK(allocator.stats().reserved == 300 * mib);
}

TEST_CASE("unused segments go back to the device before a request is refused") {
  CachingAllocator allocator{100 * mib, false};
  const auto block = allocator.allocate(60 * mib);
  REQUIRE(block);
  allocator.release(*block);
  CHECK(allocator.stats().reserved == 60 * mib);
  CHECK(allocator.allocate(80 * mib));
  CHECK(allocator.stats().reserved == 80 * mib);
  CHECK_FALSE(allocator.allocate(30 * mib));
  CHECK(allocator.stats().peak_reserved == 80 * mib);
}

TEST_CASE("40 of memory, 30 live, 10 free in holes of 2: 4 is refused, and granted by expandable segments") {
  const AllocationTrace trace = trace_of(holes_by_reuse() + "alloc,late,4 GiB\n");
  const Bytes device{40.0 * gib};
  const Replay plain = replay(trace, device, false);
  REQUIRE(plain.refused);
  CHECK(plain.refused->line == 17);
  CHECK(plain.stats.allocated == 30 * gib);
  CHECK(plain.stats.reserved == 40 * gib);
  CHECK(plain.free.raw() == 10.0 * gib);
  CHECK(plain.largest_grant.raw() == 2.0 * gib);
  const Replay expandable = replay(trace, device, true);
  CHECK_FALSE(expandable.refused);
  CHECK(expandable.stats.allocated == 34 * gib);
  CHECK(expandable.stats.peak_reserved <= 40 * gib);
}

TEST_CASE("holes between live blocks of one segment are unmapped and serve a request at its end") {
  std::string rows;
  for (const std::string i : {"0", "1", "2", "3", "4"}) {
    rows += "alloc,keep" + i + ",6 GiB\nalloc,hole" + i + ",2 GiB\n";
  }
  for (const std::string i : {"0", "1", "2", "3", "4"}) {
    rows += "free,hole" + i + ",\n";
  }
  const Replay fits = replay(trace_of(rows + "alloc,late,4 GiB\n"), Bytes{40.0 * gib}, true);
  CHECK_FALSE(fits.refused);
  // The holes' edges are no page edges: each keeps less than two pages of 20 MiB, so 9.9 GiB of 10 can be had.
  CHECK_FALSE(replay(trace_of(rows + "alloc,late,9900 MiB\n"), Bytes{40.0 * gib}, true).refused);
  const Replay beyond = replay(trace_of(rows + "alloc,late,10240 MiB\n"), Bytes{40.0 * gib}, true);
  REQUIRE(beyond.refused);
  CHECK(beyond.free.raw() == 10.0 * gib);
  CHECK(beyond.largest_grant.raw() < 10.0 * gib);
  CHECK(beyond.largest_grant.raw() >= 9900.0 * mib);
}

TEST_CASE("whatever is asked: allocated <= reserved <= capacity, blocks never overlap, all freed leaves nothing") {
  for (const bool expandable : {false, true}) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      CAPTURE(expandable);
      CAPTURE(seed);
      std::mt19937_64 random{seed};
      const std::uint64_t capacity = (64 + random() % 512) * mib;
      CachingAllocator allocator{capacity, expandable};
      std::vector<std::pair<std::uint64_t, std::uint64_t>> mine;  // address, asked
      bool sound = true;
      for (int step = 0; step < 400; ++step) {
        if (mine.empty() || random() % 5 < 3) {
          const std::uint64_t asked = 1 + random() % (1ULL << (random() % 28));
          const std::uint64_t most = allocator.largest_grant();
          if (const auto address = allocator.allocate(asked)) {
            mine.emplace_back(*address, asked);
          } else {
            sound &= asked <= mib || asked + 20 * mib > most;  // the small pool takes no large block; pages straddle
          }
        } else {
          const std::size_t which = random() % mine.size();
          allocator.release(mine[which].first);
          mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(which));
        }
        const AllocatorStats& stats = allocator.stats();
        sound &= stats.allocated <= stats.reserved && stats.reserved <= capacity;
        sound &= stats.peak_reserved >= stats.reserved && stats.peak_allocated >= stats.allocated;
        std::uint64_t end = 0;
        std::uint64_t sum = 0;
        const auto live = allocator.live();
        for (const auto& [address, size] : live) {
          sound &= address >= end;
          end = address + size;
          sum += size;
        }
        sound &= sum == stats.allocated && live.size() == mine.size();
        sound &= std::all_of(mine.begin(), mine.end(), [&](const auto& m) {
          const auto at = std::lower_bound(live.begin(), live.end(), std::pair{m.first, std::uint64_t{0}});
          return at != live.end() && at->first == m.first && at->second >= m.second;
        });
      }
      CHECK(sound);
      for (const auto& block : mine) {
        allocator.release(block.first);
      }
      CHECK(allocator.stats().allocated == 0);
      allocator.empty_cache();
      CHECK(allocator.stats().reserved == 0);
      CHECK(allocator.allocate(capacity / (20 * mib) * 20 * mib).has_value());
    }
  }
}
