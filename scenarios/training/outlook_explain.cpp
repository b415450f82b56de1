// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/training/run_outlook.hpp>

#include <cmath>

namespace headroom {
namespace {

constexpr std::string_view stated = "scenario";
constexpr std::string_view plain = "";

void explain_failures(const TrainScenario& t, const RunOutlook& o, ExplainRecorder& r) {
  const goodput::Question& q = *t.long_run;
  r.line("mtbf", "1 / (N f + f_j)", "failures independent and without memory", o.mtbf.mid.raw(), Shown::run_seconds,
         {{"N", real(t.work.shape.gpus), Shown::count, "hardware.gpus"},
          {"1/f", q.per_gpu.mid > Hertz{} ? (1.0 / q.per_gpu.mid).raw() : 0.0, Shown::run_seconds, q.rate_source},
          {"1/f_j", q.per_job > Hertz{} ? (1.0 / q.per_job).raw() : 0.0, Shown::run_seconds,
           q.per_job > Hertz{} ? stated : std::string_view{"none that does not grow with the GPUs"}}});
}

void explain_checkpoint(const TrainScenario& t, const RunOutlook& o, ExplainRecorder& r) {
  const goodput::Question& q = *t.long_run;
  const goodput::CheckpointTime& save = o.run.save;
  r.line("checkpoint_write", "max(S / (n v), S / V)", "a rate of zero is not stated and does not bind",
         save.write.raw(), Shown::run_seconds,
         {{"S", save.total.raw(), Shown::bytes, "stated, or weights and optimizer states"},
          {"n", real(q.store.writers), Shown::count, "goodput.writers"},
          {"v", q.store.per_writer.raw(), Shown::bytes_per_second, "goodput.checkpoint_writer"},
          {"V", q.store.storage.raw(), Shown::bytes_per_second, "goodput.checkpoint_store"}});
  const bool waits = save.mode == goodput::SaveMode::synchronous;
  r.line("checkpoint_stall", waits ? "copy + w" : "copy + max(0, w - tau)",
         waits ? plain : std::string_view{"one write under way at a time"}, o.stall.raw(), Shown::run_seconds,
         {{"copy", save.copy.raw(), Shown::run_seconds, "S / (N x goodput.copy)"},
          {"w", save.write.raw(), Shown::run_seconds, "checkpoint_write"},
          {"tau", o.run.interval.raw(), Shown::run_seconds, "checkpoint_interval"}});
  const bool best = !q.interval && q.interval_steps == 0;
  r.line("checkpoint_interval",
         best ? "root of (1 - tau/M) e^((tau + C)/M) = 1, at least w where saves go on beside" : "as stated",
         best ? "derivative of Daly 2006, equation 20" : plain, o.run.interval.raw(), Shown::run_seconds,
         {{"C", o.stall.raw(), Shown::run_seconds, "checkpoint_stall"},
          {"M", o.mtbf.mid.raw(), Shown::run_seconds, "mtbf"},
          {"Young", o.young.raw(), Shown::run_seconds, "sqrt(2 C M), Young 1974"},
          {"Daly", o.daly.raw(), Shown::run_seconds, "Daly 2006, equation 37"}});
}

void explain_end(const RunOutlook& o, ExplainRecorder& r) {
  const goodput::Run& run = o.run;
  const goodput::Pace pace = goodput::pace_of(run);
  r.line("completion", "M e^((R + w')/M) (e^((tau + C)/M) - 1) T_s / (tau g l)",
         "Daly 2006, equation 20, with the lag of asynchronous saves and the hosts away (Erlang 1917)",
         o.completion.mid.raw(), Shown::run_seconds,
         {{"T_s", run.work.raw(), Shown::run_seconds, "steps, and pauses for evaluation"},
          {"M", o.mtbf.mid.raw(), Shown::run_seconds, "mtbf"},
          {"R", run.recovery.stop().raw(), Shown::run_seconds, "goodput.detection + goodput.restart"},
          {"tau", run.interval.raw(), Shown::run_seconds, "checkpoint_interval"},
          {"C", o.stall.raw(), Shown::run_seconds, "checkpoint_stall"},
          {"w'", run.save.lag(run.interval).raw(), Shown::run_seconds, "a save is whole so long after its stall"},
          {"g", pace.rate, Shown::fraction, "mean rate with hosts missing"},
          {"l", pace.left, Shown::fraction, "of the time that waits for no host and takes none back in"}});
  r.line("goodput", "training / completion", "effective training time ratio", o.ratio.mid, Shown::fraction,
         {{"saving", o.shares.saving, Shown::fraction, "stalls of saves that are kept"},
          {"rework", o.shares.rework, Shown::fraction, "what failures undid"},
          {"recovery", o.shares.recovery, Shown::fraction, "detection and restarts"},
          {"slower", o.shares.slower, Shown::fraction, "on fewer hosts"},
          {"waiting", o.shares.waiting, Shown::fraction, "for a host"},
          {"evaluation", o.evaluation, Shown::fraction, "pauses"}});
  r.line("calendar_high", "T e^sqrt(ln^2(1 + step) + ln^2 rate + ln^2 chance)",
         "independent errors of the logarithm, 80 % each", o.calendar.high.raw(), Shown::run_seconds,
         {{"T", o.completion.mid.raw(), Shown::run_seconds, "completion"},
          {"step", o.width, Shown::fraction, "80 % of past errors (docs/confidence.md)"},
          {"rate", o.by_rate.high / o.by_rate.mid, Shown::count,
           "mean at the high end of the rate over that at its middle"},
          {"chance", o.completion.high / o.completion.mid, Shown::count, "runs at the middle rate, 90 % over mean"}});
}

}  // namespace

std::vector<ExplainEntry> explain_outlook(const TrainScenario& t, const RunOutlook& o) {
  ExplainRecorder recorder;
  explain_failures(t, o, recorder);
  explain_checkpoint(t, o, recorder);
  explain_end(o, recorder);
  return recorder.entries();
}

std::vector<ExplainEntry> explain_target(const goodput::Target& target, double batch_tokens) {
  const goodput::LossLaw& law = goodput::loss_law(target.law);
  const goodput::TargetLoss& way = target.way;
  ExplainRecorder recorder;
  recorder.line("least_tokens", "(B / (L - E - A / N^alpha))^(1 / beta)", "Hoffmann et al. 2022, equation 2",
                way.least_tokens, Shown::count,
                {{"L", target.loss, Shown::count, target.predicted ? "of the stated tokens" : "target.loss"},
                 {"N", target.parameters, Shown::count, "model"},
                 {"E", law.E, Shown::count, law.source},
                 {"A", law.A, Shown::count, law.source},
                 {"B", law.B, Shown::count, law.source},
                 {"alpha", law.alpha, Shown::count, law.source},
                 {"beta", law.beta, Shown::count, law.source}});
  recorder.line("tokens", "D (1 + b / b_crit)", "McCandlish et al. 2018, section 2.3", way.tokens, Shown::count,
                {{"D", way.least_tokens, Shown::count, "least_tokens"},
                 {"b", batch_tokens, Shown::count, "training.global_batch x seq_len"},
                 {"b_crit", way.critical, Shown::count,
                  way.stated ? "target.critical_batch" : "2e8 / L^(1/0.21), Kaplan et al. 2020, equation 5.3"}});
  return recorder.entries();
}

}  // namespace headroom
