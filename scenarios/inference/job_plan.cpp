// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// A job on some GPUs, at any point of the calls' distribution.
class JobTime {
 public:
  JobTime(const BatchScenario& s, double called, double fed, double sigma)
      : job_{*s.job}, chunk_{std::min(real(job_.chunk), job_.records)}, called_{called}, fed_{fed}, sigma_{sigma} {}

  /// Records a second of one GPU where calls take exp(z sigma) times their middle.
  [[nodiscard]] double rate(double z) const noexcept { return std::min(fed_, called_ * std::exp(-z * sigma_)); }
  /// Share of a GPU's time that counts. A chunk of c seconds under interruptions of rate l, each of which starts it
  /// again after a new start of s, takes (e^(l c) - 1) (1 / l + s) on the mean (Daly 2006, equation 9, without
  /// checkpoints).
  [[nodiscard]] double useful(double z) const noexcept {
    const double l = job_.interruptions;
    const double c = chunk_ / rate(z);
    return l > 0.0 ? c / (std::expm1(l * c) * (1.0 / l + job_.start.raw())) : 1.0;
  }
  /// Interruptions in the time of one chunk.
  [[nodiscard]] double interruptions_of_chunk() const noexcept { return job_.interruptions * chunk_ / rate(0.0); }
  [[nodiscard]] double chunks() const noexcept { return std::ceil(job_.records / chunk_); }

  /// Rounds of chunks: the last ones leave GPUs without work.
  [[nodiscard]] double seconds(std::int64_t gpus, double z) const noexcept {
    const double even = job_.records / (real(gpus) * rate(z));
    const double rounds = std::ceil(chunks() / real(gpus)) * chunk_ / rate(z);
    const double busy = std::max(even, std::min(rounds, job_.records / rate(z))) / useful(z);
    // How many interruptions come spreads too: a Poisson number, each of which loses half a chunk and a start.
    const double lost = 0.5 * chunk_ / rate(z) + job_.start.raw();
    const double spread = std::sqrt(job_.interruptions * real(gpus) * busy) * lost / real(gpus);
    return job_.start.raw() + busy * std::exp(z * spread / busy);
  }
  [[nodiscard]] Seconds quantile(std::int64_t gpus, double share) const noexcept {
    return Seconds{seconds(gpus, normal_quantile(share))};
  }
  [[nodiscard]] double probability(std::int64_t gpus, Seconds deadline) const noexcept {
    double low = -6.0, high = 6.0;
    if (seconds(gpus, low) > deadline.raw()) {
      return 0.0;
    }
    if (seconds(gpus, high) <= deadline.raw()) {
      return 1.0;
    }
    for (int i = 0; i < 40; ++i) {
      const double middle = 0.5 * (low + high);
      (seconds(gpus, middle) <= deadline.raw() ? low : high) = middle;
    }
    return normal_share(low);
  }
  /// The fewest GPUs whose job ends by the deadline with that probability; 0 where chunks do not divide so far.
  [[nodiscard]] std::int64_t fewest(Seconds deadline, double share) const noexcept {
    const double z = normal_quantile(share);
    const auto most = static_cast<std::int64_t>(std::min(chunks(), 1e9));
    const auto ends = [&](std::int64_t gpus) { return seconds(gpus, z) <= deadline.raw(); };
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
  const BatchJob& job_;
  double chunk_, called_, fed_, sigma_;
};

}  // namespace

JobPlan plan_job(const BatchScenario& s, const CallBook& book, double fed) {
  const BatchJob& job = *s.job;
  JobPlan plan;
  plan.batch = best_batch(s, book);
  const double call = book.curve.of(plan.batch).raw();
  const double called = job.utilisation * real(plan.batch) / call;
  const JobTime time{s, called, fed, lognormal_sigma(book.width)};
  plan.rate = time.rate(0.0);
  plan.busy = plan.rate * call / real(plan.batch);
  plan.useful = time.useful(0.0);
  if (s.gpus) {
    plan.gpus = plan.gpus_at_middle = *s.gpus;
  } else if (job.deadline) {
    plan.gpus = time.fewest(*job.deadline, s.confidence);
    plan.gpus_at_middle = std::max<std::int64_t>(1, time.fewest(*job.deadline, 0.5));
    if (plan.gpus == 0) {
      plan.holds = false;
      plan.gpus = static_cast<std::int64_t>(std::min(time.chunks(), 1e9));
      plan.why = "more GPUs will not help: a chunk of " + format_count(std::min(real(job.chunk), job.records)) +
                 " records takes " + format(Seconds{std::min(real(job.chunk), job.records) / plan.rate}) +
                 " on one GPU, after " + format(job.start) + " to start; smaller chunks (job.chunk) spread further";
    }
  }
  for (std::size_t i = 0; i < job_shares.size(); ++i) {
    plan.time[i] = time.quantile(plan.gpus, job_shares[i]);
  }
  const auto breaks = [&](const std::string& why) {
    plan.holds = false;
    plan.why += (plan.why.empty() ? "" : "; ") + why;
  };
  if (job.longest_call && book.curve.of(plan.batch) > *job.longest_call) {
    breaks("a call of one sample takes " + format(book.curve.of(1)) + ", above the " + format(*job.longest_call) +
           " of job.longest_call");
  }
  if (time.interruptions_of_chunk() > 1.0) {
    breaks("a chunk takes " + format(Seconds{std::min(real(job.chunk), job.records) / plan.rate}) +
           " and is interrupted " + format_number(time.interruptions_of_chunk()) +
           " times in that; take smaller chunks (job.chunk)");
  }
  if (job.deadline) {
    plan.rate_needed = job.records / job.deadline->raw();
    plan.probability = time.probability(plan.gpus, *job.deadline);
    if (plan.holds && *plan.probability < s.confidence - 1e-9) {
      const std::int64_t enough = time.fewest(*job.deadline, s.confidence);
      breaks(std::to_string(plan.gpus) + " GPUs end by the deadline with probability " +
             format_number(100.0 * *plan.probability) + " %, and " + format_number(100.0 * s.confidence) +
             " % is asked" + (enough > 0 ? ": " + std::to_string(enough) + " GPUs do" : ""));
    }
  }
  if (real(plan.gpus) > time.chunks()) {
    plan.notes.push_back(format_count(real(plan.gpus) - time.chunks()) +
                         " GPUs get no chunk; smaller chunks (job.chunk) give them work");
  }
  if (s.money.price) {
    const auto cost = [&](Seconds of) { return rent(*s.money.price, real(plan.gpus), of); };
    plan.cost = cost(plan.time[0]);
    plan.per_million = (1e6 / job.records) * *plan.cost;
    const Dollars sure = cost(time.quantile(plan.gpus, s.confidence));
    if (job.budget && sure > *job.budget) {
      breaks("the job costs " + format(*plan.cost) + ", up to " + format(sure) + " with probability " +
             format_number(100.0 * s.confidence) + " %, and " + format(*job.budget) + " is the budget");
    }
  }
  return plan;
}

}  // namespace headroom
