// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/network_fit_text.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/statistics.hpp>

#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace headroom::cli {
namespace {

/// Posterior over prior deviation above which a number mainly rests on its prior.
constexpr double leans = 0.6;

std::string numbers_text(const NetworkFit& fit) {
  Table table{{"number", "was", "fitted", "+- %", "<expected near", "<remark"}};
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    const NetworkKnob& k = fit.knobs[i];
    const std::string remark = fit.result.at_bound[i]            ? "at its bound"
                               : fit.result.narrowing[i] > 0.9   ? "prior: the rows do not tell it"
                               : fit.result.narrowing[i] > leans ? "leans on its prior"
                                                                 : "";
    table.row({k.name(), network_value_text(k, k.value), network_value_text(k, fit.values[i]),
               percent_number(std::expm1(fit.result.deviation[i])), network_value_text(k, k.centre), remark});
  }
  return table.text(0);
}

struct Errors {
  std::vector<double> before, fitted, bias;
  std::array<std::vector<double>, network_leaving_names.size()> left_out;
};

std::string summary(const std::vector<double>& errors) {
  return errors.empty() ? "-" : percent_number(mean(errors)) + " / " + percent_number(median(errors));
}

void add(Errors& e, const FittedNetworkRun& run) {
  e.before.push_back(std::abs(std::expm1(run.before)));
  e.fitted.push_back(std::abs(std::expm1(run.fitted)));
  e.bias.push_back(std::expm1(run.fitted));
  for (std::size_t i = 0; i < run.left_out.size(); ++i) {
    if (std::isfinite(run.left_out[i])) {
      e.left_out[i].push_back(std::abs(std::expm1(run.left_out[i])));
    }
  }
}

std::string groups_text(const NetworkFit& fit,
                        const std::vector<std::string>& headers,
                        const std::function<std::vector<std::string>(const FittedNetworkRun&)>& key_of) {
  std::map<std::vector<std::string>, Errors> groups;
  for (const FittedNetworkRun& run : fit.runs) {
    add(groups[key_of(run)], run);
  }
  std::vector<std::string> columns = headers;
  for (const std::string_view column :
       {"rows", "before: mape / median %", "fitted", "bias", "network left out", "SKU left out", "source left out"}) {
    columns.emplace_back(column);
  }
  Table table{columns};
  for (const auto& [key, e] : groups) {
    std::vector<std::string> cells = key;
    for (std::string cell :
         {std::to_string(e.fitted.size()), summary(e.before), summary(e.fitted), percent_number(median(e.bias)),
          summary(e.left_out[0]), summary(e.left_out[1]), summary(e.left_out[2])}) {
      cells.push_back(std::move(cell));
    }
    table.row(cells);
  }
  return table.text(0);
}

std::string loop_word(const FittedNetworkRun& run) {
  if (run.call.step) {
    return run.call.step->ranks > 1.0 ? "training on many" : "training";
  }
  return run.call.together > 0.0 ? "closed loop" : "calls";
}

}  // namespace

std::string network_fit_text(const NetworkFit& fit) {
  return numbers_text(fit) + "\n" +
         groups_text(fit, {"file", "<kind"},
                     [](const FittedNetworkRun& run) {
                       return std::vector<std::string>{run.file, loop_word(run)};
                     }) +
         "\n" +
         groups_text(fit, {"engine", "<kind"},
                     [](const FittedNetworkRun& run) {
                       return std::vector<std::string>{run.call.engine->id, loop_word(run)};
                     }) +
         "\n" +
         groups_text(fit, {"network", "<engine", "<kind"},
                     [](const FittedNetworkRun& run) {
                       return std::vector<std::string>{run.call.network, run.call.engine->id, loop_word(run)};
                     }) +
         "\n" +
         groups_text(fit, {"GPU"},
                     [](const FittedNetworkRun& run) { return std::vector<std::string>{run.call.device->id}; }) +
         "\n" + std::to_string(fit.knobs.size()) + " numbers fitted on " + std::to_string(fit.runs.size()) +
         " configurations in " + std::to_string(fit.result.iterations) + " iterations; " + std::to_string(fit.open) +
         " were left out because their columns leave open which network ran\n";
}

}  // namespace headroom::cli
