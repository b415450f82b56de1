// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/fit_priors.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <array>
#include <optional>

namespace headroom {
void read_priors(ConfigTable& tables,
                 const std::string& prefix,
                 bool scaled,
                 const std::function<PriorAmount(std::string_view key)>& amount_of,
                 FitPriors& priors) {
  for (const std::string_view key : tables.keys()) {
    std::optional<ConfigTable> table = tables.maybe_table(key);
    if (!table) {
      continue;
    }
    constexpr std::array<std::string_view, 2> scales{"logarithm", "linear"};
    const PriorAmount amount = amount_of(key);
    FitPrior prior;
    prior.linear = scaled && table->maybe_choice("scale", scales).value_or(0) == 1;
    prior.centre = amount(*table, "centre");
    prior.low = amount(*table, "low");
    prior.high = amount(*table, "high");
    prior.width = table->number("width", {0.001, 10.0});
    prior.child = table->maybe_number("child", {0.001, 10.0}).value_or(prior.width);
    static_cast<void>(table->text("source"));
    if (prior.low > prior.centre || prior.centre > prior.high || (!prior.linear && prior.low <= 0.0)) {
      table->problem("centre", "lies outside low and high, or low is no positive number");
    }
    table->finish();
    priors[prefix + std::string{key}] = prior;
  }
  tables.finish();
}

FitPriors priors_in(const ModelData& data,
                    const std::string& file,
                    const std::function<void(ConfigTable& root, FitPriors& priors)>& read) {
  return read_document(step_document(data, file), [&](const ConfigValue& document, Diagnostics& diagnostics) {
    ConfigTable root{document, "", diagnostics};
    require_schema(root);
    static_cast<void>(root.text("id"));
    FitPriors priors;
    read(root, priors);
    root.finish();
    return priors;
  });
}

const FitPriors& step_priors(const ModelData& data) {
  return data.once("step priors", [&] {
    return priors_in(data, "priors", [](ConfigTable& root, FitPriors& priors) {
      for (const std::string_view group : {"physics", "level", "stack"}) {
        ConfigTable tables = root.table(group);
        const auto amount_of = [&](std::string_view key) -> PriorAmount {
          const bool time = group != "level" && is_step_time(key);
          return [time](ConfigTable& table, std::string_view name) {
            return time ? table.quantity<Seconds>(name, true).raw() : table.number(name, {0.0, 1e6});
          };
        };
        read_priors(tables, std::string{group} + ".", true, amount_of, priors);
      }
    });
  });
}

}  // namespace headroom
