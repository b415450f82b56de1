// SPDX-License-Identifier: Apache-2.0
// Results of other benchmarks in the forms of samples. Each takes a whole file; `file` is its name in messages.
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
  std::string text;                  ///< CSV, of nvidia-smi TOML
  std::vector<std::string> remarks;  ///< what was left out
};

/// Logs of nccl-tests and rccl-tests as nccl_version,op,gpus,dtype,bytes,latency_us: times out of place, bytes as their
/// column "size". The op is told by the log ("Collective test starting"), else by the file's name (all_reduce, ...).
/// ConfigError: not a table of theirs, a table that was cut, wrong results (#wrong), a time or a size that no machine
/// has, no op or number of ranks.
[[nodiscard]] ImportedSamples import_collective_log(std::string_view text, const std::string& file);

/// `nvbandwidth -j` as test,row,column,gb_per_s: one row a cell of a matrix. ConfigError: other JSON, a test that
/// neither passed nor was waived, a bandwidth that is no number.
[[nodiscard]] ImportedSamples import_nvbandwidth(std::string_view text, const std::string& file);

/// The CSV part of mixbench's output as type,flop_per_byte,time_ms,gflop_per_s,gb_per_s. ConfigError: no such part, a
/// cell that is no measurement.
[[nodiscard]] ImportedSamples import_mixbench(std::string_view text, const std::string& file);

/// `nvidia-smi -q -x` as TOML: of every GPU what a manifest tells of it. ConfigError: other or broken XML, a number
/// that is none or beyond any GPU's; "N/A" and its like are left out.
[[nodiscard]] ImportedSamples import_nvidia_smi(std::string_view text, const std::string& file);

/// The one of these that a form is.
[[nodiscard]] ImportedSamples import_samples(SampleForm form, std::string_view text, const std::string& file);

}  // namespace headroom
