// SPDX-License-Identifier: Apache-2.0
// Helpers of the checks: the place of a number, a report of findings, a walk over all numbers of an entry.
#pragma once

#include <headroom/hardware/lint/lint.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace headroom {

struct LintSpot {
  std::string file;
  Position at;
};
template <class T>
LintSpot spot(const Sourced<T>& number) {
  return {number.file, number.at};
}

/// Collects the findings of one check on one entry.
class LintReport {
 public:
  LintReport(std::string file, std::string_view check, std::vector<LintFinding>& findings)
      : file_{std::move(file)}, check_{check}, findings_{&findings} {}

  /// Adds a finding about the entry as a whole.
  void add(std::string message) { add({{file_, {}}}, std::move(message)); }

  /// Adds a finding on several numbers, placed at the first one that the entry states itself instead of inheriting it.
  void add(std::initializer_list<LintSpot> spots, std::string message) {
    const auto own = std::find_if(spots.begin(), spots.end(), [&](const LintSpot& s) { return s.file == file_; });
    const LintSpot& place = own == spots.end() ? *spots.begin() : *own;
    findings_->push_back({std::string{check_}, {place.file, place.at, std::move(message)}, {}});
  }

 private:
  std::string file_;
  std::string_view check_;
  std::vector<LintFinding>* findings_;
};

inline double raw_of(std::int64_t value) {
  return static_cast<double>(value);
}
inline double raw_of(double value) {
  return value;
}
template <int S, int B, int F, int D, int J>
double raw_of(Quantity<S, B, F, D, J> value) {
  return value.raw();
}

/// Calls visit(name, spot, value, source) for every number of an entry.
template <class Visit>
class LintNumbers {
 public:
  explicit LintNumbers(Visit visit) : visit_{std::move(visit)} {}
  template <class T>
  void operator()(std::string_view name, const Sourced<T>& number) {
    visit_(name, spot(number), raw_of(number.value), number.source);
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<Sourced<T>>& number) {
    if (number) {
      (*this)(name, *number);
    }
  }

 private:
  Visit visit_;
};

template <class Visit>
void for_each_number(const Device& d, Visit visit) {
  LintNumbers number{std::move(visit)};
  number("units", d.compute.units);
  number("clock", d.compute.clock);
  number("dense_flop_per_clock_per_unit", d.compute.dense_flop_per_clock_per_unit);
  number("board_spread", d.compute.board_spread);
  for (std::size_t i = 0; i < rate_count; ++i) {
    number(rate_names[i], d.peak[i]);
    number(rate_names[i], d.sparse[i]);
  }
  number("marketed", d.memory.marketed);
  number("usable", d.memory.usable);
  number("visible", d.memory.visible);
  number("bandwidth", d.memory.bandwidth);
  number("bus_width", d.memory.bus_width);
  number("pin_rate", d.memory.pin_rate);
  number("l2", d.memory.l2);
  number("shared_per_unit", d.memory.shared_per_unit);
  number("registers_per_unit", d.memory.registers_per_unit);
  number("max_warps_per_unit", d.memory.max_warps_per_unit);
  number("max_blocks_per_unit", d.memory.max_blocks_per_unit);
  number("tdp", d.power.tdp);
  number("links", d.scale_up.links);
  number("link_rate", d.scale_up.link_rate);
  number("per_gpu", d.scale_up.per_gpu);
  number("per_pair", d.scale_up.per_pair);
  number("rate", d.pcie.rate);
}

template <class Visit>
void for_each_number(const Node& n, Visit visit) {
  LintNumbers number{std::move(visit)};
  number("switches", n.switches);
  number("per_gpu", n.per_gpu);
  number("per_pair", n.per_pair);
  number("switches", n.pcie_switches);
  number("count", n.nics);
  number("rate", n.nic_rate);
  number("planes", n.planes);
  number("domain", n.domain);
  number("memory", n.host_memory);
  number("sockets", n.sockets);
  number("socket_link", n.socket_link);
  number("c2c", n.c2c);
  number("node", n.power);
}

template <class Visit>
void for_each_number(const Cluster& c, Visit visit) {
  LintNumbers number{std::move(visit)};
  number("nodes", c.nodes);
  number("nic_reach", c.nic_reach);
  for (const ClusterTier& tier : c.tiers) {
    number("hop_latency", tier.hop_latency);
  }
}

template <class Visit>
void for_each_number(const UnitLimits& u, Visit visit) {
  LintNumbers number{std::move(visit)};
  number("warp", u.threads.warp);
  number("warps_per_unit", u.threads.warps_per_unit);
  number("blocks_per_unit", u.threads.blocks_per_unit);
  number("barriers_per_unit", u.threads.barriers_per_unit);
  number("per_unit", u.threads.per_unit);
  number("per_block", u.threads.per_block);
  number("schedulers", u.threads.schedulers);
  number("per_unit", u.registers.per_unit);
  number("per_block", u.registers.per_block);
  number("per_thread", u.registers.per_thread);
  number("granularity", u.registers.granularity);
  number("per_unit", u.shared.per_unit);
  number("per_block", u.shared.per_block);
  number("per_block_default", u.shared.per_block_default);
  number("reserved_per_block", u.shared.reserved_per_block);
  number("granularity", u.shared.granularity);
  number("with_l1", u.shared.with_l1);
  number("banks", u.shared.banks);
  number("bank_width", u.shared.bank_width);
  number("bytes_per_clock", u.shared.bytes_per_clock);
  number("sector", u.cache.sector);
  number("line", u.cache.line);
  number("l1", u.cache.l1);
  number("portable", u.cluster.portable);
  number("most", u.cluster.most);
  if (u.tensor_memory) {
    number("columns", u.tensor_memory->columns);
    number("lanes", u.tensor_memory->lanes);
    number("cell", u.tensor_memory->cell);
    number("least_columns", u.tensor_memory->least_columns);
  }
  number("memory", u.latency.memory);
  number("l2_cycles", u.latency.l2_cycles);
  number("l1_cycles", u.latency.l1_cycles);
  number("shared_cycles", u.latency.shared_cycles);
}

template <class Visit>
void for_each_number(const PriceList& p, Visit visit) {
  LintNumbers number{std::move(visit)};
  for (const PriceOffer& offer : p.offers) {
    number("price", offer.price);
  }
}

}  // namespace headroom
