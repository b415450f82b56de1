// SPDX-License-Identifier: Apache-2.0
// `headroom calibrate`: measures and fits, or compares two calibrations.
#include <headroom/calibrate/kernels/sample_set.hpp>
#include <headroom/calibrate/measure/calibration.hpp>
#include <headroom/calibrate/measure/preflight.hpp>
#include <headroom/calibrate/measure/probes_simulated.hpp>
#include <headroom/calibrate/measure/timings_csv.hpp>
#include <headroom/calibrate/probe/probe_library.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/cli/fits/fit_overlay.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/interrupt.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/probe_options.hpp>
#include <headroom/cli/frame/scenario_options.hpp>
#include <headroom/cli/render/render_calibration.hpp>
#include <headroom/cli/render/render_probe.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/version.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

namespace headroom::cli {

extern const Verb calibrate_verb;

namespace calibrate_parts {
namespace {

namespace fs = std::filesystem;

constexpr int device_missing = 3;

enum class Asks : std::uint8_t { measurement, comparison };
constexpr std::array forms{
    Form{"a calibration", "a calibration"},
    Form{"a comparison of two", "--compare"},
};

constexpr std::array options{
    Option{"--output", OptionKind::one, "FOLDER", "where samples, manifest and overlay go (default 'calibration')"}
        .of(Asks::measurement)
        .that(FileUse::writes_in),
    Option{"--gpu", OptionKind::one, "ID",
           "the SKU it is, or the nearest one: base of the overlay; default by its name"}
        .of(Asks::measurement),
    Option{"--id", OptionKind::one, "NAME", "id of the overlay; default the base's own, which it then extends"}
        .of(Asks::measurement)
        .without("--no-fit"),
    Option{"--budget", OptionKind::one, "TIME", "all measurements together, e.g. 8min; default: until the rule is met"}
        .of(Asks::measurement),
    Option{"--precision", OptionKind::one, "SHARE", "half of the median's 95 % interval (default '1 %')"}.of(
        Asks::measurement),
    Option{"--resume", OptionKind::flag, "", "go on with a folder that an earlier calibration began"}.of(
        Asks::measurement),
    Option{"--only", OptionKind::many, "gemm|copy|launch|attention|decode|memory|transfer|layer|unit|nccl",
           "this family of probes alone; repeats"}
        .of(Asks::measurement),
    Option{"--dtype", OptionKind::many, "bf16|fp16|tf32|fp8|int8|fp32|fp8_e5m2|nvfp4",
           "GEMM in this type alone; repeats (default the first four)"}
        .of(Asks::measurement),
    Option{"--quick", OptionKind::flag, "", "fewer shapes and sizes, no sustained runs"}.of(Asks::measurement),
    Option{"--full", OptionKind::flag, "", "every type of GEMM, many more shapes and sizes of the rest"}.of(
        Asks::measurement),
    Option{"--device", OptionKind::one, "N", "CUDA device, counted from 0 (default 0)"}
        .of(Asks::measurement)
        .without("--simulate"),
    Option{"--share", OptionKind::flag, "", "measure although other processes use the device"}.of(Asks::measurement),
    Option{"--patience", OptionKind::one, "TIME",
           "for one measurement, before the device is said to hang (default 60s)"}
        .of(Asks::measurement),
    Option{"--no-fit", OptionKind::flag, "", "samples alone"}.of(Asks::measurement),
    Option{"--simulate", OptionKind::one, "FILE.toml", "measure a device that this file describes (docs/calibrate.md)"}
        .of(Asks::measurement)
        .that(FileUse::reads),
    Option{"--compare", OptionKind::flag, "", "two folders: is B slower than A? exit code 1 when it is"}.of(
        Asks::comparison),
    Option{"--threshold", OptionKind::one, "SHARE", "with --compare: slower by more than this (default '2 %')"}.of(
        Asks::comparison),
    Option{"--format", OptionKind::one, formats_in<"text|{}">,
           meanings_in<"of --compare: text for people (default), {}">}
        .of(Asks::comparison),
};

double share_option(const Arguments& arguments, std::string_view option, double fallback, Diagnostics& diagnostics) {
  const std::optional<double> share = number_option(arguments, option, diagnostics);
  if (share && (*share <= 0.0 || *share >= 1.0)) {
    diagnostics.add(
        "", {}, std::string{option} + " " + quoted(arguments.one(option)) + " must lie between 0 and 1, such as '2 %'");
  }
  return share.value_or(fallback);
}

/// Settings of a run from the command line.
struct Request {
  ProbeChoice choice;
  CalibrationRules rules;
  std::string folder;
  std::int64_t device = 0;
  bool resume = false;
};

Request request_of(const Arguments& arguments) {
  Request request;
  Diagnostics diagnostics;
  request.choice = choice_of(arguments);
  request.device = device_of(arguments);
  request.rules.precision = share_option(arguments, "--precision", request.rules.precision, diagnostics);
  request.rules.budget = quantity_option<Seconds>(arguments, "--budget", diagnostics);
  request.rules.patience =
      quantity_option<Seconds>(arguments, "--patience", diagnostics).value_or(request.rules.patience);
  diagnostics.throw_if_any();
  request.folder = fs::path{arguments.one("--output", "calibration")}.lexically_normal().string();
  while (request.folder.size() > 1 && request.folder.back() == '/') {
    request.folder.pop_back();
  }
  request.resume = arguments.has("--resume");
  if (!arguments.many("").empty()) {
    throw ConfigError{"unexpected argument " + quoted(arguments.many("").front()) +
                      "; folders are named with --compare"};
  }
  return request;
}

/// An open device and its monitor.
struct Opened {
  std::shared_ptr<Prober> prober;
  std::shared_ptr<const DeviceMonitor> monitor;
  std::string monitor_missing;
  std::string date;
};

Opened open_device(const Arguments& arguments, const Request& request, const Catalog& catalog) {
  Opened opened;
  if (arguments.has("--simulate")) {
    const std::string file = arguments.one("--simulate");
    SimulatedDevice device = read_simulated_device(parse_toml(read_file(file).text, file), file, catalog);
    Seconds spent{};
    if (request.resume && fs::exists(fs::path{request.folder} / SampleJournal::file_name)) {
      for (const JournalEntry& entry : read_sample_journal(request.folder)) {
        spent += entry.took;
      }
    }
    opened.date = device.date;
    auto simulated = std::make_shared<SimulatedProber>(std::move(device), spent);
    opened.prober = simulated;
    opened.monitor = simulated;
    return opened;
  }
  opened.prober = open_prober(request.device);
  opened.date = utc_now();
  const std::string bus_id = opened.prober->device().pci_bus_id;
  const std::optional<std::string> library = library_of("HEADROOM_NVML_LIBRARY");
  opened.monitor =
      library ? Nvml::open(bus_id, opened.monitor_missing, *library) : Nvml::open(bus_id, opened.monitor_missing);
  return opened;
}

/// Prepares a new folder, or checks that a resumed one is of the same device and conditions.
void prepare_folder(const Request& request, Manifest& manifest) {
  const fs::path path{request.folder};
  const std::string file = (path / "manifest.toml").string();
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (!fs::create_directory(path, error)) {
      throw ConfigError{quoted(request.folder) + " cannot be made: " + error.message()};
    }
  } else if (!is_sample_folder(request.folder)) {
    remove_drafts(file);  // of a beginning that was killed before it had its manifest
    if (!fs::is_directory(path, error) || !fs::is_empty(path, error)) {
      throw ConfigError{quoted(request.folder) + " holds something else than samples; choose another folder with -o"};
    }
  } else if (!request.resume) {
    throw ConfigError{quoted(request.folder) + " holds samples; go on with --resume, or choose another folder with -o"};
  } else {
    const Manifest begun = read_manifest(read_file(file).text, file);
    const std::string different = differences(conditions_of(begun), conditions_of(manifest));
    if (!different.empty()) {
      throw ConfigError{quoted(request.folder) + " was begun under other conditions: " + different +
                        "; choose another folder with -o, and compare the two with --compare"};
    }
    manifest.date = begun.date;
    manifest.quick = begun.quick && manifest.quick;
  }
  if (!fs::exists(file, error)) {
    write_whole_file(file, manifest_toml(manifest, ProbeRun{}));
  }
}

std::string clock_text(Seconds time) {
  std::array<char, 16> text{};
  const auto seconds = static_cast<int>(time.raw());
  std::snprintf(text.data(), text.size(), "%d:%02d", seconds / 60, seconds % 60);
  return text.data();
}

/// Progress line that overwrites itself, on a terminal only.
void show_progress(const CalibrationProgress& p) {
  std::fprintf(stderr, "\r\033[K%zu of %zu within the rule, %s spent, about %s left: %s", p.done, p.all,
               clock_text(p.spent).c_str(), clock_text(p.left).c_str(), p.next.c_str());
  std::fflush(stderr);
}

/// Every possible probe, for a device with all its memory free: those that a journal may contain.
ProbePlan every_probe(const ProbeDevice& device) {
  ProbeDevice empty = device;
  empty.free_memory = 2.0 * device.memory;
  ProbeChoice choice;
  choice.full = choice.layer = true;  // includes the standard and quick sets
  choice.types.clear();
  for (const GemmTypeRow& row : gemm_types) {
    choice.types.push_back(row.type);
  }
  return plan_probes(empty, choice);
}

/// Writes the files that follow from the journal, and the manifest that lists them.
ProbeRun write_samples(const Request& request,
                       const SampleJournal& journal,
                       Manifest& manifest,
                       const Calibration& calibration,
                       const DeviceMonitor* monitor,
                       const DeviceReading& before) {
  const Calibration all = calibration_of(every_probe(manifest.device), journal.entries(), request.rules);
  ProbeRun run;
  run.samples = all.samples();
  run.skipped = calibration.skipped;
  run.before = before;
  run.after = monitor == nullptr ? DeviceReading{} : monitor->read();
  run.lasted = all.spent;
  for (const JournalEntry& entry : journal.entries()) {
    run.sustained_throttle |= entry.sample.lasted > Seconds{} ? entry.throttle : 0;
  }
  manifest.complete = calibration.ended.empty();
  manifest.unmet = calibration.unmet;
  manifest.files.clear();
  std::vector<FolderFile> files = sample_files(
      run.samples, {manifest.device.cublaslt, manifest.device.cudnn, manifest.headroom}, manifest.device.nccl);
  files.emplace_back("timings.csv", timings_csv(all.probes));
  for (const auto& [name, text] : files) {
    remove_drafts(request.folder + "/" + name);
    write_whole_file(request.folder + "/" + name, text);
    manifest.files.push_back(name);
  }
  const std::string manifest_file = request.folder + "/manifest.toml";
  remove_drafts(manifest_file);
  write_whole_file(manifest_file, manifest_toml(manifest, run));
  return run;
}

/// Base of the overlay: --gpu, or the SKU with the driver's name of the device.
const Device* base_of(const Arguments& arguments, const ProbeDevice& device, const Catalog& catalog) {
  if (arguments.has("--gpu")) {
    return &catalog.device(arguments.one("--gpu"));
  }
  return catalog.why_no_device(device.name) ? nullptr : &catalog.device(device.name);
}

std::string fitted_text(const Arguments& arguments,
                        const Request& request,
                        const Device* base,
                        const Catalog& catalog) {
  if (arguments.has("--no-fit")) {
    return "";
  }
  if (base == nullptr) {
    return "the catalog does not know the device: fit it over the nearest SKU with 'headroom fit " + request.folder +
           " --base GPU -o " + request.folder + "/overlay'\n";
  }
  try {
    const SampleSet set = read_sample_folder(request.folder);
    const std::string target = request.folder + "/overlay";
    const Overlay overlay = make_overlay(ModelData{catalog.store().shared()}, set, *base, catalog.reference_node(*base),
                                         overlay_id(arguments, target, base->id));
    const std::string folder = write_overlay(overlay, target);
    return "\n" + overlay_text(overlay) + "\n" + how_to_use(overlay, folder);
  } catch (const ConfigError& error) {
    std::string text;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      text += "\nno overlay: " + diagnostic.message;
    }
    return text + "\n";
  }
}

Outcome calibrated(const Arguments& arguments) {
  const Request request = request_of(arguments);
  if (arguments.has("--id")) {
    static_cast<void>(overlay_id(arguments, "", ""));  // checks the id before measuring
  }
  const Catalog catalog = own_catalog();
  const Opened opened = open_device(arguments, request, catalog);
  const DeviceMonitor* monitor = opened.monitor.get();
  Manifest manifest;
  manifest.headroom = version_number();
  manifest.date = opened.date;
  manifest.quick = request.choice.quick;
  manifest.device = opened.prober->device();
  manifest.nvml_missing = opened.monitor_missing;
  manifest.precision = request.rules.precision;
  manifest.complete = false;
  manifest.settings = monitor == nullptr ? DeviceSettings{} : monitor->settings();
  const Device* base = base_of(arguments, manifest.device, catalog);
  manifest.catalog_id = base == nullptr || arguments.has("--gpu") ? "" : base->id;
  check_device(manifest.device, monitor, arguments.has("--share"));
  const ProbePlan plan = plan_probes(manifest.device, request.choice);
  manifest.host = arguments.has("--simulate") ? std::nullopt : std::optional{read_host()};
  manifest.effort = plan.effort;
  if (plan.probes.empty()) {
    throw DeviceError{
        "no probe can be measured" +
        (plan.skipped.empty() ? std::string{} : ": " + plan.skipped.front().probe + ": " + plan.skipped.front().why)};
  }
  prepare_folder(request, manifest);
  SampleJournal journal{request.folder};
  const DeviceReading before = monitor == nullptr ? DeviceReading{} : monitor->read();
  const bool terminal = isatty(STDERR_FILENO) != 0;
  Calibration calibration;
  std::string lost;
  bool useless = false;
  try {
    const InterruptGuard guard{OnInterrupt::note};
    calibration = calibrate(opened.prober, opened.monitor, base, plan, request.rules, journal,
                            terminal ? ShowProgress{show_progress} : nullptr, [] { return interrupt_noted().load(); });
  } catch (const DeviceError& error) {
    lost = error.what();
    useless = error.samples == DeviceError::Samples::useless;
    calibration = calibration_of(plan, journal.entries(), request.rules);
    calibration.ended = lost;
  }
  if (terminal) {
    std::fputs("\r\033[K", stderr);
  }
  const ProbeRun run = write_samples(request, journal, manifest, calibration, monitor, before);
  const std::string kept = useless ? std::string{}
                                   : std::to_string(run.samples.size()) + " samples are kept in " + request.folder +
                                         "; go on with 'headroom calibrate -o " + request.folder + " --resume'\n";
  if (!lost.empty()) {
    return {"", "headroom: error: " + lost + "\n" + kept, device_missing};
  }
  const bool stopped = interrupt_noted().load() && !calibration.ended.empty();
  std::string text = probe_text(manifest, run, base) + "\n" + calibration_text(calibration, request.rules);
  text += "wrote " + request.folder + "\n";
  text += stopped ? kept : fitted_text(arguments, request, base, catalog);
  std::string warnings =
      opened.monitor_missing.empty()
          ? ""
          : "headroom: warning: clocks, power and throttling are not known: " + opened.monitor_missing + "\n";
  warnings += journal.torn() > 0 ? "headroom: warning: the last line of " + request.folder +
                                       "/samples.csv was cut and is measured again\n"
                                 : "";
  return {text, warnings, stopped ? interrupted_code() : 0};
}

Outcome compared(const Arguments& arguments) {
  const std::vector<std::string> folders = arguments.many("");
  if (folders.size() != 2) {
    throw ConfigError{"--compare takes two folders of samples, e.g. 'headroom calibrate --compare monday friday'"};
  }
  Diagnostics diagnostics;
  GateRule rule;
  rule.threshold = share_option(arguments, "--threshold", rule.threshold, diagnostics);
  diagnostics.throw_if_any();
  std::array<Conditions, 2> conditions;
  std::array<std::vector<ProbeTiming>, 2> timings;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string file = folders[i] + "/manifest.toml";
    if (!is_sample_folder(folders[i])) {
      throw ConfigError{quoted(folders[i]) + " holds no samples (no manifest.toml)"};
    }
    conditions[i] = conditions_of(read_manifest(read_file(file).text, file));
    timings[i] = timings_of(read_sample_journal(folders[i]));
  }
  const Gate gate = compare_calibrations(timings[0], timings[1], rule);
  const int code = gate.verdict == GateVerdict::slower ? 1 : 0;
  if (const DocumentFormat* const format = document_format(arguments)) {
    return {format->print(gate_document(gate, rule)), "", code};
  }
  const std::string different = differences(conditions[0], conditions[1]);
  return {gate_text(gate, rule, folders[0], folders[1]) +
              (different.empty() ? "measured under the same conditions\n" : "they differ in: " + different + "\n"),
          "", code};
}

Outcome run(const Arguments& arguments) {
  require_form(calibrate_verb, arguments.has("--compare") ? Asks::comparison : Asks::measurement, arguments);
  try {
    return arguments.has("--compare") ? compared(arguments) : calibrated(arguments);
  } catch (const DeviceError& error) {
    return {"", "headroom: error: " + std::string{error.what()} + "\n", device_missing};
  }
}

constexpr std::string_view examples =
    "  headroom calibrate -o h200-rack-7 --budget 8min\n"
    "  headroom calibrate -o h200-rack-7 --resume\n"
    "  headroom calibrate -o new-sku --gpu h200-sxm-141gb --id new-sku\n"
    "  headroom calibrate --compare monday friday --threshold '3 %'\n"
    "  headroom calibrate -o rehearsal --simulate scenarios/calibrate/rehearsal.toml\n";

}  // namespace
}  // namespace calibrate_parts

const Verb calibrate_verb{"calibrate",
                          "measure the GPU at hand and fit it: a catalog overlay; or compare two of them",
                          "FOLDER",
                          2,
                          calibrate_parts::options,
                          calibrate_parts::examples,
                          calibrate_parts::run,
                          nullptr,
                          calibrate_parts::forms};

}  // namespace headroom::cli
