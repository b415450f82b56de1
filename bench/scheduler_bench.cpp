// SPDX-License-Identifier: Apache-2.0
// Schedules of 10,000 jobs that all wait from the start.
#include <headroom/model/scheduler/cluster_jobs.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

namespace headroom::scheduler {
namespace {

constexpr std::int64_t jobs_of_a_schedule = 10000;

/// Gangs of one to eight GPUs, three of ten of up to an eighth of a pool, for a minute to ten hours; on further pools
/// twice and three times as long.
std::vector<Job> random_jobs(std::int64_t pools, std::int64_t nodes, std::int64_t tenants) {
  std::mt19937_64 random{1};
  const auto below = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  };
  std::vector<Job> jobs;
  for (std::int64_t j = 0; j < jobs_of_a_schedule; ++j) {
    Job job;
    job.tenant = static_cast<std::size_t>(j % tenants);
    const std::int64_t gang = below(10) < 7 ? 1 + below(8) : 8 * (1 + below(nodes / 8));
    const double time = 60.0 + static_cast<double>(below(36000));
    for (std::int64_t pool = 0; pool < pools; ++pool) {
      job.choices.push_back({static_cast<std::size_t>(pool), gang, Seconds{time * static_cast<double>(pool + 1)}});
    }
    jobs.push_back(job);
  }
  return jobs;
}

void cluster_schedule(benchmark::State& state) {
  const std::int64_t pools = state.range(1), nodes = state.range(2), tenants = state.range(3);
  const std::vector<Pool> cluster(static_cast<std::size_t>(pools), Pool{"pool", nodes, 8});
  const std::vector<Tenant> owners(static_cast<std::size_t>(tenants), Tenant{"tenant", 1.0, {}, {}});
  const std::vector<Job> jobs = random_jobs(pools, nodes, tenants);
  Policy policy;
  policy.order = static_cast<Order>(state.range(0));
  double over_bound = 0.0;
  for (auto _ : state) {
    const Schedule made = schedule(cluster, owners, jobs, policy);
    over_bound = made.makespan / made.bound;
  }
  state.counters["makespan_over_bound"] = over_bound;
  state.SetItemsProcessed(state.iterations() * jobs_of_a_schedule);
}

void each_order(benchmark::internal::Benchmark* bench) {
  for (std::int64_t order = 0; order <= static_cast<std::int64_t>(Order::shortest); ++order) {
    bench->Args({order, 1, 125, 4});
    bench->Args({order, 3, 125, 20});
    bench->Args({order, 1, 10000, 4});
  }
}
BENCHMARK(cluster_schedule)->Apply(each_order)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headroom::scheduler
