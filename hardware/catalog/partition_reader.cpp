// SPDX-License-Identifier: Apache-2.0
// Schemes of partitions from TOML.
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>

#include <set>
#include <utility>

namespace headroom {
namespace {

/// What one table of a scheme is read with.
struct SchemeReader {
  SourceTags& tags;
  ConfigTable& table;

  /// A count that may be nought, as a slice's decoders are.
  [[nodiscard]] std::optional<Sourced<std::int64_t>> some(std::string_view key) const {
    return tags.other(table, key, [](ConfigTable& stated) { return stated.maybe_integer("value", {0, 4096}); });
  }
  [[nodiscard]] Sourced<std::int64_t> needed(std::string_view key) const {
    std::optional<Sourced<std::int64_t>> number = tags.count(table, key);
    if (!number && !table.has(key)) {
      table.missing(key, ", such as { value = 7, source = \"TAG\" }");
    }
    return number ? *std::move(number) : Sourced<std::int64_t>{1, {}, false, table.file(), table.at()};
  }
};

PartitionProfile read_profile(ConfigTable& table, SourceTags& tags, const PartitionScheme& scheme) {
  const SchemeReader reader{tags, table};
  PartitionProfile profile;
  profile.name = table.text("name");
  profile.compute_slices = table.integer("compute_slices", {1, scheme.compute_slices.value});
  profile.memory_slices = table.integer("memory_slices", {1, scheme.memory_slices.value});
  profile.units = tags.count(table, "units");
  profile.memory = tags.quantity<Bytes>(table, "memory");
  profile.copy_engines = reader.some("copy_engines");
  profile.decoders = reader.some("decoders");
  profile.jpeg = reader.some("jpeg");
  profile.ofa = reader.some("ofa");
  profile.most = reader.needed("most");
  if (std::optional<Sourced<std::vector<std::int64_t>>> starts = tags.counts(table, "starts")) {
    profile.starts = *std::move(starts);
  } else if (!table.has("starts")) {
    table.missing("starts", ", such as { value = [0, 4], source = \"TAG\" }");
  }
  for (const std::int64_t start : profile.starts.value) {
    if (start < 0 || start + profile.memory_slices > scheme.memory_slices.value) {
      table.problem("starts", "a slice of " + std::to_string(profile.memory_slices) +
                                  " memory slices cannot begin at " + std::to_string(start) + ": the card has " +
                                  std::to_string(scheme.memory_slices.value) + ", counted from 0");
    }
  }
  table.finish();
  return profile;
}

}  // namespace

PartitionScheme read_partitions(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  EntryHeading heading = read_heading(root, file);
  SourceTags tags{root};
  PartitionScheme scheme;
  scheme.id = std::move(heading.id);
  scheme.name = std::move(heading.name);
  scheme.notes = std::move(heading.notes);
  scheme.aliases = std::move(heading.aliases);
  scheme.file = file;
  scheme.kind = static_cast<PartitionKind>(root.choice("kind", partition_kind_names));
  ConfigTable slices = root.table("slices");
  const SchemeReader reader{tags, slices};
  scheme.memory_slices = reader.needed("memory");
  scheme.compute_slices = reader.needed("compute");
  scheme.decoders = tags.count(slices, "decoders");
  slices.finish();
  std::set<std::string> names;
  for (ConfigTable& table : root.tables("profile")) {
    scheme.profiles.push_back(read_profile(table, tags, scheme));
    if (!names.insert(scheme.profiles.back().name).second) {
      table.problem("name", "there are two profiles " + quoted(scheme.profiles.back().name));
    }
  }
  if (scheme.profiles.empty()) {
    root.missing("profile", ": a scheme has one [[profile]] or more");
  }
  scheme.unused_sources = tags.unused();
  root.finish();
  return scheme;
}

}  // namespace headroom
