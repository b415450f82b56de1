// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/kineto_reader.hpp>
#include <headroom/calibrate/traces/nsys_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace headroom {
namespace {

struct Closer {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

[[noreturn]] void refuse_report(const std::string& file, std::string message) {
  Diagnostics diagnostics;
  diagnostics.add(file, {}, std::move(message));
  diagnostics.throw_if_any();
  std::abort();  // not reached: there is one
}

/// A file name as a URI that says that nobody changes the file: no lock is taken, no file laid beside it.
std::string uri_of(const std::string& file) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : file) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isalnum(code) != 0 || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += '%';
      uri += digits[code >> 4U];
      uri += digits[code & 15U];
    }
  }
  return uri + "?immutable=1";
}

/// Rows of one question.
class Rows {
 public:
  Rows(sqlite3* database, const std::string& file, const std::string& question) : database_{database}, file_{file} {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, question.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      fail();
    }
    statement_.reset(statement);
  }
  bool next() {
    const int told = sqlite3_step(statement_.get());
    if (told == SQLITE_ROW) {
      if (++read_ > most_nsys_rows) {
        refuse_report(file_,
                      "a table holds more than " + std::to_string(most_nsys_rows) + " rows; profile fewer steps");
      }
      return true;
    }
    if (told != SQLITE_DONE) {
      fail();
    }
    return false;
  }
  [[nodiscard]] std::int64_t whole(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  [[nodiscard]] bool none(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
  [[nodiscard]] std::string_view text(int column) const {
    const unsigned char* const held = sqlite3_column_text(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return held == nullptr ? std::string_view{}
                           : std::string_view{reinterpret_cast<const char*>(held),  // NOLINT: SQLite's bytes
                                              static_cast<std::size_t>(size)};
  }

 private:
  [[noreturn]] void fail() const {
    refuse_report(file_, std::string{"the database cannot be read: "} + sqlite3_errmsg(database_) +
                             "; export it again with 'nsys export --type sqlite', and pass it unpacked");
  }

  sqlite3* database_;
  const std::string& file_;
  std::unique_ptr<sqlite3_stmt, Closer> statement_;
  std::int64_t read_ = 0;
};

/// Number behind a word that counts steps; nullopt: the name counts none.
std::optional<std::int64_t> step_number(std::string_view name) {
  constexpr std::array<std::string_view, 7> counted_words{"profilerstep", "iteration", "train_step", "training_step",
                                                          "iter",         "step",      "batch"};
  for (const std::string_view word : counted_words) {
    const bool begins = name.size() > word.size() &&
                        std::equal(word.begin(), word.end(), name.begin(),
                                   [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
    if (!begins) {
      continue;
    }
    std::string_view rest = name.substr(word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" _#:-"), rest.size()));
    if (!rest.empty() && rest.size() <= 9 && rest.find_first_not_of("0123456789") == std::string_view::npos) {
      std::int64_t number = 0;
      for (const char c : rest) {
        number = 10 * number + (c - '0');
      }
      return number;
    }
  }
  return std::nullopt;
}

class Report {
 public:
  explicit Report(const std::string& file) : file_{file} {
    sqlite3* database = nullptr;
    const int told = sqlite3_open_v2(uri_of(file).c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database_.reset(database);
    if (told != SQLITE_OK) {
      refuse_report(file, std::string{"the database cannot be opened: "} + sqlite3_errstr(told));
    }
    // A schema of somebody else's: no view, trigger or function of it is to run.
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  }

  std::vector<Timeline> read() {
    read_names();
    const bool kernels = has("CUPTI_ACTIVITY_KIND_KERNEL");
    const bool copies = has("CUPTI_ACTIVITY_KIND_MEMCPY");
    if (!kernels && !copies) {
      refuse_report(file_,
                    "the database holds neither kernels nor copies (CUPTI_ACTIVITY_KIND_KERNEL, "
                    "CUPTI_ACTIVITY_KIND_MEMCPY); profile with 'nsys profile --trace=cuda,nvtx' and export "
                    "with 'nsys export --type sqlite'");
    }
    if (kernels) {
      read_kernels();
    }
    if (copies) {
      read_moves("CUPTI_ACTIVITY_KIND_MEMCPY", DeviceWork::copy);
    }
    if (has("CUPTI_ACTIVITY_KIND_MEMSET")) {
      read_moves("CUPTI_ACTIVITY_KIND_MEMSET", DeviceWork::fill);
    }
    if (has("CUPTI_ACTIVITY_KIND_RUNTIME")) {
      read_calls();
    }
    if (has("NVTX_EVENTS")) {
      read_ranges();
    }
    return finished();
  }

 private:
  /// One process of the report.
  struct Process {
    Timeline timeline;
    std::unordered_map<std::int64_t, std::uint32_t> names;    ///< of the report, in the timeline
    std::unordered_map<std::int64_t, std::uint32_t> threads;  ///< by globalTid
  };

  [[nodiscard]] Rows ask(const std::string& question) const { return Rows{database_.get(), file_, question}; }

  [[nodiscard]] bool has(std::string_view table) const {
    Rows rows = ask("SELECT name, sql FROM sqlite_master WHERE type = 'table'");
    while (rows.next()) {
      if (rows.text(0) == table) {
        return !rows.text(1).starts_with("CREATE VIRTUAL");
      }
    }
    return false;
  }
  [[nodiscard]] bool has_column(std::string_view table, std::string_view column) const {
    Rows rows = ask("SELECT name FROM pragma_table_info('" + std::string{table} + "')");
    while (rows.next()) {
      if (rows.text(0) == column) {
        return true;
      }
    }
    return false;
  }

  void read_names() {
    if (has("StringIds")) {
      Rows rows = ask("SELECT id, value FROM StringIds");
      while (rows.next()) {
        names_.emplace(rows.whole(0), std::string{rows.text(1)});
      }
    }
    if (has("TARGET_INFO_GPU")) {
      const auto optional = [&](std::string_view column) {
        return has_column("TARGET_INFO_GPU", column) ? std::string{column} : std::string{"NULL"};
      };
      Rows rows = ask("SELECT id, name, " + optional("smCount") + ", " + optional("totalMemory") + ", " +
                      optional("cuDevice") + " FROM TARGET_INFO_GPU");
      while (rows.next()) {
        devices_.push_back({rows.none(4) ? rows.whole(0) : rows.whole(4), std::string{rows.text(1)}, rows.whole(2),
                            static_cast<double>(rows.whole(3))});
      }
    }
  }

  /// A process by its global number: those of its threads share the upper 40 bits ("Serialized process and thread
  /// identifiers").
  Process& process_of(std::int64_t global) {
    constexpr std::int64_t thread_bits = 24;
    Process& process = processes_[global >> thread_bits];
    if (process.timeline.file.empty()) {
      process.timeline.file = file_;
      process.timeline.devices = devices_;
    }
    return process;
  }
  std::uint32_t name_of(Process& process, std::int64_t id) {
    const auto [at, fresh] = process.names.try_emplace(id, 0);
    if (fresh) {
      const auto told = names_.find(id);
      at->second = process.timeline.names.number(told != names_.end() ? told->second : "kernel " + std::to_string(id));
    }
    return at->second;
  }
  static std::uint32_t thread_of(Process& process, std::int64_t global) {
    const auto [at, fresh] = process.threads.try_emplace(global, 0);
    if (fresh) {
      at->second = static_cast<std::uint32_t>(process.timeline.threads.size());
      process.timeline.threads.push_back(std::to_string(global >> 24) + "/" + std::to_string(global & 0xffffff));
    }
    return at->second;
  }
  /// Nanoseconds that can be added up; nullopt for others, which are counted.
  std::optional<std::pair<TraceTime, TraceTime>> times_of(const Rows& rows, Process& process) {
    ++process.timeline.events;
    const std::int64_t begin = rows.whole(0);
    const std::int64_t end = rows.none(1) ? begin : rows.whole(1);
    constexpr std::int64_t most = std::int64_t{1} << 61U;
    if (begin < 0 || begin > most || end > most) {
      ++process.timeline.passed_over;
      return std::nullopt;
    }
    return std::pair{begin, std::max(begin, end)};
  }

  /// What kernels, copies and fills have in common: the first five columns of what is asked.
  std::optional<DeviceSpan> span_of(const Rows& rows, Process& process) {
    const auto times = times_of(rows, process);
    if (!times) {
      return std::nullopt;
    }
    DeviceSpan span;
    span.begin = times->first;
    span.end = times->second;
    span.device = static_cast<std::int32_t>(rows.whole(2));
    span.stream = static_cast<std::int32_t>(rows.whole(3));
    span.correlation = rows.whole(4);
    return span;
  }

  void read_kernels() {
    const std::string name = has_column("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName") ? "demangledName" : "shortName";
    Rows rows =
        ask("SELECT start, end, deviceId, streamId, correlationId, " + process_column("CUPTI_ACTIVITY_KIND_KERNEL") +
            ", " + name + ", gridX, gridY, gridZ FROM CUPTI_ACTIVITY_KIND_KERNEL");
    while (rows.next()) {
      Process& process = process_of(rows.whole(5));
      std::optional<DeviceSpan> read = span_of(rows, process);
      if (!read) {
        continue;
      }
      DeviceSpan& span = *read;
      span.name = name_of(process, rows.whole(6));
      constexpr std::int64_t most_blocks = std::int64_t{1} << 40U;
      span.blocks = 1;
      for (const int axis : {7, 8, 9}) {
        span.blocks = std::min(most_blocks, span.blocks * std::clamp<std::int64_t>(rows.whole(axis), 0, 1 << 20));
      }
      span.work =
          is_communication(process.timeline.names.name(span.name)) ? DeviceWork::communication : DeviceWork::compute;
      process.timeline.work.push_back(span);
    }
  }

  void read_moves(const std::string& table, DeviceWork work) {
    // Kinds of CUpti_ActivityMemcpyKind.
    constexpr std::array<std::string_view, 11> kinds{"Memcpy unknown", "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                                     "Memcpy AtoH",    "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                                     "Memcpy DtoD",    "Memcpy HtoH", "Memcpy PtoP"};
    const bool copies = work == DeviceWork::copy;
    Rows rows = ask("SELECT start, end, deviceId, streamId, correlationId, " + process_column(table) + ", bytes, " +
                    (copies ? "copyKind" : "NULL") + " FROM " + table);
    while (rows.next()) {
      Process& process = process_of(rows.whole(5));
      if (std::optional<DeviceSpan> span = span_of(rows, process)) {
        const auto kind = static_cast<std::size_t>(
            std::clamp<std::int64_t>(rows.whole(7), 0, static_cast<std::int64_t>(kinds.size()) - 1));
        span->name = process.timeline.names.number(copies ? kinds[kind] : "Memset");
        span->work = work;
        span->bytes = static_cast<double>(std::max<std::int64_t>(0, rows.whole(6)));
        process.timeline.work.push_back(*span);
      }
    }
  }

  /// Before 2021 reports held one process and did not name it.
  [[nodiscard]] std::string process_column(std::string_view table) const {
    return has_column(table, "globalPid") ? "globalPid" : "0";
  }

  void read_calls() {
    Rows rows = ask("SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    while (rows.next()) {
      Process& process = process_of(rows.whole(2));
      const auto times = times_of(rows, process);
      if (!times) {
        continue;
      }
      HostSpan span;
      span.begin = times->first;
      span.end = times->second;
      span.name = call_name(process, rows.whole(4));
      span.thread = thread_of(process, rows.whole(2));
      span.work = HostWork::runtime;
      span.correlation = rows.whole(3);
      process.timeline.host.push_back(span);
    }
  }
  /// "cudaLaunchKernel_v7000" as "cudaLaunchKernel".
  std::uint32_t call_name(Process& process, std::int64_t id) {
    const auto [at, fresh] = process.names.try_emplace(id, 0);
    if (fresh) {
      const auto told = names_.find(id);
      std::string_view name = told != names_.end() ? std::string_view{told->second} : std::string_view{"call"};
      const std::size_t version = name.rfind("_v");
      if (version != std::string_view::npos && version + 2 < name.size() &&
          name.find_first_not_of("0123456789", version + 2) == std::string_view::npos) {
        name = name.substr(0, version);
      }
      at->second = process.timeline.names.number(name);
    }
    return at->second;
  }

  void read_ranges() {
    const bool by_id = has_column("NVTX_EVENTS", "textId");
    Rows rows = ask("SELECT start, end, globalTid, text, " + std::string{by_id ? "textId" : "NULL"} +
                    " FROM NVTX_EVENTS WHERE end IS NOT NULL AND eventType IN (59, 60)");
    while (rows.next()) {
      Process& process = process_of(rows.whole(2));
      const auto times = times_of(rows, process);
      const auto told = names_.find(rows.whole(4));
      const std::string name{!rows.none(3) || told == names_.end() ? rows.text(3) : std::string_view{told->second}};
      if (!times || name.empty()) {
        continue;
      }
      const std::optional<std::int64_t> step = step_number(name);
      HostSpan span;
      span.begin = times->first;
      span.end = times->second;
      span.name = process.timeline.names.number(step ? "ProfilerStep#" + std::to_string(*step) : name);
      span.thread = thread_of(process, rows.whole(2));
      span.work = HostWork::annotation;
      process.timeline.host.push_back(span);
    }
  }

  std::vector<Timeline> finished() {
    std::vector<Timeline> timelines;
    for (auto& [number, process] : processes_) {
      Timeline& timeline = process.timeline;
      if (timeline.work.empty()) {
        continue;
      }
      std::stable_sort(timeline.work.begin(), timeline.work.end(),
                       [](const DeviceSpan& a, const DeviceSpan& b) { return a.begin < b.begin; });
      std::stable_sort(timeline.host.begin(), timeline.host.end(), [](const HostSpan& a, const HostSpan& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
      });
      timelines.push_back(std::move(timeline));
    }
    if (timelines.empty()) {
      refuse_report(file_,
                    "the report holds no work of a GPU with a time; profile with 'nsys profile --trace=cuda,nvtx'");
    }
    return timelines;
  }

  const std::string& file_;
  std::unique_ptr<sqlite3, Closer> database_;
  std::unordered_map<std::int64_t, std::string> names_;
  std::vector<TracedDevice> devices_;
  std::map<std::int64_t, Process> processes_;
};

}  // namespace

bool begins_as_sqlite(std::string_view head) noexcept {
  return head.starts_with(std::string_view{"SQLite format 3\0", 16});
}

std::vector<Timeline> read_nsys(const std::string& file) {
  return Report{file}.read();
}

}  // namespace headroom
