// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/infer/network_calls.hpp>
#include <headroom/model/queue/batching.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/network_row.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headroom {
namespace {

/// Latencies at shares of equal calls over their mean, of PyTorch, TensorFlow and TensorRT tables (docs/networks.md).
struct CallSpread {
  std::string_view metric;
  double over_mean, closed_over_mean;
};
constexpr std::array latency_metrics{CallSpread{"latency_ms_mean", 1.0, 1.0}, CallSpread{"latency_ms_p50", 0.99, 0.99},
                                     CallSpread{"latency_ms_p90", 1.01, 1.1}, CallSpread{"latency_ms_p95", 1.02, 1.15},
                                     CallSpread{"latency_ms_p99", 1.05, 1.2}};

constexpr std::array<std::string_view, 5> rate_metrics{"images_per_s", "requests_per_s", "samples_per_s",
                                                       "total_tokens_per_s", "queries_per_s"};

[[nodiscard]] std::optional<Precision> precision_of_row(const ServingConfiguration& run) {
  const std::string& name = run.weight_dtype;
  for (std::size_t i = 0; i < precision_names.size(); ++i) {
    if (precision_names[i] == name) {
      return static_cast<Precision>(i);
    }
  }
  return std::nullopt;
}

[[nodiscard]] CallFormat call_format(Precision precision) noexcept {
  switch (precision) {
    case Precision::fp32: return CallFormat::fp32;
    case Precision::tf32: return CallFormat::tf32;
    case Precision::fp8:
    case Precision::mxfp8:
    case Precision::int8: return CallFormat::eight;
    default: return CallFormat::half;
  }
}

[[nodiscard]] std::optional<double> option_number(const ServingConfiguration& run, std::string_view key) {
  const auto found = run.options.find(key);
  if (found == run.options.end()) {
    return std::nullopt;
  }
  double value = 0.0;
  const char* end = found->second.data() + found->second.size();
  return std::from_chars(found->second.data(), end, value).ec == std::errc{} ? std::optional{value} : std::nullopt;
}

/// What an engine's name and its backend mean: "Triton Inference Server" is none, its backend is.
[[nodiscard]] std::string engine_name(const ServingConfiguration& run) {
  const auto backend = run.options.find("backend");
  if (run.engine != "Triton Inference Server" || backend == run.options.end()) {
    return run.engine;
  }
  const std::string name = backend->second.substr(0, backend->second.find(" with "));
  if (backend->second.find("Backend accelerator TensorRT") != std::string::npos) {
    return "ONNX Runtime TensorRT";
  }
  // Triton's PyTorch backend runs scripted networks.
  return name == "PyTorch" ? "Triton TorchScript" : name;
}

[[nodiscard]] std::string options_text(const ServingConfiguration& run) {
  std::string text;
  for (const auto& [key, value] : run.options) {
    text += key + "=" + value + ";";
  }
  return text;
}

/// Engines that may have run a row: the one that its columns mean, or all of its name that differ by a mark alone.
[[nodiscard]] std::vector<const NetworkEngine*> engines_of(const ModelData& data, const ServingConfiguration& run) {
  const std::string name = engine_name(run);
  const std::string options = options_text(run);
  const NetworkEngine* meant = network_engine_of(data, name, run.engine_version, options);
  std::vector<const NetworkEngine*> engines;
  if (meant == nullptr) {
    return engines;
  }
  engines.push_back(meant);
  for (const NetworkEngine& each : network_engines(data)) {
    const bool named = std::find(each.names.begin(), each.names.end(), name) != each.names.end();
    if (named && !each.mark.empty() && meant->mark.empty() && options.find(each.mark) == std::string::npos) {
      engines.push_back(&each);
    }
  }
  return engines;
}

}  // namespace

bool NetworkRowModel::knows(const ServingConfiguration& run) const {
  return NetworkLibrary{sources_.data.files()}.knows(run.model);
}

const NetworkRowModel::Calls& NetworkRowModel::calls_of(const ServingConfiguration& run) {
  const NetworkLibrary library{sources_.data.files()};
  // Columns and options that name a size of the network set it.
  const Network plain = library.find(run.model);
  NetworkSizes sizes;
  const auto take = [&](std::string_view name, std::optional<double> value) {
    if (value && *value >= 1.0 && plain.sizes.contains(name)) {
      sizes.insert_or_assign(std::string{name}, static_cast<std::int64_t>(*value));
    }
  };
  take("tokens", run.isl);
  for (const auto& [key, value] : run.options) {
    take(key, option_number(run, key));
  }
  std::string key = plain.id;
  for (const auto& [name, value] : sizes) {
    key += ";" + name + "=" + std::to_string(value);
  }
  const auto found = ops_.find(key);
  if (found != ops_.end()) {
    return found->second;
  }
  const Network network = sizes.empty() ? plain : library.find(run.model, sizes);
  Calls calls{call_ops(network), network.input_bytes().raw(), network.product_flops().raw()};
  return ops_.emplace(key, std::move(calls)).first->second;
}

RowPrediction NetworkRowModel::predict(const ServingConfiguration& run,
                                       std::string_view metric,
                                       std::string_view /*unit*/) {
  const bool rate = std::find(rate_metrics.begin(), rate_metrics.end(), metric) != rate_metrics.end();
  const auto latency = std::find_if(latency_metrics.begin(), latency_metrics.end(),
                                    [&](const CallSpread& each) { return each.metric == metric; });
  if (!rate && latency == latency_metrics.end()) {
    return unsupported("metric " + std::string{metric} + " of a network's call is not answered");
  }
  const std::optional<Precision> precision = precision_of_row(run);
  if (!precision) {
    return unsupported("format '" + run.weight_dtype + "' is not known");
  }
  const auto device = devices_.find(run.gpu);
  if (!device.device) {
    return unsupported(device.why);
  }
  const std::vector<const NetworkEngine*> engines = engines_of(sources_.data, run);
  if (engines.empty()) {
    return unsupported("engine '" + engine_name(run) + "' runs networks and is not known (model/stacks/infer)");
  }
  const CallRates& rates = call_rates(sources_.data);
  const Calls* calls = nullptr;
  CallDevice resolved;
  CallSetting setting;
  setting.format = call_format(*precision);
  try {
    calls = &calls_of(run);
    resolved = call_device(*device.device, rates, setting.format, false);
  } catch (const ConfigError& error) {
    return unsupported(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
  }
  const bool eight = setting.format == CallFormat::eight;
  setting.element = eight ? 1.0 : setting.format == CallFormat::half ? 2.0 : 4.0;
  setting.weight = setting.element;
  if (const Node* node = sources_.catalog.reference_node(*device.device)) {
    if (const CallHost* host = rates.host_of(node->cpu)) {
      setting.host = host->launch;
    }
  }
  const std::optional<double> clients = option_number(run, "clients");
  const double samples = option_number(run, "client_batch").value_or(1.0);
  const double gpus = real(run.gpus.value_or(1));
  if (!run.concurrency) {
    return unsupported("not published: concurrency, the samples of a call");
  }
  const double batch = std::max(1.0, *run.concurrency);
  double low = 0.0, high = 0.0, middle = 0.0;
  for (const NetworkEngine* engine : engines) {
    setting.autocast = setting.format == CallFormat::half && engine->fusion == Fusion::framework;
    setting.input_bytes = run.engine == "Triton Inference Server" ? calls->input_bytes : 0.0;
    const auto time = [&](double of) {
      return call_time(calls->ops, of, resolved, rates.physics, *engine, setting).total().raw();
    };
    double seconds = time(batch);  // of a sample's answer
    double per_s = batch / seconds;
    if (clients && *clients > 1.0) {
      const double asked = *clients * samples;
      const double most = run.max_batch ? real(*run.max_batch) : asked;
      const double together = std::min(std::max(0.5 * asked, samples), std::max(most, samples));
      // Copies of others run beside a call: the server's input path is the one client's alone.
      setting.input_bytes = 0.0;
      per_s = engine->served * together / time(together);
      seconds = 0.97 * asked / per_s;
    }
    const double over = latency == latency_metrics.end() ? 1.0
                        : clients && *clients > 1.0      ? latency->closed_over_mean
                                                         : latency->over_mean;
    double value = rate ? gpus * per_s : 1e3 * seconds * over;
    if (metric == "total_tokens_per_s") {
      value *= run.isl.value_or(1.0);
    }
    low = low == 0.0 ? value : std::min(low, value);
    high = std::max(high, value);
    middle += std::log(value) / real(static_cast<std::int64_t>(engines.size()));
  }
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.predicted = std::exp(middle);
  answer.low = low / (1.0 + rates.width);
  answer.high = high * (1.0 + rates.width);
  const double floor_seconds = batch * calls->flop / resolved.peak.raw();
  answer.roofline = rate ? gpus * batch / std::max(floor_seconds, 1e-12) : 1e3 * floor_seconds;
  return answer;
}

}  // namespace headroom
