// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/fleet/fleet_apart.hpp>
#include <headroom/scenarios/read/beside_reader.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

void erase(ConfigValue& table, std::string_view key) {
  table.entries.erase_if([&](const ConfigEntry& e) { return e.key == key; });
}

void put(ConfigValue& table, const std::string& key, const ConfigValue& value) {
  if (ConfigValue* there = table.find(key)) {
    *there = value;
  } else {
    table.entries.push_back({key, value});
  }
}

}  // namespace

ConfigValue apart_document(const ConfigValue& root, const ServeScenario& serve, std::size_t model) {
  ConfigValue one = root;
  ConfigValue& classes = *one.find("traffic")->find("class");
  std::vector<ConfigValue> its;
  for (std::size_t i = 0; i < classes.items.size(); ++i) {
    if (serve.traffic->classes[i].model != model) {
      continue;
    }
    ConfigValue item = std::move(classes.items[i]);
    if (const ConfigValue* named = model > 0 ? item.find("model") : nullptr) {
      put(one, "model", *named);
    }
    const std::optional<Precision> own =
        model > 0 ? own_weights(serve.beside[model - 1].architecture) : std::optional<Precision>{};
    for (const std::string key : {"weights", "kv_cache"}) {
      const ConfigValue* const stated = item.find(key);
      const bool checkpoint = stated == nullptr && own && key == "weights";
      if (stated != nullptr || checkpoint) {
        put(*one.find("serving"), key, stated != nullptr ? *stated : word_value(name_of(*own)));
        if (ConfigValue* search = one.find("search")) {
          erase(*search, key);  // of the models that follow [serving]
        }
      }
    }
    for (const std::string_view key : beside_keys) {
      erase(item, key);
    }
    its.push_back(std::move(item));
  }
  classes.items = std::move(its);
  return one;
}

void plan_apart(FleetPlan& plan, const AskedFleet& asked, const FleetPlanOptions& options) {
  const ServeScenario& serve = plan.options.front().question();
  if (serve.beside.empty() || serve.fleet->replicas) {
    return;
  }
  for (std::size_t i = 0; i < model_count(serve); ++i) {
    ApartPool pool{model_of(serve, i).name, nullptr, {}};
    try {
      pool.plan = std::make_shared<const FleetPlan>(
          plan_fleet(read_fleet(apart_document(*asked.document, serve, i), asked.file, *asked.sources), options));
      if (!pool.plan->feasible()) {
        pool.why = "keeps its promises on no number of replicas";
      }
    } catch (const ConfigError& error) {
      pool.why = error.diagnostics().empty() ? error.what() : error.diagnostics().front().message;
    }
    plan.apart.push_back(std::move(pool));
  }
}

}  // namespace headroom
