// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/classic/classic_numbers.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::classic {
namespace {

constexpr Range<double> shares{1e-6, 1.0};
constexpr Range<double> factors{0.0, 1e9};

Card read_card(ConfigTable& table) {
  Card card;
  card.id = table.text("id");
  card.units = table.number("units", {1.0, 1e5});
  card.clock = table.quantity<Hertz>("clock");
  card.warps = table.number("warps", {1.0, 1e3});
  card.bandwidth = table.quantity<BytesPerSecond>("bandwidth");
  card.fp32 = table.quantity<FlopsPerSecond>("fp32");
  card.tf32 = table.maybe_quantity<FlopsPerSecond>("tf32").value_or(card.fp32);
  card.fp16 = table.maybe_quantity<FlopsPerSecond>("fp16").value_or(card.fp32);
  card.memory = table.quantity<Bytes>("memory");
  card.power = table.quantity<Watts>("tdp");
  card.host = table.maybe_quantity<BytesPerSecond>("host").value_or(BytesPerSecond{12.0e9});
  card.source = table.text("source");
  card.early = table.maybe_boolean("early").value_or(false);
  table.finish();
  return card;
}

void read_trees(ConfigTable table, Numbers& read) {
  for (ConfigTable& each : table.tables("gpu")) {
    GpuTrees& one = read.gpu_trees.emplace_back();
    one.package = each.text("library");
    one.pace = static_cast<Pace>(each.choice("pace", pace_names));
    one.level = each.quantity<Seconds>("level");
    one.node = each.quantity<Seconds>("node", true);
    one.update = each.quantity<Seconds>("update", true);
    one.level_on_host = each.maybe_boolean("level_on_host").value_or(false);
    one.quantise = each.maybe_quantity<Seconds>("quantise").value_or(Seconds{});
    one.host_serial = each.maybe_quantity<Seconds>("host_serial").value_or(Seconds{});
    one.host_bytes = each.maybe_quantity<Bytes>("host_bytes").value_or(Bytes{});
    one.bytes_per_entry = each.number("bytes_per_entry", factors);
    one.width = each.number("width", {0.0, 10.0});
    one.host_bound = each.maybe_boolean("host_bound").value_or(false);
    each.finish();
  }
  for (ConfigTable& each : table.tables("cpu")) {
    CpuTrees& one = read.cpu_trees.emplace_back();
    one.package = each.text("library");
    one.update = each.quantity<Seconds>("update");
    one.level = each.quantity<Seconds>("level");
    one.serial = each.number("serial", shares);
    one.barrier = each.quantity<Seconds>("barrier", true);
    one.across = each.quantity<Seconds>("across", true);
    one.far = each.quantity<Seconds>("far", true);
    one.index = each.quantity<Bytes>("index");
    one.row = each.quantity<Bytes>("row");
    one.early = each.maybe_number("early", {1.0, 100.0}).value_or(1.0);
    one.bytes_per_entry = each.number("bytes_per_entry", factors);
    one.width = each.number("width", {0.0, 10.0});
    each.finish();
  }
  read.rows_per_split = table.number("rows_per_split", {1.0, 1e9});
  read.bytes_per_row = table.number("bytes_per_row", factors);
  table.finish();
}

void read_kmeans(ConfigTable table, Numbers::KMeans& read) {
  read.efficiency = table.number("efficiency", shares);
  read.early_efficiency = table.number("early_efficiency", shares);
  read.passes = table.number("passes", factors);
  read.host = table.quantity<BytesPerSecond>("host");
  read.centroid = table.quantity<Seconds>("centroid");
  read.cpu_efficiency = table.number("cpu_efficiency", shares);
  read.cpu_iteration = table.quantity<Seconds>("cpu_iteration");
  read.gpu_iteration = table.quantity<Seconds>("gpu_iteration");
  read.resident_iteration = table.quantity<Seconds>("resident_iteration");
  read.width = table.number("width", {0.0, 10.0});
  table.finish();
}

void read_cpu_search(ConfigTable table, Numbers::CpuSearch& read) {
  read.cores = table.number("cores", {1.0, 1e4});
  read.candidate = table.quantity<Seconds>("candidate");
  read.query = table.quantity<Seconds>("query");
  read.code = table.quantity<Seconds>("code");
  read.list = table.quantity<Seconds>("list");
  read.graph_query = table.quantity<Seconds>("graph_query");
  read.graph_step = table.quantity<Seconds>("graph_step");
  read.gpu_graph_query = table.quantity<Seconds>("gpu_graph_query");
  read.gpu_graph_step = table.quantity<Bytes>("gpu_graph_step");
  read.reads_per_s = table.number("reads_per_s", factors);
  read.reads = table.number("reads", factors);
  read.recall_power = table.number("recall_power", factors);
  read.miss_power = table.number("miss_power", factors);
  table.finish();
}

void read_search(ConfigTable table, Numbers& numbers) {
  Numbers::Search& read = numbers.search;
  read.efficiency = table.number("efficiency", shares);
  read.passes = table.number("passes", factors);
  read.select = table.quantity<Seconds>("select");
  read.coarse_efficiency = table.number("coarse_efficiency", shares);
  read.lookups = table.number("lookups", factors);
  read.scan = table.number("scan", shares);
  read.query = table.quantity<Seconds>("query");
  read.query_pq = table.quantity<Seconds>("query_pq");
  read.graph = table.number("graph", shares);
  read.fresh = table.number("fresh", shares);
  read.merge = table.quantity<Seconds>("merge");
  read.launch = table.quantity<Seconds>("launch");
  read.width = table.number("width", {0.0, 10.0});
  read.width_gpu_graph = table.number("width_gpu_graph", {0.0, 10.0});
  read_cpu_search(table.table("cpu"), numbers.cpu_search);
  table.finish();
}

void read_recommender(ConfigTable table, Numbers::Recommender& read) {
  read.efficiency = table.number("efficiency", shares);
  read.gather = table.quantity<Seconds>("gather");
  read.table_passes = table.number("table_passes", factors);
  read.exchange = table.number("exchange", shares);
  read.step = table.quantity<Seconds>("step");
  ConfigTable copies = table.table("optimizer_copies");
  read.sgd = copies.number("sgd", factors);
  read.adagrad = copies.number("adagrad", factors);
  read.adam = copies.number("adam", factors);
  copies.finish();
  read.width = table.number("width", {0.0, 10.0});
  read.serve_request = table.quantity<Seconds>("serve_request");
  read.serve_card = table.quantity<Seconds>("serve_card");
  read.serve_efficiency = table.number("serve_efficiency", shares);
  read.serve_key = table.quantity<Seconds>("serve_key");
  read.serve_tail = table.number("serve_tail", {1.0, 10.0});
  read.serve_width = table.number("serve_width", {0.0, 10.0});
  read.cpu_request = table.quantity<Seconds>("cpu_request");
  read.cpu_efficiency = table.number("cpu_efficiency", shares);
  read.cpu_tail = table.number("cpu_tail", {1.0, 10.0});
  read.host_rows = table.number("host_rows", shares);
  read.width_host = table.number("width_host", {0.0, 10.0});
  table.finish();
}

Numbers read_numbers(const ConfigValue& document, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  Numbers read;
  require_schema(root);
  static_cast<void>(root.text("id"));
  static_cast<void>(root.text("source"));
  for (ConfigTable& each : root.tables("card")) {
    read.cards.push_back(read_card(each));
  }
  read_trees(root.table("trees"), read);
  read_kmeans(root.table("kmeans"), read.kmeans);
  read_search(root.table("search"), read);
  read_recommender(root.table("recommender"), read.recommender);
  root.finish();
  return read;
}

template <class Each>
const Each* library_in(const std::vector<Each>& all, std::string_view name) noexcept {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Each& each) { return each.package == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

double Card::by_warps() const noexcept {
  return units * clock.raw() / 1e9 * warps / 6000.0;
}

double Card::by_units() const noexcept {
  return units * clock.raw() / 1e9 / 100.0;
}

double Card::by_bandwidth() const noexcept {
  return bandwidth.raw() / 1e12;
}

const GpuTrees* Numbers::gpu_library(std::string_view name) const noexcept {
  return library_in(gpu_trees, name);
}

const CpuTrees* Numbers::cpu_library(std::string_view name) const noexcept {
  return library_in(cpu_trees, name);
}

const Card* Numbers::card(std::string_view id) const noexcept {
  const auto found = std::find_if(cards.begin(), cards.end(), [&](const Card& each) { return each.id == id; });
  return found == cards.end() ? nullptr : &*found;
}

const Numbers& numbers(const ModelData& data) {
  return step_numbers(data, "classic", read_numbers);
}

Card card_of(const Device& device) {
  std::vector<std::string> lacking;
  const auto need = [&](const auto& stated, const char* what) {
    if (!stated) {
      lacking.emplace_back(what);
    }
    return stated ? stated->value : typename std::decay_t<decltype(stated)>::value_type{}.value;
  };
  const auto peak = [&](Rate rate) { return device.peak[static_cast<std::size_t>(rate)]; };
  Card card;
  card.id = device.id;
  card.units = real(need(device.compute.units, "compute.units"));
  card.clock = need(device.compute.clock, "compute.clock");
  card.warps = device.memory.max_warps_per_unit ? real(device.memory.max_warps_per_unit->value) : 64.0;
  card.bandwidth = need(device.memory.bandwidth, "memory.bandwidth");
  card.fp32 = need(peak(Rate::fp32_vector), "peak.fp32_vector");
  card.tf32 = peak(Rate::tf32) ? peak(Rate::tf32)->value : card.fp32;
  card.fp16 = peak(Rate::fp16) ? peak(Rate::fp16)->value : card.tf32;
  card.power = need(device.power.tdp, "power.tdp");
  card.host = need(device.pcie.rate, "pcie.rate");
  card.link = device.scale_up.per_gpu ? device.scale_up.per_gpu->value : BytesPerSecond{};
  if (!lacking.empty()) {
    throw ConfigError{"the catalog does not state " + joined(lacking) + " of " + device.id +
                      "; take another GPU, or state it in a file gpus/" + device.id +
                      ".toml of your own (docs/catalog-format.md)"};
  }
  card.memory = device.capacity().value;
  return card;
}

Cores cores_of(const Cpu& cpu, double sockets, double cores, double threads) {
  constexpr double reference = 3.2e9 * 1.54;
  Cores at_work;
  at_work.id = cpu.id;
  at_work.sockets = sockets;
  at_work.cores = std::min(cores, sockets * real(cpu.cores.value));
  at_work.threads = std::max(at_work.cores, threads);
  at_work.speed = cpu.clock.value.raw() * cpu.per_clock.value / reference;
  at_work.alone = cpu.boost.value_or(cpu.clock).value.raw() * cpu.per_clock.value / reference;
  at_work.held = cpu.base.value_or(cpu.clock).value.raw() * cpu.per_clock.value / reference;
  at_work.cache_part = 1.0 / real(cpu.cores.value) * cpu.last_cache.value;
  at_work.bandwidth_part = 1.0 / real(cpu.cores.value) * cpu.bandwidth.value;
  const double share = at_work.cores / real(cpu.cores.value);
  at_work.peak = share * cpu.peak();
  at_work.bandwidth = std::min(sockets, std::max(1.0, share)) * cpu.bandwidth.value;
  at_work.cache = sockets * cpu.last_cache.value;
  at_work.power = share * cpu.tdp.value;
  if (cpu.price) {
    at_work.price = share * cpu.price->value;
  }
  return at_work;
}

}  // namespace headroom::classic
