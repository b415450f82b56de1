// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>
#include <headroom/scenarios/inference/job_time.hpp>

#include <string>

namespace headroom {

JobPlan plan_job(const BatchScenario& s, const CallBook& book, double fed) {
  const BatchJob& job = *s.job;
  const std::int64_t batch = best_batch(s, book);
  const double call = book.curve.of(batch).raw();
  JobUnit gpu;
  gpu.called = job.utilisation * real(batch) / call;
  gpu.fed = fed;
  gpu.slow = gpu.fast = lognormal_sigma(book.width);
  std::string broken;
  if (job.longest_call && book.curve.of(batch) > *job.longest_call) {
    broken = "a call of one sample takes " + format(book.curve.of(1)) + ", above the " + format(*job.longest_call) +
             " of job.longest_call";
  }
  JobPlan plan = size_job({job, s.gpus, s.confidence, s.money.price}, gpu, broken);
  plan.batch = batch;
  plan.busy = plan.rate * call / real(batch);
  return plan;
}

}  // namespace headroom
