// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 3> vendors{"nvidia", "amd", "intel"};
constexpr std::array<std::string_view, 14> generations{"volta",     "turing",          "ampere",     "ada",   "hopper",
                                                       "blackwell", "blackwell-ultra", "cdna2",      "cdna3", "cdna4",
                                                       "gaudi2",    "gaudi3",          "battlemage", "cpu"};
constexpr std::array<std::string_view, 2> power_scopes{"gpu", "superchip"};
constexpr Range<std::int64_t> years{2010, 2100};

void read_compute(ConfigTable table, SourceTags& tags, Device::Compute& compute) {
  compute.units = tags.count(table, "units");
  compute.clock = tags.quantity<Hertz>(table, "clock");
  compute.dense_flop_per_clock_per_unit = tags.count(table, "dense_flop_per_clock_per_unit");
  compute.board_spread = tags.other(table, "board_spread", [](ConfigTable& stated) {
    return stated.maybe_number("value", {0.0, 0.2});
  });
  table.finish();
}

void read_rates(ConfigTable table, SourceTags& tags, RateTable& rates) {
  for (std::size_t i = 0; i < rate_count; ++i) {
    rates[i] = tags.quantity<FlopsPerSecond>(table, rate_names[i]);
  }
  table.finish();
}

void read_memory(ConfigTable table, SourceTags& tags, Device::Memory& memory) {
  memory.marketed = tags.quantity<Bytes>(table, "marketed");
  memory.usable = tags.quantity<Bytes>(table, "usable");
  memory.visible = tags.quantity<Bytes>(table, "visible");
  memory.bandwidth = tags.quantity<BytesPerSecond>(table, "bandwidth");
  memory.bus_width = tags.count(table, "bus_width");
  memory.pin_rate = tags.quantity<BytesPerSecond>(table, "pin_rate");
  memory.l2 = tags.quantity<Bytes>(table, "l2");
  memory.shared_per_unit = tags.quantity<Bytes>(table, "shared_per_unit");
  memory.registers_per_unit = tags.count(table, "registers_per_unit");
  memory.max_warps_per_unit = tags.count(table, "max_warps_per_unit");
  memory.max_blocks_per_unit = tags.count(table, "max_blocks_per_unit");
  table.finish();
}

void read_power(ConfigTable table, SourceTags& tags, Device::Power& power) {
  power.tdp = tags.quantity<Watts>(table, "tdp");
  power.idle = tags.quantity<Watts>(table, "idle");
  power.of_superchip = table.choice("scope", power_scopes) == 1;
  table.finish();
}

void read_scale_up(ConfigTable table, SourceTags& tags, Device::ScaleUp& scale_up) {
  scale_up.link = table.text("link");
  // Excludes "none" (a SKU without links has no such table) and the forms that only nodes have.
  constexpr auto first = static_cast<std::size_t>(LinkTopology::fabric_switch);
  const auto names = std::span{link_topology_names}.subspan(first, 4);
  scale_up.topology = static_cast<LinkTopology>(table.choice("topology", names) + first);
  scale_up.domain = table.integer("domain", {2, 4096});
  scale_up.links = tags.count(table, "links");
  scale_up.link_rate = tags.quantity<BytesPerSecond>(table, "link_rate");
  scale_up.per_gpu = tags.quantity<BytesPerSecond>(table, "per_gpu");
  scale_up.per_pair = tags.quantity<BytesPerSecond>(table, "per_pair");
  table.finish();
}

void read_pcie(ConfigTable table, SourceTags& tags, Device::Pcie& pcie) {
  pcie.generation = table.integer("generation", {1, 8});
  pcie.lanes = table.integer("lanes", {1, 128});
  pcie.rate = tags.quantity<BytesPerSecond>(table, "rate");
  table.finish();
}

std::vector<Device::LintException> read_lint_exceptions(ConfigTable& root) {
  std::vector<Device::LintException> result;
  for (ConfigTable& table : root.tables("lint_exception")) {
    result.push_back({table.text("check"), table.text("reason"), table.at()});
    table.finish();
  }
  return result;
}

std::string compute_capability_of(ConfigTable& root, const std::string& vendor) {
  const std::string text = root.maybe_text("compute_capability").value_or("");
  if (text.empty()) {
    return text;
  }
  const std::size_t dot = text.find('.');
  if (vendor != "nvidia") {
    root.problem("compute_capability", "'compute_capability' is NVIDIA's; leave it out for vendor '" + vendor + "'");
  } else if (dot == 0 || dot == std::string::npos || dot + 2 != text.size() ||
             text.find_first_not_of("0123456789.") != std::string::npos) {
    root.problem("compute_capability", "'compute_capability' is " + quoted(text) + "; it must look like \"9.0\"");
  }
  return text;
}

}  // namespace

Device read_device(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  EntryHeading heading = read_heading(root, file);
  SourceTags tags{root};

  Device device;
  device.id = std::move(heading.id);
  device.name = std::move(heading.name);
  device.notes = std::move(heading.notes);
  device.aliases = std::move(heading.aliases);
  device.file = file;
  device.vendor = vendors[root.choice("vendor", vendors)];
  device.kind = static_cast<DeviceKind>(root.choice("kind", device_kind_names));
  device.generation = generations[root.choice("generation", generations)];
  device.curves = root.maybe_text("curves").value_or("");
  device.partitions = root.maybe_text("partitions").value_or("");
  device.year = root.integer("year", years);
  device.compute_capability = compute_capability_of(root, device.vendor);

  const auto section = [&](std::string_view name, auto read, auto& part) {
    if (const std::optional<ConfigTable> table = root.maybe_table(name)) {
      read(*table, tags, part);
    }
  };
  section("compute", read_compute, device.compute);
  section("peak", read_rates, device.peak);
  section("sparse", read_rates, device.sparse);
  section("memory", read_memory, device.memory);
  section("power", read_power, device.power);
  section("scale_up", read_scale_up, device.scale_up);
  section("pcie", read_pcie, device.pcie);
  device.lint_exceptions = read_lint_exceptions(root);
  device.unused_sources = tags.unused();
  root.finish();
  return device;
}

FlopsPerSecond Device::peak_of(Rate rate) const {
  if (const auto& found = peak[static_cast<std::size_t>(rate)]) {
    return found->value;
  }
  std::string known;
  for (std::size_t i = 0; i < rate_count; ++i) {
    if (peak[i]) {
      known += (known.empty() ? "" : ", ") + std::string{rate_names[i]};
    }
  }
  throw ConfigError{id + " has no " + std::string{name_of(rate)} + " rate; it has " +
                    (known.empty() ? "no rate at all" : known)};
}

const Sourced<Bytes>& Device::capacity() const {
  if (memory.usable) {
    return *memory.usable;
  }
  if (memory.marketed) {
    return *memory.marketed;
  }
  throw ConfigError{id + " has no memory capacity in the catalog; state [memory] usable in an overlay of it"};
}

const Sourced<Bytes>& Device::visible_capacity() const {
  return memory.visible ? *memory.visible : capacity();
}

BytesPerSecond Device::bandwidth() const {
  if (memory.bandwidth) {
    return memory.bandwidth->value;
  }
  throw ConfigError{id + " has no memory bandwidth in the catalog; state [memory] bandwidth in an overlay of it"};
}

}  // namespace headroom
