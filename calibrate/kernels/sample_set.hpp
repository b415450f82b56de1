// SPDX-License-Identifier: Apache-2.0
// A folder of samples as a fit reads it: the manifest and every file of a known form.
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
  std::vector<KernelFile> kernels;  ///< gemm.csv, and any CSV of measured kernels beside it
  std::vector<SustainedRow> sustained;
  std::vector<CopyRow> copies;
  std::vector<LaunchRow> launches;
  std::vector<PassRow> passes;
  std::vector<TransferRow> transfers;
};

/// Whether a path is a folder with a manifest of samples.
[[nodiscard]] bool is_sample_folder(const std::string& path);

/// Reads a folder. ConfigError with every problem: no manifest, a file of it missing or cut, a measurement that has not
/// ended and left no files yet (go on with --resume).
[[nodiscard]] SampleSet read_sample_folder(const std::string& folder);

/// Several folders as one. ConfigError naming what differs when they are not of one device and its software.
[[nodiscard]] SampleSet read_sample_folders(const std::vector<std::string>& folders);

/// The journal of a folder; ConfigError when it has none.
[[nodiscard]] std::vector<JournalEntry> read_sample_journal(const std::string& folder);

}  // namespace headroom
