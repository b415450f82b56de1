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
  Seconds gpu{}, cpu{};
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
  Column gpu, cpu;
  bool gpu_wins = true;
  std::optional<double> crossover;  ///< size from which GPUs are faster; nothing: one is faster at all sizes
  std::vector<Size> sweep;
  std::vector<MemoryPart> memory;
  std::vector<Cure> cures;  ///< by gain
  std::optional<SearchFigures> search;
  std::optional<RecommenderFigures> recommender;
  std::optional<GroupingFigures> grouping;
  std::optional<UnitsFigures> units;
  std::vector<std::string> notes, sources;
  [[nodiscard]] bool feasible() const noexcept { return gpu.fits || cpu.fits; }
};

[[nodiscard]] Plan make_plan(Question question);

}  // namespace headroom::classic
