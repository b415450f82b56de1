// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>

#include <filesystem>

namespace headroom {
namespace {

std::string stem_of(const std::string& file) {
  return std::filesystem::path{file}.stem().string();
}

/// A bare value as it would follow `value =`, so that the remedy can be pasted.
std::string as_toml(const ConfigValue& value) {
  if (value.kind == ConfigValue::Kind::text) {
    return '"' + value.text + '"';
  }
  return value.kind == ConfigValue::Kind::integer ? std::to_string(value.integer) : "\"80 GiB\"";
}

bool written_in(const ConfigValue& value, const std::string& file) {
  return !value.file || *value.file == file;
}

/// Whether an overlay restates the value while `key` is still the base's: that source does not apply to the new value.
bool left_by_base(const ConfigValue& number, std::string_view key) {
  const ConfigValue* value = number.find("value");
  const ConfigValue* part = number.find(key);
  return value != nullptr && part != nullptr && number.file && written_in(*value, *number.file) &&
         !written_in(*part, *number.file);
}

}  // namespace

SourceTags::SourceTags(ConfigTable& root) {
  std::optional<ConfigTable> sources = root.maybe_table("sources");
  if (!sources) {
    return;
  }
  for (const std::string_view tag : sources->keys()) {
    if (const std::optional<std::string> spelled_out = sources->maybe_text(tag)) {
      tags_.emplace(tag, *spelled_out);
    }
    // A tag of the base that remains after an overlay replaced its numbers is no fault of the overlay.
    if (!written_in(*sources->value(tag), root.file())) {
      used_.emplace(tag);
    }
  }
}

std::optional<SourceTags::Opened> SourceTags::open(ConfigTable& table, std::string_view key) {
  const ConfigValue* found = table.value(key);
  if (found == nullptr) {
    return std::nullopt;
  }
  const std::string name = "'" + std::string{key} + "'";
  std::optional<ConfigTable> inside =
      found->kind == ConfigValue::Kind::table ? table.maybe_table(key) : std::optional<ConfigTable>{};
  if (!inside) {
    table.problem(key, name + " needs its source: write { value = " + as_toml(*found) + ", source = \"TAG\" }");
    return std::nullopt;
  }
  Opened opened{std::move(*inside), {}, false, found->at};
  if (!opened.table.has("source") || left_by_base(*found, "source")) {
    table.problem(key, name + " has no source: write { value = ..., source = \"TAG\" } with a tag of [sources]");
  } else if (const std::optional<std::string> tag = opened.table.maybe_text("source")) {
    const auto spelled_out = tags_.find(*tag);
    if (spelled_out != tags_.end()) {
      opened.source = spelled_out->second;
      used_.insert(*tag);
    } else {
      std::vector<std::string_view> known;
      known.reserve(tags_.size());
      for (const auto& entry : tags_) {
        known.push_back(entry.first);
      }
      opened.table.problem("source", "source " + quoted(*tag) + " is no tag of [sources]" + suggestion(*tag, known));
    }
  }
  opened.table.value("source");
  opened.recalled = opened.table.maybe_boolean("recalled").value_or(false) && !left_by_base(*found, "recalled");
  return opened;
}

std::optional<Sourced<std::int64_t>> SourceTags::count(ConfigTable& table, std::string_view key) {
  std::optional<Opened> opened = open(table, key);
  if (!opened) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> value = opened->table.maybe_integer("value");
  return close(*opened, value);
}

std::optional<Sourced<std::vector<std::int64_t>>> SourceTags::counts(ConfigTable& table, std::string_view key) {
  return other(table, key, [](ConfigTable& inside) {
    return inside.has("value") ? std::optional{inside.integers("value")} : std::nullopt;
  });
}

std::vector<std::string> SourceTags::unused() const {
  std::vector<std::string> result;
  for (const auto& entry : tags_) {
    if (!used_.contains(entry.first)) {
      result.push_back(entry.first);
    }
  }
  return result;
}

EntryHeading read_heading(ConfigTable& root, const std::string& file) {
  require_schema(root);
  root.maybe_text("base");  // already resolved
  const std::string stem = stem_of(file);
  EntryHeading heading;
  heading.id = root.text("id");
  if (root.has("id") && !heading.id.empty() && heading.id != stem) {
    root.problem("id", written_in(*root.value("id"), root.file())
                           ? "id " + quoted(heading.id) + " differs from the file's name " + quoted(stem)
                           : "the id comes from the base; write id = \"" + stem + "\" as the file's name says");
  }
  if (stem != normalised(stem)) {
    root.problem("id", "file name " + quoted(stem) + " is no id: write it in lower case with dashes, " +
                           quoted(normalised(stem)));
  }
  heading.name = root.text("name");
  heading.notes = root.maybe_text("notes").value_or("");
  heading.aliases = root.texts("aliases");
  // Another entry's aliases keep meaning that entry; only an overlay with the same id inherits them.
  const ConfigValue* aliases = root.value("aliases");
  if (aliases != nullptr && aliases->file && stem_of(*aliases->file) != stem) {
    heading.aliases.clear();
  }
  return heading;
}

}  // namespace headroom
