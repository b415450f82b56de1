// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

constexpr std::string_view any_stack = "any";

ServingErrors read_class(ConfigTable& table) {
  ServingErrors e;
  e.stack = table.text("stack");
  e.quantity = static_cast<ServingQuantity>(table.choice("quantity", serving_quantity_names));
  e.experts = table.boolean("experts");
  e.rows = table.integer("rows");
  e.sources = table.integer("sources");
  e.low = table.number("low", {0.01, 1.0});
  e.high = table.number("high", {1.0, 100.0});
  e.level = table.maybe_number("level", {0.0, 10.0}).value_or(0.0);
  e.median = table.number("median", {0.0, 10.0});
  e.left_out_median = table.maybe_number("left_out_median", {0.0, 10.0}).value_or(0.0);
  table.finish();
  return e;
}

std::string percent(double factor) {
  return (factor < 1.0 ? "-" : "+") + format_number(100.0 * (factor < 1.0 ? 1.0 - factor : factor - 1.0), 2);
}

/// The quantity that a queue's rests on.
constexpr ServingQuantity out_of_queue(ServingQuantity quantity) noexcept {
  switch (quantity) {
    case ServingQuantity::queue_ttft: return ServingQuantity::ttft;
    case ServingQuantity::queue_tpot: return ServingQuantity::tpot;
    case ServingQuantity::queue_rate: return ServingQuantity::rate;
    default: return quantity;
  }
}

/// Widens errors to include those between `low` and `high`; the class's own are kept for its text.
void widen(ServingErrors& errors, double low, double high) {
  if (errors.class_high <= 0.0) {
    errors.class_low = errors.low;
    errors.class_high = errors.high;
  }
  errors.low = std::min(errors.low, low);
  errors.high = std::max(errors.high, high);
}
/// The same of rates, whose inverse bounds are those of times.
void widen_by_rates(ServingErrors& errors, double low, double high) {
  const bool rate = out_of_queue(errors.quantity) == ServingQuantity::rate;
  widen(errors, rate ? low : 1.0 / high, rate ? high : 1.0 / low);
}

}  // namespace

std::string ServingErrors::text() const {
  constexpr std::array<std::string_view, 6> plural{"TTFTs",           "TPOTs",           "rates",
                                                   "TTFTs of queues", "TPOTs of queues", "rates of queues"};
  return "80 % of " + std::to_string(rows) + " measured " + std::string{plural[static_cast<std::size_t>(quantity)]} +
         (experts ? " of models with experts" : " of dense models") + (stack == any_stack ? "" : " by " + stack) +
         " lie within " + percent(widened.empty() ? low : class_low) + " to " +
         percent(widened.empty() ? high : class_high) + " % of what the model says" + widened;
}

const ServingErrors& ServingConfidence::of(std::string_view stack, ServingQuantity quantity, bool experts) const {
  const auto find = [&](std::string_view name) {
    return std::find_if(classes_.begin(), classes_.end(), [&](const ServingErrors& e) {
      return e.stack == name && e.quantity == quantity && e.experts == experts;
    });
  };
  const auto own = find(stack);
  return own != classes_.end() ? *own : *find(any_stack);
}

ServingErrors ServingConfidence::of(std::string_view stack,
                                    ServingQuantity quantity,
                                    bool experts,
                                    std::string_view sku,
                                    std::string_view weights) const {
  const auto width = [](const std::vector<WidthFactor>& all, std::string_view id) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const WidthFactor& f) { return f.id == id; });
    return found != all.end() ? found->width : 1.0;
  };
  ServingErrors errors = of(stack, quantity, experts);
  const double factor = width(skus_, sku) * width(formats_, weights);
  if (factor != 1.0) {
    errors.class_low = errors.low;
    errors.class_high = errors.high;
    errors.low = std::pow(errors.low, factor);
    errors.high = std::pow(errors.high, factor);
    errors.widened = ", " + std::string{factor > 1.0 ? "wider" : "narrower"} + " on " + std::string{sku} + " in " +
                     std::string{weights} + ": " + percent(errors.low) + " to " + percent(errors.high) + " %";
  }
  return errors;
}

ServingErrors beside_reach(ServingErrors errors, const QueueReach& reach) {
  errors.low = std::exp(-std::hypot(std::log(errors.low), std::log(reach.low)));
  errors.high = std::exp(std::hypot(std::log(errors.high), std::log(reach.high)));
  return errors;
}

ServingConfidence read_serving_confidence(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  std::vector<ServingErrors> classes;
  for (ConfigTable& table : root.tables("class")) {
    classes.push_back(read_class(table));
  }
  for (std::size_t i = 0; i < serving_quantity_names.size(); ++i) {
    const auto quantity = static_cast<ServingQuantity>(i);
    for (const bool experts : {false, true}) {
      const bool there = std::any_of(classes.begin(), classes.end(), [&](const ServingErrors& e) {
        return e.stack == any_stack && e.quantity == quantity && e.experts == experts;
      });
      if (!there) {
        root.problem("class", "there is none of stack \"any\" for " +
                                  std::string{serving_quantity_names[static_cast<std::size_t>(quantity)]} +
                                  (experts ? " with experts" : " without experts"));
      }
    }
  }
  const auto factors = [&](std::string_view key) {
    std::vector<WidthFactor> all;
    for (ConfigTable& table : root.tables(key)) {
      all.push_back({table.text("id"), table.number("width", {0.1, 10.0}), table.integer("rows")});
      table.finish();
    }
    return all;
  };
  std::vector<WidthFactor> skus = factors("sku");
  std::vector<WidthFactor> formats = factors("format");
  root.finish();
  return ServingConfidence{std::move(classes), std::move(skus), std::move(formats)};
}

const ServingConfidence& serving_confidence(const ModelData& data) {
  return step_numbers(data, "serve-confidence", read_serving_confidence);
}

WideExpertErrors read_wide_expert_errors(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  WideExpertErrors e;
  const auto read = [](ConfigTable& table, WidePools& pools) {
    pools.pools = table.integer("pools");
    pools.sources = table.integer("sources");
    pools.low = table.number("low", {0.01, 1.0});
    pools.high = table.number("high", {1.0, 100.0});
  };
  read(root, e);
  ConfigTable launched = root.table("launched");
  read(launched, e.launched);
  launched.finish();
  e.source = root.text("source");
  root.finish();
  return e;
}

const WideExpertErrors& wide_expert_errors(const ModelData& data) {
  return step_numbers(data, "serve-wide-experts", read_wide_expert_errors);
}

ServingErrors over_nics(ServingErrors errors, const WidePools& wide) {
  widen_by_rates(errors, wide.low, wide.high);
  errors.widened += ", none with experts that tokens meet over NICs; " + std::to_string(wide.pools) +
                    " published pools of such, of " + std::to_string(wide.sources) +
                    " sources, widen the interval to " + percent(errors.low) + " to " + percent(errors.high) + " %";
  return errors;
}

ServingErrors of_assumed_drafts(ServingErrors errors, double low, double high) {
  if (out_of_queue(errors.quantity) == ServingQuantity::ttft) {
    return errors;
  }
  const bool rate = out_of_queue(errors.quantity) == ServingQuantity::rate;
  // Errors of the model and of what drafts are worth are independent: their logarithms add up in squares.
  const auto both = [](double one, double other) { return std::hypot(std::log(one), std::log(other)); };
  const double lower = std::exp(-both(errors.low, rate ? low : 1.0 / high));
  const double upper = std::exp(both(errors.high, rate ? high : 1.0 / low));
  widen(errors, lower, upper);
  errors.widened += "; the acceptance of drafts, which nobody stated, widens the interval to " + percent(errors.low) +
                    " to " + percent(errors.high) + " %";
  return errors;
}

bool UnmeasuredErrors::holds(const Device& device) const {
  return device.curves != device.id && std::find(own_runs.begin(), own_runs.end(), device.id) == own_runs.end();
}

UnmeasuredErrors read_unmeasured_errors(const ConfigValue& document, Diagnostics& diagnostics) {
  constexpr Range<double> below{0.01, 1.0};
  constexpr Range<double> above{1.0, 100.0};
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  UnmeasuredErrors e;
  e.own_runs = root.texts("own_runs");
  e.vendor = root.text("vendor");
  e.source = root.text("source");
  for (ConfigTable& table : root.tables("class")) {
    UnmeasuredErrors::Class& c = e.classes.emplace_back();
    c.quantity = static_cast<ServingQuantity>(table.choice("quantity", serving_quantity_names));
    c.experts = table.boolean("experts");
    c.rows = table.integer("rows");
    c.skus = table.integer("skus");
    c.low = table.number("low", below);
    c.high = table.number("high", above);
    table.finish();
  }
  for (const ServingQuantity quantity : {ServingQuantity::ttft, ServingQuantity::tpot, ServingQuantity::rate}) {
    for (const bool experts : {false, true}) {
      const bool there = std::any_of(e.classes.begin(), e.classes.end(), [&](const UnmeasuredErrors::Class& c) {
        return c.quantity == quantity && c.experts == experts;
      });
      if (!there) {
        root.problem("class", "there is none for " +
                                  std::string{serving_quantity_names[static_cast<std::size_t>(quantity)]} +
                                  (experts ? " with experts" : " without experts"));
      }
    }
  }
  ConfigTable others = root.table("other_vendors");
  e.others.rows = others.integer("rows");
  e.others.skus = others.text("skus");
  e.others.low = others.number("low", below);
  e.others.high = others.number("high", above);
  e.others.source = others.text("source");
  others.finish();
  root.finish();
  return e;
}

const UnmeasuredErrors& unmeasured_errors(const ModelData& data) {
  return step_numbers(data, "serve-unmeasured", read_unmeasured_errors);
}

ServingErrors of_unmeasured(ServingErrors errors, const Device& device, const UnmeasuredErrors& unmeasured) {
  if (!unmeasured.holds(device)) {
    return errors;
  }
  const auto found =
      std::find_if(unmeasured.classes.begin(), unmeasured.classes.end(), [&](const UnmeasuredErrors::Class& c) {
        return c.quantity == out_of_queue(errors.quantity) && c.experts == errors.experts;
      });
  widen(errors, found->low, found->high);
  std::string why = "; nobody measured kernels of " + device.id + ": " + std::to_string(found->rows) + " runs of " +
                    std::to_string(found->skus) + " SKUs told from other generations' kernels";
  if (device.vendor != unmeasured.vendor) {
    widen_by_rates(errors, unmeasured.others.low, unmeasured.others.high);
    why += " and " + std::to_string(unmeasured.others.rows) + " published rates of " + unmeasured.others.skus;
  }
  errors.widened += why + " widen it to " + percent(errors.low) + " to " + percent(errors.high) + " %";
  return errors;
}

}  // namespace headroom
