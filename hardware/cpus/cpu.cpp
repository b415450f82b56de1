// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>
#include <headroom/hardware/cpus/cpu.hpp>

#include <utility>

namespace headroom {
namespace {

constexpr std::string_view cpu_folder = "cpus";

template <class T>
Sourced<T> stated_of(ConfigTable& table, std::string_view key, std::optional<Sourced<T>> read) {
  if (!table.has(key)) {
    table.missing(key, ", what the processor's specification says, such as { value = ..., source = \"SPEC\" }");
  }
  return read.value_or(Sourced<T>{});
}

}  // namespace

FlopsPerSecond Cpu::peak() const noexcept {
  return FlopsPerSecond{real(cores.value) * clock.value.raw() * real(fp32_per_clock.value)};
}

Cpu read_cpu(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  Cpu cpu;
  EntryHeading heading = read_heading(root, file);
  cpu.id = std::move(heading.id);
  cpu.name = std::move(heading.name);
  cpu.notes = std::move(heading.notes);
  cpu.aliases = std::move(heading.aliases);
  cpu.file = file;
  SourceTags tags{root};
  cpu.vendor = root.text("vendor");
  cpu.year = root.integer("year", {1990, 2100});
  ConfigTable compute = root.table("compute");
  cpu.cores = stated_of(compute, "cores", tags.count(compute, "cores"));
  cpu.clock = stated_of(compute, "clock", tags.quantity<Hertz>(compute, "clock"));
  cpu.base = tags.quantity<Hertz>(compute, "base");
  cpu.boost = tags.quantity<Hertz>(compute, "boost");
  cpu.per_clock = stated_of(compute, "per_clock", tags.other(compute, "per_clock", [](ConfigTable& stated) {
    return stated.maybe_number("value", {0.1, 10.0});
  }));
  cpu.fp32_per_clock = stated_of(compute, "fp32_per_clock", tags.count(compute, "fp32_per_clock"));
  cpu.vector_unit = compute.maybe_text("vector_unit").value_or("");
  compute.finish();
  ConfigTable memory = root.table("memory");
  cpu.bandwidth = stated_of(memory, "bandwidth", tags.quantity<BytesPerSecond>(memory, "bandwidth"));
  cpu.last_cache = stated_of(memory, "last_cache", tags.quantity<Bytes>(memory, "last_cache"));
  cpu.core_cache = stated_of(memory, "core_cache", tags.quantity<Bytes>(memory, "core_cache"));
  memory.finish();
  ConfigTable power = root.table("power");
  cpu.tdp = stated_of(power, "tdp", tags.quantity<Watts>(power, "tdp"));
  power.finish();
  if (std::optional<ConfigTable> price = root.maybe_table("price")) {
    cpu.price = tags.quantity<DollarsPerSecond>(*price, "socket");
    price->finish();
  }
  root.finish();
  return cpu;
}

Cpu find_cpu(const Catalog& catalog, std::string_view spelling) {
  const DataStore& store = catalog.store();
  const std::optional<DataStore::Entry> entry = store.find(cpu_folder, normalised(spelling));
  if (!entry) {
    throw ConfigError{"unknown processor " + quoted(spelling) + "; the catalog has " + joined(store.ids(cpu_folder)) +
                      store.unreadable_text(cpu_folder) +
                      "; one of your own is a file cpus/ID.toml (docs/catalog-format.md)"};
  }
  Diagnostics diagnostics;
  Cpu cpu = read_cpu(store.tree(cpu_folder, *entry), entry->file, diagnostics);
  diagnostics.throw_if_any();
  return cpu;
}

}  // namespace headroom
