// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>
#include <headroom/core/date.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/money/bill.hpp>
#include <headroom/scenarios/reports/focus_bill.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

namespace headroom {
namespace {

constexpr double seconds_per_hour = 3600.0;

/// Columns of FOCUS 1.2 that a plan fills: all mandatory ones, and those that say its price.
constexpr std::array<std::string_view, 35> focus_columns{"BilledCost",
                                                         "BillingAccountId",
                                                         "BillingAccountName",
                                                         "BillingCurrency",
                                                         "BillingPeriodEnd",
                                                         "BillingPeriodStart",
                                                         "ChargeCategory",
                                                         "ChargeClass",
                                                         "ChargeDescription",
                                                         "ChargeFrequency",
                                                         "ChargePeriodEnd",
                                                         "ChargePeriodStart",
                                                         "ConsumedQuantity",
                                                         "ConsumedUnit",
                                                         "ContractedCost",
                                                         "ContractedUnitPrice",
                                                         "EffectiveCost",
                                                         "InvoiceIssuerName",
                                                         "ListCost",
                                                         "ListUnitPrice",
                                                         "PricingCategory",
                                                         "PricingQuantity",
                                                         "PricingUnit",
                                                         "ProviderName",
                                                         "PublisherName",
                                                         "RegionId",
                                                         "ResourceId",
                                                         "ResourceName",
                                                         "ResourceType",
                                                         "ServiceCategory",
                                                         "ServiceName",
                                                         "SkuId",
                                                         "SkuPriceDetails",
                                                         "SkuPriceId",
                                                         "Tags"};

using Cells = std::array<std::string, focus_columns.size()>;

std::string& cell_of(Cells& cells, std::string_view column) {
  std::size_t i = 0;
  while (focus_columns[i] != column) {
    ++i;
  }
  return cells[i];
}

/// Two digits.
std::string two(std::int64_t value) {
  return (value < 10 ? "0" : "") + std::to_string(value);
}

/// A moment as FOCUS writes it (ISO 8601 in UTC): "2026-12-01T00:00:00Z".
std::string moment(std::chrono::sys_days start, double hours) {
  constexpr double most_hours = 8.76e5;  // a century
  const auto whole = std::chrono::seconds{std::llround(std::min(hours, most_hours) * seconds_per_hour)};
  const std::chrono::sys_seconds at = start + whole;
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::hh_mm_ss clock{at - day};
  return format_date(day) + "T" + two(clock.hours().count()) + ":" + two(clock.minutes().count()) + ":" +
         two(clock.seconds().count()) + "Z";
}

std::string_view category_of(PaidAs how) noexcept {
  return how == PaidAs::spot       ? "Dynamic"
         : how == PaidAs::reserved ? "Committed"
         : how == PaidAs::owned    ? "Other"
                                   : "Standard";
}

std::string decimal(double value) {
  return general_text(value, 12);
}

std::string line_of(const Cells& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i == 0 ? "" : ",") + csv_field(cells[i]);
  }
  return line + "\n";
}

/// What every row of the plan says.
Cells row_of(const BilledUse& use, const Money& money, std::chrono::sys_days start) {
  Cells cells;
  const std::string provider = money.name.empty() ? std::string{"own quote"} : shown(money.name);
  const std::string begin = moment(start, 0.0);
  const std::string end = moment(start, use.hours);
  cell_of(cells, "BillingAccountId") = "plan";
  cell_of(cells, "BillingAccountName") = shown(use.name);
  cell_of(cells, "BillingCurrency") = "USD";
  cell_of(cells, "BillingPeriodStart") = cell_of(cells, "ChargePeriodStart") = begin;
  cell_of(cells, "BillingPeriodEnd") = cell_of(cells, "ChargePeriodEnd") = end;
  cell_of(cells, "ChargeCategory") = "Usage";
  cell_of(cells, "ChargeFrequency") = "Usage-Based";
  cell_of(cells, "InvoiceIssuerName") = cell_of(cells, "ProviderName") = cell_of(cells, "PublisherName") = provider;
  cell_of(cells, "PricingCategory") = category_of(money.market);
  cell_of(cells, "RegionId") = money.region == "any" ? "" : money.region;
  cell_of(cells, "ServiceCategory") = "Compute";
  cell_of(cells, "Tags") = "{\"predicted\": true}";
  return cells;
}

void set_costs(Cells& cells, double cost) {
  for (const std::string_view column : {"BilledCost", "EffectiveCost", "ContractedCost", "ListCost"}) {
    cell_of(cells, column) = decimal(cost);
  }
}

}  // namespace

ExportedLaunch focus_rows(const BilledUse& use, const Money& money, const Bill& bill) {
  const std::optional<std::chrono::sys_days> start = parse_date(use.start);
  if (!start) {
    throw ConfigError{"--start is " + quoted(use.start) +
                      "; it must be the first day of the charge, e.g. --start 2026-12-01"};
  }
  if (!date_after(*start, use.hours / 24.0)) {
    throw ConfigError{"--start is " + quoted(use.start) + ", and the charge ends after the year 9999"};
  }
  if (!money.price) {
    throw ConfigError{
        "the plan has no price of a GPU-hour, so that nothing is billed; state one with --price '2.10 $/h' or "
        "--prices LIST"};
  }
  std::string text;
  for (const std::string_view column : focus_columns) {
    text += (text.empty() ? "" : ",") + std::string{column};
  }
  text += "\n";
  const double hourly = money.price->raw() * seconds_per_hour;
  const double gpu_hours = use.gpus * use.hours;
  Cells gpus = row_of(use, money, *start);
  set_costs(gpus, hourly * gpu_hours);
  cell_of(gpus, "ChargeDescription") =
      decimal(use.gpus) + " " + use.gpu + " for " + decimal(use.hours) + " h, predicted";
  cell_of(gpus, "ConsumedQuantity") = cell_of(gpus, "PricingQuantity") = decimal(gpu_hours);
  cell_of(gpus, "ConsumedUnit") = cell_of(gpus, "PricingUnit") = "GPU-Hours";
  cell_of(gpus, "ContractedUnitPrice") = cell_of(gpus, "ListUnitPrice") = decimal(hourly);
  cell_of(gpus, "ResourceId") = cell_of(gpus, "ResourceName") = use.gpu;
  cell_of(gpus, "ResourceType") = "GPU";
  cell_of(gpus, "ServiceName") = "GPUs";
  cell_of(gpus, "SkuId") = cell_of(gpus, "SkuPriceId") = use.gpu;
  cell_of(gpus, "SkuPriceDetails") = "{\"InstanceType\": \"" + use.gpu + "\", \"GpuCount\": 1}";
  text += line_of(gpus);
  for (const BillItem& item : bill.items) {
    if (item.item.starts_with("gpus")) {  // in the row above
      continue;
    }
    Cells cells = row_of(use, money, *start);
    const double cost = item.cost.mid.raw();
    set_costs(cells, cost);
    cell_of(cells, "ChargeDescription") = item.item + ", predicted";
    cell_of(cells, "ConsumedQuantity") = cell_of(cells, "PricingQuantity") = "1";
    cell_of(cells, "ConsumedUnit") = cell_of(cells, "PricingUnit") = "Plans";
    cell_of(cells, "ContractedUnitPrice") = cell_of(cells, "ListUnitPrice") = decimal(cost);
    cell_of(cells, "PricingCategory") = "Standard";
    cell_of(cells, "ServiceName") = item.item;
    cell_of(cells, "ServiceCategory") = item.item.find("storage") != std::string::npos  ? "Storage"
                                        : item.item.find("egress") != std::string::npos ? "Networking"
                                                                                        : "Other";
    cell_of(cells, "SkuId") = cell_of(cells, "SkuPriceId") = item.item;
    text += line_of(cells);
  }
  return {
      std::move(text),
      {{"confidence", "the interval of the cost (a bill holds one number of each item; those here are the middles)"},
       {"money",
        "account, invoice and provider (no plan has them: the account is 'plan', the provider the price's name)"}},
      false};
}

}  // namespace headroom
