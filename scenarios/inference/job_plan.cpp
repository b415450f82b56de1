// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// A job on some GPUs: its middle time and how far runs lie from it.
class JobTime {
 public:
  JobTime(const BatchScenario& s, double rate, double sigma) : s_{s}, rate_{rate}, sigma_{sigma} {
    // An interruption comes at any time of a chunk: half of it is done again, and a GPU is asked for again.
    loss_ = 0.5 * real(s.job->chunk) / rate + s.job->start.raw();
    useful_ = 1.0 / (1.0 + s.job->interruptions * loss_);
  }
  [[nodiscard]] double useful() const noexcept { return useful_; }
  /// Rounds of chunks: the last chunks leave GPUs without work.
  [[nodiscard]] double middle(std::int64_t gpus) const noexcept {
    const double chunks = std::ceil(s_.job->records / real(s_.job->chunk));
    const double rounds = std::ceil(chunks / real(gpus));
    const double even = s_.job->records / (real(gpus) * rate_);
    const double last = std::min(rounds * real(s_.job->chunk), s_.job->records) / rate_;
    return s_.job->start.raw() + std::max(even, last) / useful_;
  }
  /// Standard deviation of the logarithm: of calls, and of how many interruptions come.
  [[nodiscard]] double sigma(std::int64_t gpus) const noexcept {
    const double time = middle(gpus);
    const double interruptions = s_.job->interruptions * real(gpus) * time;
    const double lost = std::sqrt(interruptions) * loss_ / real(gpus);
    return std::hypot(sigma_, lost / time);
  }
  [[nodiscard]] Seconds quantile(std::int64_t gpus, double share) const noexcept {
    const double start = s_.job->start.raw();
    return Seconds{start + (middle(gpus) - start) * std::exp(normal_quantile(share) * sigma(gpus))};
  }
  [[nodiscard]] double probability(std::int64_t gpus, Seconds deadline) const noexcept {
    const double start = s_.job->start.raw();
    if (deadline.raw() <= start) {
      return 0.0;
    }
    return normal_share(std::log((deadline.raw() - start) / (middle(gpus) - start)) / sigma(gpus));
  }
  /// The fewest GPUs whose job ends by the deadline with that probability; 0 where chunks do not divide so far.
  [[nodiscard]] std::int64_t fewest(Seconds deadline, double share) const noexcept {
    const auto most = static_cast<std::int64_t>(std::ceil(s_.job->records / real(s_.job->chunk)));
    const auto ends = [&](std::int64_t gpus) { return quantile(gpus, share) <= deadline; };
    if (!ends(most)) {
      return 0;
    }
    std::int64_t less = 0, enough = most;
    while (enough - less > 1) {
      const std::int64_t middle = less + (enough - less) / 2;
      (ends(middle) ? enough : less) = middle;
    }
    return enough;
  }

 private:
  const BatchScenario& s_;
  double rate_, sigma_;
  double loss_ = 0.0, useful_ = 1.0;
};

}  // namespace

JobPlan plan_job(const BatchScenario& s, const CallBook& book, double fed) {
  const BatchJob& job = *s.job;
  JobPlan plan;
  plan.batch = s.max_batch ? std::min(*s.max_batch, book.curve.largest()) : best_batch(s, book);
  const double called = job.utilisation * real(plan.batch) / book.curve.of(plan.batch).raw();
  plan.rate = std::min(called, fed);
  // What feeds the GPUs is stated, not modelled: where it binds, calls' error moves nothing.
  const double sigma = called <= fed ? lognormal_sigma(book.width) : 0.0;
  const JobTime time{s, plan.rate, sigma};
  plan.useful = time.useful();
  if (s.gpus) {
    plan.gpus = plan.gpus_at_middle = *s.gpus;
  } else if (job.deadline) {
    plan.gpus = time.fewest(*job.deadline, s.confidence);
    plan.gpus_at_middle = std::max<std::int64_t>(1, time.fewest(*job.deadline, 0.5));
    if (plan.gpus == 0) {
      plan.holds = false;
      plan.gpus = static_cast<std::int64_t>(std::ceil(job.records / real(job.chunk)));
      plan.why = "more GPUs will not help: a chunk of " + format_count(real(job.chunk)) + " records takes " +
                 format(Seconds{real(job.chunk) / plan.rate}) + " on one GPU, after " + format(job.start) +
                 " to start; smaller chunks (job.chunk) spread further";
    }
  }
  for (std::size_t i = 0; i < job_shares.size(); ++i) {
    plan.time[i] = time.quantile(plan.gpus, job_shares[i]);
  }
  if (job.deadline) {
    plan.rate_needed = job.records / job.deadline->raw();
    plan.probability = time.probability(plan.gpus, *job.deadline);
    if (plan.holds && plan.probability < s.confidence - 1e-9) {
      plan.holds = false;
      plan.why = std::to_string(plan.gpus) + " GPUs end by the deadline with probability " +
                 format_number(100.0 * plan.probability) + " %, and " + format_number(100.0 * s.confidence) +
                 " % is asked" +
                 (time.fewest(*job.deadline, s.confidence) > 0
                      ? ": " + std::to_string(time.fewest(*job.deadline, s.confidence)) + " GPUs do"
                      : "");
    }
  }
  if (s.money.price) {
    const auto cost = [&](Seconds of) { return rent(*s.money.price, real(plan.gpus), of); };
    plan.cost = cost(plan.time[0]);
    plan.per_million = (1e6 / job.records) * *plan.cost;
    const Dollars sure = cost(time.quantile(plan.gpus, s.confidence));
    if (job.budget && sure > *job.budget) {
      plan.holds = false;
      plan.why += (plan.why.empty() ? "" : "; ") + std::string{"the job costs "} + format(*plan.cost) + ", up to " +
                  format(sure) + " with probability " + format_number(100.0 * s.confidence) + " %, and " +
                  format(*job.budget) + " is the budget";
    }
  }
  return plan;
}

}  // namespace headroom
