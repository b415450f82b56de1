// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/wire/simulated_at.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <utility>
#include <variant>

namespace headroom {

Hertz request_rate(std::string_view name, const std::string& typed) {
  const std::optional<double> bare = parse_short_number(typed) ? parse_short_number(typed) : whole_real(typed);
  const std::variant<double, TextError> parsed =
      parse_quantity(bare ? shortest_text(*bare) + " req/s" : typed, dimension_of<Hertz>);
  if (std::holds_alternative<TextError>(parsed)) {
    throw ConfigError{std::string{name} + " " + quoted(typed) + " is no rate of requests; give e.g. '12 req/s'"};
  }
  const Hertz rate{std::get<double>(parsed)};
  if (!(rate > Hertz{}) || rate > ServingTraffic::most_rate) {
    throw ConfigError{std::string{name} + " " + quoted(typed) + " must be above 0 and at most " +
                      format_count(ServingTraffic::most_rate.raw()) +
                      " req/s; to see the most that the fleet answers, read 'saturates at'"};
  }
  return rate;
}

asked::SimulatedFleet simulated_at(Scenario scenario,
                                   std::optional<Hertz> rate,
                                   std::string_view name,
                                   const std::string& typed) {
  const ServeScenario& serve = std::get<ServeScenario>(scenario.question);
  double factor = 1.0;
  if (rate && serve.traffic) {
    factor = *rate / serve.traffic->rate();
    if (const std::string few = serve.traffic->too_few(factor); !few.empty()) {
      throw ConfigError{std::string{name} + " " + quoted(typed) + ": " + few};
    }
    scenario.assumptions.push_back(std::string{name} + " " + typed + ": all classes at " + format_number(factor) +
                                   " times their rates");
  }
  return {std::move(scenario), factor};
}

}  // namespace headroom
