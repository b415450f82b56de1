// SPDX-License-Identifier: Apache-2.0
// Writes docs/accuracy.md and docs/accuracy-published.md from a validation: errors of training time, memory and serving
// next to baselines, bars and other predictors, the fitted parameters, and the worst rows. All figures are computed.
#pragma once

#include <headroom/scenarios/validation/accuracy_reference.hpp>
#include <headroom/scenarios/validation/validation.hpp>
#include <headroom/scenarios/validation/worst_rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Owner of a fitted parameter, and the most parameters that an owner may have.
enum class ParameterScope : std::uint8_t { global, stack, sku };
inline constexpr std::array<std::string_view, 3> parameter_scope_names{"global", "stack", "SKU"};
inline constexpr std::array<std::size_t, 3> parameter_budget{15, 7, 3};

struct ParameterRow {
  ParameterScope scope = ParameterScope::global;
  std::string owner;  ///< stack or SKU; "all" for global parameters
  std::string name;
  std::string value;      ///< value with its unit
  std::string fitted_on;  ///< rows and sources of the fit: "2,646 rows of 33 sources"
};

/// Input of the page. Tables without input are left out.
struct AccuracyInputs {
  Validation validation;  ///< scored with accuracy_reference().groups()
  /// Predictions of validation.rows, in the row's unit, by fits that left out the row's source; NaN without one.
  std::vector<double> left_out;
  /// ScoredRow::told of validation.rows; empty: as without any.
  std::vector<std::array<double, 2>> told;
  std::vector<ParameterRow> parameters;
  std::vector<WorstRow> worst;  ///< worst rows among validation.rows
  std::string command;          ///< command that writes the page
  bool shipped = false;         ///< the rows are those that ship, which have bars of their own
};

/// Number of worst rows on the page.
inline constexpr std::size_t shown_worst_rows = 10;

[[nodiscard]] std::string accuracy_page(const AccuracyInputs& inputs,
                                        const AccuracyReference& reference = accuracy_reference());

}  // namespace headroom
