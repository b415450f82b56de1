// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/classic/classic_question.hpp>
#include <headroom/scenarios/classic/media_reader.hpp>
#include <headroom/scenarios/keys/classic_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::classic {
namespace {

template <const KeyTable& rows>
using Of = KeyedTable<rows, Kinds::classic>;

class ClassicReader {
 public:
  ClassicReader(const ConfigValue& root, std::string file, const Sources& sources) : root_{root, "", diagnostics_} {
    q_.sources = &sources;
    q_.file = std::move(file);
  }

  Question run() {
    require_schema(root_);
    refuse_base(root_);
    q_.name = root_.maybe_text("name").value_or(shown(q_.file));
    static_cast<void>(root_.maybe_choice("kind", scenario_kind_names));
    read_card();
    read_host();
    read_algorithm();
    read_units();
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(q_);
  }

 private:
  void read_host() {
    auto table = Of<keys::classic_host>{root_.has("host") ? root_.table("host") : blank_table("host")};
    const std::string id = table.get<"cpu">();
    const double sockets = real(table.get<"sockets">());
    if (const auto cpu = look_up(table, "cpu", id, [&](const std::string& spelling) -> Cpu {
          return find_cpu(q_.sources->catalog, spelling);
        })) {
      const double all = sockets * real(cpu->cores.value);
      const auto stated = table.stated<"cores">();
      const double cores = stated ? real(*stated) : all;
      if (cores > all) {
        table.problem("cores", format_count(cores) + " cores are more than the " + format_count(all) + " of " +
                                   counted(table.get<"sockets">(), "socket") + " of " + cpu->id +
                                   "; state at most as many, or more sockets");
      }
      q_.host = cores_of(*cpu, sockets, cores, cores);
      if (!table.has("cpu")) {
        q_.assumptions.push_back("host.cpu = " + cpu->id);
      }
    }
    if (const auto price = table.stated<"price">()) {
      q_.host.price = *price;
    }
    q_.host_memory = table.stated<"memory">();
    q_.nvme = table.stated<"nvme">();
    q_.network = table.get<"network">();
    table.finish();
  }

  void read_card() {
    HardwareChoice hardware = read_hardware(root_, *q_.sources, q_.assumptions, true);
    q_.cards = std::max(1.0, real(hardware.gpus));
    q_.cards_open = hardware.gpus == 0;
    q_.money = read_money(root_, q_.sources->catalog, hardware.priced(power_form(q_.sources->data), false));
    const IdleMoney idle{.offers = "answers of kind classic hold no offers against each other",
                         .bytes = "answers of kind classic pay for machines alone",
                         .variants = "it asks for variants of a training plan"};
    tell_idle_money(root_, idle, q_.assumptions);
    const ConfigValue* const machines = root_.value("hardware");
    const auto no_effect = [&](std::string_view key) {
      if (machines != nullptr && machines->find(key) != nullptr) {
        q_.assumptions.push_back("hardware." + std::string{key} +
                                 " has no effect: GPUs exchange over the links of their SKU");
      }
    };
    no_effect("node");
    no_effect("cluster");
    if (hardware.device.id.empty()) {
      return;
    }
    try {
      q_.card = card_of(hardware.device);
    } catch (const ConfigError& error) {
      diagnostics_.add(error);
      return;
    }
    q_.card.power = hardware.power_cap.value_or(q_.card.power);
  }

  [[nodiscard]] ConfigTable blank_table(std::string_view name) {
    static const ConfigValue nothing;
    return ConfigTable{nothing, std::string{name}, diagnostics_};
  }

  void read_algorithm() {
    std::vector<std::string> stated;
    for (const std::string_view name : algorithm_names) {
      if (root_.has(name)) {
        stated.emplace_back(name);
      }
    }
    if (stated.size() != 1) {
      const std::string all = joined(std::vector<std::string>{algorithm_names.begin(), algorithm_names.end()});
      root_.problem(stated.empty() ? "kind" : stated[1],
                    stated.empty() ? "no algorithm is stated; add one of the tables " + all + ", such as [trees]"
                                   : "several algorithms are stated (" + joined(stated) +
                                         "); a question is of one, so keep one table");
    }
    if (root_.has("trees")) q_.algorithm = read_trees();
    if (root_.has("kmeans")) q_.algorithm = read_kmeans();
    if (root_.has("vectors")) q_.algorithm = read_vectors();
    if (root_.has("selection")) q_.algorithm = read_selection();
    if (root_.has("grouping")) q_.algorithm = read_grouping();
    if (root_.has("recommender")) q_.algorithm = read_recommender();
    const MediaBeside beside{*q_.sources, q_.card, q_.cards, q_.cards_open};
    if (root_.has("video")) q_.algorithm = read_video(root_, beside);
    if (root_.has("simulator")) q_.algorithm = read_simulator(root_, beside);
    if (root_.has("control")) q_.algorithm = read_policy(root_, beside);
  }

  TreesAsked read_trees() {
    auto table = Of<keys::trees>::of(root_);
    TreesAsked asked;
    asked.package = tree_library_names[table.get<"library">()];
    asked.task.rows = table.get<"rows">();
    asked.task.features = table.get<"features">();
    asked.task.entries = std::max(1.0, asked.task.features * table.get<"density">());
    asked.task.bins = real(table.get<"bins">());
    asked.task.rounds = real(table.get<"rounds">());
    asked.task.depth = real(table.get<"depth">());
    asked.task.outputs = real(table.get<"classes">());
    if (asked.task.bins > asked.task.rows) {
      table.problem("bins", format_count(asked.task.bins) + " bins are more than the " + format_count(asked.task.rows) +
                                " rows: each row would have a bin of its own; state at "
                                "most as many bins as rows");
    }
    table.finish();
    return asked;
  }

  KMeansAsked read_kmeans() {
    auto table = Of<keys::kmeans>::of(root_);
    KMeansAsked asked;
    asked.task = {table.get<"points">(), table.get<"dims">(), table.get<"clusters">(), real(table.get<"iterations">()),
                  table.get<"half">()};
    asked.resident = table.get<"resident">();
    if (asked.task.clusters > asked.task.points) {
      table.problem("clusters", format_count(asked.task.clusters) + " clusters of " + format_count(asked.task.points) +
                                    " points leave some without a point; state at most as many clusters as points");
    }
    table.finish();
    return asked;
  }

  VectorsAsked read_vectors() {
    auto table = Of<keys::vectors>::of(root_);
    VectorsAsked asked;
    SearchTask& task = asked.task;
    task.index = table.get<"index", IndexKind>();
    task.vectors = table.get<"vectors">();
    task.dims = table.get<"dims">();
    task.element_bytes = table.get<"element_bytes">();
    task.batch = table.get<"batch">();
    task.k = real(table.get<"k">());
    const bool inverted = task.index == IndexKind::ivf_flat || task.index == IndexKind::ivf_pq;
    task.lists = table.stated<"lists">().value_or(inverted ? std::ceil(4.0 * std::sqrt(task.vectors)) : 1.0);
    task.probes = table.stated<"probes">().value_or(std::min(32.0, task.lists));
    task.code = table.stated<"code">().value_or(task.index == IndexKind::ivf_pq ? std::ceil(task.dims / 2.0) : 0.0);
    task.degree = real(table.get<"degree">());
    task.width = real(table.get<"width">());
    task.passing = table.get<"passing">();
    task.ids = !table.get<"ids_on_host">();
    if (const auto shards = table.stated<"shards">()) {
      asked.shards = real(*shards);
    }
    asked.recall = table.stated<"recall">();
    asked.wanted_recall = table.stated<"wanted_recall">();
    asked.recall_power = table.get<"recall_power">();
    asked.rate = table.stated<"rate">();
    refuse_index(table, asked, inverted);
    table.finish();
    return asked;
  }

  void refuse_index(Of<keys::vectors>& table, const VectorsAsked& asked, bool inverted) {
    const SearchTask& task = asked.task;
    if (inverted && task.probes > task.lists) {
      table.problem("probes", format_count(task.probes) + " probes are more than the " + format_count(task.lists) +
                                  " lists (nprobe above nlist): state at most as many, which search every vector, or "
                                  "more lists");
    }
    if (inverted && task.lists > task.vectors) {
      table.problem("lists", format_count(task.lists) + " lists of " + format_count(task.vectors) +
                                 " vectors leave some empty; 4 times the root of the vectors is usual, " +
                                 format_count(std::ceil(4.0 * std::sqrt(task.vectors))));
    }
    if (task.code > task.dims * task.element_bytes) {
      table.problem("code", "a code of " + format_count(task.code) + " B is longer than its vector of " +
                                format(Bytes{task.dims * task.element_bytes}) +
                                ", which it should compress; state a shorter code, or index = \"ivf-flat\"");
    }
    if (task.k > task.vectors) {
      table.problem("k",
                    "more nearest vectors are asked for than there are; state at most " + format_count(task.vectors));
    }
    if (asked.wanted_recall && !asked.recall) {
      table.problem("wanted_recall",
                    "a recall to reach needs one that was measured: state 'recall' with its 'probes' or 'width'");
    }
  }

  SelectionAsked read_selection() {
    auto table = Of<keys::selection>::of(root_);
    SelectionAsked asked;
    asked.task.items = table.get<"items">();
    asked.task.k = real(table.get<"k">());
    asked.task.item_bytes = table.get<"item_bytes">();
    if (asked.task.k > asked.task.items) {
      table.problem("k", "more items are asked for than stream by; state at most " + format_count(asked.task.items));
    }
    table.finish();
    return asked;
  }

  GroupingAsked read_grouping() {
    auto table = Of<keys::grouping>::of(root_);
    GroupingAsked asked;
    asked.task = {table.get<"rows">(), table.get<"keys">(), table.get<"workers">(), table.get<"row_bytes">(),
                  table.get<"partial">()};
    if (asked.task.keys > asked.task.rows) {
      table.problem("keys", format_count(asked.task.keys) + " keys are more than the " + format_count(asked.task.rows) +
                                " rows, of which each has one; state at most as many");
    }
    table.finish();
    return asked;
  }

  RecommenderAsked read_recommender() {
    auto table = Of<keys::recommender>::of(root_);
    RecommenderAsked asked;
    asked.task.crossing = table.get<"model", Crossing>();
    asked.serves = table.get<"mode">() == 1;
    asked.task.parameters = table.get<"parameters">();
    asked.task.tables = table.get<"tables">();
    asked.task.lookups = table.stated<"lookups">().value_or(asked.task.tables);
    asked.task.dims = real(table.get<"dims">());
    asked.task.row_bytes = table.get<"row_bytes">();
    asked.batch = table.get<"batch">();
    asked.task.half = table.get<"half">();
    asked.optimizer = table.get<"optimizer", Optimizer>();
    asked.popularity = table.get<"popularity">();
    // The last of the bottom layers meets the rows and has their width.
    asked.task.bottom.back() = asked.task.dims;
    if (!q_.card.id.empty()) {
      refuse_tables(table, asked);
    }
    table.finish();
    return asked;
  }

  void refuse_tables(Of<keys::recommender>& table, const RecommenderAsked& asked) {
    const Bytes tables = table_bytes(asked, numbers(q_.sources->data).recommender);
    const Bytes cards = q_.cards * usable_memory * q_.card.memory;
    const Bytes room = cards + q_.host_memory.value_or(Bytes{}) + q_.nvme.value_or(Bytes{});
    // Without other tiers the answer says how many GPUs hold them; with them nothing further is there to take.
    if (tables > room && (q_.host_memory || q_.nvme)) {
      table.problem("parameters", "tables of " + format(tables) + " exceed all tiers together: " + format(cards) +
                                      " on GPUs, " + format(q_.host_memory.value_or(Bytes{})) + " of the host, " +
                                      format(q_.nvme.value_or(Bytes{})) + " of NVMe; take " +
                                      format_count(std::ceil(tables / (usable_memory * q_.card.memory))) +
                                      " GPUs, state more host.memory or host.nvme, or narrower rows");
    }
  }

  void read_units() {
    auto table = Of<keys::units>::maybe(root_);
    if (!table) {
      return;
    }
    UnitsAsked asked;
    asked.rate = table->get<"rate">();
    asked.unit_rate = table->stated<"unit_rate">();
    asked.price = table->stated<"price">();
    asked.energy = table->stated<"energy">();
    asked.years = table->get<"years">();
    asked.electricity = table->get<"electricity">();
    table->finish();
    q_.units = asked;
  }

  Diagnostics diagnostics_;
  ConfigTable root_;
  Question q_;
};

}  // namespace

Bytes table_bytes(const RecommenderAsked& asked, const Numbers::Recommender& law) noexcept {
  const double copies = asked.serves                            ? 1.0
                        : asked.optimizer == Optimizer::adam    ? law.adam
                        : asked.optimizer == Optimizer::adagrad ? law.adagrad
                                                                : law.sgd;
  return Bytes{asked.task.parameters * asked.task.row_bytes * copies};
}

Question read_question(const ConfigValue& root, const std::string& file, const Sources& sources) {
  return ClassicReader{root, file, sources}.run();
}

}  // namespace headroom::classic
