// SPDX-License-Identifier: Apache-2.0
// A simulated device and a calibration of it, for the tests of everything behind a probe.
#pragma once

#include <headroom/calibrate/kernels/sample_set.hpp>
#include <headroom/calibrate/measure/calibration.hpp>
#include <headroom/calibrate/measure/probes_simulated.hpp>
#include <headroom/calibrate/measure/timings_csv.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>
#include <headroom/core/config_reader.hpp>

#include "../cli/run_headroom.hpp"
#include <fstream>
#include <memory>
#include <string>

namespace headroom::test {

/// An H200 of known constants; `more` is appended.
inline std::string simulated_toml(const std::string& more = "") {
  return R"(schema = 1
kind = "simulated-device"
gpu = "h200-sxm-141gb"
seed = 11
[gemm]
compute = 0.80
bandwidth = 0.84
launch = "2.5 us"
chain = "1.3 ns"
[copy]
bandwidth = 0.90
launch = "2.1 us"
[launch]
stream = "2.3 us"
host = "1.9 us"
graph = "6.0 us"
node = "1.3 us"
)" + more;
}

inline SimulatedDevice simulated(const std::string& more = "") {
  return read_simulated_device(parse_toml(simulated_toml(more), "device.toml"), "device.toml", Catalog::standard());
}

inline std::shared_ptr<SimulatedProber> simulated_prober(const std::string& more = "", Seconds begun = {}) {
  return std::make_shared<SimulatedProber>(simulated(more), begun);
}

/// Small plans keep tests short.
inline ProbePlan bf16_and_copies(const Prober& prober, bool gemm = true, bool copy = true) {
  ProbeChoice choice = ProbeChoice::none();
  choice.gemm = gemm;
  choice.copy = copy;
  choice.types = {GemmType::bf16};
  return plan_probes(prober.device(), choice);
}

/// Writes what `headroom calibrate` leaves behind a calibration that has ended.
inline SampleSet sample_set_of(const Calibration& calibration,
                               const SimulatedProber& prober,
                               const std::string& folder) {
  Manifest manifest;
  manifest.headroom = "0.1.0";
  manifest.date = "2026-01-01T00:00:00Z";
  manifest.device = prober.device();
  manifest.settings = prober.settings();
  ProbeRun run;
  run.samples = calibration.samples();
  for (const auto& [name, text] : sample_files(run.samples, {"13.1.0", "9.19.0", "0.1.0"}, prober.device().nccl)) {
    std::ofstream{folder + "/" + name, std::ios::binary} << text;
    manifest.files.push_back(name);
  }
  std::ofstream{folder + "/manifest.toml", std::ios::binary} << manifest_toml(manifest, run);
  return read_sample_folder(folder);
}

}  // namespace headroom::test
