// SPDX-License-Identifier: Apache-2.0
// Sectors, banks and paths of a warp: what publications say of them, and counts by brute force.
#include <headroom/model/laboratory/access.hpp>
#include <headroom/model/laboratory/banks.hpp>
#include <headroom/model/laboratory/divergence.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

using namespace headroom;

namespace {

constexpr AccessUnit nvidia;
constexpr AccessUnit amd{64, 64, 128, 32, 4};

AccessPattern linear(std::int64_t element, std::int64_t stride, std::int64_t offset = 0) {
  AccessPattern p;
  p.element = element;
  p.stride = stride;
  p.offset = offset;
  return p;
}

AccessPattern structures(std::int64_t extent, std::int64_t fields, std::int64_t element = 4) {
  AccessPattern p;
  p.layout = AccessLayout::structures;
  p.extent = extent;
  p.fields = fields;
  p.element = element;
  return p;
}

/// Sectors of one field of records `step` bytes apart, over `warps` warps: each load by itself, and all of them
/// together. Sectors are marked lane by lane.
struct Marked {
  double apart = 0.0, together = 0.0;
};
Marked marked_of(std::int64_t step, const AccessPattern& p, std::int64_t warps, const AccessUnit& unit) {
  Marked marked;
  std::set<std::int64_t> all;
  const std::int64_t width = load_width(p.element);
  for (std::int64_t warp = 0; warp < warps; ++warp) {
    for (std::int64_t field = 0; field < p.fields; ++field) {
      for (std::int64_t piece = 0; piece < p.element / width; ++piece) {
        std::set<std::int64_t> load;
        for (std::int64_t lane = 0; lane < unit.lanes; ++lane) {
          const std::int64_t at = p.offset + (warp * unit.lanes + lane) * step + field * p.element + piece * width;
          for (std::int64_t sector = at / unit.sector; sector <= (at + width - 1) / unit.sector; ++sector) {
            load.insert(sector);
            all.insert(sector);
          }
        }
        marked.apart += static_cast<double>(load.size());
      }
    }
  }
  marked.together = static_cast<double>(all.size());
  return marked;
}

double efficiency(const AccessPattern& p, const AccessUnit& unit = nvidia) {
  return sector_efficiency(count_access(p, unit), unit);
}

}  // namespace

TEST_CASE("a warp that reads 4 B elements fetches the sectors that NVIDIA's guide counts") {
  // CUDA C++ Best Practices Guide, coalesced access: 32 x 4 B are four sectors of 32 B; with an offset five, so that
  // four fifths are used; stride 2 halves the efficiency; from a sector of one's own on, an eighth.
  CHECK(count_access(linear(4, 1), nvidia).sectors == 4.0);
  CHECK(efficiency(linear(4, 1)) == 1.0);
  CHECK(count_access(linear(4, 1, 4), nvidia).sectors == 5.0);
  CHECK(efficiency(linear(4, 1, 4)) == doctest::Approx(0.8));
  CHECK(count_access(linear(4, 2), nvidia).sectors == 8.0);
  CHECK(efficiency(linear(4, 2)) == 0.5);
  for (const std::int64_t stride : {8, 9, 32, 1000}) {
    CAPTURE(stride);
    CHECK(count_access(linear(4, stride), nvidia).sectors == 32.0);
    CHECK(efficiency(linear(4, stride)) == 0.125);
  }
}

TEST_CASE("an offset's extra sector is the neighbouring warp's, and is fetched once where caches keep it") {
  const AccessCount count = count_access(linear(4, 1, 4), nvidia);
  CHECK(count.stream_sectors == 4.0);
  CHECK(cached_efficiency(count, nvidia) == 1.0);
  // A gap that nobody reads stays unused, whatever is kept.
  CHECK(cached_efficiency(count_access(linear(4, 2), nvidia), nvidia) == 0.5);
}

TEST_CASE("wide elements are served by halves and quarters of a warp") {
  // 32 x 8 B are 256 B: eight sectors, and two lookups of lines of 128 B; 32 x 16 B twice as many.
  CHECK(count_access(linear(8, 1), nvidia).sectors == 8.0);
  CHECK(count_access(linear(8, 1), nvidia).lookups == 2.0);
  CHECK(count_access(linear(16, 1), nvidia).sectors == 16.0);
  CHECK(count_access(linear(16, 1), nvidia).lookups == 4.0);
  CHECK(count_access(linear(4, 1), nvidia).lookups == 1.0);
  CHECK(count_access(linear(4, 1, 4), nvidia).lookups == 2.0);  // each warp's 128 B cross a line
  CHECK(count_access(linear(1, 1), nvidia).sectors == 1.0);
  // 12 B are read as three words, 12 B apart: each load meets all twelve sectors of the warp's 384 B.
  CHECK(load_width(12) == 4);
  CHECK(count_access(linear(12, 1), nvidia).instructions == 3.0);
  CHECK(count_access(linear(12, 1), nvidia).sectors == 36.0);
  CHECK(count_access(linear(12, 1), nvidia).warp_sectors == 12.0);
}

TEST_CASE("one field of a structure of eight costs eight times a structure of arrays") {
  const AccessCount aos = count_access(structures(8, 1), nvidia);
  CHECK(sector_efficiency(aos, nvidia) == 0.125);
  AccessPattern soa;
  soa.layout = AccessLayout::arrays;
  CHECK(efficiency(soa) == 1.0);
  const AccessRates rates{BytesPerSecond{2e12}, 108.0, Hertz{1.41e9}};
  const std::vector<CuredAccess> cures = access_cures(structures(8, 1), nvidia, rates, false);
  REQUIRE(!cures.empty());
  CHECK(cures.front().cure == AccessCure::arrays);
  CHECK(cures.front().ratio == doctest::Approx(1.0 / 8.0));
}

TEST_CASE("a structure that is read whole uses its sectors where the first cache keeps them") {
  const AccessCount count = count_access(structures(8, 8), nvidia);
  CHECK(count.sectors == 256.0);
  CHECK(count.warp_sectors == 32.0);
  CHECK(cached_efficiency(count, nvidia) == 1.0);
  // 64 warps x 32 sectors x 32 B are 64 KiB.
  CHECK(first_cache_holds(count, 64.0, Bytes{65536.0}, nvidia));
  CHECK_FALSE(first_cache_holds(count, 64.0, Bytes{65535.0}, nvidia));
  // By 4 B loads each of the eight looks up eight lines; by two loads of 16 B four groups of eight threads look up two.
  CHECK(count.lookups == 64.0);
  const AccessRates slow_lookups{BytesPerSecond{1e15}, 1.0, Hertz{1e9}};
  const std::vector<CuredAccess> cures = access_cures(structures(8, 8), nvidia, slow_lookups, true);
  const auto wide = std::find_if(cures.begin(), cures.end(), [](const auto& c) { return c.cure == AccessCure::wide; });
  REQUIRE(wide != cures.end());
  CHECK(wide->count.lookups == 16.0);
  CHECK(wide->ratio == doctest::Approx(0.25));
}

TEST_CASE("random gathers of 4 B use an eighth of what they fetch, whole sectors all of it") {
  AccessPattern gather;
  gather.layout = AccessLayout::random;
  CHECK(efficiency(gather) == 0.125);
  gather.element = 16;
  CHECK(efficiency(gather) == 0.5);
  gather.element = 4;
  gather.fields = 8;
  CHECK(cached_efficiency(count_access(gather, nvidia), nvidia) == 1.0);
}

TEST_CASE("a column of a matrix is a stride of its rows, and turning it in shared memory brings what it loses") {
  AccessPattern column;
  column.layout = AccessLayout::columns;
  column.extent = 4096;
  CHECK(efficiency(column) == 0.125);
  const AccessRates rates{BytesPerSecond{2e12}, 108.0, Hertz{1.41e9}};
  const std::vector<CuredAccess> cures = access_cures(column, nvidia, rates, false);
  REQUIRE(cures.size() == 1);
  CHECK(cures.front().cure == AccessCure::staged);
  CHECK(cures.front().ratio == doctest::Approx(0.125));
}

TEST_CASE("rows that begin within a sector fetch a further one, and padding them spares it") {
  AccessPattern rows;
  rows.layout = AccessLayout::rows;
  // Rows of 32 elements and one: 132 B. By hand: each begins 4 B further into a sector than the one before, so that of
  // eight rows one has its first 32 elements in four sectors and seven in five; the last element has one of its own.
  rows.extent = 33;
  const AccessCount count = count_access(rows, nvidia);
  CHECK(count.sectors == doctest::Approx(((4.0 + 7.0 * 5.0) / 8.0 + 1.0) / 2.0));
  CHECK(count.used.raw() == doctest::Approx(132.0 / 2.0));
  // What is fetched once is what is there: 132 B a row of two warps.
  CHECK(cached_efficiency(count, nvidia) == doctest::Approx(1.0));
  rows.extent = 36;  // 144 B: rows begin 0 or 16 B into a sector
  CHECK(count_access(rows, nvidia).sectors == doctest::Approx(((4.0 + 5.0) / 2.0 + 1.0) / 2.0));
  const AccessRates rates{BytesPerSecond{2e12}, 108.0, Hertz{1.41e9}};
  const std::vector<CuredAccess> cures = access_cures(rows, nvidia, rates, false);
  REQUIRE(cures.size() == 1);
  CHECK(cures.front().cure == AccessCure::padded);
  CHECK(cures.front().pattern.pitch == 40);
  CHECK(cures.front().count.sectors == doctest::Approx((4.0 + 1.0) / 2.0));
  CHECK(cures.front().ratio == doctest::Approx(5.0 / 5.5));
}

TEST_CASE("wavefronts of 64 fetch halves of their lines") {
  CHECK(count_access(linear(4, 1), amd).sectors == 4.0);
  CHECK(efficiency(linear(4, 1), amd) == 1.0);
  CHECK(efficiency(linear(4, 16), amd) == doctest::Approx(4.0 / 64.0));
}

TEST_CASE("sectors are those that lanes marked one by one touch, whatever the layout") {
  std::mt19937 random{7};
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
  };
  for (int i = 0; i < 100; ++i) {
    AccessPattern p;
    p.element = 1 + below(16);
    p.layout = below(2) == 0 ? AccessLayout::linear : AccessLayout::structures;
    p.stride = 1 + below(12);
    p.extent = 1 + below(9);
    p.fields = p.layout == AccessLayout::structures ? 1 + below(p.extent) : 1;
    p.offset = load_width(p.element) * below(40);
    const AccessUnit& unit = below(4) == 0 ? amd : nvidia;
    CAPTURE(p.element);
    CAPTURE(p.stride);
    CAPTURE(p.extent);
    CAPTURE(p.fields);
    CAPTURE(p.offset);
    const std::int64_t step = p.element * (p.layout == AccessLayout::linear ? p.stride : p.extent);
    // Warps of a whole period: 128 warps begin at every place of a line that there is.
    const AccessCount count = count_access(p, unit);
    CHECK(count.sectors == doctest::Approx(marked_of(step, p, 128, unit).apart / 128.0));
    CHECK(count.stream_sectors ==
          doctest::Approx((marked_of(step, p, 256, unit).together - marked_of(step, p, 128, unit).together) / 128.0));
    CHECK(count.least_sectors <= count.warp_sectors + 1e-9);
    CHECK(count.warp_sectors <= count.sectors + 1e-9);
  }
}

TEST_CASE("rows' sectors are those that bytes marked one by one touch") {
  for (const std::int64_t element : {1, 3, 4, 6, 8, 12, 16}) {
    for (const std::int64_t extent : {1, 5, 31, 32, 33, 40, 100}) {
      CAPTURE(element);
      CAPTURE(extent);
      AccessPattern p;
      p.layout = AccessLayout::rows;
      p.element = element;
      p.extent = extent;
      const std::int64_t width = load_width(element);
      double sectors = 0.0;
      double warps = 0.0;
      for (std::int64_t row = 0; row < 128; ++row) {
        for (std::int64_t first = 0; first < extent; first += nvidia.lanes) {
          warps += 1.0;
          for (std::int64_t piece = 0; piece < element; piece += width) {
            std::set<std::int64_t> load;
            for (std::int64_t i = first; i < std::min(first + nvidia.lanes, extent); ++i) {
              load.insert(((row * extent + i) * element + piece) / nvidia.sector);
            }
            sectors += static_cast<double>(load.size());
          }
        }
      }
      CHECK(count_access(p, nvidia).sectors == doctest::Approx(sectors / warps));
    }
  }
}

TEST_CASE("threads whose words share a bank wait for one another, those that read one word do not") {
  // CUDA C++ Best Practices Guide, memory banks: gcd(stride, 32)-way of 4 B elements.
  for (const auto& [stride, degree] : std::map<std::int64_t, std::int64_t>{
           {0, 1}, {1, 1}, {2, 2}, {3, 1}, {4, 4}, {16, 16}, {31, 1}, {32, 32}, {33, 1}, {48, 16}}) {
    CAPTURE(stride);
    CHECK(count_banks(stride, 4, nvidia).degree == degree);
    CHECK(conflict_degree(stride, 32) == degree);
  }
  for (std::int64_t stride = 0; stride <= 200; ++stride) {
    CHECK(count_banks(stride, 4, nvidia).degree == conflict_degree(stride, 32));
  }
  // Neighbouring bytes share a word: one access.
  CHECK(count_banks(1, 1, nvidia).cycles == 1);
  // 8 B: two halves of 16 threads that each meet every bank once; 16 B: four quarters.
  CHECK(count_banks(1, 8, nvidia).cycles == 2);
  CHECK(count_banks(1, 8, nvidia).degree == 1);
  CHECK(count_banks(1, 16, nvidia).cycles == 4);
  CHECK(count_banks(1, 16, nvidia).degree == 1);
  // 16 threads 16 B apart meet banks 0, 1, 4, 5, ... 28, 29 twice.
  CHECK(count_banks(2, 8, nvidia).degree == 2);
  CHECK(count_banks(2, 8, nvidia).cycles == 4);
}

TEST_CASE("a tile read by column conflicts once for each row, until its rows are padded or swizzled") {
  SharedTile tile{32, 32, 0, false};
  CHECK(count_banks(tile, 4, nvidia).degree == 32);
  CHECK(least_padding(tile, 4, nvidia) == 1);
  tile.padding = 1;
  CHECK(count_banks(tile, 4, nvidia).degree == 1);
  tile = {32, 32, 0, true};
  CHECK(count_banks(tile, 4, nvidia).degree == 1);
  // 2 B elements: rows of 64 B meet every second row's banks again, 16-way; one word more is two elements.
  tile = {32, 32, 0, false};
  CHECK(count_banks(tile, 2, nvidia).degree == 16);
  CHECK(least_padding(tile, 2, nvidia) == 2);
  // Eight rows and four columns at once, of rows that are all banks: eight words of each of four banks.
  CHECK(count_banks(SharedTile{8, 32, 0, false}, 4, nvidia).degree == 8);
}

TEST_CASE("a swizzled tile holds every element once") {
  for (const std::int64_t columns : {2, 8, 32, 64}) {
    std::set<std::int64_t> places;
    for (std::int64_t row = 0; row < 64; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        places.insert(row * columns + (column ^ (row % columns)));
      }
    }
    CHECK(static_cast<std::int64_t>(places.size()) == 64 * columns);
  }
}

TEST_CASE("shared memory carries every bank's word each clock") {
  // 108 SMs x 32 banks x 4 B x 1.41 GHz
  CHECK(shared_bandwidth(108.0, Hertz{1.41e9}, nvidia).raw() == doctest::Approx(108.0 * 128.0 * 1.41e9));
}

TEST_CASE("n paths leave one n-th of a warp's time, whatever their lengths are") {
  CHECK(divergence_of_paths(std::array{1.0, 1.0}).efficiency() == doctest::Approx(0.5));
  CHECK(divergence_of_paths(std::array{1.0, 1.0, 1.0, 1.0}).efficiency() == doctest::Approx(0.25));
  CHECK(divergence_of_paths(std::array{1.0}).efficiency() == 1.0);
  CHECK(divergence_of_paths(std::array{1.0, 3.0}).efficiency() == doctest::Approx(0.5));
  CHECK(divergence_of_paths(std::array{1.0, 3.0}).time == 4.0);
}

TEST_CASE("of warps whose threads take a branch once in a hundred more than a quarter part") {
  const Divergence d = divergence_of_threads(0.01, 32.0, 1.0, 1.0);
  CHECK(d.any_taker == doctest::Approx(1.0 - std::pow(0.99, 32.0)));
  CHECK(d.any_taker == doctest::Approx(0.275).epsilon(0.001));
  CHECK(d.mixed == doctest::Approx(0.275).epsilon(0.001));
  // Half of the threads: nearly all warps part, and run both ways.
  CHECK(divergence_of_threads(0.5, 32.0, 1.0, 1.0).efficiency() == doctest::Approx(0.5).epsilon(1e-6));
  // All or none: nothing is lost.
  CHECK(divergence_of_threads(1.0, 32.0, 2.0, 1.0).efficiency() == 1.0);
  CHECK(divergence_of_threads(0.0, 32.0, 2.0, 1.0).efficiency() == 1.0);
  CHECK(divergence_of_threads(0.0, 32.0, 2.0, 1.0).mixed == 0.0);
  // Tiny probabilities are not lost in rounding: w p.
  CHECK(divergence_of_threads(1e-18, 32.0, 1.0, 1.0).any_taker == doctest::Approx(32e-18));
}

TEST_CASE("warps drawn at random part as often, and last as long, as the law says") {
  std::mt19937_64 random{3};
  std::uniform_real_distribution<double> uniform{0.0, 1.0};
  constexpr int warps = 20000;
  for (const double p : {0.02, 0.2}) {
    double parted = 0.0;
    double time = 0.0;
    for (int warp = 0; warp < warps; ++warp) {
      int takers = 0;
      for (int lane = 0; lane < 32; ++lane) {
        takers += uniform(random) < p ? 1 : 0;
      }
      parted += takers > 0 && takers < 32 ? 1.0 : 0.0;
      time += (takers > 0 ? 5.0 : 0.0) + (takers < 32 ? 1.0 : 0.0);
    }
    const Divergence d = divergence_of_threads(p, 32.0, 5.0, 1.0);
    // Four standard errors of a share, and of a time that has two values 5 apart.
    CHECK(std::abs(parted / warps - d.mixed) < 4.0 * 0.5 / std::sqrt(warps));
    CHECK(std::abs(time / warps - d.time) < 4.0 * 2.5 / std::sqrt(warps));
  }
}
