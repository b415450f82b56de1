// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/keys/cluster_keys.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/root_keys.hpp>
#include <headroom/scenarios/pools/cluster_question.hpp>
#include <headroom/scenarios/pools/job_reader.hpp>
#include <headroom/scenarios/pools/named_list.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace headroom::pools {
namespace {

using PoolKeys = KeyedTable<keys::pool, Kinds::cluster>;
using TenantKeys = KeyedTable<keys::cluster_tenant, Kinds::cluster>;
using PolicyKeys = KeyedTable<keys::policy, Kinds::cluster>;
using RolloutKeys = KeyedTable<keys::rollout, Kinds::cluster>;

/// The number in front of a word: 1000 of "1000 GPU-h"; nullopt where that is not what stands there.
std::optional<double> number_before(std::string_view text, std::string_view word) {
  if (!text.ends_with(word)) {
    return std::nullopt;
  }
  text.remove_suffix(word.size());
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return whole_real(text);
}

class ClusterReader {
 public:
  ClusterReader(const ConfigValue& document,
                const std::string& file,
                const Sources& sources,
                const QuestionReader& reader)
      : file_{file}, sources_{sources}, root_{document, "", diagnostics_}, book_{reader} {}

  ClusterQuestion run() {
    require_schema(root_);
    refuse_base(root_);
    static_cast<void>(root_.choice("kind", scenario_kind_names));
    asked_.name = root_.maybe_text("name").value_or(shown(file_));
    read_pools();
    read_policy();
    read_tenants();
    const JobContext context{&asked_.pools, &pool_names_, &tenant_names_, asked_.horizon, &book_, &asked_.assumptions};
    asked_.jobs = read_jobs(root_, context, job_names_);
    read_rollouts();
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(asked_);
  }

 private:
  void read_pools() {
    if (!root_.has("pool")) {
      root_.missing("pool", ", the GPUs of one SKU: [[pool]] name = \"...\", gpu = \"a100-sxm-80gb\", nodes = 8");
    }
    for (ConfigTable& each : root_.tables("pool")) {
      PoolKeys table{std::move(each)};
      asked_.pools.push_back(read_pool(table));
      table.finish();
    }
  }

  AskedPool read_pool(PoolKeys& table) {
    AskedPool asked;
    scheduler::Pool& pool = asked.pool;
    pool.name = pool_names_.take(table);
    const std::string gpu = table.get<"gpu">();
    std::optional<Device> device;
    if (!gpu.empty()) {
      device = look_up(table, "gpu", gpu, [&](const std::string& s) -> Device { return sources_.catalog.device(s); });
    }
    asked.gpu = device ? device->id : gpu;
    if (device) {
      asked.vendor = device->vendor;
      asked.slice = device->slice;
    }
    read_size(table, device, pool);
    asked.speed = table.get<"speed">();
    pool.credits = table.get<"credits">();
    pool.rented = table.get<"rented">();
    pool.start_up = table.get<"start_up">();
    if (table.has("start_up") && !pool.rented) {
      table.problem("start_up",
                    "'start_up' is of nodes that are rented, and these stand there: state rented = true, or leave it "
                    "out");
    }
    read_price(table, asked);
    read_own_labels(table, asked);
    return asked;
  }

  void read_size(PoolKeys& table, const std::optional<Device>& device, scheduler::Pool& pool) {
    const std::optional<std::int64_t> nodes = table.stated<"nodes">();
    const std::optional<std::int64_t> gpus = table.stated<"gpus">();
    std::optional<std::int64_t> per_node = table.stated<"gpus_per_node">();
    if (!table.has("nodes") && !table.has("gpus")) {
      table.missing("nodes", ", how many nodes the pool has; or 'gpus', how many GPUs");
    }
    if (!per_node && device && !table.has("gpus_per_node")) {
      const Node* const reference = sources_.catalog.reference_node(*device);
      if (reference != nullptr) {
        per_node = gpus && !nodes ? std::min(*gpus, reference->gpus) : reference->gpus;
        asked_.assumptions.push_back("pool " + pool.name + ": gpus_per_node = " + std::to_string(*per_node) +
                                     " (the reference node of " + device->id + ", " + reference->id + ")");
      } else {
        table.missing("gpus_per_node", ": no node of the catalog is the reference of " + device->id +
                                           "; state how many of its GPUs a node has");
      }
    }
    pool.gpus_per_node = per_node.value_or(1);
    if (nodes) {
      pool.nodes = *nodes;
      if (gpus && per_node && *gpus != pool.gpus()) {
        table.problem("gpus", "'gpus' is " + std::to_string(*gpus) + ", and " + counted(*nodes, "node") + " of " +
                                  counted(*per_node, "GPU") + " have " + std::to_string(pool.gpus()) +
                                  "; state one of 'gpus' and 'nodes'");
      }
    } else if (gpus) {
      pool.nodes = std::max<std::int64_t>(1, *gpus / pool.gpus_per_node);
      if (per_node && *gpus % *per_node != 0) {
        table.problem("gpus", counted(*gpus, "GPU") + " are no whole number of nodes of " + std::to_string(*per_node) +
                                  "; use " + std::to_string(pool.gpus()) + " or " +
                                  std::to_string(pool.gpus() + *per_node) + ", or state 'gpus_per_node'");
      }
    } else {
      pool.nodes = 1;
    }
  }

  /// As [money] of a scenario reads a price, whose keys stand in the pool here.
  void read_price(PoolKeys& table, AskedPool& asked) {
    ConfigValue money;
    for (const char* const key : {"price", "date", "source", "prices", "market", "region"}) {
      if (const ConfigValue* const value = table.value(key)) {
        money.at = money.entries.empty() ? value->at : money.at;
        money.file = value->file;
        money.entries.emplace_back(key, *value);
      }
    }
    if (money.entries.empty()) {
      return;
    }
    ConfigValue holder;
    holder.file = money.file;
    holder.entries.emplace_back("money", std::move(money));
    ConfigTable priced{holder, "", diagnostics_};
    PricedHardware hardware;
    hardware.gpu = asked.gpu;
    static_cast<GpuPrice&>(asked.price) = read_money(priced, sources_.catalog, hardware);
    asked.pool.price = asked.price.price.value_or(DollarsPerSecond{});
  }

  void read_own_labels(PoolKeys& table, AskedPool& asked) {
    asked.labels = read_labels(table, "labels");
    const std::optional<std::string> zone = table.stated<"zone">();
    const auto own = [&](const char* label, const std::string& value) {
      if (const auto found = asked.labels.find(label); found != asked.labels.end() && found->second != value) {
        table.problem("labels", "'labels' says " + std::string{label} + " = " + quoted(found->second) +
                                    ", and that label is the pool's own: it is " + quoted(value) +
                                    "; give yours another name");
      }
      asked.labels[label] = value;
    };
    own("gpu", asked.gpu);
    own("pool", asked.pool.name);
    if (zone && !zone->empty()) {
      own("zone", *zone);
    }
  }

  void read_policy() {
    PolicyKeys table = PolicyKeys::or_blank(root_);
    asked_.policy.order = table.get<"order", scheduler::Order>();
    asked_.policy.preempt = table.get<"preempt">();
    asked_.policy.longest_first = table.get<"longest_first">();
    asked_.horizon = table.stated<"horizon">();
    table.finish();
  }

  void read_tenants() {
    std::vector<ConfigTable> tables = root_.tables("tenant");
    for (ConfigTable& each : tables) {
      TenantKeys table{std::move(each)};
      scheduler::Tenant tenant;
      tenant.name = tenant_names_.take(table);
      tenant.weight = table.get<"weight">();
      read_quota(table, tenant);
      read_credit(table, tenant);
      asked_.tenants.push_back(std::move(tenant));
      table.finish();
    }
    asked_.tenants_stated = !asked_.tenants.empty();
    if (!asked_.tenants_stated) {
      asked_.tenants.push_back({"all", 1.0, {}, {}});
    }
  }

  void read_quota(TenantKeys& table, scheduler::Tenant& tenant) {
    std::optional<ConfigTable> quota = table.maybe_table("quota");
    if (!quota) {
      return;
    }
    static constexpr const Key& row = TenantKeys::row<"quota">;
    for (const AskedPool& pool : asked_.pools) {
      tenant.quota.push_back(pool.pool.gpus());
    }
    for (const std::string_view key : quota->keys()) {
      const std::string name{key};
      const std::optional<std::int64_t> gpus = quota->maybe_integer(name, integers_of(row));
      const ConfigValue& value = *quota->value(name);
      ConfigValue at = value;
      at.at = value.key_at;
      const std::optional<std::size_t> place = pool_names_.find(*quota, at, "quota", name);
      if (place && gpus) {
        tenant.quota[*place] = std::min(*gpus, tenant.quota[*place]);
      }
    }
  }

  void read_credit(TenantKeys& table, scheduler::Tenant& tenant) {
    const std::optional<std::string> credit = table.stated<"credit">();
    if (!credit || credit->empty()) {
      return;
    }
    const std::optional<double> hours = number_before(*credit, "GPU-h");
    if (!hours) {
      table.problem("credit",
                    "'credit' is " + quoted(*credit) + "; it is a number of GPU-hours, such as \"1000 GPU-h\"");
    } else if (*hours < 0.0 || !std::isfinite(*hours)) {
      table.problem("credit", "'credit' is " + quoted(*credit) +
                                  "; what is granted is 0 GPU-h or more, and no balance goes below 0: a debt of old is "
                                  "taken from the grant");
    } else {
      tenant.credit = *hours * hour.raw();
    }
  }

  void read_rollouts() {
    for (ConfigTable& each : root_.tables("rollout")) {
      RolloutKeys table{std::move(each)};
      AskedRollout rollout;
      const std::string name = table.get<"job">();
      const std::optional<std::size_t> job =
          name.empty() ? std::nullopt : job_names_.find(table, *table.value("job"), "job", name);
      rollout.at = table.get<"at">();
      rollout.replicas = table.stated<"replicas">();
      rollout.surge = read_count(table, "surge", 0.25);
      rollout.unavailable = read_count(table, "unavailable", 0.0);
      rollout.start = table.get<"start">();
      rollout.drain = table.get<"drain">();
      if (job && *job < asked_.jobs.size()) {
        rollout.job = *job;
        if (!asked_.jobs[*job].service && !asked_.jobs[*job].choices.empty()) {
          table.problem("job", "job " + quoted(name) +
                                   " is no service, and only services change their version under way: state service = "
                                   "true there, or name another");
        }
      }
      asked_.rollouts.push_back(rollout);
      table.finish();
    }
  }

  /// "25 %" or a number of replicas.
  ReplicaCount read_count(RolloutKeys& table, std::string_view key, double usual) {
    ReplicaCount count{usual, std::nullopt};
    const ConfigValue* const value = table.value(key);
    if (value == nullptr) {
      return count;
    }
    if (value->kind == ConfigValue::Kind::integer && value->integer >= 0) {
      count.number = value->integer;
      return count;
    }
    const std::optional<double> share =
        value->kind == ConfigValue::Kind::text ? number_before(value->text, "%") : std::nullopt;
    const std::optional<double> number =
        value->kind == ConfigValue::Kind::text ? whole_real(value->text) : std::nullopt;
    if (share && *share >= 0.0 && *share <= 100.0) {
      count.share = 0.01 * *share;
    } else if (number && *number >= 0.0 && *number <= 1e6 && *number == std::floor(*number)) {
      count.number = static_cast<std::int64_t>(*number);
    } else {
      table.problem(key, "'" + std::string{key} +
                             "' is a share of the replicas from \"0 %\" to \"100 %\", or a whole number of them");
    }
    return count;
  }

  std::string file_;
  const Sources& sources_;
  Diagnostics diagnostics_;
  ConfigTable root_;
  ScenarioBook book_;
  ClusterQuestion asked_;
  NamedList pool_names_{"pool"}, tenant_names_{"tenant"}, job_names_{"job"};
};

}  // namespace

ClusterQuestion read_cluster(const ConfigValue& document,
                             const std::string& file,
                             const Sources& sources,
                             const QuestionReader& reader) {
  return ClusterReader{document, file, sources, reader}.run();
}

}  // namespace headroom::pools
