// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// What all of `words` in a row's config mean.
struct WorkloadSpelling {
  std::vector<std::string> words;
  std::vector<std::string> systems;           ///< parts of its hardware, one of which asks for it; empty: any
  std::string refused;                        ///< why such rows say nothing; empty: they do
  std::string model, engine, engine_version;  ///< as serving rows spell them
  std::string weights;                        ///< format of weights where no word says it
  std::string backend;                        ///< of a server that runs several
  std::string assumed;                        ///< what its answer takes for granted
  bool whole_cast = false;                    ///< the whole network is 16 bit, not op by op
  double host_launch = 0.0;                   ///< time of a launch over that of DGX-1's host; 0: that of the GPU's node
  bool repeats = false;                       ///< such rows stand in other files too, in columns
};
struct WorkloadGpu {
  std::vector<std::string> names;  ///< how hardware begins
  std::string gpu;
  std::string refused;   ///< why nothing is predicted on it; empty: it is
  bool clocked = false;  ///< its runs are predicted where a [[soc]] has their clocks
};
/// Clocks that an operator set on a system on a chip, and what its other accelerators add, of runs of one round.
struct WorkloadSoc {
  std::string round;                 ///< part of the row's source; empty: any
  std::vector<std::string> systems;  ///< how its hardware begins
  std::vector<std::string> words;    ///< one of which stands in the row's config
  double core = 1.0, memory = 1.0;   ///< clocks over the SKU's
  double beside = 0.0;               ///< TFLOP/s of accelerators beside the GPU in offline runs
};
struct WorkloadTables {
  std::vector<WorkloadSpelling> spellings;
  std::vector<WorkloadGpu> gpus;
  std::vector<WorkloadSoc> chips;
};

WorkloadTables read_workloads(const ConfigValue& root, Diagnostics& diagnostics) {
  ConfigTable table{root, "", diagnostics};
  WorkloadTables read;
  require_schema(table);
  static_cast<void>(table.text("id"));
  static_cast<void>(table.text("source"));
  for (ConfigTable& each : table.tables("config")) {
    WorkloadSpelling& one = read.spellings.emplace_back();
    one.words = each.texts("words");
    one.systems = each.texts("systems");
    one.refused = each.maybe_text("refused").value_or("");
    const auto stated = [&](std::string_view key) {
      return one.refused.empty() ? each.text(key) : each.maybe_text(key).value_or("");
    };
    one.model = stated("model");
    one.engine = stated("engine");
    one.engine_version = each.maybe_text("engine_version").value_or("");
    one.weights = each.maybe_text("weights").value_or("");
    one.backend = each.maybe_text("backend").value_or("");
    one.assumed = each.maybe_text("assumed").value_or("");
    one.whole_cast = each.maybe_boolean("whole_cast").value_or(false);
    one.host_launch = each.maybe_number("host_launch", {0.01, 100.0}).value_or(0.0);
    one.repeats = each.maybe_boolean("repeats").value_or(false);
    each.finish();
  }
  for (ConfigTable& each : table.tables("hardware")) {
    WorkloadGpu& one = read.gpus.emplace_back();
    one.names = each.texts("names");
    one.refused = each.maybe_text("refused").value_or("");
    one.clocked = each.maybe_boolean("clocked").value_or(false);
    one.gpu = one.refused.empty() ? each.text("gpu") : "";
    each.finish();
  }
  for (ConfigTable& each : table.tables("soc")) {
    WorkloadSoc& one = read.chips.emplace_back();
    one.round = each.maybe_text("round").value_or("");
    one.systems = each.texts("systems");
    one.words = each.texts("words");
    constexpr Range<double> shares{0.01, 1.0};
    one.core = each.maybe_number("core", shares).value_or(1.0);
    one.memory = each.maybe_number("memory", shares).value_or(1.0);
    one.beside = each.maybe_number("beside_tflops", {0.0, 1e6}).value_or(0.0);
    each.finish();
  }
  table.finish();
  return read;
}

const WorkloadTables& workload_tables(const ModelData& data) {
  return step_numbers(data, "network-workloads", read_workloads);
}

const WorkloadSpelling* spelling_in(const WorkloadTables& tables, const RunFile& file, const RunRow& row) {
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  const auto found = std::find_if(tables.spellings.begin(), tables.spellings.end(), [&](const auto& each) {
    const auto stands_in = [](const std::string& text) {
      return [&text](const std::string& part) { return text.find(part) != std::string::npos; };
    };
    return std::all_of(each.words.begin(), each.words.end(), stands_in(config)) &&
           (each.systems.empty() || std::any_of(each.systems.begin(), each.systems.end(), stands_in(hardware)));
  });
  return found == tables.spellings.end() ? nullptr : &*found;
}

const WorkloadSoc* soc_of(const ModelData& data,
                          const RunRow& row,
                          std::string_view config,
                          std::string_view hardware) {
  const std::vector<WorkloadSoc>& all = workload_tables(data).chips;
  const auto found = std::find_if(all.begin(), all.end(), [&](const WorkloadSoc& each) {
    return row.source.find(each.round) != std::string::npos &&
           std::any_of(each.systems.begin(), each.systems.end(),
                       [&](const std::string& system) { return hardware == system; }) &&
           std::any_of(each.words.begin(), each.words.end(),
                       [&](const std::string& word) { return config.find(word) != std::string_view::npos; });
  });
  return found == all.end() ? nullptr : &*found;
}

std::string format_in(const std::vector<std::string>& parts, const std::string& otherwise) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> words{{{"AMP", "fp16"},
                                                                                 {"amp", "fp16"},
                                                                                 {"FP16", "fp16"},
                                                                                 {"amp_bf16", "bf16"},
                                                                                 {"bf16", "bf16"},
                                                                                 {"TF32", "tf32"},
                                                                                 {"FP32", "fp32"},
                                                                                 {"fp32", "fp32"},
                                                                                 {"INT8", "int8"},
                                                                                 {"fp16", "fp16"}}};
  for (const auto& [word, format] : words) {
    if (has_word(parts, word)) {
      return std::string{format};
    }
  }
  return otherwise;
}

std::string scenario_of(const std::vector<std::string>& parts) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> scenarios{
      {{"Offline", "offline"}, {"Server", "server"}, {"SingleStream", "singlestream"}, {"MultiStream", "multistream"}}};
  for (const auto& [word, scenario] : scenarios) {
    if (has_word(parts, word)) {
      return std::string{scenario};
    }
  }
  return {};
}

/// Batches of MLPerf's latency scenarios, by its rules: one sample, or eight.
std::optional<double> batch_of_scenario(std::string_view scenario) {
  return scenario == "singlestream"  ? std::optional{1.0}
         : scenario == "multistream" ? std::optional{8.0}
                                     : std::nullopt;
}

/// Whether jobs of other kinds have the other slices of the card (MLPerf's demonstrations of MIG).
bool has_neighbours(std::string_view hardware) {
  return hardware.find("HeteroMultiUse") != std::string_view::npos;
}

}  // namespace

std::optional<WrittenSystem> written_system(const ModelData& data, std::string_view hardware) {
  const auto [found, longest] = longest_name(workload_tables(data).gpus, hardware);
  if (found == nullptr || !found->refused.empty()) {
    return std::nullopt;
  }
  WrittenSystem system{found->gpu, 1};
  std::string_view rest = hardware.substr(longest);
  if (rest.starts_with('x')) {
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), system.gpus);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  constexpr std::string_view mig = "-MIG_";
  if (rest.starts_with(mig)) {
    const std::string_view slice = rest.substr(mig.size());
    // The slices of all cards, busy at once.
    system.gpu = "MIG:" + system.gpu + " (" + std::string{slice.substr(0, slice.find('_'))} + " MIG)";
    system.gpus = 1;
  }
  return system;
}

const Device* written_device(const ModelData& data, RowDevices& devices, std::string_view hardware, std::string& why) {
  const std::optional<WrittenSystem> system = written_system(data, hardware);
  if (!system) {
    why = "hardware '" + std::string{hardware} + "' is no GPU that network-workloads.toml names";
    return nullptr;
  }
  const RowDevices::Answer& found = devices.find(system->gpu);
  why = found.why;
  return found.device;
}

std::optional<RunRow> workload_row(const ModelData& data, const RunFile& file, const RunRow& row, std::string& why) {
  const WorkloadTables& tables = workload_tables(data);
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  const WorkloadSpelling* spelling = spelling_in(tables, file, row);
  if (spelling == nullptr) {
    why = "workload " + cell(file, row, "workload").value_or("") + " is no call of a network that is known here";
    return std::nullopt;
  }
  if (!spelling->refused.empty()) {
    why = spelling->refused;
    return std::nullopt;
  }
  const WorkloadGpu* const gpu = longest_name(tables.gpus, hardware).entry;
  if (gpu != nullptr && !gpu->refused.empty()) {
    why = gpu->refused;
    return std::nullopt;
  }
  if (gpu != nullptr && gpu->clocked && row.metric == "avg_system_power_w") {
    why = "the watts of a system on a chip at lowered clocks are not modelled";
    return std::nullopt;
  }
  const WorkloadSoc* const soc = soc_of(data, row, config, hardware);
  if (gpu != nullptr && gpu->clocked && soc == nullptr) {
    why = "the clocks that its submitter set for this run are not known";
    return std::nullopt;
  }
  const std::optional<WrittenSystem> system = written_system(data, hardware);
  if (!system) {
    why = "hardware '" + hardware + "' is no GPU that network-workloads.toml names";
    return std::nullopt;
  }
  const std::vector<std::string> parts = parts_of(config);
  RunRow run = row;
  const std::string format = format_in(parts, spelling->weights);
  const std::optional<double> batch = number_in(parts, "batch=", "");
  if (cell(file, row, "workload").value_or("").ends_with("_train")) {
    run.form = RowForm::training;
    run.run.model = spelling->model;
    run.run.gpu = system->gpu;
    run.run.precision = format;
    run.run.framework = spelling->engine;
    run.run.gpus = static_cast<std::int64_t>(number_in(parts, "", " GPU").value_or(1.0));
    if (const auto each = batch ? batch : number_in(parts, "batch/GPU=", "")) {
      run.run.micro_batch = static_cast<std::int64_t>(*each);
    }
    if (row.metric == "images_per_s") {
      run.metric = "samples_per_s";
    }
    return run;
  }
  run.form = RowForm::serving;
  ServingConfiguration& call = run.serving;
  call.model = spelling->model;
  call.gpu = system->gpu;
  call.gpus = system->gpus;
  call.weight_dtype = call.act_dtype = format;
  call.engine = spelling->engine;
  call.engine_version = spelling->engine_version;
  if (soc != nullptr) {
    call.options["core_clock"] = shortest_text(soc->core);
    call.options["memory_clock"] = shortest_text(soc->memory);
    call.options["beside_tflops"] = shortest_text(soc->beside);
  }
  if (row.metric == "latency_ms" || row.metric == "time_ms") {
    run.metric = "latency_ms_mean";
  } else if (row.metric == "latency_ms_per_image") {
    run.metric = "images_per_s";  // of a batch, so that each image takes its part of it: asked_of_workload()
    run.measured = 1e3 / row.measured;
  }
  if (spelling->host_launch > 0.0) {
    call.options["host_launch"] = shortest_text(spelling->host_launch);
  }
  if (spelling->whole_cast) {
    call.options["whole_cast"] = "1";
  }
  if (has_neighbours(hardware)) {
    call.options["neighbours"] = "busy";
  }
  const std::string scenario = scenario_of(parts);
  call.concurrency = batch ? batch : batch_of_scenario(scenario);
  for (const std::string_view begin : {"static batch=", "client batch=", "TensorRT FP16 b"}) {
    call.concurrency = call.concurrency ? call.concurrency : number_in(parts, begin, "");
  }
  if (const auto clients = number_in(parts, "concurrency=", "")) {
    // A closed loop of requests of one sample each.
    call.concurrency = 1.0;
    call.options["clients"] = std::to_string(static_cast<int>(*clients));
    if (const auto most = number_in(parts, "dynamic batching max ", "")) {
      call.max_batch = static_cast<std::int64_t>(*most);
    }
  }
  if (!spelling->backend.empty()) {
    call.options["backend"] = spelling->backend;
  }
  if (!scenario.empty()) {
    call.options["scenario"] = scenario;
  }
  if (const auto pixels = number_in(parts, "", "px")) {
    call.options["resolution"] = std::to_string(static_cast<int>(*pixels));
  }
  if (config.find("XLA") != std::string::npos) {
    call.options["xla"] = "1";
  }
  return run;
}

RowPrediction asked_of_workload(const RunRow& row, RowPrediction answer) {
  if (row.metric == "latency_ms_per_image" && answer.status == RowStatus::ok) {
    const double low = answer.low;
    answer.predicted = 1e3 / answer.predicted;
    answer.low = 1e3 / answer.high;
    answer.high = 1e3 / low;
    answer.roofline = answer.roofline > 0.0 ? 1e3 / answer.roofline : 0.0;
  }
  return answer;
}

std::string workload_assumed(const ModelData& data, const RunFile& file, const RunRow& row) {
  const std::string hardware = cell(file, row, "hardware").value_or("");
  const WorkloadSpelling* spelling = spelling_in(workload_tables(data), file, row);
  std::string assumed = spelling == nullptr ? "" : spelling->assumed;
  if (has_neighbours(hardware)) {
    // NVIDIA, Multi-Instance GPU user guide: a slice has multiprocessors, L2 and memory of its own.
    assumed += (assumed.empty() ? "" : "; ") + std::string{"jobs on other slices take the card's power and no more"};
  }
  return assumed;
}

bool repeats(const ModelData& data, const RunFile& file, const RunRow& row) {
  const WorkloadSpelling* spelling = spelling_in(workload_tables(data), file, row);
  return spelling != nullptr && spelling->repeats;
}

}  // namespace headroom
