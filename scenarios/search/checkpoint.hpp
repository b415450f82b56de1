// SPDX-License-Identifier: Apache-2.0
// A search on disk: what was found and how far it came, written whole or not at all.
#pragma once

#include <headroom/scenarios/search/branch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// The state between two rounds.
struct SearchState {
  std::uint64_t job = 0;      ///< at hand
  std::uint64_t layouts = 0;  ///< of it, in the order of their bounds, that are done
  std::uint64_t numbers = 0;  ///< fingerprint of its bounds: other numbers, other search
  SearchCounts counts;
  std::vector<Candidate> candidates;
  std::array<Closest, limit_count> closest;
  BrokenExample broken;
  std::vector<DroppedJob> dropped;
};

/// What tells one search from another: document, axes, objective and the program's version.
[[nodiscard]] std::uint64_t fingerprint(const SearchQuestion& question);
/// FNV-1a over bytes (Fowler, Noll and Vo 1991; RFC 9923, section 2).
[[nodiscard]] std::uint64_t fingerprint(std::uint64_t so_far, const void* bytes, std::size_t size) noexcept;
inline constexpr std::uint64_t empty_fingerprint = 14695981039346656037ULL;

/// Replaces the file in one step. ConfigError when it cannot be written.
void write_checkpoint(const std::string& file, std::uint64_t question, const SearchState& state);
/// nullopt when there is no such file. ConfigError when it is none, damaged, or of another search.
[[nodiscard]] std::optional<SearchState> read_checkpoint(const std::string& file, std::uint64_t question);

}  // namespace headroom
