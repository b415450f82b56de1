// SPDX-License-Identifier: Apache-2.0
// Requests that ask a question: its documents read, answered and printed.
#pragma once

#include <headroom/answers/wire/request.hpp>
#include <headroom/core/config_value.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

inline constexpr std::string_view json_content = "application/json";

/// ConfigError with every problem at once, WireLimitError.
[[nodiscard]] WireReply wire_answer(const QuestionLibrary& library,
                                    WireVerb verb,
                                    const ConfigValue& tree,
                                    const WireLimits& limits);

/// A config.json of Hugging Face, a member `config` that is its object or its text, as a table that describes the
/// model, with remarks on what is left blank.
struct ImportedConfig {
  std::string id;
  std::string toml;   ///< as `headroom catalog import` writes it
  ConfigValue model;  ///< the same as a table, for a scenario's `model`
  std::vector<std::string> remarks;
};
/// `pointer`: of the member in the request. ConfigError with every problem.
[[nodiscard]] ImportedConfig imported_config(const ConfigValue& config, const std::string& pointer);

}  // namespace headroom
