// SPDX-License-Identifier: Apache-2.0
// Prefixes that prompts share, as ids of blocks; a block's id depends on all tokens up to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace headroom {

/// For each request the ids of the first blocks of its prompt, `id_tokens` tokens each; equal ids mean an equal prefix
/// (Kwon et al. 2023, section 4.4; Qin et al. 2025, Mooncake). Ids count from 0, and each always follows the same
/// predecessor. Blocks that no other request shares need no id. One list holds all ids: requests allocate nothing.
struct PromptPrefixes {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  /// Tokens that an id stands for, counted from the start of the prompt.
  struct Tokens {
    std::int32_t begin = 0, end = 0;
  };
  std::int64_t id_tokens = 0;        ///< tokens per id; 0: no request has ids
  std::uint32_t distinct = 0;        ///< number of distinct ids; all ids are below it
  std::vector<std::uint32_t> ids;    ///< ids of all requests, one after another
  std::vector<std::uint32_t> first;  ///< start of each request's ids, and the end of the last one's
  // Of loads with sessions, whose turns share one list and whose ids are as long as what a turn adds; else empty.
  std::vector<std::uint32_t> count;   ///< number of ids of each prompt
  std::vector<std::uint32_t> answer;  ///< by request: id of its answer, which the next turn's prompt holds; or none
  std::vector<Tokens> tokens;         ///< by id

  [[nodiscard]] bool empty() const noexcept { return ids.empty(); }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t request) const noexcept {
    return std::span{ids}.subspan(first[request], count.empty() ? first[request + 1] - first[request] : count[request]);
  }
  [[nodiscard]] std::uint32_t answer_of(std::size_t request) const noexcept {
    return answer.empty() ? none : answer[request];
  }
  /// Tokens up to the end of the `place`-th id of a prompt, `id`.
  [[nodiscard]] std::int64_t end_of(std::uint32_t id, std::size_t place) const noexcept {
    return tokens.empty() ? static_cast<std::int64_t>(place + 1) * id_tokens : tokens[id].end;
  }
  /// Tokens of the whole blocks of a request's first `ids` ids.
  [[nodiscard]] std::int64_t whole_tokens(std::size_t request,
                                          std::size_t ids,
                                          std::int64_t block_tokens) const noexcept;
  /// Blocks of each id, where they differ; empty: id_tokens / block_tokens each. A block belongs to the id that fills
  /// it.
  [[nodiscard]] std::vector<std::int32_t> blocks(std::int64_t block_tokens) const;
  /// The prefixes of the first `requests` requests.
  [[nodiscard]] PromptPrefixes of_first(std::size_t requests) const;
  /// The ids repeated `times` times, for `count` requests in total; copies share nothing with each other.
  [[nodiscard]] PromptPrefixes repeated(std::int64_t times, std::size_t count) const;
};

/// Numbers the block hashes that a trace states.
class PrefixNumbering {
 public:
  explicit PrefixNumbering(std::int64_t id_tokens) : id_tokens_{id_tokens} {}
  /// Adds the next request. Only hashes of whole blocks count. Its prefix ends at the first hash that follows another
  /// predecessor than where it was first met.
  void add(std::int64_t prompt_tokens, std::span<const std::int64_t> hashes);
  /// The prefixes, without ids that only one request has.
  [[nodiscard]] PromptPrefixes take() const;

 private:
  struct Met {
    std::uint32_t number = 0;
    std::int64_t before = 0;  ///< number of the preceding id; -1: none
  };
  std::int64_t id_tokens_;
  std::unordered_map<std::int64_t, Met> met_;
  std::vector<std::uint32_t> uses_;  ///< number of requests by id
  std::vector<std::uint32_t> ids_, first_{0};
};

}  // namespace headroom
