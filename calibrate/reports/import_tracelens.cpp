// SPDX-License-Identifier: Apache-2.0
// Columns: AMD-AGI/TraceLens @ a1d6de0 and @ 4dc822d, GEMM.csv and SDPA_fwd.csv of its reports.
#include <headroom/calibrate/import/import_numbers.hpp>
#include <headroom/calibrate/reports/import_records.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr std::string_view kernel_time = "Kernel Time (\xC2\xB5s)_median";

/// PyTorch's names of formats in a pair of operands; empty: one without a name here, or two that differ.
std::string format_named(std::string_view pair) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> formats{{{"c10::BFloat16", "bf16"},
                                                                                  {"c10::Half", "fp16"},
                                                                                  {"float", "fp32"},
                                                                                  {"c10::Float8_e4m3fnuz", "fp8"},
                                                                                  {"c10::Float8_e4m3fn", "fp8"},
                                                                                  {"c10::Float8_e5m2", "fp8"},
                                                                                  {"signed char", "int8"}}};
  std::set<std::string> found;
  while (!pair.empty()) {
    const std::size_t open = pair.find('\'');
    const std::size_t close = open == std::string_view::npos ? open : pair.find('\'', open + 1);
    if (close == std::string_view::npos) {
      break;
    }
    const std::string_view name = pair.substr(open + 1, close - open - 1);
    const auto* const known =
        std::find_if(formats.begin(), formats.end(), [&](const auto& format) { return format.first == name; });
    found.emplace(known == formats.end() ? std::string_view{"?"} : known->second);
    pair.remove_prefix(close + 1);
  }
  return found.size() == 1 && *found.begin() != "?" ? *found.begin() : std::string{};
}

/// A table of one kind of op: its columns are found by name.
class OpTable {
 public:
  OpTable(std::string_view text, const std::string& file, Diagnostics& problems)
      : stream_{std::string{text}}, csv_{stream_, file, problems}, problems_{&problems} {}

  /// Whether the header has them all.
  [[nodiscard]] bool has(std::span<const std::string_view> names) const {
    return std::all_of(names.begin(), names.end(),
                       [&](std::string_view name) { return csv_.column(name).has_value(); });
  }
  bool next() { return csv_.next(); }
  [[nodiscard]] const std::string& cell(std::string_view name) const { return csv_.fields()[*csv_.column(name)]; }
  /// A size, 1 or more; a problem and 0 where it is none.
  std::int64_t size(std::string_view name) {
    const std::optional<std::int64_t> value = integer_of(cell(name));
    if (!value || *value < 1) {
      problem(name, quoted(name) + " is " + quoted(cell(name)) + "; it must be a whole number above 0");
      return 0;
    }
    return *value;
  }
  /// The median time; empty, with a problem, where it is none.
  std::string time() {
    const std::string& text = cell(kernel_time);
    const std::string wrong = wrong_number(text, printed_microseconds);
    if (!wrong.empty()) {
      problem(kernel_time, wrong);
      return {};
    }
    return text;
  }

 private:
  void problem(std::string_view name, std::string what) {
    problems_->add(csv_.file(), csv_.at(*csv_.column(name)), std::move(what));
  }

  std::istringstream stream_;
  CsvReader csv_;
  Diagnostics* problems_;
};

/// Rows by their text without the time, so that a kernel that two ops name counts once.
class KernelTable {
 public:
  void add(std::string row, std::string time) {
    if (seen_.emplace(row, time).second) {
      text_ += std::move(row) + std::move(time) + "\n";
    } else {
      ++repeated_;
    }
  }
  void leave_out(const std::string& why) { ++left_out_[why]; }
  ImportedSamples take(std::string_view header, const std::string& file, Diagnostics& problems) {
    ImportedSamples result;
    result.text = std::string{header} + text_;
    for (const auto& [why, rows] : left_out_) {
      result.remarks.push_back(shown(file) + ": left out " + std::to_string(rows) + (rows == 1 ? " row: " : " rows: ") +
                               why);
    }
    if (repeated_ > 0) {
      result.remarks.push_back(shown(file) + ": " + std::to_string(repeated_) +
                               " rows of a shape that stands above are the same kernels under another op's name");
    }
    if (text_.empty() && problems.empty()) {
      problems.add(file, {},
                   "no row of the table is a kernel that is read here" +
                       (result.remarks.empty() ? std::string{} : "; " + result.remarks.front()));
    }
    problems.throw_if_any();
    return result;
  }

 private:
  std::map<std::string, std::string> seen_;
  std::map<std::string, int> left_out_;
  std::string text_;
  int repeated_ = 0;
};

constexpr std::array gemm_columns{std::string_view{"param: M"},         std::string_view{"param: N"},
                                  std::string_view{"param: K"},         std::string_view{"param: B"},
                                  std::string_view{"param: dtype_A_B"}, kernel_time};
constexpr std::array attention_columns{std::string_view{"param: B"},         std::string_view{"param: N_Q"},
                                       std::string_view{"param: H_Q"},       std::string_view{"param: N_KV"},
                                       std::string_view{"param: H_KV"},      std::string_view{"param: d_h_qk"},
                                       std::string_view{"param: d_h_v"},     std::string_view{"param: causal"},
                                       std::string_view{"param: dtype_A_B"}, kernel_time};

void add_product(OpTable& table, KernelTable& kernels) {
  const std::string format = format_named(table.cell("param: dtype_A_B"));
  if (format.empty()) {
    return kernels.leave_out("operands of a format without a name here, or of two formats");
  }
  if (integer_of(table.cell("param: B")).value_or(1) != 1) {
    return kernels.leave_out("products of a batch");
  }
  std::string row = "tracelens,trace," + format + ",";
  for (const std::string_view size : {"param: M", "param: N", "param: K"}) {
    row += std::to_string(table.size(size)) + ",";
  }
  kernels.add(std::move(row), table.time());
}

void add_attention(OpTable& table, std::string_view pass, KernelTable& kernels) {
  const std::string format = format_named(table.cell("param: dtype_A_B"));
  if (format.empty()) {
    return kernels.leave_out("operands of a format without a name here, or of two formats");
  }
  if (table.cell("param: N_Q") != table.cell("param: N_KV") ||
      table.cell("param: d_h_qk") != table.cell("param: d_h_v")) {
    return kernels.leave_out("queries and keys of unlike lengths or widths");
  }
  std::string row = "tracelens,trace," + std::string{pass} + "," + format + ",";
  for (const std::string_view size : {"param: B", "param: N_Q", "param: H_Q", "param: H_KV", "param: d_h_qk"}) {
    row += std::to_string(table.size(size)) + ",";
  }
  const std::string& causal = table.cell("param: causal");
  kernels.add(row + (causal == "True" || causal == "1" ? "1," : "0,"), table.time());
}

}  // namespace

ImportedSamples import_tracelens(std::string_view text, const std::string& file) {
  Diagnostics problems;
  OpTable table{text, file, problems};
  KernelTable kernels;
  if (problems.empty() && table.has(attention_columns)) {
    const bool backward = file.find("bwd") != std::string::npos;
    while (table.next()) {
      add_attention(table, backward ? "backward" : "forward", kernels);
    }
    return kernels.take("engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us\n", file,
                        problems);
  }
  if (problems.empty() && table.has(gemm_columns)) {
    while (table.next()) {
      add_product(table, kernels);
    }
    return kernels.take("engine,version,dtype,m,n,k,latency_us\n", file, problems);
  }
  problems.add(
      file, {1, 1},
      "the header is that of no table read here: TraceLens' GEMM.csv has 'param: M', 'param: N', 'param: K' and "
      "'" +
          std::string{kernel_time} + "', its SDPA_fwd.csv 'param: N_Q' and 'param: H_KV'");
  problems.throw_if_any();
  return {};
}

}  // namespace headroom
