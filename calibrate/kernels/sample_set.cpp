// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/sample_set.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/core/config_reader.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view manifest_name = "manifest.toml";

template <class Read>
auto rows_from(const ConfigSource& source, Diagnostics& diagnostics, Read read) {
  std::istringstream stream{source.text};
  CsvReader csv{stream, source.file, diagnostics};
  return read(csv);
}

/// Reports a file whose last line is incomplete.
void check_whole(const ConfigSource& source, Diagnostics& diagnostics) {
  if (!source.text.empty() && source.text.back() != '\n') {
    const auto lines = static_cast<int>(std::count(source.text.begin(), source.text.end(), '\n'));
    diagnostics.add(source.file, {lines + 1, 1},
                    "the file ends inside a line: it was cut; copy it again, or write it anew with 'headroom calibrate "
                    "--resume'");
  }
}

void read_file_of(const std::string& name, const ConfigSource& source, SampleSet& set, Diagnostics& diagnostics) {
  if (name == "gemm_sustained.csv") {
    set.sustained = rows_from(source, diagnostics, read_sustained_rows);
  } else if (name == "copy.csv") {
    set.copies = rows_from(source, diagnostics, read_copy_rows);
  } else if (name == "launch.csv") {
    set.launches = rows_from(source, diagnostics, read_launch_rows);
  } else if (name == "memory.csv") {
    set.passes = rows_from(source, diagnostics, read_pass_rows);
  } else if (name == "transfer.csv") {
    set.transfers = rows_from(source, diagnostics, read_transfer_rows);
  } else if (name == "layers.csv") {
    set.layers = rows_from(source, diagnostics, read_layer_rows);
  } else if (name == "unit.csv") {
    set.units = rows_from(source, diagnostics, read_unit_rows);
  } else {
    std::istringstream stream{source.text};
    set.kernels.push_back(read_kernel_rows(stream, source.file, std::nullopt, diagnostics));
  }
}

/// Files for people, and files whose content is in others.
bool is_for_people(const std::string& name) {
  return name == "details.csv" || name == "timings.csv" || name == collective_bus_file ||
         name == SampleJournal::file_name;
}

}  // namespace

bool is_sample_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) && fs::exists(fs::path{path} / manifest_name, error);
}

SampleSet read_sample_folder(const std::string& folder) {
  SampleSet set;
  set.folder = folder;
  if (!is_sample_folder(folder)) {
    throw ConfigError{quoted(folder) + " holds no samples (no manifest.toml); make them with 'headroom calibrate -o " +
                      folder + "'"};
  }
  const std::string path = (fs::path{folder} / manifest_name).string();
  set.manifest = read_manifest(read_file(path).text, path);
  if (set.manifest.files.empty()) {
    throw ConfigError{path + ": the measurement has not ended; go on with 'headroom calibrate -o " + folder +
                      " --resume'"};
  }
  Diagnostics diagnostics;
  for (const std::string& name : set.manifest.files) {
    if (is_for_people(name)) {
      continue;
    }
    const std::string file = (fs::path{folder} / name).string();
    std::error_code error;
    if (!fs::exists(file, error)) {
      diagnostics.add(path, {}, "names " + quoted(name) + ", which is not beside it");
      continue;
    }
    const ConfigSource source = read_file(file);
    check_whole(source, diagnostics);
    read_file_of(name, source, set, diagnostics);
  }
  diagnostics.throw_if_any();
  return set;
}

SampleSet read_sample_folders(const std::vector<std::string>& folders) {
  SampleSet all = read_sample_folder(folders.front());
  for (std::size_t i = 1; i < folders.size(); ++i) {
    SampleSet more = read_sample_folder(folders[i]);
    const std::string different = differences(conditions_of(all.manifest), conditions_of(more.manifest));
    if (!different.empty()) {
      throw ConfigError{quoted(folders.front()) + " and " + quoted(folders[i]) +
                        " are not of one device under one set of conditions: " + different +
                        "; fit them apart, and compare them with 'headroom calibrate --compare " + folders.front() +
                        " " + folders[i] + "'"};
    }
    // A property unknown in the first folder is taken from the next that has it.
    if (all.manifest.device.cudnn.empty()) {
      all.manifest.device.cudnn = more.manifest.device.cudnn;
    }
    if (all.manifest.device.nccl.empty()) {
      all.manifest.device.nccl = more.manifest.device.nccl;
    }
    const auto add = [](auto& to, auto& from) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
    add(all.kernels, more.kernels);
    add(all.sustained, more.sustained);
    add(all.copies, more.copies);
    add(all.launches, more.launches);
    add(all.passes, more.passes);
    add(all.transfers, more.transfers);
    add(all.layers, more.layers);
    add(all.units, more.units);
  }
  return all;
}

std::vector<JournalEntry> read_sample_journal(const std::string& folder) {
  const std::string path = (fs::path{folder} / SampleJournal::file_name).string();
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw ConfigError{quoted(folder) + " has no " + std::string{SampleJournal::file_name} +
                      "; 'headroom calibrate' writes it, 'headroom probe' does not"};
  }
  Diagnostics diagnostics;
  std::size_t torn = 0;
  std::vector<JournalEntry> entries = read_journal(read_file(path).text, path, diagnostics, torn);
  diagnostics.throw_if_any();
  return entries;
}

}  // namespace headroom
