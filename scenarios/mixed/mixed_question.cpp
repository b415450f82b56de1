// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/keys/foreign_keys.hpp>
#include <headroom/scenarios/keys/hardware_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/mixed/mixed_question.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {
namespace {

/// What is of one SKU, or of one pool.
constexpr std::array foreign_to_mixes{
    ForeignKey{"hardware", "gpu", "each [[hardware.pool]] states its own 'gpu'; leave that of [hardware] out"},
    ForeignKey{"hardware", "gpus", "each [[hardware.pool]] states its own 'gpus'; leave that of [hardware] out"},
    ForeignKey{"hardware", "node", "each [[hardware.pool]] states its own 'node'; leave that of [hardware] out"},
    ForeignKey{"hardware", "cluster",
               "a cluster is of one node type, and pools of unlike SKUs are of several; leave 'cluster' out"},
    ForeignKey{"hardware", "host_memory", "hosts of unlike pools differ; leave 'host_memory' out"},
    ForeignKey{"hardware", "host_link", "hosts of unlike pools differ; leave 'host_link' out"},
    ForeignKey{"hardware", "power_cap", "one cap is not priced on SKUs of unlike limits; leave 'power_cap' out"},
    ForeignKey{"search", "", "a search compiles one SKU at a time; search each pool by itself, and state its strategy"},
    ForeignKey{"objective", "", "[objective] ranks what a search finds, and pools of unlike SKUs are not searched"},
    ForeignKey{"goodput", "", "published rates of failures are of one SKU; ask the long run of each pool by itself"},
    ForeignKey{"sweep", "", "a sweep is priced on one SKU; ask it of each pool by itself"},
    ForeignKey{"data", "", "what hosts of unlike pools load is not priced; ask [data] of each pool by itself"},
    ForeignKey{"energy", "", "energy is told of one SKU; ask it of each pool by itself"},
    ForeignKey{"training", "elastic", "other numbers of GPUs are priced on one SKU; leave 'elastic' out"},
    ForeignKey{"training", "base_batch", "advice on the batch does not hang on the SKUs; ask it of one pool"},
    ForeignKey{"training", "offload", "hosts of unlike pools hold and move what is offloaded unlike; leave it out"},
    ForeignKey{"money", "against", "other ways to pay are of one SKU; ask them of each pool by itself"},
    ForeignKey{"money", "owned", "hardware of one's own is of one SKU; state the 'price' of each pool"},
    ForeignKey{"money", "storage", "a mix tells the dollars of its GPUs alone; leave [money.storage] out"},
    ForeignKey{"money", "egress", "a mix tells the dollars of its GPUs alone; leave [money.egress] out"},
    ForeignKey{"money", "api", "an API is held against a fleet of one SKU; leave [money.api] out"},
    ForeignKey{"money", "what_if", "cheaper variants are of one SKU; ask them of each pool by itself"},
    ForeignKey{"fleet", "replicas", "the pools' GPUs say how many replicas there are; leave 'replicas' out"},
    ForeignKey{"fleet", "spare",
               "a spare replica of one SKU does not stand in for every other; leave 'spare' out, and ask again without "
               "the GPUs that may be down"},
    ForeignKey{
        "fleet", "prefill",
        "pools that prefill for pools of another SKU are not simulated; ask a fleet of one SKU for [fleet.prefill]"},
    ForeignKey{"fleet", "failures", "replicas of unlike SKUs fail unlike; ask [fleet.failures] of each pool by itself"},
    ForeignKey{"fleet", "autoscale",
               "which SKU comes and goes first is a rule that nobody stated; ask [fleet.autoscale] of each pool by "
               "itself"},
    ForeignKey{"traffic", "over_time",
               "pools stay as they are; state the highest rate of the day instead of [traffic.over_time]"},
};

struct StatedPool {
  std::string gpu;
  std::int64_t gpus = 1;
  const ConfigValue* place = nullptr;  ///< the pool's table
};

ConfigValue& part(ConfigValue& root, std::string_view name) {
  if (ConfigValue* const found = root.find(name)) {
    return *found;
  }
  ConfigValue fresh;
  fresh.file = root.file;
  return root.entries.emplace_back(std::string{name}, std::move(fresh)).value;
}

void put(ConfigValue& table, std::string_view key, ConfigValue value) {
  erase_key(table, key);
  table.entries.emplace_back(std::string{key}, std::move(value));
}

class MixedReader {
 public:
  MixedReader(const ConfigValue& document, std::string file, const Sources& sources)
      : document_{document}, file_{std::move(file)}, sources_{sources} {}

  MixedQuestion run() {
    refuse_kind();
    refuse_foreign(document_, foreign_to_mixes, root_);
    read_pools();
    read_routing();
    diagnostics_.throw_if_any();
    asked_.gpus = 0;
    for (const StatedPool& pool : pools_) {
      asked_.gpus += pool.gpus;
    }
    for (const StatedPool& pool : pools_) {
      read_alone(pool);
    }
    diagnostics_.throw_if_any();
    asked_.name = asked_.pools.front().alone.name;
    refuse_groups();
    diagnostics_.throw_if_any();
    gather_assumptions();
    return std::move(asked_);
  }

 private:
  void problem(const StatedPool& pool, std::string_view key, std::string message) {
    ConfigTable{*pool.place, "hardware.pool", diagnostics_}.problem(key, std::move(message));
  }

  void refuse_kind() {
    const ConfigValue* const kind = document_.find("kind");
    const std::string word = kind != nullptr ? kind->text : std::string{};
    asked_.serves = word == "serve";
    if (word != "train" && word != "serve") {
      root_.problem("kind",
                    "[[hardware.pool]] is of kind 'train' or 'serve'; calls of a network and jobs are asked of "
                    "each SKU by itself");
    }
    if (asked_.serves && document_.find("traffic") == nullptr) {
      root_.missing(
          "traffic",
          ": a fixed load says nothing of which replica takes a request; state [traffic] rate and lengths, or "
          "ask each pool by itself for its serving.concurrency");
    }
  }

  void read_pools() {
    ConfigTable hardware = root_.table("hardware");
    for (ConfigTable& table : hardware.tables("pool")) {
      KeyedTable<keys::hardware_pool, Kinds::train | Kinds::serve> pool{std::move(table)};
      StatedPool stated;
      stated.gpu = pool.get<"gpu">();
      stated.gpus = pool.get<"gpus">();
      for (const char* const later : {"node", "tp", "price"}) {  // read where they are put
        static_cast<void>(pool.value(later));
      }
      tp_stated_ += pool.has("tp") ? 1 : 0;
      price_stated_ += pool.has("price") ? 1 : 0;
      if (!asked_.serves && pool.has("tp")) {
        pool.problem("tp", "ranks of data parallelism hold the same shards; state strategy.tp for all pools");
      }
      pool.finish();
      pools_.push_back(std::move(stated));
    }
    const ConfigValue* const listed =
        states(document_, "hardware", "pool") ? document_.find("hardware")->find("pool") : nullptr;
    for (std::size_t i = 0; listed != nullptr && i < pools_.size(); ++i) {
      pools_[i].place = &listed->items[i];
    }
    refuse_unused("strategy", "tp", tp_stated_);
    refuse_unused("money", "price", price_stated_);
    if (pools_.size() < 2 || pools_.size() > most_pools) {
      hardware.problem("pool", "[[hardware.pool]] lists " + counted(static_cast<std::int64_t>(pools_.size()), "pool") +
                                   "; a mix has 2 to " + std::to_string(most_pools) +
                                   "; one SKU is stated as hardware.gpu and hardware.gpus");
    }
  }

  /// A key that every pool states for itself.
  void refuse_unused(std::string_view table, std::string_view key, std::size_t stated) {
    if (stated > 0 && stated == pools_.size() && states(document_, table, key)) {
      ConfigTable{*document_.find(table), std::string{table}, diagnostics_}.problem(
          key, "every [[hardware.pool]] states its own " + quoted(key) + "; leave this one out");
    }
  }

  void read_routing() {
    const ConfigValue* const fleet = document_.find("fleet");
    const ConfigValue* const routing = is_table(fleet) ? fleet->find("routing") : nullptr;
    if (routing == nullptr) {
      return;
    }
    if (routing->text == "round-robin" || routing->text == "random") {
      asked_.routing = MixedRouting::equal;
    } else if (std::find(request_routing_names.begin(), request_routing_names.end(), routing->text) !=
               request_routing_names.end()) {
      ConfigTable{*fleet, "fleet", diagnostics_}.problem(
          "routing", "routing " + quoted(routing->text) +
                         " over unlike replicas is not simulated; 'round-robin' splits equally, and a blank one in "
                         "proportion to what each replica answers");
    }
  }

  /// The document as one SKU's.
  [[nodiscard]] ConfigValue of_pool(const StatedPool& pool) const {
    ConfigValue root = without_foreign(document_, foreign_to_mixes);
    ConfigValue& hardware = part(root, "hardware");
    erase_key(hardware, "pool");
    for (const char* const key : {"gpu", "node"}) {
      if (const ConfigValue* const value = pool.place->find(key)) {
        put(hardware, key, *value);
      }
    }
    put(hardware, "gpus", count_value(asked_.serves ? pool.gpus : asked_.gpus));
    if (const ConfigValue* const price = pool.place->find("price")) {
      put(part(root, "money"), "price", *price);
    }
    if (asked_.serves) {
      if (const ConfigValue* const tp = pool.place->find("tp")) {
        put(part(root, "strategy"), "tp", *tp);
      }
      put(part(root, "fleet"), "routing", word_value("round-robin"));
    }
    return root;
  }

  void read_alone(const StatedPool& pool) {
    try {
      asked_.pools.push_back({pool.gpus, read_scenario(of_pool(pool), file_, sources_)});
    } catch (const ConfigError& error) {
      diagnostics_.add(error);
    }
  }

  /// Those of all pools once, the others with their pool.
  void gather_assumptions() {
    const auto has = [](const MixedPool& pool, const std::string& text) {
      const std::vector<std::string>& all = pool.alone.assumptions;
      return std::find(all.begin(), all.end(), text) != all.end();
    };
    for (std::size_t i = 0; i < asked_.pools.size(); ++i) {
      for (const std::string& text : asked_.pools[i].alone.assumptions) {
        const bool shared = std::all_of(asked_.pools.begin(), asked_.pools.end(),
                                        [&](const MixedPool& pool) { return has(pool, text); });
        if (!shared) {
          asked_.assumptions.push_back(pools_[i].gpu + ": " + text);
        } else if (i == 0) {
          asked_.assumptions.push_back(text);
        }
      }
    }
  }

  /// Groups of ranks that would lie in several pools, each with why it is not priced.
  void refuse_groups() {
    std::vector<std::string> seen;
    for (std::size_t i = 0; i < asked_.pools.size(); ++i) {
      const MixedPool& pool = asked_.pools[i];
      const auto* const train = std::get_if<TrainScenario>(&pool.alone.question);
      if (train != nullptr) {
        refuse_groups(pools_[i], *train);
        seen.push_back(train->device.id + " " + train->node);
      } else {
        const auto& serve = std::get<ServeScenario>(pool.alone.question);
        const std::int64_t ranks = serve.work.layout.gpus();
        if (pool.gpus % ranks != 0) {
          refuse_part(pools_[i], ranks, "a replica of " + counted(ranks, "GPU"));
        }
        seen.push_back(serve.device.id + " " + (serve.host ? serve.host->id : ""));
      }
      if (std::find(seen.begin(), seen.end() - 1, seen.back()) != seen.end() - 1) {
        problem(pools_[i], "gpu", "a second pool of " + quoted(pools_[i].gpu) + " on the same node; join both");
      }
    }
    const auto* const first = std::get_if<TrainScenario>(&asked_.pools.front().alone.question);
    for (std::size_t i = 1; first != nullptr && i < asked_.pools.size(); ++i) {
      const Device& device = std::get<TrainScenario>(asked_.pools[i].alone.question).device;
      if (device.vendor != first->device.vendor) {
        problem(pools_[i], "gpu",
                quoted(device.id) + " and " + quoted(first->device.id) +
                    " are of two vendors, whose libraries of collectives (NCCL, RCCL) form no group together; train on "
                    "either");
      }
    }
  }

  void refuse_part(const StatedPool& pool, std::int64_t ranks, const std::string& what) {
    const std::int64_t below = pool.gpus / ranks * ranks;
    problem(pool, "gpus",
            std::to_string(pool.gpus) + " GPUs are no whole number of replicas, and " + what +
                " does not lie across SKUs: ranks of tp compute every layer together, so that each product and each "
                "collective of a layer would wait for the slowest SKU, and stages of pp on unlike SKUs need layers in "
                "proportion, which the step does not price; state " +
                (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + ranks));
  }

  void refuse_groups(const StatedPool& pool, const TrainScenario& train) {
    const Strategy& s = train.strategy;
    const std::int64_t ranks = std::int64_t{s.tp} * s.pp * s.cp;
    if (pool.gpus % ranks != 0) {
      refuse_part(pool, ranks,
                  "a replica of tp " + std::to_string(int{s.tp}) + " x pp " + std::to_string(int{s.pp}) + " x cp " +
                      std::to_string(int{s.cp}));
    } else if (s.ep > 1 && pool.gpus / s.pp % s.ep != 0) {
      problem(pool, "gpus",
              std::to_string(pool.gpus / s.pp) + " ranks of a stage do not hold whole groups of ep " +
                  std::to_string(int{s.ep}) +
                  ", and exchanges of experts across SKUs are not priced; state a multiple of " +
                  std::to_string(int{s.ep} * s.pp));
    }
  }

  const ConfigValue& document_;
  std::string file_;
  const Sources& sources_;
  Diagnostics diagnostics_;
  ConfigTable root_{document_, "", diagnostics_};
  std::vector<StatedPool> pools_;
  std::size_t tp_stated_ = 0, price_stated_ = 0;
  MixedQuestion asked_;
};

}  // namespace

std::optional<DollarsPerSecond> MixedQuestion::price() const {
  DollarsPerSecond all{};
  for (const MixedPool& pool : pools) {
    if (!pool.alone.money.price) {
      return std::nullopt;
    }
    all += real(pool.gpus) * *pool.alone.money.price;
  }
  return all;
}

bool asks_for_mixed(const ConfigValue& root) noexcept {
  return states(root, "hardware", "pool");
}

MixedQuestion read_mixed(const ConfigValue& root, const std::string& file, const Sources& sources) {
  return MixedReader{root, file, sources}.run();
}

}  // namespace headroom
