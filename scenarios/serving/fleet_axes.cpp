// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/serve/serving_stack.hpp>
#include <headroom/scenarios/search/axes.hpp>
#include <headroom/scenarios/serving/fleet_axes.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace headroom {
namespace {

struct AxisRow {
  std::string_view name, key;
  std::string_view any;  ///< its values, blanks between them; "-": what the catalog holds; empty: has no "any"
};
// tp beyond a node is left to who lists it: a tensor rank in another host is no usual layout.
constexpr std::array axis_rows{
    AxisRow{"gpu", "hardware.gpu", "-"},
    AxisRow{"node", "hardware.node", ""},
    AxisRow{"power_cap", "hardware.power_cap", ""},
    AxisRow{"engine", "serving.engine", "vllm tensorrt-llm sglang"},
    AxisRow{"weights", "serving.weights", "bf16 fp8 nvfp4 int4"},
    AxisRow{"kv_cache", "serving.kv_cache", "bf16 fp8"},
    AxisRow{"tp", "strategy.tp", "1 2 4 8"},
    AxisRow{"pp", "strategy.pp", "1 2 4"},
    AxisRow{"ep", "strategy.ep", "1 2 4 8"},
    AxisRow{"prices", "money.prices", ""},
    AxisRow{"market", "money.market", "on-demand spot reserved"},
    AxisRow{"region", "money.region", ""},
};

const ConfigValue* at_path(const ConfigValue& root, std::string_view key) {
  const std::size_t dot = key.find('.');
  const ConfigValue* table = root.find(key.substr(0, dot));
  return table == nullptr ? nullptr : table->find(key.substr(dot + 1));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return words;
}

class AxesReader {
 public:
  AxesReader(const ConfigValue& root, const Catalog& catalog, Diagnostics& diagnostics)
      : root_{root}, catalog_{catalog}, diagnostics_{diagnostics} {}

  std::vector<FleetAxis> run() {
    static const ConfigValue nothing;
    const ConfigValue* given = root_.find("search");
    ConfigTable search{given != nullptr ? *given : nothing, "search", diagnostics_};
    std::vector<FleetAxis> axes;
    for (const AxisRow& row : axis_rows) {
      FleetAxis axis{std::string{row.key}, {}};
      if (const ConfigValue* value = search.value(row.name)) {
        if (at_path(root_, row.key) != nullptr) {
          search.problem(row.name, "'" + std::string{row.name} + "' is searched and stated as " + std::string{row.key} +
                                       "; leave one out");
        }
        read(search, row, *value, axis);
      } else if (row.name == "tp" && at_path(root_, row.key) == nullptr) {
        axis.values = words_of(row.any);
      }
      if (!axis.values.empty()) {
        axes.push_back(std::move(axis));
      }
    }
    search.finish();
    return axes;
  }

 private:
  void read(ConfigTable& search, const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    if (value.kind == ConfigValue::Kind::array) {
      for (const ConfigValue& each : value.items) {
        add(search, row, each, axis);
      }
      if (value.items.empty()) {
        search.problem(row.name, "'" + std::string{row.name} + "' lists nothing; give values or leave it out");
      }
    } else {
      add(search, row, value, axis);
    }
  }

  void add(ConfigTable& search, const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    if (value.kind == ConfigValue::Kind::integer) {
      axis.values.push_back(std::to_string(value.integer));
      return;
    }
    if (value.kind != ConfigValue::Kind::text) {
      search.problem(row.name, "'" + std::string{row.name} + "' is a word, a number, a range or a list of them");
      return;
    }
    if (value.text == "any") {
      add_any(search, row, axis);
    } else if (const std::vector<std::int64_t> range = parse_range(value.text); !range.empty()) {
      for (const std::int64_t n : range) {
        axis.values.push_back(std::to_string(n));
      }
    } else {
      axis.values.push_back(value.text);
    }
  }

  void add_any(ConfigTable& search, const AxisRow& row, FleetAxis& axis) {
    if (row.any.empty()) {
      search.problem(row.name, "'" + std::string{row.name} + "' has no \"any\"; list its values");
    } else if (row.any == "-") {
      for (const std::string& id : catalog_.store().ids("gpus")) {
        if (catalog_.reference_node(catalog_.device(id)) != nullptr) {
          axis.values.push_back(id);
        }
      }
    } else {
      axis.values = words_of(row.any);
    }
  }

  const ConfigValue& root_;
  const Catalog& catalog_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool asks_for_fleet(const ConfigValue& root) noexcept {
  const ConfigValue* kind = root.find("kind");
  return kind != nullptr && kind->kind == ConfigValue::Kind::text && kind->text == "serve" &&
         root.find("traffic") != nullptr;
}

std::vector<FleetAxis> read_fleet_axes(const ConfigValue& root, const Catalog& catalog, Diagnostics& diagnostics) {
  return AxesReader{root, catalog, diagnostics}.run();
}

std::uint64_t combinations(const std::vector<FleetAxis>& axes) noexcept {
  std::uint64_t all = 1;
  for (const FleetAxis& axis : axes) {
    all *= axis.values.size();
  }
  return all;
}

std::vector<std::string> combination(const std::vector<FleetAxis>& axes, std::uint64_t index) {
  std::vector<std::string> assignments(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::uint64_t count = axes[i].values.size();
    assignments[i] = axes[i].key + "=" + axes[i].values[static_cast<std::size_t>(index % count)];
    index /= count;
  }
  return assignments;
}

}  // namespace headroom
