// SPDX-License-Identifier: Apache-2.0
// What a run costs item by item, what other ways to pay would cost, and where they break even.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct BillItem {
  std::string item;
  Interval<Dollars> cost;
  std::string source, date;  ///< date is empty for a price typed on the command line
};

/// The point at which two ways to pay cost the same: hours of use, share of hours, or load.
struct BreakEven {
  double value = 0.0;
  std::string unit;  ///< unit of `value`: "s" (of use), "1" (a share) or "tokens/s"
  std::string text;  ///< sentence for print, with the number
};

/// Another way to pay for the same work, compared with the user's own.
struct Alternative {
  GpuPrice price;                         ///< for an API: its name and date, no price per GPU
  std::optional<Interval<Dollars>> cost;  ///< dollars of GPU time for the run; absent without a run
  std::optional<Dollars> per_million;     ///< dollars per million output tokens (APIs and serving)
  std::optional<BreakEven> break_even;
};

struct Bill {
  std::vector<BillItem> items;
  Interval<Dollars> total;
  std::vector<Alternative> alternatives;
  /// Whether the bill has items other than GPU hours.
  [[nodiscard]] bool several() const noexcept { return items.size() > 1; }
};

/// Bill of a run that holds `gpus` GPUs for `calendar` (> 0). With `calendar` zero only the alternatives are filled.
[[nodiscard]] Bill bill_of(const Money& money, double gpus, const Interval<Seconds>& calendar);

/// A served load whose cost is compared with an API's.
struct ServedLoad {
  double gpus = 1.0;
  double isl = 1.0, osl = 1.0;       ///< input and output tokens per request
  double output_tokens_per_s = 0.0;  ///< output rate that the `gpus` GPUs sustain together
};
/// Alternatives for a served load, in dollars per million output tokens. An API's break-even is the load above which
/// the user's own machine, paid whether busy or idle, costs less.
[[nodiscard]] Bill serving_bill(const Money& money, const ServedLoad& load);

}  // namespace headroom
