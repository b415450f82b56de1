// SPDX-License-Identifier: Apache-2.0
// The head of the page of a fleet ("headroom.fleet/1") or of a simulation ("headroom.simulate/1").
#pragma once

#include <headroom/answers/markup/place.hpp>
#include <headroom/answers/page/sections.hpp>

#include <string>
#include <vector>

namespace headroom::report {

/// The document of a fleet or of a simulation; absent on other pages.
[[nodiscard]] Place serving_answer(const Documents& documents);
/// The way to serve that is taken: of a fleet its first option, of a simulation the answer itself.
[[nodiscard]] Place taken_of(const Place& answer);

/// "llama3.1-70b on 12 x h100-sxm-80gb", as HTML.
[[nodiscard]] std::string serving_subject(const Documents& documents);
/// What the question fixes: rate, lengths, engine, formats, layout.
[[nodiscard]] std::vector<std::string> serving_words(const Documents& documents);
[[nodiscard]] std::string serving_verdict(const Documents& documents);
[[nodiscard]] std::vector<NamedFigure> serving_headlines(const Documents& documents);

/// Each promise, what was reached of it and how sure that is.
[[nodiscard]] std::string promises_part(const Place& answer);
/// What an hour and a million of what is served cost; nothing without a price, or on other pages.
[[nodiscard]] std::string cost_part(const Documents& documents);

}  // namespace headroom::report
