// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/networks/fit_networks.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace headroom {
namespace {

/// Ranks of metrics by which a configuration's one row is chosen; -1: none tells a call's time.
int rank_of(std::string_view metric) noexcept {
  constexpr std::array<std::string_view, 9> ranked{"images_per_s", "requests_per_s",     "samples_per_s",
                                                   "videos_per_s", "total_tokens_per_s", "tokens_per_s_per_gpu",
                                                   "step_time_s",  "latency_ms_mean",    "latency_ms_p50"};
  const auto found = std::find(ranked.begin(), ranked.end(), metric);
  return found == ranked.end() ? -1 : static_cast<int>(found - ranked.begin());
}

bool is_latency(const RunRow& row) noexcept {
  return row.metric.starts_with("latency") || row.metric == "step_time_s";
}

/// What one run's rows of training share.
std::string training_of(const RunRow& row) {
  const RunConfiguration& run = row.run;
  std::string key = row.source + "\n" + row.source_ref + "\n" + run.model + "\n" + run.gpu + "\n" + run.precision +
                    "\n" + run.framework + "\n" + std::to_string(row.table);
  for (const auto& cell : {run.gpus, run.micro_batch, run.global_batch, run.seq_len}) {
    key += "\n" + std::to_string(cell.value_or(0));
  }
  return key;
}

/// ln of what one configuration's rows share.
std::string configuration_of(const RunRow& row) {
  if (row.form == RowForm::training) {
    return training_of(row);
  }
  const ServingConfiguration& run = row.serving;
  std::string key = row.source + "\n" + row.source_ref + "\n" + run.model + "\n" + run.gpu + "\n" + run.weight_dtype +
                    "\n" + run.engine + "\n" + run.engine_version + "\n" + std::to_string(row.table) + "\n" +
                    std::to_string(run.gpus.value_or(0)) + "\n" + std::to_string(run.isl.value_or(0.0)) + "\n" +
                    std::to_string(run.concurrency.value_or(0.0)) + "\n" + std::to_string(run.max_batch.value_or(0));
  for (const auto& [name, value] : run.options) {
    key += "\n" + name + "=" + value;
  }
  // Sizes and resolutions of one title may stand in the notes alone.
  return key + "\n" + row.notes.substr(0, row.notes.find("; header"));
}

/// A log that is published under several names: equal values of one network on equal GPUs.
std::string log_of(const RunRow& row) {
  if (row.form == RowForm::training) {
    const RunConfiguration& run = row.run;
    return run.model + "\n" + run.gpu + "\n" + run.precision + "\n" + std::to_string(run.gpus.value_or(0)) + "\n" +
           std::to_string(run.global_batch.value_or(0)) + "\n" + row.metric + "\n" + std::to_string(row.measured);
  }
  const ServingConfiguration& run = row.serving;
  const auto scenario = run.options.find("scenario");
  return run.model + "\n" + run.gpu + "\n" + run.weight_dtype + "\n" + std::to_string(run.gpus.value_or(0)) + "\n" +
         (scenario == run.options.end() ? std::string{} : scenario->second) + "\n" + row.metric + "\n" +
         std::to_string(row.measured);
}

bool power_capped(const RunRow& row) {
  return row.source_ref.find("MaxQ") != std::string::npos;
}

class Problem {
 public:
  Problem(std::vector<NetworkKnob> knobs, const ModelData& data)
      : knobs_{std::move(knobs)}, numbers_{network_numbers(data)} {}

  [[nodiscard]] const std::vector<NetworkKnob>& knobs() const noexcept { return knobs_; }
  [[nodiscard]] const NetworkNumbers& start() const noexcept { return numbers_; }
  [[nodiscard]] NetworkNumbers at(std::span<const double> point) const {
    NetworkNumbers n = numbers_;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      set_network_number(n, knobs_[i], std::exp(point[i]));
    }
    return n;
  }

  [[nodiscard]] std::vector<std::size_t> behind(const NetworkRowCall& call) const {
    std::vector<std::size_t> all(knobs_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::erase_if(all, [&](std::size_t i) { return !moves(knobs_[i], call); });
    return all;
  }

 private:
  [[nodiscard]] bool moves(const NetworkKnob& knob, const NetworkRowCall& call) const {
    const bool loop = call.together > 0.0;
    const bool own = std::find(knob.engines.begin(), knob.engines.end(), call.engine->id) != knob.engines.end();
    if (knob.of_training() != call.step.has_value()) {
      return false;
    }
    if (loop || knob.key == "closed_loop") {
      return loop && own && knob.key == "closed_loop";
    }
    const std::string_view format = call_format_names[static_cast<std::size_t>(call.setting.format)];
    const std::size_t dot = knob.key.find('.');
    if (dot != std::string::npos && std::string_view{knob.key}.substr(dot + 1) != format) {
      return false;
    }
    const auto has = [&](auto... kinds) {
      return std::any_of(call.ops->begin(), call.ops->end(),
                         [&](const CallOp& op) { return ((op.kind == kinds) || ...); });
    };
    switch (knob.owner) {
      case NetworkOwner::physics:
        return knob.key.starts_with("convolution") ? has(CallOpKind::convolution, CallOpKind::winograd)
               : knob.key.starts_with("grouped")   ? has(CallOpKind::grouped)
               : knob.key == "attention"           ? !call.engine->fused_attention && has(CallOpKind::product)
               : knob.key == "attention_fused"     ? call.engine->fused_attention && has(CallOpKind::product)
               : knob.key == "winograd"            ? format == "fp32" && has(CallOpKind::winograd)
               : knob.key == "recurrent_gap"       ? has(CallOpKind::recurrent)
               : knob.key == "ring_bytes"          ? call.merged > 0.0
               : knob.key == "exchange_tensor"     ? call.step->ranks > 1.0
               : knob.key.starts_with("depthwise") ? has(CallOpKind::depthwise)
               : knob.key.ends_with("8bit")        ? format == "8-bit"
                                                   : true;
      case NetworkOwner::silicon: {
        const CallSilicon* silicon = numbers_.rates.silicon_of(call.device->compute_capability);
        return silicon != nullptr && silicon->name == knob.id;
      }
      case NetworkOwner::host: return call.host_cpu.find(knob.id) != std::string::npos;
      case NetworkOwner::engine:
        return own && (knob.key != "exchange_hidden" || call.step->ranks > 1.0) &&
               (knob.key != "input" || call.setting.input_bytes > 0.0) &&
               (knob.key != "autocast" || call.setting.autocast);
    }
    return false;
  }

  std::vector<NetworkKnob> knobs_;
  NetworkNumbers numbers_;
};

/// ln(predicted / measured) of a call's time at a point.
double error_of(const FittedNetworkRun& run, const NetworkNumbers& numbers) {
  const NetworkEngine& engine = numbers.engines.find(run.call.engine->id)->second;
  NetworkRowCall call = run.call;
  const CallHost* host = call.host_cpu.empty() ? nullptr : numbers.rates.host_of(call.host_cpu);
  call.setting.host = host != nullptr ? host->launch : call.setting.host;
  const double value = network_value(call, network_pace(call, numbers.rates, engine), run.row->metric).value_or(1e-30);
  const double log = std::log(value / run.row->measured);
  return is_latency(*run.row) ? log : -log;
}

struct Gathered {
  std::vector<FittedNetworkRun> runs;
  std::list<RunRow> worded;
  std::size_t open = 0;
};

Gathered gather(std::span<const RunFile> files,
                NetworkRowModel& model,
                const ModelData& data,
                const NetworkNumbers& start) {
  Gathered all;
  std::map<std::string, const RunRow*> chosen;
  std::vector<std::string> order;
  std::map<std::string, std::string> file_of;
  for (const RunFile& file : files) {
    for (const RunRow& written : file.rows) {
      if (file.form == RowForm::other) {
        std::string why;
        std::optional<RunRow> meant = workload_row(data, file, written, why);
        if (!meant || repeats(data, file, written)) {
          continue;
        }
        all.worded.push_back(*std::move(meant));
      }
      const RunRow& row = file.form == RowForm::other ? all.worded.back() : written;
      const bool trains = row.form == RowForm::training;
      const bool broken = trains ? !row.broken.empty() : !row.serving.broken.empty() || power_capped(row);
      if (row.doubted || broken || rank_of(row.metric) < 0 ||
          !(trains ? model.trains(row.run) : model.knows(row.serving))) {
        continue;
      }
      const std::string key = configuration_of(row);
      const auto [at, fresh] = chosen.try_emplace(key, &row);
      if (fresh) {
        order.push_back(key);
        file_of[key] = std::filesystem::path{file.file}.filename().string();
      } else if (rank_of(row.metric) < rank_of(at->second->metric)) {
        at->second = &row;
      }
    }
  }
  std::map<std::string, std::size_t> families;
  std::set<std::string> logs;
  for (const std::string& key : order) {
    const RunRow& row = *chosen[key];
    if (!logs.insert(log_of(row)).second) {
      continue;
    }
    RowPrediction refusal;
    std::string assumed;
    std::vector<NetworkRowCall> calls = model.calls(row, refusal, assumed);
    if (!calls.empty() && calls.front().limit > Seconds{}) {
      continue;  // a simulated queue over the same calls
    }
    if (calls.size() != 1) {
      all.open += calls.empty() ? 0 : 1;
      continue;
    }
    FittedNetworkRun run;
    run.row = &row;
    run.call = std::move(calls.front());
    try {
      // A server's own batch is chosen once, by the numbers of the files.
      run.call.batches = {network_pace(run.call, start.rates, *run.call.engine).batch};
    } catch (const ConfigError&) {
      continue;
    }
    run.file = file_of[key];
    const std::string family = run.call.network + "/" + run.call.engine->id + "/" + run.call.device->id + "/" +
                               std::to_string(static_cast<int>(run.call.setting.format)) +
                               (run.call.together > 0.0 ? "/loop" : "") +
                               (!run.call.step               ? ""
                                : run.call.step->ranks > 1.0 ? "/training on many"
                                                             : "/training");
    run.family = families.try_emplace(family, families.size()).first->second;
    run.left_out.fill(std::numeric_limits<double>::quiet_NaN());
    all.runs.push_back(std::move(run));
  }
  std::vector<double> sizes(families.size());
  for (const FittedNetworkRun& run : all.runs) {
    sizes[run.family] += 1.0;
  }
  for (FittedNetworkRun& run : all.runs) {
    run.weight = std::pow(sizes[run.family], -0.35);
  }
  return all;
}

std::vector<FitCoordinate> coordinates_of(const std::vector<NetworkKnob>& knobs) {
  std::vector<FitCoordinate> coordinates;
  coordinates.reserve(knobs.size());
  for (const NetworkKnob& k : knobs) {
    coordinates.push_back({std::log(k.value), std::log(k.low), std::log(k.high), std::log(k.centre), k.width});
  }
  return coordinates;
}

}  // namespace

std::string FittedNetworkRun::left(NetworkLeaving what) const {
  return what == NetworkLeaving::network ? call.network : what == NetworkLeaving::sku ? call.device->id : row->source;
}

NetworkFit fit_networks(std::span<const RunFile> files,
                        const Sources& sources,
                        const NetworkFitOptions& options,
                        const std::function<void(std::string_view)>& progress) {
  const auto tell = [&](const std::string& what) {
    if (progress) {
      progress(what);
    }
  };
  NetworkFit fit;
  fit.knobs = network_knobs(sources.data);
  NetworkRowModel model{sources};
  const Problem problem{fit.knobs, sources.data};
  Gathered gathered = gather(files, model, sources.data, problem.start());
  fit.runs = std::move(gathered.runs);
  fit.worded = std::move(gathered.worded);
  fit.open = gathered.open;
  if (fit.runs.empty()) {
    throw ConfigError{"no row of these files is a call of a network that the model answers"};
  }
  std::vector<FitSample> samples;
  for (FittedNetworkRun& run : fit.runs) {
    samples.push_back({run.weight, run.family, problem.behind(run.call)});
    run.before = error_of(run, problem.start());
  }
  HierarchicalOptions how;
  how.scale = options.scale;
  how.noise = options.noise;
  const SampleErrors errors = [&](std::span<const double> point, std::span<const std::size_t> which,
                                  std::span<double> out, std::size_t) {
    const NetworkNumbers numbers = problem.at(point);
    for (std::size_t i = 0; i < which.size(); ++i) {
      out[i] = error_of(fit.runs[which[i]], numbers);
    }
  };
  std::vector<FitCoordinate> coordinates = coordinates_of(fit.knobs);
  std::vector<bool> told(coordinates.size(), false);
  for (const FitSample& sample : samples) {
    for (const std::size_t knob : sample.behind) {
      told[knob] = true;
    }
  }
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    coordinates[i].fixed = !told[i];  // what no row tells stays as its file has it
  }
  HierarchicalFit solver{std::move(coordinates), samples, errors, how};
  tell("fitting " + std::to_string(fit.knobs.size()) + " numbers on " + std::to_string(fit.runs.size()) + " rows");
  fit.result = solver.fit();
  for (const double x : fit.result.point) {
    fit.values.push_back(std::exp(x));
  }
  const NetworkNumbers fitted = problem.at(fit.result.point);
  for (FittedNetworkRun& run : fit.runs) {
    run.fitted = error_of(run, fitted);
  }
  for (const NetworkLeaving what : options.leave_out) {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < fit.runs.size(); ++i) {
      groups[fit.runs[i].left(what)].push_back(i);
    }
    for (const auto& [name, theirs] : groups) {
      if (theirs.size() == fit.runs.size()) {
        continue;  // nothing would be left
      }
      tell("without " + std::string{network_leaving_names[static_cast<std::size_t>(what)]} + " " + name);
      std::vector<bool> out(fit.runs.size());
      for (const std::size_t i : theirs) {
        out[i] = true;
      }
      const NetworkNumbers rest = problem.at(solver.refit(fit.result, out).point);
      for (const std::size_t i : theirs) {
        fit.runs[i].left_out[static_cast<std::size_t>(what)] = error_of(fit.runs[i], rest);
      }
    }
  }
  for (FittedNetworkRun& run : fit.runs) {
    run.call.ops = nullptr;  // the row model's, which ends here
  }
  return fit;
}

double left_out_width(const NetworkFit& fit, const std::function<bool(const FittedNetworkRun&)>& of) {
  constexpr std::size_t least_runs = 12, least_networks = 2;
  constexpr double held = 0.8;
  std::vector<double> sizes;
  std::set<std::string> networks;
  std::size_t runs = 0;
  for (const FittedNetworkRun& run : fit.runs) {
    const double network = run.left_out[static_cast<std::size_t>(NetworkLeaving::network)];
    const double sku = run.left_out[static_cast<std::size_t>(NetworkLeaving::sku)];
    if (!std::isfinite(network) || !of(run)) {
      continue;
    }
    // Either is a question of its own. The worse of both would hold more than is asked of each.
    sizes.push_back(std::abs(network));
    if (std::isfinite(sku)) {
      sizes.push_back(std::abs(sku));
    }
    networks.insert(run.call.network);
    ++runs;
  }
  return runs < least_runs || networks.size() < least_networks ? 0.0 : std::expm1(quantile(sizes, held));
}

}  // namespace headroom
