// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/network_spelling.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

TrainedSpelling read_trained(ConfigTable& each) {
  TrainedSpelling read;
  read.seq_len = each.maybe_integer("seq_len").value_or(0);
  read.batch = each.maybe_number("batch", {1.0, 1e9}).value_or(0.0);
  read.accumulated = each.maybe_boolean("accumulated").value_or(false);
  read.tokens = each.maybe_number("tokens", {1.0, 1e6}).value_or(1.0);
  read.batch_of_tokens = each.maybe_boolean("batch_of_tokens").value_or(false);
  if (const auto precision = each.maybe_choice("precision", precision_names)) {
    read.precision = static_cast<Precision>(*precision);
  }
  if (const auto narrow = each.maybe_choice("narrow", precision_names)) {
    read.narrow = static_cast<Precision>(*narrow);
  }
  if (auto converges = each.maybe_table("samples_to_train")) {
    for (const std::string_view batch : converges->keys()) {
      read.converges[read_real(batch).value] = converges->number(batch, {1.0, 1e12});
    }
    converges->finish();
  }
  return read;
}

std::vector<NetworkSpelling> read_spellings(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  std::vector<NetworkSpelling> read;
  require_schema(table);
  static_cast<void>(table.text("id"));
  for (ConfigTable& each : table.tables("row")) {
    NetworkSpelling row;
    row.names = each.texts("names");
    row.networks = each.texts("networks");
    row.when = each.maybe_text("when").value_or("");
    row.refs = each.texts("refs");
    row.table = static_cast<int>(each.maybe_integer("table", {1, 99}).value_or(0));
    row.engine = each.maybe_text("engine").value_or("");
    if (const auto precision = each.maybe_choice("fp32_is", precision_names)) {
      row.fp32_is = static_cast<Precision>(*precision);
    }
    if (const auto precision = each.maybe_choice("int8_is", precision_names)) {
      row.int8_is = static_cast<Precision>(*precision);
    }
    row.narrow_from = each.maybe_text("narrow_from").value_or("");
    row.decoder = each.maybe_text("decoder").value_or("");
    row.hidden = each.maybe_text("hidden").value_or("");
    row.evaluations = each.maybe_number("evaluations", {1e-3, 1e9}).value_or(1.0);
    row.evaluations_per_step = each.maybe_number("evaluations_per_step", {1e-3, 1e3}).value_or(0.0);
    row.serial = each.maybe_boolean("serial").value_or(false);
    if (auto sizes = each.maybe_table("sizes")) {
      for (const std::string_view name : sizes->keys()) {
        row.sizes.insert_or_assign(std::string{name}, sizes->integer(name));
      }
      sizes->finish();
    }
    row.runs = each.maybe_text("runs").value_or("");
    row.server_limit = each.maybe_quantity<Seconds>("server_limit").value_or(Seconds{});
    row.window = each.maybe_quantity<Seconds>("window").value_or(Seconds{});
    if (auto over = each.maybe_table("over_mean")) {
      constexpr std::array<std::string_view, 4> percentiles{"p50", "p90", "p95", "p99"};
      for (std::size_t i = 0; i < percentiles.size(); ++i) {
        row.over_mean[i] = over->maybe_number(percentiles[i], {0.01, 100.0}).value_or(0.0);
      }
      over->finish();
    }
    row.host_per_sample = each.maybe_quantity<Seconds>("host_per_sample").value_or(Seconds{});
    row.trained = read_trained(each);
    row.source = each.text("source");
    each.finish();
    read.push_back(std::move(row));
  }
  table.finish();
  return read;
}

struct NetworkServers {
  std::vector<NetworkServer> servers;
  std::vector<NetworkHarness> harnesses;
};

NetworkServers read_servers(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  NetworkServers read;
  require_schema(table);
  static_cast<void>(table.text("id"));
  for (ConfigTable& each : table.tables("harness")) {
    NetworkHarness harness;
    harness.refs = each.texts("refs");
    harness.share = each.number("share", {0.01, 1.0});
    harness.spread = each.number("spread", {0.001, 2.0});
    harness.latency_width = each.number("latency_width", {0.0, 10.0});
    harness.host_bytes = each.maybe_quantity<BytesPerSecond>("host_bytes").value_or(harness.host_bytes);
    harness.host_requests = each.maybe_number("host_requests", {1.0, 1e12}).value_or(harness.host_requests);
    static_cast<void>(each.text("source"));
    each.finish();
    read.harnesses.push_back(std::move(harness));
  }
  for (ConfigTable& each : table.tables("server")) {
    NetworkServer server;
    server.names = each.texts("names");
    server.gpus = each.texts("gpus");
    server.refs = each.texts("refs");
    server.gpu_count = each.maybe_integer("gpu_count", {1, 1'000'000}).value_or(0);
    server.format = each.maybe_text("format").value_or("");
    server.batch = each.integer("batch", {1, 1'000'000});
    server.streams = each.maybe_integer("streams", {1, 64}).value_or(1);
    server.window = each.maybe_quantity<Seconds>("window").value_or(Seconds{});
    server.kept = each.maybe_number("kept", {0.9, 1.0}).value_or(1.0);
    server.input = each.maybe_quantity<Bytes>("input").value_or(Bytes{});
    static_cast<void>(each.text("source"));
    each.finish();
    read.servers.push_back(std::move(server));
  }
  table.finish();
  return read;
}

const NetworkServers& network_servers(const ModelData& data) {
  return step_numbers(data, "network-servers", read_servers);
}

bool has_parts(const RunRow& row, const std::vector<std::string>& refs) {
  return std::all_of(refs.begin(), refs.end(),
                     [&](const std::string& ref) { return row.source_ref.find(ref) != std::string::npos; });
}

}  // namespace

NetworkServer server_of(const ModelData& data, const RunRow& row) {
  const ServingConfiguration& run = row.serving;
  const std::vector<NetworkServer>& all = network_servers(data).servers;
  const auto found = std::find_if(all.begin(), all.end(), [&](const NetworkServer& each) {
    const bool named = std::find(each.names.begin(), each.names.end(), run.model) != each.names.end();
    const bool on = each.gpus.empty() || std::any_of(each.gpus.begin(), each.gpus.end(),
                                                     [&](const std::string& gpu) { return run.gpu.starts_with(gpu); });
    return named && on && (each.gpu_count == 0 || each.gpu_count == run.gpus) &&
           (each.format.empty() || each.format == run.weight_dtype) && has_parts(row, each.refs);
  });
  return found == all.end() ? NetworkServer{} : *found;
}

const NetworkHarness& harness_of(const ModelData& data, const RunRow& row) {
  const std::vector<NetworkHarness>& all = network_servers(data).harnesses;
  static const NetworkHarness none;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const NetworkHarness& each) { return has_parts(row, each.refs); });
  return found == all.end() ? none : *found;
}

const std::vector<NetworkSpelling>& network_spellings(const ModelData& data) {
  return step_numbers(data, "network-rows", read_spellings);
}

const std::vector<NetworkSpelling>& trained_spellings(const ModelData& data) {
  return step_numbers(data, "network-training-rows", read_spellings);
}

const NetworkSpelling* spelling_of(const ModelData& data, const RunRow& row) {
  const bool trains = row.form == RowForm::training;
  const std::string& model = trains ? row.run.model : row.serving.model;
  const auto& options = trains ? row.run.options : row.serving.options;
  const auto holds = [&](const NetworkSpelling& spelling) {
    const bool named = std::find(spelling.names.begin(), spelling.names.end(), model) != spelling.names.end();
    const bool asked = spelling.when.empty() || std::any_of(options.begin(), options.end(), [&](const auto& option) {
                         return option.second.find(spelling.when) != std::string::npos;
                       });
    const bool as_long = spelling.trained.seq_len == 0 || spelling.trained.seq_len == row.run.seq_len;
    return named && asked && as_long && (spelling.table == 0 || spelling.table == row.table) &&
           std::all_of(spelling.refs.begin(), spelling.refs.end(), [&](const std::string& ref) {
             return row.source_ref.find(ref) != std::string::npos || row.notes.find(ref) != std::string::npos;
           });
  };
  const std::vector<NetworkSpelling>& all = trains ? trained_spellings(data) : network_spellings(data);
  const auto found = std::find_if(all.begin(), all.end(), holds);
  return found == all.end() ? nullptr : &*found;
}

bool spelled(const ModelData& data, std::string_view model) {
  const std::vector<NetworkSpelling>& all = network_spellings(data);
  return std::any_of(all.begin(), all.end(), [&](const NetworkSpelling& each) {
    return std::find(each.names.begin(), each.names.end(), model) != each.names.end();
  });
}

}  // namespace headroom
