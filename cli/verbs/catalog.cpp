// SPDX-License-Identifier: Apache-2.0
// `headroom catalog list|show|diff|lint|import`: known hardware, prices and models, with their sources.
#include <headroom/answers/catalog/render_catalog.hpp>
#include <headroom/answers/catalog/render_partitions.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/calibrate/onnx/onnx_network.hpp>
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/version.hpp>
#include <headroom/hardware/catalog/partition_name.hpp>
#include <headroom/hardware/lint/lint.hpp>
#include <headroom/model/estimate/number_format.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

namespace headroom::cli {

extern const Verb catalog_verb;

namespace catalog_parts {
namespace {

enum class Asks : std::uint8_t { list, show, diff, lint, import };
constexpr std::array forms{
    Form{"'catalog list'", "'catalog list'"},     Form{"'catalog show'", "'catalog show'"},
    Form{"'catalog diff'", "'catalog diff'"},     Form{"'catalog lint'", "'catalog lint'"},
    Form{"'catalog import'", "'catalog import'"},
};

constexpr std::array options{
    Option{"--file", OptionKind::many, "FILE", "lint: check this GPU file as if it were in the catalog; repeats"}
        .of(Asks::lint)
        .that(FileUse::reads),
    Option{"--format", OptionKind::one, formats_in<"text|{}">, meanings_in<"text for people (default), {}">}.of(
        Asks::list, Asks::show, Asks::diff, Asks::lint),
};

constexpr std::array<std::string_view, 5> actions{"list", "show", "diff", "lint", "import"};

template <class T>
std::string shown(const std::optional<Sourced<T>>& value) {
  return value ? format(value->value) : std::string{"-"};
}

std::string list_gpus(const Catalog& catalog) {
  Table table{{"gpu", "<generation", "memory", "bandwidth", "bf16 dense", "fp8 dense", "TDP", "scale-up"}};
  catalog.store().each("gpus", [&](const std::string& id) {
    const Device& d = catalog.device(id);
    const bool has_memory = d.memory.usable || d.memory.marketed;
    table.row({id, d.generation, has_memory ? format(d.capacity().value) : "-", shown(d.memory.bandwidth),
               shown(d.peak[static_cast<std::size_t>(Rate::bf16)]), shown(d.peak[static_cast<std::size_t>(Rate::fp8)]),
               shown(d.power.tdp), shown(d.scale_up.per_gpu)});
  });
  return table.text(0);
}

std::string list_nodes(const Catalog& catalog) {
  Table table{{"node", "<gpu", "gpus", "per GPU", "NICs", "scale-out per GPU"}};
  catalog.store().each("nodes", [&](const std::string& id) {
    const Node& n = catalog.node(id);
    const auto out = n.scale_out_per_gpu();
    table.row({id, n.gpu, std::to_string(n.gpus), shown(n.per_gpu), n.nics ? std::to_string(n.nics->value) : "-",
               out ? format(*out) : "-"});
  });
  return table.text(0);
}

std::string list_clusters(const Catalog& catalog) {
  Table table{{"cluster", "<node", "<transport", "<tiers"}};
  catalog.store().each("clusters", [&](const std::string& id) {
    const Cluster& c = catalog.cluster(id);
    const std::string tiers = joined(c.tiers, [&](const ClusterTier& tier) {
      return tier.name + " " + format_number(tier.oversubscription) + ":1";
    });
    table.row({id, c.node, c.transport, tiers});
  });
  return table.text(0);
}

std::string list_prices(const Catalog& catalog) {
  Table table{{"price list", "<date", "<of", "<market", "<region", "price"}};
  catalog.store().each("prices", [&](const std::string& id) {
    const PriceList& list = catalog.prices(id);
    for (const PriceOffer& offer : list.offers) {
      table.row({id, list.date, offer.gpu, std::string{market_names[static_cast<std::size_t>(offer.market)]},
                 offer.region, format(offer.price.value)});
    }
    for (const StorageOffer& offer : list.storage) {
      table.row({id, list.date, "storage, " + offer.service, "", offer.region, format(offer.price.value)});
    }
    for (const EgressOffer& offer : list.egress) {
      table.row({id, list.date, "egress", "", offer.region, format(offer.price.value)});
    }
  });
  return table.text(0);
}

std::string list_architectures(const Catalog& catalog) {
  Table table{
      {"architecture", "<generation", "warps", "blocks", "registers", "shared", "of a block", "memory latency"}};
  catalog.store().each("architectures", [&](const std::string& id) {
    const UnitLimits& u = catalog.architecture(id);
    table.row({id, u.generation, std::to_string(u.threads.warps_per_unit.value),
               std::to_string(u.threads.blocks_per_unit.value), std::to_string(u.registers.per_unit.value),
               format(u.shared.per_unit.value), format(u.shared.per_block.value), shown(u.latency.memory)});
  });
  return table.text(0);
}

std::string list_models(const ModelLibrary& models) {
  Table table{{"model", "parameters", "layers", "hidden", "heads", "kv heads", "vocab"}};
  models.each([&](const std::string& id) {
    const Architecture a = models.find(id);
    table.row({id, format_number(count_parameters(a).total / 1e9, 4) + " G", std::to_string(a.layers),
               std::to_string(a.hidden), std::to_string(a.heads), std::to_string(a.kv_heads), std::to_string(a.vocab)});
  });
  return table.text(0);
}

std::string list_formats() {
  Table table{
      {"format", "bits", "exponent", "mantissa", "largest", "smallest normal", "subnormal", "epsilon", "<source"}};
  const auto number = [](double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return std::string{text.data()};
  };
  for (const NumberFormat& f : number_formats) {
    const bool subnormals = f.mantissa_bits > 0;
    table.row({std::string{f.name}, std::to_string(f.bits()), std::to_string(f.exponent_bits),
               std::to_string(f.mantissa_bits), number(f.largest()), number(f.smallest_normal()),
               subnormals ? number(f.smallest_subnormal()) : "-", number(f.epsilon()), std::string{f.source}});
  }
  return table.text(0);
}

std::string list_networks(const NetworkLibrary& networks) {
  Table table{{"network", "parameters", "ops", "forward per sample", "input per sample", "<parts"}};
  networks.each([&](const std::string& id) {
    const Network n = networks.find(id);
    const std::string parameters =
        n.parameters < 1e9 ? format_number(n.parameters / 1e6, 4) + " M" : format_number(n.parameters / 1e9, 4) + " G";
    table.row(
        {id, parameters, std::to_string(n.ops.size()), format(n.forward), format(n.input_bytes()), joined(n.parts())});
  });
  return table.text(0);
}

std::string list_text(std::string_view kind,
                      const Catalog& catalog,
                      const ModelLibrary& models,
                      const NetworkLibrary& networks) {
  if (kind == "gpus") return list_gpus(catalog);
  if (kind == "nodes") return list_nodes(catalog);
  if (kind == "clusters") return list_clusters(catalog);
  if (kind == "prices") return list_prices(catalog);
  if (kind == "architectures") return list_architectures(catalog);
  if (kind == "formats") return list_formats();
  if (kind == "networks") return list_networks(networks);
  if (kind == "partitions") return list_partitions(catalog);
  return list_models(models);
}

/// Reads an entry as a plan would. Throws ConfigError, with the place, for an invalid one.
void require_good(std::string_view kind, std::string_view spelling, const Catalog& catalog) {
  if (kind == "gpus") {
    static_cast<void>(catalog.device(spelling));
  } else if (kind == "nodes") {
    static_cast<void>(catalog.node(spelling));
  } else if (kind == "clusters") {
    static_cast<void>(catalog.cluster(spelling));
  } else if (kind == "architectures") {
    static_cast<void>(catalog.architecture(spelling));
  } else {
    static_cast<void>(catalog.prices(spelling));
  }
}

/// An entry and its document with the bases merged in.
struct Shown {
  DataStore::Entry entry;
  ConfigValue tree;
};

/// Entry for a spelling among gpus, nodes, clusters, prices and architectures: its id and the file's text with all
/// sources.
Shown find_entry(std::string_view spelling, const Catalog& catalog) {
  if (partition_name(spelling)) {
    const Device& slice = catalog.device(spelling);
    DataStore::Entry entry{slice.id, catalog.partitions(slice)->file, slice_toml(slice)};
    ConfigValue tree = parse_toml(entry.text, entry.file);
    return {std::move(entry), std::move(tree)};
  }
  for (const std::string_view kind : {"gpus", "nodes", "clusters", "prices", "architectures"}) {
    if (auto entry = catalog.store().find(kind, spelling)) {
      require_good(kind, spelling, catalog);
      ConfigValue tree = catalog.store().tree(kind, *entry);
      return {*std::move(entry), std::move(tree)};
    }
  }
  const Device& device = catalog.device(spelling);  // or the reason, or the nearest spelling
  return find_entry(device.id, catalog);
}

/// Entry for a spelling, among models and networks too.
Shown shown_entry(std::string_view spelling, const Catalog& catalog) {
  const ModelLibrary models{own_model_data().files()};
  if (models.knows(spelling) || models.meant(spelling)) {
    static_cast<void>(models.find(spelling));
    return {models.entry(spelling), models.tree(spelling)};
  }
  if (const NetworkLibrary networks{own_model_data().files()}; networks.knows(spelling)) {
    static_cast<void>(networks.find(spelling));
    DataStore::Entry entry = networks.entry(spelling);
    ConfigValue tree = networks.tree(entry);
    return {std::move(entry), std::move(tree)};
  }
  return find_entry(spelling, catalog);
}

std::string value_text(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::text: return value.text;
    case ConfigValue::Kind::integer: return std::to_string(value.integer);
    case ConfigValue::Kind::number: return format_number(value.number, 6);
    case ConfigValue::Kind::boolean: return value.boolean ? "true" : "false";
    case ConfigValue::Kind::array: return joined(value.items, value_text);
    case ConfigValue::Kind::null:
    case ConfigValue::Kind::table: break;
  }
  return "";
}

/// A value, as text too, with its source and the file that states it.
struct Flat {
  std::string value, source, file;
  Value typed;
};
using FlatDocument = std::map<std::string, Flat>;

Value typed_value(const ConfigValue& value) {
  switch (value.kind) {
    case ConfigValue::Kind::text: return value.text;
    case ConfigValue::Kind::integer: return value.integer;
    case ConfigValue::Kind::number: return value.number;
    case ConfigValue::Kind::boolean: return value.boolean;
    case ConfigValue::Kind::array: return list(value.items, typed_value).on_one_line();
    case ConfigValue::Kind::null:
    case ConfigValue::Kind::table: break;
  }
  return nullptr;
}

std::string text_of(const ConfigValue* value) {
  return value == nullptr ? std::string{} : value->text;
}

/// Flattens keys and values; `{ value, source }` counts as one value.
void flatten(const ConfigValue& table, const std::string& prefix, FlatDocument& out) {
  for (const auto& [key, value] : table.entries) {
    const ConfigValue* inner = value.find("value");
    if (prefix.empty() && (key == "sources" || key == "aliases")) {
      continue;
    }
    if (value.kind == ConfigValue::Kind::table && inner == nullptr) {
      flatten(value, prefix + key + ".", out);
    } else {
      const ConfigValue& stated = inner != nullptr ? *inner : value;
      out[prefix + key] = {value_text(stated), text_of(inner != nullptr ? value.find("source") : nullptr),
                           value.file ? *value.file : std::string{}, typed_value(stated)};
    }
  }
}

/// The entry's text as it stands; of one with a base, in comments below it, each value and the file that states it.
std::string show(const Shown& shown) {
  std::string text = "# " + shown.entry.file + "\n" + shown.entry.text;
  if (shown.tree.find("base") == nullptr) {
    return text;
  }
  FlatDocument flat;
  flatten(shown.tree, "", flat);
  Table table{{"# with its base", "<value", "<stated in"}};
  for (const auto& [key, value] : flat) {
    table.row({"# " + key, value.value, value.file});
  }
  return text + (text.ends_with('\n') ? "" : "\n") + "#\n" + table.text(0);
}

/// Every value of an entry, those of its bases among them.
Value entry_document(const Shown& shown, const Catalog& catalog) {
  FlatDocument flat;
  flatten(shown.tree, "", flat);
  const bool card = catalog.store().find("gpus", shown.entry.id).has_value();
  return object(
      "schema"_m = "headroom.entry/1", "version"_m = version(), "id"_m = shown.entry.id, "file"_m = shown.entry.file,
      "values"_m = list(flat,
                        [](const auto& one) {
                          const auto& [key, value] = one;
                          return row("key"_m = key, "value"_m = value.typed,
                                     "source"_m = when(!value.source.empty(), value.source), "file"_m = value.file);
                        }),
      "partitions"_m = card ? profiles_value(catalog, catalog.device(shown.entry.id)) : Value{});
}

/// A key whose values differ; a side without it holds nullptr.
struct DifferingValue {
  std::string key;
  const Flat* a = nullptr;
  const Flat* b = nullptr;
};

std::vector<DifferingValue> differing(const FlatDocument& left, const FlatDocument& right) {
  std::set<std::string> keys;
  for (const FlatDocument* side : {&left, &right}) {
    for (const auto& entry : *side) {
      keys.insert(entry.first);
    }
  }
  const auto at = [](const FlatDocument& side, const std::string& key) {
    const auto found = side.find(key);
    return found == side.end() ? nullptr : &found->second;
  };
  std::vector<DifferingValue> all;
  for (const std::string& key : keys) {
    const Flat* const a = at(left, key);
    const Flat* const b = at(right, key);
    if (a == nullptr || b == nullptr || a->value != b->value) {
      all.push_back({key, a, b});
    }
  }
  return all;
}

/// Where two entries differ, as text or in a format of documents.
std::string diff(const Shown& a, const Shown& b, const DocumentFormat* format) {
  FlatDocument left;
  FlatDocument right;
  flatten(a.tree, "", left);
  flatten(b.tree, "", right);
  const std::vector<DifferingValue> all = differing(left, right);
  if (format != nullptr) {
    const auto typed = [](const Flat* side) { return side == nullptr ? Value{} : side->typed; };
    return format->print(object("schema"_m = "headroom.diff/1", "version"_m = version(), "a"_m = a.entry.id,
                                "b"_m = b.entry.id, "values"_m = list(all, [&](const DifferingValue& one) {
                                                      return row("key"_m = one.key, "a"_m = typed(one.a),
                                                                 "b"_m = typed(one.b));
                                                    })));
  }
  const auto text = [](const Flat* side) { return side == nullptr ? std::string{"-"} : side->value; };
  Table table{{"key", "<" + a.entry.id, "<" + b.entry.id}};
  for (const DifferingValue& one : all) {
    table.row({one.key, text(one.a), text(one.b)});
  }
  return table.text(0);
}

Outcome lint(const Catalog& catalog, const std::vector<std::string>& files, const DocumentFormat* format) {
  std::vector<LintFinding> findings;
  if (files.empty()) {
    findings = lint_catalog(catalog);
  }
  for (const std::string& path : files) {
    const ConfigSource source = read_file(path);
    const DataStore::Entry entry{std::filesystem::path{path}.stem().string(), path, source.text};
    Diagnostics diagnostics;
    const Device device = read_device(catalog.store().tree("gpus", entry), path, diagnostics);
    diagnostics.throw_if_any();
    const std::vector<LintFinding> more = lint_device(device);
    findings.insert(findings.end(), more.begin(), more.end());
  }
  Outcome outcome;
  std::size_t failures = 0;
  std::size_t excused = 0;
  for (const LintFinding& finding : findings) {
    if (finding.excused.empty()) {
      outcome.out += finding.place.text() + " [" + finding.check + "]\n";
      ++failures;
    } else {
      ++excused;
    }
  }
  outcome.out += std::to_string(lint_checks().size()) + " checks, " + std::to_string(failures) + " failures, " +
                 std::to_string(excused) + " excused with a reason\n";
  outcome.code = failures == 0 ? 0 : 1;
  if (format != nullptr) {
    outcome.out = format->print(lint_document(findings));
  }
  return outcome;
}

/// How many billions, such as "352.8 billion".
std::string billions(double parameters) {
  return format_number(parameters / 1e9, 4) + " billion";
}

/// What the network weighs, as comments of its preset: numbers to hold against the model's card.
std::string sizes_comment(const Architecture& a) {
  const ParameterCount count = count_parameters(a);
  std::string text = "# " + billions(count.total) + " parameters";
  if (count.active < count.total) {
    text += ", " + billions(count.active) + " of them active for a token";
  }
  text += ", in " + counted(a.layers, "layer");
  if (count.mtp > 0.0) {
    text += "; " + billions(count.mtp) + " more that predict further tokens";
  }
  if (!a.weights) {
    return text + "\n# weights of 16 bits: " + format_number(2.0 * count.total / 1e9) + " GB\n";
  }
  const WeightFormat& w = *a.weights;
  text += "\n# weights in " + (w.format ? std::string{name_of(*w.format)} : "a format that no engine here serves") +
          (w.method.empty() ? "" : " as " + w.method + " stores them");
  return text + (w.bits > 0.0 ? ", " + format_number(w.bits, 4) + " bits each with their scales" : "") + "\n";
}

/// Turns a config.json into a preset, with remarks on what is left blank.
Outcome imported(const std::string& path) {
  Diagnostics remarks;
  Outcome outcome;
  const Architecture architecture = load_hf_config(path, remarks);
  outcome.out = sizes_comment(architecture) + architecture_toml(architecture);
  for (const Diagnostic& remark : remarks.sorted()) {
    outcome.err += remark.warning() + "\n";
  }
  return outcome;
}

ConfigError wrong_action(const std::string& word) {
  return ConfigError{"catalog " + quoted(word) + " is none of list, show, diff, lint, import" +
                     suggestion(word, actions)};
}

/// The lists of `catalog list [KIND]`.
std::string listed(const std::vector<std::string>& words, const Catalog& catalog, const DocumentFormat* format) {
  std::span<const std::string_view> kinds{catalog_kinds};
  if (words.size() > 1) {
    const auto found = std::find(kinds.begin(), kinds.end(), words[1]);
    if (found == kinds.end()) {
      throw ConfigError{"catalog list " + quoted(words[1]) +
                        " is none of gpus, nodes, clusters, prices, models, networks, formats, architectures, "
                        "partitions" +
                        suggestion(words[1], kinds)};
    }
    kinds = {found, 1};
  }
  const ModelLibrary models{own_model_data().files()};
  const NetworkLibrary networks{own_model_data().files()};
  if (format != nullptr) {
    return format->print(catalog_document(kinds, catalog, models, networks));
  }
  std::string text;
  for (const std::string_view kind : kinds) {
    text += (text.empty() ? "" : "\n") + list_text(kind, catalog, models, networks);
  }
  return text;
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> words = arguments.many("");
  const Catalog catalog = own_catalog();
  const std::string action = words.empty() ? "list" : words.front();
  const auto* const found = std::find(actions.begin(), actions.end(), action);
  if (found == actions.end()) {
    throw wrong_action(action);
  }
  const auto asks = static_cast<std::size_t>(found - actions.begin());
  require_form(catalog_verb, asks, arguments);
  const DocumentFormat* const format = document_format(arguments);
  if (const std::size_t most = action == "list" ? 2 : action == "lint" ? 1 : 3; words.size() > most) {
    throw ConfigError{"unexpected argument " + quoted(words[most]) + ": 'catalog " + action + "' takes " +
                      (action == "list" ? "one kind" : "files, each with --file")};
  }
  if (action == "list") {
    return {listed(words, catalog, format), "", 0, format == nullptr};
  }
  if (action == "show") {
    if (words.size() != 2) {
      throw ConfigError{"catalog show takes one id, e.g. 'headroom catalog show h100-sxm-80gb'"};
    }
    const Shown shown = shown_entry(words[1], catalog);
    if (format != nullptr) {
      return {format->print(entry_document(shown, catalog)), "", 0};
    }
    const bool card = catalog.store().find("gpus", shown.entry.id).has_value();
    return {show(shown) + (card ? partitions_comment(catalog, catalog.device(shown.entry.id)) : std::string{}), "", 0};
  }
  if (action == "diff") {
    if (words.size() != 3) {
      throw ConfigError{"catalog diff takes two ids, e.g. 'headroom catalog diff h100-sxm-80gb h200-sxm-141gb'"};
    }
    return {diff(find_entry(words[1], catalog), find_entry(words[2], catalog), format), "", 0, format == nullptr};
  }
  if (action == "import") {
    if (words.size() != 2) {
      throw ConfigError{
          "catalog import takes one config.json of Hugging Face, e.g. 'headroom catalog import config.json'"};
    }
    if (is_onnx_name(words[1])) {
      throw ConfigError{quoted(words[1]) + " is an ONNX file, whose ops are a network: 'headroom import " + words[1] +
                        "'"};
    }
    refuse_overwrite(catalog_verb, arguments, words[1], "which is read");
    return imported(words[1]);
  }
  return lint(catalog, arguments.many("--file"), format);
}

constexpr std::string_view examples =
    "  headroom catalog list gpus\n"
    "  headroom catalog list prices --format json\n"
    "  headroom catalog show h100-sxm-80gb\n"
    "  headroom catalog show a100-sxm-80gb/1g.10gb\n"
    "  headroom catalog diff h100-sxm-80gb h200-sxm-141gb\n"
    "  headroom catalog lint\n"
    "  headroom catalog import ./Llama-3.1-8B/config.json > ~/.config/headroom/models/my-llama.toml\n";

std::vector<PositionalWord> words() {
  return {{"list", "gpus|nodes|clusters|prices|models|networks|formats|architectures|partitions"},
          {"show", "ID"},
          {"diff", "ID"},
          {"lint", ""},
          {"import", "config.json"}};
}

}  // namespace
}  // namespace catalog_parts

const Verb catalog_verb{"catalog",
                        "list, show, diff and lint hardware, prices and models; import a config.json",
                        "ACTION [ID...]",
                        3,
                        catalog_parts::options,
                        catalog_parts::examples,
                        catalog_parts::run,
                        catalog_parts::words,
                        catalog_parts::forms,
                        FileUse::none};

}  // namespace headroom::cli
