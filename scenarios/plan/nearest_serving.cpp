// SPDX-License-Identifier: Apache-2.0
// Published runs of servers most like a planned one.
#include <headroom/core/real.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/plan/runs_beside.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace headroom {
namespace {

constexpr double near_serving = 1.5;
constexpr std::size_t most_servers = 3;
// What a difference in kind is taken to be worth, as a factor: it ranks, and prices nothing.
constexpr double other_sku = 1.15;
constexpr double other_generation = 2.0;
constexpr double other_engine = 1.25;
constexpr double other_format = 1.4;

constexpr std::array<std::string_view, 5> metrics{"output_tokens_per_s", "input_tokens_per_s", "total_tokens_per_s",
                                                  "tpot_ms_mean", "tpot_ms_p50"};

std::size_t serving_rank(std::string_view metric) noexcept {
  return static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), metric) - metrics.begin());
}

bool is_time(std::string_view metric) noexcept {
  return metric.starts_with("tpot");
}

ServingPool phase_of(const ServingConfiguration& run) {
  switch (pool_of(run)) {
    case RowPool::whole: return ServingPool::both;
    case RowPool::prefill: return ServingPool::prefill;
    case RowPool::decode: break;
  }
  return ServingPool::decode;
}

/// Sequences that a rank runs at once.
double each(double sequences, const ServingLayout& layout) noexcept {
  return sequences / real(layout.gpus());
}

/// How unlike the row is, as a factor; nothing for another network or phase.
std::optional<double> distance(const ServeScenario& s, const ServersOfRuns::Server& server) {
  const ServingConfiguration& run = server.row->serving;
  if (server.network != s.architecture.id || phase_of(run) != s.work.pool || !run.tp) {
    return std::nullopt;
  }
  double sum = 0.0;
  const auto ratio = [&](double a, double b) {
    const double log = std::log(std::max(1.0, a) / std::max(1.0, b));
    sum += log * log;
  };
  const auto kind = [&](bool same, double worth) { sum += same ? 0.0 : std::log(worth) * std::log(worth); };
  const ServingLayout layout = row_layout(run);
  ratio(real(s.work.layout.gpus()), real(layout.gpus()));
  ratio(real(s.work.isl), run.isl.value_or(real(s.work.isl)));
  if (s.work.pool != ServingPool::prefill) {
    ratio(real(s.work.osl), run.osl.value_or(real(s.work.osl)));
    const double asked = each(real(sequences_asked(s.work)), s.work.layout);
    const double replicas = real(std::max<std::int64_t>(1, run.gpus.value_or(layout.gpus()) / layout.gpus()));
    ratio(asked, run.concurrency ? each(*run.concurrency / (s.work.pool == ServingPool::both ? replicas : 1.0), layout)
                                 : asked);
  }
  kind(server.generation == s.device.generation, other_generation);
  kind(server.sku == s.device.id || server.generation != s.device.generation, other_sku);
  kind(engine_of(run.engine) == s.engine.engine, other_engine);
  kind(run.weight_dtype == name_of(s.work.weights), other_format);
  return std::exp(std::sqrt(sum));
}

struct ServerCandidate {
  const ServersOfRuns::Server* server = nullptr;
  double distance = 0.0;
};

}  // namespace

ServersOfRuns::ServersOfRuns(std::vector<RunFile> files, const Sources& sources) : files_{std::move(files)} {
  RowDevices devices{sources.catalog};
  std::map<std::string_view, std::string> networks;  // of each model; empty: no preset
  for (const RunFile& file : files_) {
    for (const RunRow& row : file.rows) {
      const Device* const sku = file.form == RowForm::serving ? devices.find(row.serving.gpu).device : nullptr;
      if (sku == nullptr || row.doubted || !row.broken.empty() || serving_rank(row.metric) == metrics.size() ||
          comes_as_queue(row.serving)) {
        continue;  // a plan's load is steady: requests at random or all at once are no like run
      }
      const auto [network, unknown] = networks.try_emplace(row.serving.model);
      if (unknown && sources.models.knows(row.serving.model)) {
        network->second = sources.models.find(row.serving.model).id;
      }
      if (network->second.empty()) {
        continue;
      }
      auto [at, fresh] = servers_.try_emplace(configuration_key(file, row));
      if (fresh || serving_rank(row.metric) < serving_rank(at->second.row->metric)) {
        at->second = {&row, sku->id, sku->generation, network->second};
      }
    }
  }
}

NearestRuns nearest_runs(const ServeScenario& s, const ServersOfRuns& published, const Sources& sources) {
  NearestRuns result;
  result.radius = near_serving;
  std::vector<ServerCandidate> ranked;
  for (const auto& [key, server] : published.servers()) {
    if (const std::optional<double> away = distance(s, server); away && *away <= near_serving) {
      ranked.push_back({&server, *away});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const ServerCandidate& a, const ServerCandidate& b) {
    return std::pair{a.distance, std::string_view{a.server->row->id}} <
           std::pair{b.distance, std::string_view{b.server->row->id}};
  });
  ServingRowModel model{sources};
  for (const ServerCandidate& candidate : ranked) {
    const RunRow& row = *candidate.server->row;
    const RowPrediction ours = model.predict(row);
    if (ours.status != RowStatus::ok) {
      continue;
    }
    ++result.within;
    if (result.runs.size() < most_servers) {
      NearRun run;
      run.id = row.id;
      run.model = row.serving.model;
      run.gpu = candidate.server->sku;
      run.framework = row.serving.engine;
      run.source = row.source;
      run.metric = row.metric;
      run.unit = row.unit;
      run.gpus = row.serving.gpus.value_or(0);
      run.distance = candidate.distance;
      run.measured = row.measured;
      run.predicted = ours.predicted;
      run.step_error = (is_time(row.metric) ? ours.predicted / row.measured : row.measured / ours.predicted) - 1.0;
      result.runs.push_back(std::move(run));
    }
  }
  return result;
}

NearestRuns nearest_runs(const ServeScenario& serve, std::span<const RunFile> published, const Sources& sources) {
  return nearest_runs(serve, ServersOfRuns{{published.begin(), published.end()}, sources}, sources);
}

}  // namespace headroom
