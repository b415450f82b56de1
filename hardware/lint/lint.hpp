// SPDX-License-Identifier: Apache-2.0
// Physics checks on catalog entries, which find typical errors of datasheet cells.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct LintFinding {
  std::string check;
  Diagnostic place;
  std::string excused;  ///< reason of the entry's lint_exception; empty: the check failed
};

struct LintCheck {
  std::string_view name;
  std::string_view rule;  ///< one sentence for `headroom catalog lint --help` and the manual
};
/// All checks, in the order they run.
[[nodiscard]] std::span<const LintCheck> lint_checks() noexcept;

[[nodiscard]] std::vector<LintFinding> lint_device(const Device& device);
[[nodiscard]] std::vector<LintFinding> lint_node(const Node& node, const Catalog& catalog);
[[nodiscard]] std::vector<LintFinding> lint_cluster(const Cluster& cluster, const Catalog& catalog);
[[nodiscard]] std::vector<LintFinding> lint_architecture(const UnitLimits& unit, const Catalog& catalog);
[[nodiscard]] std::vector<LintFinding> lint_prices(const PriceList& prices, const Catalog& catalog);
/// Findings on every entry of the catalog, including entries that do not parse (check "readable").
[[nodiscard]] std::vector<LintFinding> lint_catalog(const Catalog& catalog);

}  // namespace headroom
