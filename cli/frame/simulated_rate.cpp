// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/simulated_rate.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>

#include <optional>
#include <variant>

namespace headroom::cli {

Hertz rate_of(const std::string& typed, std::string_view spelled) {
  const std::optional<double> bare = parse_short_number(typed) ? parse_short_number(typed) : whole_real(typed);
  const std::variant<double, TextError> parsed =
      parse_quantity(bare ? shortest_text(*bare) + " req/s" : typed, dimension_of<Hertz>);
  const std::string told = std::string{spelled} + quoted(typed);
  if (std::holds_alternative<TextError>(parsed)) {
    throw ConfigError{told + " is no rate of requests; give e.g. '12 req/s'"};
  }
  const Hertz rate{std::get<double>(parsed)};
  if (!(rate > Hertz{}) || rate > ServingTraffic::most_rate) {
    throw ConfigError{told + " must be above 0 and at most " + format_count(ServingTraffic::most_rate.raw()) +
                      " req/s; to see the most that the fleet answers, read 'saturates at'"};
  }
  return rate;
}

double rate_factor(Hertz rate, const ServingTraffic& traffic, const std::string& typed, std::string_view spelled) {
  const double factor = rate / traffic.rate();
  if (const std::string few = traffic.too_few(factor); !few.empty()) {
    throw ConfigError{std::string{spelled} + quoted(typed) + ": " + few};
  }
  return factor;
}

std::string rate_assumption(const std::string& typed, double factor) {
  return "--rate " + typed + ": all classes at " + format_number(factor) + " times their rates";
}

}  // namespace headroom::cli
