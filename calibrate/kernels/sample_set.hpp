// SPDX-License-Identifier: Apache-2.0
// A folder of samples for fitting: the manifest and every file of a known form.
#pragma once

#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/calibrate/samples/sample_journal.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>

#include <string>
#include <vector>

namespace headroom {

struct SampleSet {
  std::string folder;
  Manifest manifest;
  std::vector<KernelFile> kernels;  ///< gemm.csv and any other CSV of measured kernels in the folder
  std::vector<SustainedRow> sustained;
  std::vector<CopyRow> copies;
  std::vector<LaunchRow> launches;
  std::vector<PassRow> passes;
  std::vector<TransferRow> transfers;
  std::vector<LayerRow> layers;
  std::vector<UnitRow> units;
};

/// Whether a path is a folder with a manifest of samples.
[[nodiscard]] bool is_sample_folder(const std::string& path);

/// Reads a folder. Throws ConfigError with every problem: no manifest, a missing or truncated file, a calibration that
/// has not ended and has no files yet (continue with --resume).
[[nodiscard]] SampleSet read_sample_folder(const std::string& folder);

/// Combines several folders. Throws ConfigError with the differences when device or software differ.
[[nodiscard]] SampleSet read_sample_folders(const std::vector<std::string>& folders);

/// The journal of a folder. Throws ConfigError when there is none.
[[nodiscard]] std::vector<JournalEntry> read_sample_journal(const std::string& folder);

}  // namespace headroom
