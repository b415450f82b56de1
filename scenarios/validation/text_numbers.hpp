// SPDX-License-Identifier: Apache-2.0
// Numbers for texts that must only be recognised again, and compact storage for texts that are printed later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Numbers texts in the order of their first mention. Keeps about thirty bytes per text, whatever its length.
class TextNumbers {
 public:
  struct Mention {
    std::uint32_t number = 0;
    std::uint32_t times = 0;  ///< mentions so far, this one included
  };
  Mention mention(std::string_view text);
  [[nodiscard]] std::uint32_t times(std::uint32_t number) const { return times_[number]; }

 private:
  /// Digest of a text; among a hundred million texts the probability of a collision is 1e-23.
  struct Digest {
    std::uint64_t first = 0, second = 0;
    bool operator==(const Digest&) const = default;
  };
  /// Index of the slot that holds the text's number plus one, or of the free slot for it.
  [[nodiscard]] std::size_t slot(const Digest& digest) const noexcept;
  void grow();

  std::deque<Digest> digests_;  ///< digest of each number; a deque, so that elements do not move
  std::deque<std::uint32_t> times_;
  std::vector<std::uint32_t> slots_;  ///< a power of two of slots; 0: free
};

/// Copies of texts at stable addresses, freed together.
class KeptTexts {
 public:
  std::string_view keep(std::string_view text) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
      blocks_.emplace_back().reserve(std::max(text.size(), next_));
      next_ *= 2;
    }
    std::string& block = blocks_.back();
    const std::size_t at = block.size();
    block += text;
    return std::string_view{block}.substr(at);
  }

 private:
  std::deque<std::string> blocks_;  ///< none grows beyond what it reserved, so that its characters do not move
  std::size_t next_ = 1024;         ///< characters of the next block, at least
};

}  // namespace headroom
