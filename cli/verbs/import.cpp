// SPDX-License-Identifier: Apache-2.0
// `headroom import`: turns a launch file of another program into a scenario, results of benchmarks into measured rows
// or samples, records of other tools into what answers are asked with, a bill into prices, or an ONNX file into a
// network.
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/calibrate/onnx/onnx_network.hpp>
#include <headroom/calibrate/reports/import_records.hpp>
#include <headroom/calibrate/reports/result_rows.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/sharing/shared_card.hpp>
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/reports/focus_bill.hpp>
#include <headroom/scenarios/sharing/mig_parted_reader.hpp>

#include <algorithm>
#include <array>

namespace headroom::cli {

extern const Verb import_verb;

namespace import_parts {
namespace {

enum class Asks : std::uint8_t { training, serving, samples, network, results, records, prices, slices };
constexpr std::array forms{
    Form{"a training launch as a scenario", "a training launch"},
    Form{"a serving launch as a scenario", "a serving launch"},
    Form{"results of a benchmark as samples", "--from nccl-tests, rccl-tests, nvbandwidth, mixbench or nvidia-smi"},
    Form{"an ONNX file as a network", "a file NAME.onnx or --from onnx"},
    Form{"results of a benchmark as measured rows",
         "--from bench-serve, guidellm, aiperf, inferencex, llm-d, mlperf-endpoints, mlperf-loadgen, trtllm-bench or "
         "mllog"},
    Form{"records of another tool", "--from tracelens, chakra, vllm-vcr, speed-bench or mlperf-storage"},
    Form{"a bill as prices", "--from focus"},
    Form{"slices of a card as its tenants", "--from mig-parted"},
};

constexpr std::array options{
    Option{"--from", OptionKind::one,
           "megatron|nemo|torchtitan|deepspeed|torchrun|slurm|vllm|sglang|nccl-tests|rccl-tests|nvbandwidth|mixbench|"
           "nvidia-smi|onnx|bench-serve|guidellm|aiperf|inferencex|llm-d|mlperf-endpoints|mlperf-loadgen|trtllm-bench|"
           "mllog|"
           "tracelens|chakra|vllm-vcr|speed-bench|mlperf-storage|focus|mig-parted",
           "the file's form; default: onnx of a file NAME.onnx, else the result or the launch file that its text looks "
           "like"},
    Option{"--model", OptionKind::one, "ID", "model preset or config.json; numbers of the file must agree with it"}.of(
        Asks::training, Asks::serving, Asks::results),
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog, which no launch file names"}.of(
        Asks::training, Asks::serving, Asks::results, Asks::slices),
    Option{"--gpus", OptionKind::one, "N", "number of GPUs, where no launch line says it"}.of(
        Asks::training, Asks::serving, Asks::results),
    Option{"--node", OptionKind::one, "ID", "node type; default the SKU's reference node"}.of(Asks::training,
                                                                                              Asks::serving),
    Option{"--seq-len", OptionKind::one, "TOKENS", "tokens per sequence"}.of(Asks::training),
    Option{"--global-batch", OptionKind::one, "N", "sequences per step"}.of(Asks::training),
    Option{"--precision", OptionKind::one, "NAME", "fp32 tf32 fp16 bf16 fp8 mxfp8 nvfp4 mxfp4"}.of(Asks::training),
    Option{"--tokens", OptionKind::one, "N", "tokens of the whole run, e.g. 15e12"}.of(Asks::training),
    Option{"--software", OptionKind::one, "ID", "training software, where it is another than the form's own"}.of(
        Asks::training),
    Option{"--isl", OptionKind::one, "TOKENS", "serving: input tokens, which a launch line without its benchmark lacks"}
        .of(Asks::serving, Asks::results),
    Option{"--osl", OptionKind::one, "TOKENS", "serving: output tokens"}.of(Asks::serving, Asks::results),
    Option{"--concurrency", OptionKind::one, "N", "serving: requests in flight"}.of(Asks::serving, Asks::results),
    Option{"--weights", OptionKind::one, "NAME", "serving: format of the weights, which only the checkpoint says"}.of(
        Asks::serving, Asks::results),
    Option{"--set", OptionKind::many, "KEY=VALUE",
           "state any key of the scenario, a column of rows (tp=8), or what an instance of a bill holds "
           "(p5.48xlarge=h100-sxm-80gb:8); wins over the file; repeats"}
        .of(Asks::training, Asks::serving, Asks::results, Asks::prices),
    Option{"--ignore-unknown", OptionKind::flag, "", "list unknown flags as ignored instead of refusing them"}.of(
        Asks::training, Asks::serving),
    Option{"--shape", OptionKind::many, "NAME=SIZES",
           "onnx: a dynamic size of an input or tensor, e.g. input=1x3x224x224 or seq=128; repeats"}
        .of(Asks::network),
    Option{"--name", OptionKind::one, "NAME",
           "onnx: what the network is called, default as the file; focus: id of the price list; mig-parted: the "
           "configuration to read"}
        .of(Asks::network, Asks::prices, Asks::slices),
    Option{"--output", OptionKind::one, "FILE.toml", "write the result to a file, whole or not at all"}.that(
        FileUse::writes),
};

ImportRequest request_of(const Arguments& arguments) {
  ImportRequest request;
  if (arguments.has("--from")) {
    const auto found = std::find(launch_form_names.begin(), launch_form_names.end(), arguments.one("--from"));
    request.from = static_cast<LaunchForm>(found - launch_form_names.begin());
  }
  for (Assignment& assignment : key_assignments(options, arguments)) {  // what a launch file may leave out
    request.assignments.push_back(std::move(assignment.text));
  }
  for (const std::string& assignment : arguments.many("--set")) {
    request.assignments.push_back(assignment);
  }
  request.ignore_unknown = arguments.has("--ignore-unknown");
  return request;
}

std::string lines_of(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) {
    text += remark + "\n";
  }
  return text;
}

Outcome delivered(const Arguments& arguments, const std::string& text, const std::vector<std::string>& remarks) {
  if (arguments.has("--output")) {
    write_whole_file(arguments.one("--output"), text);
    return {"", lines_of(remarks), 0};
  }
  return {text, lines_of(remarks), 0};
}

/// A network file from a graph, with a warning for what is left out or not known.
Outcome network_from(const Arguments& arguments, const std::string& file) {
  require_form(import_verb, Asks::network, arguments);
  if (arguments.has("--name") && arguments.one("--name").find('/') != std::string::npos) {
    throw ConfigError{"--name: " + quoted(arguments.one("--name")) +
                      " is no name: it holds a '/', and names a file of networks; say e.g. --name my-net"};
  }
  const ImportedOnnx imported =
      import_onnx(file, {arguments.has("--name") ? arguments.one("--name") : "", arguments.many("--shape")});
  std::vector<std::string> warnings;
  for (const std::string& remark : imported.remarks) {
    warnings.push_back(Diagnostic{file, {}, remark}.warning());
  }
  return delivered(arguments, imported.toml, warnings);
}

/// Samples from a benchmark's results; nullopt for a launch file.
std::optional<ImportedSamples> samples_of(const Arguments& arguments, const std::string& file) {
  const auto found = std::find(sample_form_names.begin(), sample_form_names.end(), arguments.one("--from"));
  if (found == sample_form_names.end()) {
    return std::nullopt;
  }
  require_form(import_verb, Asks::samples, arguments);
  return import_samples(static_cast<SampleForm>(found - sample_form_names.begin()), read_file(file).text, file);
}

template <std::size_t N>
std::optional<std::size_t> place_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - names.begin())};
}

/// Columns of measured rows that options state.
std::vector<std::string> stated_columns(const Arguments& arguments) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> columns{{{"--model", "model"},
                                                                                  {"--gpu", "gpu"},
                                                                                  {"--gpus", "gpus"},
                                                                                  {"--isl", "isl"},
                                                                                  {"--osl", "osl"},
                                                                                  {"--concurrency", "concurrency"},
                                                                                  {"--weights", "weight_dtype"}}};
  std::vector<std::string> stated;
  for (const auto& [option, column] : columns) {
    if (arguments.has(option)) {
      stated.push_back(std::string{column} + "=" + arguments.one(option));
    }
  }
  for (const std::string& set : arguments.many("--set")) {
    stated.push_back(set);
  }
  return stated;
}

/// What options name is in the catalog and among the networks; a row of a wrong name would only never be scored.
void check_names(const Arguments& arguments) {
  const Sources sources = own_sources();
  Diagnostics problems;
  if (arguments.has("--gpu")) {
    if (const std::optional<std::string> why = sources.catalog.why_no_device(arguments.one("--gpu"))) {
      problems.add("--gpu", {}, *why);
    }
  }
  if (arguments.has("--model") && !sources.models.knows(arguments.one("--model"))) {
    problems.add("--model", {},
                 quoted(arguments.one("--model")) + " is no preset; 'headroom catalog list models' lists them");
  }
  if (const std::string weights = arguments.one("--weights");
      arguments.has("--weights") && weights != "fp4" &&
      std::find(precision_names.begin(), precision_names.end(), weights) == precision_names.end()) {
    problems.add("--weights", {}, quoted(weights) + " is no format of weights" + suggestion(weights, precision_names));
  }
  problems.throw_if_any();
}

/// An id of a price list is part of a file's name and of commands.
std::string list_id(const Arguments& arguments, const std::string& otherwise) {
  const std::string id = arguments.one("--name", otherwise);
  const bool good = !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
  if (!good) {
    throw ConfigError{"--name: " + quoted(id) +
                      " is no id of a price list: it has lower-case letters, digits and dashes"};
  }
  return id;
}

/// Measured rows of several files, each a run or a sweep; nullopt where the first is no result.
std::optional<Outcome> rows_of(const Arguments& arguments, const std::vector<std::string>& files) {
  std::optional<ResultForm> form;
  if (arguments.has("--from")) {
    const std::optional<std::size_t> found = place_of(result_form_names, arguments.one("--from"));
    if (!found) {
      return std::nullopt;
    }
    form = static_cast<ResultForm>(*found);
  }
  std::vector<ConfigSource> sources;
  for (const std::string& file : files) {
    sources.push_back(read_file(file));
    if (!form && sources.size() == 1 && !result_form_of(sources.front().text)) {
      return std::nullopt;
    }
  }
  require_form(import_verb, Asks::results, arguments);
  check_names(arguments);
  const ImportedRows rows = import_result_rows(sources, form, stated_columns(arguments));
  return delivered(arguments, rows.text, rows.remarks);
}

/// Records of other tools, bills and slices, whose form --from says; nullopt: it says another.
std::optional<Outcome> records_of(const Arguments& arguments, const std::string& file) {
  const std::string form = arguments.one("--from");
  if (const std::optional<std::size_t> found = place_of(record_form_names, form)) {
    require_form(import_verb, Asks::records, arguments);
    const ImportedSamples records = import_records(static_cast<RecordForm>(*found), read_file(file).text, file);
    return delivered(arguments, records.text, records.remarks);
  }
  if (form == "focus") {
    require_form(import_verb, Asks::prices, arguments);
    const Sources sources = own_sources();
    FocusRequest request;
    request.id = list_id(arguments, request.id);
    request.instances = arguments.many("--set");
    const ImportedPrices prices = import_focus_bill(read_file(file), request, sources.catalog);
    return delivered(arguments, prices.toml, prices.remarks);
  }
  if (form == "mig-parted") {
    require_form(import_verb, Asks::slices, arguments);
    if (!arguments.has("--gpu")) {
      throw ConfigError{"--from mig-parted needs --gpu: the file does not name the card that it cuts"};
    }
    const Sources sources = own_sources();
    const Device& card = sources.catalog.device(arguments.one("--gpu"));
    const PartitionScheme* const scheme = sources.catalog.partitions(card);
    if (scheme == nullptr || scheme->kind != PartitionKind::mig) {
      throw ConfigError{"--gpu: " + card.name + " is not cut by MIG"};
    }
    const ImportedSlices slices = sharing_of_slices(read_file(file), arguments.one("--name", ""), card, *scheme,
                                                    sharing_form(sources.data).process);
    return delivered(arguments, slices.toml, slices.remarks);
  }
  return std::nullopt;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> files = arguments.many("");
  if (files.empty()) {
    throw ConfigError{"name a launch file, e.g. 'headroom import train.sbatch --gpu h100-sxm-80gb'"};
  }
  const bool network = arguments.has("--from") ? arguments.one("--from") == "onnx" : is_onnx_name(files.front());
  if (!network) {
    if (const std::optional<Outcome> rows = rows_of(arguments, files)) {
      return *rows;
    }
  }
  if (files.size() > 1) {
    throw ConfigError{"several files are read as results of benchmarks alone, e.g. --from bench-serve; name one file"};
  }
  if (!network && arguments.has("--from")) {
    if (const std::optional<Outcome> records = records_of(arguments, files.front())) {
      return *records;
    }
  }
  if (network) {
    return network_from(arguments, files.front());
  }
  if (const std::optional<ImportedSamples> samples = samples_of(arguments, files.front())) {
    return delivered(arguments, samples->text, samples->remarks);
  }
  const ConfigSource source = read_file(files.front());
  const ImportRequest request = request_of(arguments);
  if (const std::optional<LaunchForm> form = request.from ? request.from : form_of(source.text)) {
    require_form(import_verb, serves(*form) ? Asks::serving : Asks::training, arguments);
  }
  if (arguments.has("--model")) {
    refuse_overwrite(import_verb, arguments, arguments.one("--model"), "which --model may name");
  }
  const Sources sources = own_sources();
  const ImportedLaunch launch = import_launch(source, request, sources);
  return delivered(arguments, launch.toml, launch.remarks);
}

constexpr std::string_view examples =
    "  headroom import train.sbatch --gpu h100-sxm-80gb -o scenario.toml\n"
    "  headroom import ds_config.json --model llama3-8b --gpu a100-sxm-80gb --gpus 64 --seq-len 4096\n"
    "  headroom import job.toml --from torchtitan --gpu h100-sxm-80gb --gpus 128\n"
    "  headroom import serve.sh --gpu h100-sxm-80gb --isl 2048 --osl 256 --concurrency 64 --weights bf16\n"
    "  headroom import all_reduce.log --from nccl-tests -o nccl.csv\n"
    "  headroom import net.onnx --shape batch=1 -o net.toml\n"
    "  headroom import c16.json c64.json --gpu h100-sxm-80gb --weights bf16 --set tp=8 --set engine=vLLM -o mine.csv\n"
    "  headroom import bill.csv --from focus --set 'p5.48xlarge=h100-sxm-80gb:8' -o prices/own-bill.toml\n"
    "  headroom import mig.yaml --from mig-parted --gpu a100-sxm-80gb -o slices.toml\n";

}  // namespace
}  // namespace import_parts

const Verb import_verb{"import",
                       "a launch file as a scenario, a benchmark's results as measured rows or samples, a bill as "
                       "prices, an ONNX file as a network",
                       "FILE",
                       10000,
                       import_parts::options,
                       import_parts::examples,
                       import_parts::run,
                       nullptr,
                       import_parts::forms};

}  // namespace headroom::cli
