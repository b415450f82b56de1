// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/open_stages.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/search/axes.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace headroom {
namespace {

/// Values of one axis at the most. Under traffic each way is read, priced and screened by itself, a thousandth of a
/// second and more, and limits of an engine matter by their order of magnitude, for which there are ranges that double.
std::size_t most_values(const ConfigValue& root) noexcept {
  return root.find("traffic") != nullptr ? 512 : most_axis_values;
}

/// What a value of an axis is.
enum class Takes : std::uint8_t { gpu, node, prices, word, count, watts, flag, share };

using AxisWords = std::span<const std::string_view>;
struct AxisRow {
  std::string_view name;
  Knob knob;
  Takes takes = Takes::word;
  AxisWords words{};  ///< that it takes
  AxisWords any{};    ///< those of "any"
  int any_ranks = 0;  ///< "any" are the powers of two up to so many
};
constexpr std::array<std::string_view, 4> any_weights{"bf16", "fp8", "nvfp4", "int4"};
constexpr std::array<std::string_view, 2> any_cache{"bf16", "fp8"};
// tp beyond a node is left to who lists it: a tensor rank in another host is no usual layout, a stage is (open_stages).
constexpr std::array axis_rows{
    AxisRow{"gpu", Knob::gpu, Takes::gpu},
    AxisRow{"node", Knob::node, Takes::node},
    AxisRow{"power_cap", Knob::power_cap, Takes::watts},
    AxisRow{"engine", Knob::engine, Takes::word, engine_names, engine_names},
    AxisRow{"weights", Knob::weights, Takes::word, served_weight_names, any_weights},
    AxisRow{"kv_cache", Knob::kv_cache, Takes::word, kv_cache_names, any_cache},
    AxisRow{"tp", Knob::tp, Takes::count, {}, {}, 8},
    AxisRow{"pp", Knob::pp, Takes::count, {}, {}, 4},
    AxisRow{"ep", Knob::ep, Takes::count, {}, {}, 8},
    AxisRow{"max_num_seqs", Knob::max_num_seqs, Takes::count},
    AxisRow{"max_num_tokens", Knob::max_num_tokens, Takes::count},
    AxisRow{"chunked_prefill", Knob::chunked_prefill, Takes::flag},
    AxisRow{"memory_fraction", Knob::memory_fraction, Takes::share},
    AxisRow{"prices", Knob::prices, Takes::prices},
    AxisRow{"market", Knob::market, Takes::word, market_names, market_names},
    AxisRow{"region", Knob::region, Takes::word, region_names},
    // Of a fixed load: of [traffic] the key it would change is refused.
    AxisRow{"concurrency", Knob::concurrency, Takes::count},
};

const ConfigValue* at_path(const ConfigValue& root, std::string_view key) {
  const std::size_t dot = key.find('.');
  const ConfigValue* table = root.find(key.substr(0, dot));
  return table == nullptr ? nullptr : table->find(key.substr(dot + 1));
}

class AxesReader {
 public:
  AxesReader(const ConfigValue& root, const Catalog& catalog, Diagnostics& diagnostics)
      : root_{root}, catalog_{catalog}, diagnostics_{diagnostics} {}

  std::vector<FleetAxis> run() {
    static const ConfigValue nothing;
    const ConfigValue* given = root_.find("search");
    if (given != nullptr && given->kind != ConfigValue::Kind::table) {
      problem(*given, "'search' is a table, not " + std::string{kind_name(given->kind)});
    }
    ConfigTable search{given != nullptr ? *given : nothing, "search", diagnostics_};
    const bool all = frees_all(search);
    std::vector<FleetAxis> axes;
    for (const AxisRow& row : axis_rows) {
      FleetAxis axis;
      const std::string_view key = path_of(row.knob);
      if (const ConfigValue* value = search.value(row.name)) {
        if (at_path(root_, key) != nullptr) {
          search.problem(row.name, "'" + std::string{row.name} + "' is searched and stated as " + std::string{key} +
                                       "; leave one out");
        }
        if (row.knob == Knob::concurrency && root_.find("traffic") != nullptr) {
          search.problem(row.name,
                         "'concurrency' is of a fixed load; under [traffic] its rate says how many are in "
                         "flight: leave one out");
        }
        refused_ = {row.knob, std::string{}};
        read(search, row, *value, axis);
        if (axis.size() > most_values(root_)) {
          too_many(row, *value);
          axis.erase(axis.begin() + 1, axis.end());
        }
        if (axis.empty()) {
          axis.push_back(refused_);
        }
      } else if ((row.knob == Knob::tp || (all && row.knob == Knob::pp)) && at_path(root_, key) == nullptr) {
        add_any_ranks(row, axis);
      }
      if (!axis.empty()) {
        axes.push_back(std::move(axis));
      }
    }
    search.finish();
    return axes;
  }

 private:
  /// strategy = "any": tp and pp here, ep where the model has experts (open_stages).
  static bool frees_all(ConfigTable& search) {
    const ConfigValue* const value = search.value("strategy");
    if (value != nullptr && (value->kind != ConfigValue::Kind::text || value->text != "any")) {
      search.problem("strategy", "'strategy' is \"any\" or left out; single axes have keys of their own");
    }
    return value != nullptr;
  }

  void read(ConfigTable& search, const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    if (value.kind == ConfigValue::Kind::array) {
      for (const ConfigValue& each : value.items) {
        add(row, each, axis);
      }
      if (value.items.empty()) {
        search.problem(row.name, "'" + std::string{row.name} + "' lists nothing; give values or leave it out");
      }
    } else {
      add(row, value, axis);
    }
  }

  /// At the value itself: in a list of ten it is one.
  void problem(const ConfigValue& value, std::string message) {
    diagnostics_.add(value.file ? *value.file : std::string{}, value.at, std::move(message));
    refuse(value);
  }

  void too_many(const AxisRow& row, const ConfigValue& value) {
    problem(value, quoted(row.name) + " holds more than " + std::to_string(most_values(root_)) +
                       " values; list fewer, or a range that doubles, \"1..512 x2\"");
  }

  void refuse(const ConfigValue& value) {
    refused_.value = value.kind == ConfigValue::Kind::integer ? std::to_string(value.integer) : value.text;
  }

  /// The same option twice would be the same fleet twice.
  static void keep(FleetAxis& axis, Change value) {
    if (std::find(axis.begin(), axis.end(), value) == axis.end()) {
      axis.push_back(std::move(value));
    }
  }

  static void add_any_ranks(const AxisRow& row, FleetAxis& axis) {
    for (int n = 1; n <= row.any_ranks; n *= 2) {
      keep(axis, {row.knob, n});
    }
  }

  void add(const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    const bool text = value.kind == ConfigValue::Kind::text;
    if (text && value.text == "any") {
      add_any(row, value, axis);
    } else if (row.takes == Takes::count) {
      add_counts(row, value, axis);
    } else if (row.takes == Takes::flag) {
      add_flag(row, value, axis);
    } else if (row.takes == Takes::share) {
      add_share(row, value, axis);
    } else if (!text) {
      problem(value, quoted(row.name) + " holds " + std::string{kind_name(value.kind)} + "; it takes " +
                         (row.takes == Takes::watts ? "watts with their unit, e.g. \"500 W\"" : "names in quotes"));
    } else if (known(row, value)) {
      keep(axis, change_to(row.knob, value.text));
    }
  }

  void add_counts(const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    std::vector<std::int64_t> numbers;
    if (value.kind == ConfigValue::Kind::integer) {
      numbers.push_back(value.integer);
    } else if (value.kind == ConfigValue::Kind::text) {
      numbers = parse_range(value.text);
    }
    if (numbers.empty()) {
      const bool text = value.kind == ConfigValue::Kind::text;
      const std::string reversed = text ? reversed_range_text(value.text) : std::string{};
      problem(value, quoted(row.name) + " holds " + (text ? quoted(value.text) : std::string{kind_name(value.kind)}) +
                         (reversed.empty() ? ", no whole number" : reversed) +
                         "; an axis is a list [1, 2, 4], a range \"1..8\", \"1..8 x2\" or \"2..8 "
                         "step 2\", one value, or \"any\"");
    }
    if (numbers.size() > most_values(root_)) {
      return too_many(row, value);
    }
    const Range<std::int64_t> range = integers_of(key_of("search." + std::string{row.name}, Kinds::serve));
    for (const std::int64_t n : numbers) {
      if (n < range.low || n > range.high) {
        problem(value, quoted(row.name) + " holds " + std::to_string(n) + ", outside of " + std::to_string(range.low) +
                           " to " + std::to_string(range.high));
        return;
      }
      keep(axis, {row.knob, n});
    }
  }

  void add_flag(const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    if (value.kind == ConfigValue::Kind::boolean) {
      keep(axis, {row.knob, value.boolean});
    } else {
      problem(value, quoted(row.name) + " holds " + std::string{kind_name(value.kind)} +
                         "; it takes true, false, a list of both, or \"any\"");
    }
  }

  void add_share(const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    const Key& key = key_of("search." + std::string{row.name}, Kinds::serve);
    const bool number = value.kind == ConfigValue::Kind::number || value.kind == ConfigValue::Kind::integer;
    const double share = value.kind == ConfigValue::Kind::integer ? static_cast<double>(value.integer) : value.number;
    if (!number || share < key.low || share > key.high) {
      problem(value, quoted(row.name) + " holds " +
                         (number ? format_number(share) : std::string{kind_name(value.kind)}) + "; it takes numbers " +
                         format_number(key.low) + " to " + format_number(key.high));
      return;
    }
    keep(axis, {row.knob, share});
  }

  /// A name that nothing has would be a way less to serve, not a mistake told.
  bool known(const AxisRow& row, const ConfigValue& value) {
    switch (row.takes) {
      case Takes::gpu: return found(value, [&] { static_cast<void>(catalog_.device(value.text)); });
      case Takes::node: return found(value, [&] { static_cast<void>(catalog_.node(value.text)); });
      case Takes::prices: return found(value, [&] { static_cast<void>(catalog_.prices(value.text)); });
      case Takes::watts: {
        const std::variant<double, TextError> watts = parse_quantity(value.text, dimension_of<Watts>);
        if (const auto* error = std::get_if<TextError>(&watts)) {
          problem(value, quoted(row.name) + ": " + error->message);
        }
        return std::holds_alternative<double>(watts);
      }
      case Takes::word: break;
      case Takes::count:
      case Takes::flag:
      case Takes::share: return true;
    }
    if (std::find(row.words.begin(), row.words.end(), value.text) != row.words.end()) {
      return true;
    }
    problem(value, quoted(row.name) + " holds " + quoted(value.text) + ", none of " + listed(row.words) +
                       suggestion(value.text, row.words));
    return false;
  }

  /// Problems of a look-up stand at the value, but for those of a file of the catalog.
  template <class Look>
  bool found(const ConfigValue& value, Look look) {
    try {
      look();
      return true;
    } catch (const ConfigError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        if (diagnostic.file.empty()) {
          problem(value, diagnostic.message);
        } else {
          refuse(value);
          diagnostics_.add(diagnostic.file, diagnostic.at, diagnostic.message);
        }
      }
      diagnostics_.pass_over(error.untold());
      return false;
    }
  }

  void add_any(const AxisRow& row, const ConfigValue& value, FleetAxis& axis) {
    if (row.takes == Takes::gpu) {
      catalog_.store().each("gpus", [&](const std::string& id) {
        if (catalog_.reference_node(catalog_.device(id)) != nullptr) {
          keep(axis, {row.knob, id});
        }
      });
    } else if (row.takes == Takes::flag) {
      keep(axis, {row.knob, false});
      keep(axis, {row.knob, true});
    } else if (row.any.empty() && row.any_ranks == 0) {
      problem(value, "'" + std::string{row.name} + "' has no \"any\"; list its values");
    }
    add_any_ranks(row, axis);
    for (const std::string_view word : row.any) {
      keep(axis, change_to(row.knob, std::string{word}));
    }
  }

  const ConfigValue& root_;
  const Catalog& catalog_;
  Diagnostics& diagnostics_;
  Change refused_;  ///< of the axis that is read, the last value that was
};

constexpr std::uint64_t most_combinations = 20'000;

/// The first combination that can be read; of none the problems of the first, all at once.
Scenario first_readable(const Statement& base, const std::vector<FleetAxis>& axes) {
  std::optional<ConfigError> wrong;
  for (std::uint64_t i = 0; i < combinations(axes); ++i) {
    try {
      return changed(base, combination(axes, i));
    } catch (const ConfigError& error) {
      wrong = wrong ? wrong : std::optional{error};
    }
  }
  throw wrong.value_or(ConfigError{"no combination of [search]"});
}

/// What is wrong beside the axes, where nothing can be read: everything at once. Problems of the values themselves are
/// told at their place in [search].
void add_problems_beside(const Statement& base, const std::vector<FleetAxis>& axes, Diagnostics& diagnostics) {
  if (diagnostics.empty() || combinations(axes) > most_combinations) {
    return;
  }
  const Changes first = combination(axes, 0);
  try {
    static_cast<void>(first_readable(base, axes));
  } catch (const ConfigError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      const bool of_axes =
          std::any_of(first.begin(), first.end(), [&](const Change& change) { return d.file == place_of(change); });
      if (!of_axes) {
        diagnostics.add(d);
      }
    }
    diagnostics.pass_over(error.untold());
  }
}

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
    all = times_up_to_most(all, axis.size());
  }
  return all;
}

Changes combination(const std::vector<FleetAxis>& axes, std::uint64_t index) {
  Changes changes(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::uint64_t count = axes[i].size();
    changes[i] = axes[i][static_cast<std::size_t>(index % count)];
    index /= count;
  }
  return changes;
}

AskedFleet read_fleet(ConfigValue root, const std::string& file, const Sources& sources) {
  Diagnostics diagnostics;
  AskedFleet asked;
  asked.axes = read_fleet_axes(root, sources.catalog, diagnostics);
  ConfigValue base = root;
  base.entries.erase_if([](const ConfigEntry& e) { return e.key == "search" || e.key == "objective"; });
  asked.base = {std::make_shared<const ConfigValue>(std::move(base)), file, &sources};
  add_problems_beside(asked.base, asked.axes, diagnostics);
  diagnostics.throw_if_any();
  free_stages(root, asked.base, asked.axes);
  free_experts(root, asked.base, asked.axes);
  if (const std::uint64_t all = combinations(asked.axes); all > most_combinations) {
    throw ConfigError{"[search] makes " + std::to_string(all) + " combinations, above " +
                      std::to_string(most_combinations) + "; list fewer values"};
  }
  asked.first = first_readable(asked.base, asked.axes);
  static_cast<Statement&>(asked) = {std::make_shared<const ConfigValue>(std::move(root)), file, &sources};
  return asked;
}

}  // namespace headroom
