// SPDX-License-Identifier: Apache-2.0
// An answer's faces. Every number comes from the same structure.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/door/answer.hpp>

#include <string>

namespace headroom {

/// For people. `explained`: plans term by term, in the words of `headroom explain`. `file`: how a search's next command
/// names its scenario.
[[nodiscard]] std::string to_text(const GivenAnswer& answer, bool explained = false, const std::string& file = "");
/// The same in a few lines: the verdict and the numbers that a planner needs first.
[[nodiscard]] std::string to_brief(const GivenAnswer& answer);
/// What programs read and every page is drawn from: raw SI, the unit in the key, the schema first
/// (docs/scenario-format.md).
[[nodiscard]] Value document_of(const GivenAnswer& answer);
/// A row a number of GPUs of a series, a row a hold of a cluster's schedule. ConfigError for answers that have no rows.
[[nodiscard]] std::string to_csv(const GivenAnswer& answer);
/// One file with charts; a fleet is simulated at more rates for it, on so many threads. ConfigError where the build has
/// no chart library.
[[nodiscard]] std::string to_html(const GivenAnswer& answer, unsigned threads = 0);

}  // namespace headroom
