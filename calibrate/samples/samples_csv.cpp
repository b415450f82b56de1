// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/calibrate/samples/csv_columns.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>

#include <array>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t gemm_columns = 7;

constexpr std::array<std::string_view, 11> sustained_header{
    "engine",           "version",  "dtype",        "m",      "n", "k", "latency_us",
    "latency_first_us", "lasted_s", "sm_clock_mhz", "power_w"};
constexpr std::span<const std::string_view> gemm_header{sustained_header.data(), gemm_columns};
constexpr std::array<std::string_view, 3> copy_header{"op", "bytes", "latency_us"};
constexpr std::array<std::string_view, 3> launch_header{"op", "count", "latency_us"};

std::string gemm_cells(const GemmRow& r) {
  std::string line = csv_line(
      {r.engine, r.version, r.dtype, std::to_string(r.m), std::to_string(r.n), std::to_string(r.k), micros(r.latency)});
  line.pop_back();
  return line;
}

GemmRow gemm_row(CsvColumns& columns) {
  GemmRow row;
  row.engine = columns.text(0);
  row.version = columns.text(1);
  row.dtype = columns.text(2);
  row.m = columns.integer(3);
  row.n = columns.integer(4);
  row.k = columns.integer(5);
  row.latency = Seconds{columns.number(6) * micro};
  return row;
}

SustainedRow sustained_row(CsvColumns& columns) {
  SustainedRow row;
  row.gemm = gemm_row(columns);
  row.first = Seconds{columns.number(7) * micro};
  row.lasted = Seconds{columns.number(8)};
  if (const std::optional<double> mhz = columns.maybe(9)) {
    row.sm_clock = Hertz{*mhz * mega};
  }
  if (const std::optional<double> watts = columns.maybe(10)) {
    row.power = Watts{*watts};
  }
  return row;
}

struct Sorter {
  const Sample* sample;
  const SampleVersions* versions;
  SampleRows* rows;

  void operator()(const GemmProbe& p) const {
    const GemmRow row{"cublaslt", versions->cublaslt, std::string{row_of(p.type).column}, p.m, p.n,
                      p.k,        sample->latency};
    if (p.sustained > Seconds{}) {
      rows->sustained.push_back({row, sample->first, sample->lasted, sample->sm_clock, sample->power});
    } else {
      rows->gemm.push_back(row);
    }
  }
  void operator()(const CopyProbe& p) const {
    rows->copy.push_back(
        {std::string{copy_op_names[static_cast<std::size_t>(p.op)]}, p.arrays() * p.array_bytes, sample->latency});
  }
  void operator()(const LaunchProbe& p) const {
    rows->launch.push_back({std::string{launch_op_names[static_cast<std::size_t>(p.op)]}, p.count, sample->latency});
  }
  void operator()(const AttentionProbe& p) const {
    rows->attention.push_back({"cudnn", told(versions->cudnn), p, sample->latency});
  }
  void operator()(const DecodeProbe& p) const {
    rows->decode.push_back({"headroom", told(versions->headroom), p, sample->latency});
  }
  void operator()(const PassProbe& p) const { rows->pass.push_back({p, sample->latency}); }
  void operator()(const TransferProbe& p) const {
    rows->transfer.push_back(
        {std::string{transfer_op_names[static_cast<std::size_t>(p.op)]}, p.crossed(), sample->latency});
  }
  void operator()(const LayerProbe& p) const { rows->layer.push_back({p, sample->latency}); }
  void operator()(const UnitProbe& p) const { rows->unit.push_back({p, sample->latency}); }
  /// Version for a cell, which must not be empty.
  static std::string told(const std::string& version) { return version.empty() ? "unknown" : version; }
  void operator()(const CollectiveProbe& /*collective_files() writes them*/) const {}
};

struct CopiesOf {
  std::int64_t operator()(const GemmProbe& p) const { return p.copies; }
  std::int64_t operator()(const CopyProbe& p) const { return p.copies; }
  std::int64_t operator()(const LaunchProbe&) const { return 1; }
  template <class Kind>
  std::int64_t operator()(const Kind& p) const {
    return p.copies;
  }
  std::int64_t operator()(const CollectiveProbe&) const { return 1; }
  std::int64_t operator()(const LayerProbe&) const { return 1; }
};

std::string mhz_or_empty(std::optional<Hertz> clock) {
  return clock ? five_digits(clock->raw() / mega) : "";
}

}  // namespace

std::string csv_of(std::span<const GemmRow> rows) {
  std::string text = csv_line(gemm_header);
  for (const GemmRow& row : rows) {
    text += gemm_cells(row) + "\n";
  }
  return text;
}

std::string csv_of(std::span<const SustainedRow> rows) {
  std::string text = csv_line(sustained_header);
  for (const SustainedRow& r : rows) {
    text += gemm_cells(r.gemm) + "," +
            csv_line({micros(r.first), five_digits(r.lasted.raw()), mhz_or_empty(r.sm_clock),
                      r.power ? five_digits(r.power->raw()) : std::string{}});
  }
  return text;
}

std::string csv_of(std::span<const CopyRow> rows) {
  std::string text = csv_line(copy_header);
  for (const CopyRow& row : rows) {
    text += csv_line({row.op, std::to_string(row.bytes), micros(row.latency)});
  }
  return text;
}

std::string csv_of(std::span<const LaunchRow> rows) {
  std::string text = csv_line(launch_header);
  for (const LaunchRow& row : rows) {
    text += csv_line({row.op, std::to_string(row.count), micros(row.latency)});
  }
  return text;
}

std::vector<GemmRow> read_gemm_rows(CsvReader& csv) {
  return read_rows<GemmRow>(csv, gemm_header, gemm_row);
}

std::vector<SustainedRow> read_sustained_rows(CsvReader& csv) {
  return read_rows<SustainedRow>(csv, sustained_header, sustained_row);
}

std::vector<CopyRow> read_copy_rows(CsvReader& csv) {
  return read_rows<CopyRow>(csv, copy_header, [](CsvColumns& c) {
    CopyRow row;
    row.op = c.text(0);
    row.bytes = c.integer(1);
    row.latency = Seconds{c.number(2) * micro};
    return row;
  });
}

std::vector<LaunchRow> read_launch_rows(CsvReader& csv) {
  return read_rows<LaunchRow>(csv, launch_header, [](CsvColumns& c) {
    LaunchRow row;
    row.op = c.text(0);
    row.count = c.integer(1);
    row.latency = Seconds{c.number(2) * micro};
    return row;
  });
}

SampleRows rows_of(std::span<const Sample> samples, const SampleVersions& versions) {
  SampleRows rows;
  for (const Sample& sample : samples) {
    std::visit(Sorter{&sample, &versions, &rows}, sample.probe);
  }
  return rows;
}

std::vector<FolderFile> sample_files(std::span<const Sample> samples,
                                     const SampleVersions& versions,
                                     const std::string& nccl) {
  const SampleRows rows = rows_of(samples, versions);
  std::vector<FolderFile> files;
  if (!rows.gemm.empty()) {
    files.emplace_back("gemm.csv", csv_of(rows.gemm));
  }
  if (!rows.sustained.empty()) {
    files.emplace_back("gemm_sustained.csv", csv_of(rows.sustained));
  }
  if (!rows.copy.empty()) {
    files.emplace_back("copy.csv", csv_of(rows.copy));
  }
  if (!rows.launch.empty()) {
    files.emplace_back("launch.csv", csv_of(rows.launch));
  }
  const auto add = [&](const char* name, const auto& kind) {
    if (!kind.empty()) {
      files.emplace_back(name, csv_of(kind));
    }
  };
  add("attention_training.csv", rows.attention);
  add("attention_decode.csv", rows.decode);
  add("memory.csv", rows.pass);
  add("transfer.csv", rows.transfer);
  add("layers.csv", rows.layer);
  add("unit.csv", rows.unit);
  for (FolderFile& file : collective_files(samples, nccl)) {
    files.push_back(std::move(file));
  }
  files.emplace_back("details.csv", details_csv(samples));
  return files;
}

std::string details_csv(std::span<const Sample> samples) {
  std::string text = "probe,latency_us,fastest_us,slowest_us,spans,launches,copies,algorithms,sm_clock_mhz\n";
  for (const Sample& s : samples) {
    text +=
        csv_line({name_of(s.probe), micros(s.latency), micros(s.fastest), micros(s.slowest), std::to_string(s.spans),
                  std::to_string(s.launches), std::to_string(std::visit(CopiesOf{}, s.probe)),
                  std::to_string(s.algorithms), mhz_or_empty(s.sm_clock)});
  }
  return text;
}

}  // namespace headroom
