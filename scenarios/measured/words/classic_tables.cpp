// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/classic_tables.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

constexpr Range<double> classic_counts{1e-6, 1e15};

void read_machines(ConfigTable& root, ClassicTables& read) {
  for (ConfigTable& each : root.tables("gpu")) {
    read.gpus.push_back({each.texts("names"), each.text("card"), each.maybe_quantity<BytesPerSecond>("link")});
    each.finish();
  }
  for (ConfigTable& each : root.tables("host")) {
    ClassicHost& one = read.hosts.emplace_back();
    one.names = each.texts("names");
    one.cpu = each.text("cpu");
    one.sockets = each.maybe_number("sockets", classic_counts).value_or(1.0);
    one.cores = each.number("cores", classic_counts);
    one.early = each.maybe_boolean("early").value_or(false);
    one.efficiency = each.maybe_number("efficiency", {1e-3, 1.0}).value_or(0.0);
    each.finish();
  }
  for (ConfigTable& each : root.tables("gpu_host")) {
    read.card_hosts.push_back({each.texts("names"), each.text("cpu"), each.number("cores", classic_counts)});
    each.finish();
  }
}

void read_data(ConfigTable& root, ClassicTables& read) {
  for (ConfigTable& each : root.tables("early_trees")) {
    read.early.push_back({each.text("library"), each.quantity<Seconds>("round"), each.quantity<Seconds>("feature"),
                          each.quantity<Seconds>("update")});
    each.finish();
  }
  ConfigTable leafwise = root.table("leafwise");
  read.leaf_width = leafwise.number("width", {0.0, 10.0});
  for (ConfigTable& each : leafwise.tables("law")) {
    constexpr std::array<std::string_view, 2> machines{"gpu", "cpu"};
    read.leaf_trees.push_back({each.text("library"), each.choice("machine", machines) == 1,
                               each.quantity<Seconds>("feature"), each.quantity<Seconds>("update")});
    each.finish();
  }
  for (ConfigTable& each : leafwise.tables("set")) {
    read.leaf_sets.push_back(
        {each.text("name"), each.number("trees", classic_counts), each.number("leaves", {2.0, 1e6})});
    each.finish();
  }
  leafwise.finish();
  for (ConfigTable& each : root.tables("trees")) {
    read.trees.push_back({each.text("name"), each.number("rows", classic_counts),
                          each.number("features", classic_counts),
                          each.maybe_number("outputs", classic_counts).value_or(1.0),
                          each.maybe_number("dense", {1e-3, 1.0}).value_or(1.0)});
    each.finish();
  }
  for (ConfigTable& each : root.tables("vectors")) {
    read.vectors.push_back(
        {each.text("name"), each.number("vectors", classic_counts), each.number("dims", classic_counts)});
    each.finish();
  }
  for (ConfigTable& each : root.tables("system")) {
    SearchSystem& one = read.systems.emplace_back();
    one.name = each.text("name");
    one.price = each.quantity<Dollars>("price");
    one.watts = each.quantity<Watts>("watts");
    ConfigTable rates = each.table("rates");
    for (const std::string_view name : rates.keys()) {
      one.rates[std::string{name}] = rates.number(name, classic_counts);
    }
    rates.finish();
    each.finish();
  }
}

ClassicTables read_classic_rows(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  ClassicTables read;
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  read_machines(root, read);
  read_data(root, read);
  ConfigTable images = root.table("images");
  read.image_layer = images.quantity<Seconds>("layer");
  read.image_width = images.number("width", {0.0, 10.0});
  for (ConfigTable& each : images.tables("network")) {
    read.images.push_back({each.text("name"), each.number("layers", classic_counts),
                           each.number("multiplications", classic_counts), each.number("pixels", classic_counts)});
    each.finish();
  }
  images.finish();
  root.finish();
  return read;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

double leading_count(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) {
    ++digits;
  }
  if (digits == 0 || digits > 3 || digits + 1 >= text.size() || text[digits] != 'x' || text[digits + 1] != ' ') {
    return 1.0;
  }
  const double count = whole_real(text.substr(0, digits)).value_or(1.0);
  text.remove_prefix(digits + 2);
  return count;
}

const ClassicTables& classic_tables(const ModelData& data) {
  return step_numbers(data, "classic-rows", read_classic_rows);
}

std::optional<double> number_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + word.size());
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) {
    ++end;
  }
  const std::optional<double> number = whole_real(text.substr(0, end));
  if (!number || end == text.size()) {
    return number;
  }
  switch (text[end]) {
    case 'k':
    case 'K': return *number * 1e3;
    case 'M': return *number * 1e6;
    case 'B': return *number * 1e9;
    default: return number;
  }
}

std::optional<ClassicCards> classic_cards(const Catalog& catalog,
                                          const ModelData& data,
                                          std::string_view hardware,
                                          std::string& why) {
  std::string_view text = hardware;
  ClassicCards found;
  found.cards = leading_count(text);
  const ClassicGpu* const named = longest_name(classic_tables(data).gpus, text).entry;
  if (named == nullptr) {
    why = "hardware '" + std::string{hardware} + "' names no GPU that classic-rows.toml knows";
    return std::nullopt;
  }
  if (const classic::Card* const own = classic::numbers(data).card(named->card)) {
    found.card = *own;
  } else {
    try {
      found.card = classic::card_of(catalog.device(named->card));
    } catch (const ConfigError& error) {
      why = error.what();
      return std::nullopt;
    }
  }
  if (named->link) {
    found.card.link = *named->link;
  }
  return found;
}

std::optional<classic::Cores> classic_cores(const Catalog& catalog,
                                            const ModelData& data,
                                            std::string_view hardware,
                                            std::string_view stated,
                                            std::string& why) {
  const ClassicHost* const host = longest_name(classic_tables(data).hosts, hardware).entry;
  if (host == nullptr) {
    why = "hardware '" + std::string{hardware} + "' names no processor that classic-rows.toml knows";
    return std::nullopt;
  }
  try {
    const Cpu cpu = find_cpu(catalog, host->cpu);
    const double of_socket = real(cpu.cores.value);
    double threads = number_behind(stated, "").value_or(host->cores);
    double sockets = host->sockets;
    double cores = threads;
    const auto has = [&](std::string_view word) { return stated.find(word) != std::string_view::npos; };
    if (has("NUMA") || has("ALL") || threads > 2.0 * of_socket) {
      sockets = 2.0;
    }
    // A number beyond the cores is one of hyper-threads, two a core.
    if (has("HT") || cores > sockets * of_socket) {
      cores = threads / 2.0;
    }
    return classic::cores_of(cpu, sockets, cores, threads);
  } catch (const ConfigError& error) {
    why = error.what();
    return std::nullopt;
  }
}

std::optional<classic::Cores> classic_host(const Catalog& catalog,
                                           const ModelData& data,
                                           std::string_view hardware,
                                           std::string& why) {
  std::string_view text = hardware;
  static_cast<void>(leading_count(text));
  const CardHost* const host = longest_name(classic_tables(data).card_hosts, text).entry;
  if (host == nullptr) {
    why = "the host beside '" + std::string{hardware} + "' is not known to classic-rows.toml";
    return std::nullopt;
  }
  try {
    return classic::cores_of(find_cpu(catalog, host->cpu), 1.0, host->cores, 2.0 * host->cores);
  } catch (const ConfigError& error) {
    why = error.what();
    return std::nullopt;
  }
}

RowPrediction answered(double predicted, double width, std::string assumed) {
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.predicted = predicted;
  answer.low = predicted / (1.0 + width);
  answer.high = predicted * (1.0 + width);
  answer.assumed = std::move(assumed);
  return answer;
}

}  // namespace headroom
