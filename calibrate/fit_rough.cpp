// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/fit_rough.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace headroom {
namespace {

/// Fitted in this order: attention and head of the narrow recipes run at the 16-bit rate.
constexpr std::array<std::string_view, 5> families{"16-bit", "tf32", "fp32", "8-bit", "4-bit"};
/// A step cannot take less than its arithmetic at peak, and nobody publishes a run below a thousandth of it.
constexpr double least_share = 1e-3;
constexpr double greatest_share = 1.0;
/// Below this many rows a level says more about one machine than about the generation.
constexpr std::size_t least_rows = 10;

struct Sample {
  const RunRow* row = nullptr;
  double weight = 1.0;
};

bool is_time(std::string_view metric) {
  return metric == "step_time_s" || metric == "tokens_per_s_per_gpu" || metric == "samples_per_s";
}

/// log(predicted time / measured time); nullopt for rows that cannot be predicted.
std::optional<double> log_error(TrainingRowModel& model, const RunRow& row) {
  const RowPrediction p = model.predict(row.run, row.metric, row.unit);
  if (p.status != RowStatus::ok) {
    return std::nullopt;
  }
  const double ratio = std::log(p.predicted / row.measured);
  return row.metric == "step_time_s" ? ratio : -ratio;
}

std::vector<Sample> without(const std::vector<Sample>& samples, std::string_view source) {
  std::vector<Sample> rest;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(rest),
               [&](const Sample& s) { return s.row->source != source; });
  return rest;
}

/// The predicted time falls as the share rises: bisection on the weighted median of the logarithmic error.
double fit_share(TrainingRowModel& model, const std::string& key, const std::vector<Sample>& samples) {
  double low = std::log(least_share);
  double high = std::log(greatest_share);
  constexpr int halvings = 40;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    model.set_share(key, std::exp(middle));
    std::vector<double> errors;
    std::vector<double> weights;
    for (const Sample& sample : samples) {
      if (const auto error = log_error(model, *sample.row)) {
        errors.push_back(*error);
        weights.push_back(sample.weight);
      }
    }
    (weighted_median(errors, weights) > 0.0 ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

std::vector<double> relative_errors(TrainingRowModel& model, const std::vector<Sample>& samples) {
  std::vector<double> errors;
  for (const Sample& sample : samples) {
    const RowPrediction p = model.predict(sample.row->run, sample.row->metric, sample.row->unit);
    if (p.status == RowStatus::ok) {
      errors.push_back(p.predicted / sample.row->measured - 1.0);
    }
  }
  return errors;
}

}  // namespace

RoughFit fit_rough(std::span<const RunFile> files, const Sources& sources) {
  RoughStack open = find_rough_stack("rough-train");
  open.sustained.clear();
  TrainingRowModel model{sources, open};

  std::map<std::string, std::vector<Sample>> by_key;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      const std::string key =
          file.form == RowForm::training && !row.doubted && row.broken.empty() && is_time(row.metric)
              ? model.share_key(row.run)
              : std::string{};
      if (!key.empty()) {
        by_key[key].push_back({&row, 1.0});
      }
    }
  }
  RoughFit fit;
  std::vector<double> left_out_logs;
  std::vector<double> left_out_weights;
  for (const std::string_view family : families) {
    for (auto& [key, samples] : by_key) {
      if (!key.ends_with("/" + std::string{family})) {
        continue;
      }
      model.set_share(key, 0.5);
      std::erase_if(samples, [&](const Sample& s) { return !log_error(model, *s.row); });
      if (samples.size() < least_rows) {
        model.clear_share(key);
        continue;
      }
      std::map<std::string, double> sizes;
      for (const Sample& sample : samples) {
        sizes[sample.row->source] += 1.0;
      }
      for (Sample& sample : samples) {
        sample.weight = 1.0 / std::sqrt(sizes[sample.row->source]);
      }
      FittedShare share{key, 0.0, samples.size(), {}, 0.0, std::numeric_limits<double>::quiet_NaN()};
      std::vector<double> left_out;
      for (const auto& [source, size] : sizes) {
        share.sources.push_back(source);
        if (sizes.size() > 1) {
          model.set_share(key, fit_share(model, key, without(samples, source)));
          std::vector<double> sizes_of_errors;
          for (const Sample& sample : samples) {
            if (sample.row->source == source) {
              const double error = log_error(model, *sample.row).value_or(0.0);  // all others were dropped above
              left_out_logs.push_back(std::abs(error));
              left_out_weights.push_back(sample.weight);
              sizes_of_errors.push_back(std::abs(std::exp(error) - 1.0));
            }
          }
          left_out.push_back(mean(sizes_of_errors));
        }
      }
      if (!left_out.empty()) {
        share.left_out_mape = mean(left_out);
      }
      share.share = fit_share(model, key, samples);
      model.set_share(key, share.share);
      share.mape = mean_absolute(relative_errors(model, samples));
      fit.shares.push_back(std::move(share));
    }
  }
  for (const std::string_view family : families) {
    std::vector<double> shares;
    FittedShare any{"any/" + std::string{family}, 0.0, 0, {}, 0.0, std::numeric_limits<double>::quiet_NaN()};
    for (const FittedShare& share : fit.shares) {
      if (share.key.ends_with("/" + std::string{family})) {
        shares.push_back(share.share);
        any.rows += share.rows;
        any.sources.push_back(share.key);
      }
    }
    if (!shares.empty()) {
      any.share = median(shares);
      fit.any.push_back(std::move(any));
    }
  }
  fit.left_out_rows = left_out_logs.size();
  fit.width50 = std::exp(weighted_quantile(left_out_logs, left_out_weights, 0.5)) - 1.0;
  fit.width80 = std::exp(weighted_quantile(left_out_logs, left_out_weights, 0.8)) - 1.0;
  fit.width90 = std::exp(weighted_quantile(left_out_logs, left_out_weights, 0.9)) - 1.0;
  return fit;
}

}  // namespace headroom
