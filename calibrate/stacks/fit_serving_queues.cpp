// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_serving_queues.hpp>

namespace headroom {

std::size_t QueueRuns::add(const SimulatedQuestion& question, double& first) {
  const IterationStack& stack = question.placed.stack->time;
  const auto [run, fresh] = first_.try_emplace(question.run);
  if (fresh) {
    std::vector<IterationTerms> priced;
    const SimulatedReplica engine =
        simulated_engine(question, stack, iteration_physics(data_), [&](const IterationMix& mix, TablePoint point) {
          priced.push_back(priced_terms(*question.placed.replica, mix, point));
          return priced.back();
        });
    run->second = simulated_report(question, engine, stack, published_loads(data_));
    kernels_.try_emplace(question.engine(), std::move(priced));
  }
  first = question.to_unit * run->second.of(question.metric, question.statistic);
  questions_.push_back(question);
  engine_of_.push_back(
      engines_.try_emplace(question.engine(), static_cast<std::ptrdiff_t>(engines_.size())).first->second);
  return questions_.size() - 1;
}

void QueueRuns::predict(std::span<const std::size_t> which,
                        const StackOf& stack,
                        const IterationPhysics& physics,
                        std::span<double> out) const {
  PublishedLoads once = published_loads(data_);
  once.repeats = 1;  // the same draws at every point, so that points are comparable
  std::map<std::string, SimulatedReplica, std::less<>> engines;
  std::map<std::string, ClientReport, std::less<>> reports;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const SimulatedQuestion& q = questions_[which[i]];
    const auto [report, fresh] = reports.try_emplace(q.run);
    if (fresh) {
      const IterationStack& numbers = stack(q.placed.stack->id);
      const auto [engine, unknown] = engines.try_emplace(q.engine());
      if (unknown) {
        const std::vector<IterationTerms>& priced = kernels_.find(engine->first)->second;
        std::size_t next = 0;
        engine->second =
            simulated_engine(q, numbers, physics, [&](const IterationMix&, TablePoint) { return priced[next++]; });
      }
      report->second = simulated_report(q, engine->second, numbers, once);
    }
    out[i] = q.to_unit * report->second.of(q.metric, q.statistic);
  }
}

}  // namespace headroom
