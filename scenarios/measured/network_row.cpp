// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/release.hpp>
#include <headroom/hardware/catalog/partition_name.hpp>
#include <headroom/model/infer/network_calls.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/network_server.hpp>
#include <headroom/scenarios/measured/network_spelling.hpp>
#include <headroom/scenarios/measured/power_limits.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>

#include <algorithm>
#include <array>
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

[[nodiscard]] std::optional<double> option_number(const std::map<std::string, std::string, std::less<>>& options,
                                                  std::string_view key) {
  const auto found = options.find(key);
  if (found == options.end()) {
    return std::nullopt;
  }
  const RealRead read = read_real(found->second);
  return read.good() ? std::optional{read.value} : std::nullopt;
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

/// The engine that ran a row: the one that its spelling names, or the one that its columns mean. nullptr: none.
[[nodiscard]] const NetworkEngine* engine_of_row(const ModelData& data,
                                                 const ServingConfiguration& run,
                                                 const NetworkSpelling& spelling) {
  return spelling.engine.empty()
             ? network_engine_of(data, engine_name(run), run.engine_version, options_text(run) + spelling.runs)
             : &find_network_engine(data, spelling.engine);
}

/// Whether a GPU is of compute capability `least` or later; an empty `least` asks for nothing.
[[nodiscard]] bool at_least(const Device& device, std::string_view least) {
  return least.empty() ||
         (!device.compute_capability.empty() && !(release_of(device.compute_capability) < release_of(least)));
}

/// Equal ops as one that is counted more often: a call's time does not depend on their order.
[[nodiscard]] std::vector<CallOp> joined(const std::vector<CallOp>& ops) {
  std::vector<CallOp> all;
  for (const CallOp& op : ops) {
    const auto equal = std::find_if(all.begin(), all.end(), [&](CallOp each) {
      each.count = op.count;
      return each == op;
    });
    if (equal == all.end()) {
      all.push_back(op);
    } else {
      equal->count += op.count;
    }
  }
  return all;
}

[[nodiscard]] bool is_training_metric(std::string_view metric) noexcept {
  return metric == "samples_per_s" || metric == "tokens_per_s_per_gpu" || metric == "step_time_s" ||
         metric == "time_to_train_s";
}

[[nodiscard]] bool is_rate(std::string_view metric) noexcept {
  return std::find(rate_metrics.begin(), rate_metrics.end(), metric) != rate_metrics.end();
}

[[nodiscard]] const CallSpread* latency_of(std::string_view metric) noexcept {
  const auto found = std::find_if(latency_metrics.begin(), latency_metrics.end(),
                                  [&](const CallSpread& each) { return each.metric == metric; });
  return found == latency_metrics.end() ? nullptr : &*found;
}

/// Batches of powers of two that fit a GPU, for scenarios that leave the batch to the server.
[[nodiscard]] std::vector<double> batches_that_fit(const NetworkInference& needs, double evaluations, Bytes memory) {
  std::vector<double> batches{1.0};
  for (double samples = 2.0; samples <= 2048.0; samples *= 2.0) {
    // Tables that no GPU holds alone lie elsewhere: samples alone are counted.
    if (samples * evaluations * needs.per_sample > 0.7 * memory) {
      break;
    }
    batches.push_back(samples);
  }
  return batches;
}

}  // namespace

std::optional<double> network_value(const NetworkRowCall& call, const NetworkPace& pace, std::string_view metric) {
  if (metric == "step_time_s") {
    return call.step ? std::optional{pace.seconds} : std::nullopt;
  }
  if (metric == "time_to_train_s") {
    return call.converges > 0.0 ? std::optional{call.converges / (call.gpus * pace.rate)} : std::nullopt;
  }
  if (metric == "tokens_per_s_per_gpu") {
    return call.tokens * pace.rate;
  }
  if (is_rate(metric)) {
    const double tokens = metric == "total_tokens_per_s" ? call.tokens : 1.0;
    return tokens * call.gpus / call.shared * pace.rate / call.steps;
  }
  if (const CallSpread* latency = latency_of(metric)) {
    const auto percentile = static_cast<std::size_t>(latency - latency_metrics.data());
    const double sizes = percentile > 0 && pace.batch == 1.0 ? call.over_mean[percentile - 1] : 0.0;
    const double over = call.together > 0.0 ? latency->closed_over_mean : sizes > 0.0 ? sizes : latency->over_mean;
    return 1e3 * (pace.seconds * call.steps * over + call.waits.raw());
  }
  return std::nullopt;
}

void NetworkRowModel::set_host(NetworkRowCall& call) const {
  if (const Node* node = sources_.catalog.reference_node(*call.device)) {
    call.host_cpu = node->cpu;
    if (const CallHost* host = call_rates(sources_.data).host_of(node->cpu)) {
      call.setting.host = host->launch;
    }
  }
}

NetworkRowModel::NetworkRowModel(const Sources& sources) : sources_{sources}, devices_{sources.catalog} {}
NetworkRowModel::~NetworkRowModel() = default;

bool NetworkRowModel::knows(const ServingConfiguration& run) const {
  return spelled(sources_.data, run.model) || NetworkLibrary{sources_.data.files()}.knows(run.model);
}

const NetworkRowModel::Calls& NetworkRowModel::calls_of(const std::string& id,
                                                        const NetworkSizes& usual,
                                                        std::optional<double> tokens,
                                                        const Options& options,
                                                        bool training) {
  const NetworkLibrary library{sources_.data.files()};
  // Columns and options that name a size of the network set it.
  const Network plain = library.find(id);
  NetworkSizes sizes = usual;
  const auto take = [&](std::string_view name, std::optional<double> value) {
    if (value && *value >= 1.0 && plain.sizes.contains(name)) {
      sizes.insert_or_assign(std::string{name}, static_cast<std::int64_t>(*value));
    }
  };
  take("tokens", tokens);
  for (const auto& [key, value] : options) {
    take(key, option_number(options, key));
  }
  std::string key = plain.id + (training ? ";training" : "");
  for (const auto& [name, value] : sizes) {
    key += ";" + name + "=" + std::to_string(value);
  }
  const auto found = ops_.find(key);
  if (found != ops_.end()) {
    return found->second;
  }
  const Network network = sizes.empty() ? plain : library.find(id, sizes);
  const std::vector<CallOp> forward = call_ops(network);
  Calls calls{joined(training ? training_ops(forward) : forward), network.input_bytes().raw(),
              network.product_flops().raw(), inference_memory(network, 2.0), trained_tensors(network)};
  return ops_.emplace(key, std::move(calls)).first->second;
}

std::vector<NetworkRowCall> NetworkRowModel::calls(const RunRow& row, RowPrediction& refusal, std::string& assumed) {
  if (row.form == RowForm::training) {
    return training_calls(row, refusal, assumed);
  }
  const ServingConfiguration& run = row.serving;
  const auto refuse = [&](std::string why) {
    refusal = unsupported(std::move(why));
    return std::vector<NetworkRowCall>{};
  };
  const auto scenario = run.options.find("scenario");
  const bool offline = scenario != run.options.end() && scenario->second == "offline";
  const bool server = scenario != run.options.end() && scenario->second == "server";
  NetworkSpelling spelling;
  if (const NetworkSpelling* known = spelling_of(sources_.data, row)) {
    spelling = *known;
  } else {
    spelling.networks = {run.model};
  }
  std::optional<Precision> precision = precision_of_row(run);
  if (!precision) {
    return refuse("format '" + run.weight_dtype + "' is not known");
  }
  if (precision == Precision::int8 && spelling.int8_is) {
    precision = spelling.int8_is;
  }
  const RowDevices::Answer& known = devices_.find(run.gpu);
  const Device* const device = known.device;
  if (device == nullptr) {
    return refuse(known.why);
  }
  const std::optional<PartitionName> slice = partition_name(run.gpu);
  const double slices = slice ? real(slice->count) : 1.0;
  // Slices of the card that the row speaks of, or all of them where other jobs have the rest.
  const bool beside = run.options.contains("neighbours");
  const std::optional<double> busy =
      slice && !beside
          ? std::optional{std::min(slices, real(device->slice->per_card)) * real(device->compute.units->value)}
          : std::nullopt;
  if (precision == Precision::fp16 && spelling.trained.narrow && at_least(*device, spelling.narrow_from)) {
    precision = spelling.trained.narrow;
  }
  if (precision == Precision::fp32 && spelling.fp32_is) {
    const CallSilicon* silicon = call_rates(sources_.data).silicon_of(device->compute_capability);
    const auto format = static_cast<std::size_t>(call_format(*spelling.fp32_is));
    precision = silicon != nullptr && silicon->product[format] ? spelling.fp32_is : precision;
  }
  const NetworkEngine* engine = engine_of_row(sources_.data, run, spelling);
  if (engine == nullptr) {
    return refuse("engine '" + engine_name(run) + "' is none that runs networks (model/stacks/infer)");
  }
  if (server && spelling.server_limit <= Seconds{}) {
    return refuse("a server's rate needs the latency that it promises, which is not stated for " + run.model);
  }
  if (!run.concurrency && !offline && !server) {
    return refuse("not published: concurrency, the samples of a call");
  }
  NetworkRowCall call;
  call.engine = engine;
  call.device = device;
  call.gpus = slices * real(run.gpus.value_or(1));
  call.cap = power_cap_of(run);
  call.cap = call.cap ? call.cap : published_power_limit(sources_.data, row);
  call.clock = matrix_clock(*device, call.cap, power_form(sources_.data), busy);
  call.core_clock = option_number(run.options, "core_clock").value_or(1.0);
  call.memory_clock = option_number(run.options, "memory_clock").value_or(1.0);
  if (offline) {
    call.beside = FlopsPerSecond{1e12 * option_number(run.options, "beside_tflops").value_or(0.0)};
  }
  call.tokens = run.isl.value_or(1.0);
  call.evaluations = spelling.evaluations;
  if (spelling.evaluations_per_step > 0.0) {
    const std::optional<double> stated = option_number(run.options, "steps");
    if (!stated) {
      return refuse("not published: options.steps");
    }
    call.steps = *stated * spelling.evaluations_per_step;
  }
  const double columns = option_number(run.options, "ulysses").value_or(1.0);
  const double ring = option_number(run.options, "ring").value_or(1.0);
  call.shared = columns * ring;
  // Evaluations with and without the prompt run beside each other (Fang et al. 2024, xDiT, section 4).
  const double guided = option_number(run.options, "cfg").value_or(1.0);
  call.evaluations /= guided;
  call.gpus /= guided;
  CallSetting& setting = call.setting;
  setting.format = call_format(*precision);
  setting.element = setting.weight = element_bytes(setting.format);
  setting.autocast = setting.format == CallFormat::half && engine->fusion == Fusion::framework &&
                     !option_number(run.options, "whole_cast");
  setting.host_per_sample = spelling.host_per_sample;
  set_host(call);
  setting.host = option_number(run.options, "host_launch").value_or(setting.host);
  if (server) {
    call.limit = spelling.server_limit;
    call.server = server_of(sources_.data, row);
    call.harness = harness_of(sources_.data, row);
    // The rate that its clients ask for is a fact of the load where answers to it are asked; else it is the answer.
    const bool asked = latency_of(row.metric) != nullptr && run.request_rate && std::isfinite(*run.request_rate);
    call.stated = asked ? *run.request_rate / call.gpus : 0.0;
  }
  const double clients = option_number(run.options, "clients").value_or(1.0);
  if (clients > 1.0) {
    const double samples = option_number(run.options, "client_batch").value_or(1.0);
    call.together = clients * samples;
    const double most = run.max_batch ? real(*run.max_batch) : call.together;
    call.batches = {std::min(std::max(0.5 * call.together, samples), std::max(most, samples))};
  } else if (run.concurrency && !offline && !server) {
    call.batches = {*run.concurrency};
  }
  call.waits = offline || server ? Seconds{} : spelling.window;
  call.over_mean = spelling.over_mean;
  if (spelling.serial) {
    call.gpus = 1.0;
    call.steps = call.batches.empty() ? 1.0 : call.batches.front();
    call.batches = {1.0};
  }
  std::vector<NetworkRowCall> found;
  try {
    for (const std::string& id : spelling.networks) {
      const Calls& calls = calls_of(id, spelling.sizes, run.isl, run.options, false);
      NetworkRowCall own = call;
      own.network = id;
      own.ops = &calls.ops;
      own.flop = calls.flop;
      own.setting.input_bytes = run.engine == "Triton Inference Server" ? calls.input_bytes : 0.0;
      const SharedAttention shared = shared_attention(calls.ops, setting.element, columns, ring, *device);
      own.exchange = shared.exchange;
      own.merged = shared.merged;
      own.setting.launches = shared.launches;
      if (!spelling.decoder.empty()) {
        own.after = &calls_of(spelling.decoder, {}, std::nullopt, run.options, false).ops;
      }
      if (own.batches.empty()) {
        own.batches = batches_that_fit(calls.memory, call.evaluations, device->visible_capacity().value);
      }
      found.push_back(std::move(own));
    }
  } catch (const ConfigError& error) {
    return refuse(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
  }
  assumed = spelling.hidden;
  if (found.size() > 1) {
    assumed += (assumed.empty() ? "" : "; ") + std::string{"the columns leave open which of "} +
               std::to_string(found.size()) + " networks ran: the middle of all";
  }
  return found;
}

const ServedQueue& NetworkRowModel::served_queue(const NetworkRowCall& call) {
  const NetworkServer& rule = call.server;
  const std::string key = call.network + ";" + call.engine->id + ";" + call.device->id + ";" +
                          std::to_string(static_cast<int>(call.setting.format)) + ";" +
                          std::to_string(call.evaluations) + ";" + std::to_string(call.limit.raw()) + ";" +
                          std::to_string(call.gpus) + ";" + std::to_string(rule.batch) + ";" +
                          std::to_string(rule.streams) + ";" + std::to_string(call.clock) + ";" +
                          std::to_string(rule.window.raw()) + ";" + std::to_string(rule.kept);
  std::unique_ptr<const ServedQueue>& kept = served_[key];
  if (!kept) {
    kept = std::make_unique<const ServedQueue>(call, call_rates(sources_.data), *call.engine);
  }
  return *kept;
}

RowPrediction NetworkRowModel::predict_server(const RunRow& row, const NetworkRowCall& call, std::string assumed) {
  constexpr double eighty = 1.2816;  // standard deviations that hold 80 %
  const CallRates& rates = call_rates(sources_.data);
  const double width = rates.width_of(*call.engine, false);
  const ServedWithin served = served_queue(call).within(call, std::log1p(width) / eighty);
  if (served.rate <= 0.0) {
    return unsupported("one call alone takes longer than the server's limit of " + format(call.limit));
  }
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.of_network = true;
  answer.assumed = std::move(assumed);
  const CallDevice resolved = call_device(*call.device, rates, *call.engine, call.setting.format, false);
  const double least = call.evaluations * call.flop / resolved.peak.raw();
  if (const CallSpread* latency = latency_of(row.metric)) {
    const ServedLatency& one = served.latencies[static_cast<std::size_t>(latency - latency_metrics.data())];
    answer.predicted = 1e3 * one.middle;
    answer.low = 1e3 * one.low;
    answer.high = 1e3 * one.high;
    answer.roofline = 1e3 * least;
    return answer;
  }
  answer.predicted = call.gpus * served.rate;
  answer.low = answer.predicted / (1.0 + width);
  answer.high = answer.predicted * (1.0 + width);
  answer.roofline = call.gpus / std::max(least, 1e-12);
  return answer;
}

std::optional<GpuPower> NetworkRowModel::power_of(const NetworkRowCall& call) const {
  const Node* node = sources_.catalog.reference_node(*call.device);
  return gpu_power(*call.device, node, call.cap, power_form(sources_.data));
}

RowPrediction NetworkRowModel::predict_server_watts(const NetworkRowCall& call, std::string assumed) {
  const CallRates& rates = call_rates(sources_.data);
  const ServedWithin served = served_queue(call).within(call, 0.0);
  const std::optional<GpuPower> power = power_of(call);
  if (served.rate <= 0.0 || !power) {
    return unsupported(power ? "one call alone takes longer than the server's limit of " + format(call.limit)
                             : "the catalog has no TDP of " + call.device->id);
  }
  // Busy as long as full batches need for the requests; between them the clocks are up and nothing runs.
  const NetworkPace pace = network_pace(call, rates, *call.engine);
  const double busy = std::min(1.0, served.rate / pace.rate);
  const Watts each =
      busy * network_watts(call, pace.batch, rates, *power) + (1.0 - busy) * power->of(Draw::waiting) + power->host;
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.of_network = true;
  answer.assumed = std::move(assumed);
  answer.predicted = call.gpus * each.raw();
  answer.low = answer.predicted / (1.0 + power->width);
  answer.high = answer.predicted * (1.0 + power->width);
  return answer;
}

RowPrediction NetworkRowModel::predict(const RunRow& row) {
  const std::string& metric = row.metric;
  const bool system_watts = metric == "avg_system_power_w";
  const bool watts = metric == "power_w_per_gpu" || system_watts;
  const bool joules = metric == "j_per_image" || metric == "j_per_video";
  const bool trains = row.form == RowForm::training;
  const bool answered =
      trains ? is_training_metric(metric) : is_rate(metric) || latency_of(metric) != nullptr || watts || joules;
  if (!answered) {
    return unsupported("metric " + metric + " of a network's " + (trains ? "training" : "call") + " is not answered");
  }
  RowPrediction answer;
  std::string assumed;
  const std::vector<NetworkRowCall> found = calls(row, answer, assumed);
  if (found.empty()) {
    return answer;
  }
  if (found.front().limit > Seconds{}) {
    if ((watts || joules) && !system_watts) {
      return unsupported("what one GPU of a server draws is not answered");
    }
    try {
      return system_watts ? predict_server_watts(found.front(), std::move(assumed))
                          : predict_server(row, found.front(), std::move(assumed));
    } catch (const ConfigError& error) {
      return unsupported(error);
    }
  }
  const CallRates& rates = call_rates(sources_.data);
  double middle = 0.0;
  try {
    for (const NetworkRowCall& call : found) {
      const NetworkPace pace = network_pace(call, rates, *call.engine);
      const double per_s = call.gpus / call.shared * pace.rate / call.steps;
      double value = network_value(call, pace, metric).value_or(0.0);
      if (trains && value <= 0.0) {
        return unsupported("not published: samples that training takes to its target");
      }
      if (watts || joules) {
        const std::optional<GpuPower> power = power_of(call);
        if (!power) {
          return unsupported("the catalog has no TDP of " + call.device->id);
        }
        const Watts each = network_watts(call, pace.batch, rates, *power) + (system_watts ? power->host : Watts{});
        value = each.raw() * (system_watts ? call.gpus : watts ? 1.0 : call.gpus / per_s);
      }
      answer.low = &call == &found.front() ? value : std::min(answer.low, value);
      answer.high = std::max(answer.high, value);
      middle += std::log(value);
      const CallDevice resolved = call_device(*call.device, rates, *call.engine, call.setting.format, false);
      const double passes = trains ? 3.0 * call.step->calls : 1.0;
      const double least = passes * pace.batch * call.evaluations * call.flop / resolved.peak.raw();
      answer.roofline = watts || joules ? 0.0
                        : trains ? value * (is_rate(metric) || metric.starts_with("tokens") ? pace.seconds / least
                                                                                            : least / pace.seconds)
                        : is_rate(metric) ? call.gpus * pace.batch / std::max(least * call.steps, 1e-12)
                                          : 1e3 * least * call.steps;
    }
  } catch (const ConfigError& error) {
    return unsupported(error);
  }
  answer.status = RowStatus::ok;
  answer.of_network = true;
  answer.predicted = std::exp(middle / static_cast<double>(found.size()));
  const double width = trains  ? rates.width_training
                       : watts ? power_of(found.front()).value_or(GpuPower{}).width
                               : rates.width_of(*found.front().engine, found.front().together > 0.0);
  answer.low /= 1.0 + width;
  answer.high *= 1.0 + width;
  answer.assumed = assumed;
  return answer;
}

}  // namespace headroom
