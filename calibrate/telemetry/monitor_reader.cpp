// SPDX-License-Identifier: Apache-2.0
// Names of columns: nvidia-smi dmon -h; DCGM field identifiers' short names (dcgm_fields.cpp).
#include <headroom/calibrate/telemetry/monitor_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

struct MonitorColumn {
  std::string_view name;
  Signal signal;
  double factor;
};
constexpr double monitor_mega = 1e6;
constexpr double monitor_mebi = 0x1p20;
constexpr std::array smi_monitor_columns{
    MonitorColumn{"pwr", Signal::power, 1.0},
    MonitorColumn{"gtemp", Signal::temperature, 1.0},
    MonitorColumn{"temp", Signal::temperature, 1.0},
    MonitorColumn{"sm", Signal::busy, 0.01},
    MonitorColumn{"mem", Signal::memory_busy, 0.01},
    MonitorColumn{"pclk", Signal::sm_clock, monitor_mega},
    MonitorColumn{"pviol", Signal::power_violation, 0.01},
    MonitorColumn{"fb", Signal::memory_used, monitor_mebi},
    MonitorColumn{"rxpci", Signal::pcie_received, monitor_mega},
    MonitorColumn{"txpci", Signal::pcie_sent, monitor_mega},
};
constexpr std::array dcgm_monitor_columns{
    MonitorColumn{"GPUTL", Signal::busy, 0.01},
    MonitorColumn{"GRACT", Signal::engine_active, 1.0},
    MonitorColumn{"SMACT", Signal::sm_active, 1.0},
    MonitorColumn{"SMOCC", Signal::occupancy, 1.0},
    MonitorColumn{"TENSO", Signal::tensor_active, 1.0},
    MonitorColumn{"DRAMA", Signal::memory_active, 1.0},
    MonitorColumn{"MCUTL", Signal::memory_busy, 0.01},
    MonitorColumn{"SMCLK", Signal::sm_clock, monitor_mega},
    MonitorColumn{"TMPTR", Signal::temperature, 1.0},
    MonitorColumn{"POWER", Signal::power, 1.0},
    MonitorColumn{"FBUSD", Signal::memory_used, monitor_mebi},
    MonitorColumn{"PCITX", Signal::pcie_sent, 1.0},
    MonitorColumn{"PCIRX", Signal::pcie_received, 1.0},
    MonitorColumn{"XIDER", Signal::xid, 1.0},
    MonitorColumn{"DVCCTR", Signal::reasons, 1.0},
};

/// Words of a line; commas are blanks as well (--format csv).
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r,"), line.size());
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r,"), line.size());
    if (end > 0) {
      cells.push_back(line.substr(0, end));
    }
    line.remove_prefix(end);
  }
  return cells;
}

/// A line of names behind '#'.
std::vector<std::string_view> names_of(std::string_view line) {
  line = trimmed(line);
  line.remove_prefix(line.starts_with('#') ? 1 : 0);
  return cells_of(line);
}

bool has_cell(std::span<const std::string_view> cells, std::string_view name) {
  return std::find(cells.begin(), cells.end(), name) != cells.end();
}

void take_cell(GpuSample& sample,
               std::span<const MonitorColumn> columns,
               std::string_view name,
               std::string_view cell,
               Diagnostics& problems,
               const std::string& file,
               Position at) {
  const auto known =
      std::find_if(columns.begin(), columns.end(), [&](const MonitorColumn& column) { return column.name == name; });
  if (known != columns.end()) {
    take_value(sample.at(known->signal), {name, cell, known->factor, is_share(known->signal)}, problems, file, at);
  }
}

void wrong_count(Diagnostics& problems, const std::string& file, int line, std::size_t has, std::size_t needs) {
  problems.add(file, {line, 1},
               "the row has " + std::to_string(has) + " columns; its header has " + std::to_string(needs) +
                   ": take the row out where the tool broke off");
}

/// Rows of columns below lines of names that begin with '#'. A line of names without `mark` has units.
class MonitorRows {
 public:
  MonitorRows(std::string_view text, std::string_view mark) : lines_{text}, mark_{mark} {}

  bool next() {
    cells_.clear();
    while (cells_.empty() && lines_.next()) {
      const std::string_view line = trimmed(lines_.line());
      if (!line.starts_with('#')) {
        cells_ = cells_of(line);
      } else if (std::vector<std::string_view> header = names_of(line); has_cell(header, mark_)) {
        names_ = std::move(header);
      }
    }
    return !cells_.empty();
  }
  [[nodiscard]] const std::vector<std::string_view>& names() const noexcept { return names_; }
  [[nodiscard]] const std::vector<std::string_view>& cells() const noexcept { return cells_; }
  [[nodiscard]] int line() const noexcept { return lines_.number(); }
  [[nodiscard]] Position at(std::string_view cell) const noexcept { return lines_.at(cell); }

 private:
  TextLines lines_;
  std::string_view mark_;
  std::vector<std::string_view> names_, cells_;
};

constexpr std::string_view monitor_remedy = "let the monitor run beside the program";

}  // namespace

void read_smi_monitor(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  std::vector<GpuSignals> read;
  MonitorRows rows{text, "gpu"};
  while (rows.next()) {
    const std::vector<std::string_view>& cells = rows.cells();
    const std::vector<std::string_view>& names = rows.names();
    if (cells.size() != names.size()) {
      wrong_count(problems, file, rows.line(), cells.size(), names.size());
      continue;
    }
    GpuSample sample;
    sample.line = rows.line();
    std::string_view gpu = "0";
    std::string stamp;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "gpu") {
        gpu = cells[i];
      } else if (names[i] == "Date") {
        // YYYYMMDD
        stamp = cells[i].size() == 8 ? std::string{cells[i].substr(0, 4)} + "-" + std::string{cells[i].substr(4, 2)} +
                                           "-" + std::string{cells[i].substr(6)} + " "
                                     : std::string{cells[i]} + " ";
      } else if (names[i] == "Time") {
        stamp += cells[i];
        sample.time = time_of_stamp(stamp);
        if (!sample.time) {
          problems.add(file, rows.at(cells[i]), "time " + quoted(stamp) + " is no time, such as 10:00:00");
        }
      } else {
        take_cell(sample, smi_monitor_columns, names[i], cells[i], problems, file, rows.at(cells[i]));
      }
    }
    series_of(read, file, gpu).samples.push_back(sample);
  }
  keep_series(std::move(read), file, monitor_remedy, problems, signals);
}

void read_process_monitor(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  std::size_t count = 0;
  std::vector<GpuSignals> read;
  std::map<std::string, std::size_t, std::less<>> rounds;  // by GPU and process
  MonitorRows rows{text, "pid"};
  for (; rows.next(); ++count) {
    const std::vector<std::string_view>& cells = rows.cells();
    const std::vector<std::string_view>& names = rows.names();
    if (names.empty() || cells.size() < names.size()) {  // commands may hold blanks
      wrong_count(problems, file, rows.line(), cells.size(), names.size());
      continue;
    }
    ProcessUse use;
    use.file = file;
    use.line = rows.line();
    std::optional<double> busy;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "gpu") {
        use.gpu = cells[i];
      } else if (names[i] == "sm") {
        take_value(busy, {"sm", cells[i], 0.01, true}, problems, file, rows.at(cells[i]));
      } else if (names[i] == "pid" && !is_untold(cells[i])) {
        use.process = integer_of(cells[i]);
        if (!use.process) {
          problems.add(file, rows.at(cells[i]), "pid " + quoted(cells[i]) + " is no number of a process");
        }
      } else if (names[i] == "fb") {
        std::optional<double> bytes;
        take_value(bytes, {"fb", cells[i], monitor_mebi, false}, problems, file, rows.at(cells[i]));
        use.memory = bytes ? std::optional{Bytes{*bytes}} : std::nullopt;
      } else if (names[i] == "command") {
        use.name = is_untold(cells[i]) ? std::string_view{} : cells[i];
      }
    }
    if (busy) {  // the GPU's use is that of its processes in a round together
      std::size_t& round = rounds[use.gpu + " " + std::to_string(use.process.value_or(0))];
      std::vector<GpuSample>& samples = series_of(read, file, use.gpu).samples;
      samples.resize(std::max(samples.size(), round + 1));
      GpuSample& sample = samples[round++];
      sample.line = sample.line == 0 ? use.line : sample.line;
      std::optional<double>& sum = sample.at(Signal::busy);
      sum = std::min(1.0, sum.value_or(0.0) + *busy);
    }
    signals.processes.push_back(std::move(use));
  }
  if (problems.empty() && count == 0) {
    problems.add(file, {}, "holds a header and no row; let 'nvidia-smi pmon -s um' run beside the program");
  }
  problems.throw_if_any();
  std::move(read.begin(), read.end(), std::back_inserter(signals.gpus));
}

void read_dcgm_monitor(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  std::vector<GpuSignals> read;
  MonitorRows rows{text, "Entity"};
  while (rows.next()) {
    const std::vector<std::string_view>& cells = rows.cells();
    const std::vector<std::string_view>& names = rows.names();
    const std::string_view entity = cells.front();
    // An entity is two words, "GPU 0", below one name.
    const std::size_t needs = names.size() + 1;
    if (entity == "ID" || entity == "Id" || (!entity.starts_with("GPU") && cells.size() == needs)) {
      continue;  // the line below the names; a switch or another entity
    }
    if (names.empty() || cells.size() != needs) {
      wrong_count(problems, file, rows.line(), cells.size(), needs);
      continue;
    }
    GpuSample sample;
    sample.line = rows.line();
    for (std::size_t i = 1; i < names.size(); ++i) {
      take_cell(sample, dcgm_monitor_columns, names[i], cells[i + 1], problems, file, rows.at(cells[i + 1]));
    }
    const std::string gpu = entity == "GPU" ? std::string{cells[1]} : std::string{entity} + " " + std::string{cells[1]};
    series_of(read, file, gpu).samples.push_back(sample);
  }
  keep_series(std::move(read), file, monitor_remedy, problems, signals);
}

}  // namespace headroom
