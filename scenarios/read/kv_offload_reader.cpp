// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/read/kv_offload_reader.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

class KvOffloadReader {
 public:
  KvOffloadReader(ServingKeys& serving, ServeScenario& serve, std::vector<std::string>& assumptions)
      : serving_{serving}, serve_{serve}, assumptions_{assumptions} {}

  KvOffload run() {
    const bool known = !serve_.device.id.empty();
    if (known) {
      offload_.host_link = host_link_of(serve_.device, serve_.host ? &*serve_.host : nullptr);
    }
    read_tiers(known);
    read_preemption(known);
    if (!serve_.traffic && serving_.has("concurrency")) {  // else [traffic] is missing, which is told
      for (const std::string_view key : {"kv_offload", "preemption_mode", "prefix_caching"}) {
        if (serving_.value(key) != nullptr) {
          serving_.problem(key, quoted(key) +
                                    " is answered by simulation, which a fixed load of 'concurrency' does "
                                    "without; state [traffic] instead");
        }
      }
    }
    return offload_;
  }

 private:
  void read_tiers(bool known) {
    auto table = KeyedTable<keys::kv_offload, Kinds::serve>::maybe(serving_);
    if (!table) {
      return;
    }
    if (auto tier = KeyedTable<keys::cpu_tier, Kinds::serve>::maybe(*table)) {
      const auto bandwidth = tier->stated<"bandwidth">();
      if (!tier->has("bandwidth") && known) {
        assume_host_link(*tier);
      }
      take_tier(*tier, 0).bandwidth = bandwidth;
      tier->finish();
    }
    if (auto tier = KeyedTable<keys::disk_tier, Kinds::serve>::maybe(*table)) {
      take_tier(*tier, 1).bandwidth = tier->get<"bandwidth">();
      tier->finish();
    }
    if (auto tier = KeyedTable<keys::remote_tier, Kinds::serve>::maybe(*table)) {
      take_tier(*tier, 2).bandwidth = tier->get<"bandwidth">();
      tier->finish();
    }
    if (table->keys().empty()) {
      serving_.problem("kv_offload",
                       "[serving.kv_offload] states no tier; state [serving.kv_offload.cpu], disk or "
                       "remote, each with its capacity");
    }
    table->finish();
    if (serve_.traffic && !serve_.traffic->shares_prefixes()) {
      serving_.problem(
          "kv_offload",
          serve_.traffic->prefix_caching
              ? "[serving.kv_offload], but no request says what it shares with others; state "
                "[traffic.prefix], or a trace with hash_ids"
              : "[serving.kv_offload] beside prefix_caching = false: nothing would be kept; leave one out");
    }
  }

  /// What all tiers state.
  template <const KeyTable& rows>
  KvOffloadTier& take_tier(KeyedTable<rows, Kinds::serve>& table, std::size_t index) {
    KvOffloadTier& tier = offload_.tiers[index].emplace();
    tier.capacity = table.template get<"capacity">();
    tier.latency = table.template get<"latency">();
    if (!table.has("latency")) {
      assumptions_.push_back(table.path() + ".latency = 0 s (not stated)");
    }
    return tier;
  }

  void assume_host_link(ConfigTable& table) {
    if (const auto link = offload_.host_link) {
      assumptions_.push_back(table.path() + ".bandwidth = " + format(*link) +
                             " for each GPU that holds a part of its own of a sequence (its link to the host, as the "
                             "catalog states it: copies are slower)");
    } else {
      table.problem("bandwidth", "'bandwidth' is not stated, and the link of " + serve_.device.id +
                                     " to its host is not known; state it, or hardware.node");
    }
  }

  void read_preemption(bool known) {
    const auto mode = serving_.stated<"preemption_mode", Eviction>();
    if (!mode) {
      return;
    }
    serve_.engine.scheduler.eviction = *mode;
    if (serve_.engine.scheduler.eviction != Eviction::swap) {
      return;
    }
    if (known && !offload_.host_link) {
      serving_.problem("preemption_mode", "'swap' takes the link of " + serve_.device.id +
                                              " to its host, which is not known; state hardware.node, or 'recompute'");
    } else if (known) {
      assumptions_.push_back("serving.preemption_mode = swap: at " + format(*offload_.host_link) +
                             " for each GPU that holds a part of its own of a sequence, and the host has room" +
                             (serve_.engine.engine == Engine::vllm && serve_.engine.id == "vllm"
                                  ? "; vLLM's V1 engine computes again and has no such mode: what it would give"
                                  : ""));
    }
  }

  ServingKeys& serving_;
  ServeScenario& serve_;
  std::vector<std::string>& assumptions_;
  KvOffload offload_;
};

}  // namespace

void read_kv_offload(ServingKeys& serving, ServeScenario& serve, std::vector<std::string>& assumptions) {
  const KvOffload offload = KvOffloadReader{serving, serve, assumptions}.run();
  if (serve.fleet) {
    FleetQuestion fleet = *serve.fleet;
    fleet.kv_offload = offload;
    serve.fleet = std::make_shared<const FleetQuestion>(std::move(fleet));
  }
}

void hold_host_memory(ConfigTable& root,
                      const HardwareChoice& hardware,
                      const ServeScenario& serve,
                      std::vector<std::string>& assumptions) {
  if (!root.has("hardware") || serve.device.id.empty()) {
    return;
  }
  ConfigTable table = root.table("hardware");
  const bool stated = table.has("host_memory");
  const std::optional<KvOffloadTier>* const tier = serve.fleet ? serve.fleet->kv_offload.tiers.data() : nullptr;
  if (tier == nullptr || !*tier || !((*tier)->capacity > Bytes{})) {
    if (stated) {
      assumptions.push_back(
          "hardware.host_memory has no effect: without a capacity of [serving.kv_offload.cpu] replicas keep nothing on "
          "their hosts");
    }
    return;
  }
  if (!hardware.host_memory) {
    return;
  }
  const std::int64_t gpus = serve.work.layout.gpus();
  const std::int64_t nodes = (gpus + hardware.gpus_per_node - 1) / hardware.gpus_per_node;  // of a replica
  const std::int64_t replicas = std::max<std::int64_t>(1, hardware.gpus_per_node / gpus);   // of a node
  const Bytes held = (*tier)->capacity / real(nodes);
  const double room = std::floor(*hardware.host_memory / held);
  const std::string memory = "hardware.host_memory = " + format(*hardware.host_memory);
  if (stated && room < 1.0) {
    table.problem("host_memory", "'host_memory' of " + format(*hardware.host_memory) + " a node has no room for the " +
                                     format(held) +
                                     " that one replica keeps there ([serving.kv_offload.cpu]); lower "
                                     "its capacity, or raise it");
  } else if (room < real(replicas)) {
    assumptions.push_back(memory + " a node has room for [serving.kv_offload.cpu] of " +
                          counted(static_cast<std::int64_t>(room), "replica") + " at " + format(held) +
                          " each, and a node's GPUs are " + counted(replicas, "replica") +
                          ": lower its capacity, or have fewer replicas on a node");
  } else if (stated) {
    assumptions.push_back(memory + " a node holds [serving.kv_offload.cpu] of its " + counted(replicas, "replica") +
                          ", " + format(real(replicas) * held));
  }
}

}  // namespace headroom
