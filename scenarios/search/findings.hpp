// SPDX-License-Identifier: Apache-2.0
// What a search of some strategies has found and counted, and its plain text: the same in checkpoints and in messages
// between ranks.
#pragma once

#include <headroom/scenarios/search/branch.hpp>
#include <headroom/scenarios/search/dropped_job.hpp>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct SearchQuestion;

/// Merged in any order they make the same answer.
struct Findings {
  std::vector<Candidate> candidates;
  std::array<Closest, limit_count> closest;
  SearchCounts counts;
  BrokenExample broken;
  std::vector<DroppedJob> dropped;
};

/// What `found` holds of one job; all of it without a job.
[[nodiscard]] Findings findings_of(const Incumbents& found, std::optional<std::uint64_t> job);
/// Everything but the counts, the example and the jobs dropped.
void merge_into(Incumbents& found, const Findings& findings);
/// The plainer of two examples stays.
void keep_plainer(BrokenExample& example, const BrokenExample& other);
void add(Findings& sum, const Findings& findings);

/// A line each, headed by its word: counts, plan, short, broken, dropped. Doubles are hexadecimal and read back bit for
/// bit. The rental of a candidate and the changes of a dropped job follow from the question and are not written.
void write_findings(std::ostream& out, const Findings& findings);
/// One line behind its first word. False when it is none of a finding's.
[[nodiscard]] bool read_finding(const std::string& word, std::istream& line, Findings& findings);
/// Rentals and changes, which follow from the question.
void complete(Findings& findings, const SearchQuestion& question);

/// "0x1.8p+3"
[[nodiscard]] std::string exact_text(double value);
/// Reads one word of exact_text. False when it is none.
[[nodiscard]] bool read_exact(std::istream& in, double& value);

}  // namespace headroom
