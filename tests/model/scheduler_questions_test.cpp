// SPDX-License-Identifier: Apache-2.0
// Small clusters whose schedules follow from arithmetic.
#include <doctest/doctest.h>

#include "scheduler_cases.hpp"
#include <algorithm>
#include <cstdint>
#include <vector>

using namespace headroom;
using namespace headroom::scheduler_cases;

namespace {

constexpr double hours = 3600.0;

Job job_on(std::vector<Choice> choices, std::size_t tenant = 0) {
  Job job;
  job.tenant = tenant;
  job.choices = std::move(choices);
  return job;
}

Tenant tenant_of(double weight = 1.0) {
  return {"tenant", weight, {}, {}};
}

scheduler::Schedule asked(const Case& c) {
  scheduler::Schedule s = schedule(c.pools, c.tenants, c.jobs, c.policy);
  CHECK(broken(c, s).empty());
  return s;
}

std::int64_t held_at(const Case& c, const scheduler::Schedule& s, std::size_t tenant, double at) {
  std::int64_t held = 0;
  for (const Hold& hold : s.holds) {
    if (c.jobs[hold.job].tenant == tenant && hold.from.raw() <= at && at < hold.to.raw()) {
      held += hold.gpus;
    }
  }
  return held;
}

std::vector<double> starts(const scheduler::Schedule& s) {
  std::vector<double> starts;
  for (const JobRun& run : s.runs) {
    starts.push_back(run.start.raw());
  }
  return starts;
}

}  // namespace

TEST_CASE("scheduler: of 64 GPUs tenants who want 100 and 20 hold 44 and 20") {
  Case c{{{"pool", 8, 8}}, {tenant_of(), tenant_of()}, {}, {}};
  for (int j = 0; j < 120; ++j) {
    c.jobs.push_back(job_on({{0, 1, Seconds{60.0}}}, j < 100 ? 0 : 1));
  }
  const scheduler::Schedule s = asked(c);
  CHECK(held_at(c, s, 0, 0.0) == 44);
  CHECK(held_at(c, s, 1, 0.0) == 20);
}

TEST_CASE("scheduler: weights 3 and 1 hold 48 and 16 of 64 GPUs") {
  Case c{{{"pool", 8, 8}}, {tenant_of(3.0), tenant_of(1.0)}, {}, {}};
  for (int j = 0; j < 200; ++j) {
    c.jobs.push_back(job_on({{0, 1, Seconds{60.0}}}, j % 2 == 0 ? 0 : 1));
  }
  const scheduler::Schedule s = asked(c);
  CHECK(held_at(c, s, 0, 0.0) == 48);
  CHECK(held_at(c, s, 1, 0.0) == 16);
}

TEST_CASE("scheduler: shares are of the pool that a tenant holds most of") {
  // The first holds 2 of 4 in the small pool, so that the second goes first until it holds 16 of 32 in the large one;
  // of the other 16 the first may take all before its share grows, and its jobs stand before.
  Case c{{{"small", 1, 4}, {"large", 4, 8}}, {tenant_of(), tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 2, Seconds{100.0}}}, 0)};
  for (int j = 0; j < 40; ++j) {
    c.jobs.push_back(job_on({{1, 1, Seconds{50.0}}}, 0));
    c.jobs.push_back(job_on({{1, 1, Seconds{50.0}}}, 1));
  }
  const scheduler::Schedule s = asked(c);
  CHECK(held_at(c, s, 1, 0.0) == 16);
}

TEST_CASE("scheduler: shares are of the pool that a tenant holds most of") {
  // The first holds 2 of 4 in a small pool, the second wants the large one: 16 of its 32 before their shares are equal,
  // and from then on they take turns.
  Case c{{{"small", 1, 4}, {"large", 4, 8}}, {tenant_of(), tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 2, Seconds{100.0}}}, 0)};
  for (int j = 0; j < 40; ++j) {
    c.jobs.push_back(job_on({{1, 1, Seconds{50.0}}}, 0));
    c.jobs.push_back(job_on({{1, 1, Seconds{50.0}}}, 1));
  }
  const scheduler::Schedule s = asked(c);
  // 16 + 2 n - 1 or so: the second reaches 16 of 32 = 2 of 4 alone, and the other 16 are shared evenly after the first
  // has as large a share there: it has 16 as well.
  CHECK(held_at(c, s, 1, 0.0) == 16);
  CHECK(held_at(c, s, 0, 0.0) == 2 + 16);
}

TEST_CASE("scheduler: a grant of 1000 GPU-hours refuses 64 GPUs for 20 h, and a crash at 10 h of 15 refunds 320") {
  Case c{{{"A100", 8, 8}}, {tenant_of()}, {}, {}};
  c.tenants[0].credit = 1000.0 * hours;
  c.jobs = {job_on({{0, 64, Seconds{20.0 * hours}}}), job_on({{0, 64, Seconds{15.0 * hours}}})};
  c.jobs[1].crash = Seconds{10.0 * hours};
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[0].outcome == Outcome::refused);
  CHECK(s.runs[0].refusal == Refusal::credit);
  CHECK(s.runs[1].outcome == Outcome::crashed);
  REQUIRE(s.ledger.size() == 5);
  const auto is = [&](std::size_t i, Entry::Kind kind, double amount, double balance) {
    return s.ledger[i].kind == kind && s.ledger[i].amount == doctest::Approx(amount * hours) &&
           s.ledger[i].balance == doctest::Approx(balance * hours);
  };
  CHECK(is(0, Entry::Kind::grant, 1000.0, 1000.0));
  CHECK(is(1, Entry::Kind::refuse, 1280.0, 1000.0));
  CHECK(is(2, Entry::Kind::reserve, 960.0, 40.0));
  CHECK(is(3, Entry::Kind::debit, 640.0, 40.0));
  CHECK(is(4, Entry::Kind::refund, 320.0, 360.0));
  CHECK(s.ledger[4].at.raw() == doctest::Approx(10.0 * hours));
}

TEST_CASE("scheduler: a GPU-second of a dearer pool costs more credits, and what fits the balance is taken") {
  Case c{{{"fast", 1, 8}, {"slow", 1, 8}}, {tenant_of()}, {}, {}};
  c.pools[0].credits = 4.0;
  c.tenants[0].credit = 100.0;
  c.jobs = {job_on({{0, 1, Seconds{30.0}}, {1, 1, Seconds{60.0}}})};  // 120 or 60 credits
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[0].choice == 1);
  CHECK(s.ledger.back().balance == doctest::Approx(40.0));
}

TEST_CASE("scheduler: who was stopped pays for its work once") {
  Case c{{{"pool", 1, 8}}, {tenant_of(), tenant_of()}, {}, {}};
  c.tenants[0].credit = 800.0;
  c.jobs = {job_on({{0, 8, Seconds{100.0}}}), job_on({{0, 8, Seconds{10.0}}}, 1)};
  c.jobs[0].preemptible = true;
  c.jobs[0].checkpoint = Seconds{30.0};
  c.jobs[0].restart = Seconds{5.0};
  c.jobs[1].priority = 1;
  c.jobs[1].arrival = Seconds{50.0};
  const scheduler::Schedule s = asked(c);
  // Stopped at 50 with 30 kept: 20 are done again. It starts again at 60, restarts for 5 and works the 70 left.
  CHECK(s.runs[1].start.raw() == doctest::Approx(50.0));
  CHECK(s.runs[0].end.raw() == doctest::Approx(60.0 + 5.0 + 70.0));
  CHECK(s.runs[0].lost.raw() == doctest::Approx(20.0 + 5.0));
  CHECK(s.runs[0].stops == 1);
  CHECK(s.ledger.back().kind == Entry::Kind::debit);
  CHECK(s.ledger.back().amount == doctest::Approx(800.0));
}

TEST_CASE("scheduler: only who may be stopped is, the least priority first, and no more than needed") {
  Case c{{{"pool", 2, 4}}, {tenant_of()}, {}, {}};
  c.jobs = std::vector<Job>(4, job_on({{0, 2, Seconds{100.0}}}));
  for (std::size_t j = 0; j < 4; ++j) {
    c.jobs[j].preemptible = j != 0;
    c.jobs[j].priority = static_cast<std::int64_t>(j) == 3 ? -1 : 0;
  }
  c.jobs.push_back(job_on({{0, 2, Seconds{10.0}}}));
  c.jobs[4].priority = 1;
  c.jobs[4].arrival = Seconds{20.0};
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[3].stops == 1);
  CHECK(s.runs[0].stops + s.runs[1].stops + s.runs[2].stops == 0);
  CHECK(s.runs[4].start.raw() == 20.0);
  c.policy.preempt = false;
  CHECK(asked(c).runs[4].start.raw() == 100.0);
}

TEST_CASE("scheduler: who lies where it does not help is not stopped") {
  // One node is held to its half by a job that may not be stopped; the gang of a whole node gets the other one.
  Case c{{{"pool", 2, 4}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 4, Seconds{100.0}}}), job_on({{0, 2, Seconds{100.0}}}), job_on({{0, 2, Seconds{100.0}}}),
            job_on({{0, 4, Seconds{10.0}}})};
  c.jobs[0].preemptible = c.jobs[2].preemptible = true;
  c.jobs[2].arrival = Seconds{1.0};  // the last to begin is the first to go
  c.jobs[3].arrival = Seconds{5.0};
  c.jobs[3].priority = 1;
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[3].start.raw() == 5.0);
  CHECK(s.runs[0].stops == 1);
  CHECK(s.runs[2].stops == 0);
}

TEST_CASE("scheduler: a small job goes before a large one that waits only where it does not delay it") {
  // 8 GPUs: 6 held to 100; the next wants 8. Of two GPUs a job to 90 starts, one to 110 does not.
  Case c{{{"pool", 8, 1}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 6, Seconds{100.0}}}), job_on({{0, 8, Seconds{50.0}}}), job_on({{0, 2, Seconds{110.0}}}),
            job_on({{0, 2, Seconds{90.0}}})};
  for (std::size_t j = 0; j < 4; ++j) {
    c.jobs[j].arrival = Seconds{static_cast<double>(j)};
  }
  c.policy.order = Order::backfill;
  CHECK(starts(asked(c)) == std::vector{0.0, 100.0, 150.0, 3.0});
  c.policy.order = Order::fifo;
  CHECK(starts(asked(c)) == std::vector{0.0, 100.0, 150.0, 150.0});
  // With 7 wanted, one GPU is left beside it: a job of one may run as long as it likes.
  c.jobs[1].choices[0].gpus = 7;
  c.jobs[2].choices[0].gpus = 1;
  c.policy.order = Order::backfill;
  CHECK(starts(asked(c)) == std::vector{0.0, 100.0, 2.0, 150.0});
}

TEST_CASE("scheduler: what is left in a node beside a job that waits is given once") {
  // 3 of a node's 8 to 100; the next wants 6, so that 2 are left beside it: a long job of 2 starts, then none of 1.
  Case c{{{"pool", 1, 8}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 3, Seconds{100.0}}}), job_on({{0, 6, Seconds{50.0}}}), job_on({{0, 2, Seconds{110.0}}}),
            job_on({{0, 1, Seconds{120.0}}})};
  for (std::size_t j = 0; j < 4; ++j) {
    c.jobs[j].arrival = Seconds{static_cast<double>(j)};
  }
  c.policy.order = Order::backfill;
  CHECK(starts(asked(c)) == std::vector{0.0, 100.0, 2.0, 112.0});
}

TEST_CASE("scheduler: a gang lies in one node where one holds it, the fullest that has room") {
  Case c{{{"pool", 3, 8}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 6, Seconds{100.0}}}), job_on({{0, 5, Seconds{90.0}}}), job_on({{0, 3, Seconds{80.0}}}),
            job_on({{0, 8, Seconds{70.0}}})};
  const scheduler::Schedule s = asked(c);
  CHECK(starts(s) == std::vector{0.0, 0.0, 0.0, 0.0});
  CHECK(s.holds[2].node == s.holds[1].node);  // 3 beside 5, not beside 6 nor alone
  CHECK(s.makespan.raw() == 100.0);
  // 2 + 0 + 0 GPUs are free: two gangs of 2 have room only one after the other though each fits the count.
  c.jobs.push_back(job_on({{0, 2, Seconds{10.0}}}));
  c.jobs.push_back(job_on({{0, 2, Seconds{10.0}}}));
  CHECK(starts(asked(c))[5] == 10.0);
}

TEST_CASE("scheduler: a gang larger than a node takes whole nodes and the rest of one") {
  Case c{{{"pool", 4, 8}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 20, Seconds{10.0}}})};
  const scheduler::Schedule s = asked(c);
  std::vector<std::int64_t> gpus;
  for (const Hold& hold : s.holds) {
    gpus.push_back(hold.gpus);
  }
  std::sort(gpus.begin(), gpus.end());
  CHECK(gpus == std::vector<std::int64_t>{4, 8, 8});
}

TEST_CASE("scheduler: GPUs that lie on too many nodes are told as fragmented") {
  // Two nodes of 4 with 2 held in each to 10: a gang of 4 waits beside 4 free GPUs.
  Case c{{{"pool", 2, 4}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 3, Seconds{10.0}}}), job_on({{0, 3, Seconds{10.0}}}), job_on({{0, 2, Seconds{10.0}}})};
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[2].start.raw() == 10.0);
  CHECK(s.pools[0].fragmented == doctest::Approx(2 * 10.0));
  CHECK(s.pools[0].stranded == 0.0);
}

TEST_CASE("scheduler: light jobs leave the A100s alone unless the T4s are full and they may spill") {
  Case c{{{"T4", 4, 1}, {"A100", 1, 4}}, {tenant_of()}, {}, {}};
  c.jobs = std::vector<Job>(6, job_on({{0, 1, Seconds{40.0}}}));
  const scheduler::Schedule labelled = asked(c);
  for (const Hold& hold : labelled.holds) {
    CHECK(hold.pool == 0);
  }
  CHECK(labelled.makespan.raw() == 80.0);
  // Two wait for 40 s beside four free A100s.
  CHECK(labelled.pools[1].stranded == doctest::Approx(2 * 40.0));
  for (Job& job : c.jobs) {
    job.choices.push_back({1, 1, Seconds{10.0}, true});
  }
  const scheduler::Schedule spilt = asked(c);
  CHECK(std::count_if(spilt.holds.begin(), spilt.holds.end(), [](const Hold& hold) { return hold.pool == 1; }) == 2);
  CHECK(spilt.makespan.raw() == 40.0);
  CHECK(spilt.pools[1].stranded == 0.0);
  // Large jobs that can start at once go first, and the light ones follow at 30 s, still before a T4 is free.
  c.jobs.push_back(job_on({{1, 4, Seconds{30.0}}}));
  const scheduler::Schedule large = asked(c);
  CHECK(large.runs[6].start.raw() == 0.0);
  CHECK(large.makespan.raw() == 30.0 + 10.0);
}

TEST_CASE(
    "scheduler: of T4s and A100s light jobs take the T4s because large ones want the A100s, and FIFO ends later") {
  // Four large jobs of 8 h, 4 A100s each, that no T4 holds; eight light ones of one T4 for 8 h or one A100 for 4 h.
  Case c{{{"T4", 8, 1, DollarsPerSecond{0.35 / hours}}, {"A100", 1, 8, DollarsPerSecond{3.0 / hours}}},
         {tenant_of()},
         {},
         {}};
  for (int j = 0; j < 8; ++j) {
    c.jobs.push_back(job_on({{0, 1, Seconds{8.0 * hours}}, {1, 1, Seconds{4.0 * hours}}}));
  }
  for (int j = 0; j < 4; ++j) {
    c.jobs.push_back(job_on({{1, 4, Seconds{8.0 * hours}}}));
  }
  for (std::size_t j = 0; j < c.jobs.size(); ++j) {
    c.jobs[j].arrival = Seconds{0.001 * static_cast<double>(j)};
  }
  c.policy.order = Order::fifo;
  const scheduler::Schedule fifo = asked(c);
  for (Job& job : c.jobs) {
    job.arrival = Seconds{};
  }
  c.policy.order = Order::fair;
  const scheduler::Schedule fair = asked(c);
  CHECK(fair.makespan.raw() == doctest::Approx(16.0 * hours));  // two at once, twice: the A100s' area
  CHECK(fair.proven);
  CHECK(fifo.makespan > fair.makespan);
  CHECK(fifo.cost > fair.cost);
}

TEST_CASE("scheduler: no more GPUs are stranded than are free") {
  // Ten light jobs on four T4s beside four A100s: six wait to 40 s, two to 80 s.
  Case c{{{"T4", 4, 1}, {"A100", 1, 4}}, {tenant_of()}, {}, {}};
  c.jobs = std::vector<Job>(10, job_on({{0, 1, Seconds{40.0}}}));
  CHECK(asked(c).pools[1].stranded == doctest::Approx((4 + 2) * 40.0));
}

TEST_CASE("scheduler: nothing spills while a choice that does not could start, though waiting for another is better") {
  // The fast pool is free at 5 s, and 15 s there is later than 13 s on the pool that it may spill to, which it may only
  // where the slow one is full.
  Case c{{{"fast", 1, 1}, {"slow", 1, 1}, {"other", 1, 1}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 1, Seconds{5.0}}}),
            job_on({{0, 1, Seconds{10.0}}, {1, 1, Seconds{100.0}}, {2, 1, Seconds{12.0}, true}})};
  c.jobs[1].arrival = Seconds{1.0};
  CHECK(asked(c).runs[1].choice == 0);
  c.jobs.push_back(job_on({{1, 1, Seconds{500.0}}}));
  CHECK(asked(c).runs[1].choice == 2);
}

TEST_CASE("scheduler: jobs that all are faster on one pool go to the other as well when many wait for it") {
  // 12 jobs of 10 s or 25 s on one GPU each: with those ahead of it counted, each goes where it ends first. In T
  // seconds T/10 + T/25 jobs are done, so that no schedule beats 85.7 s; 9 and 3 jobs take 90.
  Case c{{{"fast", 1, 1}, {"slow", 1, 1}}, {tenant_of()}, {}, {}};
  c.jobs = std::vector<Job>(12, job_on({{0, 1, Seconds{10.0}}, {1, 1, Seconds{25.0}}}));
  CHECK(asked(c).makespan.raw() <= 100.0);
}

TEST_CASE("scheduler: a rented pool is taken only where the own one cannot start the job at once, and paid as held") {
  Case c{{{"own", 1, 4, DollarsPerSecond{1.0}}, {"rented", 2, 4, DollarsPerSecond{3.0}, true, Seconds{5.0}}},
         {tenant_of()},
         {},
         {}};
  c.jobs = std::vector<Job>(2, job_on({{0, 4, Seconds{100.0}}, {1, 4, Seconds{100.0}}}));
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[0].choice == 0);
  CHECK(s.runs[1].choice == 1);
  CHECK(s.runs[1].start.raw() == 5.0);
  CHECK(s.runs[1].end.raw() == 105.0);
  CHECK(s.pools[0].cost.raw() == doctest::Approx(4 * 105.0));
  CHECK(s.pools[1].cost.raw() == doctest::Approx(3 * 4 * 105.0));
  CHECK(s.cost.raw() == doctest::Approx(4 * 105.0 + 3 * 4 * 105.0));
  // One that would end no sooner there waits.
  c.pools[1].start_up = Seconds{100.0};
  CHECK(asked(c).runs[1].choice == 0);
}

TEST_CASE("scheduler: a job takes the choice that meets its deadline, and one that none meets is run and told late") {
  Case c{{{"slow", 1, 4}, {"fast", 1, 4}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 4, Seconds{100.0}}, {1, 4, Seconds{40.0}, true}})};
  CHECK(asked(c).runs[0].choice == 0);  // the other spills, and there is room
  c.jobs[0].deadline = Seconds{50.0};
  const scheduler::Schedule met = asked(c);
  CHECK(met.runs[0].choice == 1);
  CHECK(met.runs[0].outcome == Outcome::done);
  c.jobs[0].deadline = Seconds{30.0};
  CHECK(asked(c).runs[0].outcome == Outcome::late);
}

TEST_CASE("scheduler: a job starts when the last that it waits for has ended, and never after one that crashed") {
  Case c{{{"pool", 1, 8}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 1, Seconds{10.0}}}), job_on({{0, 1, Seconds{20.0}}}), job_on({{0, 1, Seconds{5.0}}}),
            job_on({{0, 1, Seconds{5.0}}})};
  c.jobs[2].after = {0, 1};
  c.jobs[3].after = {2};
  CHECK(starts(asked(c)) == std::vector{0.0, 0.0, 20.0, 25.0});
  c.jobs[0].crash = Seconds{3.0};
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[2].refusal == Refusal::prerequisite);
  CHECK(s.runs[2].because == 0);
  CHECK(s.runs[3].refusal == Refusal::prerequisite);
  CHECK(s.runs[3].because == 2);
}

TEST_CASE("scheduler: a quota keeps a tenant's jobs waiting beside free GPUs, which are told as stranded") {
  Case c{{{"pool", 1, 8}}, {tenant_of()}, {}, {}};
  c.tenants[0].quota = {4};
  c.jobs = std::vector<Job>(4, job_on({{0, 2, Seconds{10.0}}}));
  c.jobs.push_back(job_on({{0, 5, Seconds{10.0}}}));
  const scheduler::Schedule s = asked(c);
  CHECK(s.makespan.raw() == 20.0);
  CHECK(s.pools[0].stranded == doctest::Approx(4 * 10.0));  // two gangs of 2 for 10 s
  CHECK(s.pools[0].most == 4);
  CHECK(s.runs[4].refusal == Refusal::quota);
}

TEST_CASE("scheduler: within a quota small jobs do not keep a large one waiting for ever") {
  Case c{{{"pool", 1, 8}}, {tenant_of()}, {}, {}};
  c.tenants[0].quota = {4};
  c.policy.order = Order::backfill;
  c.jobs = {job_on({{0, 1, Seconds{10.0}}}), job_on({{0, 4, Seconds{10.0}}})};
  for (int j = 0; j < 50; ++j) {
    c.jobs.push_back(job_on({{0, 1, Seconds{7.0}}}));
  }
  for (std::size_t j = 0; j < c.jobs.size(); ++j) {
    c.jobs[j].arrival = Seconds{static_cast<double>(j)};
  }
  CHECK(asked(c).runs[1].start.raw() == 10.0);
}

TEST_CASE("scheduler: a large gang of one tenant starts though another's small jobs never end") {
  Case c{{{"pool", 8, 1}}, {tenant_of(), tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 6, Seconds{5.0}}}, 0), job_on({{0, 1, Seconds{40.0}}}, 0)};
  c.jobs[0].arrival = Seconds{1.0};
  for (int j = 0; j < 300; ++j) {
    c.jobs.push_back(job_on({{0, 1, Seconds{4.0 + 0.1 * (j % 7)}}}, 1));
  }
  // 300 jobs of some 4.3 s on some 7 GPUs take 180 s; all GPUs are taken at 1 s, and within two such jobs 6 are free.
  CHECK(asked(c).runs[0].start.raw() <= 1.0 + 2 * 4.6);
}

TEST_CASE("scheduler: the same question has the same schedule, whatever was asked before") {
  const Case c = random_case(77);
  const scheduler::Schedule first = asked(c);
  (void)asked(random_case(78));
  const scheduler::Schedule second = asked(c);
  REQUIRE(first.holds.size() == second.holds.size());
  for (std::size_t i = 0; i < first.holds.size(); ++i) {
    CHECK(first.holds[i].job == second.holds[i].job);
    CHECK(first.holds[i].node == second.holds[i].node);
    CHECK(first.holds[i].first_gpu == second.holds[i].first_gpu);
    CHECK(first.holds[i].from == second.holds[i].from);
  }
}

TEST_CASE("scheduler: a job is stopped so many times and no more") {
  // 50 s of work that keeps nothing, beside a job of 1 s each 10 s: stopped at 10, 20 and 30, then let be. From 31 s it
  // restarts for 1 s and works 50.
  Case c{{{"pool", 1, 1}}, {tenant_of()}, {}, {}};
  c.jobs = {job_on({{0, 1, Seconds{50.0}}})};
  c.jobs[0].preemptible = true;
  c.jobs[0].checkpoint = Seconds{1e9};
  c.jobs[0].restart = Seconds{1.0};
  for (int j = 1; j <= 20; ++j) {
    c.jobs.push_back(job_on({{0, 1, Seconds{1.0}}}));
    c.jobs.back().priority = 1;
    c.jobs.back().arrival = Seconds{10.0 * j};
  }
  c.policy.most_stops = 3;
  const scheduler::Schedule s = asked(c);
  CHECK(s.runs[0].stops == 3);
  CHECK(s.runs[0].end.raw() == 31.0 + 1.0 + 50.0);
  c.policy.most_stops = 100;
  CHECK(asked(c).runs[0].stops == 20);
}

TEST_CASE("scheduler: a storm of jobs that stop each other ends") {
  // Ten priorities on 8 GPUs: what is lost is at most all work and a restart for each stop.
  Case c{{{"pool", 1, 8}}, {tenant_of()}, {}, {}};
  std::int64_t stops = 0;
  for (int j = 0; j < 400; ++j) {
    Job job = job_on({{0, 1 + j % 8, Seconds{10.0}}});
    job.priority = (j * 7) % 10;
    job.arrival = Seconds{static_cast<double>(j)};
    job.preemptible = true;
    job.checkpoint = Seconds{1e9};
    job.restart = Seconds{1.0};
    c.jobs.push_back(job);
  }
  const scheduler::Schedule s = asked(c);
  for (const JobRun& run : s.runs) {
    stops += run.stops;
  }
  CHECK(stops > 0);
  CHECK(s.makespan.raw() <= 399.0 + 400 * 10.0 + static_cast<double>(stops) * 11.0);
}

TEST_CASE("scheduler: nothing asked is an empty schedule") {
  const scheduler::Schedule none = schedule({{"pool", 1, 8}}, {tenant_of()}, {}, Policy{});
  CHECK(none.runs.empty());
  CHECK(none.makespan == Seconds{});
  Policy shortest;
  shortest.order = Order::shortest;
  CHECK(schedule({{"pool", 1, 8}}, {tenant_of()}, {}, shortest).holds.empty());
}
