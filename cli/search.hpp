// SPDX-License-Identifier: Apache-2.0
// The searching side of `headroom plan`.
#pragma once

#include <headroom/cli/verb.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/model/train/layer_step.hpp>
#include <headroom/scenarios/scenario.hpp>

#include <string>

namespace headroom::cli {

/// Searches, with progress on a terminal's stderr; an interrupt ends it with what was found so far.
[[nodiscard]] Outcome search_outcome(const Arguments& arguments,
                                     const ConfigValue& root,
                                     const std::string& file,
                                     const Sources& sources,
                                     TermSet without);

/// ConfigError for options of a search beside a scenario that does not search.
void refuse_search_options(const Arguments& arguments);

}  // namespace headroom::cli
