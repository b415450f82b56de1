// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/message_reading.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

std::string line_text(const std::string& file, std::int64_t line) {
  return file + " line " + std::to_string(line) + ": ";
}

/// All logs of a run as one.
struct AllLogs {
  std::set<std::string> hosts, networks;
  std::int64_t ranks = 0, nvls_channels = 0, channels = 0;
  std::array<std::int64_t, connection_way_count> connections{};
  std::array<std::string, connection_way_count> examples;
  std::map<std::string, std::string> settings;
  std::string nccl_version;
  bool no_adapter = false, no_direct_rdma = false;

  [[nodiscard]] std::int64_t of(ConnectionWay way) const { return connections[static_cast<std::size_t>(way)]; }
  [[nodiscard]] const std::string& example(ConnectionWay way) const { return examples[static_cast<std::size_t>(way)]; }
};

AllLogs all_of(std::span<const RunMessages> logs) {
  AllLogs all;
  for (const RunMessages& log : logs) {
    all.hosts.insert(log.hosts.begin(), log.hosts.end());
    all.networks.insert(log.networks.begin(), log.networks.end());
    all.settings.insert(log.settings.begin(), log.settings.end());
    all.ranks = std::max(all.ranks, log.ranks);
    all.channels = std::max(all.channels, log.channels);
    all.nvls_channels = std::max(all.nvls_channels, log.nvls_channels);
    all.no_adapter = all.no_adapter || log.no_adapter;
    all.no_direct_rdma = all.no_direct_rdma || log.no_direct_rdma;
    all.nccl_version = all.nccl_version.empty() ? log.nccl_version : all.nccl_version;
    for (std::size_t i = 0; i < connection_way_count; ++i) {
      all.connections[i] += log.connections[i];
      all.examples[i] = all.examples[i].empty() ? log.examples[i] : all.examples[i];
    }
  }
  return all;
}

/// What of the settings forbids a way.
std::string setting_text(const AllLogs& all, const std::string& name) {
  const auto found = all.settings.find(name);
  return found != all.settings.end() && found->second != "0" ? " " + name + "=" + found->second + " is set."
                                                             : std::string{};
}

void add_transports(const AllLogs& all, RunReading& reading) {
  // How much slower depends on the links, which logs do not tell: no gain is stated.
  const auto slow = [&](ConnectionWay way, std::string says, std::string cure) {
    reading.causes.push_back(
        {CauseKind::slow_transport, 0.0, std::nullopt, std::move(says), std::move(cure), {all.example(way)}});
  };
  const auto count = [&](ConnectionWay way) { return counted(all.of(way), "connection"); };
  if (all.of(ConnectionWay::socket) > 0) {
    slow(ConnectionWay::socket,
         "NCCL sends between hosts through sockets of the kernel (" + count(ConnectionWay::socket) + ")" +
             (all.no_adapter ? ": it found no InfiniBand or RoCE adapter." : ".") +
             setting_text(all, "NCCL_IB_DISABLE"),
         "Give the process the adapters (devices /dev/infiniband in the container, the plugin of the cloud's network, "
         "NCCL_IB_HCA); headroom collective says what each network takes.");
  }
  if (all.of(ConnectionWay::rdma) > 0 && all.of(ConnectionWay::rdma_direct) == 0) {
    slow(ConnectionWay::rdma,
         "NCCL copies what it sends between hosts through host memory (" + count(ConnectionWay::rdma) +
             " without GPUDirect RDMA)" + (all.no_direct_rdma ? ", and says that it is disabled." : "."),
         "Load nvidia-peermem (or use dma-buf), and let GPU and adapter share a switch of PCIe "
         "(NCCL_NET_GDR_LEVEL, nvidia-smi topo -m).");
  }
  if (all.of(ConnectionWay::shared_memory) > 0 && all.of(ConnectionWay::p2p) == 0) {
    slow(ConnectionWay::shared_memory,
         "GPUs of one host exchange through host memory (" + count(ConnectionWay::shared_memory) +
             " through shared memory, none from GPU to GPU)." + setting_text(all, "NCCL_P2P_DISABLE"),
         "Look at nvidia-smi topo -p2p r: allow P2P (no NCCL_P2P_DISABLE, IOMMU and ACS off, GPUs visible to one "
         "another), or use a node with NVLink.");
  }
  FindingTable transports{
      "transports", "Ways of NCCL's connections", {{"transport", "<way"}, {"connections", "connections"}}, {}};
  for (std::size_t i = 0; i < connection_way_count; ++i) {
    if (all.connections[i] > 0) {
      transports.rows.push_back({std::string{connection_way_names[i]}, all.connections[i]});
    }
  }
  if (!transports.rows.empty()) {
    reading.tables.push_back(std::move(transports));
  }
  if (!all.nccl_version.empty() || all.ranks > 0) {
    reading.notes.push_back("NCCL" + (all.nccl_version.empty() ? "" : " " + all.nccl_version) +
                            (all.ranks > 0 ? " joins " + counted(all.ranks, "rank") : " is used") + " on " +
                            counted(static_cast<std::int64_t>(all.hosts.size()), "host") +
                            (all.channels > 0 ? " over " + counted(all.channels, "channel") +
                                                    (all.nvls_channels > 0 ? ", NVLink's switches add sums" : "")
                                              : "") +
                            ".");
  }
}

CauseKind kind_of(FaultSource source) {
  switch (source) {
    case FaultSource::program: return CauseKind::program_fault;
    case FaultSource::network: return CauseKind::network_fault;
    case FaultSource::memory: return CauseKind::out_of_memory;
    case FaultSource::host: return CauseKind::host_fault;
    default: return CauseKind::device_fault;
  }
}

void add_faults(std::span<const RunMessages> logs, RunReading& reading) {
  FindingTable faults{"faults",
                      "Faults that logs tell",
                      {{"fault", "<fault"}, {"count", "times"}, {"line", "first line"}, {"file", "<file"}},
                      {}};
  std::map<std::string, std::size_t> causes;
  for (const RunMessages& log : logs) {
    for (const FaultMessage& fault : log.faults) {
      faults.rows.push_back({fault.what, fault.count, fault.line, log.file});
      const std::string evidence = line_text(log.file, fault.line) + fault.first;
      if (fault.source == FaultSource::follows) {
        continue;
      }
      const auto [at, fresh] = causes.try_emplace(fault.what, reading.causes.size());
      if (fresh) {
        std::string says = fault.what;
        says.front() =
            says.front() == 'n' ? 'N' : (says.front() == 't' ? 'T' : (says.front() == 'a' ? 'A' : says.front()));
        reading.causes.push_back(
            {kind_of(fault.source), fault.stops ? 1.0 : 0.0, std::nullopt, says + ".", fault.cure, {evidence}});
      } else {
        reading.causes[at->second].evidence.push_back(evidence);
      }
    }
  }
  if (!faults.rows.empty()) {
    reading.tables.push_back(std::move(faults));
  }
}

void add_refusals(std::span<const RunMessages> logs, RunReading& reading) {
  for (const RunMessages& log : logs) {
    if (log.refused.empty()) {
      continue;
    }
    const RefusedAllocation& refused = log.refused.front();
    const bool pieces = refused.unallocated && *refused.unallocated + refused.free.value_or(Bytes{}) >= refused.asked &&
                        *refused.unallocated > refused.asked;
    const std::string free = refused.free ? format(*refused.free) + " free on the device" : "too little";
    reading.causes.push_back(
        {pieces ? CauseKind::fragmentation : CauseKind::out_of_memory,
         1.0,
         std::nullopt,
         "A request of " + format(refused.asked) + " found " + free +
             (pieces ? " although PyTorch holds " + format(*refused.unallocated) + " that nobody uses, in pieces."
                     : ".") +
             (log.refused.size() > 1 ? " " + std::to_string(log.refused.size()) + " requests were refused." : ""),
         pieces ? "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; a memory snapshot tells who holds what."
                : "Use a smaller micro batch, recompute activations, or shard more; headroom plan says what fits.",
         {line_text(log.file, refused.line) + "asked " + format(refused.asked) +
          (refused.capacity ? " of " + format(*refused.capacity) : "") +
          (refused.allocated ? ", " + format(*refused.allocated) + " allocated" : "") +
          (refused.unallocated ? ", " + format(*refused.unallocated) + " held unused" : "")}});
  }
}

/// Ranks whose watchdogs gave up the same collective wait for those that are not among them.
void add_timeouts(std::span<const RunMessages> logs, std::int64_t ranks, RunReading& reading) {
  std::map<std::int64_t, std::pair<const TimedOut*, const RunMessages*>> by_rank;
  for (const RunMessages& log : logs) {
    for (const TimedOut& out : log.timeouts) {
      by_rank.try_emplace(out.rank, &out, &log);
      ranks = std::max(ranks, out.rank + 1);
    }
  }
  if (by_rank.empty()) {
    return;
  }
  const auto& [first, first_log] = by_rank.begin()->second;
  std::vector<std::string> evidence;
  std::string parted;
  std::int64_t last = 0;
  for (const auto& [rank, told] : by_rank) {
    constexpr std::size_t most = 4;
    const TimedOut& out = *told.first;
    last = std::max(last, out.number);
    if (evidence.size() < most) {
      evidence.push_back(line_text(told.second->file, out.line) +
                         (rank >= 0 ? "rank " + std::to_string(rank) : "a rank") + " gave up " + out.op + ", number " +
                         std::to_string(out.number) +
                         (out.inputs >= 0 ? ", " + format_count(static_cast<double>(out.inputs)) + " elements" : ""));
    }
    if (parted.empty() && out.number == first->number && (out.op != first->op || out.inputs != first->inputs)) {
      const auto called = [](const TimedOut& o) {
        return o.op + (o.inputs >= 0 ? " of " + format_count(static_cast<double>(o.inputs)) : "");
      };
      parted = "Rank " + std::to_string(rank) + " issued " + called(out) + " as number " + std::to_string(out.number) +
               " where rank " + std::to_string(first->rank) + " issued " + called(*first) + ".";
    }
  }
  const std::string after = first->timeout ? " after " + format(*first->timeout) : "";
  if (!parted.empty()) {
    reading.causes.push_back({CauseKind::mismatched_collective, 1.0, std::nullopt, parted,
                              "Let every rank issue the same collectives in the same order; the flight recorder "
                              "(TORCH_NCCL_TRACE_BUFFER_SIZE) tells the line of the program.",
                              std::move(evidence)});
    return;
  }
  std::string absent;
  std::int64_t gone = 0;
  for (std::int64_t rank = 0; rank < ranks && by_rank.begin()->first >= 0; ++rank) {
    constexpr std::int64_t most = 8;
    if (!by_rank.contains(rank)) {
      absent += gone < most ? (gone == 0 ? "" : ", ") + std::to_string(rank) : "";
      ++gone;
    }
  }
  reading.causes.push_back(
      {CauseKind::dead_rank, 1.0, std::nullopt,
       counted(static_cast<std::int64_t>(by_rank.size()), "rank") + " gave up " + first->op + ", number " +
           std::to_string(last) + "," + after +
           (gone > 0 ? "; " + std::string{gone == 1 ? "rank " : "ranks "} + absent + (gone > 8 ? " and more" : "") +
                           " did not say so and may not have come."
                     : "; all ranks say so: a link stands still, or one came with another collective."),
       "Look first at the ranks that said nothing; pass the dumps of the flight recorder "
       "(TORCH_NCCL_TRACE_BUFFER_SIZE=2000), which tell who did not come.",
       std::move(evidence)});
}

}  // namespace

void add_message_reading(std::span<const RunMessages> logs, RunReading& reading) {
  const AllLogs all = all_of(logs);
  reading.ranks = std::max(reading.ranks, all.ranks);
  for (const RunMessages& log : logs) {
    if (log.mismatch) {
      reading.causes.push_back({CauseKind::mismatched_collective,
                                1.0,
                                std::nullopt,
                                "Ranks issued different collectives, as TORCH_DISTRIBUTED_DEBUG tells.",
                                log.mismatch->cure,
                                {line_text(log.file, log.mismatch->line) + log.mismatch->first}});
    }
  }
  add_refusals(logs, reading);
  add_faults(logs, reading);
  add_timeouts(logs, all.ranks, reading);
  add_transports(all, reading);
}

}  // namespace headroom
