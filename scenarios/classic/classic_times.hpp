// SPDX-License-Identifier: Apache-2.0
// Times, memory and work of each algorithm, in one form for all: what classic_plan.cpp puts side by side.
#pragma once

#include <headroom/scenarios/classic/classic_plan.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::classic {

struct Times {
  std::vector<PartTime> parts;
  double width = 0.5;
  double items = 0.0;  ///< queries, samples or items that this time is of; 0: a job without a rate
  Bytes exchange{};
  std::optional<Hertz> rate{};  ///< where it is not `items` over the time
};
[[nodiscard]] Seconds total(const std::vector<PartTime>& parts) noexcept;
[[nodiscard]] Times gpu_times(const Question& q, const Algorithm& algorithm, double cards, const Numbers& law);
/// Precondition: has_cores().
[[nodiscard]] Times cpu_times(const Question& q, const Algorithm& algorithm, const Numbers& law);

/// The same algorithm on another number of rows, points, vectors, items or samples.
[[nodiscard]] Algorithm resized(const Algorithm& algorithm, double size);

struct Work {
  std::string algorithm, size_name;
  double size = 0.0;
  Flops flops{};
  Bytes bytes{};
  std::vector<std::string> notes, sources;
};
[[nodiscard]] Work work_of(const Algorithm& algorithm);

/// What all machines together hold, by part.
[[nodiscard]] Bytes memory_of(const Question& q, const Numbers& law, std::vector<MemoryPart>& parts);
/// What one GPU holds of it: of tables no more than it has room for, where another tier takes the rest.
[[nodiscard]] Bytes gpu_part(const Question& q, Bytes all);
/// Hosts at work: one, of a grouping its workers.
[[nodiscard]] double hosts_of(const Question& q);
/// GPUs of an index: how many hold it, how often it stands.
struct Layout {
  double shards = 1.0, replicas = 1.0;
};
[[nodiscard]] Layout layout_of(const Question& q, const VectorsAsked& asked, double cards, const Numbers& law);
/// Where rows of tables lie, and what of lookups each tier answers.
[[nodiscard]] RowTiers tiers_of(const Question& q, const RecommenderAsked& asked, double cards, const Numbers& law);

/// As many GPUs as memory or a rate asks for, where their number is open; probes by the recall that is wanted.
void open_cards(Plan& plan, const Numbers& law);
/// What one algorithm alone has, and the cures of its time.
void add_figures(Plan& plan, const Numbers& law);

}  // namespace headroom::classic
