// SPDX-License-Identifier: Apache-2.0
// A cluster of unlike pools and the jobs that want it, as plain numbers: what a scheduler reads, and what it answers.
// Nothing here knows what a job computes; whoever asks has priced each job on each pool that it may run on.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom::scheduler {

/// GPUs of one SKU. Time starts at 0, when all of them are free.
struct Pool {
  std::string name;
  std::int64_t nodes = 0;          ///< >= 1; of a pool that is rented the most that can be had
  std::int64_t gpus_per_node = 1;  ///< >= 1
  DollarsPerSecond price{};        ///< of one GPU; 0: none is known
  bool rented = false;             ///< paid only while a job holds it; others are paid from start to makespan
  Seconds start_up{};              ///< from asking for a rented node to its first use, which the job's hold includes
  double credits = 1.0;            ///< that a GPU-second costs, in those of the ledger; > 0

  [[nodiscard]] std::int64_t gpus() const noexcept { return nodes * gpus_per_node; }
};

/// Who jobs belong to.
struct Tenant {
  std::string name;
  double weight = 1.0;              ///< of its share, > 0
  std::vector<std::int64_t> quota;  ///< GPUs that it may hold at once, by pool; empty: no quota
  std::optional<double> credit;     ///< GPU-seconds (times Pool::credits) granted at time 0; unset: no ledger
};

/// A job on one of the pools that it may run on.
struct Choice {
  std::size_t pool = 0;   ///< index
  std::int64_t gpus = 0;  ///< that start and end together, >= 1: a gang
  Seconds time{};         ///< from start to end without interruption, > 0
  /// Taken only where no choice that is none can start at once, and where waiting for those would end later. A choice
  /// of a rented pool is one wherever the job has a choice of a pool that is not rented.
  bool spill = false;
};

struct Job {
  std::string name;
  std::size_t tenant = 0;
  Seconds arrival{};
  std::optional<Seconds> deadline;  ///< on the same clock as arrival
  std::int64_t priority = 0;        ///< higher goes first, and may stop lower ones that are preemptible
  bool preemptible = false;
  Seconds checkpoint{};            ///< of work between two checkpoints: what a stop loses at most; 0: nothing is lost
  Seconds restart{};               ///< added to what is left each time that it starts again
  std::vector<std::size_t> after;  ///< jobs that must have ended before it starts; no cycles
  std::vector<Choice> choices;     ///< at least one, in the order of the owner's liking
  std::optional<Seconds> crash;  ///< time of running after which it ends without result, > 0; unknown to the scheduler
};

enum class Order : std::uint8_t {
  fifo,      ///< the first that waits; none starts before it on a pool that it waits for
  backfill,  ///< the first that waits has a reservation; others start where they do not delay it (EASY: Lifka 1995)
  fair,      ///< of the tenant with the least weighted dominant share (Ghodsi et al. 2011), backfilled
  shortest,  ///< whatever makespan is found to be the shortest, shares and arrivals aside; priorities are kept
};

struct Policy {
  Order order = Order::fair;
  bool preempt = true;            ///< of lower priority by higher, where the lower is preemptible
  bool longest_first = true;      ///< of equal rights the longest first (Graham 1969); false: by arrival
  std::int64_t most_stops = 100;  ///< of one job, after which it is stopped no more: no storm goes on for ever
  /// Nodes held by jobs, in all schedules that `shortest` tries beyond its first ones.
  std::int64_t search_steps = 100000;
};

/// GPUs of one node, in one stretch of time, held by one job.
struct Hold {
  std::size_t job = 0, pool = 0;
  std::int64_t node = 0, first_gpu = 0, gpus = 0;  ///< GPUs first_gpu to first_gpu + gpus - 1 of the node
  Seconds from{}, to{};
};

enum class Outcome : std::uint8_t { done, late, refused, crashed };

/// Why a job never ran.
enum class Refusal : std::uint8_t {
  none,
  quota,   ///< each choice needs more GPUs than its tenant may hold of that pool
  credit,  ///< at its arrival the tenant's balance was less than its cheapest choice: the ledger's line tells both
  prerequisite,  ///< JobRun::because, which it waits for, was refused or crashed
};

struct JobRun {
  Outcome outcome = Outcome::done;
  Refusal refusal = Refusal::none;
  std::size_t because = 0;  ///< job, for Refusal::prerequisite
  std::size_t choice = 0;   ///< taken last
  Seconds ready{};          ///< arrived, and all that it waits for has ended
  Seconds start{}, end{};   ///< first start of its work, last end; the wait is start - ready
  Seconds lost{};           ///< work done twice, and restarts
  std::int64_t stops = 0;   ///< times that it was preempted
};

/// A line of the ledger; balances follow from the lines in their order.
struct Entry {
  /// Double entry: a grant brings `amount` to the balance; a reserve moves it from there to what is held for the job;
  /// at the job's end a debit moves what was used from held to spent, and a refund what was not from held to the
  /// balance. At each line grants = balance + held + spent. A refuse moves nothing: the balance was less than its
  /// amount.
  enum class Kind : std::uint8_t { grant, reserve, debit, refund, refuse } kind = Kind::grant;
  Seconds at{};
  std::size_t tenant = 0;
  std::optional<std::size_t> job;
  double amount = 0.0;   ///< GPU-seconds times credits, >= 0
  double balance = 0.0;  ///< of the tenant after the line, >= 0
};

struct PoolUse {
  double busy = 0.0;  ///< share of its GPU-seconds up to the makespan
  /// GPU-seconds that were free while gangs of no more GPUs waited that have no choice of the pool or no quota left
  /// there; no more than those gangs want together.
  double stranded = 0.0;
  /// The same of gangs that may run there: the free GPUs lay on too many nodes, or were kept for a larger gang.
  double fragmented = 0.0;
  Dollars cost{};         ///< up to the makespan; of a rented pool, of what was held
  std::int64_t most = 0;  ///< GPUs held at once
};

struct TenantUse {
  double gpu_seconds = 0.0;  ///< held, on all pools
  Seconds mean_wait{};       ///< of its jobs that ran
  std::int64_t ran = 0;      ///< jobs
};

struct Schedule {
  std::vector<JobRun> runs;   ///< of each job
  std::vector<Hold> holds;    ///< in the order of their starts
  std::vector<Entry> ledger;  ///< in the order of time
  std::vector<PoolUse> pools;
  std::vector<TenantUse> tenants;
  Seconds makespan{};
  Seconds bound{};      ///< that no schedule of the jobs that ran beats: area over GPUs, longest job, longest chain
  bool proven = false;  ///< no schedule has a shorter makespan: it is the bound, or all were tried
  Seconds mean_wait{}, p95_wait{};
  Dollars cost{};
};

/// Precondition: indices are in range, `after` has no cycle, and each choice's GPUs are those of its pool at most.
/// The same schedule on every machine.
[[nodiscard]] Schedule schedule(const std::vector<Pool>& pools,
                                const std::vector<Tenant>& tenants,
                                const std::vector<Job>& jobs,
                                const Policy& policy);

}  // namespace headroom::scheduler
