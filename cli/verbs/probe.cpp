// SPDX-License-Identifier: Apache-2.0
// `headroom probe`: measures the local GPU and writes samples with a manifest.
#include <headroom/calibrate/probe/probe_library.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/probe_options.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/render_probe.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/version.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>

namespace headroom::cli {

extern const Verb probe_verb;

namespace probe_parts {
namespace {

constexpr int device_missing = 3;

constexpr std::array options{
    Option{"--only", OptionKind::many, "gemm|copy|launch|attention|decode|memory|transfer|layer|unit|nccl",
           "this family of probes alone; repeats"},
    Option{"--dtype", OptionKind::many, "bf16|fp16|tf32|fp8|int8|fp32|fp8_e5m2|nvfp4",
           "GEMM in this type alone; repeats (default the first four)"},
    Option{"--device", OptionKind::one, "N", "CUDA device, counted from 0 (default 0)"},
    Option{"--output", OptionKind::one, "FOLDER", "where samples and manifest go (default 'samples')"}.that(
        FileUse::writes_in),
    Option{"--quick", OptionKind::flag, "", "fewer shapes and sizes, no sustained runs"},
    Option{"--full", OptionKind::flag, "", "every type of GEMM, many more shapes and sizes of the rest"},
    Option{"--force", OptionKind::flag, "", "replace a folder of earlier samples"},
};

/// Progress line that overwrites itself, on a terminal only.
void show_progress(std::size_t done, std::size_t all, const Probe& next) {
  std::fprintf(stderr, "\r\033[K%zu of %zu: %s", done + 1, all, name_of(next).c_str());
  std::fflush(stderr);
}

/// Warnings about conditions that make the samples untypical.
std::string warnings(const Manifest& manifest, const ProbeRun& run) {
  std::string text;
  const auto warn = [&](const std::string& what) { text += "headroom: warning: " + what + "\n"; };
  if (!manifest.nvml_missing.empty()) {
    warn("clocks, power and throttling are not known: " + manifest.nvml_missing);
  }
  constexpr std::int64_t idle_percent = 10;  // opening a device may itself show as a few percent
  if (const std::int64_t busy = run.before.busy_percent.value_or(0); busy > idle_percent) {
    warn("the device was " + std::to_string(busy) + " % busy before the first probe; another process shares it");
  }
  if (manifest.settings.mig.value_or(false)) {
    warn("MIG is on: the samples are of a slice, and clocks and power of the whole device");
  }
  if (manifest.device.memory > Bytes{} && manifest.device.free_memory < 0.9 * manifest.device.memory) {
    warn("only " + format(manifest.device.free_memory) + " of " + format(manifest.device.memory) +
         " were free; another process shares the device");
  }
  return text;
}

Outcome probed(const Arguments& arguments) {
  const ProbeChoice choice = choice_of(arguments);
  const std::int64_t device = device_of(arguments);
  const std::string folder = arguments.one("--output", "samples");
  const bool force = arguments.has("--force");
  check_sample_folder(folder, force);
  const std::unique_ptr<Prober> prober = open_prober(device);

  Manifest manifest;
  manifest.headroom = version_number();
  manifest.date = utc_now();
  manifest.quick = choice.quick;
  manifest.device = prober->device();
  const Catalog catalog = own_catalog();
  const bool known = !catalog.why_no_device(manifest.device.name);
  manifest.catalog_id = known ? catalog.device(manifest.device.name).id : "";
  const std::unique_ptr<Nvml> nvml = Nvml::open(manifest.device.pci_bus_id, manifest.nvml_missing);
  if (nvml != nullptr) {
    manifest.settings = nvml->settings();
  }
  const ProbePlan plan = plan_probes(manifest.device, choice);
  manifest.effort = plan.effort;
  manifest.host = read_host();

  const bool terminal = isatty(STDERR_FILENO) != 0;
  const ProbeRun run = run_probes(*prober, nvml.get(), plan, terminal ? ProbeProgress{show_progress} : nullptr);
  if (terminal) {
    std::fputs("\r\033[K", stderr);
  }
  if (run.samples.empty()) {
    const std::string why =
        run.skipped.empty() ? "" : ": " + run.skipped.front().probe + ": " + run.skipped.front().why;
    throw DeviceError{"no probe could be measured" + why};
  }
  std::vector<FolderFile> files = sample_files(
      run.samples, {manifest.device.cublaslt, manifest.device.cudnn, manifest.headroom}, manifest.device.nccl);
  for (const FolderFile& file : files) {
    manifest.files.push_back(file.first);
  }
  files.emplace_back("manifest.toml", manifest_toml(manifest, run));
  write_sample_folder(folder, files, force);
  return {probe_text(manifest, run, known ? &catalog.device(manifest.device.name) : nullptr) + "wrote " + folder + "\n",
          warnings(manifest, run), 0};
}

Outcome run(const Arguments& arguments) {
  try {
    return probed(arguments);
  } catch (const DeviceError& error) {
    return {"", "headroom: error: " + std::string{error.what()} + "\n", device_missing};
  }
}

constexpr std::string_view examples =
    "  headroom probe -o h200-samples\n"
    "  headroom probe --quick --only gemm --dtype bf16 -o quick\n"
    "the files and their columns, and manifest.toml, are in docs/probes.md\n";

}  // namespace
}  // namespace probe_parts

const Verb probe_verb{"probe",
                      "measure the GPU at hand: GEMM, memory, launches",
                      "",
                      0,
                      probe_parts::options,
                      probe_parts::examples,
                      probe_parts::run};

}  // namespace headroom::cli
