// SPDX-License-Identifier: Apache-2.0
// Names of columns: nvidia-smi --help-query-gpu, --help-query-compute-apps.
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace headroom {
namespace {

struct SmiColumn {
  std::string_view name;  ///< without the unit in brackets
  Signal signal;
  double factor;
};
constexpr double mega = 1e6;
constexpr double mebi = 0x1p20;
constexpr std::array smi_columns{SmiColumn{"utilization.gpu", Signal::busy, 0.01},
                                 SmiColumn{"utilization.memory", Signal::memory_busy, 0.01},
                                 SmiColumn{"clocks.sm", Signal::sm_clock, mega},
                                 SmiColumn{"clocks.current.sm", Signal::sm_clock, mega},
                                 SmiColumn{"clocks.max.sm", Signal::most_sm_clock, mega},
                                 SmiColumn{"temperature.gpu", Signal::temperature, 1.0},
                                 SmiColumn{"power.draw", Signal::power, 1.0},
                                 SmiColumn{"power.draw.average", Signal::power, 1.0},
                                 SmiColumn{"power.limit", Signal::power_limit, 1.0},
                                 SmiColumn{"enforced.power.limit", Signal::power_limit, 1.0},
                                 SmiColumn{"memory.used", Signal::memory_used, mebi},
                                 SmiColumn{"memory.total", Signal::memory_total, mebi}};

struct ReasonName {
  std::string_view name;
  ClockReason reason;
};
constexpr std::array reason_words{
    ReasonName{"gpu_idle", ClockReason::idle},
    ReasonName{"idle", ClockReason::idle},
    ReasonName{"applications_clocks_setting", ClockReason::setting},
    ReasonName{"sw_power_cap", ClockReason::power_cap},
    ReasonName{"hw_slowdown", ClockReason::slowdown},
    ReasonName{"sync_boost", ClockReason::sync_boost},
    ReasonName{"sw_thermal_slowdown", ClockReason::heat},
    ReasonName{"hw_thermal_slowdown", ClockReason::heat_hard},
    ReasonName{"hw_power_brake_slowdown", ClockReason::power_brake},
    ReasonName{"hw_power_brake", ClockReason::power_brake},
    ReasonName{"display_clock_setting", ClockReason::display_limit},
};

/// "utilization.gpu [%]" as "utilization.gpu".
std::string bare_name(std::string_view header) {
  header = trimmed(header);
  return std::string{trimmed(header.substr(0, std::min(header.find('['), header.size())))};
}

std::optional<std::uint64_t> bits_of(std::string_view text) {
  text = trimmed(text);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = text.substr(hexadecimal ? 2 : 0);
  std::uint64_t bits = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, hexadecimal ? 16 : 10);
  return status == std::errc{} && end == digits.data() + digits.size() && bits < (std::uint64_t{1} << 32U)
             ? std::optional{bits}
             : std::nullopt;
}

void add_reason(GpuSample& sample, unsigned bits) {
  std::optional<double>& kept = sample.at(Signal::reasons);
  kept = static_cast<double>(static_cast<std::uint64_t>(kept.value_or(0.0)) | bits);
}

struct SmiReasonColumn {
  std::size_t column;
  unsigned bits;  ///< of the reason that the column is of; 0: it holds the bits of all
};

/// Which columns of a table hold what.
struct SmiTable {
  std::vector<std::pair<std::size_t, const SmiColumn*>> values;
  std::vector<SmiReasonColumn> reasons;
  std::optional<std::size_t> index, uuid, bus, name, time;

  explicit SmiTable(const std::vector<std::string>& header) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::string bare = bare_name(header[i]);
      const auto known = std::find_if(smi_columns.begin(), smi_columns.end(),
                                      [&](const SmiColumn& column) { return column.name == bare; });
      if (known != smi_columns.end()) {
        values.emplace_back(i, &*known);
      } else if (bare.starts_with("clocks_throttle_reasons.") || bare.starts_with("clocks_event_reasons.")) {
        const std::string reason = bare.substr(bare.find('.') + 1);
        if (const unsigned bits = clock_reason_named(reason); bits != 0 || reason == "active") {
          reasons.push_back({i, bits});
        }
      } else if (bare == "index" || bare == "gpu_index") {
        index = i;
      } else if (bare == "uuid" || bare == "gpu_uuid") {
        uuid = i;
      } else if (bare == "pci.bus_id" || bare == "gpu_bus_id") {
        bus = i;
      } else if (bare == "name" || bare == "gpu_name") {
        name = i;
      } else if (bare == "timestamp") {
        time = i;
      }
    }
  }
  [[nodiscard]] std::optional<std::size_t> identity() const { return index ? index : uuid ? uuid : bus; }
};

void take_reasons(const SmiTable& table, const CsvReader& csv, GpuSample& sample, Diagnostics& problems) {
  for (const SmiReasonColumn& reason : table.reasons) {
    const std::string_view text = trimmed(csv.fields()[reason.column]);
    if (is_untold(text)) {
      continue;
    }
    if (reason.bits == 0) {
      const std::optional<std::uint64_t> bits = bits_of(text);
      if (!bits) {
        problems.add(
            csv.file(), csv.at(reason.column),
            "the reasons of the clock are " + quoted(text) + "; they must be bits, such as 0x0000000000000004");
        continue;
      }
      add_reason(sample, static_cast<unsigned>(*bits));
    } else if (text == "Active") {
      add_reason(sample, reason.bits);
    } else if (text == "Not Active") {
      add_reason(sample, 0);
    } else {
      problems.add(csv.file(), csv.at(reason.column),
                   "a reason of the clock is " + quoted(text) + "; it must be 'Active' or 'Not Active'");
    }
  }
}

}  // namespace

unsigned clock_reason_named(std::string_view name) {
  std::string key = in_small(trimmed(name));
  std::replace(key.begin(), key.end(), ' ', '_');
  const auto found = std::find_if(reason_words.begin(), reason_words.end(),
                                  [&](const ReasonName& known) { return known.name == key; });
  return found == reason_words.end() ? 0U : static_cast<unsigned>(found->reason);
}

void read_smi_csv(std::string_view text, const std::string& file, Signals& signals) {
  std::istringstream stream{std::string{text}};
  Diagnostics problems;
  CsvReader csv{stream, file, problems};
  const SmiTable table{csv.header()};
  if (table.values.empty()) {
    problems.add(file, {1, 1},
                 "no column tells the use of a GPU; ask nvidia-smi for --query-gpu=timestamp,index,name,"
                 "utilization.gpu,utilization.memory,clocks.sm,clocks.max.sm,clocks_throttle_reasons.active,"
                 "temperature.gpu,power.draw,memory.used --format=csv");
  }
  problems.throw_if_any();
  std::vector<GpuSignals> read;
  while (csv.next()) {
    const std::vector<std::string>& fields = csv.fields();
    if (std::string_view{fields.front()}.starts_with("timestamp")) {
      continue;  // appended runs repeat their header
    }
    const std::optional<std::size_t> who = table.identity();
    GpuSignals& series = series_of(read, file, who ? trimmed(fields[*who]) : std::string_view{"0"});
    if (table.name && series.name.empty()) {
      series.name = trimmed(fields[*table.name]);
    }
    if (const std::optional<std::size_t> other = table.uuid ? table.uuid : table.bus; other && series.unique.empty()) {
      series.unique = trimmed(fields[*other]);
    }
    GpuSample sample;
    sample.line = csv.line();
    if (table.time) {
      sample.time = time_of_stamp(fields[*table.time]);
      if (!sample.time) {
        problems.add(file, csv.at(*table.time),
                     "timestamp " + quoted(fields[*table.time]) + " is no time, such as 2026/11/20 10:00:00.123");
      }
    }
    for (const auto& [i, column] : table.values) {
      take_value(sample.at(column->signal), {column->name, fields[i], column->factor, is_share(column->signal)},
                 problems, file, csv.at(i));
    }
    take_reasons(table, csv, sample, problems);
    series.samples.push_back(sample);
  }
  keep_series(std::move(read), file, "let nvidia-smi run beside the program (-l 1)", problems, signals);
}

void read_smi_processes(std::string_view text, const std::string& file, Signals& signals) {
  std::istringstream stream{std::string{text}};
  Diagnostics problems;
  CsvReader csv{stream, file, problems};
  std::optional<std::size_t> process, memory, gpu, name;
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    const std::string bare = bare_name(csv.header()[i]);
    if (bare == "pid") {
      process = i;
    } else if (bare == "used_memory" || bare == "used_gpu_memory") {
      memory = i;
    } else if (bare == "gpu_uuid" || bare == "gpu_bus_id" || bare == "gpu_name" || bare == "gpu_index" ||
               bare == "gpu_serial") {
      gpu = gpu && csv.header()[*gpu].find("name") == std::string::npos ? gpu : i;
    } else if (bare == "process_name" || bare == "name") {
      name = i;
    }
  }
  if (!process || !memory || !gpu) {
    problems.add(file, {1, 1},
                 "the table of processes needs gpu_uuid (or gpu_bus_id), pid and used_memory; ask nvidia-smi for "
                 "--query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv");
    problems.throw_if_any();
  }
  while (csv.next()) {
    const std::vector<std::string>& fields = csv.fields();
    ProcessUse use;
    use.file = file;
    use.gpu = trimmed(fields[*gpu]);
    use.name = name ? trimmed(fields[*name]) : std::string_view{};
    use.line = csv.line();
    use.process = integer_of(trimmed(fields[*process]));
    if (!use.process) {
      problems.add(file, csv.at(*process), "pid " + quoted(fields[*process]) + " is no number of a process");
    }
    std::optional<double> bytes;
    take_value(bytes, {"used_memory", fields[*memory], mebi, false}, problems, file, csv.at(*memory));
    use.memory = bytes ? std::optional{Bytes{*bytes}} : std::nullopt;
    signals.processes.push_back(std::move(use));
  }
  problems.throw_if_any();
}

void read_smi_details(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  std::vector<GpuSignals> read;
  std::map<std::string, std::string, std::less<>> of_bus;
  std::string gpu;
  std::string section;
  GpuSample sample;
  bool open = false;
  std::string name;
  std::optional<Seconds> time;
  std::size_t count = 0;
  const auto close = [&] {
    if (open) {
      GpuSignals& series = series_of(read, file, gpu);
      series.name = name.empty() ? series.name : name;
      series.samples.push_back(sample);
    }
    open = false;
  };
  constexpr std::array<std::pair<std::string_view, Signal>, 3> readings{{{"GPU Current Temp", Signal::temperature},
                                                                         {"Power Draw", Signal::power},
                                                                         {"Average Power Draw", Signal::power}}};
  TextLines lines{text};
  while (lines.next()) {
    const std::string_view line = lines.line();
    const std::size_t colon = line.find(" : ");
    const std::string_view key = trimmed(line.substr(0, std::min(colon, line.size())));
    const std::string_view value = colon == std::string_view::npos ? "" : trimmed(line.substr(colon + 3));
    if (colon == std::string_view::npos) {
      if (line.starts_with("GPU ") && key.size() > 4) {
        close();
        gpu = trimmed(key.substr(4));
        sample = {};
        sample.time = time;
        sample.line = lines.number();
        section.clear();
        open = true;
        ++count;
      } else if (!key.empty()) {
        section = key;
      }
      continue;
    }
    if (key == "Product Name") {
      name = value;
    }
    if (!open) {
      continue;
    }
    if (section == "Clocks Throttle Reasons" || section == "Clocks Event Reasons" || section == "HW Slowdown") {
      if (const unsigned bits = clock_reason_named(key); bits != 0 && !is_untold(value)) {
        if (value != "Active" && value != "Not Active") {
          problems.add(file, lines.at(value),
                       quoted(key) + " is " + quoted(value) + "; it must be 'Active' or 'Not Active'");
        }
        add_reason(sample, value == "Active" ? bits : 0U);
      }
    } else if ((section == "Clocks" || section == "Max Clocks") && key == "SM") {
      take_value(sample.at(section == "Clocks" ? Signal::sm_clock : Signal::most_sm_clock), {"SM", value, mega, false},
                 problems, file, lines.at(value));
    } else if (section == "Utilization" && (key == "Gpu" || key == "GPU")) {
      take_value(sample.at(Signal::busy), {key, value, 0.01, true}, problems, file, lines.at(value));
    } else {
      for (const auto& [word, signal] : readings) {
        if (key == word) {
          take_value(sample.at(signal), {key, value, 1.0, false}, problems, file, lines.at(value));
        }
      }
    }
  }
  close();
  if (problems.empty() && count == 0) {
    problems.add(file, {}, "names no GPU; write it with 'nvidia-smi -q -d CLOCK,PERFORMANCE'");
  }
  keep_series(std::move(read), file, "", problems, signals);
}

}  // namespace headroom
