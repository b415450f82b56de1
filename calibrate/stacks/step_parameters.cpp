// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_parameters.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/model/train/errors/fit_priors.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// The stack that holds what all training software has in common.
constexpr std::string_view population = "any";

constexpr std::array<std::string_view, 4> prior_tables{"physics", "level", "stack", "stack"};

StepKnob make_knob(const FitPriors& priors, StepScope scope, std::string id, std::string key, double value) {
  const auto found = priors.find(std::string{prior_tables[static_cast<std::size_t>(scope)]} + "." + key);
  if (found == priors.end()) {
    throw ConfigError{quoted(key) + " of " + id + " is to be fitted, but priors.toml says nothing about it"};
  }
  const FitPrior& prior = found->second;
  if (!(prior.low <= value && value <= prior.high)) {
    throw ConfigError{quoted(key) + " of " + id + " is to be fitted, but lies outside the " + format_number(prior.low) +
                      " to " + format_number(prior.high) +
                      " of priors.toml: take it out of `fitted`, or widen the bounds"};
  }
  StepKnob knob;
  knob.scope = scope;
  knob.id = std::move(id);
  knob.key = std::move(key);
  knob.linear = prior.linear;
  knob.value = value;
  knob.low = prior.low;
  knob.high = prior.high;
  knob.centre = prior.centre;
  knob.width = prior.width;
  return knob;
}

std::vector<std::string> keys_of(const ConfigValue* table) {
  std::vector<std::string> keys;
  for (const ConfigEntry& entry : table == nullptr ? ConfigEntries{} : table->entries) {
    keys.push_back(entry.key);
  }
  return keys;
}

std::vector<std::string> fitted_of(const ConfigValue* table) {
  std::vector<std::string> keys;
  if (const ConfigValue* fitted = table == nullptr ? nullptr : table->find("fitted")) {
    for (const ConfigValue& item : fitted->items) {
      keys.push_back(item.text);
    }
  }
  return keys;
}

bool lists(const std::vector<std::string>& keys, std::string_view key) noexcept {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

std::string StepKnob::name() const {
  const std::string_view table = scope == StepScope::experts ? ".moe." : ".";
  return id + std::string{table} + key;
}

std::vector<StepKnobs::StackTables> StepKnobs::read_tables(const DataStore& store) {
  std::vector<StackTables> tables;
  for (const std::string& id : store.ids("stacks/train")) {
    const std::optional<DataStore::Entry> entry = store.find("stacks/train", id);
    if (!entry) {
      continue;
    }
    const ConfigValue document = parse_toml(entry->text, entry->file);
    const ConfigValue* time = document.find("time");
    const ConfigValue* experts = time == nullptr ? nullptr : time->find("moe");
    const ConfigValue* base = document.find("base");
    const ConfigValue* release = document.find("release");
    StackTables table{id,
                      base == nullptr ? "" : base->text,
                      release != nullptr && release->boolean,
                      keys_of(time),
                      keys_of(experts),
                      fitted_of(time),
                      fitted_of(experts)};
    if (table.base == id) {
      // The file is a user's overlay of an embedded stack, so its chain of bases continues below it.
      const std::optional<DataStore::Entry> below = store.find_below("stacks/train", id, entry->file);
      if (!below) {
        throw ConfigError{quoted(id) + " in " + entry->file + " is its own base"};
      }
      const ConfigValue hidden = parse_toml(below->text, below->file);
      const ConfigValue* under = hidden.find("time");
      const ConfigValue* under_experts = under == nullptr ? nullptr : under->find("moe");
      const auto merge = [](std::vector<std::string>& into, const std::vector<std::string>& more) {
        into.insert(into.end(), more.begin(), more.end());
      };
      merge(table.stated, keys_of(under));
      merge(table.stated_experts, keys_of(under_experts));
      table.fitted = table.fitted.empty() ? fitted_of(under) : table.fitted;
      table.fitted_experts = table.fitted_experts.empty() ? fitted_of(under_experts) : table.fitted_experts;
      table.base = hidden.find("base") == nullptr ? "" : hidden.find("base")->text;
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

const StepKnobs::StackTables* StepKnobs::table_of(std::string_view id) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const StackTables& t) { return t.id == id; });
  return found == tables_.end() ? nullptr : &*found;
}

std::ptrdiff_t StepKnobs::find(StepScope scope, std::string_view id, std::string_view key) const noexcept {
  const auto found = std::find_if(knobs_.begin(), knobs_.end(),
                                  [&](const StepKnob& k) { return k.scope == scope && k.id == id && k.key == key; });
  return found == knobs_.end() ? constant : found - knobs_.begin();
}

std::optional<std::ptrdiff_t> StepKnobs::stated_in(const std::string& stack, bool experts, std::string_view key) const {
  for (const StackTables* t = table_of(stack); t != nullptr; t = t->base.empty() ? nullptr : table_of(t->base)) {
    if (lists(experts ? t->stated_experts : t->stated, key)) {
      return find(experts ? StepScope::experts : StepScope::stack, t->id, key);
    }
  }
  return std::nullopt;
}

std::optional<std::ptrdiff_t> StepKnobs::owner(const std::string& stack, bool experts, std::string_view key) const {
  if (experts) {
    if (const std::optional<std::ptrdiff_t> own = stated_in(stack, true, key)) {
      return own;
    }
  }
  return stated_in(stack, false, key);
}

void StepKnobs::add_levels(const FitPriors& priors, const Catalog& catalog) {
  for (const auto& [id, stated] : levels_.stated()) {
    for (const std::string& key : stated.fitted) {
      const std::optional<double> value = step_number(stated, key);
      if (!value) {
        throw ConfigError{"levels.toml: " + quoted(key) + " of " + id + " is to be fitted, but has no value"};
      }
      knobs_.push_back(make_knob(priors, StepScope::level, id, key, *value));
    }
    if (!catalog.why_no_device(id)) {
      generations_.emplace_back(id, catalog.device(id).generation);
    }
  }
}

void StepKnobs::add_stacks(const FitPriors& priors, const MemoryStacks& stacks) {
  for (const StackTables& table : tables_) {
    const StepStacks& time = stacks.find(table.id).time;
    for (const std::string& key : table.fitted) {
      knobs_.push_back(make_knob(priors, StepScope::stack, table.id, key, step_number(time.plain, key)));
    }
    for (const std::string& key : table.fitted_experts) {
      knobs_.push_back(make_knob(priors, StepScope::experts, table.id, key, step_number(time.moe, key)));
    }
  }
}

void StepKnobs::set_parents(const FitPriors& priors, const StepParameters& parameters, const MemoryStacks& stacks) {
  const auto expect = [&](StepKnob& knob, std::ptrdiff_t parent, double centre) {
    knob.parent = parent;
    knob.centre = std::clamp(centre, knob.low, knob.high);
    knob.width = priors.at(std::string{prior_tables[static_cast<std::size_t>(knob.scope)]} + "." + knob.key).child;
  };
  for (StepKnob& knob : knobs_) {
    if (knob.scope == StepScope::level) {
      const auto sku = std::find_if(generations_.begin(), generations_.end(),
                                    [&](const auto& pair) { return pair.first == knob.id; });
      for (const std::string& wider : {sku == generations_.end() ? std::string{} : sku->second, std::string{"any"}}) {
        const auto stated = parameters.levels.stated().find(wider);
        if (stated == parameters.levels.stated().end() || wider == knob.id) {
          continue;
        }
        if (const std::optional<double> value = step_number(stated->second, knob.key)) {
          expect(knob, find(StepScope::level, wider, knob.key), *value);
          break;
        }
      }
    } else if (knob.scope == StepScope::stack || knob.scope == StepScope::experts) {
      const bool experts = knob.scope == StepScope::experts;
      const StackTables* table = table_of(knob.id);
      if (table == nullptr) {
        continue;
      }
      std::optional<std::ptrdiff_t> parent;
      double centre = knob.centre;
      if (table->release) {
        // Another release of one software: its number is near that of the release that the file is based on.
        parent = owner(table->base, experts, knob.key);
        const StepStacks& base = stacks.find(table->base).time;
        centre = step_number(experts ? base.moe : base.plain, knob.key);
      } else if (knob.id != population) {
        // What all software has in common, of experts its number for experts if it has one: no software is expected to
        // do what one relative does.
        std::ptrdiff_t wider = experts ? find(StepScope::experts, population, knob.key) : constant;
        wider = wider == constant ? find(StepScope::stack, population, knob.key) : wider;
        if (wider != constant) {
          parent = wider;
          centre = knobs_[static_cast<std::size_t>(wider)].value;
        }
      }
      if (parent) {
        expect(knob, *parent, centre);
      }
    }
  }
}

StepKnobs StepKnobs::of(const Sources& sources) {
  StepKnobs knobs;
  const MemoryStacks& stacks = memory_stacks(sources.data);
  const StepParameters& parameters = step_parameters(sources.data);
  const FitPriors& priors = step_priors(sources.data);
  knobs.levels_ = parameters.levels;
  knobs.tables_ = read_tables(sources.data.files());
  for (const std::string& key : parameters.physics.fitted) {
    knobs.knobs_.push_back(make_knob(priors, StepScope::physics, "physics", key, step_number(parameters.physics, key)));
  }
  knobs.add_levels(priors, sources.catalog);
  knobs.add_stacks(priors, stacks);
  knobs.set_parents(priors, parameters, stacks);
  return knobs;
}

std::vector<std::size_t> StepKnobs::behind(const StepOwner& run) const {
  std::vector<std::size_t> indices;
  const auto add = [&](std::ptrdiff_t knob) {
    if (knob != constant) {
      indices.push_back(static_cast<std::size_t>(knob));
    }
  };
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (knobs_[i].scope == StepScope::physics) {
      indices.push_back(i);
    }
  }
  for (const std::string_view key : step_level_keys()) {
    // The most specific table that states it; if that table does not fit it, it is a constant.
    for (const std::string& id : {run.sku, run.generation, std::string{"any"}}) {
      const auto stated = levels_.stated().find(id);
      if (stated != levels_.stated().end() && step_number(stated->second, key)) {
        add(find(StepScope::level, id, key));
        break;
      }
    }
  }
  for (const std::string_view key : step_stack_keys()) {
    add(owner(run.stack, run.experts, key).value_or(constant));
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

void StepKnobs::apply(const std::vector<double>& values, StepParameters& parameters, MemoryStacks& stacks) const {
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    const StepKnob& knob = knobs_[i];
    if (knob.scope == StepScope::physics) {
      set_step_number(parameters.physics, knob.key, values[i]);
    } else if (knob.scope == StepScope::level) {
      parameters.levels.set(knob.id, knob.key, values[i]);
    }
  }
  for (const StackTables& table : tables_) {
    StepStacks time = stacks.find(table.id).time;
    for (const std::string_view key : step_stack_keys()) {
      if (const std::ptrdiff_t knob = owner(table.id, false, key).value_or(constant); knob != constant) {
        set_step_number(time.plain, key, values[static_cast<std::size_t>(knob)]);
      }
      if (const std::ptrdiff_t knob = owner(table.id, true, key).value_or(constant); knob != constant) {
        set_step_number(time.moe, key, values[static_cast<std::size_t>(knob)]);
      }
    }
    stacks.set_time(table.id, time);
  }
}

}  // namespace headroom
