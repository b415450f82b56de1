// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_rough.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/scenarios/measured/training_row.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace headroom {
namespace {

/// Families in the order of fitting: attention and head of narrow recipes run at the 16-bit rate.
constexpr std::array<std::string_view, 5> families{"16-bit", "tf32", "fp32", "8-bit", "4-bit"};
/// Bounds of a share: a step cannot beat its arithmetic at peak, and no published run is below a thousandth of it.
constexpr double least_share = 1e-3;
constexpr double greatest_share = 1.0;
/// With fewer rows a share describes single machines rather than the generation.
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

/// Finds the share by bisection on the weighted median of the log error; predicted time falls as the share rises.
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

/// Errors of rows under shares fitted without their source.
struct LeftOut {
  std::vector<double> logs, weights;
};

using SamplesByKey = std::map<std::string, std::vector<Sample>>;

SamplesByKey time_samples(std::span<const RunFile> files, TrainingRowModel& model) {
  SamplesByKey by_key;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      const bool scorable = file.form == RowForm::training && !row.doubted && row.broken.empty() && is_time(row.metric);
      const std::string key = scorable ? model.share_key(row.run) : std::string{};
      if (!key.empty()) {
        by_key[key].push_back({&row, 1.0});
      }
    }
  }
  return by_key;
}

/// Sets each row's weight to 1/sqrt(n) of its source and returns n for every source.
std::map<std::string, double> weigh_by_source(std::vector<Sample>& samples) {
  std::map<std::string, double> sizes;
  for (const Sample& sample : samples) {
    sizes[sample.row->source] += 1.0;
  }
  for (Sample& sample : samples) {
    sample.weight = 1.0 / std::sqrt(sizes[sample.row->source]);
  }
  return sizes;
}

/// MAPE of one source under the share of all others; its errors are added to `left_out`.
double error_without(TrainingRowModel& model,
                     const std::string& key,
                     const std::vector<Sample>& samples,
                     const std::string& source,
                     LeftOut& left_out) {
  model.set_share(key, fit_share(model, key, without(samples, source)));
  std::vector<double> errors;
  for (const Sample& sample : samples) {
    if (sample.row->source == source) {
      // rows without a prediction were dropped before
      const double error = log_error(model, *sample.row).value_or(0.0);
      left_out.logs.push_back(std::abs(error));
      left_out.weights.push_back(sample.weight);
      errors.push_back(std::abs(std::exp(error) - 1.0));
    }
  }
  return mean(errors);
}

/// Fits the share of one generation and recipe and sets it in `model`; nullopt when too few rows can be predicted.
std::optional<FittedShare> fit_key(TrainingRowModel& model,
                                   const std::string& key,
                                   std::vector<Sample>& samples,
                                   LeftOut& left_out) {
  model.set_share(key, 0.5);
  std::erase_if(samples, [&](const Sample& s) { return !log_error(model, *s.row); });
  if (samples.size() < least_rows) {
    model.clear_share(key);
    return std::nullopt;
  }
  const std::map<std::string, double> sizes = weigh_by_source(samples);
  FittedShare share{key, 0.0, samples.size(), {}, 0.0, std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> errors;
  for (const auto& [source, size] : sizes) {
    share.sources.push_back(source);
    if (sizes.size() > 1) {
      errors.push_back(error_without(model, key, samples, source, left_out));
    }
  }
  if (!errors.empty()) {
    share.left_out_mape = mean(errors);
  }
  share.share = fit_share(model, key, samples);
  model.set_share(key, share.share);
  share.mape = mean_absolute(relative_errors(model, samples));
  return share;
}

/// Share for generations without rows: the median over the measured generations of the family.
std::optional<FittedShare> share_of_any(std::string_view family, const std::vector<FittedShare>& measured) {
  std::vector<double> shares;
  FittedShare any{"any/" + std::string{family}, 0.0, 0, {}, 0.0, std::numeric_limits<double>::quiet_NaN()};
  for (const FittedShare& share : measured) {
    if (share.key.ends_with("/" + std::string{family})) {
      shares.push_back(share.share);
      any.rows += share.rows;
      any.sources.push_back(share.key);
    }
  }
  if (shares.empty()) {
    return std::nullopt;
  }
  any.share = median(shares);
  return any;
}

}  // namespace

RoughFit fit_rough(std::span<const RunFile> files, const Sources& sources) {
  RoughStack open = find_rough_stack(sources.data, "rough-train");
  open.sustained.clear();
  TrainingRowModel model{sources, open};
  SamplesByKey by_key = time_samples(files, model);
  RoughFit fit;
  LeftOut left_out;
  for (const std::string_view family : families) {
    for (auto& [key, samples] : by_key) {
      if (!key.ends_with("/" + std::string{family})) {
        continue;
      }
      if (std::optional<FittedShare> share = fit_key(model, key, samples, left_out)) {
        fit.shares.push_back(std::move(*share));
      }
    }
  }
  for (const std::string_view family : families) {
    if (std::optional<FittedShare> any = share_of_any(family, fit.shares)) {
      fit.any.push_back(std::move(*any));
    }
  }
  const auto width = [&](double quantile) {
    return std::exp(weighted_quantile(left_out.logs, left_out.weights, quantile)) - 1.0;
  };
  fit.left_out_rows = left_out.logs.size();
  fit.width50 = width(0.5);
  fit.width80 = width(0.8);
  fit.width90 = width(0.9);
  return fit;
}

}  // namespace headroom
