// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace headroom {
namespace {

struct UnitEnding {
  std::string_view ending;
  double seconds;
};
constexpr std::array unit_endings{UnitEnding{"_seconds", 1.0}, UnitEnding{"_sec", 1.0},  UnitEnding{"_ms", 1e-3},
                                  UnitEnding{"_us", 1e-6},     UnitEnding{"_ns", 1e-9},  UnitEnding{"_s", 1.0},
                                  UnitEnding{"(s)", 1.0},      UnitEnding{"(ms)", 1e-3}, UnitEnding{"(us)", 1e-6},
                                  UnitEnding{"(ns)", 1e-9},    UnitEnding{"[s]", 1.0},   UnitEnding{"[ms]", 1e-3},
                                  UnitEnding{"[us]", 1e-6}};

/// A name in small letters without its unit: "Latency (ms)" is "latency".
std::string without_unit(std::string_view name) {
  std::string bare = in_small(trimmed(name));
  for (const UnitEnding& unit : unit_endings) {
    if (bare.ends_with(unit.ending)) {
      bare.resize(bare.size() - unit.ending.size());
      break;
    }
  }
  bare = std::string{trimmed(bare)};
  std::replace(bare.begin(), bare.end(), ' ', '_');
  std::replace(bare.begin(), bare.end(), '-', '_');
  return bare;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool names_phase(std::string_view bare) {
  return is_one_of(bare, {"phase", "term", "component", "stage", "part"});
}
bool names_time(std::string_view bare) {
  return is_one_of(bare, {"seconds", "s", "ms", "us", "milliseconds", "microseconds", "time", "duration", "mean"});
}
bool names_latency(std::string_view bare) {
  return is_one_of(bare,
                   {"latency", "e2e_latency", "ttft", "request_latency", "response_time", "duration", "step_time"});
}
bool names_begin(std::string_view bare) {
  return is_one_of(bare, {"time", "timestamp", "t", "start", "start_time", "arrival", "arrival_time", "at"});
}
bool names_prompt(std::string_view bare) {
  return is_one_of(bare, {"prompt_tokens", "input_tokens", "prompt_len", "input_len", "prompt_length", "isl"});
}
bool names_step(std::string_view bare) {
  return is_one_of(bare, {"step", "iteration", "iter"});
}
bool names_whole(std::string_view bare) {
  return is_one_of(bare, {"total", "step", "step_time", "whole", "whole_step", "all", "iteration_time"});
}
/// A column of a table with a row a step that is a phase of it.
bool is_phase_column(std::string_view bare) {
  return is_one_of(bare, {"data",     "data_load",  "data_loading",  "dataloader", "loader",     "forward",
                          "backward", "all_reduce", "allreduce",     "optimizer",  "optimiser",  "optim",
                          "fwd",      "bwd",        "communication", "comm",       "checkpoint", "h2d",
                          "copy",     "copies",     "sync",          "compute",    "data_time",  "batch_generator"});
}

std::vector<std::string> header_cells(std::string_view header) {
  std::vector<std::string> cells;
  std::size_t begin = 0;
  while (begin <= header.size()) {
    const std::size_t end = std::min(header.find(',', begin), header.size());
    std::string_view cell = trimmed(header.substr(begin, end - begin));
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') {
      cell = cell.substr(1, cell.size() - 2);
    }
    cells.emplace_back(cell);
    begin = end + 1;
  }
  return cells;
}

/// Unit of a column of times whose name may be the unit alone.
double seconds_of(std::string_view name) {
  const std::string small = in_small(trimmed(name));
  if (small == "ms" || small == "milliseconds") {
    return 1e-3;
  }
  if (small == "us" || small == "microseconds") {
    return 1e-6;
  }
  return unit_of_column(name);
}

void take_time(CsvReader& csv, std::size_t column, std::optional<double>& kept) {
  take_value(kept, {csv.header()[column], csv.fields()[column], seconds_of(csv.header()[column]), false},
             csv.diagnostics(), csv.file(), csv.at(column));
}

/// Phases by name, in the order of their first mention.
class PhaseSum {
 public:
  struct Held {
    PhaseTime phase;
    double counts = 0.0, bytes = 0.0;
    std::int64_t rows = 0;
    bool has_bytes = false;
  };
  Held& of(std::string_view name, int line) {
    const auto [place, is_new] = places_.try_emplace(std::string{name}, held_.size());
    if (is_new) {
      held_.push_back({{std::string{name}, {}, 1.0, {}, line}});
    }
    return held_[place->second];
  }
  /// Sums over `steps` as means of a step.
  StatedPhases means(const std::string& file, std::int64_t steps) {
    StatedPhases all{file, {}, {}, steps};
    const double each = 1.0 / static_cast<double>(steps);
    for (Held& held : held_) {
      held.phase.time *= each;
      held.phase.count = held.counts * each;
      if (held.has_bytes && held.counts > 0.0) {
        held.phase.bytes = Bytes{held.bytes / held.counts};
      }
      const std::string bare = without_unit(held.phase.name);
      if (names_whole(bare) || bare == "step") {
        all.step = held.phase.time;
      } else {
        all.phases.push_back(held.phase);
      }
    }
    return all;
  }

 private:
  std::vector<Held> held_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

void read_long_phases(CsvReader& csv, Signals& signals) {
  std::optional<std::size_t> phase, time, count, bytes, step;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string bare = without_unit(csv.header()[i]);
    const std::string small = in_small(trimmed(csv.header()[i]));
    if (names_phase(bare)) {
      phase = i;
    } else if (!time && (names_time(bare) || names_time(small))) {
      time = i;
    } else if (is_one_of(bare, {"count", "calls", "number", "n"})) {
      count = i;
    } else if (is_one_of(bare, {"bytes", "size"})) {
      bytes = i;
    } else if (names_step(bare)) {
      step = i;
    }
  }
  PhaseSum sum;
  std::set<std::string, std::less<>> steps;
  while (csv.next()) {
    const std::vector<std::string>& fields = csv.fields();
    std::optional<double> lasts, times, moved;
    take_time(csv, *time, lasts);
    if (count) {
      take_value(times, {"count", fields[*count], 1.0, false}, csv.diagnostics(), csv.file(), csv.at(*count));
    }
    if (bytes) {
      take_value(moved, {"bytes", fields[*bytes], 1.0, false}, csv.diagnostics(), csv.file(), csv.at(*bytes));
    }
    if (trimmed(fields[*phase]).empty()) {
      csv.diagnostics().add(csv.file(), csv.at(*phase), "a phase has no name; name it, such as 'data_load'");
      continue;
    }
    if (!lasts) {
      if (is_untold(fields[*time])) {
        csv.diagnostics().add(csv.file(), csv.at(*time),
                              "phase " + quoted(fields[*phase]) + " has no time; measure it, or take the row out");
      }
      continue;
    }
    if (step) {
      steps.emplace(trimmed(fields[*step]));
    }
    PhaseSum::Held& held = sum.of(trimmed(fields[*phase]), csv.line());
    held.phase.time += Seconds{*lasts};
    held.counts += times.value_or(1.0);
    held.bytes += times.value_or(1.0) * moved.value_or(0.0);
    held.has_bytes = held.has_bytes || moved.has_value();
    ++held.rows;
  }
  csv.diagnostics().throw_if_any();
  StatedPhases phases = sum.means(csv.file(), std::max<std::int64_t>(1, static_cast<std::int64_t>(steps.size())));
  signals.phases.push_back(std::move(phases));
}

void read_wide_phases(CsvReader& csv, Signals& signals) {
  PhaseSum sum;
  std::int64_t steps = 0;
  while (csv.next()) {
    ++steps;
    for (std::size_t i = 0; i < csv.header().size(); ++i) {
      const std::string bare = without_unit(csv.header()[i]);
      if (!names_whole(bare) && !is_phase_column(bare)) {
        continue;
      }
      std::optional<double> lasts;
      take_time(csv, i, lasts);
      PhaseSum::Held& held = sum.of(bare, csv.line());
      held.phase.time += Seconds{lasts.value_or(0.0)};
      held.counts += 1.0;
    }
  }
  csv.diagnostics().throw_if_any();
  if (steps > 0) {
    signals.phases.push_back(sum.means(csv.file(), steps));
  }
}

/// "1-02:03:04", "02:03:04" or "03:04.567" as seconds.
std::optional<Seconds> elapsed_of(std::string_view text) {
  text = trimmed(text);
  double days = 0.0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const std::optional<double> whole = whole_real(text.substr(0, dash));
    if (!whole || !(*whole >= 0.0)) {
      return std::nullopt;
    }
    days = *whole;
    text.remove_prefix(dash + 1);
  }
  double seconds = 0.0;
  int parts = 0;
  while (true) {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::optional<double> part = whole_real(text.substr(0, end));
    if (!part || !(*part >= 0.0) || ++parts > 3) {
      return std::nullopt;
    }
    seconds = 60.0 * seconds + *part;
    if (end == text.size()) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  const double all = 86400.0 * days + seconds;
  return parts >= 2 && std::isfinite(all) ? std::optional{Seconds{all}} : std::nullopt;
}

std::vector<std::string_view> barred(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find('|', begin), line.size());
    cells.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

}  // namespace

double unit_of_column(std::string_view name) {
  const std::string small = in_small(trimmed(name));
  for (const UnitEnding& unit : unit_endings) {
    if (small.ends_with(unit.ending)) {
      return unit.seconds;
    }
  }
  return 1.0;
}

TableForm table_form_of(std::string_view header) {
  bool phase = false;
  bool time = false;
  bool begin = false;
  bool latency = false;
  bool whole = false;
  int columns = 0;
  for (const std::string& cell : header_cells(header)) {
    const std::string bare = without_unit(cell);
    phase = phase || names_phase(bare);
    time = time || names_time(bare) || names_time(in_small(cell));
    begin = begin || names_begin(bare);
    latency = latency || names_latency(bare);
    whole = whole || names_step(bare) || names_whole(bare);
    columns += is_phase_column(bare) ? 1 : 0;
  }
  if (phase && time) {
    return TableForm::phases;
  }
  if (columns >= 2) {
    return TableForm::wide_phases;
  }
  return begin && latency ? TableForm::latencies : TableForm::none;
}

void read_phases(std::string_view text, const std::string& file, Signals& signals) {
  std::istringstream stream{std::string{text}};
  Diagnostics problems;
  CsvReader csv{stream, file, problems};
  problems.throw_if_any();
  const std::size_t before = signals.phases.size();
  const TableForm form = table_form_of(first_line_of(text));
  if (form == TableForm::phases) {
    read_long_phases(csv, signals);
  } else if (form == TableForm::wide_phases) {
    read_wide_phases(csv, signals);
  }
  Seconds sum{};
  for (std::size_t i = before; i < signals.phases.size(); ++i) {
    for (const PhaseTime& phase : signals.phases[i].phases) {
      sum += phase.time;
    }
  }
  if (!(sum > Seconds{}) || !std::isfinite(sum.raw())) {
    problems.add(file, {}, "no phase takes any time; write phase,seconds with a row a phase of a step");
  }
  problems.throw_if_any();
}

void read_latencies(std::string_view text, const std::string& file, Signals& signals) {
  std::istringstream stream{std::string{text}};
  Diagnostics problems;
  CsvReader csv{stream, file, problems};
  std::optional<std::size_t> begin, latency, prompt;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string bare = without_unit(csv.header()[i]);
    if (!begin && names_begin(bare)) {
      begin = i;
    } else if (!latency && names_latency(bare)) {
      latency = i;
    } else if (names_prompt(bare)) {
      prompt = i;
    }
  }
  if (!begin || !latency) {
    problems.add(file, {1, 1}, "the table of latencies needs columns time_s and latency_s (or _ms)");
    problems.throw_if_any();
    return;
  }
  LatencySeries series{file, {}};
  while (csv.next()) {
    const std::vector<std::string>& fields = csv.fields();
    LatencyPoint point;
    point.line = csv.line();
    const std::optional<Seconds> at = time_of_stamp(fields[*begin]);
    if (!at) {
      problems.add(file, csv.at(*begin), "time " + quoted(fields[*begin]) + " is no time: seconds or a date and time");
    }
    std::optional<double> lasts;
    take_time(csv, *latency, lasts);
    if (!lasts && is_untold(fields[*latency])) {
      problems.add(file, csv.at(*latency), "a request has no latency; take out those that did not end");
    }
    if (prompt) {
      take_value(point.prompt, {"prompt_tokens", fields[*prompt], 1.0, false}, problems, file, csv.at(*prompt));
    }
    if (!at || !lasts) {
      continue;
    }
    point.begin = *at * unit_of_column(csv.header()[*begin]);
    point.latency = Seconds{*lasts};
    if (!series.points.empty() && point.begin < series.points.back().begin) {
      problems.add(file, csv.at(*begin),
                   "the clock goes back from line " + std::to_string(series.points.back().line) +
                       "; sort the rows by time, or give diagnose each run's file by itself");
    }
    series.points.push_back(point);
  }
  if (problems.empty() && series.points.empty()) {
    problems.add(file, {}, "holds a header and no request");
  }
  problems.throw_if_any();
  signals.latencies.push_back(std::move(series));
}

void read_accounting(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  TextLines lines{text};
  std::vector<std::string> header;
  std::vector<AccountedJob> read;
  while (lines.next()) {
    if (trimmed(lines.line()).empty()) {
      continue;
    }
    const std::vector<std::string_view> cells = barred(lines.line());
    if (header.empty()) {
      for (const std::string_view cell : cells) {
        header.push_back(in_small(cell));
      }
      continue;
    }
    if (cells.size() != header.size()) {
      problems.add(file, {lines.number(), 1},
                   "the row has " + std::to_string(cells.size()) + " columns; its header has " +
                       std::to_string(header.size()) + ": write it again with 'sacct -P'");
      continue;
    }
    AccountedJob job;
    job.file = file;
    job.line = lines.number();
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string cell{cells[i]};
      if (header[i] == "jobid") {
        job.id = cell;
      } else if (header[i] == "jobname") {
        job.name = cell;
      } else if (header[i] == "state") {
        job.state = cell.substr(0, cell.find(' '));  // "CANCELLED by 1000"
      } else if (header[i] == "nodelist") {
        job.nodes = cell;
      } else if (header[i] == "exitcode") {
        job.exit_code = cell;
      } else if (header[i] == "elapsedraw" || header[i] == "elapsed") {
        const bool raw = header[i] == "elapsedraw";
        const std::optional<double> seconds = raw ? whole_real(cells[i]) : std::nullopt;
        const std::optional<Seconds> lasts =
            raw ? (seconds && *seconds >= 0.0 ? std::optional{Seconds{*seconds}} : std::nullopt) : elapsed_of(cell);
        if (!lasts && !cell.empty()) {
          problems.add(file, lines.at(cells[i]),
                       "elapsed time " + quoted(cell) + " is no time of Slurm's, such as 1-02:03:04");
        }
        job.elapsed = lasts ? lasts : job.elapsed;
      }
    }
    if (job.id.empty() || job.state.empty()) {
      problems.add(file, {lines.number(), 1}, "the row has no JobID or no State; write it again with 'sacct -P'");
    }
    read.push_back(std::move(job));
  }
  if (problems.empty() && read.empty()) {
    problems.add(file, {}, "holds a header and no job; choose another window with 'sacct -P -S DATE'");
  }
  problems.throw_if_any();
  for (AccountedJob& job : read) {
    signals.jobs.push_back(std::move(job));
  }
}

void read_kernel_list(std::string_view text, const std::string& file, Signals& signals) {
  std::istringstream stream{std::string{text}};
  Diagnostics problems;
  CsvReader csv{stream, file, problems};
  std::optional<std::size_t> begin, lasts, device, grid;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string bare = without_unit(csv.header()[i]);
    if (bare == "start") {
      begin = i;
    } else if (bare == "duration") {
      lasts = i;
    } else if (bare == "device") {
      device = i;
    } else if (bare == "grdx") {
      grid = i;
    }
  }
  if (!begin || !lasts) {
    problems.add(file, {1, 1}, "the list of kernels needs columns Start (ns) and Duration (ns)");
    problems.throw_if_any();
    return;
  }
  std::map<std::string, std::vector<std::pair<double, double>>, std::less<>> spans;
  while (csv.next()) {
    std::optional<double> from, length;
    take_time(csv, *begin, from);
    take_time(csv, *lasts, length);
    if (!from || !length || (grid && trimmed(csv.fields()[*grid]).empty())) {
      continue;  // copies and fills have no grid
    }
    spans[device ? csv.fields()[*device] : std::string{}].emplace_back(*from, *from + *length);
  }
  KernelList list{file, {}, {}, 0, static_cast<std::int64_t>(spans.size())};
  for (auto& [which, all] : spans) {
    std::sort(all.begin(), all.end());
    double reached = all.front().first;
    for (const auto& [from, to] : all) {
      list.busy += Seconds{std::max(0.0, to - std::max(from, reached))};
      reached = std::max(reached, to);
    }
    list.window += Seconds{reached - all.front().first};
    list.kernels += static_cast<std::int64_t>(all.size());
  }
  if (problems.empty() && !(list.window > Seconds{})) {
    problems.add(file, {}, "holds no kernel that takes any time; profile with 'nsys profile -t cuda'");
  }
  problems.throw_if_any();
  signals.lists.push_back(std::move(list));
}

}  // namespace headroom
