// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/banks.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// `address(i)` is where thread i's element begins, bytes.
template <class Address>
BankCount count_threads(std::int64_t element, const AccessUnit& unit, Address address) {
  const std::int64_t at_once =
      std::clamp<std::int64_t>(unit.banks * unit.bank_width / element, 1, std::min(unit.lanes, unit.banks));
  BankCount count{1, 0, 0};
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> load(static_cast<std::size_t>(unit.banks));
  for (std::int64_t first = 0; first < unit.lanes; first += at_once) {
    words.clear();
    for (std::int64_t i = first; i < std::min(first + at_once, unit.lanes); ++i) {
      const std::int64_t begin = address(i);
      for (std::int64_t word = begin / unit.bank_width; word <= (begin + element - 1) / unit.bank_width; ++word) {
        words.push_back(word);
      }
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::fill(load.begin(), load.end(), 0);
    for (const std::int64_t word : words) {
      ++load[static_cast<std::size_t>(word % unit.banks)];
    }
    const std::int64_t most = *std::max_element(load.begin(), load.end());
    count.degree = std::max(count.degree, most);
    count.cycles += most;
    ++count.least;
  }
  return count;
}

}  // namespace

BankCount count_banks(std::int64_t stride, std::int64_t element, const AccessUnit& unit) {
  return count_threads(element, unit, [&](std::int64_t i) { return i * stride * element; });
}

BankCount count_banks(const SharedTile& tile, std::int64_t element, const AccessUnit& unit) {
  const std::int64_t pitch = tile.columns + tile.padding;
  BankCount worst{0, 0, 0};
  // Columns a whole turn of the banks apart meet the same ones.
  const std::int64_t different = std::min(tile.columns, unit.banks * unit.bank_width);
  for (std::int64_t column = 0; column < different; ++column) {
    const BankCount count = count_threads(element, unit, [&](std::int64_t i) {
      const std::int64_t row = i % tile.rows;
      const std::int64_t at = (column + i / tile.rows) % tile.columns;
      const std::int64_t stored = tile.swizzled ? at ^ (row % tile.columns) : at;
      return (row * pitch + stored) * element;
    });
    if (count.cycles > worst.cycles) {
      worst = count;
    }
  }
  return worst;
}

std::int64_t conflict_degree(std::int64_t stride_words, std::int64_t banks) noexcept {
  return stride_words == 0 ? 1 : std::gcd(stride_words, banks);
}

std::optional<std::int64_t> least_padding(const SharedTile& tile, std::int64_t element, const AccessUnit& unit) {
  SharedTile padded = tile;
  padded.swizzled = false;
  for (padded.padding = 0; padded.padding < unit.banks; ++padded.padding) {
    if (count_banks(padded, element, unit).degree == 1) {
      return padded.padding;
    }
  }
  return std::nullopt;
}

BytesPerSecond shared_bandwidth(double units, Hertz clock, const AccessUnit& unit) noexcept {
  return Bytes{units * static_cast<double>(unit.banks * unit.bank_width)} * clock;
}

}  // namespace headroom
