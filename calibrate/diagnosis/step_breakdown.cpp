// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/step_breakdown.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 4> name_columns{"term", "phase", "part", "name"};
constexpr std::array<std::pair<std::string_view, double>, 9> time_columns{{{"seconds", 1.0},
                                                                           {"s", 1.0},
                                                                           {"time_s", 1.0},
                                                                           {"ms", 1e-3},
                                                                           {"time_ms", 1e-3},
                                                                           {"milliseconds", 1e-3},
                                                                           {"us", 1e-6},
                                                                           {"time_us", 1e-6},
                                                                           {"microseconds", 1e-6}}};
/// Parts and whole agree within so much of the whole.
constexpr double agreement = 0.01;

/// What a part of a breakdown costs, told as a trace's part would be.
struct PartCause {
  std::string_view word;
  CauseKind kind;
  std::string_view says, cure;
};
constexpr std::string_view fetch_cure = "Load ahead with more workers, or prepare samples before the run.";
constexpr std::string_view read_cure =
    "Read numbers back every hundred steps in place of each (.item(), .cpu(), prints, synchronize), so that the host "
    "runs ahead.";
constexpr std::string_view send_cure = "Overlap them with computing, send less, or use faster links.";
constexpr std::string_view copy_cure = "Copy from pinned memory on a stream of its own while the step before computes.";
constexpr std::array part_causes{
    PartCause{"data", CauseKind::data_loading, "waiting for samples", fetch_cure},
    PartCause{"grad", CauseKind::exposed_communication, "collectives with no computing beside them", send_cure},
    PartCause{"sync", CauseKind::host_sync, "a host that waits for the GPU before it sends more", read_cure},
    PartCause{"comm", CauseKind::exposed_communication, "collectives with no computing beside them", send_cure},
    PartCause{"reduce", CauseKind::exposed_communication, "collectives with no computing beside them", send_cure},
    PartCause{"nccl", CauseKind::exposed_communication, "collectives with no computing beside them", send_cure},
    PartCause{"cop", CauseKind::exposed_copies, "copies with no computing beside them", copy_cure},
    PartCause{"h2d", CauseKind::exposed_copies, "copies with no computing beside them", copy_cure},
    PartCause{"host", CauseKind::host_bound, "a host that is busy while the GPU has nothing to do",
              "Move work of the host out of the step, or let it run ahead."},
};
/// Below this share of a step a cause is not named: steps of one run differ by as much.
constexpr double least_named = 0.03;

void add_part_causes(RunReading& reading) {
  for (const TimePart& part : reading.parts) {
    std::string word{part.key};
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto* const found = std::find_if(part_causes.begin(), part_causes.end(), [&](const PartCause& cause) {
      return word.find(cause.word) != std::string::npos;
    });
    const double lost = part.time / *reading.step;
    if (found != part_causes.end() && lost >= least_named) {
      reading.causes.push_back({found->kind,
                                lost,
                                1.0 - lost,
                                std::string{part.key} + " takes " + format(part.time) + " of each step of " +
                                    format(*reading.step) + ": " + std::string{found->says} + ".",
                                std::string{found->cure},
                                {}});
    }
  }
  std::stable_sort(reading.causes.begin(), reading.causes.end(),
                   [](const Cause& a, const Cause& b) { return a.lost > b.lost; });
}

bool names_whole(std::string_view word) noexcept {
  return word == "step" || word == "total" || word == "all";
}

}  // namespace

bool is_step_breakdown(std::string_view text) noexcept {
  std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  bool named = false;
  bool timed = false;
  while (!line.empty()) {
    const std::size_t comma = std::min(line.size(), line.find(','));
    const std::string_view cell = line.substr(0, comma);
    named = named || std::find(name_columns.begin(), name_columns.end(), cell) != name_columns.end();
    timed = timed || std::any_of(time_columns.begin(), time_columns.end(),
                                 [&](const auto& column) { return column.first == cell; });
    line = line.substr(std::min(line.size(), comma + 1));
  }
  return named && timed;
}

StepBreakdown read_step_breakdown(std::string_view text, const std::string& file) {
  StepBreakdown told;
  told.reading.files = {file};
  Diagnostics problems;
  std::istringstream stream{std::string{text}};
  CsvReader csv{stream, file, problems};
  std::optional<std::size_t> name;
  for (const std::string_view column : name_columns) {
    name = name ? name : csv.column(column);
  }
  std::optional<std::size_t> time;
  double scale = 1.0;
  for (const auto& [column, seconds] : time_columns) {
    if (!time && csv.column(column)) {
      time = csv.column(column);
      scale = seconds;
    }
  }
  if (!name || !time) {
    problems.add(file, {1, 1}, "a breakdown has the columns 'term' or 'phase', and 'seconds' or 'ms'");
    problems.throw_if_any();
  }
  std::optional<Seconds> whole;
  Seconds sum{};
  while (csv.next()) {
    const std::string& part = csv.fields()[*name];
    const std::optional<double> value = csv.number(*time);
    if (!value) {
      if (csv.fields()[*time].empty()) {
        problems.add(file, csv.at(*time), quoted(part) + " has no time; state it, or take the row out");
      }
      continue;
    }
    if (*value < 0.0) {
      problems.add(file, csv.at(*time), quoted(part) + " takes " + csv.fields()[*time] + "; a time is 0 or more");
      continue;
    }
    const Seconds taken{scale * *value};
    if (names_whole(part)) {
      whole = taken;
      continue;
    }
    if (std::find(told.names.begin(), told.names.end(), part) != told.names.end()) {
      problems.add(file, csv.at(*name), quoted(part) + " stands twice; add its times up");
      continue;
    }
    told.names.push_back(part);
    told.reading.parts.push_back({told.names.back(), taken});
    sum += taken;
  }
  if (told.reading.parts.empty() && problems.empty()) {
    problems.add(file, {}, "the breakdown has no part");
  }
  if (whole && whole->raw() > 0.0) {
    told.left = 1.0 - sum / *whole;
    if (told.left <= -agreement) {
      problems.add(file, {},
                   "the parts sum to " + format(sum) + ", " + percent(-told.left, 3) + " more than the step of " +
                       format(*whole) + ": parts that run beside each other count once, as what is exposed");
    }
  }
  problems.throw_if_any();
  if (told.left >= agreement) {
    told.names.emplace_back("untold");
    told.reading.parts.push_back({told.names.back(), *whole - sum});
    told.reading.notes.push_back("The parts sum to " + format(sum) + " of the step's " + format(*whole) + ": " +
                                 percent(told.left, 3) + " of it is in no part.");
  }
  told.reading.step = whole.value_or(sum);
  told.reading.steps = 1;
  if (told.reading.step->raw() <= 0.0) {
    throw ConfigError{{Diagnostic{file, {}, "the step takes no time"}}};
  }
  add_part_causes(told.reading);
  return told;
}

}  // namespace headroom
