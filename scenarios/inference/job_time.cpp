// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/inference/job_time.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

JobTime::JobTime(const BatchJob& job, const JobUnit& unit) noexcept
    : job_{job},
      unit_{unit},
      chunk_{std::min(real(job.chunk), job.records)},
      interruptions_{job.interruptions * real(unit.gpus)} {}

double JobTime::rate(double z) const noexcept {
  return std::min(unit_.fed, unit_.called * std::exp(-z * (z > 0.0 ? unit_.slow : unit_.fast)));
}

double JobTime::useful(double z) const noexcept {
  const double l = interruptions_;
  const double c = chunk_ / rate(z);
  return l > 0.0 ? c / (std::expm1(l * c) * (1.0 / l + job_.start.raw())) : 1.0;
}

double JobTime::chunks() const noexcept {
  return std::ceil(job_.records / chunk_);
}

double JobTime::seconds(std::int64_t units, double z) const noexcept {
  const double even = job_.records / (real(units) * rate(z));
  const double rounds = std::ceil(chunks() / real(units)) * chunk_ / rate(z);
  const double busy = std::max(even, std::min(rounds, job_.records / rate(z))) / useful(z);
  // How many interruptions come spreads too: a Poisson number, each of which loses half a chunk and a start.
  const double lost = 0.5 * chunk_ / rate(z) + job_.start.raw();
  const double spread = std::sqrt(interruptions_ * real(units) * busy) * lost / real(units);
  return job_.start.raw() + busy * std::exp(z * spread / busy);
}

Seconds JobTime::quantile(std::int64_t units, double share) const noexcept {
  return Seconds{seconds(units, normal_quantile(share))};
}

double JobTime::probability(std::int64_t units, Seconds deadline) const noexcept {
  double low = -6.0, high = 6.0;
  if (seconds(units, low) > deadline.raw()) {
    return 0.0;
  }
  if (seconds(units, high) <= deadline.raw()) {
    return 1.0;
  }
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    (seconds(units, middle) <= deadline.raw() ? low : high) = middle;
  }
  return normal_share(low);
}

std::int64_t JobTime::fewest(Seconds deadline, double share) const noexcept {
  const double z = normal_quantile(share);
  const auto most = static_cast<std::int64_t>(std::min(chunks(), 1e9));
  const auto ends = [&](std::int64_t units) { return seconds(units, z) <= deadline.raw(); };
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

JobPlan size_job(const JobTerms& asked, const JobUnit& unit, const std::string& broken) {
  const BatchJob& job = asked.job;
  const JobTime time{job, unit};
  const auto chunk_takes = [&] { return format(Seconds{time.chunk() / time.rate(0.0)}); };
  JobPlan plan;
  plan.rate = time.rate(0.0);
  plan.useful = time.useful(0.0);
  plan.records = job.records;
  plan.lost = job.interruptions > 0.0 ? time.chunk() : 0.0;
  plan.unit_gpus = unit.gpus;
  std::int64_t at_middle = 1;
  if (asked.gpus) {
    plan.units = at_middle = std::max<std::int64_t>(1, *asked.gpus / unit.gpus);
  } else if (job.deadline) {
    plan.units = time.fewest(*job.deadline, asked.confidence);
    at_middle = std::max<std::int64_t>(1, time.fewest(*job.deadline, 0.5));
    if (plan.units == 0) {
      plan.holds = false;
      plan.units = static_cast<std::int64_t>(std::min(time.chunks(), 1e9));
      plan.why = "more GPUs will not help: a chunk of " + format_count(time.chunk()) + " records takes " +
                 chunk_takes() + " on one " + std::string{unit.name} + ", after " + format(job.start) +
                 " to start; smaller chunks (job.chunk) spread further";
    }
  }
  plan.gpus = asked.gpus.value_or(plan.units * unit.gpus);
  plan.gpus_at_middle = asked.gpus.value_or(at_middle * unit.gpus);
  for (std::size_t i = 0; i < job_shares.size(); ++i) {
    plan.time[i] = time.quantile(plan.units, job_shares[i]);
  }
  const auto breaks = [&](const std::string& why) {
    plan.holds = false;
    plan.why += (plan.why.empty() ? "" : "; ") + why;
  };
  if (!broken.empty()) {
    breaks(broken);
  }
  if (time.interruptions_of_chunk() > 1.0) {
    breaks("a chunk takes " + chunk_takes() + " and is interrupted " + format_number(time.interruptions_of_chunk()) +
           " times in that; take smaller chunks (job.chunk)");
  }
  if (job.deadline) {
    plan.rate_needed = job.records / job.deadline->raw();
    plan.probability = time.probability(plan.units, *job.deadline);
    if (plan.holds && *plan.probability < asked.confidence - 1e-9) {
      const std::int64_t enough = time.fewest(*job.deadline, asked.confidence);
      breaks(std::to_string(plan.gpus) + " GPUs end by the deadline with probability " +
             format_number(100.0 * *plan.probability) + " %, and " + format_number(100.0 * asked.confidence) +
             " % is asked" + (enough > 0 ? ": " + std::to_string(enough * unit.gpus) + " GPUs do" : ""));
    }
  }
  if (real(plan.units) > time.chunks()) {
    plan.notes.push_back(format_count(real(unit.gpus) * (real(plan.units) - time.chunks())) +
                         " GPUs get no chunk; smaller chunks (job.chunk) give them work");
  }
  if (asked.price) {
    const auto cost = [&](Seconds of) { return rent(*asked.price, real(plan.gpus), of); };
    plan.cost = cost(plan.time[0]);
    plan.per_million = (1e6 / job.records) * *plan.cost;
    const Dollars sure = cost(time.quantile(plan.units, asked.confidence));
    if (job.budget && sure > *job.budget) {
      breaks("the job costs " + format(*plan.cost) + ", up to " + format(sure) + " with probability " +
             format_number(100.0 * asked.confidence) + " %, and " + format(*job.budget) + " is the budget");
    }
  }
  return plan;
}

}  // namespace headroom
