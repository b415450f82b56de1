// SPDX-License-Identifier: Apache-2.0
// Kinds of files that a run leaves, told apart by their content. Which there are is what the files of this folder
// define: `const EvidenceForm evidence_forms::NAME{`.
#pragma once

#include <headroom/calibrate/evidence/evidence.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// The beginning of a file.
struct FileHead {
  const std::string& file;  ///< as it was named
  std::string_view text;    ///< unpacked where the file is gzip; at most 64 KiB
};

struct EvidenceForm {
  std::string_view name;     ///< "trace of PyTorch's profiler"
  std::string_view made_by;  ///< "torch.profiler: prof.export_chrome_trace('rank0.json.gz')"
  /// Whether a file is of this form. Forms are asked in the order of `order`, the lowest first, then of their names;
  /// the first that says so is meant.
  bool (*is)(const FileHead& head) noexcept;
  /// Adds what the file says. ConfigError with its place where it breaks off or contradicts itself.
  void (*read)(const std::string& file, Evidence& evidence);
  int order = 0;  ///< above 0 for forms that would take others' files as well
};

/// All forms, in the order in which they are asked.
[[nodiscard]] std::span<const EvidenceForm* const> evidence_form_list() noexcept;

/// Reads the files, each by the form that its content has. Every file that cannot be read or is of no known form is
/// told at once (ConfigError), with the forms there are.
[[nodiscard]] Evidence read_evidence(std::span<const std::string> files);

}  // namespace headroom
