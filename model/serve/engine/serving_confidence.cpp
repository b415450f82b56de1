// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
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
  e.median = table.number("median", {0.0, 10.0});
  e.left_out_median = table.maybe_number("left_out_median", {0.0, 10.0}).value_or(0.0);
  table.finish();
  return e;
}

std::string percent(double factor) {
  return (factor < 1.0 ? "-" : "+") + format_number(100.0 * (factor < 1.0 ? 1.0 - factor : factor - 1.0), 2);
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
  root.finish();
  return ServingConfidence{std::move(classes)};
}

const ServingConfidence& serving_confidence(const ModelData& data) {
  return step_numbers(data, "serve-confidence", read_serving_confidence);
}

WideExpertErrors read_wide_expert_errors(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  WideExpertErrors e;
  e.pools = root.integer("pools");
  e.sources = root.integer("sources");
  e.low = root.number("low", {0.01, 1.0});
  e.high = root.number("high", {1.0, 100.0});
  e.source = root.text("source");
  root.finish();
  return e;
}

const WideExpertErrors& wide_expert_errors(const ModelData& data) {
  return step_numbers(data, "serve-wide-experts", read_wide_expert_errors);
}

ServingErrors over_nics(ServingErrors errors, const WideExpertErrors& wide) {
  const bool rate = errors.quantity == ServingQuantity::rate || errors.quantity == ServingQuantity::queue_rate;
  const double low = rate ? wide.low : 1.0 / wide.high;
  const double high = rate ? wide.high : 1.0 / wide.low;
  errors.class_low = errors.low;
  errors.class_high = errors.high;
  errors.low = std::min(errors.low, low);
  errors.high = std::max(errors.high, high);
  errors.widened = ", none with experts that tokens meet over NICs; " + std::to_string(wide.pools) +
                   " published pools of such, of " + std::to_string(wide.sources) + " sources, widen the interval to " +
                   percent(errors.low) + " to " + percent(errors.high) + " %";
  return errors;
}

}  // namespace headroom
