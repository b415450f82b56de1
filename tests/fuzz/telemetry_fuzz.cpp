// SPDX-License-Identifier: Apache-2.0
// Any text as telemetry or a log: signals whose reading holds numbers and shares of 0 to 1, or refused with its
// problems.
#include <headroom/calibrate/evidence/evidence.hpp>
#include <headroom/calibrate/telemetry/engine_journal.hpp>
#include <headroom/calibrate/telemetry/monitor_reader.hpp>
#include <headroom/calibrate/telemetry/prometheus_reader.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>
#include <headroom/calibrate/telemetry/training_log.hpp>
#include <headroom/core/diagnostic.hpp>

#include "require.hpp"
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Reader = void (*)(std::string_view, const std::string&, Signals&);
  static constexpr std::array<Reader, 13> readers{
      read_smi_csv,      read_smi_processes,   read_smi_details,     read_smi_monitor,    read_process_monitor,
      read_dcgm_monitor, read_prometheus_text, read_prometheus_json, read_engine_journal, read_phases,
      read_latencies,    read_accounting,      read_training_log};
  const fuzz::Chosen chosen{data, size, readers.size() + 1};
  Evidence evidence;
  evidence.files = {"f"};
  try {
    if (chosen.which < readers.size()) {
      readers[chosen.which](chosen.text, "f", evidence.signals);
    } else {
      read_kernel_list(chosen.text, "f", evidence.signals);
    }
  } catch (const ConfigError&) {
    return 0;
  }
  const RunReading reading = reading_of(evidence);
  for (const Cause& cause : reading.causes) {
    fuzz::require(cause.lost >= 0.0 && cause.lost <= 1.0 + 1e-9);
    fuzz::require(!cause.time_ratio || (*cause.time_ratio >= 0.0 && *cause.time_ratio <= 1.0));
    fuzz::require(!cause.says.empty() && !cause.cure.empty());
  }
  for (const FindingTable& table : reading.tables) {
    for (const auto& row : table.rows) {
      fuzz::require(row.size() == table.columns.size());
      for (const FindingCell& cell : row) {
        const double* const number = std::get_if<double>(&cell);
        fuzz::require(number == nullptr || std::isfinite(*number));
      }
    }
  }
  return 0;
}
