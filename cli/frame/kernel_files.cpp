// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/frame/kernel_files.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>

namespace headroom::cli {

std::vector<KernelFile> read_kernel_files(const std::vector<std::string>& paths, std::optional<KernelKind> kind) {
  Diagnostics diagnostics;
  std::vector<KernelFile> files;
  for (const std::string& path : paths) {
    try {
      InputFile stream{path};
      files.push_back(read_kernel_rows(stream, path, kind, diagnostics));
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  }
  diagnostics.throw_if_any();
  return files;
}

std::string too_fast_text(const std::vector<TooFast>& kernels) {
  if (kernels.empty()) {
    return {};
  }
  constexpr std::size_t shown = 5;
  std::string text = "\n" + std::to_string(kernels.size()) + " kernels are faster than the datasheet allows\n";
  Table table{{"kernel", "engine", "format", "measured us", "least us"}};
  for (std::size_t i = 0; i < std::min(shown, kernels.size()); ++i) {
    const TooFast& k = kernels[i];
    table.row({k.id, k.engine, k.format, format_number(k.measured_us, 4), format_number(k.roofline_us, 4)});
  }
  return text + table.text(0);
}

}  // namespace headroom::cli
