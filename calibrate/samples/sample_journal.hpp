// SPDX-License-Identifier: Apache-2.0
// Journal of measurements in samples.csv. Each line is on disk before the next measurement begins, so an aborted
// calibration loses at most the measurement in progress.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/core/diagnostic.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One measurement of one probe, or why it is missing.
struct JournalEntry {
  std::string key;             ///< name of the probe, with " again" when a plan has it twice
  std::int64_t round = 0;      ///< number of earlier measurements of the probe
  Sample sample;               ///< without its probe, which the plan knows
  std::uint64_t throttle = 0;  ///< reasons that slowed the device, before or after
  Seconds took{};              ///< total time by the prober's clock
  std::string refused;         ///< reason why the timing does not count; empty: it counts
};

/// Reads a journal. In a truncated file all complete lines are read, and `torn` is the number of bytes after them.
/// Problems of complete lines go to `diagnostics`.
[[nodiscard]] std::vector<JournalEntry> read_journal(std::string_view text,
                                                     const std::string& file,
                                                     Diagnostics& diagnostics,
                                                     std::size_t& torn);

class SampleJournal {
 public:
  static constexpr std::string_view file_name = "samples.csv";

  /// Opens or creates the journal of an existing folder and locks it against other processes. Throws ConfigError when
  /// it cannot be written, another process holds it, or a complete line is wrong.
  explicit SampleJournal(const std::string& folder);
  SampleJournal(const SampleJournal&) = delete;
  SampleJournal& operator=(const SampleJournal&) = delete;
  SampleJournal(SampleJournal&&) = delete;
  SampleJournal& operator=(SampleJournal&&) = delete;
  ~SampleJournal();

  [[nodiscard]] const std::vector<JournalEntry>& entries() const noexcept { return entries_; }
  /// Bytes of an incomplete last line, which were dropped.
  [[nodiscard]] std::size_t torn() const noexcept { return torn_; }
  /// Writes a line and waits until it is on disk. The entry is kept as a later reader will see it.
  void append(const JournalEntry& entry);

 private:
  std::string path_;
  int file_ = -1;
  std::vector<JournalEntry> entries_;
  std::size_t torn_ = 0;
};

}  // namespace headroom
