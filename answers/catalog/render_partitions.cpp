// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/catalog/render_partitions.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 11> columns{"slice", "units",      "memory",       "bandwidth",
                                                   "L2",    "bf16 dense", "copy engines", "decoders",
                                                   "share", "at most",    "<begins at"};

std::string count_or_dash(const std::optional<Sourced<std::int64_t>>& count) {
  return count ? std::to_string(count->value) : "-";
}

std::string starts_text(const PartitionProfile& p) {
  return joined(p.starts.value, [](std::int64_t start) { return std::to_string(start); });
}

Table table_of_slices(std::string first) {
  std::vector<std::string> header{columns.begin(), columns.end()};
  header.front() = std::move(first);
  return Table{header};
}

/// A line a profile. Of one whose units are not known the numbers that hang on them are blank.
void add_slices(Table& table, const Device& card, const PartitionScheme& scheme) {
  for (const PartitionProfile& p : scheme.profiles) {
    const double memory = scheme.memory_share(p);
    std::string rate = "-";
    const auto& peak = card.peak[static_cast<std::size_t>(Rate::bf16)];
    if (p.units && peak && card.compute.units) {
      rate = format(static_cast<double>(p.units->value) / static_cast<double>(card.compute.units->value) * peak->value);
    }
    table.row({card.id + "/" + p.name, count_or_dash(p.units), format(partition_memory(card, scheme, p)),
               card.memory.bandwidth ? format(memory * card.memory.bandwidth->value) : "-",
               card.memory.l2 ? format(memory * card.memory.l2->value) : "-", rate, count_or_dash(p.copy_engines),
               count_or_dash(p.decoders), percent(scheme.card_share(p), 3), std::to_string(p.most.value),
               starts_text(p)});
  }
}

Value count_value(const std::optional<Sourced<std::int64_t>>& count) {
  return count ? Value{count->value} : Value{};
}

Value profile_rows(const Device& card, const PartitionScheme& scheme) {
  return list(scheme.profiles, [&](const PartitionProfile& p) {
    const double memory = scheme.memory_share(p);
    return object(
        "id"_m = card.id + "/" + p.name, "units"_m = count_value(p.units),
        "memory_bytes"_m = partition_memory(card, scheme, p),
        "memory_bytes_per_s"_m = card.memory.bandwidth ? Value{memory * card.memory.bandwidth->value} : Value{},
        "l2_bytes"_m = card.memory.l2 ? Value{memory * card.memory.l2->value} : Value{},
        "compute_slices"_m = p.compute_slices, "memory_slices"_m = p.memory_slices,
        "copy_engines"_m = count_value(p.copy_engines), "decoders"_m = count_value(p.decoders),
        "jpeg"_m = count_value(p.jpeg), "ofa"_m = count_value(p.ofa), "card_share"_m = scheme.card_share(p),
        "most"_m = p.most.value,
        "starts"_m = list(p.starts.value, [](std::int64_t start) { return Value{start}; }).on_one_line());
  });
}

/// Calls `see` with each card that can be cut.
template <class See>
void each_card(const Catalog& catalog, See see) {
  catalog.store().each("gpus", [&](const std::string& id) {
    const Device& card = catalog.device(id);
    if (const PartitionScheme* const scheme = catalog.partitions(card)) {
      see(card, *scheme);
    }
  });
}

/// The lines of a table of TOML whose numbers have their sources in words.
class SlicePart {
 public:
  explicit SlicePart(std::string_view name) : text_{"\n[" + std::string{name} + "]\n"} {}
  template <class T>
  void line(std::string_view key, const std::optional<Sourced<T>>& number, std::string_view unit, double size) {
    if (number) {
      std::string value = format_number(static_cast<double>(number->value / T{1.0}) / size, 7);
      add(key, "\"" + value + " " + std::string{unit} + "\"", number->source, number->recalled);
    }
  }
  void count(std::string_view key, const std::optional<Sourced<std::int64_t>>& number) {
    if (number) {
      add(key, std::to_string(number->value), number->source, number->recalled);
    }
  }
  [[nodiscard]] std::string text() const { return lines_ ? text_ : std::string{}; }

 private:
  void add(std::string_view key, const std::string& value, const std::string& source, bool recalled) {
    text_ += std::string{key} + " = { value = " + value + ", source = \"" + source + "\"" +
             (recalled ? ", recalled = true }\n" : " }\n");
    lines_ = true;
  }
  std::string text_;
  bool lines_ = false;
};

}  // namespace

std::string list_partitions(const Catalog& catalog) {
  Table table = table_of_slices("slice");
  each_card(catalog, [&](const Device& card, const PartitionScheme& scheme) { add_slices(table, card, scheme); });
  return table.text(0);
}

std::string partitions_comment(const Catalog& catalog, const Device& card) {
  const PartitionScheme* const scheme = catalog.partitions(card);
  if (scheme == nullptr) {
    return {};
  }
  Table table = table_of_slices("# slice");
  Table own = table;
  add_slices(own, card, *scheme);
  std::string text = "#\n# " + scheme->name + ", " + scheme->file + ": " + std::to_string(scheme->memory_slices.value) +
                     " memory slices, at which slices begin, and " + std::to_string(scheme->compute_slices.value) +
                     " compute slices\n";
  const std::string lines = own.text(0);
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const std::string line = lines.substr(at, end - at);
    text += (line.starts_with('#') ? "" : "# ") + line + "\n";
    at = end == std::string::npos ? lines.size() : end + 1;
  }
  return text;
}

Value partitions_value(const Catalog& catalog) {
  Value all = Value::empty_list();
  each_card(catalog, [&](const Device& card, const PartitionScheme& scheme) {
    all.push(object("id"_m = card.id, "scheme"_m = scheme.id,
                    "kind"_m = partition_kind_names[static_cast<std::size_t>(scheme.kind)],
                    "compute_slices"_m = scheme.compute_slices.value, "memory_slices"_m = scheme.memory_slices.value,
                    "profiles"_m = profile_rows(card, scheme)));
  });
  return all;
}

Value profiles_value(const Catalog& catalog, const Device& card) {
  const PartitionScheme* const scheme = catalog.partitions(card);
  return scheme == nullptr ? Value{} : profile_rows(card, *scheme);
}

std::string slice_toml(const Device& slice) {
  std::string text = "# " + slice.slice->profile + " of " + slice.slice->card + ": " +
                     std::to_string(slice.slice->per_card) + " of them on a card, " + percent(slice.slice->share, 3) +
                     " of it each\n";
  text += "id = \"" + slice.id + "\"\nname = \"" + slice.name + "\"\nvendor = \"" + slice.vendor +
          "\"\ngeneration = \"" + slice.generation + "\"\n";
  text += slice.curves.empty() ? "" : "curves = \"" + slice.curves + "\"\n";
  constexpr double mib = 1048576.0;
  SlicePart compute{"compute"};
  compute.count("units", slice.compute.units);
  compute.line("clock", slice.compute.clock, "MHz", 1e6);
  SlicePart peak{"peak"};
  for (std::size_t i = 0; i < rate_count; ++i) {
    peak.line(rate_names[i], slice.peak[i], "TFLOP/s", 1e12);
  }
  SlicePart memory{"memory"};
  memory.line("marketed", slice.memory.marketed, "GB", 1e9);
  memory.line("usable", slice.memory.usable, "MiB", mib);
  memory.line("visible", slice.memory.visible, "MiB", mib);
  memory.line("bandwidth", slice.memory.bandwidth, "GB/s", 1e9);
  memory.line("l2", slice.memory.l2, "MiB", mib);
  SlicePart power{"power"};
  power.line("tdp", slice.power.tdp, "W", 1.0);
  power.line("idle", slice.power.idle, "W", 1.0);
  SlicePart engines{"engines"};
  engines.count("copy", slice.slice->copy_engines);
  engines.count("decoders", slice.slice->decoders);
  engines.count("jpeg", slice.slice->jpeg);
  engines.count("ofa", slice.slice->ofa);
  return text + compute.text() + peak.text() + memory.text() + power.text() + engines.text();
}

}  // namespace headroom
