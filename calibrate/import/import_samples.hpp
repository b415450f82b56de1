// SPDX-License-Identifier: Apache-2.0
// Converts results of other benchmarks into samples. `text` is a whole file; `file` is its name for messages.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class SampleForm : std::uint8_t { nccl_tests, rccl_tests, nvbandwidth, mixbench, nvidia_smi, count };
inline constexpr std::array<std::string_view, 5> sample_form_names{"nccl-tests", "rccl-tests", "nvbandwidth",
                                                                   "mixbench", "nvidia-smi"};

struct ImportedSamples {
  std::string text;                  ///< CSV; TOML for nvidia-smi
  std::vector<std::string> remarks;  ///< what was left out
};

/// Logs of nccl-tests and rccl-tests as nccl_version,op,gpus,dtype,bytes,latency_us, with out-of-place times and the
/// bytes of the column "size". The op comes from the log ("Collective test starting"), else from the file's name
/// (all_reduce, ...). Throws ConfigError: no such table, a truncated table, wrong results (#wrong), an impossible time
/// or size, no op or number of ranks.
[[nodiscard]] ImportedSamples import_collective_log(std::string_view text, const std::string& file);

/// `nvbandwidth -j` as test,row,column,gb_per_s, one row per cell of a matrix. Throws ConfigError: other JSON, a test
/// that neither passed nor was waived, a bandwidth that is not a number.
[[nodiscard]] ImportedSamples import_nvbandwidth(std::string_view text, const std::string& file);

/// The CSV part of mixbench's output as type,flop_per_byte,time_ms,gflop_per_s,gb_per_s. Throws ConfigError: no such
/// part, a cell that is not a measurement.
[[nodiscard]] ImportedSamples import_mixbench(std::string_view text, const std::string& file);

/// `nvidia-smi -q -x` as TOML: for every GPU the fields of a manifest. "N/A" and similar are left out. Throws
/// ConfigError: other or broken XML, a number beyond any GPU's.
[[nodiscard]] ImportedSamples import_nvidia_smi(std::string_view text, const std::string& file);

/// Calls the importer of a form.
[[nodiscard]] ImportedSamples import_samples(SampleForm form, std::string_view text, const std::string& file);

}  // namespace headroom
