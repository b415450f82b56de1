// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/infer/call_rates.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr Range<double> share{1e-3, 4.0};

template <class Set>
void read_formats(ConfigTable& parent, std::string_view key, const Set& set) {
  if (auto table = parent.maybe_table(key)) {
    for (std::size_t at = 0; at < call_format_names.size(); ++at) {
      if (const std::optional<double> value = table->maybe_number(call_format_names[at], share)) {
        set(at, *value);
      }
    }
    table->finish();
  }
}

ByFormat<double> read_all_formats(ConfigTable& parent, std::string_view key) {
  ByFormat<double> read{};
  read_formats(parent, key, [&](std::size_t at, double value) { read[at] = value; });
  for (std::size_t at = 0; at < read.size(); ++at) {
    if (read[at] == 0.0) {
      parent.problem(key, "'" + std::string{key} + "' lacks " + std::string{call_format_names[at]});
      read[at] = 1.0;
    }
  }
  return read;
}

CallPhysics read_physics(ConfigTable table) {
  CallPhysics p;
  p.convolution = read_all_formats(table, "convolution");
  p.grouped = read_all_formats(table, "grouped");
  p.convolution_training = read_all_formats(table, "convolution_training");
  p.grouped_training = read_all_formats(table, "grouped_training");
  p.attention = table.number("attention", share);
  p.attention_fused = table.number("attention_fused", share);
  p.winograd = table.number("winograd", share);
  p.depth = table.number("depth", {0.0, 1e5});
  p.rows = table.number("rows", {0.0, 1e5});
  p.depth_training = table.number("depth_training", {0.0, 1e5});
  p.rows_training = table.number("rows_training", {0.0, 1e5});
  p.rows_8bit = table.number("rows_8bit", {0.0, 1e3});
  p.depthwise_bytes = table.number("depthwise_bytes", share);
  p.depthwise_flop = table.number("depthwise_flop", share);
  p.depthwise_bytes_training = table.number("depthwise_bytes_training", share);
  p.depthwise_flop_training = table.number("depthwise_flop_training", share);
  p.bytes_8bit = table.number("bytes_8bit", share);
  p.norm = table.number("norm", {0.5, 100.0});
  p.gap = table.quantity<Seconds>("gap");
  p.recurrent_gap = table.quantity<Seconds>("recurrent_gap");
  p.training = table.number("training", {0.1, 10.0});
  p.update_bytes = table.number("update_bytes", {1.0, 1e3});
  p.update_tensor = table.quantity<Seconds>("update_tensor");
  p.exchange_tensor = table.quantity<Seconds>("exchange_tensor");
  p.straggler = table.number("straggler", {0.0, 1.0});
  p.draw = table.number("draw", {0.1, 2.0});
  p.voltage = table.number("voltage", {0.0, 1.0});
  p.ring_bytes = table.number("ring_bytes", {0.0, 1e4});
  table.finish();
  return p;
}

CallSilicon read_silicon(ConfigTable table) {
  CallSilicon s;
  s.name = table.text("name");
  s.capabilities = table.texts("capabilities");
  read_formats(table, "product", [&](std::size_t at, double value) { s.product[at] = value; });
  read_formats(table, "product_training", [&](std::size_t at, double value) { s.product_training[at] = value; });
  for (const std::string& word : table.texts("assumed")) {
    const auto found = std::find(call_format_names.begin(), call_format_names.end(), word);
    if (found == call_format_names.end()) {
      table.problem("assumed", "'" + word + "' is no format of [[silicon]]");
    } else {
      s.assumed[static_cast<std::size_t>(found - call_format_names.begin())] = true;
    }
  }
  s.whole_units = table.maybe_number("whole_units", {1.0, 1e6}).value_or(0.0);
  s.bandwidth = table.number("bandwidth", {1e-2, 1.0});
  s.bandwidth_training = table.maybe_number("bandwidth_training", {1e-2, 1.0}).value_or(s.bandwidth);
  s.watts_per_teraflops = table.maybe_number("watts_per_teraflops", {0.1, 1000.0}).value_or(0.0);
  s.step = table.quantity<Seconds>("step");
  table.finish();
  return s;
}

CallRates read_rates(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  CallRates rates;
  require_schema(table);
  static_cast<void>(table.text("id"));
  rates.source = table.text("source");
  rates.physics = read_physics(table.table("physics"));
  ConfigTable interval = table.table("interval");
  rates.width = interval.number("value", {0.0, 10.0});
  rates.width_source = interval.text("source");
  rates.width_inference = interval.number("inference", {0.0, 10.0});
  rates.width_inference_source = interval.text("inference_source");
  rates.width_measured = interval.number("measured", {0.0, 10.0});
  rates.width_measured_source = interval.text("measured_source");
  rates.width_training = interval.number("training", {0.0, 10.0});
  rates.width_training_source = interval.text("training_source");
  interval.finish();
  for (ConfigTable& each : table.tables("host")) {
    rates.hosts.push_back({each.text("cpu"), each.texts("like"), each.number("launch", {0.05, 20.0})});
    each.finish();
  }
  for (ConfigTable& each : table.tables("silicon")) {
    rates.silicon.push_back(read_silicon(std::move(each)));
  }
  table.finish();
  return rates;
}

}  // namespace

CallFormat call_format(Precision precision) noexcept {
  switch (precision) {
    case Precision::fp32: return CallFormat::fp32;
    case Precision::tf32: return CallFormat::tf32;
    case Precision::fp8:
    case Precision::mxfp8:
    case Precision::int8: return CallFormat::eight;
    default: return CallFormat::half;
  }
}

double element_bytes(CallFormat format) noexcept {
  return format == CallFormat::eight ? 1.0 : format == CallFormat::half ? 2.0 : 4.0;
}

namespace {

bool builds_kernels(const NetworkEngine& engine) noexcept {
  return engine.fusion == Fusion::inference || engine.fusion == Fusion::runtime;
}

}  // namespace

double CallRates::width_of(const NetworkEngine& engine, bool loop) const noexcept {
  const double one = engine.width.value_or(builds_kernels(engine) ? width_inference : width);
  return loop ? engine.loop_width.value_or(one) : one;
}

const std::string& CallRates::width_source_of(const NetworkEngine& engine) const noexcept {
  return engine.width ? engine.width_source : builds_kernels(engine) ? width_inference_source : width_source;
}

const CallSilicon* CallRates::silicon_of(std::string_view capability) const noexcept {
  for (const CallSilicon& each : silicon) {
    if (std::find(each.capabilities.begin(), each.capabilities.end(), capability) != each.capabilities.end()) {
      return &each;
    }
  }
  return nullptr;
}

const CallHost* CallRates::host_of(std::string_view cpus) const noexcept {
  for (const CallHost& host : hosts) {
    const auto named = [&](std::string_view name) { return cpus.find(name) != std::string_view::npos; };
    if (named(host.cpu) || std::any_of(host.like.begin(), host.like.end(), named)) {
      return &host;
    }
  }
  return nullptr;
}

const CallRates& call_rates(const ModelData& data) {
  return step_numbers(data, "network-calls", read_rates);
}

}  // namespace headroom
