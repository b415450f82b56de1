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
  std::string source, date;  ///< date: empty when typed on the command line
};

/// The load, the use or the share of hours at which two ways to pay cost the same.
struct BreakEven {
  double value = 0.0;
  std::string unit;  ///< "s" of use, "1" a share, "tokens/s"
  std::string text;  ///< one sentence, with the number
};

/// Another way to pay for the same work.
struct Alternative {
  GpuPrice price;                         ///< of an API without a price per GPU
  std::optional<Interval<Dollars>> cost;  ///< of the run, GPUs alone
  std::optional<Dollars> per_million;     ///< output tokens, of an API and of serving
  std::optional<BreakEven> break_even;
};

struct Bill {
  std::vector<BillItem> items;
  Interval<Dollars> total;
  std::vector<Alternative> alternatives;
  /// Whether there is more to pay than GPUs by the hour.
  [[nodiscard]] bool several() const noexcept { return items.size() > 1; }
};

/// Of a run on `gpus` GPUs held for `calendar`; without a run (`calendar` zero) the alternatives alone.
[[nodiscard]] Bill bill_of(const Money& money, double gpus, const Interval<Seconds>& calendar);

/// What a served load is held against an API with.
struct ServedLoad {
  double gpus = 1.0;
  double isl = 1.0, osl = 1.0;       ///< tokens of a request
  double output_tokens_per_s = 0.0;  ///< that the machine reaches
};
/// The alternatives of a served load per million output tokens; an API's break-even is the load from which one's own
/// machine, paid whether busy or idle, costs less.
[[nodiscard]] Bill serving_bill(const Money& money, const ServedLoad& load);

}  // namespace headroom
