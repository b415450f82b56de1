// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/messages/fault_words.hpp>
#include <headroom/calibrate/messages/run_messages.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t most_message_kinds = 256;
constexpr std::size_t most_timeouts = 65536;

bool holds_text(std::string_view text, std::string_view word) noexcept {
  return text.find(word) != std::string_view::npos;
}

/// What stands behind a word; empty where it does not occur.
std::string_view behind(std::string_view text, std::string_view word) noexcept {
  const std::size_t at = text.find(word);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + word.size());
}

std::optional<std::int64_t> leading_whole(std::string_view text) noexcept {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() ? std::optional{value} : std::nullopt;
}

/// The whole number right behind a word.
std::optional<std::int64_t> whole_behind(std::string_view text, std::string_view word) noexcept {
  return leading_whole(behind(text, word));
}

/// "79.15 GiB" at the beginning of a text, as PyTorch writes bytes.
std::optional<Bytes> leading_bytes(std::string_view text) noexcept {
  const RealRead read = read_real(text);
  if (!read.good() || read.value < 0.0) {
    return std::nullopt;
  }
  text.remove_prefix(read.length);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  constexpr std::pair<std::string_view, double> powers[] = {
      {"bytes", 1.0}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  for (const auto& [unit, factor] : powers) {
    if (text.starts_with(unit)) {
      return Bytes{read.value * factor};
    }
  }
  return std::nullopt;
}

/// The bytes that end right before a word: "6.80 GiB is reserved".
std::optional<Bytes> bytes_before(std::string_view text, std::string_view word) noexcept {
  const std::size_t end = text.find(word);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  std::size_t begin = end;  // two words back
  for (int words = 0; words < 2 && begin > 0; ++words) {
    begin = text.find_last_not_of(' ', begin - 1);
    begin = begin == std::string_view::npos ? 0 : text.find_last_of(" (;,", begin);
    begin = begin == std::string_view::npos ? 0 : begin + (words == 1 ? 1 : 0);
  }
  return leading_bytes(text.substr(begin));
}

void note_fault(RunMessages& messages,
                FaultSource source,
                std::string what,
                std::string_view cure,
                std::string_view line,
                std::int64_t number,
                bool stops = true) {
  const auto known = std::find_if(messages.faults.begin(), messages.faults.end(),
                                  [&](const FaultMessage& fault) { return fault.what == what; });
  if (known != messages.faults.end()) {
    ++known->count;
    return;
  }
  constexpr std::size_t widest = 200;
  if (messages.faults.size() < most_message_kinds) {
    messages.faults.push_back(
        {source, std::move(what), std::string{cure}, std::string{line.substr(0, widest)}, number, 1, stops});
  }
}

bool note_words(std::span<const WordMeaning> meanings,
                std::string_view prefix,
                std::string_view line,
                std::int64_t number,
                RunMessages& messages) {
  for (const WordMeaning& meaning : meanings) {
    if (holds_text(line, meaning.words)) {
      note_fault(messages, meaning.source, std::string{prefix} + std::string{meaning.what}, meaning.cure, line, number);
      return true;
    }
  }
  return false;
}

/// "NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, ..."
void read_xid(std::string_view line, std::int64_t number, RunMessages& messages) {
  const std::string_view about = behind(line, "Xid (");
  const std::optional<std::int64_t> code = whole_behind(about, "): ");
  if (!code) {
    return;
  }
  const auto meanings = xid_meanings();
  const auto known =
      std::find_if(meanings.begin(), meanings.end(), [&](const XidMeaning& meaning) { return meaning.code == *code; });
  const std::string name = "Xid " + std::to_string(*code);
  if (known != meanings.end()) {
    note_fault(messages, known->source, name + ", " + std::string{known->what}, known->cure, line, number,
               known->stops);
  } else {
    note_fault(messages, FaultSource::device, name, "Look it up in NVIDIA's catalog of Xids.", line, number);
  }
}

/// PyTorch's sentence of 2.0 and later, and that before it.
void read_out_of_memory(std::string_view line, std::int64_t number, RunMessages& messages) {
  const std::optional<Bytes> asked = leading_bytes(behind(line, "Tried to allocate "));
  if (!asked) {
    note_fault(messages, FaultSource::memory, "no memory on the GPU",
               "Use a smaller micro batch, recompute activations, or shard more; headroom plan says what fits.", line,
               number);
    return;
  }
  RefusedAllocation refused;
  refused.asked = *asked;
  refused.line = number;
  refused.capacity = leading_bytes(behind(line, "total capacity of "));
  refused.free = bytes_before(line, " is free");
  refused.allocated = bytes_before(line, " is allocated by PyTorch");
  refused.unallocated = bytes_before(line, " is reserved by PyTorch but unallocated");
  if (!refused.capacity) {
    refused.capacity = bytes_before(line, " total capacity");
    refused.free = bytes_before(line, " free;");
    refused.allocated = bytes_before(line, " already allocated");
    const std::optional<Bytes> reserved = bytes_before(line, " reserved in total by PyTorch");
    if (reserved && refused.allocated && *reserved >= *refused.allocated) {
      refused.unallocated = *reserved - *refused.allocated;
    }
  }
  if (messages.refused.size() < most_timeouts) {
    messages.refused.push_back(refused);
  }
}

/// "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, ...)".
void read_watchdog(std::string_view line, std::int64_t number, RunMessages& messages) {
  TimedOut out;
  out.line = number;
  const std::size_t caught = line.find("Watchdog caught");
  const std::string_view before = line.substr(0, caught);
  for (const std::string_view word : {"Rank ", "rank ", "Rank", "rank"}) {
    const std::size_t at = before.rfind(word);
    if (at != std::string_view::npos) {
      out.rank = leading_whole(before.substr(at + word.size())).value_or(-1);
      if (out.rank >= 0) {
        break;
      }
    }
  }
  out.number = whole_behind(line, "SeqNum=").value_or(-1);
  out.inputs = whole_behind(line, "NumelIn=").value_or(-1);
  const std::string_view op = behind(line, "OpType=");
  out.op = op.substr(0, op.find_first_of(",) "));
  if (const auto timeout = whole_behind(line, "Timeout(ms)="); timeout && *timeout > 0) {
    out.timeout = Seconds{1e-3 * static_cast<double>(*timeout)};
  }
  if (messages.timeouts.size() < most_timeouts) {
    messages.timeouts.push_back(std::move(out));
  }
}

ConnectionWay way_of(std::string_view via) {
  if (via.starts_with("P2P") || via.starts_with("NVLS")) {
    return ConnectionWay::p2p;
  }
  if (via.starts_with("SHM")) {
    return ConnectionWay::shared_memory;
  }
  if (via.starts_with("NET/Socket")) {
    return ConnectionWay::socket;
  }
  if (via.starts_with("NET/") || via.starts_with("COLLNET")) {
    if (holds_text(via, "GDRDMA") || holds_text(via, "/GDR")) {
      return ConnectionWay::rdma_direct;
    }
    return via.starts_with("NET/IB") ? ConnectionWay::rdma : ConnectionWay::other;
  }
  return ConnectionWay::other;
}

void read_nccl_info(std::string_view line, std::string_view told, std::int64_t number, RunMessages& messages) {
  const std::size_t tag = line.find(" NCCL INFO ");
  const std::string_view before = line.substr(0, line.rfind(" [", tag));
  const std::string_view process = before.substr(before.find_last_of(" \t") + 1);
  const std::size_t colon = process.find(':');
  constexpr std::size_t most_hosts = 65536;
  if (colon != std::string_view::npos && colon > 0 && messages.hosts.size() < most_hosts) {
    messages.hosts.emplace(process.substr(0, colon));
  }
  if (const std::string_view via = behind(told, " via "); !via.empty() && holds_text(told, "->")) {
    const ConnectionWay way = way_of(via);
    const auto place = static_cast<std::size_t>(way);
    if (messages.connections[place]++ == 0) {
      constexpr std::size_t widest = 120;
      messages.examples[place] =
          messages.file + " line " + std::to_string(number) + ": " + std::string{told.substr(0, widest)};
    }
    return;
  }
  if (const std::string_view network = behind(told, "Using network "); !network.empty()) {
    messages.networks.emplace(network.substr(0, network.find_first_of("\r\n")));
  }
  messages.ranks = std::max(messages.ranks, whole_behind(told, " nranks ").value_or(0));
  if (const std::size_t at = told.find(" coll channels"); at != std::string_view::npos) {
    messages.channels = std::max(messages.channels, leading_whole(told).value_or(0));
    const std::size_t nvls = told.find(" nvls channels");
    if (nvls != std::string_view::npos) {
      const std::size_t begin = told.rfind(' ', nvls - 1);
      messages.nvls_channels =
          std::max(messages.nvls_channels, leading_whole(told.substr(std::min(begin + 1, told.size()))).value_or(0));
    }
  }
  messages.no_adapter = messages.no_adapter || holds_text(told, "NET/IB : No device found");
  messages.no_direct_rdma = messages.no_direct_rdma || holds_text(told, "GPU Direct RDMA Disabled") ||
                            holds_text(told, "GPU Direct RDMA (nvidia-peermem) Disabled");
  if (const std::size_t set = told.find(" set by environment to "); set != std::string_view::npos) {
    const std::string_view name = told.substr(0, set);
    const std::string_view value = told.substr(set + std::string_view{" set by environment to "}.size());
    constexpr std::size_t most_settings = 128;
    if (name.starts_with("NCCL_") && messages.settings.size() < most_settings) {
      messages.settings[std::string{name}] = value.substr(0, value.find_last_not_of(".\r\n ") + 1);
    }
  }
}

constexpr std::string_view words[] = {" NCCL INFO ",
                                      " NCCL WARN ",
                                      "NCCL version ",
                                      "NVRM: Xid",
                                      "CUDA out of memory",
                                      "CUDA error: ",
                                      "Cuda failure",
                                      "Watchdog caught",
                                      "Detected mismatch between collectives",
                                      "Out of memory: Killed process",
                                      "oom-kill:",
                                      "oom_kill",
                                      "DataLoader worker (pid"};

}  // namespace

bool has_run_messages(std::string_view text) noexcept {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) { return holds_text(text, word); });
}

void read_run_message(std::string_view line, std::int64_t number, RunMessages& messages) {
  if (!has_run_messages(line)) {
    return;
  }
  if (const std::string_view told = behind(line, " NCCL INFO "); !told.empty()) {
    read_nccl_info(line, told, number, messages);
  }
  if (const std::string_view version = behind(line, "NCCL version ");
      !version.empty() && messages.nccl_version.empty()) {
    messages.nccl_version = version.substr(0, version.find_first_of(" \r\n"));
  }
  if (holds_text(line, "NVRM: Xid")) {
    read_xid(line, number, messages);
  } else if (holds_text(line, "Watchdog caught")) {
    read_watchdog(line, number, messages);
  } else if (holds_text(line, "Detected mismatch between collectives")) {
    if (!messages.mismatch) {
      constexpr std::size_t widest = 600;
      messages.mismatch = FaultMessage{FaultSource::program,
                                       "ranks issued different collectives",
                                       "Let every rank issue the same collectives in the same order.",
                                       std::string{line.substr(0, widest)},
                                       number,
                                       1};
    }
  } else if (holds_text(line, "CUDA out of memory") ||
             (holds_text(line, "Cuda failure") && holds_text(line, "out of memory")) ||
             (holds_text(line, "CUDA error: ") && holds_text(line, "out of memory"))) {
    read_out_of_memory(line, number, messages);
  } else if (holds_text(line, "CUDA error: ") || holds_text(line, "Cuda failure")) {
    if (!note_words(cuda_meanings(), "CUDA: ", line, number, messages)) {
      note_fault(messages, FaultSource::program, "CUDA: an error", "Look the line up in CUDA's manual (cudaError).",
                 line, number);
    }
  } else if (holds_text(line, " NCCL WARN ")) {
    note_words(nccl_meanings(), "NCCL: ", line, number, messages);
  } else {
    note_words(host_meanings(), "", line, number, messages);
  }
}

RunMessages read_run_messages(const std::string& file) {
  RunMessages messages;
  messages.file = file;
  TraceText text{file};
  constexpr std::size_t longest = std::size_t{64} << 10U;
  std::string line;
  std::int64_t number = 0;
  const auto end_line = [&] {
    ++number;
    read_run_message(line, number, messages);
    line.clear();
  };
  for (std::string_view piece = text.next(); !piece.empty(); piece = text.next()) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      line += part.substr(0, longest - std::min(longest, line.size()));
      piece.remove_prefix(std::min(end == std::string_view::npos ? piece.size() : end + 1, piece.size()));
      if (end != std::string_view::npos) {
        end_line();
      }
    }
  }
  if (!line.empty()) {
    end_line();
  }
  return messages;
}

}  // namespace headroom
