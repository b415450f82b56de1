// SPDX-License-Identifier: Apache-2.0
// What prompts have in common: blocks by the hash of all that stands before and in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace headroom {

/// For each request the ids of the first tokens of its prompt, `id_tokens` each: equal ids are an equal prefix (Kwon et
/// al. 2023, section 4.4; Qin et al. 2025, Mooncake). Ids are whole numbers from 0 on, each behind the same other one
/// wherever it stands. What no other request shares needs no id. One flat list, for no request has memory of its own.
struct PromptPrefixes {
  std::int64_t id_tokens = 0;        ///< 0: no request has ids
  std::uint32_t distinct = 0;        ///< all ids are below it
  std::vector<std::uint32_t> ids;    ///< of all requests, one behind the other
  std::vector<std::uint32_t> first;  ///< where those of a request begin, and the end of the last
  [[nodiscard]] bool empty() const noexcept { return ids.empty(); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t request) const noexcept {
    return std::span{ids}.subspan(first[request], first[request + 1] - first[request]);
  }
  /// The same `times` over, for `count` requests in all; each copy shares nothing with the one before it.
  [[nodiscard]] PromptPrefixes repeated(std::int64_t times, std::size_t count) const;
};

/// Makes ids of the hashes that a trace states.
class PrefixNumbering {
 public:
  explicit PrefixNumbering(std::int64_t id_tokens) : id_tokens_{id_tokens} {}
  /// The next request. Of its hashes those of whole blocks count; the first one that stands behind another hash than
  /// where it was met before ends its prefix.
  void add(std::int64_t prompt_tokens, std::span<const std::int64_t> hashes);
  /// Without the ids that one request alone has.
  [[nodiscard]] PromptPrefixes take() const;

 private:
  struct Met {
    std::uint32_t number = 0;
    std::int64_t before = 0;  ///< the number of the id in front of it; -1: none
  };
  std::int64_t id_tokens_;
  std::unordered_map<std::int64_t, Met> met_;
  std::vector<std::uint32_t> uses_;  ///< by number
  std::vector<std::uint32_t> ids_, first_{0};
};

}  // namespace headroom
