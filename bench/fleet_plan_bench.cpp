// SPDX-License-Identifier: Apache-2.0
// Time to find the cheapest fleet for a 70B at 12 requests per second with promised tails, over six SKUs, four layouts,
// four weight formats and two cache formats. Exit code 1 above the bar.
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace headroom;

int main() {
  constexpr double bar = 10.0;  // seconds
  const std::vector<std::string> question{
      "kind=serve",
      "model=llama3.1-70b",
      R"(search.gpu=["a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb", "gh200-144gb", "b200-sxm-180gb", "l40s"])",
      R"(search.weights=["bf16", "fp8", "nvfp4", "int4"])",
      R"(search.kv_cache=["bf16", "fp8"])",
      "search.tp=[1, 2, 4, 8]",
      "traffic.rate=12 req/s",
      R"(traffic.prompt={mean=1500, law="lognormal", cv=1.0, most=16384})",
      R"(traffic.output={mean=250, law="lognormal", cv=0.8, most=2048})",
      "slo.ttft_p95=1 s",
      "slo.tpot_p95=50 ms",
  };
  try {
    const Sources sources = Sources::standard();
    const auto begin = std::chrono::steady_clock::now();
    const FleetPlan plan = plan_fleet(read_fleet(scenario_tree(question), "bench", sources));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::size_t sized = 0;
    for (const FleetOption& option : plan.options) {
      sized += option.sized ? 1 : 0;
    }
    std::printf("%llu ways: %zu screened, %zu of them simulated, %zu left out, in %.2f s (bar %.0f s)\n",
                static_cast<unsigned long long>(plan.combinations), plan.options.size(), sized, plan.dropped.size(),
                seconds, bar);
    return seconds < bar && plan.feasible() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
