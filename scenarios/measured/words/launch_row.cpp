// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>
#include <headroom/scenarios/measured/words/launch_row.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

/// How a program starts its kernels.
enum class LaunchWay : std::uint8_t { launched, graph, barriers };
constexpr std::array<std::string_view, 3> way_names{"launched", "graph", "barriers"};

struct LaunchWords {
  std::string word;   ///< in the row's config
  std::string layer;  ///< id of launches.toml
  bool call = false;  ///< a whole call of a compiled function is timed
};
/// A published program: chains of kernels whose sizes its text or code states.
struct LaunchProgram {
  std::string source;              ///< part of the row's source
  std::vector<std::string> words;  ///< all stand in the row's config
  LaunchWay way = LaunchWay::launched;
  double kernels = 1.0, together = 0.0;  ///< of one graph; 0: all
  double blocks = 1.0, arguments = 0.0;
  Seconds kernel{};   ///< as published; 0: from what it moves
  Bytes moved{};      ///< by one kernel, within the second-level cache
  bool waits = true;  ///< the host's wait is timed too
};
struct LaunchGpu {
  std::vector<std::string> names;  ///< how hardware begins
  std::string generation;
};
struct LaunchTables {
  std::vector<LaunchWords> words;
  std::vector<LaunchProgram> programs;
  std::vector<LaunchGpu> gpus;
};

LaunchTables read_launch_rows(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  LaunchTables read;
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  for (ConfigTable& table : root.tables("words")) {
    read.words.push_back({table.text("word"), table.text("layer"), table.maybe_boolean("call").value_or(false)});
    table.finish();
  }
  constexpr Range<double> counts{1.0, 1e12};
  for (ConfigTable& table : root.tables("program")) {
    LaunchProgram& one = read.programs.emplace_back();
    one.source = table.text("source");
    one.words = table.texts("words");
    one.way = static_cast<LaunchWay>(table.choice("way", way_names));
    one.kernels = table.number("kernels", counts);
    one.together = table.maybe_number("together", counts).value_or(0.0);
    one.blocks = table.maybe_number("blocks", counts).value_or(1.0);
    one.arguments = table.maybe_number("arguments", counts).value_or(0.0);
    one.kernel = table.maybe_quantity<Seconds>("kernel").value_or(Seconds{});
    one.moved = table.maybe_quantity<Bytes>("moved").value_or(Bytes{});
    one.waits = table.maybe_boolean("waits").value_or(true);
    table.finish();
  }
  for (ConfigTable& table : root.tables("hardware")) {
    read.gpus.push_back({table.texts("names"), table.text("generation")});
    table.finish();
  }
  root.finish();
  return read;
}

const LaunchTables& launch_tables(const ModelData& data) {
  return step_numbers(data, "launch-rows", read_launch_rows);
}

struct LaunchText {
  std::string config;
  std::vector<std::string> parts;
  std::optional<double> chain;  ///< kernels of a chain of empty ones
  const LaunchProgram* program = nullptr;
  const LaunchWords* words = nullptr;
};

LaunchText launch_text(const ModelData& data, const RunFile& file, const RunRow& row) {
  LaunchText text;
  text.config = cell(file, row, "config").value_or("");
  text.parts = parts_of(text.config);
  text.chain = number_in(text.parts, "chain of ", " no-op kernels");
  const auto stands = [&](const std::string& word) { return text.config.find(word) != std::string::npos; };
  for (const LaunchProgram& each : launch_tables(data).programs) {
    if (row.source.find(each.source) != std::string::npos &&
        std::all_of(each.words.begin(), each.words.end(), stands)) {
      text.program = &each;
      break;
    }
  }
  for (const LaunchWords& each : launch_tables(data).words) {
    if (stands(each.word)) {
      text.words = &each;
      break;
    }
  }
  return text;
}

/// Seconds of a published program; nullopt where its kernel's time does not follow.
std::optional<Seconds> program_time(const LaunchProgram& program,
                                    const LaunchHost& host,
                                    const LaunchLayer& layer,
                                    const LaunchDevice& device) {
  KernelChain chain{program.kernels, program.kernel, program.arguments, program.together};
  if (chain.kernel <= Seconds{}) {
    if (device.cache <= BytesPerSecond{} || program.moved <= Bytes{}) {
      return std::nullopt;
    }
    chain.kernel = device.start + program.moved / device.cache;
  }
  LaunchHost waits = host;
  if (!program.waits) {
    waits.synchronise = Seconds{};
  }
  switch (program.way) {
    case LaunchWay::graph: return graph_time(chain, waits, device);
    case LaunchWay::barriers: return persistent_time(chain, program.blocks, waits, device);
    case LaunchWay::launched: break;
  }
  return launched_time(chain, waits, layer, device);
}

}  // namespace

bool launch_row(const ModelData& data, const RunFile& file, const RunRow& row) {
  const std::optional<std::string> workload = cell(file, row, "workload");
  if (workload != "kernel_launch" && workload != "cuda_graph") {
    return false;
  }
  const LaunchText text = launch_text(data, file, row);
  return workload == "kernel_launch" || text.chain || text.program != nullptr;
}

RowPrediction predict_launch(const ModelData& data, const RunFile& file, const RunRow& row) {
  const LaunchText text = launch_text(data, file, row);
  if (!text.chain && text.program == nullptr && text.words == nullptr) {
    return unsupported("the words '" + text.config + "' tell no launch that launch-rows.toml knows");
  }
  const std::string hardware = cell(file, row, "hardware").value_or("");
  const LaunchGpu* const gpu = longest_name(launch_tables(data).gpus, hardware).entry;
  if (gpu == nullptr) {
    return unsupported("hardware '" + hardware + "' is no GPU that launch-rows.toml names");
  }
  const LaunchDevice device = find_launch_device(data, gpu->generation);
  const LaunchHost& host = find_launch_host(data, has_word(text.parts, "WSL2") ? "wsl2" : "linux");
  const LaunchLayer& layer = find_launch_layer(data, text.words == nullptr ? "driver" : text.words->layer);
  const double arguments = number_in(text.parts, "", " args").value_or(0.0);
  const KernelChain chain{text.chain.value_or(1.0), Seconds{}, arguments, 0.0};
  // A launch that nobody waits for, until its kernel starts.
  const Seconds started = launch_time(host, layer, arguments) + host.pickup;
  double width = std::max(host.width, layer.width);
  std::optional<Seconds> time;
  double unit = 1e-6;
  if (text.program != nullptr) {
    if (row.metric == "time_ms") {
      time = program_time(*text.program, host, layer, device);
      unit = 1e-3;
      width = device.width;
    }
  } else if (row.metric == "stream_launch_plus_sync_us") {
    time = launched_time(chain, host, layer, device);
  } else if (row.metric == "per_launch_us") {
    time = launched_time(chain, host, layer, device) / chain.kernels;
  } else if (row.metric == "graph_replay_plus_sync_us") {
    time = graph_time(chain, host, device);
  } else if (row.metric == "async_enqueue_per_launch_us") {
    time = launch_time(host, layer, arguments);
  } else if (row.metric == "launch_overhead_us") {
    const bool call = text.words != nullptr && text.words->call;
    time = launch_time(host, layer, arguments) + (call ? layer.call : Seconds{});
    width = layer.width;
  } else if (row.metric == "launch_overhead_us_low") {
    time = started;
  } else if (row.metric == "launch_overhead_us_high") {
    time = started + host.synchronise;
  }
  if (!time) {
    return unsupported("metric " + row.metric + " of launches is not answered");
  }
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.predicted = time->raw() / unit;
  answer.low = answer.predicted / (1.0 + width);
  answer.high = answer.predicted * (1.0 + width);
  if (device.assumed) {
    answer.assumed = "launches of generation " + device.generation + " as of those that were measured";
  }
  return answer;
}

}  // namespace headroom
