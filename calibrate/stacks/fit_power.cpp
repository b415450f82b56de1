// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/solver/robust_fit.hpp>
#include <headroom/calibrate/stacks/fit_power.hpp>
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/measured/power_limits.hpp>
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/measured/serving_watts.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

namespace headroom {
namespace {

constexpr std::array power_numbers{
    std::pair{std::string_view{"active"}, &PowerForm::serving_active},
    std::pair{std::string_view{"reading"}, &PowerForm::serving_reading},
    std::pair{std::string_view{"arithmetic"}, &PowerForm::serving_arithmetic},
    std::pair{std::string_view{"scaled_experts"}, &PowerForm::serving_experts},
};
using PowerValues = std::array<double, power_numbers.size()>;

/// A measured power and what the model knows of its run.
struct PowerRow {
  GpuPower power;
  ServingUse use;
  double measured = 0.0;  ///< W of a GPU
  std::string sku, network;
};

std::vector<PowerRow> rows_of(std::span<const RunFile> files, const Sources& sources, ServingPowerFit& fit) {
  ServingTimeModel times{sources};
  std::vector<PowerRow> rows;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      const bool asked = file.form == RowForm::serving && row.metric == "power_w_per_gpu";
      if (!asked || row.doubted || !row.serving.broken.empty() || row.measured <= 0.0) {
        continue;
      }
      LaunchedRow filled = launched(row, published_launches(sources.data));
      limit_power(filled, sources.data, row);
      RowPrediction refusal;
      const std::optional<ServingWatts> found = serving_watts(filled.run, times, sources.catalog, refusal);
      // More than the limit holds, no card draws: such a row measures something else.
      // No kernel of a SKU's own generation says how long it reads and multiplies.
      if (!found || row.measured > found->limit || times.places().device_of(filled.run)->curves.empty()) {
        continue;
      }
      ++fit.sources[row.source];
      ++fit.skus[row.serving.gpu];
      ++fit.networks[row.serving.model];
      rows.push_back({found->power, found->use, row.measured, row.serving.gpu, row.serving.model});
    }
  }
  return rows;
}

PowerValues values_of(const PowerForm& form) {
  PowerValues values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (form.*power_numbers[i].second).value;
  }
  return values;
}

/// ln(predicted / measured) of each row.
void power_errors(std::span<const PowerRow> rows,
                  std::span<const double> values,
                  PowerForm& form,
                  std::span<double> errors) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    (form.*power_numbers[i].second).value = values[i];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors[i] = std::log(serving_power(rows[i].power, rows[i].use, form).raw() / rows[i].measured);
  }
}

PowerValues fitted_power(std::span<const PowerRow> rows, const PowerForm& start) {
  constexpr double far = 20.0;  // times less or more than the file says: no number of a card is there
  const PowerValues before = values_of(start);
  std::vector<FitParameter> parameters;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool share = power_numbers[i].first == "active" || power_numbers[i].first == "scaled_experts";
    parameters.push_back(
        {power_numbers[i].first, before[i], 0.0, before[i] / far, share ? 1.0 : before[i] * far, false});
  }
  FitOptions how;
  // In the logarithm of watts: beyond errors of 5 % a run counts by its absolute error, as one that shared its host.
  how.scale = 0.05;
  PowerForm form = start;
  const FitResult result = robust_fit(
      parameters, rows.size(),
      [&](std::span<const double> values, std::span<double> errors) { power_errors(rows, values, form, errors); }, {},
      how);
  PowerValues values{};
  std::transform(result.parameters.begin(), result.parameters.end(), values.begin(),
                 [](const FittedParameter& parameter) { return parameter.value; });
  return values;
}

std::vector<double> power_logs(std::span<const PowerRow> rows, const PowerValues& values, const PowerForm& start) {
  PowerForm form = start;
  std::vector<double> logs(rows.size());
  power_errors(rows, values, form, logs);
  return logs;
}

}  // namespace

ServingPowerFit fit_serving_power(std::span<const RunFile> files,
                                  const Sources& sources,
                                  bool leave_out,
                                  const std::function<void(std::string_view)>& progress) {
  const PowerForm& start = power_form(sources.data);
  ServingPowerFit fit;
  const std::vector<PowerRow> rows = rows_of(files, sources, fit);
  if (rows.empty()) {
    throw ConfigError{"no row of these files is a power (power_w_per_gpu) of a run that the serving model answers"};
  }
  if (progress) {
    progress("fitting " + std::to_string(power_numbers.size()) + " numbers on " + std::to_string(rows.size()) +
             " rows");
  }
  const auto others = [&](const std::string& name, std::string PowerRow::*of) {
    std::vector<PowerRow> kept;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), [&](const PowerRow& r) { return r.*of != name; });
    return kept;
  };
  const PowerValues before = values_of(start);
  const PowerValues whole = fitted_power(rows, start);
  PowerValues low = whole, high = whole;
  for (const auto& [sku, count] : fit.skus) {
    if (count == rows.size()) {
      break;  // one SKU alone: nothing is left without it
    }
    const PowerValues without = fitted_power(others(sku, &PowerRow::sku), start);
    for (std::size_t i = 0; i < without.size(); ++i) {
      low[i] = std::min(low[i], without[i]);
      high[i] = std::max(high[i], without[i]);
    }
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    fit.numbers[i] = {power_numbers[i].first, before[i], whole[i], low[i], high[i]};
  }
  fit.before = fit_errors(power_logs(rows, before, start));
  fit.fitted = fit_errors(power_logs(rows, whole, start));
  if (!leave_out || fit.networks.size() < 2) {
    return fit;
  }
  std::vector<double> left;
  for (const auto& [network, count] : fit.networks) {
    std::vector<PowerRow> out;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(out),
                 [&, name = network](const PowerRow& r) { return r.network == name; });
    const std::vector<double> theirs = power_logs(out, fitted_power(others(network, &PowerRow::network), start), start);
    left.insert(left.end(), theirs.begin(), theirs.end());
  }
  fit.left_out = fit_errors(left);
  std::transform(left.begin(), left.end(), left.begin(), [](double log) { return std::abs(log); });
  fit.width = std::expm1(quantile(left, 0.8));
  return fit;
}

std::vector<std::string> write_power_file(const ServingPowerFit& fit, const std::string& folder) {
  constexpr int digits = 3;
  const std::string path = (std::filesystem::path{folder} / "stacks/step/power.toml").string();
  TomlFiles files;
  TomlLines& lines = lines_of(files, path);
  const auto put = [&](std::string_view key, const std::string& numbers) {
    const auto line = lines.find({"[serving]"}, key);
    const std::size_t source = line == lines.text.end() ? std::string::npos : line->find("source = ");
    if (source == std::string::npos) {
      throw ConfigError{path + " holds no " + quoted(std::string{"serving."} + std::string{key})};
    }
    *line = std::string{key} + " = { " + numbers + ", " + line->substr(source);
  };
  for (const PowerNumber& number : fit.numbers) {
    put(number.name, "value = " + format_number(number.fitted, digits) + ", low = " +
                         format_number(number.low, digits) + ", high = " + format_number(number.high, digits));
  }
  if (fit.left_out.rows > 0) {
    put("width", "value = " + format_number(fit.width, digits));
  }
  return write_files(files);
}

}  // namespace headroom
