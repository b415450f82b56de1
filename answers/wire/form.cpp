// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/wire/form.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/scenarios/keys/short_numbers.hpp>
#include <headroom/scenarios/read/look_up.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace headroom {
namespace {

std::string beyond(const char* what, std::size_t limit) {
  return std::string{"the request has more than "} + std::to_string(limit) + " " + what +
         ", which is the limit here; ask a smaller question";
}

/// Counts the values of a tree, which stops at a limit.
class Bounds {
 public:
  explicit Bounds(const WireLimits& limits) : limits_{limits} {}

  void hold(const ConfigValue& value, std::size_t depth = 1) {
    if (++values_ > limits_.keys) {
      throw WireLimitError{beyond("values", limits_.keys)};
    }
    const bool holds = value.kind == ConfigValue::Kind::table || value.kind == ConfigValue::Kind::array;
    if (holds && depth > limits_.depth) {
      throw WireLimitError{beyond("tables and lists within each other", limits_.depth)};
    }
    for (const ConfigValue& item : value.items) {
      hold(item, depth + 1);
    }
    for (const ConfigEntry& entry : value.entries) {
      hold(entry.value, depth + 1);
    }
  }

 private:
  const WireLimits& limits_;
  std::size_t values_ = 0;
};

bool before(Position a, Position b) noexcept {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

std::string step_of(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    step += c == '~' ? std::string{"~0"} : c == '/' ? std::string{"~1"} : std::string{c};
  }
  return step;
}

/// Puts a value under a name with dots, whose tables are made where they are missing.
void put(ConfigValue& root,
         std::string_view name,
         const ConfigValue& value,
         bool over,
         const WireLimits& limits,
         Diagnostics& problems) {
  if (static_cast<std::size_t>(std::count(name.begin(), name.end(), '.')) >= limits.depth) {
    throw WireLimitError{beyond("tables and lists within each other", limits.depth)};
  }
  ConfigValue* table = &root;
  const auto refuse = [&](const std::string& why) {
    problems.add(*value.file, value.key_at, "'" + std::string{name} + "' " + why);
  };
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    const std::string_view step = name.substr(0, dot);
    name.remove_prefix(dot + 1);
    ConfigValue* below = table->find(step);
    if (below == nullptr) {
      ConfigValue fresh;
      fresh.file = value.file;
      fresh.at = fresh.key_at = value.key_at;
      below = &table->entries.emplace_back(std::string{step}, std::move(fresh)).value;
    }
    if (below->kind != ConfigValue::Kind::table) {
      refuse("is to stand in '" + std::string{step} + "', which is " + std::string{kind_name(below->kind)});
      return;
    }
    table = below;
  }
  ConfigValue* const there = table->find(name);
  if (there == nullptr) {
    table->entries.emplace_back(std::string{name}, value);
  } else if (over && there->kind == ConfigValue::Kind::table && value.kind == ConfigValue::Kind::table) {
    overlay(*there, value);
  } else if (over) {
    *there = value;
  } else if (there->kind == ConfigValue::Kind::table && value.kind == ConfigValue::Kind::table) {
    there->at = value.at;  // where what it lacks is told, not at the name with dots that came first
    there->key_at = value.key_at;
    for (const ConfigEntry& entry : value.entries) {
      put(*there, entry.key, entry.value, false, limits, problems);
    }
  } else {
    refuse("stands twice: as a name with dots, and in its table");
  }
}

}  // namespace

WireFormError::WireFormError(const ConfigError& error)
    : ConfigError{{error.diagnostics().begin(), error.diagnostics().end()}, error.untold()} {}

ConfigValue wire_tree(std::string_view request, const WireLimits& limits) {
  if (request.size() > limits.bytes) {
    throw WireLimitError{beyond("bytes", limits.bytes)};
  }
  const std::string file{request_document};
  ConfigValue tree;
  if (request.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    tree.file = std::make_shared<const std::string>(file);
    tree.at = {1, 1};
    return tree;
  }
  try {
    tree = parse_json(request, file);
  } catch (const ConfigError& error) {
    throw WireFormError{error};
  }
  Bounds{limits}.hold(tree);
  return tree;
}

WirePlaces::WirePlaces(const ConfigValue& tree) {
  add(tree, "");
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return before(a.at, b.at); });
}

void WirePlaces::add(const ConfigValue& value, const std::string& pointer) {
  if (value.key_at.line > 0) {
    entries_.push_back({value.key_at, pointer});
  }
  entries_.push_back({value.at, pointer});
  std::size_t item = 0;
  for (const ConfigValue& one : value.items) {
    add(one, pointer + "/" + std::to_string(item++));
  }
  for (const ConfigEntry& entry : value.entries) {
    add(entry.value, pointer + step_of(entry.key));
  }
}

std::string WirePlaces::member_of(const Diagnostic& problem) const {
  if (!is_request(problem.file)) {
    return {};
  }
  if (problem.file.size() > request_document.size()) {
    return problem.file.substr(request_document.size());  // a text in the request, whose lines are its own
  }
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), problem.at,
                                      [](Position at, const Entry& entry) { return before(at, entry.at); });
  return after == entries_.begin() ? std::string{} : std::prev(after)->pointer;
}

std::string wire_document_name(std::string_view pointer) {
  return std::string{request_document} + std::string{pointer};
}

ConfigValue wire_document(const ConfigValue& scenario,
                          const ConfigValue* set,
                          const std::string& pointer,
                          const WireLimits& limits,
                          Diagnostics& problems) {
  ConfigValue document;
  document.file = scenario.file;
  document.at = scenario.at;
  try {
    if (scenario.kind == ConfigValue::Kind::text) {
      document = parse_toml(scenario.text, wire_document_name(pointer));
      Bounds{limits}.hold(document);
    } else if (scenario.kind == ConfigValue::Kind::table) {
      for (const ConfigEntry& entry : scenario.entries) {
        put(document, entry.key, entry.value, false, limits, problems);
      }
    } else {
      problems.add(*scenario.file, scenario.at,
                   "must be an object, the tables of a scenario, or the text of its TOML, not " +
                       std::string{kind_name(scenario.kind)});
    }
    if (set != nullptr && set->kind != ConfigValue::Kind::table) {
      problems.add(*set->file, set->at,
                   "'set' must be an object, such as {\"strategy.tp\": 8}, not " + std::string{kind_name(set->kind)});
    } else if (set != nullptr) {
      for (const ConfigEntry& entry : set->entries) {
        put(document, entry.key, entry.value, true, limits, problems);
      }
    }
    if (document.find("schema") == nullptr) {
      document.entries.emplace_back("schema", count_value(1));
    }
    take_short_numbers(document);
  } catch (const ConfigError& error) {
    problems.add(error);
  }
  return document;
}

}  // namespace headroom
