// SPDX-License-Identifier: Apache-2.0
// The answer to a question of classic machine learning: GPUs and cores side by side, where they cross, memory, money.
#pragma once

#include <headroom/scenarios/classic/classic_question.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::classic {

struct PartTime {
  std::string name;
  Seconds time{};
};
/// One kind of machine on the question.
struct Column {
  std::string machine;  ///< "gpu" or "cpu"
  std::string id;
  double count = 1.0;  ///< GPUs, or hosts
  Interval<Seconds> time;
  std::vector<PartTime> parts;  ///< that add up to the middle of `time`
  std::optional<Hertz> rate;    ///< queries, samples or items a second
  Bytes memory{};               ///< of one machine
  std::optional<Bytes> capacity;
  double needed = 1.0;  ///< machines that memory asks for
  bool fits = true;
  Bytes exchange{};  ///< between machines, of one of them
  Watts power{};
  Joules energy{};
  std::optional<Dollars> cost;
};
/// The question at another size, all else alike.
struct Size {
  double size = 0.0;
  Seconds gpu{};
  std::optional<Seconds> cpu;
  double shards = 1.0;  ///< GPUs that hold a part of an index of this size each
};
/// Sizes about a crossover at which the two are too close to call; an end that is absent lies beyond all sizes tried.
struct CloseSizes {
  std::optional<double> from, to;
};
struct MemoryPart {
  std::string what;
  Bytes bytes{};
};
/// A change and what it makes of the time: below 1 it is faster.
struct Cure {
  std::string what, why;
  double time_ratio = 1.0;
};
struct SearchFigures {
  double shards = 1.0, replicas = 1.0, probes = 0.0;
  Bytes scanned{};  ///< of a batch, on one shard
  Seconds build{};
  std::optional<double> recall;
};
struct RecommenderFigures {
  Bytes tables{}, exchange{};
  RowTiers tiers;
  double hits = 1.0;  ///< lookups that GPUs answer
  std::optional<Seconds> p99;
};
struct GroupingFigures {
  double rows_without = 0.0, rows_sent = 0.0;
  Bytes sent{};
};
struct VideoFigures {
  std::vector<VideoStage> stages;  ///< of one GPU, the one that carries the fewest streams first
  double streams = 0.0;            ///< whole ones that one GPU carries
  std::optional<double> wanted;
  double cards = 1.0;  ///< that carry those wanted
  Bytes stream{};      ///< memory of one
  Joules frame{};      ///< energy of a frame at rated power, all streams running
  std::optional<Dollars> stream_hour;
};
struct SimulatorFigures {
  Hertz steps{};                ///< of all environments on all GPUs
  Hertz most{};                 ///< that ever more environments come near to
  double half = 0.0;            ///< environments a GPU at which half of that is reached
  std::optional<Seconds> run;   ///< of all steps asked for
  std::optional<double> cards;  ///< that reach the rate asked for
};
struct PolicyFigures {
  Seconds loop{};  ///< call and network
  Hertz rate{};
  std::optional<bool> reached;
};
struct UnitsFigures {
  double units = 1.0;
  Hertz unit_rate{};
  std::optional<Dollars> capital;
  Joules energy{};
  Dollars electricity{};
  std::optional<Dollars> total;
};

struct Plan {
  Question question;
  std::string algorithm, size_name;  ///< "boosted trees", "rows"
  double size = 0.0;
  Flops work{};
  Bytes moved{};
  Column gpu;
  std::optional<Column> cpu;
  bool gpu_wins = true;
  /// Each column's middle lies within the other's interval: which is faster is not told by them.
  bool too_close = false;
  std::optional<double> crossover;  ///< size from which GPUs are faster; nothing: one is faster at all sizes
  std::optional<CloseSizes> crossover_close;
  std::vector<Size> sweep;
  std::vector<MemoryPart> memory;
  std::vector<Cure> cures;  ///< by gain
  std::optional<SearchFigures> search;
  std::optional<RecommenderFigures> recommender;
  std::optional<GroupingFigures> grouping;
  std::optional<VideoFigures> video;
  std::optional<SimulatorFigures> simulator;
  std::optional<PolicyFigures> policy;
  std::optional<UnitsFigures> units;
  std::vector<std::string> notes, sources;
  [[nodiscard]] bool feasible() const noexcept { return gpu.fits || (cpu && cpu->fits); }
};

/// The rule of a verdict that is none: the middle of each lies within the interval of the other, of which 80 % of
/// measured rows lie within.
template <class T>
[[nodiscard]] bool close_calls(const Interval<T>& a, const Interval<T>& b) noexcept {
  return a.mid >= b.low && a.mid <= b.high && b.mid >= a.low && b.mid <= a.high;
}

[[nodiscard]] Plan make_plan(Question question);

}  // namespace headroom::classic
