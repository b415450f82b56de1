// SPDX-License-Identifier: Apache-2.0
// What training and serving rows share: predictions, blank and impossible cells, and the lookup of SKUs.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/regime.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

enum class RowStatus : std::uint8_t { ok, unsupported, rejected };
inline constexpr std::array<std::string_view, 3> row_status_names{"ok", "unsupported", "rejected"};

struct RowPrediction {
  RowStatus status = RowStatus::unsupported;
  std::string why;         ///< reason when not ok; empty when ok
  double predicted = 0.0;  ///< in the row's unit
  double low = 0.0;
  double high = 0.0;
  /// Prediction from the datasheet alone, in the row's unit: model FLOP at peak, or 16-byte states over tp x pp.
  double roofline = 0.0;
  /// Bound that no run can beat, in the row's unit: least time or highest rate (least_step.hpp). 0: no bound.
  double fastest = 0.0;
  std::string assumed{};               ///< what filled blank cells from a table of publications; empty: nothing
  std::optional<StepRegime> regime{};  ///< of a training row with a time or rate
  bool of_network = false;             ///< of a serving row: a call of a network that is no language model
  bool recurrent = false;              ///< of a training row: its network has recurrent layers
};

/// Answers for a row that we cannot predict, and for one whose cells cannot be true, with the reason.
[[nodiscard]] RowPrediction unsupported(std::string why);
[[nodiscard]] RowPrediction rejected(std::string why);
/// Where the model refuses a row's configuration: its first problem.
[[nodiscard]] RowPrediction unsupported(const ConfigError& error);

struct NeededCell {
  bool there = false;
  std::string_view name;
};
/// Names of the blank cells, for print: "gpu, tp".
[[nodiscard]] std::string blank_cells(std::initializer_list<NeededCell> cells);
/// Value of a cell that `blank_cells` did not list.
[[nodiscard]] constexpr std::int64_t filled(const std::optional<std::int64_t>& cell) noexcept {
  return cell.value_or(1);
}

struct SizeCell {
  std::string_view name;
  std::optional<std::int64_t> value;
  std::int64_t high = 0;
};
/// "'layers' is 0, no size": the first stated cell outside 1 to its highest value; empty when there is none.
[[nodiscard]] std::string impossible_size(std::initializer_list<SizeCell> cells);

/// A format of weights as the classes of errors spell it.
[[nodiscard]] constexpr std::string_view weights_named(std::string_view format) noexcept {
  return format == "fp4" ? "nvfp4" : format;
}

/// The SKUs that rows name, each looked up once.
class RowDevices {
 public:
  explicit RowDevices(const Catalog& catalog) : catalog_{catalog} {}
  struct Answer {
    const Device* device = nullptr;
    std::string why;  ///< reason when there is no device
  };
  [[nodiscard]] const Answer& find(const std::string& spelling);
  [[nodiscard]] std::size_t kept() const noexcept { return answers_.size(); }

 private:
  const Catalog& catalog_;
  std::map<std::string, Answer, std::less<>> answers_;
};

}  // namespace headroom
