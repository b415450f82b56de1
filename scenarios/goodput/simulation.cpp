// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/goodput/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::goodput {
namespace {

/// SplitMix64 (Steele, Lea and Flood 2014): streams of neighbouring seeds are independent, and seeding is cheap.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t index) noexcept : state_{seed} {
    state_ = next() ^ (index * 0xd1b54a32d192ed03U);
  }
  /// Uniform in the open interval (0, 1).
  [[nodiscard]] double uniform() noexcept { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }
  [[nodiscard]] double exponential(double mean) noexcept { return -mean * std::log(uniform()); }

 private:
  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

/// Whether every save completes before the next begins.
bool one_at_a_time(const Run& run) noexcept {
  return run.save.mode == SaveMode::synchronous || run.save.write <= run.interval;
}

struct Outcome {
  double completion = 0.0;  ///< completion time, s
  double failures = 0.0;
};

/// One run. Times are in seconds; work is in seconds at the rate of the complete job.
class OneRun {
 public:
  OneRun(const Run& run, Stream stream)
      : run_{run}, stream_{stream}, work_{run.work.raw()}, next_failure_{stream_.exponential(run.mtbf.raw())} {}

  Outcome play() {
    while (durable_ < work_) {
      stride();
      if (train_to_save() && save() && done_ >= work_) {
        end_write();
      }
    }
    return {now_, failures_};
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// Advances time during which the job may fail. Returns false when it failed and has recovered since.
  bool pass(double duration) {
    if (now_ + duration < next_failure_) {
      now_ += duration;
      settle_write();
      return true;
    }
    now_ = next_failure_;
    fail();
    return false;
  }

  void settle_write() noexcept {
    if (write_ends_ <= now_) {
      durable_ = written_;
      write_ends_ = never;
    }
  }

  void note_failure() {
    failures_ += 1.0;
    next_failure_ = now_ + stream_.exponential(run_.mtbf.raw());
    const Recovery& r = run_.recovery;
    if (r.repair > Seconds{} && stream_.uniform() < r.swap_share) {
      returns_.push_back(now_ + stream_.exponential(r.repair.raw()));
    }
  }

  void fail() {
    settle_write();
    write_ends_ = never;
    done_ = durable_;
    note_failure();
    const double stop = run_.recovery.stop().raw();
    wait_for_hosts();
    while (now_ + stop >= next_failure_) {
      now_ = next_failure_;
      note_failure();
      wait_for_hosts();
    }
    now_ += stop;
    take_in();
  }

  /// Forgets the hosts that have come back.
  void take_in() {
    returns_.erase(std::remove_if(returns_.begin(), returns_.end(), [&](double at) { return at <= now_; }),
                   returns_.end());
  }
  [[nodiscard]] std::int64_t missing() const noexcept {
    return std::max<std::int64_t>(static_cast<std::int64_t>(returns_.size()) - run_.recovery.spares, 0);
  }
  [[nodiscard]] double next_return() const { return *std::min_element(returns_.begin(), returns_.end()); }

  void wait_for_hosts() {
    take_in();
    const double begun = now_;
    while (missing() > run_.recovery.may_miss) {
      now_ = next_return();
      take_in();
    }
    next_failure_ += now_ - begun;  // a stopped job cannot fail
  }

  /// Advances over all but the last save before the next event in one step; the outcome equals doing them one by one.
  void stride() {
    if (!one_at_a_time(run_)) {
      return;  // the wait for a save depends on the saves before it
    }
    take_in();
    const double interval = run_.interval.raw(), stall = run_.save.stall(run_.interval).raw();
    const double until = missing() > 0 ? std::min(next_failure_, next_return()) : next_failure_;
    const double done = interval * run_.recovery.rate(missing());
    const double saves = std::floor(std::min((until - now_) / (interval + stall), (work_ - done_) / done)) - 1.0;
    if (!(saves >= 2.0)) {
      return;
    }
    now_ += saves * (interval + stall);
    done_ += saves * done;
    durable_ = done_;  // true within the next interval, and a whole one is left before anything can fail
    write_ends_ = never;
  }

  /// Trains until the next save or the end of the work; false when the job failed or restarted.
  bool train_to_save() {
    double left = run_.interval.raw();
    take_in();
    while (left > 0.0) {
      const double rate = run_.recovery.rate(missing());
      const double to_end = (work_ - done_) / rate;
      double step = std::min(left, to_end);
      const bool joins = missing() > 0 && next_return() < now_ + step;
      step = joins ? std::max(next_return() - now_, 0.0) : step;
      if (!pass(step)) {
        return false;
      }
      done_ += step * rate;
      left -= step;
      if (joins) {
        rejoin();
        return false;
      }
      if (step == to_end) {
        done_ = work_;
        return true;
      }
    }
    return true;
  }

  /// Saves; false when the job failed meanwhile.
  bool save() {
    if (run_.save.mode == SaveMode::synchronous) {
      if (!pass((run_.save.copy + run_.save.write).raw())) {
        return false;
      }
      durable_ = done_;
      return true;
    }
    if (!end_write() || !pass(run_.save.copy.raw())) {
      return false;
    }
    written_ = done_;
    write_ends_ = now_ + run_.save.write.raw();
    return true;
  }

  bool end_write() {
    settle_write();
    return write_ends_ == never || pass(write_ends_ - now_);
  }

  void rejoin() {
    if (pass((run_.save.copy + run_.save.write + run_.recovery.restart).raw())) {
      durable_ = done_;
      write_ends_ = never;
      take_in();
    }
  }

  const Run& run_;
  Stream stream_;
  double work_;
  double now_ = 0.0;
  double done_ = 0.0;
  double durable_ = 0.0;       ///< work that survives a failure
  double written_ = 0.0;       ///< work in the save under way
  double write_ends_ = never;  ///< completion time of the save under way
  double next_failure_;
  double failures_ = 0.0;
  std::vector<double> returns_;  ///< return times of the hosts that are away
};

void check(const Run& run, const SimulationOptions& options, const Goodput& expected) {
  if (options.runs < 1) {
    throw ConfigError{"a simulation of " + std::to_string(options.runs) + " runs: state at least 1"};
  }
  constexpr double most = 2e9;
  const double saves = one_at_a_time(run) ? 0.0 : expected.completion.mid / run.interval;
  const double events = real(options.runs) * (4.0 * expected.failures + 2.0 * saves);
  if (events > most) {
    throw ConfigError{"a simulation of " + std::to_string(options.runs) + " runs has about " + format_count(events) +
                      " events, more than " + format_count(most) + ": ask for fewer runs, or take the closed form"};
  }
}

}  // namespace

SimulatedRuns simulate(const Run& run, const SimulationOptions& options) {
  check(run, options, goodput(run));
  std::vector<Outcome> outcomes(static_cast<std::size_t>(options.runs));
  on_threads(thread_count(options.threads), outcomes.size(), [&](std::size_t i) {
    outcomes[i] = OneRun{run, Stream{options.seed, i}}.play();
  });
  SimulatedRuns result;
  std::vector<double> ends;
  double sum = 0.0, squares = 0.0;
  for (const Outcome& outcome : outcomes) {
    ends.push_back(outcome.completion);
    sum += outcome.completion;
    result.failures += outcome.failures / real(options.runs);
  }
  const double mean = sum / real(options.runs);
  for (const double end : ends) {
    squares += (end - mean) * (end - mean);
  }
  result.completion = {Seconds{quantile(ends, 0.1)}, Seconds{quantile(ends, 0.5)}, Seconds{quantile(ends, 0.9)}};
  result.mean = Seconds{mean};
  result.standard_error = Seconds{std::sqrt(squares) / real(options.runs)};
  result.ratio = run.work / result.mean;
  return result;
}

}  // namespace headroom::goodput
