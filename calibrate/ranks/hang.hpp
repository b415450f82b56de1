// SPDX-License-Identifier: Apache-2.0
// Records of the ranks of one job laid side by side: where they part, who did not come, and who waits for whom.
#pragma once

#include <headroom/calibrate/ranks/rank_record.hpp>
#include <headroom/core/quantity.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// How what a rank issued differs from what the others did.
enum class PartingKind : std::uint8_t {
  op,    ///< another collective, or another number of them at once
  size,  ///< as many elements as the others do not send
  dtype  ///< of another type
};
/// What follows tells how it came about.
enum class PartingReason : std::uint8_t {
  unknown,
  skipped,  ///< the rank goes on with what the others issue one later
  extra     ///< the rank goes on with what the others issued before: it has one more
};

/// The first collective of a group in which its ranks are not at one.
struct Parting {
  std::size_t group = 0;            ///< of HangReading::groups
  std::int64_t number = 0;          ///< of the collective in its group
  std::vector<std::int64_t> ranks;  ///< that issued another than most; both sides where none is in the majority
  std::int64_t index = 0;           ///< of the op in the first rank's record, from 0
  std::string issued, others;       ///< "all_reduce of 1,024 Float"
  std::string site, other_site;     ///< lines of the program; empty: not stated
  PartingKind kind = PartingKind::op;
  PartingReason reason = PartingReason::unknown;
  bool even = false;  ///< no side has the majority
};

/// Where a rank that others wait for left a collective out that none of its sizes betrays: from there on its lines of
/// the program are those of the others one number later.
struct LeftOut {
  std::int64_t rank = 0;
  std::size_t group = 0;    ///< of HangReading::groups
  std::int64_t number = 0;  ///< of the collective in its group
  std::string site;         ///< line from which the others issued it
};

/// A group as its ranks left it.
struct GroupProgress {
  std::int64_t complete = -1;                 ///< last collective that any of its ranks saw end; -1: none
  std::int64_t furthest = -1;                 ///< last that any of them issued; -1: none
  std::string op;                             ///< the furthest one
  std::vector<std::int64_t> arrived, absent;  ///< ranks that issued the furthest one, and those that did not
};

/// Where a rank stands.
struct RankPlace {
  std::int64_t rank = 0;
  std::string file;
  std::size_t issued = 0;  ///< ops in its record
  std::string op;          ///< the first that did not end, or the last one; empty: it issued none
  std::size_t group = 0;
  std::int64_t number = -1;
  bool waits = false;  ///< the op did not end
  std::string site;
  std::vector<std::int64_t> waits_for;
};

/// Durations of the same collectives: who comes last waits least.
struct LastComer {
  std::int64_t rank = 0;
  Seconds waits{};  ///< mean of the others beyond what it waits itself
  Seconds over{};   ///< time that the records span
};

struct HangReading {
  std::vector<ProcessGroup> groups;
  std::vector<GroupProgress> progress;  ///< of each group
  std::vector<RankPlace> ranks;         ///< by rank
  std::optional<Parting> parting;
  std::optional<LeftOut> left_out;
  std::vector<std::int64_t> stopped;  ///< waited for, with a record in which nothing is left to end
  std::vector<std::int64_t> silent;   ///< waited for, without a record
  std::vector<std::int64_t> circle;   ///< wait for each other, each for the next
  std::vector<std::int64_t> unseen;   ///< members of groups without a record that nobody waits for
  std::optional<Seconds> patience;    ///< from issuing what waits to the watchdog's end of the job
  std::string in_flight;              ///< a collective at which all came and which did not end; empty: none
  std::string other_order;            ///< a sentence on groups that ranks enter in another order; empty: none
  std::optional<LastComer> last_comer;

  [[nodiscard]] bool stuck() const noexcept {
    return parting.has_value() || !stopped.empty() || !silent.empty() || !circle.empty();
  }
};

/// ConfigError for two records of one rank, for records that share no group, and for a group whose members are not
/// said to be the same. Precondition: there is a record.
[[nodiscard]] HangReading hang_of(std::span<const RankRecord> records);

}  // namespace headroom
