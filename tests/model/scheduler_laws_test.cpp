// SPDX-License-Identifier: Apache-2.0
// Laws of the scheduler that need no cluster: fair shares, Jain's index, rollouts, bounds.
#include <headroom/model/scheduler/fair_shares.hpp>
#include <headroom/model/scheduler/makespan_bound.hpp>
#include <headroom/model/scheduler/one_more_node.hpp>
#include <headroom/model/scheduler/rollout.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace headroom;
using namespace headroom::scheduler;

TEST_CASE("fair shares: a small demand is met and the rest goes to the other") {
  const std::vector<double> shares = fair_shares(std::vector{100.0, 20.0}, std::vector{1.0, 1.0}, 64.0);
  CHECK(shares[0] == doctest::Approx(44.0));  // 64 - 20
  CHECK(shares[1] == doctest::Approx(20.0));
}

TEST_CASE("fair shares: weights 3 and 1 of 40 are 30 and 10, and what one leaves goes by the weights of the rest") {
  const std::vector<double> two = fair_shares(std::vector{100.0, 100.0}, std::vector{3.0, 1.0}, 40.0);
  CHECK(two[0] == doctest::Approx(30.0));
  CHECK(two[1] == doctest::Approx(10.0));
  // 60 GPUs, weights 2, 1, 3: the first wants 8 of its 20; the other 52 go 1 to 3.
  const std::vector<double> three = fair_shares(std::vector{8.0, 100.0, 100.0}, std::vector{2.0, 1.0, 3.0}, 60.0);
  CHECK(three[0] == doctest::Approx(8.0));
  CHECK(three[1] == doctest::Approx(13.0));
  CHECK(three[2] == doctest::Approx(39.0));
}

TEST_CASE(
    "fair shares: no one has less than its demand or its weight's part, nor is anything left while one wants it") {
  for (int i = 0; i < 200; ++i) {
    std::vector<double> demands, weights;
    double sum = 0.0;
    for (int user = 0; user < 5; ++user) {
      demands.push_back(static_cast<double>((i * 37 + user * 53) % 41));
      weights.push_back(1.0 + (i + user * 3) % 4);
      sum += weights.back();
    }
    const double capacity = static_cast<double>(i % 90);
    const std::vector<double> shares = fair_shares(demands, weights, capacity);
    double given = 0.0, wanted = 0.0;
    for (std::size_t user = 0; user < 5; ++user) {
      CHECK(shares[user] >= std::min(demands[user], capacity * weights[user] / sum) - 1e-9);
      CHECK(shares[user] <= demands[user] + 1e-9);
      given += shares[user];
      wanted += demands[user];
    }
    CHECK(given == doctest::Approx(std::min(capacity, wanted)));
  }
}

TEST_CASE("dominant shares: the example of Ghodsi et al. 2011, section 4.1") {
  // 9 CPUs and 18 GB; tasks of <1 CPU, 4 GB> and <3 CPUs, 1 GB>: 3 and 2 of them.
  const std::vector<TaskDemand> users{{{1.0, 4.0}, 1e9, 1.0}, {{3.0, 1.0}, 1e9, 1.0}};
  const std::vector<double> tasks = dominant_fair_tasks(users, std::vector{9.0, 18.0});
  CHECK(tasks[0] == doctest::Approx(3.0));
  CHECK(tasks[1] == doctest::Approx(2.0));
}

TEST_CASE("dominant shares: of one resource they are the max-min shares") {
  const double all = std::numeric_limits<double>::infinity();
  const std::vector<TaskDemand> users{{{1.0}, 8.0, 2.0}, {{2.0}, all, 1.0}, {{1.0}, all, 3.0}};
  const std::vector<double> tasks = dominant_fair_tasks(users, std::vector{60.0});
  CHECK(tasks[0] == doctest::Approx(8.0));
  CHECK(tasks[1] == doctest::Approx(6.5));  // 13 GPUs in twos
  CHECK(tasks[2] == doctest::Approx(39.0));
}

TEST_CASE("Jain's index: 1 of equal shares, 1/n of one alone, and his example between") {
  CHECK(jain_index(std::vector{2.0, 2.0, 2.0, 2.0}) == doctest::Approx(1.0));
  CHECK(jain_index(std::vector{5.0, 0.0, 0.0, 0.0}) == doctest::Approx(0.25));
  CHECK(jain_index(std::vector{1.0, 3.0}) == doctest::Approx(16.0 / 20.0));
  CHECK(jain_index(std::vector<double>{}) == 1.0);
}

TEST_CASE("rollout: a surge of 25 % of 8 replicas needs 2 spare GPUs, and without them capacity drops to 75 %") {
  RolloutPlan plan{8, 1, 0.25, 0.0, Seconds{30.0}, Seconds{120.0}, 2};
  const Rollout with = rollout(plan);
  CHECK(with.surge == 2);
  CHECK(with.spare_gpus_wanted == 2);
  CHECK(with.lowest == 1.0);
  CHECK_FALSE(with.stuck);
  CHECK(with.batches == 4);
  // Two start while eight serve; then two old ones drain and two more start on their GPUs: four times, and the last
  // two drain at the end.
  CHECK(with.duration.raw() == doctest::Approx(4 * (120.0 + 30.0)));
  CHECK(with.rollback_first.raw() == doctest::Approx(150.0));
  plan.spare_gpus = 0;
  const Rollout without = rollout(plan);
  CHECK(without.stuck);
  CHECK(without.lowest == 0.75);
  CHECK(without.duration.raw() == doctest::Approx(4 * (30.0 + 120.0)));
}

TEST_CASE("rollout: Kubernetes rounds the surge up, the missing down, and never both to nothing") {
  const Rollout ten = rollout({10, 4, 0.25, 0.25, {}, Seconds{60.0}, 100});
  CHECK(ten.surge == 3);
  CHECK(ten.unavailable == 2);
  CHECK(ten.spare_gpus_wanted == 12);
  CHECK(ten.lowest == 0.8);
  const Rollout three = rollout({3, 1, 0.0, 0.25, {}, Seconds{60.0}, 0});
  CHECK(three.surge == 0);
  CHECK(three.unavailable == 1);
  CHECK(three.lowest == doctest::Approx(2.0 / 3.0));
  CHECK(three.duration.raw() == doctest::Approx(180.0));
  // 0.29 of 100 is 28.999999999999996 in binary.
  CHECK(rollout({100, 1, 0.29, 0.29, {}, {}, 100}).unavailable == 29);
  CHECK(rollout({100, 1, 0.07, 0.07, {}, {}, 100}).surge == 7);
}

TEST_CASE("rollout: with spare GPUs for half the surge no capacity is lost and it takes twice as long") {
  RolloutPlan plan{8, 1, 0.25, 0.0, Seconds{30.0}, Seconds{120.0}, 1};
  const Rollout half = rollout(plan);
  CHECK_FALSE(half.stuck);
  CHECK(half.lowest == 1.0);
  CHECK(half.duration.raw() == doctest::Approx(8 * 150.0));
}

namespace {

Seconds bound_of(const std::vector<Pool>& pools, const std::vector<Job>& jobs) {
  const std::vector<Tenant> tenants{{"tenant", 1.0, {}, {}}};
  return makespan_bound({pools, tenants, jobs}, std::vector<bool>(jobs.size(), true));
}

Job job_of(std::vector<Choice> choices) {
  Job job;
  job.choices = std::move(choices);
  return job;
}

}  // namespace

TEST_CASE("makespan bound: area, longest job, chain, late arrivals") {
  const std::vector<Pool> pool{{"pool", 2, 8}};
  const Job small = job_of({{0, 2, Seconds{40.0}}});
  CHECK(bound_of(pool, std::vector<Job>(16, small)).raw() == doctest::Approx(80.0));  // 16 * 2 * 40 / 16
  CHECK(bound_of(pool, {job_of({{0, 1, Seconds{500.0}}}), small}).raw() == doctest::Approx(500.0));
  std::vector<Job> chain(3, small);
  chain[1].after = {0};
  chain[2].after = {1};
  CHECK(bound_of(pool, chain).raw() == doctest::Approx(120.0));
  std::vector<Job> late(16, small);
  for (Job& job : late) {
    job.arrival = Seconds{100.0};
  }
  CHECK(bound_of(pool, late).raw() == doctest::Approx(180.0));
}

TEST_CASE(
    "makespan bound: no two gangs of more than half a node share it, nor two of more than half the pool the pool") {
  const std::vector<Pool> pool{{"pool", 2, 8}};
  CHECK(bound_of(pool, std::vector<Job>(6, job_of({{0, 5, Seconds{10.0}}}))).raw() == doctest::Approx(30.0));
  CHECK(bound_of(pool, std::vector<Job>(6, job_of({{0, 9, Seconds{10.0}}}))).raw() == doctest::Approx(60.0));
}

TEST_CASE("makespan bound: of unlike pools it is that of jobs split among them") {
  // 12 jobs of 1 GPU, 10 s on a fast pool of 1 and 20 s on a slow one of 1: in T seconds T/10 + T/20 jobs, so 80 s.
  const std::vector<Pool> pools{{"fast", 1, 1}, {"slow", 1, 1}};
  const Seconds bound = bound_of(pools, std::vector<Job>(12, job_of({{0, 1, Seconds{10.0}}, {1, 1, Seconds{20.0}}})));
  CHECK(bound.raw() <= 80.0 * (1.0 + 1e-12));
  CHECK(bound.raw() >= 80.0 * 0.98);
}

TEST_CASE("one more node: twice the pool halves a makespan of area and of waits") {
  const std::vector<Pool> pool{{"pool", 1, 8, DollarsPerSecond{1.0}}};
  const std::vector<Tenant> tenants{{"tenant", 1.0, {}, {}}};
  const std::vector<Job> jobs(4, job_of({{0, 8, Seconds{10.0}}}));
  const scheduler::Schedule base = schedule(pool, tenants, jobs, Policy{});
  const std::vector<OneMoreNode> more = value_of_one_more_node(pool, tenants, jobs, Policy{}, base);
  CHECK(base.makespan.raw() == doctest::Approx(40.0));
  CHECK(more[0].makespan.raw() == doctest::Approx(-20.0));
  CHECK(more[0].mean_wait.raw() == doctest::Approx((0.0 + 0.0 + 10.0 + 10.0) / 4 - (0.0 + 10.0 + 20.0 + 30.0) / 4));
  CHECK(more[0].cost.raw() == doctest::Approx(16 * 20.0 - 8 * 40.0));
}
