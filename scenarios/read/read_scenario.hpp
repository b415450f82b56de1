// SPDX-License-Identifier: Apache-2.0
// From the TOML of a question to what it asks, every problem of the document at once.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <span>
#include <string>

namespace headroom {

/// Reads a parsed document. Throws ConfigError with every problem of the document at once.
[[nodiscard]] Scenario read_scenario(ConfigValue root, const std::string& file, const Sources& sources);
Scenario read_scenario(ConfigValue root, const std::string& file, const Sources&& gone) = delete;

/// The question with changes, resolved again from what its author stated and they: what the user would get who made
/// them. Later changes of a knob count. ConfigError as read_scenario, problems of a changed value at place_of().
[[nodiscard]] Scenario changed(const Statement& stated, std::span<const Change> changes);

/// A scenario file with its bases (paths relative to the file that names them) and assignments, not yet read.
[[nodiscard]] ConfigValue scenario_tree(const std::string& path, std::span<const Assignment> assignments = {});
[[nodiscard]] ConfigValue scenario_tree(const std::string& path, std::span<const std::string> overrides);
/// The same without a file: assignments alone.
[[nodiscard]] ConfigValue scenario_tree(std::span<const Assignment> assignments);
[[nodiscard]] ConfigValue scenario_tree(std::span<const std::string> overrides);

/// Loads a file with its bases (paths relative to the file that names them), applies `--set` assignments, reads it.
[[nodiscard]] Scenario load_scenario(const std::string& path,
                                     std::span<const std::string> overrides,
                                     const Sources& sources);
Scenario load_scenario(const std::string& path, std::span<const std::string> overrides, const Sources&& gone) = delete;

/// Reads scenario text without a file: the quick form of `headroom plan`.
[[nodiscard]] Scenario scenario_from_overrides(std::span<const std::string> overrides, const Sources& sources);
Scenario scenario_from_overrides(std::span<const std::string> overrides, const Sources&& gone) = delete;

}  // namespace headroom
