// SPDX-License-Identifier: Apache-2.0
// A job that several ranks search together: its bounds in parts, then each round in parts.
#pragma once

#include <headroom/scenarios/search/ranks/rank_messages.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

class SplitJob {
 public:
  /// `parts` that the bounds and each round are split into at most; `earlier` of a run whose checkpoint is `file`.
  SplitJob(const SearchSetting& setting,
           std::uint64_t turn,
           Incumbents start,
           JobProgress earlier,
           std::size_t parts,
           std::string file);

  /// Whether a part waits to be given away: of the bounds, or of the round at hand.
  [[nodiscard]] bool has_part() const noexcept { return given_ < parts_here(); }
  [[nodiscard]] SearchUnit next_part();
  /// start_text of the bounds or of the round at hand.
  [[nodiscard]] const std::string& start() const noexcept { return start_text_; }

  /// True when it ended the bounds or a round. ConfigError when `earlier` had other bounds.
  [[nodiscard]] bool take(const SearchUnit& unit, UnitResult result);
  [[nodiscard]] bool done() const noexcept { return dropped_ || (rounds_ && rounds_->done()); }
  /// As far as whole rounds go.
  [[nodiscard]] JobProgress progress() const;

 private:
  [[nodiscard]] std::size_t parts_here() const noexcept;
  void begin_rounds();
  void begin_round();
  void end_round();

  const SearchSetting& setting_;
  std::uint64_t turn_, job_;
  Incumbents found_;  ///< before the round at hand
  JobProgress earlier_;
  std::size_t parts_;
  std::string file_;
  std::string start_text_;
  std::vector<std::vector<LayoutBound>> bounds_;  ///< by part
  std::optional<LayoutRounds> rounds_;            ///< once all bounds are there
  std::size_t given_ = 0, taken_ = 0;             ///< parts of what is at hand
  Findings round_;                                ///< of the parts taken of the round at hand
  Findings sum_;                                  ///< counts, example, jobs dropped; of whole rounds
  bool dropped_ = false;
};

}  // namespace headroom
