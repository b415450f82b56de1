// SPDX-License-Identifier: Apache-2.0
// docs/accuracy.md from a validation: errors of training time, memory and serving beside baselines, bars and other
// predictors, what was fitted, and where the model is furthest off. Markdown; no figure is typed.
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

/// Whose number a fitted parameter is, and how many of them an owner may have.
enum class ParameterScope : std::uint8_t { global, stack, sku };
inline constexpr std::array<std::string_view, 3> parameter_scope_names{"global", "stack", "SKU"};
inline constexpr std::array<std::size_t, 3> parameter_budget{15, 7, 3};

struct ParameterRow {
  ParameterScope scope = ParameterScope::global;
  std::string owner;  ///< stack or SKU; "all" of global ones
  std::string name;
  std::string value;      ///< with its unit
  std::string fitted_on;  ///< "2,646 rows of 33 sources"
};

/// What the page shows. Tables whose input is empty are left out.
struct AccuracyInputs {
  Validation validation;  ///< scored with accuracy_reference().groups()
  /// Predictions of validation.rows by a fit that never saw their source, in the row's unit; NaN where there is none.
  std::vector<double> left_out;
  std::vector<ParameterRow> parameters;
  std::vector<WorstRow> worst;  ///< of validation.rows
  std::string command;          ///< that writes the page
};

/// The page's own ten worst rows: worst_rows() at the length that the page shows.
inline constexpr std::size_t shown_worst_rows = 10;

[[nodiscard]] std::string accuracy_page(const AccuracyInputs& inputs,
                                        const AccuracyReference& reference = accuracy_reference());

}  // namespace headroom
