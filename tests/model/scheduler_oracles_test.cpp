// SPDX-License-Identifier: Apache-2.0
// Schedules against the rules written as they read, and makespans against every schedule and against their bound.
#include "scheduler_oracles.hpp"

#include <headroom/model/scheduler/exact_makespan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

using namespace headroom;
using namespace headroom::scheduler_cases;

namespace {

Case one_pool(Dice& dice, std::int64_t nodes, std::int64_t gpus_per_node, std::int64_t tenants) {
  Case c;
  c.pools = {Pool{"pool", nodes, gpus_per_node}};
  for (std::int64_t t = 0; t < tenants; ++t) {
    c.tenants.push_back({"tenant", static_cast<double>(dice.whole(1, 3)), {}, {}});
  }
  return c;
}

void agrees_with_rules(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Dice dice{seed};
    Case c = one_pool(dice, dice.whole(1, 20), 1, dice.whole(1, 4));
    const bool equal = dice.chance(0.5);
    const std::int64_t jobs = dice.whole(1, 60);
    for (std::int64_t j = 0; j < jobs; ++j) {
      Job job;
      job.tenant = static_cast<std::size_t>(dice.whole(0, static_cast<std::int64_t>(c.tenants.size()) - 1));
      job.arrival = Seconds{equal ? static_cast<double>(dice.whole(0, 30)) : dice.real(0.0, 30.0)};
      job.priority = dice.chance(0.8) ? 0 : dice.whole(-1, 1);
      job.choices = {{0, dice.whole(1, c.pools[0].nodes),
                      Seconds{equal ? static_cast<double>(dice.whole(1, 8)) : dice.real(0.5, 8.0)}}};
      c.jobs.push_back(job);
    }
    c.policy.longest_first = dice.chance(0.5);
    for (const Order order : {Order::fifo, Order::backfill, Order::fair}) {
      c.policy.order = order;
      const scheduler::Schedule s = schedule(c.pools, c.tenants, c.jobs, c.policy);
      const std::vector<double> starts = naive_starts(c);
      bool same = true;
      for (std::size_t j = 0; j < c.jobs.size(); ++j) {
        same = same && s.runs[j].start.raw() == starts[j];
      }
      CAPTURE(seed);
      CAPTURE(static_cast<int>(order));
      CHECK(same);
    }
  }
}

Case few_jobs(std::uint64_t seed) {
  Dice dice{seed};
  Case c;
  const std::int64_t pools = dice.whole(1, 2);
  for (std::int64_t p = 0; p < pools; ++p) {
    c.pools.push_back({"pool", dice.whole(1, 2), dice.whole(1, pools == 1 ? 3 : 2)});
  }
  c.tenants = {{"tenant", 1.0, {}, {}}, {"other", 1.0, {}, {}}};
  if (dice.chance(0.3)) {
    for (const Pool& pool : c.pools) {
      c.tenants[0].quota.push_back(dice.whole(1, pool.gpus()));
    }
  }
  const std::int64_t jobs = dice.whole(2, pools == 1 ? 5 : 4);
  for (std::int64_t j = 0; j < jobs; ++j) {
    if (j > 0 && dice.chance(0.3)) {  // one like another
      c.jobs.push_back(c.jobs[static_cast<std::size_t>(dice.whole(0, j - 1))]);
      continue;
    }
    Job job;
    job.tenant = static_cast<std::size_t>(dice.whole(0, 1));
    job.arrival = Seconds{dice.chance(0.6) ? 0.0 : static_cast<double>(dice.whole(0, 6))};
    if (j > 0 && dice.chance(0.25)) {
      job.after = {static_cast<std::size_t>(dice.whole(0, j - 1))};
    }
    const std::int64_t choices = dice.whole(1, pools);
    for (std::int64_t k = 0; k < choices; ++k) {
      const auto pool = static_cast<std::size_t>(choices == 1 ? dice.whole(0, pools - 1) : k);
      std::int64_t most = c.pools[pool].gpus();
      if (job.tenant == 0 && !c.tenants[0].quota.empty()) {
        most = std::min(most, c.tenants[0].quota[pool]);
      }
      job.choices.push_back({pool, dice.whole(1, most), Seconds{static_cast<double>(dice.whole(1, 9))}});
    }
    c.jobs.push_back(job);
  }
  c.policy.order = Order::shortest;
  return c;
}

void is_shortest(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Case c = few_jobs(seed);
    const scheduler::Schedule s = schedule(c.pools, c.tenants, c.jobs, c.policy);
    CAPTURE(seed);
    CHECK(s.proven);
    const double shortest = EverySchedule{c}.shortest();
    CHECK(s.makespan.raw() == shortest);
    // Branch and bound alone, which no list has helped.
    const ExactMakespan alone = exact_makespan({c.pools, c.tenants, c.jobs}, Seconds{1e9}, 1000000);
    CHECK(alone.proven);
    CHECK(alone.makespan.raw() == shortest);
    CHECK(broken(c, s).empty());
  }
}

/// Many jobs of an eighth of the pool at most, of gangs that nodes divide into without a rest.
double worst_makespan(Order order, std::uint64_t first, std::uint64_t count) {
  double worst = 0.0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Dice dice{seed};
    const std::int64_t per_node = std::int64_t{1} << dice.whole(0, 3);
    Case c = one_pool(dice, dice.whole(16, 64), per_node, 1);
    const std::int64_t most = std::min(c.pools[0].gpus() / 8, per_node == 1 ? c.pools[0].gpus() : 16 * per_node);
    const std::int64_t jobs = dice.whole(300, 800);
    double area = 0.0, longest = 0.0;
    for (std::int64_t j = 0; j < jobs; ++j) {
      std::int64_t gang = dice.whole(1, most);
      while (per_node > 1 && (gang & (gang - 1)) != 0) {
        gang &= gang - 1;  // the power of two below
      }
      const Seconds time{dice.chance(0.5) ? dice.real(1.0, 10.0) : std::exp(dice.real(0.0, 4.0))};
      area += static_cast<double>(gang) * time.raw() / static_cast<double>(c.pools[0].gpus());
      longest = std::max(longest, time.raw());
      Job job;
      job.choices = {{0, gang, time}};
      c.jobs.push_back(job);
    }
    c.policy.order = order;
    c.policy.search_steps = 10 * jobs;
    const scheduler::Schedule s = schedule(c.pools, c.tenants, c.jobs, c.policy);
    worst = std::max(worst, s.makespan.raw() / std::max(area, longest));
  }
  return worst;
}

/// Gangs of one size that fill nodes, of tenants who all want more than there is.
void shares_stay_even(std::uint64_t seed) {
  Dice dice{seed};
  const std::int64_t gang = std::int64_t{1} << dice.whole(0, 3);
  Case c = one_pool(dice, dice.whole(4, 12), 8, dice.whole(2, 5));
  std::vector<double> last_start(c.tenants.size(), 0.0);
  for (std::int64_t j = 0; j < 400; ++j) {
    Job job;
    job.tenant = static_cast<std::size_t>(dice.whole(0, static_cast<std::int64_t>(c.tenants.size()) - 1));
    job.choices = {{0, gang, Seconds{dice.real(1.0, 10.0)}}};
    c.jobs.push_back(job);
  }
  c.policy.order = Order::fair;
  const scheduler::Schedule s = schedule(c.pools, c.tenants, c.jobs, c.policy);
  for (std::size_t j = 0; j < c.jobs.size(); ++j) {
    last_start[c.jobs[j].tenant] = std::max(last_start[c.jobs[j].tenant], s.runs[j].start.raw());
  }
  const double all_want = *std::min_element(last_start.begin(), last_start.end());
  std::map<double, std::vector<double>> change;  // of GPUs held, by moment and tenant
  for (const Hold& hold : s.holds) {
    for (const auto& [at, sign] : {std::make_pair(hold.from.raw(), 1.0), std::make_pair(hold.to.raw(), -1.0)}) {
      change[at].resize(c.tenants.size(), 0.0);
      change[at][c.jobs[hold.job].tenant] += sign * static_cast<double>(hold.gpus);
    }
  }
  std::vector<double> held(c.tenants.size(), 0.0);
  bool even = true;
  for (const auto& [at, by_tenant] : change) {
    for (std::size_t t = 0; t < held.size(); ++t) {
      held[t] += by_tenant[t];
    }
    for (std::size_t a = 0; a < held.size() && at < all_want; ++a) {
      for (std::size_t b = 0; b < held.size(); ++b) {
        even =
            even && (held[a] - static_cast<double>(gang)) / c.tenants[a].weight <= held[b] / c.tenants[b].weight + 1e-9;
      }
    }
  }
  CAPTURE(seed);
  CHECK(all_want > 0.0);
  CHECK(even);
}

}  // namespace

TEST_CASE("scheduler: FIFO, EASY backfill and fair shares start each job when the rules say, on nodes of one GPU") {
  agrees_with_rules(1, 300);
}

TEST_CASE("scheduler: the shortest makespan of few jobs is that of every schedule tried") {
  is_shortest(1, 300);
}

TEST_CASE("scheduler: many jobs of an eighth of a pool at most end within 5 % of their area or the longest") {
  CHECK(worst_makespan(Order::backfill, 1, 60) <= 1.05);
  CHECK(worst_makespan(Order::fair, 1, 60) <= 1.05);
  CHECK(worst_makespan(Order::shortest, 1, 20) <= 1.03);
}

TEST_CASE("scheduler: while all want more, no tenant holds more than one job above another's weighted share") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    shares_stay_even(seed);
  }
}

TEST_CASE("long: scheduler: thousands of clusters by the rules, and of few jobs by every schedule") {
  agrees_with_rules(1000, 3000);
  is_shortest(1000, 3000);
  for (std::uint64_t seed = 1000; seed <= 2000; ++seed) {
    shares_stay_even(seed);
  }
}
