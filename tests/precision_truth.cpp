// SPDX-License-Identifier: Apache-2.0
// What a narrower format gains, on published runs of one configuration in two widths: predicted against measured, and
// against the ratio of the peaks. Prints a table; exit 1 when a bar is missed.
#include <headroom/core/statistics.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

using namespace headroom;

namespace {

/// Of the gain's error over the pairs: mean, and the largest.
constexpr double mean_bar = 0.10;
constexpr double worst_bar = 0.25;

const PrecisionRow* format_of(std::string_view name) {
  for (const PrecisionRow& row : precision_rows) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

/// All that the columns say of a run but its format.
std::string configuration(const RunFile& file, const RunRow& row) {
  std::string key;
  for (const std::string& column : file.header) {
    if (column != "id" && column != "precision" && column != "value" && column != "notes" && column != "options" &&
        column != "source_ref") {
      key += cell(file, row, column).value_or("") + '\x1f';
    }
  }
  return key;
}

struct Runs {
  std::vector<double> measured, predicted;
  FlopsPerSecond peak{};
  std::string name;
};

struct Pair {
  std::string name;
  double measured = 0.0, predicted = 0.0, peaks = 0.0;
};

/// Of each configuration the time in the wider format over that in the next narrower one.
std::vector<Pair> pairs_of(const std::vector<RunFile>& files, const Validation& validation, const Catalog& catalog) {
  std::map<std::string, std::map<double, Runs, std::greater<>>> configurations;
  std::size_t at = 0;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      const ScoredRow& scored = validation.rows.at(at++);
      const auto measured = step_time_of(scored, scored.measured);
      const auto predicted = step_time_of(scored, scored.prediction.predicted);
      const PrecisionRow* format = format_of(row.run.precision);
      // Networks that are no language models are priced by calls and have bars of their own (network_truth.cpp).
      if (scored.prediction.status != RowStatus::ok || scored.prediction.of_network || !measured || !predicted ||
          format == nullptr) {
        continue;
      }
      Runs& runs = configurations[configuration(file, row)][format->weight_bytes];
      runs.measured.push_back(measured->raw());
      runs.predicted.push_back(predicted->raw());
      runs.peak = catalog.device(row.run.gpu).peak_of(format->rate);
      runs.name = row.run.model + " on " + std::to_string(row.run.gpus.value_or(0)) + " " + row.run.gpu + ", " +
                  row.run.precision;
    }
  }
  std::vector<Pair> pairs;
  for (const auto& [key, widths] : configurations) {
    for (auto narrow = widths.begin(); narrow != widths.end(); ++narrow) {
      if (narrow != widths.begin()) {
        const auto wide = std::prev(narrow);
        pairs.push_back({narrow->second.name, median(wide->second.measured) / median(narrow->second.measured),
                         median(wide->second.predicted) / median(narrow->second.predicted),
                         narrow->second.peak / wide->second.peak});
      }
    }
  }
  return pairs;
}

std::vector<RunFile> training_files(const std::filesystem::path& folder) {
  std::vector<RunFile> files;
  Diagnostics diagnostics;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("train_") && entry.path().extension() == ".csv") {
        std::ifstream stream{entry.path(), std::ios::binary};
        files.push_back(read_runs(stream, name, diagnostics));
      }
    }
  }
  diagnostics.throw_if_any();
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<RunFile> files = training_files(count > 1 ? arguments[1] : "");
  if (files.empty()) {
    std::puts("Skipped: no measured rows");
    return 0;
  }
  const Sources sources = Sources::standard();
  const std::vector<Pair> pairs = pairs_of(files, validate(files, {}, sources), sources.catalog);
  std::vector<double> errors;
  std::vector<double> of_peaks;
  std::printf("%-60s %9s %9s %9s\n", "narrower format", "measured", "predicted", "peaks");
  for (const Pair& pair : pairs) {
    std::printf("%-60s %9.3f %9.3f %9.3f\n", pair.name.c_str(), pair.measured, pair.predicted, pair.peaks);
    errors.push_back(pair.predicted / pair.measured - 1.0);
    of_peaks.push_back(pair.peaks / pair.measured - 1.0);
  }
  double worst = 0.0;
  for (const double error : errors) {
    worst = std::max(worst, std::abs(error));
  }
  std::printf("%zu pairs: gain off by %.1f %% on average, %.1f %% at most; the ratio of the peaks by %.1f %%\n",
              pairs.size(), 100.0 * mean_absolute(errors), 100.0 * worst, 100.0 * mean_absolute(of_peaks));
  const bool holds = pairs.size() >= 5 && mean_absolute(errors) <= mean_bar && worst <= worst_bar &&
                     mean_absolute(errors) < mean_absolute(of_peaks);
  return holds ? 0 : 1;
}
