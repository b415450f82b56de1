// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/layout_ranking.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace headroom {
namespace {

constexpr std::uint32_t least_layouts = 3;

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

LayoutBook::LayoutBook() : questions_{least_layouts} {}

void LayoutBook::add(const ScoredRow& row) {
  // Capacity depends on the GPUs alone, so its order does not help to choose a layout.
  if (!row.serving || row.prediction.status != RowStatus::ok || row.metric == "max_concurrent_sequences") {
    return;
  }
  questions_.add(question_of(row),
                 {layouts_.mention(layout_of(*row.serving)).number, row.prediction.predicted, row.measured}, [&] {
                   return Load{name(row.metric), name(row.serving->engine), name(row.source)};
                 });
}

std::vector<LayoutScore> LayoutBook::scores() const {
  std::map<std::string, Members> groups;
  questions_.visit([&](const Load& load, const std::vector<const Run*>& runs) {
    std::vector<double> predicted, measured;
    std::set<std::uint32_t> layouts;
    for (const Run* run : runs) {
      predicted.push_back(run->predicted);
      measured.push_back(run->measured);
      layouts.insert(run->layout);
    }
    const double tau = kendall_tau(predicted, measured);
    if (layouts.size() < least_layouts || !std::isfinite(tau)) {
      return;
    }
    for (const std::string& group : {std::string{"all"}, "metric=" + std::string{load.metric},
                                     "engine=" + std::string{load.engine}, "source=" + std::string{load.source}}) {
      groups[group].taus.push_back(tau);
      groups[group].layouts += layouts.size();
    }
  });
  std::vector<LayoutScore> scores;
  scores.reserve(groups.size());
  for (const auto& [group, members] : groups) {
    scores.push_back({group, members.taus.size(), members.layouts, mean(members.taus), median(members.taus)});
  }
  return scores;
}

}  // namespace headroom
