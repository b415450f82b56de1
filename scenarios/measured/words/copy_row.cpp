// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>
#include <headroom/scenarios/measured/words/copy_row.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace headroom {
namespace {

struct CopyHardware {
  std::vector<std::string> names;  ///< how hardware begins
  HostCopyMachine machine;
  std::string assumed;
};
struct RefusedCopy {
  std::string words;  ///< in the row's config
  std::string why;
};
struct CopyTables {
  std::vector<CopyHardware> hardware;
  std::vector<RefusedCopy> refused;
};

CopyTables read_copy_rows(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  CopyTables read;
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  for (ConfigTable& table : root.tables("hardware")) {
    CopyHardware& one = read.hardware.emplace_back();
    one.names = table.texts("names");
    one.machine.link = table.maybe_quantity<BytesPerSecond>("link");
    one.machine.pcie = static_cast<int>(table.maybe_integer("pcie", {3, 7}).value_or(0));
    if (!one.machine.link && one.machine.pcie == 0) {
      diagnostics.add(table.file(), table.at(), table.path() + " states neither pcie nor link");
    }
    one.machine.guest = table.maybe_boolean("guest").value_or(false);
    one.machine.hip = table.maybe_boolean("hip").value_or(false);
    one.assumed = table.maybe_text("assumed").value_or("");
    table.finish();
  }
  for (ConfigTable& table : root.tables("refused")) {
    read.refused.push_back({table.text("words"), table.text("why")});
    table.finish();
  }
  root.finish();
  return read;
}

bool holds(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// "buffer 10 GiB", "D2H pinned time for 128kB": the first number before a unit of bytes.
std::optional<Bytes> bytes_in(std::string_view text) {
  // "kB" of these benchmarks is 1,024 bytes.
  constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1024.0}}};
  for (const auto& [unit, size] : units) {
    const std::size_t at = text.find(unit);
    if (at == std::string_view::npos) {
      continue;
    }
    std::size_t end = at;
    while (end > 0 && text[end - 1] == ' ') {
      --end;
    }
    std::size_t begin = end;
    while (begin > 0 && (text[begin - 1] == '.' || (text[begin - 1] >= '0' && text[begin - 1] <= '9'))) {
      --begin;
    }
    if (const auto number = whole_real(text.substr(begin, end - begin)); number && *number > 0.0) {
      return Bytes{*number * size};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<HostCopy> written_copy(std::string_view config, std::string& why) {
  HostCopy copy;
  copy.kernel = holds(config, "_memcpy_sm");
  const bool unpinned = holds(config, "pageable") || holds(config, "without pinned");
  // nvbandwidth and CUDA's bandwidthTest pin their host memory.
  const bool tested = holds(config, "_memcpy_") || holds(config, "bandwidthTest");
  if (!unpinned && !tested && !holds(config, "pinned")) {
    why = "the words do not say whether the host's memory is pinned";
    return std::nullopt;
  }
  copy.pinned = !unpinned;
  copy.to_device = !(holds(config, "D2H") || holds(config, "device_to_host"));
  copy.both = holds(config, "bidirectional");
  copy.write_combined = holds(config, "write-combined");
  copy.allocates = config.starts_with("alloc + ");
  copy.remote = holds(config, "remote NUMA");
  copy.bytes = bytes_in(config).value_or(copy.bytes);
  return copy;
}

bool copy_row(const RunFile& file, const RunRow& row) {
  return cell(file, row, "workload") == "h2d_d2h";
}

RowPrediction predict_copy(const ModelData& data, const RunFile& file, const RunRow& row) {
  const CopyTables& tables = step_numbers(data, "host-copy-rows", read_copy_rows);
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  for (const RefusedCopy& each : tables.refused) {
    if (holds(config, each.words)) {
      return unsupported(each.why);
    }
  }
  const CopyHardware* const on = longest_name(tables.hardware, hardware).entry;
  if (on == nullptr) {
    return unsupported("hardware '" + hardware + "' does not say which link its copies cross");
  }
  std::string why;
  const std::optional<HostCopy> copy = written_copy(config, why);
  if (!copy) {
    return unsupported(why);
  }
  const HostCopyNumbers& numbers = host_copy_numbers(data);
  const BytesPerSecond rate = host_copy_rate(*copy, on->machine, numbers);
  const double over = 1.0 + numbers.width;
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.assumed = on->assumed;
  const BytesPerSecond link = on->machine.link ? *on->machine.link : pcie_rate(on->machine.pcie);
  const auto bandwidth = [&](double unit, double factor) {
    answer.predicted = rate.raw() / unit * factor;
    answer.roofline = link.raw() / unit;
  };
  if (row.metric == "bandwidth_gb_s") {
    bandwidth(1e9, 1.0);
  } else if (row.metric == "bandwidth_gib_s") {
    bandwidth(1073741824.0, 1.0);
  } else if (row.metric == "bandwidth_gb_s_low") {
    bandwidth(1e9, 1.0 / over);
  } else if (row.metric == "bandwidth_gb_s_high") {
    bandwidth(1e9, over);
  } else if (row.metric == "time_ms") {
    answer.predicted = (copy->bytes / rate).raw() * 1e3;
    answer.roofline = (copy->bytes / link).raw() * 1e3;
  } else {
    return unsupported("metric " + row.metric + " of a copy is not answered");
  }
  answer.low = answer.predicted / over;
  answer.high = answer.predicted * over;
  return answer;
}

}  // namespace headroom
