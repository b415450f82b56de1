// SPDX-License-Identifier: Apache-2.0
// Reports of Nsight Systems, made here as its exporter makes them.
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/calibrate/traces/nsys_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include "../support/scratch_folder.hpp"
#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr std::int64_t process_bits = 24;

/// A database that statements are written to.
class Database {
 public:
  explicit Database(const std::string& file) { REQUIRE(sqlite3_open(file.c_str(), &database_) == SQLITE_OK); }
  ~Database() { sqlite3_close(database_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  Database(Database&&) = delete;
  Database& operator=(Database&&) = delete;

  void run(const std::string& statement) {
    CAPTURE(statement);
    REQUIRE(sqlite3_exec(database_, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  void add(const std::string& table, const std::vector<std::int64_t>& values) {
    std::string row;
    for (const std::int64_t value : values) {
      row += (row.empty() ? "" : ", ") + std::to_string(value);
    }
    run("INSERT INTO " + table + " VALUES (" + row + ")");
  }

 private:
  sqlite3* database_ = nullptr;
};

/// Steps of 10 ms of one process: a call ends at 3 ms, its kernel runs until 8 ms and a collective until 10 ms.
void write_report(const std::string& file, int processes) {
  Database report{file};
  report.run("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
  report.run(
      "INSERT INTO StringIds VALUES (1, 'sm90_gemm'), (2, 'ncclDevKernel_AllReduce_Sum_bf16'), "
      "(3, 'cudaLaunchKernel_v7000')");
  report.run("CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, totalMemory INT)");
  report.run("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132, 85000000000)");
  report.run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT, "
      "globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT)");
  report.run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, streamId INT, correlationId INT, "
      "globalPid INT, bytes INT, copyKind INT)");
  report.run(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, nameId INT)");
  report.run("CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT, textId INT)");
  constexpr std::int64_t ms = 1'000'000;
  for (std::int64_t p = 1; p <= processes; ++p) {
    const std::int64_t process = p << process_bits;
    for (std::int64_t s = 0; s < 4; ++s) {
      const std::int64_t at = 10 * ms * s;
      report.run("INSERT INTO NVTX_EVENTS VALUES (" + std::to_string(at) + ", " + std::to_string(at + 10 * ms) +
                 ", 59, 'step " + std::to_string(s) + "', " + std::to_string(process + 7) + ", NULL)");
      report.add("CUPTI_ACTIVITY_KIND_RUNTIME", {at + 2 * ms, at + 3 * ms, process + 7, 2 * s, 3});
      report.add("CUPTI_ACTIVITY_KIND_RUNTIME", {at + 3 * ms, at + 3 * ms + 10, process + 7, 2 * s + 1, 3});
      report.add("CUPTI_ACTIVITY_KIND_KERNEL", {at + 3 * ms, at + 8 * ms, 0, 7, 2 * s, process, 1, 1, 33, 2, 1});
      report.add("CUPTI_ACTIVITY_KIND_KERNEL", {at + 8 * ms, at + 10 * ms, 0, 8, 2 * s + 1, process, 2, 2, 24, 1, 1});
    }
    report.add("CUPTI_ACTIVITY_KIND_MEMCPY", {4 * ms, 5 * ms, 0, 9, 100, process, 4096, 1});
  }
}

TEST_CASE("nsys: kernels, calls and ranges are a timeline, and its reading is that of any trace") {
  const test::ScratchFolder scratch;
  const std::string file = (scratch.path() / "report one?.sqlite").string();
  write_report(file, 1);
  const std::vector<Timeline> all = read_nsys(file);
  REQUIRE(all.size() == 1);
  const Timeline& timeline = all.front();
  CHECK(timeline.work.size() == 9);
  CHECK(timeline.host.size() == 12);
  CHECK(timeline.names.name(timeline.work[1].name) == "Memcpy HtoD");
  CHECK(timeline.work[1].work == DeviceWork::copy);
  CHECK(timeline.work[1].bytes == 4096.0);
  CHECK(timeline.work[2].work == DeviceWork::communication);
  CHECK(timeline.work[0].blocks == 66);
  REQUIRE(timeline.devices.size() == 1);
  CHECK(timeline.devices.front().units == 132);
  const TracedRank rank = traced_rank(timeline);
  const RunReading reading = reading_of({&rank, 1});
  CHECK(reading.steps == 3);  // of four the first is left out
  CHECK(1e3 * reading.step->raw() == doctest::Approx(10.0));
  CHECK(1e3 * reading.parts[0].time.raw() == doctest::Approx(5.0));
  CHECK(1e3 * reading.parts[1].time.raw() == doctest::Approx(2.0));
  CHECK(reading.gpu == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("nsys: each process of a report is a rank") {
  const test::ScratchFolder scratch;
  const std::string file = (scratch.path() / "two.sqlite").string();
  write_report(file, 2);
  CHECK(read_nsys(file).size() == 2);
}

TEST_CASE("nsys: what is no report, is cut or asks to be run is refused") {
  const test::ScratchFolder scratch;
  const std::string whole = (scratch.path() / "whole.sqlite").string();
  write_report(whole, 1);
  std::ifstream stream{whole, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
  CHECK(begins_as_sqlite(bytes));
  CHECK(!begins_as_sqlite("SQLite format 2"));
  const auto refused = [](const std::string& file, const char* says) {
    CHECK_THROWS_WITH_AS(static_cast<void>(read_nsys(file)), doctest::Contains(says), ConfigError);
  };
  refused(scratch.write("cut.sqlite", bytes.substr(0, bytes.size() / 3)), "the database cannot be read");
  refused(scratch.write("text.sqlite", "no database at all, but long enough to be asked"), "file is not a database");
  const std::string empty = (scratch.path() / "empty.sqlite").string();
  Database{empty}.run("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
  refused(empty, "holds neither kernels nor copies");
  // A view in the place of a table would run whatever its author chose.
  const std::string view = (scratch.path() / "view.sqlite").string();
  Database{view}.run(
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
      "FROM n) SELECT x AS start FROM n");
  refused(view, "holds neither kernels nor copies");
}

}  // namespace
}  // namespace headroom
