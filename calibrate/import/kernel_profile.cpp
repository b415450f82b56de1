// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/import/kernel_profile.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace headroom {
namespace {

enum class CounterKind : std::uint8_t { time, bytes, rate, part, number };

/// A unit as profilers write it, and its factor to raw SI.
struct CounterUnit {
  std::string_view name;
  CounterKind kind;
  double factor;
};
constexpr std::array counter_units{
    CounterUnit{"nsecond", CounterKind::time, 1e-9},
    CounterUnit{"ns", CounterKind::time, 1e-9},
    CounterUnit{"usecond", CounterKind::time, 1e-6},
    CounterUnit{"us", CounterKind::time, 1e-6},
    CounterUnit{"msecond", CounterKind::time, 1e-3},
    CounterUnit{"ms", CounterKind::time, 1e-3},
    CounterUnit{"second", CounterKind::time, 1.0},
    CounterUnit{"s", CounterKind::time, 1.0},
    CounterUnit{"byte", CounterKind::bytes, 1.0},
    CounterUnit{"B", CounterKind::bytes, 1.0},
    CounterUnit{"Kbyte", CounterKind::bytes, 1e3},
    CounterUnit{"KB", CounterKind::bytes, 1e3},
    CounterUnit{"Mbyte", CounterKind::bytes, 1e6},
    CounterUnit{"MB", CounterKind::bytes, 1e6},
    CounterUnit{"Gbyte", CounterKind::bytes, 1e9},
    CounterUnit{"GB", CounterKind::bytes, 1e9},
    CounterUnit{"Tbyte", CounterKind::bytes, 1e12},
    CounterUnit{"TB", CounterKind::bytes, 1e12},
    CounterUnit{"byte/second", CounterKind::rate, 1.0},
    CounterUnit{"byte/s", CounterKind::rate, 1.0},
    CounterUnit{"Kbyte/second", CounterKind::rate, 1e3},
    CounterUnit{"Kbyte/s", CounterKind::rate, 1e3},
    CounterUnit{"Mbyte/second", CounterKind::rate, 1e6},
    CounterUnit{"Mbyte/s", CounterKind::rate, 1e6},
    CounterUnit{"Gbyte/second", CounterKind::rate, 1e9},
    CounterUnit{"Gbyte/s", CounterKind::rate, 1e9},
    CounterUnit{"GB/s", CounterKind::rate, 1e9},
    CounterUnit{"Tbyte/second", CounterKind::rate, 1e12},
    CounterUnit{"Tbyte/s", CounterKind::rate, 1e12},
    CounterUnit{"TB/s", CounterKind::rate, 1e12},
    CounterUnit{"%", CounterKind::part, 0.01},
    CounterUnit{"", CounterKind::number, 1.0},
    CounterUnit{"inst", CounterKind::number, 1.0},
    CounterUnit{"inst/warp", CounterKind::number, 1.0},
    CounterUnit{"sector", CounterKind::number, 1.0},
    CounterUnit{"sector/request", CounterKind::number, 1.0},
    CounterUnit{"request", CounterKind::number, 1.0},
    CounterUnit{"warp", CounterKind::number, 1.0},
    CounterUnit{"thread", CounterKind::number, 1.0},
    CounterUnit{"thread/inst", CounterKind::number, 1.0},
    CounterUnit{"threads/inst", CounterKind::number, 1.0},
    CounterUnit{"sector/req", CounterKind::number, 1.0},
    CounterUnit{"ratio", CounterKind::number, 1.0},
    CounterUnit{"block", CounterKind::number, 1.0},
    CounterUnit{"register", CounterKind::number, 1.0},
    CounterUnit{"register/thread", CounterKind::number, 1.0},
    CounterUnit{"cycle", CounterKind::number, 1.0},
    CounterUnit{"cycle/inst", CounterKind::number, 1.0},
};

/// A unit of the table, or a count with a prefix: "Kinst".
std::optional<CounterUnit> unit_of(std::string_view unit) {
  const auto* const found = std::find_if(counter_units.begin(), counter_units.end(),
                                         [&](const CounterUnit& known) { return known.name == unit; });
  if (found != counter_units.end()) {
    return *found;
  }
  constexpr std::array<std::pair<char, double>, 3> prefixes{{{'K', 1e3}, {'M', 1e6}, {'G', 1e9}}};
  for (const auto& [letter, factor] : prefixes) {
    const std::optional<CounterUnit> rest =
        unit.starts_with(letter) && unit.size() > 1 ? unit_of(unit.substr(1)) : std::nullopt;
    if (rest && rest->kind == CounterKind::number) {
      return CounterUnit{unit, CounterKind::number, factor};
    }
  }
  return std::nullopt;
}

/// The names that profilers have for one counter, apart by '|'. The first is the one that messages tell.
struct CounterName {
  Counter counter;
  CounterKind kind;
  std::string_view names;
};
constexpr std::array counter_names{
    CounterName{Counter::duration, CounterKind::time, "gpu__time_duration.sum|Duration|duration"},
    CounterName{Counter::memory_bytes, CounterKind::bytes, "dram__bytes.sum|dram_bytes"},
    CounterName{Counter::memory_read, CounterKind::bytes, "dram__bytes_read.sum|dram_bytes_read"},
    CounterName{Counter::memory_written, CounterKind::bytes, "dram__bytes_write.sum|dram_bytes_write"},
    CounterName{Counter::memory_rate, CounterKind::rate, "dram__bytes.sum.per_second|Memory Throughput|dram_rate"},
    CounterName{Counter::memory_use, CounterKind::part,
                "dram__throughput.avg.pct_of_peak_sustained_elapsed|gpu__dram_throughput.avg.pct_of_peak_sustained_"
                "elapsed|DRAM Throughput|dram_throughput"},
    CounterName{Counter::all_memory_use, CounterKind::part,
                "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed|Memory Throughput|memory_throughput"},
    CounterName{Counter::l2_use, CounterKind::part,
                "lts__throughput.avg.pct_of_peak_sustained_elapsed|L2 Cache Throughput|l2_throughput"},
    CounterName{Counter::l1_use, CounterKind::part,
                "l1tex__throughput.avg.pct_of_peak_sustained_active|l1tex__throughput.avg.pct_of_peak_sustained_"
                "elapsed|L1/TEX Cache Throughput|l1_throughput"},
    CounterName{Counter::sm_use, CounterKind::part,
                "sm__throughput.avg.pct_of_peak_sustained_elapsed|Compute (SM) Throughput|Compute (SM) [%]|sm_"
                "throughput"},
    CounterName{Counter::tensor_use, CounterKind::part,
                "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active|sm__pipe_tensor_cycles_active.avg.pct_"
                "of_peak_sustained_active|sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active|"
                "tensor_pipe"},
    CounterName{Counter::occupancy, CounterKind::part,
                "sm__warps_active.avg.pct_of_peak_sustained_active|Achieved Occupancy|achieved_occupancy"},
    CounterName{Counter::most_occupancy, CounterKind::part,
                "sm__maximum_warps_per_active_cycle_pct|Theoretical Occupancy|theoretical_occupancy"},
    CounterName{Counter::registers, CounterKind::number,
                "launch__registers_per_thread|Registers Per Thread|registers_per_thread"},
    CounterName{Counter::block, CounterKind::number, "launch__block_size|Block Size|block_size"},
    CounterName{Counter::grid, CounterKind::number, "launch__grid_size|Grid Size|grid_size"},
    CounterName{Counter::load_sectors, CounterKind::number,
                "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum|load_sectors"},
    CounterName{Counter::load_requests, CounterKind::number,
                "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum|load_requests"},
    CounterName{Counter::store_sectors, CounterKind::number,
                "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum|store_sectors"},
    CounterName{Counter::store_requests, CounterKind::number,
                "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum|store_requests"},
    CounterName{Counter::sectors_per_load, CounterKind::number,
                "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio|sectors_per_request"},
    CounterName{Counter::sector_use, CounterKind::part,
                "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct|sector_efficiency"},
    CounterName{Counter::load_conflicts, CounterKind::number,
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum|load_bank_conflicts"},
    CounterName{Counter::store_conflicts, CounterKind::number,
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum|store_bank_conflicts"},
    CounterName{Counter::conflicts, CounterKind::number,
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum|l1tex__data_bank_conflicts_pipe_lsu.sum|bank_"
                "conflicts"},
    CounterName{Counter::shared_wavefronts, CounterKind::number,
                "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum|shared_wavefronts"},
    CounterName{Counter::instructions, CounterKind::number,
                "smsp__inst_executed.sum|sm__inst_executed.sum|Executed Instructions|instructions"},
    CounterName{Counter::thread_instructions, CounterKind::number,
                "smsp__thread_inst_executed.sum|sm__thread_inst_executed.sum|thread_instructions"},
    CounterName{Counter::active_threads, CounterKind::number,
                "smsp__thread_inst_executed_per_inst_executed.ratio|Avg. Active Threads Per Warp|active_threads"},
    CounterName{Counter::fp32_fma, CounterKind::number,
                "sm__sass_thread_inst_executed_op_ffma_pred_on.sum|smsp__sass_thread_inst_executed_op_ffma_pred_on.sum|"
                "fp32_fma"},
    CounterName{Counter::fp32_add, CounterKind::number,
                "sm__sass_thread_inst_executed_op_fadd_pred_on.sum|smsp__sass_thread_inst_executed_op_fadd_pred_on.sum|"
                "fp32_add"},
    CounterName{Counter::fp32_mul, CounterKind::number,
                "sm__sass_thread_inst_executed_op_fmul_pred_on.sum|smsp__sass_thread_inst_executed_op_fmul_pred_on.sum|"
                "fp32_mul"},
    CounterName{Counter::fp16_fma, CounterKind::number,
                "sm__sass_thread_inst_executed_op_hfma_pred_on.sum|smsp__sass_thread_inst_executed_op_hfma_pred_on.sum|"
                "fp16_fma"},
    CounterName{Counter::fp64_fma, CounterKind::number,
                "sm__sass_thread_inst_executed_op_dfma_pred_on.sum|smsp__sass_thread_inst_executed_op_dfma_pred_on.sum|"
                "fp64_fma"},
    CounterName{Counter::tensor_ops, CounterKind::number, "sm__inst_executed_pipe_tensor.sum|tensor_instructions"},
};

bool has_name(const CounterName& row, std::string_view name) {
  for (std::string_view rest = row.names; !rest.empty();) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == name) {
      return true;
    }
    rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
  }
  return false;
}

std::string_view first_name(const CounterName& row) {
  return row.names.substr(0, row.names.find('|'));
}

/// Reason of a stall and the family of counters that tells it: "...issue_stalled_barrier_per_issue_active.ratio",
/// "Stall Barrier", "stall_barrier".
struct StallName {
  std::string reason, family;
};
std::optional<StallName> stall_of(std::string_view name) {
  constexpr std::string_view mark = "issue_stalled_";
  if (const std::size_t at = name.find(mark); at != std::string_view::npos) {
    std::string_view rest = name.substr(at + mark.size());
    std::size_t end = std::min(rest.find('.'), rest.size());
    for (const std::string_view tail : {"_per_issue_active", "_per_warp_active", "_not_issued"}) {
      end = std::min(end, rest.find(tail));
    }
    return StallName{std::string{rest.substr(0, end)},
                     std::string{name.substr(0, at)} + "*" + std::string{rest.substr(end)}};
  }
  for (const std::string_view mark_of_short : {"Stall ", "stall_"}) {
    if (name.starts_with(mark_of_short)) {
      std::string reason;
      for (const char c : name.substr(mark_of_short.size())) {
        reason += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
      return StallName{reason, std::string{mark_of_short}};
    }
  }
  return std::nullopt;
}

/// "1,234.5" as 1234.5: digits in threes, as the profiler writes them.
std::optional<double> profiler_number(std::string_view text) {
  std::string digits;
  std::size_t since = 0;
  bool grouped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',') {
      if (i == 0 || (grouped && since != 3)) {
        return std::nullopt;
      }
      grouped = true;
      since = 0;
      continue;
    }
    if (c == '.' && grouped && since != 3) {
      return std::nullopt;
    }
    grouped = grouped && c != '.';
    ++since;
    digits += c;
  }
  return grouped && since != 3 ? std::nullopt : whole_real(digits);
}

/// What Nsight Compute writes of a counter that the device does not have, or of a ratio to nought.
bool is_none(std::string_view value) {
  return value.empty() || value == "n/a" || value == "nan" || value == "(!) nan" || value == "(!) n/a";
}

/// A kernel while it is read.
struct KernelBeingRead {
  ProfiledKernel kernel;
  Position at;
  bool broken = false;  ///< a counter of it cannot be read, which may be the one that it seems to lack
  std::map<std::string, std::vector<StallPart>> stalls;  ///< by family
};

class ProfileReader {
 public:
  ProfileReader(std::string_view text, const std::string& file) : stream_{without_remarks(text)}, file_{file} {}

  KernelProfiles read() {
    CsvReader csv{stream_, file_, problems_};
    KernelProfiles profiles;
    if (csv.column("Metric Name") && csv.column("Metric Value")) {
      profiles.form = "ncu --page details";
      read_rows(csv, "Metric Name", "Metric Value", "Metric Unit", "Kernel Name", false);
    } else if (csv.column("counter") && csv.column("value")) {
      profiles.form = "counters";
      read_rows(csv, "counter", "value", "unit", "kernel", true);
    } else if (csv.column("Kernel Name")) {
      profiles.form = "ncu --page raw";
      read_columns(csv);
    } else {
      problems_.add(file_, {1, 1},
                    "is no profile of a kernel: its header must have \"Metric Name\" and \"Metric Value\" (ncu --csv "
                    "--page details), \"Kernel Name\" (ncu --csv --page raw), or counter and value");
    }
    if (problems_.empty() && kernels_.empty()) {
      problems_.add(file_, {}, "has no kernel; run the profiler over at least one launch");
    }
    for (KernelBeingRead& read : kernels_) {
      check_kernel(read);
      profiles.kernels.push_back(std::move(read.kernel));
    }
    problems_.throw_if_any();
    return profiles;
  }

 private:
  /// The text with the lines that the profiler says of itself left blank, and those that the program printed before the
  /// profiler's header, so that lines keep their numbers.
  static std::string without_remarks(std::string_view text) {
    const bool has_header =
        text.find("Kernel Name") != std::string_view::npos || text.find("Metric Name") != std::string_view::npos;
    bool before = has_header;
    std::string kept;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string_view line = text.substr(0, end);
      before = before && line.find("Kernel Name") == std::string_view::npos &&
               line.find("Metric Name") == std::string_view::npos;
      kept += before || line.starts_with("==") ? std::string_view{"\n"} : line;
      text.remove_prefix(end);
    }
    return kept;
  }

  KernelBeingRead& kernel_of(const std::string& key, const std::string& name, Position at) {
    const auto [found, is_new] = places_.try_emplace(key, kernels_.size());
    if (is_new) {
      kernels_.emplace_back();
      kernels_.back().kernel.name = name;
      kernels_.back().at = at;
    }
    return kernels_[found->second];
  }

  /// "1.96 ms" in one cell of a table without units as both.
  static std::pair<std::string, std::string> apart(const std::string& value, const std::string& unit, bool strict) {
    const std::size_t blank = value.rfind(' ');
    return strict && unit.empty() && blank != std::string::npos
               ? std::pair{value.substr(0, blank), value.substr(blank + 1)}
               : std::pair{value, unit};
  }

  void read_rows(CsvReader& csv,
                 std::string_view name,
                 std::string_view value,
                 std::string_view unit,
                 std::string_view kernel,
                 bool strict) {
    const std::size_t names = *csv.column(name);
    const std::size_t values = *csv.column(value);
    const std::optional<std::size_t> units = csv.column(unit);
    const std::optional<std::size_t> kernels = csv.column(kernel);
    const std::optional<std::size_t> ids = csv.column("ID");
    while (csv.next()) {
      const std::vector<std::string>& fields = csv.fields();
      const std::string& metric = fields[names];
      if (metric.empty() && !strict) {
        continue;  // a row that tells a rule's advice
      }
      const std::string told = kernels ? fields[*kernels] : "kernel";
      KernelBeingRead& read = kernel_of((ids ? fields[*ids] : "") + "\n" + told, told, csv.at(names));
      const auto [value_told, unit_told] = apart(fields[values], units ? fields[*units] : "", strict);
      take(read, metric, value_told, unit_told, csv.at(names), csv.at(values), units ? csv.at(*units) : csv.at(values),
           strict);
    }
  }

  void read_columns(CsvReader& csv) {
    const std::size_t names = *csv.column("Kernel Name");
    const std::vector<std::string> header = csv.header();
    std::vector<std::string> units(header.size());
    std::vector<Position> unit_places(header.size());
    bool first = true;
    std::size_t row = 0;
    while (csv.next()) {
      const std::vector<std::string>& fields = csv.fields();
      if (first && fields[names].empty()) {
        units = fields;
        for (std::size_t i = 0; i < header.size(); ++i) {
          unit_places[i] = csv.at(i);
        }
        first = false;
        continue;
      }
      first = false;
      KernelBeingRead& read = kernel_of(std::to_string(row++), fields[names], csv.at(names));
      for (std::size_t i = 0; i < header.size(); ++i) {
        // "Block Size" and "Grid Size" beside the name are of three dimensions, "(256, 1, 1)".
        if (header[i].find("__") != std::string::npos) {
          take(read, header[i], fields[i], units[i], csv.at(i), csv.at(i), unit_places[i], false);
        }
      }
    }
  }

  void refuse(KernelBeingRead& read, Position at, std::string message) {
    read.broken = true;
    problems_.add(file_, at, std::move(message));
  }

  void take(KernelBeingRead& read,
            const std::string& metric,
            const std::string& value,
            const std::string& unit,
            Position at,
            Position value_at,
            Position unit_at,
            bool strict) {
    const std::optional<StallName> stall = stall_of(metric);
    const std::optional<CounterUnit> found = unit_of(unit);
    const CounterName* row = nullptr;
    const CounterName* other_unit = nullptr;
    for (const CounterName& candidate : counter_names) {
      if (has_name(candidate, metric)) {
        // Shares without a unit are in percent; anything else of a dimension must say its unit.
        const bool bare = candidate.kind == CounterKind::number || candidate.kind == CounterKind::part;
        const bool fits = unit.empty() ? bare : found && found->kind == candidate.kind;
        (fits && row == nullptr ? row : other_unit) = &candidate;
      }
    }
    if (!stall && row == nullptr && other_unit == nullptr) {
      if (strict) {
        unknown(read, metric, at);
      }
      return;
    }
    if (!strict && is_none(value)) {
      return;
    }
    if (!stall && row == nullptr) {
      refuse(read, unit_at, wrong_unit(metric, unit, *other_unit));
      return;
    }
    const std::optional<double> number = profiler_number(value);
    if (!number || !std::isfinite(*number) || *number < 0.0) {
      refuse(read, value_at,
             quoted(metric) + " is " + quoted(value) + "; it must be a number, 0 or more" +
                 (value.find(',') == std::string::npos
                      ? ""
                      : ", with a point before its fraction: run the profiler with LC_ALL=C"));
      return;
    }
    if (stall) {
      read.stalls[stall->family].push_back({stall->reason, *number});
      return;
    }
    const bool bare = unit.empty();
    const double factor = !bare ? found->factor : row->kind == CounterKind::part ? 0.01 : 1.0;
    constexpr double most_share = 1.05;  // clocks that the profiler samples apart put full units a little above
    if (row->kind == CounterKind::part && *number * factor > most_share) {
      refuse(read, value_at, quoted(metric) + " is " + quoted(value) + "; it must be 0 to 100 %");
      return;
    }
    std::optional<double>& kept = read.kernel.at(row->counter);
    const double raw = *number * factor;
    if (kept && strict) {
      refuse(read, at, quoted(metric) + " stands twice for one kernel; keep one of them");
      return;
    }
    kept = kept.value_or(row->kind == CounterKind::part ? std::min(raw, 1.0) : raw);
  }

  void unknown(KernelBeingRead& read, const std::string& metric, Position at) {
    std::vector<std::string_view> names;
    for (const CounterName& row : counter_names) {
      names.push_back(row.names.substr(row.names.rfind('|') + 1));
    }
    refuse(read, at,
           "counter " + quoted(metric) + " is not known" + suggestion(metric, names) + "; known are " + listed(names) +
               ", stall_REASON and the names of Nsight Compute for them");
  }

  static std::string wrong_unit(const std::string& metric, const std::string& unit, const CounterName& row) {
    std::vector<std::string_view> fitting;
    for (const CounterUnit& known : counter_units) {
      if (known.kind == row.kind && !known.name.empty()) {
        fitting.push_back(known.name);
      }
    }
    return quoted(metric) + (unit.empty() ? " has no unit" : " is told in " + quoted(unit)) + "; it must be in " +
           listed(fitting);
  }

  void check_kernel(KernelBeingRead& read) {
    ProfiledKernel& kernel = read.kernel;
    // Families tell the same in other units: the one with most reasons is kept.
    const auto most = std::max_element(read.stalls.begin(), read.stalls.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most != read.stalls.end()) {
      kernel.stalls = std::move(most->second);
    }
    if (read.broken) {
      return;
    }
    const std::optional<double> duration = kernel.get(Counter::duration);
    if (!duration || !(*duration > 0.0)) {
      problems_.add(file_, read.at,
                    "kernel " + quoted(kernel.name) + (duration ? " takes no time" : " has no duration") +
                        "; profile it with gpu__time_duration.sum (\"Duration\" of --page details)");
    }
    const bool memory = kernel.get(Counter::memory_use) || kernel.get(Counter::all_memory_use) ||
                        kernel.get(Counter::memory_bytes) || kernel.get(Counter::memory_read) ||
                        kernel.get(Counter::memory_rate);
    if (!memory) {
      problems_.add(file_, read.at,
                    "kernel " + quoted(kernel.name) + " has no counter of the memory; profile it with " +
                        std::string{first_name(counter_names[static_cast<std::size_t>(Counter::memory_use)])} +
                        " or dram__bytes.sum");
    }
  }

  std::istringstream stream_;
  std::string file_;
  Diagnostics problems_;
  std::vector<KernelBeingRead> kernels_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

KernelProfiles read_kernel_profiles(std::string_view text, const std::string& file) {
  return ProfileReader{text, file}.read();
}

}  // namespace headroom
