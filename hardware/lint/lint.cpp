// SPDX-License-Identifier: Apache-2.0
// Physics checks on catalog entries: one function per check, their table at the end of the file. The reference numbers
// are in lint_facts.hpp.
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/lint/lint_facts.hpp>
#include <headroom/hardware/lint/lint_report.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

using namespace lint_facts;

bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::abs(b);
}

/// "per_gpu is 900 GB/s, 2.00 x the 450 GB/s of links x link_rate: both directions were counted?"
template <class Q>
std::string compared(
    std::string_view name, Q value, Q expected, std::string_view of_what, std::span<const Slip> slips) {
  const double ratio = value / expected;
  std::string text = std::string{name} + " is " + format(value) + ", " + format_number(ratio) + " x the " +
                     format(expected) + " of " + std::string{of_what};
  for (const Slip& slip : slips) {
    if (near(ratio, slip.factor, 0.03)) {
      return text + ": " + std::string{slip.meaning} + "?";
    }
  }
  return text;
}

const std::optional<Sourced<FlopsPerSecond>>& rate_of(const RateTable& table, Rate rate) {
  return table[static_cast<std::size_t>(rate)];
}

/// The 16-bit rate: bf16, else fp16.
const std::optional<Sourced<FlopsPerSecond>>& sixteen_bit(const RateTable& table) {
  const auto& bf16 = rate_of(table, Rate::bf16);
  return bf16 ? bf16 : rate_of(table, Rate::fp16);
}

bool plausible_clock(Hertz clock) {
  return clock >= Hertz{0.5e9} && clock <= Hertz{4e9};
}

/// Modules of a CPU with one or more GPUs, whose datasheets give figures of the module.
bool is_superchip(const Device& device) {
  constexpr std::array<std::string_view, 4> prefixes{"gh200", "gb200", "gb300", "grace"};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return device.id.starts_with(p); });
}

template <class T>
void sourced(const T& entry, const Catalog*, LintReport& report) {
  for_each_number(entry, [&](std::string_view name, const LintSpot& at, double, const std::string& source) {
    if (source.empty()) {
      report.add({at}, "'" + std::string{name} + "' has no source");
    }
  });
  for (const std::string& tag : entry.unused_sources) {
    report.add("source tag " + quoted(tag) + " is used by no number");
  }
}

template <class T>
void positive_numbers(const T& entry, const Catalog*, LintReport& report) {
  for_each_number(entry, [&](std::string_view name, const LintSpot& at, double value, const std::string&) {
    if (!(value > 0.0) || !std::isfinite(value)) {
      report.add({at}, "'" + std::string{name} + "' must be above zero and finite");
    }
  });
}

// peak = units x clock x FLOP per clock and unit. Skipped for an implausible clock, which has its own check.
void peak_matches_clock(const Device& device, const Catalog*, LintReport& report) {
  const Device::Compute& c = device.compute;
  const auto& peak = sixteen_bit(device.peak);
  if (!peak || !c.units || !c.clock || !c.dense_flop_per_clock_per_unit || !plausible_clock(c.clock->value)) {
    return;
  }
  const double per_clock = raw_of(c.units->value) * raw_of(c.dense_flop_per_clock_per_unit->value);
  const FlopsPerSecond expected{per_clock * c.clock->value.raw()};
  if (!near(peak->value.raw(), expected.raw(), 0.02)) {
    report.add({spot(*peak), spot(*c.units), spot(*c.clock), spot(*c.dense_flop_per_clock_per_unit)},
               compared("16-bit peak", peak->value, expected, "units x clock x FLOP per clock", peak_slips));
  }
}

void dense_not_sparse(const Device& device, const Catalog*, LintReport& report) {
  for (std::size_t i = 0; i < rate_count; ++i) {
    const auto& dense = device.peak[i];
    const auto& sparse = device.sparse[i];
    if (!dense || !sparse) {
      continue;
    }
    const std::string what = std::string{rate_names[i]} + " peak " + format(dense->value);
    const double ratio = sparse->value / dense->value;
    if (near(ratio, 1.0, 0.01)) {
      report.add({spot(*dense), spot(*sparse)}, what + " is the figure with sparsity; dense is half of it");
    } else if (ratio < 1.0) {
      report.add({spot(*dense), spot(*sparse)}, what + " is above the figure with sparsity, " + format(sparse->value));
    } else if (!near(ratio, 2.0, 0.02)) {
      report.add({spot(*dense), spot(*sparse)},
                 "sparse " + std::string{rate_names[i]} + " is " + format_number(ratio) + " x dense instead of 2");
    }
  }
}

void dtype_ladder(const Device& device, const Catalog*, LintReport& report) {
  const auto step = [&](Rate rate, const std::optional<Sourced<FlopsPerSecond>>& reference, std::string_view name,
                        double factor, bool at_least) {
    const auto& peak = rate_of(device.peak, rate);
    if (!peak || !reference) {
      return;
    }
    const double ratio = peak->value / reference->value;
    if (at_least ? ratio < factor * 0.95 : !near(ratio, factor, 0.05)) {
      report.add({spot(*peak), spot(*reference)}, std::string{name_of(rate)} + " peak is " + format_number(ratio) +
                                                      " x " + std::string{name} + " instead of " +
                                                      (at_least ? "at least " : "") + format_number(factor));
    }
  };
  const auto& half = sixteen_bit(device.peak);
  const auto& fp8 = rate_of(device.peak, Rate::fp8);
  step(Rate::tf32, half, "16-bit", 0.5, false);
  step(Rate::fp8, half, "16-bit", 2.0, false);
  step(Rate::int8, fp8, "fp8", 1.0, false);
  step(Rate::fp4, fp8, "fp8", 1.0, true);
}

// A program sees nvidia-smi's total less the driver's part, which is 0.4 to 2 % on the boards measured.
void visible_within_usable(const Device& device, const Catalog*, LintReport& report) {
  const auto& visible = device.memory.visible;
  const auto& usable = device.memory.usable;
  if (!visible || !usable) {
    return;
  }
  const double ratio = visible->value / usable->value;
  if (ratio < 0.90 || ratio > 1.0) {
    report.add({spot(*visible), spot(*usable)}, "visible " + format(visible->value) + " is " + format_number(ratio) +
                                                    " x the usable " + format(usable->value) +
                                                    (ratio > 1.0 ? ": more than the board has" : ": below 0.90"));
  }
}

// Firmware and ECC take up to a tenth; 2^30/10^9 = 1.0737 is the most by which "80 GB" can mean GiB.
void marketed_matches_usable(const Device& device, const Catalog*, LintReport& report) {
  const auto& marketed = device.memory.marketed;
  const auto& usable = device.memory.usable;
  if (!marketed || !usable) {
    return;
  }
  const double ratio = usable->value / marketed->value;
  if (ratio < 0.90 || ratio > 1.075) {
    report.add({spot(*usable), spot(*marketed)},
               "usable " + format(usable->value) + " is " + format_number(ratio) + " x the marketed " +
                   format_number(marketed->value.raw() / 1e9) + " GB" +
                   (ratio > 1.075 ? ": GB were written as GiB?" : ": lies outside 0.90 to 1.075"));
  }
}

void bandwidth_matches_bus(const Device& device, const Catalog*, LintReport& report) {
  const Device::Memory& m = device.memory;
  if (!m.bandwidth || !m.bus_width || !m.pin_rate) {
    return;
  }
  const BytesPerSecond expected = raw_of(m.bus_width->value) * m.pin_rate->value;
  if (!near(m.bandwidth->value.raw(), expected.raw(), 0.03)) {
    report.add({spot(*m.bandwidth), spot(*m.bus_width), spot(*m.pin_rate)},
               compared("bandwidth", m.bandwidth->value, expected, "bus_width x pin_rate", bandwidth_slips));
  }
}

void links_match_rate(const Device& device, const Catalog*, LintReport& report) {
  const Device::ScaleUp& s = device.scale_up;
  if (s.per_gpu && s.links && s.link_rate) {
    const BytesPerSecond expected = raw_of(s.links->value) * s.link_rate->value;
    if (!near(s.per_gpu->value.raw(), expected.raw(), 0.02)) {
      report.add({spot(*s.per_gpu), spot(*s.links), spot(*s.link_rate)},
                 compared("per_gpu", s.per_gpu->value, expected, "links x link_rate", link_slips));
      return;
    }
  }
  const KnownLink* nearest = nullptr;
  for (const KnownLink& row : known_links) {
    if (s.link.starts_with(row.link) && (row.generation.empty() || row.generation == device.generation)) {
      const bool fits = s.link_rate && near(s.link_rate->value.raw(), row.rate * 1e9, 0.02);
      nearest = nearest == nullptr || fits ? &row : nearest;
    }
  }
  if (nearest == nullptr) {
    return;
  }
  const BytesPerSecond rate{nearest->rate * 1e9};
  const BytesPerSecond most = nearest->links * rate;
  if (s.link_rate && !near(s.link_rate->value.raw(), rate.raw(), 0.02)) {
    report.add({spot(*s.link_rate)},
               compared("link_rate", s.link_rate->value, rate, "one " + s.link + " in one direction", link_slips));
  } else if (s.links && s.links->value > nearest->links) {
    report.add({spot(*s.links)}, "links is " + std::to_string(s.links->value) + "; a GPU has at most " +
                                     std::to_string(nearest->links) + " of " + s.link);
  } else if (s.per_gpu && s.per_gpu->value > 1.02 * most) {
    report.add({spot(*s.per_gpu)},
               compared("per_gpu", s.per_gpu->value, most, "all " + s.link + " in one direction", link_slips));
  }
}

// A board may wire fewer links than the chip has (PCIe servers state their own rate), but never another rate per GPU.
void node_links_match_rate(const Node& node, const Catalog* catalog, LintReport& report) {
  if (!node.per_gpu || node.topology == LinkTopology::pcie || catalog->why_no_device(node.gpu)) {
    return;
  }
  const auto& link = catalog->device(node.gpu).scale_up.per_gpu;
  if (link && !near(node.per_gpu->value.raw(), link->value.raw(), 0.02)) {
    report.add({spot(*node.per_gpu)},
               compared("per_gpu", node.per_gpu->value, link->value, node.gpu + " in one direction", link_slips));
  }
}

void check_pair(const std::optional<Sourced<BytesPerSecond>>& per_gpu,
                const std::optional<Sourced<BytesPerSecond>>& per_pair,
                LinkTopology topology,
                LintReport& report) {
  if (!per_gpu || !per_pair) {
    return;
  }
  const double ratio = per_pair->value / per_gpu->value;
  if (ratio > 1.001) {
    report.add({spot(*per_pair), spot(*per_gpu)},
               "per_pair " + format(per_pair->value) + " is above per_gpu " + format(per_gpu->value));
  } else if (topology == LinkTopology::fabric_switch && !near(ratio, 1.0, 0.001)) {
    report.add({spot(*per_pair), spot(*per_gpu)}, "behind a switch a pair gets all of per_gpu, " +
                                                      format(per_gpu->value) + ", not " + format(per_pair->value));
  }
}
void pair_within_gpu(const Device& device, const Catalog*, LintReport& report) {
  check_pair(device.scale_up.per_gpu, device.scale_up.per_pair, device.scale_up.topology, report);
}
void node_pair_within_gpu(const Node& node, const Catalog*, LintReport& report) {
  check_pair(node.per_gpu, node.per_pair, node.topology, report);
}

void pcie_matches_generation(const Device& device, const Catalog*, LintReport& report) {
  const Device::Pcie& pcie = device.pcie;
  if (!pcie.rate || pcie.generation < 1 || pcie.generation > std::ssize(pcie_lane_rates)) {
    return;
  }
  const double lane = pcie_lane_rates[static_cast<std::size_t>(pcie.generation - 1)] * 1e9;
  const BytesPerSecond expected{static_cast<double>(pcie.lanes) * lane};
  if (!near(pcie.rate->value.raw(), expected.raw(), 0.05)) {
    report.add({spot(*pcie.rate)}, compared("rate", pcie.rate->value, expected,
                                            std::to_string(pcie.lanes) + " lanes of generation " +
                                                std::to_string(pcie.generation) + " in one direction",
                                            link_slips));
  }
}

void per_gpu_not_superchip(const Device& device, const Catalog*, LintReport& report) {
  const bool superchip = is_superchip(device);
  const auto& tdp = device.power.tdp;
  if (device.power.of_superchip && !superchip && tdp) {
    report.add({spot(*tdp)}, "tdp has scope \"superchip\", but " + device.id + " is none");
  }
  if (device.scale_up.domain > 16 && !superchip) {
    report.add("domain " + std::to_string(device.scale_up.domain) + " belongs to a rack of superchips");
  }
  const auto limit = std::find_if(generation_limits.begin(), generation_limits.end(),
                                  [&](const GenerationLimit& row) { return row.generation == device.generation; });
  if (limit == generation_limits.end()) {
    return;
  }
  constexpr double slack = 1.03;
  const std::string of_one = "; one GPU of generation " + device.generation + " has at most ";
  const auto& peak = sixteen_bit(device.peak);
  if (peak && peak->value.raw() > slack * limit->peak * 1e12) {
    report.add({spot(*peak)}, "16-bit peak is " + format(peak->value) + of_one +
                                  format(FlopsPerSecond{limit->peak * 1e12}) + ": a superchip's or a pair's figure?");
  }
  const auto& capacity = device.memory.marketed ? device.memory.marketed : device.memory.usable;
  // A usable capacity may exceed the marketed one by the ratio of GiB to GB.
  const double step = device.memory.marketed ? 1.0 : 1.0737;
  if (capacity && capacity->value.raw() > slack * step * limit->capacity * 1e9) {
    report.add({spot(*capacity)}, "memory is " + format_number(capacity->value.raw() / 1e9) + " GB" + of_one +
                                      format_number(limit->capacity) + " GB: a superchip's or a pair's figure?");
  }
  if (tdp && !device.power.of_superchip && tdp->value.raw() > slack * limit->power) {
    report.add({spot(*tdp)}, "tdp is " + format(tdp->value) + of_one + format(Watts{limit->power}) +
                                 ": a superchip's or a pair's figure?");
  }
}

void clock_plausible(const Device& device, const Catalog*, LintReport& report) {
  const auto& clock = device.compute.clock;
  if (clock && !plausible_clock(clock->value)) {
    report.add({spot(*clock)}, "clock is " + format(clock->value) + "; it must lie in 0.5 to 4 GHz");
  }
}

/// "GPU 'x' is in no catalog; did you mean 'y'?" if there is no such entry.
void check_exists(
    const Catalog* catalog, std::string_view folder, std::string_view word, std::string_view id, LintReport& report) {
  if (catalog->store().find(folder, id)) {
    return;
  }
  const std::vector<std::string> known = catalog->store().spellings(folder);
  const std::vector<std::string_view> candidates{known.begin(), known.end()};
  report.add(std::string{word} + " " + quoted(id) + " is not in the catalog" + suggestion(normalised(id), candidates));
}
void node_references(const Node& node, const Catalog* catalog, LintReport& report) {
  check_exists(catalog, "gpus", "GPU", node.gpu, report);
  for (const std::string& id : node.also) {
    check_exists(catalog, "gpus", "GPU", id, report);
  }
}
void cluster_references(const Cluster& cluster, const Catalog* catalog, LintReport& report) {
  check_exists(catalog, "nodes", "node type", cluster.node, report);
}
void price_references(const PriceList& prices, const Catalog* catalog, LintReport& report) {
  for (const PriceOffer& offer : prices.offers) {
    check_exists(catalog, "gpus", "GPU", offer.gpu, report);
  }
}

// Contradictions are refused when the file is read; this check finds what the file leaves out.
void node_wired(const Node& node, const Catalog* catalog, LintReport& report) {
  std::vector<std::string> skus{node.gpu};
  skus.insert(skus.end(), node.also.begin(), node.also.end());
  for (const std::string& sku : skus) {
    if (catalog->why_no_device(sku)) {
      continue;  // reported by "references"
    }
    try {
      static_cast<void>(wire(node, catalog->device(sku)));
    } catch (const ConfigError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        report.add({LintSpot{problem.file, problem.at}}, problem.message);
      }
      return;
    }
  }
}

void nic_line_rate(const Node& node, const Catalog*, LintReport& report) {
  if (!node.nic_rate) {
    return;
  }
  const double gigabits = node.nic_rate->value.raw() * 8e-9;
  if (std::none_of(port_rates.begin(), port_rates.end(), [&](double r) { return near(gigabits, r, 0.01); })) {
    report.add({spot(*node.nic_rate)}, "rate is " + format_number(gigabits) +
                                           " Gb/s, no line rate of a port: GB/s for Gb/s, several ports, or both "
                                           "directions?");
  }
}

void tiers_ascend(const Cluster& cluster, const Catalog*, LintReport& report) {
  std::int64_t inner = 0;
  for (const ClusterTier& tier : cluster.tiers) {
    if (tier.nodes <= inner) {
      report.add("tier " + quoted(tier.name) + " holds " + std::to_string(tier.nodes) +
                 " nodes, no more than the tier below it");
    }
    inner = tier.nodes;
  }
  if (cluster.nodes && !cluster.tiers.empty() && cluster.nodes->value > inner) {
    report.add({spot(*cluster.nodes)}, "the cluster has " + std::to_string(cluster.nodes->value) +
                                           " nodes, its outermost tier only " + std::to_string(inner));
  }
}

void power_plausible(const Device& device, const Catalog*, LintReport& report) {
  const Device::Power& power = device.power;
  if (power.idle && power.tdp && power.idle->value >= 0.5 * power.tdp->value) {
    report.add({spot(*power.idle)}, "idle power " + format(power.idle->value) + " is half the TDP of " +
                                        format(power.tdp->value) + " or more");
  }
}

void node_power_plausible(const Node& node, const Catalog* catalog, LintReport& report) {
  if (!node.power || catalog == nullptr || catalog->why_no_device(node.gpu)) {
    return;
  }
  const Device& device = catalog->device(node.gpu);
  if (!device.power.tdp || device.power.of_superchip) {
    return;
  }
  const Watts gpus = static_cast<double>(node.gpus) * device.power.tdp->value;
  if (node.power->value < gpus || node.power->value > 3.0 * gpus) {
    report.add({spot(*node.power)},
               "node power " + format(node.power->value) + " is not one to three times its GPUs' " + format(gpus));
  }
}

void price_plausible(const PriceList& prices, const Catalog*, LintReport& report) {
  for (const StorageOffer& offer : prices.storage) {
    const double monthly = offer.price.value.raw() * 1e9 * common_year.raw() / 12.0;
    if (monthly < 1e-4 || monthly > 1.0) {
      report.add({spot(offer.price)}, format(offer.price.value) + " is no price of storage");
    }
  }
  for (const EgressOffer& offer : prices.egress) {
    if (offer.price.value.raw() * 1e9 > 1.0) {
      report.add({spot(offer.price)}, format(offer.price.value) + " is no price of egress");
    }
  }
  for (const PriceOffer& offer : prices.offers) {
    const double hourly = offer.price.value * hour / Dollars{1.0};
    if (hourly < 0.02 || hourly > 20.0) {
      report.add({spot(offer.price)},
                 format(offer.price.value) + " is no price of one GPU" + (hourly > 20.0 ? ": the whole node's?" : ""));
    }
  }
}

// What the parts of a unit hold must fit the whole, or occupancies follow from a slip.
void unit_consistent(const UnitLimits& u, const Catalog*, LintReport& report) {
  const UnitLimits::Threads& t = u.threads;
  if (t.warp.value * t.warps_per_unit.value != t.per_unit.value) {
    report.add({spot(t.per_unit)}, "a unit holds " + std::to_string(t.warps_per_unit.value) + " warps of " +
                                       std::to_string(t.warp.value) + " threads, not " +
                                       std::to_string(t.per_unit.value) + " threads");
  }
  if (u.registers.per_unit.value % (t.schedulers.value * u.registers.granularity.value) != 0) {
    report.add({spot(u.registers.per_unit)},
               "the registers do not divide among " + std::to_string(t.schedulers.value) + " parts of the unit");
  }
  const UnitLimits::Shared& s = u.shared;
  const Bytes reserve = s.reserved_per_block ? s.reserved_per_block->value : Bytes{};
  if (s.per_block.value + reserve > s.per_unit.value || s.per_block_default.value > s.per_block.value) {
    report.add({spot(s.per_block)}, "shared memory of a block, " + format(s.per_block.value) + ", must hold the " +
                                        "default and leave the reserve within the unit's " + format(s.per_unit.value));
  }
  if (s.carve_outs) {
    const std::vector<Bytes>& sizes = s.carve_outs->value;
    if (!std::is_sorted(sizes.begin(), sizes.end()) || sizes.empty() || sizes.back() != s.per_unit.value) {
      report.add({spot(*s.carve_outs)}, "carve-outs must ascend to the unit's " + format(s.per_unit.value));
    }
  }
}

template <class T>
using Check = void (*)(const T&, const Catalog*, LintReport&);

/// One check with its function for each kind of entry; a row without functions is run by lint_catalog or lint_device.
struct Row {
  LintCheck check;
  Check<Device> device = nullptr;  ///< called without a catalog
  Check<Node> node = nullptr;
  Check<Cluster> cluster = nullptr;
  Check<PriceList> prices = nullptr;
  Check<UnitLimits> architecture = nullptr;
};

// clang-format off
constexpr std::array rows{
    Row{{"readable", "the file is TOML and every key of it is known and of the right kind"}},
    Row{{"sourced", "every number names a tag of [sources], and every tag is used"},
        sourced<Device>, sourced<Node>, sourced<Cluster>, sourced<PriceList>, sourced<UnitLimits>},
    Row{{"positive", "every number is above zero and finite"},
        positive_numbers<Device>, positive_numbers<Node>, positive_numbers<Cluster>, positive_numbers<PriceList>,
        positive_numbers<UnitLimits>},
    Row{{"clock-plausible", "a clock lies in 0.5 to 4 GHz"}, clock_plausible},
    Row{{"peak-matches-clock", "the dense 16-bit peak is units x clock x FLOP per clock and unit within 2 %"},
        peak_matches_clock},
    Row{{"dense-not-sparse", "a dense peak is half of the figure printed with sparsity, within 2 %"}, dense_not_sparse},
    Row{{"dtype-ladder", "tf32 = 1/2, fp8 = 2 x the 16-bit peak, int8 = fp8 and fp4 >= fp8, within 5 %"}, dtype_ladder},
    Row{{"marketed-matches-usable", "usable memory is 0.90 to 1.075 of the marketed decimal capacity"},
        marketed_matches_usable},
    Row{{"visible-within-usable", "what a program sees is 0.90 to 1 of what nvidia-smi reports"}, visible_within_usable},
    Row{{"bandwidth-matches-bus", "memory bandwidth is bus width x pin rate within 3 %"}, bandwidth_matches_bus},
    Row{{"links-match-rate", "per_gpu is links x link_rate in one direction within 2 %, at the link's known rate"},
        links_match_rate, node_links_match_rate},
    Row{{"pair-within-gpu", "per_pair is at most per_gpu, and equal to it behind a switch"},
        pair_within_gpu, node_pair_within_gpu},
    Row{{"pcie-matches-generation", "the PCIe rate is lanes x the rate of a lane in one direction within 5 %"},
        pcie_matches_generation},
    Row{{"per-gpu-not-superchip", "peak, memory, power and domain are those of one GPU of the generation"},
        per_gpu_not_superchip},
    Row{{"wired", "a node's links and PCIe tree follow from its file and each of its SKUs"}, nullptr, node_wired},
    Row{{"nic-line-rate", "a NIC's rate is a line rate of one port in one direction"}, nullptr, nic_line_rate},
    Row{{"tiers-ascend", "each tier of a cluster holds more nodes than the one below it, the outermost all of them"},
        nullptr, nullptr, tiers_ascend},
    Row{{"power-plausible", "idle power is below half the TDP, a node's rating one to three times its GPUs'"},
        power_plausible, node_power_plausible},
    Row{{"price-plausible", "a price per GPU and hour lies in 0.02 to 20 $, per GB and month in 0.0001 to 1 $"},
        nullptr, nullptr, nullptr, price_plausible},
    Row{{"unit-consistent", "warps, registers and shared memory of an architecture's parts make up its unit"},
        nullptr, nullptr, nullptr, nullptr, unit_consistent},
    Row{{"references", "every id that an entry names exists, and no two entries share an id or an alias"},
        nullptr, node_references, cluster_references, price_references},
    Row{{"exception-unused", "every lint_exception names a check and excuses a finding of it"}},
};
// clang-format on

constexpr auto check_list = [] {
  std::array<LintCheck, rows.size()> result{};
  std::transform(rows.begin(), rows.end(), result.begin(), [](const Row& row) { return row.check; });
  return result;
}();

template <class T>
std::vector<LintFinding> lint(const T& entry, const Catalog* catalog, Check<T> Row::*function) {
  std::vector<LintFinding> findings;
  for (const Row& row : rows) {
    if (row.*function != nullptr) {
      LintReport report{entry.file, row.check.name, findings};
      (row.*function)(entry, catalog, report);
    }
  }
  return findings;
}

/// Why an exception must be removed, or an empty text. An exception excuses every finding of its check.
std::string excuse(const Device::LintException& exception, std::vector<LintFinding>& findings) {
  bool used = false;
  for (LintFinding& finding : findings) {
    if (finding.check == exception.check) {
      finding.excused = exception.reason;
      used = true;
    }
  }
  if (used) {
    return {};
  }
  std::vector<std::string_view> names;
  names.reserve(check_list.size());
  for (const LintCheck& check : check_list) {
    names.push_back(check.name);
  }
  if (std::find(names.begin(), names.end(), exception.check) == names.end()) {
    return quoted(exception.check) + " is no check" + suggestion(exception.check, names);
  }
  return "nothing of " + quoted(exception.check) + " is left to excuse; remove the exception";
}

}  // namespace

std::span<const LintCheck> lint_checks() noexcept {
  return check_list;
}

std::vector<LintFinding> lint_device(const Device& device) {
  std::vector<LintFinding> findings = lint(device, nullptr, &Row::device);
  std::vector<LintFinding> unused;
  for (const Device::LintException& exception : device.lint_exceptions) {
    if (std::string why = excuse(exception, findings); !why.empty()) {
      unused.push_back({"exception-unused", {device.file, exception.at, std::move(why)}, {}});
    }
  }
  findings.insert(findings.end(), unused.begin(), unused.end());
  return findings;
}

std::vector<LintFinding> lint_node(const Node& node, const Catalog& catalog) {
  return lint(node, &catalog, &Row::node);
}

std::vector<LintFinding> lint_cluster(const Cluster& cluster, const Catalog& catalog) {
  return lint(cluster, &catalog, &Row::cluster);
}

std::vector<LintFinding> lint_architecture(const UnitLimits& unit, const Catalog& catalog) {
  return lint(unit, &catalog, &Row::architecture);
}

std::vector<LintFinding> lint_prices(const PriceList& prices, const Catalog& catalog) {
  return lint(prices, &catalog, &Row::prices);
}

}  // namespace headroom
