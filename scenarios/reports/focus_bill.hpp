// SPDX-License-Identifier: Apache-2.0
// Bills by FOCUS, the FinOps Open Cost and Usage Specification: one as prices of the user's own, and a plan's as rows.
// Columns: FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec @ 04f8bb3, specification/columns (1.2).
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/launch/launch.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct Bill;
struct Money;

struct FocusRequest {
  std::string id = "own-bill";         ///< of the price list
  std::vector<std::string> instances;  ///< "p5.48xlarge=h100-sxm-80gb:8": what a type, SKU or resource holds
};
struct ImportedPrices {
  std::string toml;                  ///< a price list, as catalog/prices holds them
  std::vector<std::string> remarks;  ///< what was left out
};

/// Dollars per GPU-hour that the rows of a bill were really charged (EffectiveCost, so that commitments are spread), by
/// SKU, market and class of regions: usage by the hour of instances that hold GPUs. What an instance holds says the
/// request, a node type of the catalog with that alias, or the SKU itself. Throws ConfigError with every problem: a
/// column missing, another currency than USD, a number that is none, an instance of the request that is none, and no
/// row of a GPU.
[[nodiscard]] ImportedPrices import_focus_bill(const ConfigSource& bill,
                                               const FocusRequest& request,
                                               const Catalog& catalog);

/// What a plan is charged for.
struct BilledUse {
  std::string name;  ///< of the plan
  std::string gpu;   ///< id of its SKU
  double gpus = 0.0;
  double hours = 0.0;  ///< for which they are held
  std::string start;   ///< first day of the charge, "2026-12-01"
};
/// The plan's bill as rows of FOCUS 1.2 (CSV): GPU hours by their price, then every other item. Throws ConfigError
/// without a price, and for a day that is none.
[[nodiscard]] ExportedLaunch focus_rows(const BilledUse& use, const Money& money, const Bill& bill);

}  // namespace headroom
