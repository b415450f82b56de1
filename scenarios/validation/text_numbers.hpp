// SPDX-License-Identifier: Apache-2.0
// Texts of rows that are let go: those that need only be known again have numbers, those that are told are kept in one
// piece of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <string_view>
#include <vector>

namespace headroom {

/// Numbers of texts in the order of their first mention. Of a text some thirty bytes are kept, however long it is.
class TextNumbers {
 public:
  struct Mention {
    std::uint32_t number = 0;
    std::uint32_t times = 0;  ///< so far, this one included
  };
  Mention mention(std::string_view text);
  [[nodiscard]] std::uint32_t times(std::uint32_t number) const { return times_[number]; }

 private:
  /// What a text is known by: that any two of a hundred million are taken for one has a probability of 1e-23.
  struct Digest {
    std::uint64_t first = 0, second = 0;
    bool operator==(const Digest&) const = default;
  };
  /// Where the number of a text stands, plus one, or would stand: the first place that is its own or free.
  [[nodiscard]] std::size_t slot(const Digest& digest) const noexcept;
  void grow();

  std::deque<Digest> digests_;  ///< by number; grows without moving what it has
  std::deque<std::uint32_t> times_;
  std::vector<std::uint32_t> slots_;  ///< a power of two of them; 0: free
};

/// Copies of texts, behind one another and where they are until the end.
class KeptTexts {
 public:
  std::string_view keep(std::string_view text) {
    auto* const at = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::copy(text.begin(), text.end(), at);
    return {at, text.size()};
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
};

}  // namespace headroom
