// SPDX-License-Identifier: Apache-2.0
// Keys and words: PyTorch, torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp (version 2.4
// of the dump).
#include <headroom/calibrate/pickle/call_site.hpp>
#include <headroom/calibrate/ranks/rank_record.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

namespace headroom {
namespace {

using Id = PlainData::Id;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::int64_t> number_of_digits(std::string_view digits) {
  if (digits.empty() || digits.size() > 9) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : digits) {
    value = 10 * value + (c - '0');
  }
  return value;
}

/// Ranks as dumps write them, a text "[0, 1, 2]", or as a list. nullopt: neither.
std::optional<std::vector<std::int64_t>> ranks_of(const PlainData& data, Id id) {
  std::vector<std::int64_t> ranks;
  if (data.is_list(id)) {
    for (const Id item : data.items(id)) {
      const std::optional<std::int64_t> rank = data.whole(item);
      if (!rank) {
        return std::nullopt;
      }
      ranks.push_back(*rank);
    }
  } else if (data.kind(id) == PlainData::Kind::text) {
    const std::string_view text = data.text(id);
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && is_digit(text[end])) {
        ++end;
      }
      if (end > i) {
        const std::optional<std::int64_t> rank = number_of_digits(text.substr(i, end - i));
        if (!rank) {
          return std::nullopt;
        }
        ranks.push_back(*rank);
      } else if (text[i] != '[' && text[i] != ']' && text[i] != ',' && text[i] != ' ') {
        return std::nullopt;
      }
      i = std::max(end, i + 1);
    }
  } else {
    return std::nullopt;
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// Elements of all tensors of a list of sizes.
double elements_of(const PlainData& data, Id sizes) {
  double sum = 0.0;
  for (const Id tensor : data.items(sizes)) {
    double product = 1.0;
    for (const Id size : data.items(tensor)) {
      product *= data.number(size).value_or(0.0);
    }
    sum += product;
  }
  return sum;
}

/// "nccl:all_reduce", "nccl:send 1->2", "nccl:recv 3<-0".
void name_op(std::string_view written, IssuedOp& op) {
  const std::size_t colon = written.find(':');
  written = colon == std::string_view::npos ? written : written.substr(colon + 1);
  const std::size_t space = written.find(' ');
  op.name = written.substr(0, space);
  if (op.name != "send" && op.name != "recv") {
    return;
  }
  op.message = true;
  const std::string_view ends = space == std::string_view::npos ? std::string_view{} : written.substr(space + 1);
  const std::size_t first = std::min(ends.find_first_not_of("0123456789"), ends.size());
  const std::size_t second = std::min(ends.find_first_of("0123456789", first), ends.size());
  const auto near = number_of_digits(ends.substr(0, first));
  const auto far = number_of_digits(ends.substr(second));
  if (near && far) {
    op.from = op.name == "send" ? *near : *far;
    op.to = op.name == "send" ? *far : *near;
  }
}

class DumpReader {
 public:
  DumpReader(const PlainData& data, const std::string& file) : data_{data}, file_{file} { record_.file = file; }

  RankRecord read() {
    const std::optional<std::int64_t> rank = rank_of_name(file_);
    if (!rank) {
      fail(
          "the file's name does not say its rank, and a dump of the flight recorder does not either; name it as "
          "PyTorch does: nccl_trace_rank_3");
    }
    record_.rank = rank.value_or(0);
    read_groups();
    std::int64_t place = 0;
    for (const Id entry : data_.items(data_.find(data_.root(), "entries"))) {
      read_entry(entry, place++);
    }
    problems_.throw_if_any();
    settle_parts();
    return std::move(record_);
  }

 private:
  void fail(std::string message) { problems_.add(file_, {}, std::move(message)); }

  /// Parts of a coalesced op have no events of their own, so that they stay scheduled for good: the entry "coalesced"
  /// behind them, of the same number, says how far they came (ProcessGroupNCCL::endCoalescing).
  void settle_parts() {
    using Number = std::pair<std::size_t, std::int64_t>;  // group and number
    std::array<std::map<Number, const IssuedOp*>, 2> whole;
    for (const IssuedOp& op : record_.ops) {
      if (op.name == "coalesced") {
        whole[op.message ? 1 : 0][{op.group, op.number}] = &op;
      }
    }
    for (IssuedOp& op : record_.ops) {
      const auto& known = whole[op.message ? 1 : 0];
      const auto found = known.find({op.group, op.number});
      if (found != known.end()) {
        op.state = found->second->state;
        op.completed_ns = found->second->completed_ns;
      }
    }
  }

  void read_groups() {
    const std::span<const Id> config = data_.items(data_.find(data_.root(), "pg_config"));
    for (std::size_t i = 0; i + 1 < config.size(); i += 2) {
      const Id about = config[i + 1];
      ProcessGroup group;
      group.name = data_.text(config[i]);
      group.says = data_.text(data_.find(about, "desc"));
      const auto ranks = ranks_of(data_, data_.is_table(about) ? data_.find(about, "ranks") : about);
      if (!ranks) {
        fail("the ranks of process group " + quoted(group.name) + " are no list of numbers");
        continue;
      }
      group.ranks = *ranks;
      groups_.emplace(group.name, record_.groups.size());
      record_.groups.push_back(std::move(group));
    }
  }

  void read_entry(Id entry, std::int64_t place) {
    const std::string where = "entry " + std::to_string(place) + ": ";
    if (!data_.is_table(entry)) {
      fail(where + "it is no table of an op");
      return;
    }
    IssuedOp op;
    const std::string_view name = data_.text(data_.find(entry, "profiling_name"));
    if (name.empty()) {
      fail(where + "it has no profiling_name, which says what was issued");
      return;
    }
    name_op(name, op);
    op.message = data_.flag(data_.find(entry, "is_p2p")).value_or(op.message);
    // Before version 2 there was one number for both.
    const Id number = data_.find(entry, op.message ? "p2p_seq_id" : "collective_seq_id");
    const std::optional<std::int64_t> seq = data_.whole(number != 0 ? number : data_.find(entry, "seq_id"));
    const std::optional<std::int64_t> created = data_.whole(data_.find(entry, "time_created_ns"));
    const std::string_view state = data_.text(data_.find(entry, "state"));
    const auto known = std::find(op_state_names.begin(), op_state_names.end(), state);
    if (!seq) {
      fail(where + "its " + (op.message ? "p2p_seq_id" : "collective_seq_id") + " is no whole number");
    }
    if (!created) {
      fail(where + "its time_created_ns is no whole number");
    }
    if (known == op_state_names.end()) {
      fail(where + "its state is " + quoted(state) + "; there are scheduled, started and completed");
    }
    if (!seq || !created || known == op_state_names.end()) {
      return;
    }
    op.number = *seq;
    op.created_ns = *created;
    op.state = static_cast<OpState>(known - op_state_names.begin());
    op.group = group_of(entry);
    op.inputs = elements_of(data_, data_.find(entry, "input_sizes"));
    op.outputs = elements_of(data_, data_.find(entry, "output_sizes"));
    const Id dtypes = data_.find(entry, "input_dtypes");
    op.dtype = data_.is_list(dtypes) && !data_.items(dtypes).empty() ? data_.text(data_.items(dtypes).front())
                                                                     : data_.text(dtypes);
    const std::optional<std::int64_t> completed = data_.whole(data_.find(entry, "time_discovered_completed_ns"));
    if (completed && *completed > 0) {
      op.completed_ns = completed;
    }
    op.lasted_ms = data_.number(data_.find(entry, "duration_ms"));
    op.timeout_ms = std::max(0.0, data_.number(data_.find(entry, "timeout_ms")).value_or(0.0));
    op.site = call_site(data_, data_.find(entry, "frames"));
    if (place == 0) {
      record_.whole = data_.whole(data_.find(entry, "record_id")).value_or(0) == 0;
    }
    record_.ops.push_back(std::move(op));
  }

  /// The group that an entry names: ["0", "default_pg"]; before version 2 by the number pg_id alone.
  std::size_t group_of(Id entry) {
    const Id named = data_.find(entry, "process_group");
    const std::span<const Id> parts = data_.items(named);
    std::string name{data_.text(parts.empty() ? named : parts.front())};
    if (name.empty()) {
      name = std::to_string(data_.whole(data_.find(entry, "pg_id")).value_or(0));
    }
    const auto [at, fresh] = groups_.try_emplace(name, record_.groups.size());
    if (fresh) {
      record_.groups.push_back({name, parts.size() > 1 ? std::string{data_.text(parts[1])} : "", {}});
    }
    return at->second;
  }

  const PlainData& data_;
  const std::string& file_;
  RankRecord record_;
  std::map<std::string, std::size_t, std::less<>> groups_;
  Diagnostics problems_;
};

}  // namespace

std::optional<std::int64_t> rank_of_name(std::string_view file) {
  file = file.substr(std::min(file.find_last_of("/\\") + 1, file.size()));
  std::string_view stem = file;
  for (const std::string_view extension : {".gz", ".json", ".pickle", ".pkl", ".bin", ".dump"}) {
    if (stem.ends_with(extension)) {
      stem.remove_suffix(extension.size());
    }
  }
  const std::size_t before = stem.find_last_not_of("0123456789");
  const std::string_view digits = stem.substr(before == std::string_view::npos ? 0 : before + 1);
  if (!digits.empty()) {
    return number_of_digits(digits);
  }
  std::size_t at = stem.rfind("rank");
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  at = std::min(stem.find_first_of("0123456789", at), stem.size());
  return number_of_digits(stem.substr(at, std::min(stem.find_first_not_of("0123456789", at), stem.size()) - at));
}

bool is_recorder_dump(const PlainData& data) noexcept {
  return data.find(data.root(), "entries") != PlainData::nothing ||
         (data.find(data.root(), "pg_config") != PlainData::nothing &&
          data.find(data.root(), "version") != PlainData::nothing);
}

RankRecord read_recorder_dump(const PlainData& data, const std::string& file) {
  return DumpReader{data, file}.read();
}

}  // namespace headroom
