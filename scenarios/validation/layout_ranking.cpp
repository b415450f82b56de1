// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/layout_ranking.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {
namespace {

constexpr std::size_t least_layouts = 3;

std::string option(const ServingConfiguration& run, std::string_view name) {
  const auto found = run.options.find(name);
  return found == run.options.end() ? std::string{} : found->second;
}

template <typename Number>
void add(std::string& key, const std::optional<Number>& value) {
  key += '\x1f' + (value ? std::to_string(*value) : std::string{});
}

std::string question_of(const ScoredRow& row) {
  const ServingConfiguration& r = *row.serving;
  std::string key = row.metric;
  for (const std::string& text : {row.file, row.source, r.model, r.gpu, r.engine, r.engine_version, r.weight_dtype,
                                  option(r, "scenario"), option(r, "requests")}) {
    key += '\x1f' + text;
  }
  for (const std::optional<double>& number : {r.isl, r.osl, r.concurrency, r.request_rate}) {
    add(key, number);
  }
  return key;
}

std::string layout_of(const ServingConfiguration& r) {
  std::string key = option(r, "attention_dp");
  for (const std::optional<std::int64_t>& axis : {r.gpus, r.tp, r.pp, r.ep, r.dp}) {
    add(key, axis);
  }
  return key;
}

struct Members {
  std::vector<double> taus;
  std::size_t layouts = 0;
};

}  // namespace

std::vector<LayoutScore> rank_layouts(std::span<const ScoredRow> rows) {
  LayoutBook book;
  for (const ScoredRow& row : rows) {
    book.add(row);
  }
  return book.scores();
}

void LayoutBook::add(const ScoredRow& row) {
  // What a pool holds grows with the GPUs alone: no choice of layouts hangs on its order.
  if (!row.serving || row.prediction.status != RowStatus::ok || row.metric == "max_concurrent_sequences") {
    return;
  }
  const auto [found, fresh] = questions_.try_emplace(question_of(row));
  Question& question = found->second;
  if (fresh) {
    question.metric = row.metric;
    question.engine = row.serving->engine;
    question.source = row.source;
  }
  question.predicted.push_back(row.prediction.predicted);
  question.measured.push_back(row.measured);
  question.layouts.insert(layout_of(*row.serving));
}

std::vector<LayoutScore> LayoutBook::scores() const {
  std::map<std::string, Members> groups;
  for (const auto& [key, question] : questions_) {
    const double tau = kendall_tau(question.predicted, question.measured);
    if (question.layouts.size() < least_layouts || !std::isfinite(tau)) {
      continue;
    }
    for (const std::string& group :
         {std::string{"all"}, "metric=" + question.metric, "engine=" + question.engine, "source=" + question.source}) {
      groups[group].taus.push_back(tau);
      groups[group].layouts += question.layouts.size();
    }
  }
  std::vector<LayoutScore> scores;
  scores.reserve(groups.size());
  for (const auto& [group, members] : groups) {
    scores.push_back({group, members.taus.size(), members.layouts, mean(members.taus), median(members.taus)});
  }
  return scores;
}

}  // namespace headroom
