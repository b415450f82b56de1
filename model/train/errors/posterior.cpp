// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

constexpr int digits = 4;
constexpr double least_correlation = 0.05;  ///< of two effects whose covariance is written: less moves no width by 2 %
constexpr double least_product = 1e-3;      ///< of two derivatives that is written
constexpr Range<double> deviation_range{0.0, 10.0};
constexpr std::array<std::string_view, 2> host_names{"one_host", "several_hosts"};

std::string name_of(const StepEffect& effect) {
  return std::string{step_scope_names[static_cast<std::size_t>(effect.scope)]} + "|" + effect.id + "|" + effect.key;
}

std::optional<double> number_in(const ConfigValue& value) {
  if (value.kind == ConfigValue::Kind::integer) {
    return static_cast<double>(value.integer);
  }
  return value.kind == ConfigValue::Kind::number ? std::optional{value.number} : std::nullopt;
}

/// An array of numbers, one for each of `size`.
std::vector<double> read_numbers(ConfigTable& table, std::string_view key, std::size_t size) {
  std::vector<double> numbers;
  const ConfigValue* const value = table.value(key);
  if (value != nullptr) {
    for (const ConfigValue& item : value->items) {
      numbers.push_back(number_in(item).value_or(std::nan("")));
    }
  }
  const bool broken = std::any_of(numbers.begin(), numbers.end(), [](double x) { return !std::isfinite(x); });
  if (numbers.size() != size || broken) {
    table.problem(key, "'" + std::string{key} + "' must be an array of " + std::to_string(size) + " numbers");
    numbers.assign(size, 0.0);
  }
  return numbers;
}

/// Pairs that are not zero: [row, column, number] one after another, the column at most the row.
PairTable read_pairs(ConfigTable& table, std::string_view key, std::size_t size) {
  PairTable pairs{size};
  const ConfigValue* const value = table.value(key);
  const std::size_t count = value == nullptr ? 0 : value->items.size();
  bool whole = value != nullptr && count % 3 == 0;
  for (std::size_t i = 0; whole && i + 2 < count; i += 3) {
    const double row = number_in(value->items[i]).value_or(-1.0);
    const double column = number_in(value->items[i + 1]).value_or(-1.0);
    const std::optional<double> number = number_in(value->items[i + 2]);
    whole = number && column >= 0.0 && column <= row && row < static_cast<double>(size);
    if (whole) {
      const auto r = static_cast<std::size_t>(row);
      const auto c = static_cast<std::size_t>(column);
      pairs(r, c) = pairs(c, r) = *number;
    }
  }
  if (!whole) {
    table.problem(
        key, "'" + std::string{key} + "' must hold row, column and number of each pair, below " + std::to_string(size));
  }
  return pairs;
}

std::vector<StepEffect> read_effects(ConfigTable& root) {
  std::vector<StepEffect> effects;
  for (const std::string& text : root.texts("effects")) {
    const std::size_t first = text.find('|');
    const std::size_t last = text.rfind('|');
    const auto* const scope =
        std::find(step_scope_names.begin(), step_scope_names.end(), std::string_view{text}.substr(0, first));
    if (first == last || scope == step_scope_names.end()) {
      root.problem("effects", quoted(text) + " is no effect: scope|owner|key");
      continue;
    }
    effects.push_back({static_cast<StepScope>(scope - step_scope_names.begin()),
                       text.substr(first + 1, last - first - 1), text.substr(last + 1)});
  }
  return effects;
}

std::vector<std::ptrdiff_t> read_owners(ConfigTable& table, std::string_view key, const StepPosterior& posterior) {
  std::vector<std::ptrdiff_t> owners;
  for (const double effect : read_numbers(table, key, posterior.keys.size())) {
    const auto index = static_cast<std::ptrdiff_t>(effect);
    const bool known = index >= -1 && index < static_cast<std::ptrdiff_t>(posterior.effects.size());
    if (!known) {
      table.problem(key, "effect " + std::to_string(index) + " is none of those listed");
    }
    owners.push_back(known ? index : -1);
  }
  return owners;
}

/// The pairs for which `told(row, column)` holds.
template <class Told>
void write_pairs(std::string& text, std::string_view key, const PairTable& pairs, const Told& told) {
  text += std::string{key} + " = [";
  std::size_t on_line = 0;
  bool first = true;
  for (std::size_t row = 0; row < pairs.size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      if (!told(row, column)) {
        continue;
      }
      text += (first ? "" : ",") + std::string{on_line % 6 == 0 ? "\n  " : " "} + std::to_string(row) + ", " +
              std::to_string(column) + ", " + format_number(pairs(row, column), digits);
      first = false;
      ++on_line;
    }
  }
  text += "]\n";
}

template <class Items, class Text>
void write_list(std::string& text, std::string_view key, const Items& items, const Text& of) {
  text += std::string{key} + " = [";
  std::size_t on_line = 0;
  for (const auto& item : items) {
    text += (on_line == 0 ? "" : ",") +
            std::string{on_line % 6 == 0 && items.size() > 6 ? "\n  "
                        : on_line == 0                       ? ""
                                                             : " "} +
            of(item);
    ++on_line;
  }
  text += "]\n";
}

}  // namespace

std::ptrdiff_t StepPosterior::level_effect(std::string_view key,
                                           std::string_view sku,
                                           std::string_view generation) const noexcept {
  for (const std::string_view id : {sku, generation, std::string_view{"any"}}) {
    const auto found = std::find_if(effects.begin(), effects.end(), [&](const StepEffect& e) {
      return e.scope == StepScope::level && e.id == id && e.key == key;
    });
    if (found != effects.end()) {
      return found - effects.begin();
    }
  }
  return -1;
}

namespace {

/// A number that a statement of the question stands in for.
bool is_stated(std::string_view key, const StepUnknown& unknown) noexcept {
  return unknown.network_known && (key == "physics.nic" || key == "stack.nic");
}

}  // namespace

std::vector<std::ptrdiff_t> StepPosterior::effects_of(const StepUnknown& unknown) const {
  const bool experts = unknown.kind == StepKind::experts;
  const std::array<std::vector<std::ptrdiff_t>, 2>* of_stack = nullptr;
  for (const std::string& id : unknown.stacks) {
    if (const auto found = owners.find(id); found != owners.end()) {
      of_stack = &found->second;
      break;
    }
  }
  std::vector<std::ptrdiff_t> effect(keys.size(), -1);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const std::size_t dot = keys[k].find('.');
    const std::string_view scope = std::string_view{keys[k]}.substr(0, dot);
    const std::string_view key = std::string_view{keys[k]}.substr(dot + 1);
    if (is_stated(keys[k], unknown)) {
      continue;
    }
    if (scope == "stack") {
      effect[k] = of_stack == nullptr ? -1 : (*of_stack)[experts ? 1 : 0][k];
    } else if (scope == "level") {
      effect[k] = level_effect(key, unknown.sku, unknown.generation);
    } else {
      const auto found = std::find_if(effects.begin(), effects.end(), [&](const StepEffect& e) {
        return e.scope == StepScope::physics && e.key == key;
      });
      effect[k] = found == effects.end() ? -1 : found - effects.begin();
    }
  }
  return effect;
}

double StepPosterior::run_noise(StepKind kind) const noexcept {
  constexpr double z80 = 1.2815515655446004;
  return shape * std::min(1.0, quantiles_of(kind).eighty / z80);
}

double StepPosterior::blank_variance(const BlankAxes& axes) const noexcept {
  double sum = 0.0;
  for (std::size_t axis = 0; axis < blank.size(); ++axis) {
    const BlankError& error = blank[axis];
    // The numbers were fitted with the other axes closed, so that their mean is in them; what it is off elsewhere is
    // not known. Of the fitted runs' experts all was known.
    const double off = axis == static_cast<std::size_t>(BlankAxis::experts) ? error.mean : 0.0;
    sum += axes[axis] ? error.deviation * error.deviation + off * off : 0.0;
  }
  return sum;
}

namespace {

/// A population of software, whose numbers are no software's own.
bool is_population(std::string_view id) noexcept {
  return id == "any" || id.starts_with("any-");
}

/// Which keys' numbers a software or SKU without runs may have unlike those that stand in for them. How far a number of
/// its own may lie off, the covariance of its effect says already.
class Departures {
 public:
  Departures(const StepPosterior& posterior, const StepUnknown& unknown)
      : posterior_{posterior}, unknown_{unknown}, software_{unknown.stacks.empty() ? "" : unknown.stacks.front()} {
    known_software_ = posterior.seen.contains(unknown.kind == StepKind::experts ? software_ + ".moe" : software_);
    known_sku_ = posterior.seen.contains(unknown.sku);
  }

  [[nodiscard]] bool of_software(std::size_t key, std::ptrdiff_t effect) const {
    return !known_software_ && posterior_.keys[key].starts_with("stack.") && departs(key, effect, software_);
  }
  [[nodiscard]] bool of_sku(std::size_t key, std::ptrdiff_t effect) const {
    return !known_sku_ && posterior_.keys[key].starts_with("level.") && departs(key, effect, unknown_.sku);
  }

 private:
  [[nodiscard]] bool departs(std::size_t key, std::ptrdiff_t effect, std::string_view id) const {
    const std::string_view owner =
        effect < 0 ? std::string_view{} : std::string_view{posterior_.effects[static_cast<std::size_t>(effect)].id};
    return (owner != id || is_population(id)) && !is_stated(posterior_.keys[key], unknown_);
  }

  const StepPosterior& posterior_;
  const StepUnknown& unknown_;
  std::string software_;
  bool known_software_ = false, known_sku_ = false;
};

}  // namespace

PairTable StepPosterior::prior_of(const StepUnknown& unknown) const {
  const Departures departures{*this, unknown};
  const std::vector<std::ptrdiff_t> effect = effects_of(unknown);
  PairTable prior{keys.size()};
  for (std::size_t a = 0; a < keys.size(); ++a) {
    for (std::size_t b = 0; b < keys.size(); ++b) {
      if (effect[a] >= 0 && effect[b] >= 0) {
        prior(a, b) = covariance(static_cast<std::size_t>(effect[a]), static_cast<std::size_t>(effect[b]));
      }
    }
    const bool departs = departures.of_software(a, effect[a]) || departures.of_sku(a, effect[a]);
    prior(a, a) += departs ? own[a] * own[a] : 0.0;
  }
  return prior;
}

StepVariance StepPosterior::variance(const StepUnknown& unknown) const {
  const Departures departures{*this, unknown};
  const std::vector<std::ptrdiff_t> effect = effects_of(unknown);
  const PairTable& weight = sensitivity[static_cast<std::size_t>(unknown.kind)][unknown.hosts ? 1 : 0];
  StepVariance variance;
  for (std::size_t a = 0; a < keys.size(); ++a) {
    for (std::size_t b = 0; b < keys.size(); ++b) {
      if (effect[a] >= 0 && effect[b] >= 0) {
        variance.numbers +=
            weight(a, b) * covariance(static_cast<std::size_t>(effect[a]), static_cast<std::size_t>(effect[b]));
      }
    }
    const double alone = weight(a, a) * own[a] * own[a];
    variance.software += departures.of_software(a, effect[a]) ? alone : 0.0;
    variance.sku += departures.of_sku(a, effect[a]) ? alone : 0.0;
  }
  variance.numbers = std::max(0.0, variance.numbers);
  // A share x of stragglers turns an error of ln(c) into x of it; the runs of the fit had fewer GPUs on the mean.
  const auto stragglers =
      static_cast<std::size_t>(std::find(keys.begin(), keys.end(), "physics.straggler") - keys.begin());
  if (stragglers < keys.size() && effect[stragglers] >= 0) {
    const auto of = static_cast<std::size_t>(effect[stragglers]);
    const double more = unknown.stragglers * unknown.stragglers - weight(stragglers, stragglers);
    variance.scale = std::max(0.0, more) * covariance(of, of);
  }
  variance.level = level * level;
  variance.shape = shape * shape;
  variance.blank = blank_variance(unknown.blank);
  return variance;
}

StepPosterior read_step_posterior(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  static_cast<void>(file);
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  StepPosterior posterior;
  posterior.source = root.text("source");
  posterior.level = root.number("level", deviation_range);
  posterior.shape = root.number("shape", deviation_range);
  posterior.alike = root.maybe_number("alike", {0.0, 1.0}).value_or(0.0);
  posterior.length = root.maybe_number("length", deviation_range).value_or(0.0);
  posterior.effects = read_effects(root);
  posterior.covariance = read_pairs(root, "covariance", posterior.effects.size());
  posterior.keys = root.texts("keys");
  posterior.own = read_numbers(root, "own", posterior.keys.size());
  for (const std::string& name : root.texts("seen")) {
    posterior.seen.insert(name);
  }
  ConfigTable kinds = root.table("kind");
  for (std::size_t kind = 0; kind < step_kind_names.size(); ++kind) {
    ConfigTable table = kinds.table(step_kind_names[kind]);
    DeviationQuantiles& q = posterior.quantiles[kind];
    q.rows = table.integer("rows", not_negative);
    q.sources = table.integer("sources", not_negative);
    q.half = table.number("quantile_50", deviation_range);
    q.eighty = table.number("quantile_80", deviation_range);
    q.ninety = table.number("quantile_90", deviation_range);
    for (std::size_t hosts = 0; hosts < host_names.size(); ++hosts) {
      posterior.sensitivity[kind][hosts] = read_pairs(table, host_names[hosts], posterior.keys.size());
    }
    table.finish();
  }
  kinds.finish();
  ConfigTable blanks = root.table("blank");
  for (std::size_t axis = 0; axis < blank_axis_names.size(); ++axis) {
    ConfigTable table = blanks.table(blank_axis_names[axis]);
    posterior.blank[axis] = {table.number("mean", {-10.0, 10.0}), table.number("deviation", deviation_range),
                             table.integer("rows", not_negative)};
    table.finish();
  }
  blanks.finish();
  ConfigTable owners = root.table("owners");
  for (const std::string_view id : owners.keys()) {
    ConfigTable table = owners.table(id);
    posterior.owners[std::string{id}] = {read_owners(table, "dense", posterior),
                                         read_owners(table, "experts", posterior)};
    table.finish();
  }
  owners.finish();
  root.finish();
  return posterior;
}

const StepPosterior& step_posterior(const ModelData& data) {
  return data.once("posterior", [&] { return read_document(step_document(data, "posterior"), read_step_posterior); });
}

std::string posterior_toml(const StepPosterior& p) {
  std::string text =
      "schema = 1\nid = \"posterior\"\n"
      "# Written by `headroom fit --stack all --write`; used as docs/confidence.md says. Effects are the fitted "
      "numbers:\n"
      "# logarithms, shares as they are. covariance: row, column, number of the pairs that are not zero.\n"
      "source = \"" +
      p.source + "\"\nlevel = " + format_number(p.level, digits) + "\nshape = " + format_number(p.shape, digits) + "\n";
  if (p.length > 0.0) {
    text +=
        "# Share of shape that like jobs of one cluster have in common, and how far in ln of their axes.\nalike = " +
        format_number(p.alike, digits) + "\nlength = " + format_number(p.length, digits) + "\n";
  }
  const auto word = [](const std::string& name) { return '"' + name + '"'; };
  const auto number = [](double x) { return format_number(x, digits); };
  write_list(text, "effects", p.effects, [](const StepEffect& e) { return '"' + name_of(e) + '"'; });
  write_pairs(text, "covariance", p.covariance, [&](std::size_t a, std::size_t b) {
    const double both = std::sqrt(p.covariance(a, a) * p.covariance(b, b));
    return p.covariance(a, b) != 0.0 && (a == b || std::abs(p.covariance(a, b)) > least_correlation * both);
  });
  text += "# Numbers that a step depends on, and the standard deviation of what a software or SKU adds to one.\n";
  write_list(text, "keys", p.keys, word);
  write_list(text, "own", p.own, number);
  text += "# Software and SKUs that runs of the fit used.\n";
  write_list(text, "seen", p.seen, word);
  for (std::size_t kind = 0; kind < step_kind_names.size(); ++kind) {
    const DeviationQuantiles& q = p.quantiles[kind];
    text +=
        "\n# Quantiles of |ln(predicted/measured)| over its standard deviation, sources left out; mean products of\n"
        "# derivatives of ln(step) by two keys.\n[kind." +
        std::string{step_kind_names[kind]} + "]\nrows = " + std::to_string(q.rows) +
        "\nsources = " + std::to_string(q.sources) + "\nquantile_50 = " + number(q.half) +
        "\nquantile_80 = " + number(q.eighty) + "\nquantile_90 = " + number(q.ninety) + "\n";
    for (std::size_t hosts = 0; hosts < host_names.size(); ++hosts) {
      const PairTable& products = p.sensitivity[kind][hosts];
      write_pairs(text, host_names[hosts], products,
                  [&](std::size_t a, std::size_t b) { return std::abs(products(a, b)) > least_product; });
    }
  }
  text += "\n# ln(step with the axis closed as the software would / step as run), over runs that state the axis.\n";
  for (std::size_t axis = 0; axis < p.blank.size(); ++axis) {
    const BlankError& e = p.blank[axis];
    text += "[blank." + std::string{blank_axis_names[axis]} + "]\nmean = " + number(e.mean) +
            "\ndeviation = " + number(e.deviation) + "\nrows = " + std::to_string(e.rows) + "\n";
  }
  text += "\n# The effect behind each key, by software; -1: none.\n";
  for (const auto& [id, effects] : p.owners) {
    text += "[owners." + id + "]\n";
    const auto index = [](std::ptrdiff_t effect) { return std::to_string(effect); };
    write_list(text, "dense", effects[0], index);
    write_list(text, "experts", effects[1], index);
  }
  return text;
}

}  // namespace headroom
