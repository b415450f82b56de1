// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/goodput.hpp>
#include <headroom/scenarios/goodput/interval.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::goodput {
namespace {

constexpr double z80 = 1.2815515655446004;  // 0.9 quantile of the normal distribution

using Problems = std::vector<RunProblem>;

void time_problems(const Run& run, Problems& problems) {
  const auto positive = [&](Seconds value, std::string_view key, const std::string& name, const std::string& remedy) {
    if (!(value > Seconds{}) || !std::isfinite(value.raw())) {
      problems.push_back({key, name + " is " + format(value) + ": " + remedy});
    }
  };
  const auto not_negative = [&](Seconds value, std::string_view key, const std::string& name) {
    if (!(value >= Seconds{}) || !std::isfinite(value.raw())) {
      problems.push_back({key, name + " is " + format(value) + ": a time is zero or more"});
    }
  };
  positive(run.mtbf, "failures", "the mean time between failures",
           "state a failure rate above zero, or ask for no goodput");
  positive(run.work, "work", "the run's work", "state the tokens to train on");
  positive(run.interval, "interval", "the interval between checkpoints",
           "state a time above zero, or leave it out for the best one");
  not_negative(run.save.copy, "copy", "a checkpoint's copy to the host");
  not_negative(run.save.write, "checkpoint_store", "a checkpoint's write");
  not_negative(run.recovery.detection, "detection", "the detection time");
  not_negative(run.recovery.restart, "restart", "the restart time");
  not_negative(run.recovery.repair, "repair", "the repair time");
}

void count_problems(const Recovery& r, Problems& problems) {
  if (!(r.swap_share >= 0.0 && r.swap_share <= 1.0)) {
    problems.push_back({"swap_share", "the share of failures that take a host away is " + format_number(r.swap_share) +
                                          ": a share is 0 to 1"});
  }
  if (r.hosts < 1) {
    problems.push_back({"hosts", "a run on " + std::to_string(r.hosts) + " hosts: state at least 1"});
  }
  if (r.spares < 0) {
    problems.push_back({"spares", "there are " + std::to_string(r.spares) + " spare hosts: state 0 or more"});
  }
  if (r.may_miss < 0 || (r.may_miss > 0 && r.may_miss >= r.hosts)) {
    problems.push_back({"may_miss", "a run on " + std::to_string(r.hosts) + " hosts goes on without " +
                                        std::to_string(r.may_miss) + ": state 0 to " +
                                        std::to_string(std::max<std::int64_t>(r.hosts - 1, 0))});
  }
  if (r.kept && !(*r.kept > 0.0 && *r.kept <= 1.0)) {
    problems.push_back({"kept", "the rate kept with a host missing is " + format_number(*r.kept) +
                                    " of the whole job's: state a share above 0 and at most 1"});
  }
}

/// Reports a job that fails faster than it can save and restart.
void pace_problems(const Run& run, Problems& problems) {
  const Seconds interval = std::min(run.interval, run.work), stall = run.save.stall(interval);
  const std::string fails = "the job fails every " + format(run.mtbf);
  if (run.save.copy + run.save.write >= run.mtbf) {
    problems.push_back(
        {"checkpoint_store", "a checkpoint takes " + format(run.save.copy + run.save.write) + " and " + fails +
                                 ": no run gets ahead; write over more writers or to faster storage, or shard it over "
                                 "more ranks"});
    return;
  }
  constexpr double most = 50.0;  // mean times between failures; beyond, one success takes e^50 tries
  const Seconds cycle = interval + stall + run.save.lag(interval);
  if (cycle > most * run.mtbf) {
    problems.push_back({"interval", "from one checkpoint to the next are " + format(cycle) + " and " + fails +
                                        ": no run gets ahead; save every " +
                                        format(best_interval(run.save, run.mtbf))});
  }
  if (run.recovery.stop() > most * run.mtbf) {
    problems.push_back({"restart", "detection and restart take " + format(run.recovery.stop()) + " and " + fails +
                                       ": no restart succeeds; shorten them or take fewer GPUs"});
  }
}

/// Share of the time lost to hosts that rejoin a running job: each costs a save and a restart.
double pauses_of(const Run& run, const HostPool& pool) noexcept {
  return pool.rejoins * (run.save.copy + run.save.write + run.recovery.restart);
}

/// Variance (s^2) of the total time lost.
double variance(const Run& run, const WallFactor& f, const HostPool& pool, Seconds running, Seconds total) {
  const double cycle = (f.interval + f.stall).raw();
  const double mean = (f.recovery + f.lag).raw() + cycle / 2.0;
  double sum = running / run.mtbf * (mean * mean + cycle * cycle / 12.0);
  if (pool.waiting > 0.0) {
    const double wait = run.recovery.repair.raw() / real(run.recovery.spares + run.recovery.may_miss + 1);
    sum += pool.waiting * total.raw() / wait * 2.0 * wait * wait;  // waits are exponential
  }
  return sum;
}

}  // namespace

double Recovery::rate(std::int64_t missing) const noexcept {
  const double lost = kept ? 1.0 - *kept : 1.0 / real(hosts);
  return std::max(0.0, 1.0 - real(missing) * lost);
}

std::vector<RunProblem> run_problems(const Run& run) {
  Problems problems;
  time_problems(run, problems);
  count_problems(run.recovery, problems);
  if (problems.empty()) {
    pace_problems(run, problems);
  }
  return problems;
}

HostPool host_pool(const Recovery& r, Seconds mtbf) {
  const double away = r.swap_share * (r.repair / mtbf);
  if (away <= 0.0) {
    return {};
  }
  const std::int64_t last = r.spares + r.may_miss + 1;
  std::vector<double> weights;
  for (std::int64_t k = 0; k <= last; ++k) {
    weights.push_back(real(k) * std::log(away) - std::lgamma(real(k) + 1.0));
  }
  const double most = *std::max_element(weights.begin(), weights.end());
  double all = 0.0, rate = 0.0, rejoins = 0.0;
  for (std::int64_t k = 0; k <= last; ++k) {
    const double weight = std::exp(weights[static_cast<std::size_t>(k)] - most);
    all += weight;
    if (k < last) {
      rate += weight * r.rate(std::max<std::int64_t>(k - r.spares, 0));
      rejoins += k > r.spares ? weight * real(k) : 0.0;
    }
  }
  const double waiting = std::exp(weights.back() - most) / all;
  return {waiting, std::min(1.0, rate / (all * (1.0 - waiting))), rejoins / all / r.repair};
}

Seconds Pace::completion(Seconds work) const noexcept {
  const Seconds between = spacing(work);
  const WallFactor factor{mtbf, between, save.stall(between), save.lag(between), stop};
  return factor.value() * (work / rate) / left;
}

Pace pace_of(const Run& run) {
  Diagnostics problems;
  for (RunProblem& problem : run_problems(run)) {
    problems.add("", {}, std::move(problem.text));
  }
  problems.throw_if_any();
  const HostPool pool = host_pool(run.recovery, run.mtbf);
  const double left = 1.0 - pool.waiting - pauses_of(run, pool);
  if (left <= 0.0) {
    throw ConfigError{"hosts come back so often that the run does nothing but take them in, every " +
                      format(1.0 / pool.rejoins) + ": keep spares, or wait for repairs"};
  }
  return {run.mtbf, run.interval, run.recovery.stop(), run.save, pool.rate, left};
}

Goodput goodput(const Run& run) {
  const Pace pace = pace_of(run);
  const HostPool pool = host_pool(run.recovery, run.mtbf);
  const Seconds interval = pace.spacing(run.work);
  Goodput result;
  result.stall = run.save.stall(interval);
  const WallFactor factor{run.mtbf, interval, result.stall, run.save.lag(interval), run.recovery.stop()};
  const Seconds training = run.work / pool.rate;
  const Seconds total = pace.completion(run.work);
  const Seconds running = pace.left * total;
  result.ratio = run.work / total;
  result.failures = (1.0 - pool.waiting) * total / run.mtbf;
  TimeShares& s = result.shares;
  s.useful = result.ratio;
  s.slower = (training - run.work) / total;
  s.saving = training / interval * (result.stall / total);
  s.recovery = pace.left * -std::expm1(-(run.recovery.stop() / run.mtbf)) + pauses_of(run, pool);
  s.waiting = pool.waiting;
  s.rework = std::max(0.0, 1.0 - s.useful - s.slower - s.saving - s.recovery - s.waiting);
  const Seconds spread{z80 * std::sqrt(variance(run, factor, pool, running, total))};
  result.completion = {std::max(run.work, total - spread), total, total + spread};
  return result;
}

GoodputRange goodput_over(const Run& run, const Interval<Hertz>& per_gpu, double gpus, Hertz per_job) {
  const auto at = [&](Hertz rate) {
    Run one = run;
    one.mtbf = job_mtbf(rate, gpus, per_job);
    return goodput(one);
  };
  GoodputRange range{at(per_gpu.low), at(per_gpu.mid), at(per_gpu.high), {}};
  range.completion = {range.few.completion.low, range.middle.completion.mid, range.many.completion.high};
  return range;
}

}  // namespace headroom::goodput
