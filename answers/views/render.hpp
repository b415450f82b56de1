// SPDX-License-Identifier: Apache-2.0
// One answer, several faces: text for people, JSON and CSV for programs. Every number comes from the same structure.
#pragma once

#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/document/value.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {
struct ClassErrors;
struct ExplainEntry;
struct FedStep;
struct LoadPeak;
struct GpuPrice;
struct NetworkPlan;
struct NetworkTimes;
struct Plan;
struct Problem;
struct ScoredRow;
struct NearestRuns;
struct SearchPlan;
struct ServePlan;
struct ServeScenario;
struct Strategy;
struct TrainScenario;
struct Validation;
}  // namespace headroom

namespace headroom {

[[nodiscard]] std::string plan_text(const Plan& plan);
/// What a training plan is of, in a line, and whether it fits, with a line end.
[[nodiscard]] std::string train_title(const TrainScenario& t);
[[nodiscard]] std::string train_verdict(const Plan& plan);
/// Parts of it, for the files that write it: a serving plan, the memory of a GPU, a step's terms, how they came about,
/// what was assumed, broken rules.
[[nodiscard]] std::string serve_text(const Plan& plan, const ServeScenario& s, const ServePlan& p);
/// Measured runs near the plan, each with our price beside theirs.
[[nodiscard]] std::string nearest_text(const NearestRuns& nearest);
[[nodiscard]] std::string memory_table(const MemoryBreakdown& memory, Bytes capacity);
[[nodiscard]] std::string time_table(const Breakdown& time);
[[nodiscard]] std::string explain_lines(const std::vector<ExplainEntry>& entries);
[[nodiscard]] std::string notes_text(const Plan& plan);
[[nodiscard]] std::string problems_text(const std::vector<Problem>& problems);
/// Schema "headroom.plan/1": raw SI, the unit in the key.
[[nodiscard]] Value plan_document(const Plan& plan);
[[nodiscard]] std::string explain_text(const Plan& plan);
/// Parts of it, for the documents that have them too: terms above nothing by name, past errors of a class, the price of
/// a GPU, a strategy, and what a host would have to deliver so that its GPUs never wait.
[[nodiscard]] Value memory_terms(const MemoryBreakdown& memory);
[[nodiscard]] Value step_terms(std::span<const Seconds> terms);
[[nodiscard]] Value error_widths(const ClassErrors& errors);
[[nodiscard]] Value price(const GpuPrice& price);
[[nodiscard]] Value strategy_value(const Strategy& strategy);
[[nodiscard]] Value data(const FedStep& fed);
[[nodiscard]] Value load_value(const LoadPeak& load);

[[nodiscard]] std::string search_text(const SearchPlan& plan, const std::string& scenario);
/// "taken: 512 x h100-sxm-80gb: tp 8, ...; least cost of all": for a search that found a plan.
[[nodiscard]] std::string taken_text(const SearchPlan& answer);
/// What emptied the space, for one that found none.
[[nodiscard]] std::string no_plan_text(const SearchPlan& answer);
/// Schema "headroom.search/1".
[[nodiscard]] Value search_document(const SearchPlan& plan);

/// The same faces for a network of ops; `explain` adds how the step came about and the ops.
[[nodiscard]] std::string network_plan_text(const NetworkPlan& plan);
[[nodiscard]] std::string network_explain_text(const NetworkPlan& plan);
[[nodiscard]] Value network_document(const NetworkPlan& plan);
/// Of them the times: the answer above the memory, the terms below it, the members of the JSON object.
[[nodiscard]] std::string network_times_text(const NetworkPlan& plan);
[[nodiscard]] std::string network_confidence_text(const NetworkTimes& times);
[[nodiscard]] Value network_times(const NetworkPlan& plan);

[[nodiscard]] std::string validation_text(const Validation& validation);
/// As ValidationAnswer, of rows that are kept.
[[nodiscard]] std::string validation_written(const Validation& validation, const std::string& format);

/// A validation as text, csv or, with schema "headroom.validate/1", in a format of documents. Text, csv and JSON let
/// rows go as soon as they are written.
class ValidationAnswer {
 public:
  explicit ValidationAnswer(const std::string& format);
  void add(const ScoredRow& row);
  /// The whole answer; once, at the end.
  [[nodiscard]] std::string finish(const Validation& validation);

 private:
  enum class Form : std::uint8_t { text, json, csv, document };
  Form form_;
  const DocumentFormat* format_;  ///< nullptr: text or csv
  JsonWriter json_;
  std::string csv_;
  std::vector<Value> rows_;  ///< of a document that is written at the end
};

/// "12.3 (8.8 to 17.2) s": the central value with its interval, in one unit.
template <class Q>
[[nodiscard]] std::string interval_text(const Interval<Q>& interval) {
  return format(interval.mid) + "  (" + format(interval.low) + " to " + format(interval.high) + ")";
}
[[nodiscard]] std::string interval_text(const Interval<double>& interval, double scale = 1.0);

}  // namespace headroom
