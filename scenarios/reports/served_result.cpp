// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/launch/bench_load.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/reports/plan_reports.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <variant>

namespace headroom {

ServedResult served_result(const Plan& plan) {
  const auto& answer = std::get<ServePlan>(plan.answer);
  const auto& serve = std::get<ServeScenario>(plan.scenario.question);
  if (!answer.times) {
    throw ConfigError{"no time is priced, so that there is no result to write" +
                      (answer.untimed.empty() ? std::string{} : ": " + answer.untimed)};
  }
  ServedResult result;
  result.scenario = &plan.scenario;
  result.serve = &serve;
  result.replicas = std::max<std::int64_t>(1, serve.work.gpus / serve.work.layout.gpus());
  result.requests = launch::bench_load(launch::serve_keys(plan.scenario, serve), true).prompts;
  result.isl = static_cast<double>(serve.work.isl);
  result.osl = static_cast<double>(serve.work.osl);
  result.ttft.mean = answer.ttft.mid;
  result.tpot.mean = answer.tpot.mid;
  result.e2e.mean = answer.ttft.mid + (result.osl - 1.0) * answer.tpot.mid;
  result.requests_per_s = answer.requests_per_s.mid;
  result.output_tokens_per_s = answer.output_tokens_per_s.mid;
  result.input_tokens_per_s = result.requests_per_s * result.isl;
  result.concurrency = static_cast<double>(serve.work.concurrency);
  return result;
}

ServedResult served_result(const FleetPlan& plan) {
  if (!plan.simulated || plan.options.empty() || !plan.options.front().sized) {
    throw ConfigError{"the fleet was not simulated, so that there is no result to write; give the answer more time"};
  }
  const FleetOption& option = plan.options.front();
  const ServingSimulation& simulated = *plan.simulated;
  const RequestMetrics& all = simulated.metrics.all;
  ServedResult result;
  result.scenario = option.scenario.get();
  result.serve = &option.question();
  result.replicas = simulated.replicas;
  result.prefill = simulated.prefill_replicas;
  result.requests = all.requests;
  result.failed = all.refused + all.unfinished;
  result.distributed = true;
  result.ttft = simulated.ttft.mid;
  result.tpot = simulated.tpot.mid;
  result.e2e = simulated.e2e.mid;
  result.requests_per_s = all.finished_per_s;
  result.output_tokens_per_s = all.output_tokens_per_s;
  result.input_tokens_per_s = all.input_tokens_per_s;
  if (all.finished_per_s > 0.0) {
    result.isl = all.input_tokens_per_s / all.finished_per_s;
    result.osl = all.output_tokens_per_s / all.finished_per_s;
  }
  result.rate = simulated.offered.raw();
  return result;
}

}  // namespace headroom
