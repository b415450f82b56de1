// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/advice/batch_change.hpp>
#include <headroom/scenarios/goodput/published_files.hpp>
#include <headroom/scenarios/goodput/target_loss.hpp>

#include <cmath>

namespace headroom::goodput {
double LossLaw::loss(double parameters, double tokens) const noexcept {
  return floor(parameters) + B / std::pow(tokens, beta);
}

double LossLaw::floor(double parameters) const noexcept {
  return E + A / std::pow(parameters, alpha);
}

LossLaw read_loss_law(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable table{document, "", diagnostics};
  require_schema(table);
  LossLaw law;
  law.file = file;
  law.id = table.text("id");
  law.name = table.text("name");
  law.source = table.text("source");
  law.notes = table.maybe_text("notes").value_or("");
  law.E = table.number("E", {0.0, 1e3});
  law.A = table.number("A", {1e-9, 1e12});
  law.B = table.number("B", {1e-9, 1e12});
  law.alpha = table.number("alpha", {1e-3, 10.0});
  law.beta = table.number("beta", {1e-3, 10.0});
  table.finish();
  return law;
}

const std::vector<LossLaw>& loss_laws() {
  static const std::vector<LossLaw> laws = read_published("loss-laws", read_loss_law);
  return laws;
}

const LossLaw& loss_law(std::string_view id) {
  return published(loss_laws(), id, "loss law");
}

double tokens_to_loss(const LossLaw& law, double parameters, double loss) {
  if (!(parameters >= 1.0)) {
    throw ConfigError{"a network of " + format_number(parameters) + " parameters: state at least 1"};
  }
  const double above = loss - law.floor(parameters);
  if (above > 0.0) {
    return std::pow(law.B / above, 1.0 / law.beta);
  }
  const std::string reached = "a loss of " + format_number(loss, 4) + " is at or below " +
                              format_number(law.floor(parameters), 4) + ", which " + format_count(parameters) +
                              " parameters reach with endless tokens by " + law.id;
  if (loss <= law.E) {
    throw ConfigError{reached + "; no network gets below " + format_number(law.E, 4) + ": state a higher target"};
  }
  throw ConfigError{reached + ": state a higher target, or a network above " +
                    format_count(std::ceil(std::pow(law.A / (loss - law.E), 1.0 / law.alpha))) + " parameters"};
}

TargetLoss way_to_loss(
    const LossLaw& law, double parameters, double loss, double batch, std::optional<double> critical) {
  if (!(batch > 0.0) || (critical && !(*critical > 0.0))) {
    throw ConfigError{"a batch of " + format_number(batch) + " tokens" +
                      (critical ? " and a critical one of " + format_number(*critical) : std::string{}) +
                      ": state both above zero"};
  }
  TargetLoss way;
  way.least_tokens = tokens_to_loss(law, parameters, loss);
  way.stated = critical.has_value();
  way.critical = critical ? *critical : critical_tokens(loss);
  way.tokens = way.least_tokens * efficiency(batch, way.critical).samples;
  way.steps = way.tokens / batch;
  return way;
}

}  // namespace headroom::goodput
