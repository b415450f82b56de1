// SPDX-License-Identifier: Apache-2.0
// The graphs of a run's ranks put on one clock and run again with changes: what a step would take without a cause.
#pragma once

#include <headroom/calibrate/diagnosis/rank_graph.hpp>
#include <headroom/core/quantity.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom {

/// What is other than it was, of one rank; each as long as the calls or the works of its graph.
struct RankChanges {
  std::vector<TraceTime> gap, call;  ///< before each call, and what a call takes when it need not wait
  std::vector<char> waits;           ///< whether it waits for its work
  std::vector<TraceTime> work;       ///< what each work takes; of a message, without waiting for other ranks
};
using RunChanges = std::vector<RankChanges>;

/// A message that several ranks meet in: the same place in the order of the same step, and one end.
struct RankMeeting {
  std::vector<std::pair<std::size_t, std::int32_t>> who;  ///< rank (index) and work
  TraceTime lasts = 0;                                    ///< once all are there: the time of the last to come
};

class RunReplay {
 public:
  /// `graphs` must outlive it, and not be empty.
  explicit RunReplay(std::vector<const RankGraph*> graphs);

  [[nodiscard]] const RunChanges& as_it_was() const noexcept { return was_; }
  /// Mean over the ranks of the time from the begin of their windows to the end of their work.
  /// `settled`: from the end of their first step on, of three and more, once what runs ahead is ahead.
  [[nodiscard]] Seconds time(const RunChanges& changes, bool settled = false) const;
  /// The same over that of the unchanged run.
  [[nodiscard]] double ratio(const RunChanges& changes, bool settled = false) const;

  [[nodiscard]] const RankGraph& graph(std::size_t rank) const { return *graphs_[rank]; }
  [[nodiscard]] std::size_t ranks() const noexcept { return graphs_.size(); }
  /// What is added to a rank's clock so that messages end on all ranks at once; that of the first rank is 0.
  [[nodiscard]] TraceTime offset(std::size_t rank) const { return offsets_[rank]; }
  [[nodiscard]] const std::vector<RankMeeting>& meetings() const noexcept { return meetings_; }
  /// Whether ranks have a step in common, by its number, with as many messages; true of one rank.
  [[nodiscard]] bool meets() const noexcept { return graphs_.size() == 1 || !meetings_.empty(); }

 private:
  enum class Event : std::uint8_t { call, work, back };
  struct Ordered {
    TraceTime at = 0;
    std::uint32_t rank : 24 = 0;
    Event event : 8 = Event::call;
    std::int32_t which = 0;
  };
  struct Clock;

  void find_meetings();
  void order_events();

  std::vector<const RankGraph*> graphs_;
  std::vector<TraceTime> offsets_;
  std::vector<RankMeeting> meetings_;
  std::vector<std::vector<std::int32_t>> meeting_of_;  // of each work; -1: none
  std::vector<Ordered> order_;
  RunChanges was_;
  Seconds unchanged_{}, unchanged_settled_{};
};

}  // namespace headroom
