// SPDX-License-Identifier: Apache-2.0
// Measurements appended to samples.csv one by one, each on the disk before the next begins, so that whatever ends a
// calibration loses no more than the measurement it was at.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/core/diagnostic.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One measurement of one probe, or why there is none.
struct JournalEntry {
  std::string key;             ///< name of the probe; one that a plan holds twice has " again" at its end
  std::int64_t round = 0;      ///< how often it was measured before
  Sample sample;               ///< its probe is the plan's to know
  std::uint64_t throttle = 0;  ///< reasons that slowed the device, before or after
  Seconds took{};              ///< by the prober's clock, all of it
  std::string refused;         ///< why the timing counts for nothing; empty: it counts
};

/// Reads what a journal holds, all or, of a file that was cut, all whole lines; `torn` is then how many bytes follow
/// the last of them. Problems of whole lines go to `diagnostics`.
[[nodiscard]] std::vector<JournalEntry> read_journal(std::string_view text,
                                                     const std::string& file,
                                                     Diagnostics& diagnostics,
                                                     std::size_t& torn);

class SampleJournal {
 public:
  static constexpr std::string_view file_name = "samples.csv";

  /// Opens the journal of a folder that exists, or begins it, and holds it against other processes until its end.
  /// ConfigError: it cannot be written, another process holds it, a whole line is wrong.
  explicit SampleJournal(const std::string& folder);
  SampleJournal(const SampleJournal&) = delete;
  SampleJournal& operator=(const SampleJournal&) = delete;
  SampleJournal(SampleJournal&&) = delete;
  SampleJournal& operator=(SampleJournal&&) = delete;
  ~SampleJournal();

  [[nodiscard]] const std::vector<JournalEntry>& entries() const noexcept { return entries_; }
  /// Bytes of a line that was being written when the last calibration ended; they were dropped.
  [[nodiscard]] std::size_t torn() const noexcept { return torn_; }
  /// Writes a whole line and waits until it is on the disk. The entry is kept as a later reader will see it.
  void append(const JournalEntry& entry);

 private:
  std::string path_;
  int file_ = -1;
  std::vector<JournalEntry> entries_;
  std::size_t torn_ = 0;
};

}  // namespace headroom
