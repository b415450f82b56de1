// SPDX-License-Identifier: Apache-2.0
// A search on disk: what was found and how far it came, written whole or not at all.
#pragma once

#include <headroom/scenarios/search/job_search.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// What is known of a search: its first jobs merged into one, and apart from them jobs that are done and jobs that are
/// on their way, which later jobs start from or go on from. Jobs by their turns.
struct SearchState {
  std::uint64_t merged_jobs = 0;
  Findings merged;
  std::map<std::uint64_t, Findings> done;
  std::map<std::uint64_t, JobProgress> begun;
};

/// What tells one search from another: document, axes, objective and the program's version.
[[nodiscard]] std::uint64_t fingerprint(const SearchQuestion& question);

/// The file's text, its last line a sum over the rest.
[[nodiscard]] std::string checkpoint_text(std::uint64_t question, const SearchState& state);
/// Replaces the file in one step, the one behind a link and not the link. ConfigError when it cannot be written, or a
/// file of another program lies where it is written first (side_file.hpp).
void write_checkpoint(const std::string& file, std::string_view text);
/// nullopt when there is no such file. ConfigError when it is none, damaged, or of another search.
[[nodiscard]] std::optional<SearchState> read_checkpoint(const std::string& file, const SearchQuestion& question);
/// Why a checkpoint is refused whose numbers the model no longer gives.
[[nodiscard]] std::string other_numbers(const std::string& file);

}  // namespace headroom
