// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/interval.hpp>
#include <headroom/scenarios/training/run_outlook.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

using goodput::Goodput;
using goodput::GoodputRange;
using goodput::Question;
using goodput::Run;

/// What `call` gives; problems without a place stand at [goodput].
template <class Call>
auto at_table(const Question& question, Call call) {
  try {
    return call();
  } catch (const ConfigError& error) {
    Diagnostics placed;
    for (const Diagnostic& problem : error.diagnostics()) {
      placed.add(question.file, question.at, problem.message);
    }
    placed.pass_over(error.untold());
    placed.throw_if_any();
    throw;
  }
}

/// The job but for its work and an interval in steps.
Run run_of(const TrainScenario& t) {
  const Question& q = *t.long_run;
  Run run;
  run.mtbf = goodput::job_mtbf(q.per_gpu.mid, real(t.work.shape.gpus), q.per_job);
  run.save = goodput::checkpoint_time(q.checkpoint, q.store);
  run.interval = q.interval.value_or(goodput::best_interval(run.save, run.mtbf));
  run.recovery = q.recovery;
  return run;
}

goodput::RunClock clock_at(const TrainScenario& t, Run run) {
  const Question& q = *t.long_run;
  goodput::RunClock clock;
  clock.steps = t.tokens / (real(t.work.shape.global_batch) * real(t.work.shape.seq_len));
  clock.interval_steps = real(q.interval_steps);
  clock.evaluation = q.evaluation;
  clock.evaluations = q.evaluation_every > 0 ? clock.steps / real(q.evaluation_every) : 0.0;
  run.work = Seconds{1e15};  // of any length: what a step makes of it comes with the step
  clock.pace = goodput::pace_of(run);
  return clock;
}

/// As many simulated runs as an answer may wait for, if nobody says how many; none where even a few would take minutes.
std::int64_t runs_of(const Question& q, const Run& run, const Goodput& expected) {
  constexpr double most = 300.0, least = 20.0, soon = 2e7, never = 1e9;
  if (q.runs) {
    return *q.runs;
  }
  const double saves = run.save.write > run.interval ? expected.completion.mid / run.interval : 0.0;
  const double events = 1.0 + expected.failures + saves;
  return least * events > never ? 0 : static_cast<std::int64_t>(std::clamp(soon / events, least, most));
}

std::optional<EndDate> end_of(const Question& q, const Interval<Seconds>& calendar) {
  if (!q.start) {
    return std::nullopt;
  }
  const auto low = date_after(*q.start, calendar.low / day), mid = date_after(*q.start, calendar.mid / day),
             high = date_after(*q.start, calendar.high / day);
  return low && mid && high ? std::optional{EndDate{*low, *mid, *high}} : std::nullopt;
}

}  // namespace

CheckpointStates checkpoint_states(const TrainScenario& t) {
  double parameters = 0.0;
  StateBytes states = t.work.states;
  if (t.work.options.method == Method::full) {
    const ParameterCount count = count_parameters(t.architecture);
    parameters = count.total + count.mtp;
  } else {
    states = states_of_adapters(t.software, t.work.precision, t.work.options.optimizer);
    for (const Block& block : t.architecture.blocks()) {
      parameters +=
          lora_parameters(t.architecture, block, real(t.work.options.lora_rank), targets_of(t.software)).total();
    }
  }
  return {goodput::checkpoint_bytes(parameters, states).total(), states.weights + states.optimizer};
}

goodput::RunClock clock_of(const TrainScenario& t) {
  return at_table(*t.long_run, [&] { return clock_at(t, run_of(t)); });
}

Interval<Seconds> combined(const Interval<Seconds>& chance, const Interval<Seconds>& rate, double width) {
  const auto spread = [&](Seconds of_chance, Seconds of_rate) {
    // Two by two: standard libraries scale the hypot of three numbers differently, in the last digit.
    return std::hypot(std::log1p(width), std::hypot(std::log(of_chance / chance.mid), std::log(of_rate / rate.mid)));
  };
  const Seconds mid = chance.mid;
  return {mid * std::exp(-spread(chance.low, rate.low)), mid, mid * std::exp(spread(chance.high, rate.high))};
}

RunOutlook outlook_of(const TrainScenario& t, const OutlookRequest& request) {
  const Question& q = *t.long_run;
  return at_table(q, [&] {
    RunOutlook o;
    o.run = run_of(t);
    if (request.kept && !q.recovery.kept) {
      o.run.recovery.kept = request.kept;
    }
    const goodput::RunClock clock = clock_at(t, o.run);
    o.run.work = clock.work(request.step);
    o.run.interval = clock.interval(request.step);
    const double gpus = real(t.work.shape.gpus);
    const GoodputRange range = goodput::goodput_over(o.run, q.per_gpu, gpus, q.per_job);
    const Goodput& g = range.middle;
    const double training = clock.steps * request.step / o.run.work;  // of the work; evaluation is the rest
    o.ratio = {training * range.many.ratio, training * g.ratio, training * range.few.ratio};
    o.mtbf = {goodput::job_mtbf(q.per_gpu.high, gpus, q.per_job), o.run.mtbf,
              goodput::job_mtbf(q.per_gpu.low, gpus, q.per_job)};
    o.failures = g.failures;
    o.stall = g.stall;
    o.young = goodput::young_interval(g.stall, o.run.mtbf);
    o.daly = goodput::daly_interval(g.stall, o.run.mtbf);
    o.shares = g.shares;
    o.shares.useful = o.ratio.mid;
    o.evaluation = g.ratio - o.ratio.mid;
    o.completion = g.completion;
    o.by_rate = {range.few.completion.mid, g.completion.mid, range.many.completion.mid};
    o.width = request.width;
    o.calendar = combined(o.completion, o.by_rate, o.width);
    if (request.simulates) {
      o.runs = runs_of(q, o.run, g);
    }
    if (o.runs > 0) {
      o.simulated = goodput::simulate(o.run, {q.seed, o.runs, 0});
    }
    o.end = end_of(q, o.calendar);
    return o;
  });
}

std::string uncounted_failures(std::int64_t gpus) {
  const Interval<Hertz> rate = goodput::failure_range(goodput::failure_rates(), goodput::FailureScope::job);
  const auto hours = [&](Hertz per_gpu) { return format_number(goodput::job_mtbf(per_gpu, real(gpus)) / hour, 2); };
  return "failures: none counted; at the published rates a job of " + format_count(real(gpus)) +
         (gpus == 1 ? " GPU" : " GPUs") + " stops every " + hours(rate.high) + " to " + hours(rate.low) +
         " h ([goodput] prices that)";
}

}  // namespace headroom
