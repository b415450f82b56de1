// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>
#include <headroom/hardware/catalog/unit_limits.hpp>

#include <utility>
#include <variant>

namespace headroom {
namespace {

/// A number without which the unit is not known; a missing one is reported and replaced by one that divides nothing by
/// nought.
template <class T>
Sourced<T> needed(std::optional<Sourced<T>> number, ConfigTable& table, std::string_view key) {
  if (!number && !table.has(key)) {
    table.missing(key, ", such as { value = ..., source = \"TAG\" }");
  }
  return number ? *std::move(number) : Sourced<T>{T{1}, {}, false, table.file(), table.at()};
}

Sourced<std::int64_t> needed_count(SourceTags& tags, ConfigTable& table, std::string_view key) {
  return needed(tags.count(table, key), table, key);
}

Sourced<Bytes> needed_bytes(SourceTags& tags, ConfigTable& table, std::string_view key) {
  return needed(tags.quantity<Bytes>(table, key), table, key);
}

std::optional<std::vector<Bytes>> read_sizes(ConfigTable& table) {
  if (!table.has("value")) {
    return std::nullopt;
  }
  std::vector<Bytes> sizes;
  for (const std::string& text : table.texts("value")) {
    const std::variant<double, TextError> read = parse_quantity(text, dimension_of<Bytes>);
    if (const TextError* const error = std::get_if<TextError>(&read)) {
      table.problem("value", quoted(text) + " " + error->message);
    } else {
      sizes.emplace_back(std::get<double>(read));
    }
  }
  return sizes;
}

void read_threads(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.threads.warp = needed_count(tags, table, "warp");
  unit.threads.warps_per_unit = needed_count(tags, table, "warps_per_unit");
  unit.threads.blocks_per_unit = needed_count(tags, table, "blocks_per_unit");
  unit.threads.barriers_per_unit = tags.count(table, "barriers_per_unit");
  unit.threads.per_unit = needed_count(tags, table, "per_unit");
  unit.threads.per_block = needed_count(tags, table, "per_block");
  unit.threads.schedulers = needed_count(tags, table, "schedulers");
  table.finish();
}

void read_registers(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.registers.per_unit = needed_count(tags, table, "per_unit");
  unit.registers.per_block = needed_count(tags, table, "per_block");
  unit.registers.per_thread = needed_count(tags, table, "per_thread");
  unit.registers.granularity = needed_count(tags, table, "granularity");
  table.finish();
}

void read_shared(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  UnitLimits::Shared& s = unit.shared;
  s.per_unit = needed_bytes(tags, table, "per_unit");
  s.per_block = needed_bytes(tags, table, "per_block");
  s.per_block_default = needed_bytes(tags, table, "per_block_default");
  s.reserved_per_block = tags.quantity<Bytes>(table, "reserved_per_block");
  s.granularity = needed_bytes(tags, table, "granularity");
  s.carve_outs = tags.other(table, "carve_outs", read_sizes);
  s.with_l1 = tags.quantity<Bytes>(table, "with_l1");
  s.banks = needed_count(tags, table, "banks");
  s.bank_width = needed_bytes(tags, table, "bank_width");
  s.bytes_per_clock = tags.count(table, "bytes_per_clock");
  table.finish();
}

void read_unit_cache(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.cache.sector = needed_bytes(tags, table, "sector");
  unit.cache.line = needed_bytes(tags, table, "line");
  unit.cache.l1 = tags.quantity<Bytes>(table, "l1");
  table.finish();
}

void read_clusters(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.cluster.portable = tags.count(table, "portable");
  unit.cluster.most = tags.count(table, "most");
  table.finish();
}

void read_bulk_copies(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.tma = tags.other(table, "tma", [](ConfigTable& stated) { return stated.maybe_boolean("value"); });
  table.finish();
}

void read_tensor_memory(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.tensor_memory =
      UnitLimits::TensorMemory{needed_count(tags, table, "columns"), needed_count(tags, table, "lanes"),
                               needed_bytes(tags, table, "cell"), needed_count(tags, table, "least_columns")};
  table.finish();
}

void read_latency(ConfigTable table, SourceTags& tags, UnitLimits& unit) {
  unit.latency.memory = tags.quantity<Seconds>(table, "memory");
  unit.latency.l2_cycles = tags.count(table, "l2_cycles");
  unit.latency.l1_cycles = tags.count(table, "l1_cycles");
  unit.latency.shared_cycles = tags.count(table, "shared_cycles");
  table.finish();
}

}  // namespace

Bytes UnitLimits::TensorMemory::size() const {
  return static_cast<double>(columns.value * lanes.value) * cell.value;
}

UnitLimits read_unit_limits(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  EntryHeading heading = read_heading(root, file);
  UnitLimits unit;
  unit.id = std::move(heading.id);
  unit.name = std::move(heading.name);
  unit.notes = std::move(heading.notes);
  unit.aliases = std::move(heading.aliases);
  unit.file = file;
  unit.vendor = root.text("vendor");
  unit.generation = root.text("generation");
  SourceTags tags{root};
  read_threads(root.table("threads"), tags, unit);
  read_registers(root.table("registers"), tags, unit);
  read_shared(root.table("shared"), tags, unit);
  read_unit_cache(root.table("cache"), tags, unit);
  const auto section = [&](std::string_view name, auto read) {
    if (const std::optional<ConfigTable> table = root.maybe_table(name)) {
      read(*table, tags, unit);
    }
  };
  section("cluster", read_clusters);
  section("bulk_copies", read_bulk_copies);
  section("tensor_memory", read_tensor_memory);
  section("latency", read_latency);
  unit.unused_sources = tags.unused();
  root.finish();
  return unit;
}

const std::string& architecture_of(const Device& device) {
  return device.compute_capability.empty() ? device.generation : device.compute_capability;
}

}  // namespace headroom
