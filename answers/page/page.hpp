// SPDX-License-Identifier: Apache-2.0
// The answer as one HTML file that needs nothing but itself.
#pragma once

#include <headroom/answers/markup/place.hpp>

#include <string>

namespace headroom::report {

/// The page of an answer: its text and tables, the documents themselves as JSON, and the library that draws them with
/// its licence. The same bytes for the same documents; no request leaves the page. ConfigError when the library was not
/// there when headroom was built.
[[nodiscard]] std::string page(const Documents& documents);

/// ConfigError when no page can be made: before work is done for one.
void require_charts();

}  // namespace headroom::report
