// SPDX-License-Identifier: Apache-2.0
// [search] of a question of kind batch: the scenarios of every combination that it lists.
#pragma once

#include <headroom/scenarios/batch_search/batch_choice.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <string>
#include <vector>

namespace headroom {

/// One candidate for every combination of SKU, engine, precision and instances. A combination that is refused alone,
/// such as of a format that a SKU has no units for, is a candidate with its reason. Throws ConfigError with what is
/// wrong with the table, and with what every combination is refused for.
[[nodiscard]] std::vector<BatchCandidate> read_batch_search(const ConfigValue& root,
                                                            const std::string& file,
                                                            const Sources& sources,
                                                            const NetworkLibrary& networks);

}  // namespace headroom
