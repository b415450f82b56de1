// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/infer/network_calls.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/network_spelling.hpp>

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
                                                       "total_tokens_per_s", "videos_per_s"};

[[nodiscard]] std::optional<Precision> precision_of_row(const ServingConfiguration& run) {
  const std::string& name = run.weight_dtype;
  for (std::size_t i = 0; i < precision_names.size(); ++i) {
    if (precision_names[i] == name) {
      return static_cast<Precision>(i);
    }
  }
  return std::nullopt;
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
[[nodiscard]] std::vector<const NetworkEngine*> engines_of(const ModelData& data,
                                                           const ServingConfiguration& run,
                                                           const std::string& runs) {
  const std::string name = engine_name(run);
  const std::string options = options_text(run) + runs;
  const NetworkEngine* meant = network_engine_of(data, name, run.engine_version, options);
  std::vector<const NetworkEngine*> engines;
  if (meant == nullptr) {
    return engines;
  }
  engines.push_back(meant);
  for (const NetworkEngine& each : network_engines(data)) {
    const bool named = std::find(each.names.begin(), each.names.end(), name) != each.names.end();
    if (named && runs.empty() && !each.mark.empty() && meant->mark.empty() && each.from == meant->from &&
        each.before == meant->before && options.find(each.mark) == std::string::npos) {
      engines.push_back(&each);
    }
  }
  return engines;
}

/// Of one sample whose tokens lie on `ranks` GPUs: before and after each attention every rank exchanges its part of
/// queries, keys, values and results with the others (Jacobs et al. 2023, DeepSpeed Ulysses, section 3.1).
[[nodiscard]] Seconds exchange_of(const std::vector<CallOp>& ops, double element, double ranks, const Device& device) {
  if (ranks <= 1.0 || !device.scale_up.per_gpu) {
    return Seconds{};
  }
  double elements = 0.0;
  for (const CallOp& op : ops) {
    if (op.in_attention && op.kind == CallOpKind::product) {
      elements += (op.in + op.out - op.scores) * op.count;
    }
  }
  constexpr double sustained = 0.8;  // of the link, by NCCL's all-to-all of megabytes
  return Bytes{elements * element / ranks * (ranks - 1.0) / ranks} / (sustained * device.scale_up.per_gpu->value);
}

}  // namespace

bool NetworkRowModel::knows(const ServingConfiguration& run) const {
  return spelling_of(sources_.data, run) != nullptr || NetworkLibrary{sources_.data.files()}.knows(run.model);
}

const NetworkRowModel::Calls& NetworkRowModel::calls_of(const std::string& id,
                                                        const NetworkSizes& usual,
                                                        const ServingConfiguration& run) {
  const NetworkLibrary library{sources_.data.files()};
  // Columns and options that name a size of the network set it.
  const Network plain = library.find(id);
  NetworkSizes sizes = usual;
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
  const Network network = sizes.empty() ? plain : library.find(id, sizes);
  Calls calls{call_ops(network), network.input_bytes().raw(), network.product_flops().raw(),
              inference_memory(network, 2.0)};
  return ops_.emplace(key, std::move(calls)).first->second;
}

/// The call that a row's columns describe, of one network under one engine.
struct NetworkRowModel::Asked {
  double gpus = 1.0;
  std::optional<double> batch;    ///< samples of a call; nothing: the fastest that fits
  std::optional<double> clients;  ///< in a closed loop
  double client_samples = 1.0;
  double most = 0.0;  ///< samples of a call that the server lets in; 0: not stated
  double evaluations = 1.0;
  double shared = 1.0;  ///< ranks that share each sample's tokens
  Seconds exchange{};   ///< of one sample between them
};

NetworkRowModel::Pace NetworkRowModel::pace_of(const Calls& calls,
                                               const NetworkEngine& engine,
                                               const CallDevice& device,
                                               CallSetting setting,
                                               Bytes memory,
                                               const Asked& asked) const {
  const CallPhysics& physics = call_rates(sources_.data).physics;
  const auto time = [&](double samples) {
    const double called = samples * asked.evaluations / asked.shared;
    const Seconds exchange = asked.shared > 1.0 ? samples * asked.evaluations * asked.exchange : Seconds{};
    return (call_time(calls.ops, called, device, physics, engine, setting).total() + exchange).raw();
  };
  if (asked.clients && *asked.clients > 1.0) {
    const double requests = *asked.clients * asked.client_samples;
    const double most = asked.most > 0.0 ? asked.most : requests;
    const double together =
        std::min(std::max(0.5 * requests, asked.client_samples), std::max(most, asked.client_samples));
    // Copies of others run beside a call: the server's input path is the lone client's.
    setting.input_bytes = 0.0;
    const double rate = engine.served * together / time(together);
    return {rate, 0.97 * requests / rate, together};
  }
  if (asked.batch) {
    const double seconds = time(*asked.batch);
    return {*asked.batch / seconds, seconds, *asked.batch};
  }
  Pace best;
  for (double samples = 1.0; samples <= 2048.0; samples *= 2.0) {
    const double held = samples * asked.evaluations;
    // Tables that no GPU holds alone lie elsewhere: samples alone are counted.
    if (samples > 1.0 && held * calls.memory.per_sample > 0.7 * memory) {
      break;
    }
    const double seconds = time(samples);
    if (samples / seconds > best.rate) {
      best = {samples / seconds, seconds, samples};
    }
  }
  return best;
}

RowPrediction NetworkRowModel::predict(const ServingConfiguration& run, std::string_view metric) {
  const bool rate = std::find(rate_metrics.begin(), rate_metrics.end(), metric) != rate_metrics.end();
  const auto latency = std::find_if(latency_metrics.begin(), latency_metrics.end(),
                                    [&](const CallSpread& each) { return each.metric == metric; });
  const bool watts = metric == "power_w_per_gpu";
  const bool joules = metric == "j_per_image" || metric == "j_per_video";
  if (!rate && latency == latency_metrics.end() && !watts && !joules) {
    return unsupported("metric " + std::string{metric} + " of a network's call is not answered");
  }
  const auto scenario = run.options.find("scenario");
  const bool offline = scenario != run.options.end() && scenario->second == "offline";
  if (scenario != run.options.end() && scenario->second == "server") {
    return unsupported("a server's offered rate and its latencies need the queue of the run, which is not stated");
  }
  const std::optional<Precision> precision = precision_of_row(run);
  if (!precision) {
    return unsupported("format '" + run.weight_dtype + "' is not known");
  }
  const auto device = devices_.find(run.gpu);
  if (device.device == nullptr) {
    return unsupported(device.why);
  }
  NetworkSpelling spelling;
  if (const NetworkSpelling* known = spelling_of(sources_.data, run)) {
    spelling = *known;
  } else {
    spelling.networks = {run.model};
  }
  const std::vector<const NetworkEngine*> engines = engines_of(sources_.data, run, spelling.runs);
  if (engines.empty()) {
    return unsupported("engine '" + engine_name(run) + "' is none that runs networks (model/stacks/infer)");
  }
  if (!run.concurrency && !offline) {
    return unsupported("not published: concurrency, the samples of a call");
  }
  Asked asked;
  asked.gpus = real(run.gpus.value_or(1));
  asked.batch = run.concurrency;
  asked.clients = option_number(run, "clients");
  asked.client_samples = option_number(run, "client_batch").value_or(1.0);
  asked.most = run.max_batch ? real(*run.max_batch) : 0.0;
  asked.evaluations = spelling.evaluations;
  double steps = 1.0;
  if (spelling.evaluations_per_step > 0.0) {
    const std::optional<double> stated = option_number(run, "steps");
    if (!stated) {
      return unsupported("not published: options.steps");
    }
    steps = *stated * spelling.evaluations_per_step;
  }
  if (offline && scenario != run.options.end()) {
    asked.batch.reset();
  }
  asked.shared = option_number(run, "ulysses").value_or(1.0) * option_number(run, "ring").value_or(1.0);

  CallSetting setting;
  setting.format = call_format(*precision);
  setting.element = setting.weight = element_bytes(setting.format);
  const CallRates& rates = call_rates(sources_.data);
  if (const Node* node = sources_.catalog.reference_node(*device.device)) {
    if (const CallHost* host = rates.host_of(node->cpu)) {
      setting.host = host->launch;
    }
  }
  RowPrediction answer;
  double middle = 0.0, parts = 0.0;
  try {
    const Bytes memory = device.device->visible_capacity().value;
    for (const std::string& id : spelling.networks) {
      const Calls& calls = calls_of(id, spelling.sizes, run);
      for (const NetworkEngine* engine : engines) {
        CallSetting own = setting;
        own.autocast = setting.format == CallFormat::half && engine->fusion == Fusion::framework;
        own.host_per_sample = spelling.host_per_sample;
        own.input_bytes = run.engine == "Triton Inference Server" ? calls.input_bytes : 0.0;
        const CallDevice resolved = call_device(*device.device, rates, *engine, setting.format, false);
        asked.exchange = exchange_of(calls.ops, setting.element, asked.shared, *device.device);
        const Pace pace = pace_of(calls, *engine, resolved, own, memory, asked);
        const bool closed = asked.clients && *asked.clients > 1.0;
        const double over = latency == latency_metrics.end() ? 1.0
                            : closed                         ? latency->closed_over_mean
                                                             : latency->over_mean;
        const double per_s = asked.gpus / asked.shared * pace.rate / steps;
        double value = rate ? per_s : 1e3 * pace.seconds * steps * over;
        if (watts || joules) {
          const Node* node = sources_.catalog.reference_node(*device.device);
          const std::optional<GpuPower> power = gpu_power(*device.device, node, {}, power_form(sources_.data));
          if (!power) {
            return unsupported("the catalog has no TDP of " + device.device->id);
          }
          // Calls follow each other: the GPU multiplies all the time.
          value = power->of(Draw::matrix).raw() * (watts ? 1.0 : asked.gpus / per_s);
        }
        if (metric == "total_tokens_per_s") {
          value *= run.isl.value_or(1.0);
        }
        answer.low = parts == 0.0 ? value : std::min(answer.low, value);
        answer.high = std::max(answer.high, value);
        middle += std::log(value);
        parts += 1.0;
        const double least = pace.batch * asked.evaluations * calls.flop / resolved.peak.raw();
        answer.roofline = watts || joules ? 0.0
                          : rate          ? asked.gpus * pace.batch / std::max(least * steps, 1e-12)
                                          : 1e3 * least * steps;
      }
    }
  } catch (const ConfigError& error) {
    return unsupported(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
  }
  answer.status = RowStatus::ok;
  answer.of_network = true;
  answer.predicted = std::exp(middle / parts);
  const bool inference = engines.front()->fusion == Fusion::inference || engines.front()->fusion == Fusion::runtime;
  const double width = inference ? rates.width_inference : rates.width;
  answer.low /= 1.0 + width;
  answer.high *= 1.0 + width;
  if (parts > 1.0) {
    answer.assumed = "the columns leave open which of " + std::to_string(static_cast<int>(parts)) +
                     " networks and engines ran: the middle of all";
  }
  return answer;
}

}  // namespace headroom
