// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/measured/row_cells.hpp>

namespace headroom {

RowPrediction unsupported(std::string why) {
  RowPrediction prediction;
  prediction.why = std::move(why);
  return prediction;
}

RowPrediction unsupported(const ConfigError& error) {
  return unsupported(error.diagnostics().empty() ? error.what() : error.diagnostics().front().message);
}

RowPrediction rejected(std::string why) {
  RowPrediction prediction = unsupported(std::move(why));
  prediction.status = RowStatus::rejected;
  return prediction;
}

std::string blank_cells(std::initializer_list<NeededCell> cells) {
  std::string blank;
  for (const NeededCell& cell : cells) {
    blank += cell.there ? "" : (blank.empty() ? "" : ", ") + std::string{cell.name};
  }
  return blank;
}

std::string impossible_size(std::initializer_list<SizeCell> cells) {
  for (const SizeCell& cell : cells) {
    if (cell.value && (*cell.value < 1 || *cell.value > cell.high)) {
      return "'" + std::string{cell.name} + "' is " + std::to_string(*cell.value) + ", no size";
    }
  }
  return {};
}

const RowDevices::Answer& RowDevices::find(const std::string& spelling) {
  auto [at, fresh] = answers_.try_emplace(spelling);
  if (fresh) {
    if (const auto why = catalog_.why_no_device(spelling)) {
      at->second.why = *why;
    } else {
      at->second.device = &catalog_.device(spelling);
    }
  }
  return at->second;
}

}  // namespace headroom
