// SPDX-License-Identifier: Apache-2.0
// What ranks say to each other, as text: the search and its document, units of it, and what they found.
#pragma once

#include <headroom/scenarios/search/job_search.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// First word of every message.
namespace rank_words {
inline constexpr std::string_view search = "search";  ///< rank 0: a search begins
inline constexpr std::string_view ready = "ready";    ///< its fingerprint, as this rank has read it
inline constexpr std::string_view cannot = "cannot";  ///< why this rank takes no part
inline constexpr std::string_view unit = "unit";      ///< rank 0: something to do
inline constexpr std::string_view result = "result";
inline constexpr std::string_view failed = "failed";  ///< a unit, and why
inline constexpr std::string_view leave = "leave";    ///< rank 0: no more searches
}  // namespace rank_words
[[nodiscard]] std::string_view first_word(std::string_view message) noexcept;
/// Behind the first word.
[[nodiscard]] std::string_view rest_of(std::string_view message) noexcept;

/// A search as every rank of it reads it.
struct RankSearch {
  std::uint64_t serial = 0;  ///< of the searches of a run
  bool bounded = true;
  unsigned threads = 0;
  std::string file;
  ConfigValue document;
  TermSet without;
};
[[nodiscard]] std::string message_of(const RankSearch& search);
/// ConfigError when the message is of another version of the program, or none.
[[nodiscard]] RankSearch read_rank_search(std::string_view message);
/// Question and the data files beside the program's own: what must agree between ranks.
[[nodiscard]] std::uint64_t rank_fingerprint(const SearchQuestion& question);

/// Something to do that hangs on nothing but the search and what stands here.
struct SearchUnit {
  enum class Kind : std::uint8_t { job, bounds, layouts };
  std::uint64_t serial = 0, id = 0;
  std::uint64_t turn = 0;  ///< of the job: job_of_turn
  Kind kind = Kind::job;
  std::uint64_t part = 0, parts = 1;   ///< of the bounds
  std::vector<BoundedLayout> layouts;  ///< of a round
  JobProgress earlier;                 ///< of the job, by an earlier run
};
/// `start`: text of start_text, which units of a round share.
[[nodiscard]] std::string message_of(const SearchUnit& unit, std::string_view start);
[[nodiscard]] std::string start_text(const Incumbents& start);
/// ConfigError when the message is none.
[[nodiscard]] SearchUnit read_unit(std::string_view message, const SearchQuestion& question, Incumbents& start);

struct UnitResult {
  std::uint64_t serial = 0, id = 0;
  bool done = true;      ///< false: stopped on the way
  JobProgress progress;  ///< of a job; of layouts its findings alone
  std::vector<LayoutBound> bounds;
};
[[nodiscard]] std::string message_of(const UnitResult& result);
[[nodiscard]] UnitResult read_result(std::string_view message, const SearchQuestion& question);

}  // namespace headroom
