// SPDX-License-Identifier: Apache-2.0
// Keys of a cluster: its pools of unlike GPUs, its tenants, their jobs, the policy, and rollouts of services.
#pragma once

#include <headroom/scenarios/keys/money_keys.hpp>
#include <headroom/scenarios/keys/rows.hpp>
#include <headroom/scenarios/keys/words.hpp>

namespace headroom::keys {

inline constexpr std::int64_t most_pool_nodes = 100'000;
inline constexpr std::int64_t most_pool_gpus = 1'000'000;
inline constexpr std::int64_t most_jobs = 100'000;
inline constexpr Seconds longest_plan{10.0 * 365.0 * 86400.0};

inline constexpr std::array own_pool_rows{
    text("name").needed().says("It names the pool in answers and in other tables."),
    text("gpu").needed().says("It is the id or an alias of a SKU ('headroom catalog list gpus')."),
    integer("nodes", 1, most_pool_nodes)
        .blank_is("gpus over the GPUs of a node")
        .says("It is the number of nodes, of a pool that is rented the most that can be had.")
        .but("One of nodes and gpus is required."),
    integer("gpus", 1, most_pool_gpus)
        .blank_is("nodes times the GPUs of a node")
        .says("It is the number of GPUs, in whole nodes."),
    integer("gpus_per_node", 1, 1'024)
        .blank_is("that of the SKU's reference node; all GPUs, where these are fewer")
        .says("It is the number of GPUs of a node."),
    of_type("labels", KeyType::text_map)
        .or_nothing("the labels gpu, pool and zone that every pool has")
        .says("It holds labels of the pool's nodes with their values, which jobs ask for by 'needs'."),
    text("zone").or_nothing("no label 'zone'").says("It is where the pool stands: the value of its label 'zone'."),
    number("speed", 0.0, 1'000.0)
        .above(0.0, 1'000.0)
        .usually(1)
        .says("It is how fast the pool does jobs of one stated time: that time is divided by it.")
        .but("Jobs of a scenario, and times that are stated for a pool, are not divided."),
    number("credits", 0.0, 1e6)
        .above(0.0, 1e6)
        .usually(1)
        .says("It is what a GPU-hour of the pool takes from a tenant's credit, in GPU-hours of the ledger."),
    boolean("rented").usually(false).says(
        "It says that nodes are rented when a job needs them, and paid for then alone; other pools are paid for from "
        "the start to the end of the last job."),
    quantity_or_zero<Seconds>("start_up")
        .such_as("5 min")
        .usually(0)
        .says("It is the time from asking for a rented node to its first use.")
        .but("It goes with rented only."),
};
inline constexpr std::array pool_rows = joined(own_pool_rows, offer_rows);

inline constexpr std::array cluster_tenant_rows{
    text("name").needed().says("It names the tenant."),
    number("weight", 0.0, 1e6)
        .above(0.0, 1e6)
        .usually(1)
        .says("It is the tenant's weight in fair shares: shares are in proportion to it."),
    of_type("quota", KeyType::count_map)
        .from(0, static_cast<double>(most_pool_gpus))
        .or_nothing("no quota: the tenant may hold every GPU")
        .says("It holds, by the name of a pool, how many of its GPUs the tenant may hold at once.")
        .but("Pools that it does not name have no quota."),
    text("credit")
        .or_nothing("that nothing is booked")
        .says("It is what the tenant may use in all, such as \"1000 GPU-h\": each job reserves its GPU-hours times the "
              "pool's credits when it comes, and gets back what it did not use.")
        .but("A job that asks for more than is left is refused."),
};

inline constexpr std::array cluster_job_rows{
    text("name").needed().says("It names the job."),
    text("tenant").blank_is("the first tenant").says("It is the name of the tenant that the job belongs to."),
    text("scenario")
        .or_nothing("that gpus and time say what the job takes")
        .says(
            "It is the path of a scenario of training, serving or batch inference, relative to this file: its plan on "
            "each pool's SKU says whether it fits, on how many GPUs, and how long it takes."),
    integer("gpus", 1, most_pool_gpus)
        .blank_is("those of the scenario")
        .says("It is the number of GPUs that start and end together (a gang).")
        .but("Beside a scenario it takes the place of hardware.gpus there."),
    quantity<Seconds>("time", Seconds{1e-3}, longest_plan)
        .such_as("20 h")
        .blank_is("that of the scenario's plan; of a service the time to policy.horizon")
        .says("It is the time from start to end on a pool of speed 1; of a service, for how long it holds its GPUs."),
    boolean("service")
        .usually(false)
        .says("It says that the job is a service that holds its GPUs for a time and has no work that ends.")
        .but("Scenarios that serve are services."),
    integer("count", 1, most_jobs).usually(1).says("It is the number of jobs alike."),
    quantity<Seconds>("arrival", Seconds{}, longest_plan)
        .such_as("2 h")
        .usually(0)
        .says("It is when the job comes, counted from the start."),
    quantity<Seconds>("deadline", Seconds{1e-3}, longest_plan)
        .such_as("24 h")
        .or_nothing("that it may end at any time")
        .says("It is when the job should have ended, on the same clock as arrival."),
    integer("priority", -1'000'000, 1'000'000)
        .usually(0)
        .says("It is the job's priority: a higher one goes first, and may stop lower ones that are preemptible."),
    boolean("preemptible").usually(false).says("It says that jobs of a higher priority may stop it."),
    quantity_or_zero<Seconds>("checkpoint")
        .such_as("30 min")
        .usually(0)
        .says("It is the time between two checkpoints, the most that a stop loses; 0: nothing is lost.")
        .but("It goes with preemptible only."),
    quantity_or_zero<Seconds>("restart")
        .such_as("5 min")
        .usually(0)
        .says("It is what each start after a stop adds.")
        .but("It goes with preemptible only."),
    texts("after")
        .or_nothing("that it waits for no other job")
        .says("It lists jobs that must have ended before it starts.")
        .but("Of jobs with the same count above 1 each waits for its own; else each waits for all."),
    of_type("needs", KeyType::text_map)
        .or_nothing("any pool")
        .says("It holds labels with the values that a pool must have for the job to run on it.")
        .but("Every pool has the labels gpu, pool and zone."),
    texts("pools")
        .blank_is("every pool that has what it needs")
        .says("It lists pools that the job may run on: it takes the one on which it ends first, waiting counted, then "
              "the cheapest, then the first."),
    boolean("spill").usually(false).says(
        "It says that the job may take pools that lack what it needs, or that it does not list, where none of its own "
        "can start it at once."),
    quantity<Seconds>("crash", Seconds{1e-3}, longest_plan)
        .such_as("10 h")
        .or_nothing("that it ends well")
        .says("It is the time after its start at which it ends without a result: what it did not use is refunded."),
    of_type("on", KeyType::tables)
        .or_nothing("gpus and time on every pool, by its speed")
        .says("It lists what the job takes on a pool, where pools differ: the job runs on these alone."),
};
inline constexpr std::array job_on_rows{
    text("pool").needed().says("It is the name of a pool."),
    integer("gpus", 1, most_pool_gpus).blank_is("those of the job").says("It is the number of GPUs there."),
    quantity<Seconds>("time", Seconds{1e-3}, longest_plan)
        .such_as("20 h")
        .blank_is("that of the job, by the pool's speed")
        .says("It is the time from start to end there."),
};

inline constexpr std::array policy_rows{
    choice("order", queue_order_names)
        .usually(2)
        .says("It is who starts next: fifo: the first that waits, and none before it; backfill: the first that waits "
              "has a reservation, and others start where they do not delay it; fair: a job of the tenant with the "
              "least weighted dominant share, backfilled; shortest: whatever makes the last job end first."),
    boolean("preempt").usually(true).says(
        "It says that jobs of a higher priority stop preemptible ones of a lower priority."),
    boolean("longest_first")
        .usually(true)
        .says("It says that of equal rights the longest job goes first; else the one that came first."),
    quantity<Seconds>("horizon", Seconds{1.0}, longest_plan)
        .such_as("7 d")
        .or_nothing("that services state their time")
        .says("It is the end of what is planned: services without a time hold their GPUs until then."),
};

inline constexpr std::array rollout_rows{
    text("job").needed().says("It is the name of the service that is replaced by a new version."),
    quantity<Seconds>("at", Seconds{}, longest_plan).such_as("2 h").usually(0).says("It is when the rollout begins."),
    integer("replicas", 1, 1'000'000)
        .blank_is("the service's GPUs, one replica each")
        .says("It is the number of replicas, which share the service's GPUs evenly."),
    text("surge").usually_named("25 %").says(
        "It is how many new replicas may stand beside the old ones, in number or in percent of the replicas, "
        "rounded up (Kubernetes maxSurge)."),
    text("unavailable")
        .usually_named("0 %")
        .says("It is how many replicas may be missing, in number or in percent of the replicas, rounded down "
              "(Kubernetes maxUnavailable).")
        .but("Kubernetes' own default is 25 %, which takes replicas away although there is room for the surge."),
    quantity_or_zero<Seconds>("start").such_as("3 min").usually(0).says(
        "It is the time from the start of a new replica until it answers."),
    quantity_or_zero<Seconds>("drain").such_as("1 min").usually(0).says(
        "It is the time that an old replica still answers what it has begun, its GPUs held."),
};

inline constexpr KeyTable pool{"pool", Kinds::cluster, pool_rows};
inline constexpr KeyTable cluster_tenant{"tenant", Kinds::cluster, cluster_tenant_rows};
inline constexpr KeyTable cluster_job{"job", Kinds::cluster, cluster_job_rows};
inline constexpr KeyTable job_on{"job.on", Kinds::cluster, job_on_rows};
inline constexpr KeyTable policy{"policy", Kinds::cluster, policy_rows};
inline constexpr KeyTable rollout{"rollout", Kinds::cluster, rollout_rows};

}  // namespace headroom::keys
