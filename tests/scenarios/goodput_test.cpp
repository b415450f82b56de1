// SPDX-License-Identifier: Apache-2.0
// Failure rates, checkpoints, intervals and the closed form of what failures leave of a run, against published numbers.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/goodput.hpp>
#include <headroom/scenarios/goodput/interval.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <cmath>

using namespace headroom;
using namespace headroom::goodput;
using headroom::test::near;

namespace {

constexpr Seconds minute{60.0};

CheckpointTime waits(Seconds stall) {
  CheckpointTime save;
  save.total = Bytes{1.0};
  save.write = stall;
  return save;
}

Run run_of(Seconds mtbf, Seconds interval, Seconds stall, Seconds stop) {
  Run run;
  run.work = 30.0 * day;
  run.mtbf = mtbf;
  run.interval = interval;
  run.save = waits(stall);
  run.recovery.restart = stop;
  return run;
}

double sum(const TimeShares& s) {
  return s.useful + s.saving + s.rework + s.recovery + s.slower + s.waiting;
}

/// What a call says is wrong.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

bool says(const std::string& text, std::string_view part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) {
    MESSAGE(text);
  }
  return found;
}

FailureRate parsed(const std::string& lines) {
  Diagnostics problems;
  const std::string text =
      "schema = 1\nid = \"x\"\nname = \"x\"\ngpu = \"x\"\nscope = \"job\"\nsource = \"x\"\n" + lines;
  const FailureRate rate = read_failure_rate(parse_toml(text, "x.toml"), "x.toml", problems);
  problems.throw_if_any();
  return rate;
}

}  // namespace

TEST_CASE("published failure rates: hours between failures at the scales that the sources print") {
  // Grattafiori et al. 2024: one interruption in about three hours, 50,700 h for a GPU.
  const Interval<Hertz> llama = failure_rate("llama3-54-days").per_gpu;
  CHECK(job_mtbf(llama.mid, 16384).raw() == near(54.0 * 24.0 / 419.0 * 3600.0));
  CHECK(1.0 / llama.mid / hour == near(50'700.0, 0.002));
  // Kokolis et al. 2025: projections of 1.8 h at 16,384 GPUs and 0.23 h at 131,072.
  const Hertz rsc = failure_rate("meta-rsc-1").per_gpu.mid;
  CHECK(job_mtbf(rsc, 16384) / hour == near(1.8, 0.01));
  CHECK(job_mtbf(rsc, 131'072) / hour == near(0.23, 0.025));
  // The same source measured 7.9 h at 1,024 GPUs, where the rate alone says 28.8 h; what does not grow with GPUs fills
  // the gap.
  CHECK(job_mtbf(rsc, 1024) / hour == near(28.8, 0.005));
  const Hertz per_job = 1.0 / (7.9 * hour) - 1024.0 * rsc;
  CHECK(job_mtbf(rsc, 1024, per_job) / hour == near(7.9));
  CHECK(job_mtbf(rsc, 2048, per_job) / hour == near(1.0 / (1.0 / 7.9 + 1.0 / 28.846), 0.001));
  CHECK(job_mtbf(failure_rate("skt-b200").per_gpu.mid, 1) / hour == near(66'500.0, 0.001));
  CHECK(job_mtbf(failure_rate("bloom-176b").per_gpu.mid, 384) / hour == near(112.0));
}

TEST_CASE("the range over sources is wider than that of a count, and of one kind of count alone") {
  const Interval<Hertz> job = failure_range(failure_rates(), FailureScope::job);
  CHECK(job.low.raw() == near(failure_rate("meta-rsc-2").per_gpu.mid.raw()));
  CHECK(job.high.raw() == near(failure_rate("opt-175b").per_gpu.mid.raw()));
  const Interval<Hertz> gpu = failure_range(failure_rates(), FailureScope::gpu);
  CHECK(gpu.high.raw() == near(failure_rate("bloom-176b").per_gpu.mid.raw()));
  for (const FailureRate& rate : failure_rates()) {
    CAPTURE(rate.id);
    CHECK_FALSE(rate.source.empty());
    CHECK(rate.per_gpu.low <= rate.per_gpu.mid);
    CHECK(rate.per_gpu.mid <= rate.per_gpu.high);
    CHECK(rate.per_gpu.low > Hertz{});
  }
  // Garwood 1936's exact limits of ten events at 80 %: 6.221 and 15.407 (chi-square tables).
  const Interval<double> ten = count_interval(10);
  CHECK(ten.low == near(6.221, 0.002));
  CHECK(ten.high == near(15.407, 0.002));
  CHECK(count_interval(0).low == 0.0);
  CHECK(count_interval(0).high == near(std::log(10.0), 0.02));
}

TEST_CASE("a rate of one's own: three forms, and every problem of a file at once") {
  CHECK(parsed("gpus = 10\nfailures = 5\nduration = \"100 h\"").per_gpu.mid.raw() == near(5.0 / 10.0 / 360e3));
  CHECK(parsed("gpus = 10\nfailures_per_1000_node_days = 2.0\ngpus_per_node = 4").per_gpu.mid.raw() ==
        near(2.0 / 4000.0 / 86400.0));
  const Interval<Hertz> range =
      parsed("gpus = 10\nfailures_at_least = 1\nfailures_at_most = 3\nduration = \"100 h\"").per_gpu;
  CHECK(range.high / range.low == near(3.0));
  CHECK(says(error_of([] { (void)parsed("gpus = 10"); }), "how often?"));
  const std::string both = error_of([] { (void)parsed("gpus = 0\nfailures = 5\nduration = 100"); });
  CHECK(says(both, "x.toml:7:"));
  CHECK(says(both, "x.toml:9:"));
  CHECK(says(
      error_of([] { (void)parsed("gpus = 10\nfailures_at_least = 3\nfailures_at_most = 1\nduration = \"100 h\""); }),
      "state the smaller one as the least"));
  CHECK(says(error_of([] { (void)failure_rate("llama3-54-day"); }), "did you mean 'llama3-54-days'?"));
  const std::string none = error_of([] { (void)job_mtbf(Hertz{-1.0}, 0); });
  CHECK(says(none, "a job of 0 GPUs"));
  CHECK(says(none, "a failure rate is negative"));
  CHECK(says(error_of([] { (void)job_mtbf(Hertz{}, 8); }), "no failures at all"));
}

TEST_CASE("60 s to save, 1,024 GPUs of 50,000 h: every 4,593 s, 2.6 % lost") {
  const Seconds mtbf = job_mtbf(1.0 / (50'000.0 * hour), 1024);
  CHECK(mtbf / hour == near(48.8, 0.001));
  const Seconds interval = young_interval(minute, mtbf);
  CHECK(interval.raw() == near(4593.0, 1e-4));
  const Goodput lost = goodput::goodput(run_of(mtbf, interval, minute, {}));
  CHECK(1.0 / lost.ratio - 1.0 == near(0.0266, 0.01));
  CHECK(lost.shares.saving == near(lost.shares.rework, 0.05));  // what makes it the optimum
}

TEST_CASE("a checkpoint of 2 G parameters is 28 GB, one writer of 2 GB/s takes 14 s, 64 shards are 0.44 GB each") {
  const CheckpointBytes bytes = checkpoint_bytes(2e9, adam_states(Precision::bf16));
  CHECK(bytes.total().raw() == near(28e9));
  CheckpointStore store;
  store.per_writer = BytesPerSecond{2e9};
  CHECK(checkpoint_time(bytes.total(), store).write.raw() == near(14.0));
  store.writers = 64;
  const CheckpointTime sharded = checkpoint_time(bytes.total(), store);
  CHECK(sharded.of_writer.raw() == near(0.4375e9));
  CHECK(sharded.write.raw() == near(14.0 / 64.0));
  store.storage = BytesPerSecond{16e9};  // shared by all: eight writers' worth
  CHECK(checkpoint_time(bytes.total(), store).write.raw() == near(1.75));
}

TEST_CASE("checkpoints that were written: BLOOM's 2.3 TB, and 57 GB/s in its 40 s") {
  const Bytes bloom = checkpoint_bytes(176.247e9, adam_states(Precision::bf16)).total();
  CHECK(bloom.raw() == near(2.3e12, 0.08));
  CheckpointStore store;
  store.writers = 384;
  store.storage = BytesPerSecond{57e9};
  CHECK(checkpoint_time(Bytes{2.3e12}, store).write.raw() == near(40.0, 0.01));
}

TEST_CASE("an asynchronous save stalls for its copy alone, until writes come one after another") {
  // 7 G parameters: 148.8 s became 6.3 s (Pasqualin et al. 2024, pytorch.org/blog/reducing-checkpointing-times). The
  // rates behind both are not published; of eight ranks these are they.
  const Bytes bytes = checkpoint_bytes(7e9, adam_states(Precision::bf16)).total();
  CheckpointStore store;
  store.ranks = store.writers = 8;
  store.storage = bytes / Seconds{148.8};
  CHECK(checkpoint_time(bytes, store).stall(hour).raw() == near(148.8));
  store.mode = SaveMode::asynchronous;
  store.copy = bytes / 8.0 / Seconds{6.3};
  const CheckpointTime save = checkpoint_time(bytes, store);
  CHECK(save.stall(hour).raw() == near(6.3));
  CHECK(save.lag(hour).raw() == near(148.8));
  CHECK(148.8 / save.stall(hour).raw() == near(23.6, 0.002));
  // Every 100 s: the write of the save before is under way for 48.8 s more.
  CHECK(save.stall(Seconds{100.0}).raw() == near(6.3 + 48.8));
  CHECK(save.lag(Seconds{100.0}).raw() == near(100.0));
  store.storage /= 2.0;
  CHECK(checkpoint_time(bytes, store).stall(hour).raw() == near(6.3));
}

TEST_CASE("Daly 2006, figures 3 to 5: 117, 57 and 9.1 minutes, the exact optimum beside them") {
  const Seconds stall = 5.0 * minute;
  const struct {
    Seconds mtbf;
    double printed, half_digit;
  } rows[] = {{24.0 * hour, 117.0, 0.5}, {6.0 * hour, 57.0, 0.5}, {15.0 * minute, 9.1, 0.05}};
  for (const auto& row : rows) {
    CAPTURE(row.printed);
    const double daly = daly_interval(stall, row.mtbf) / minute;
    CHECK(std::abs(daly - row.printed) <= row.half_digit);
    const Seconds best = best_interval(waits(stall), row.mtbf);
    CHECK(best / minute == near(daly, 0.005));
    const auto time = [&](Seconds interval) {
      return WallFactor{row.mtbf, interval, stall, {}, 10.0 * minute}.value();
    };
    CHECK(time(best) < time(1.001 * best));
    CHECK(time(best) < time(0.999 * best));
    CHECK(time(best) <= time(young_interval(stall, row.mtbf)));
  }
  CHECK(daly_interval(2.0 * hour, hour) == hour);
  CHECK(daly_interval(1.999 * hour, hour) < hour);
}

TEST_CASE("the best interval of an asynchronous save is at least its write") {
  CheckpointTime save;
  save.mode = SaveMode::asynchronous;
  save.copy = Seconds{1.0};
  save.write = Seconds{10.0};
  CHECK(best_interval(save, 10.0 * hour).raw() == near(best_interval(waits(Seconds{1.0}), 10.0 * hour).raw()));
  save.write = hour;
  CHECK(best_interval(save, 10.0 * hour) == hour);
}

TEST_CASE("spot at 0.3 of the price, preempted every 6 h, 1 min each 30, 10 min back: 0.907, so 0.331 effective") {
  const Seconds mtbf = 6.0 * hour;
  // The row is of first order, which leaves out what fails again: the whole formula loses a little more.
  const Goodput exact = goodput::goodput(run_of(mtbf, 30.0 * minute, minute, 10.0 * minute));
  CHECK(exact.ratio < 0.907);
  CHECK(exact.ratio == near(0.907, 0.01));
  CHECK(0.3 / exact.ratio == near(0.331, 0.01));
  CHECK(exact.completion.high > exact.completion.mid);
}

TEST_CASE("48.8 h between failures, 15 min to detect and restart, 38 min lost: 1.8 % on top of saving") {
  const Seconds interval = 76.0 * minute;  // of which half is lost
  const Goodput exact = goodput::goodput(run_of(48.8 * hour, interval, minute, 15.0 * minute));
  CHECK(exact.shares.rework + exact.shares.recovery == near(0.018, 0.03));
  CHECK(exact.shares.saving == near(minute / interval, 0.04));
}

TEST_CASE("1410 to 1128 MHz: a fifth less where arithmetic binds, nothing where memory does") {
  CHECK(throttled(1128.0 / 1410.0, 1.0) == near(0.8));
  CHECK(throttled(1128.0 / 1410.0, 0.0) == 1.0);
  CHECK(throttled(0.5, 0.5) == near(1.0 / 1.5));
}

TEST_CASE("Llama 3's 54 days on 16,384 H100: more than 90 % of the time was training") {
  // Published: 419 unexpected interruptions, storage of 2 TB/s sustained. Assumed: 14 bytes a parameter, synchronous
  // saves at the best interval, 10 minutes from a failure to training: the bound that Jiang et al. 2024 (MegaScale)
  // give for detection and diagnosis.
  Run run;
  CheckpointStore store;
  store.ranks = store.writers = 16384;
  store.storage = BytesPerSecond{2e12};
  const Bytes bytes = checkpoint_bytes(405e9, adam_states(Precision::bf16)).total();
  run.save = checkpoint_time(bytes, store);
  CHECK(run.save.of_writer < Bytes{4e9});  // "1 MB to 4 GB" a GPU
  run.mtbf = job_mtbf(failure_rate("llama3-54-days").per_gpu.mid, 16384);
  run.interval = best_interval(run.save, run.mtbf);
  run.recovery.restart = 10.0 * minute;
  run.work = 54.0 * day;
  run.work = goodput::goodput(run).ratio * run.work;  // so that the clock shows 54 days
  const Goodput g = goodput::goodput(run);
  CHECK(g.completion.mid / day == near(54.0));
  CHECK(g.failures == near(419.0));
  CHECK(g.ratio > 0.90);
  CHECK(g.ratio == near(0.925, 0.005));
  // What the 90 % leave for a recovery: a quarter of an hour, within which MegaScale is back where it was.
  run.recovery.restart = 15.0 * minute;
  CHECK(goodput::goodput(run).ratio > 0.90);
  run.recovery.restart = 16.0 * minute;
  CHECK(goodput::goodput(run).ratio < 0.90);
  // At both ends of the count, 80 %: 54 days within a day.
  run.recovery.restart = 10.0 * minute;
  const GoodputRange range = goodput_over(run, failure_rate("llama3-54-days").per_gpu, 16384);
  CHECK(range.middle.completion.mid == g.completion.mid);
  CHECK(range.many.ratio > 0.90);
  CHECK(range.few.ratio > range.middle.ratio);
  CHECK(range.many.failures > range.middle.failures);
  CHECK(range.completion.low == range.few.completion.low);
  CHECK(range.completion.high == range.many.completion.high);
  CHECK(range.completion.high - range.completion.low < day);
}

TEST_CASE("the shares of the time add up, and each grows with what it is made of") {
  Run run = run_of(3.0 * hour, 15.0 * minute, 30.0 * Seconds{1.0}, 10.0 * minute);
  run.recovery.hosts = 64;
  const Goodput base = goodput::goodput(run);
  CHECK(sum(base.shares) == near(1.0));
  CHECK(base.shares.waiting == 0.0);
  CHECK(base.shares.slower == 0.0);
  CHECK(base.ratio == near(1.0 / WallFactor{run.mtbf, run.interval, Seconds{30.0}, {}, 10.0 * minute}.value()));
  // Recovery: of the running time what equation 20 multiplies by.
  CHECK(base.shares.recovery == near(1.0 - std::exp(-10.0 / 180.0)));
  run.recovery.detection = 20.0 * minute;
  CHECK(goodput::goodput(run).shares.recovery == near(1.0 - std::exp(-30.0 / 180.0)));
  run.recovery.detection = Seconds{};
  run.interval = 2.0 * run.interval;
  const Goodput rarer = goodput::goodput(run);
  CHECK(rarer.shares.rework > base.shares.rework);
  CHECK(rarer.shares.saving < base.shares.saving);
}

TEST_CASE("spares: none waits for each repair, many never, Erlang's loss formula between") {
  Run run = run_of(10.0 * hour, 20.0 * minute, Seconds{30.0}, 5.0 * minute);
  run.recovery.hosts = 16;
  const double free = goodput::goodput(run).ratio;
  run.recovery.repair = 5.0 * hour;
  CHECK(host_pool(run.recovery, run.mtbf).waiting == near(1.0 / 3.0));  // a = 1/2: a / (1 + a)
  run.recovery.spares = 1;
  CHECK(host_pool(run.recovery, run.mtbf).waiting == near(0.125 / 1.625));  // (a^2/2) / (1 + a + a^2/2)
  const Goodput one = goodput::goodput(run);
  CHECK(one.shares.waiting == near(0.125 / 1.625));
  CHECK(sum(one.shares) == near(1.0));
  run.recovery.spares = 20;
  CHECK(goodput::goodput(run).ratio == near(free));
  run.recovery.spares = 0;
  run.recovery.swap_share = 0.0;  // nothing is taken away
  CHECK(goodput::goodput(run).ratio == near(free));
}

TEST_CASE("elastic: going on with one host fewer beats waiting for it, and keeps the rate that a plan says") {
  Run run = run_of(20.0 * hour, 20.0 * minute, Seconds{30.0}, 5.0 * minute);
  run.recovery.hosts = 16;
  run.recovery.repair = 10.0 * hour;
  const Goodput waiting = goodput::goodput(run);
  run.recovery.may_miss = 2;
  const Goodput elastic = goodput::goodput(run);
  CHECK(elastic.ratio > waiting.ratio);
  CHECK(elastic.shares.slower > 0.0);
  CHECK(sum(elastic.shares) == near(1.0));
  CHECK(run.recovery.rate(0) == 1.0);
  CHECK(run.recovery.rate(2) == near(14.0 / 16.0));
  run.recovery.kept = 0.8;  // a batch that does not divide well
  CHECK(run.recovery.rate(1) == near(0.8));
  CHECK(goodput::goodput(run).ratio < elastic.ratio);
}

TEST_CASE("a run that cannot be says why, everything at once, with the way out") {
  Run bad;
  bad.recovery.detection = Seconds{-1.0};
  bad.recovery.swap_share = 2.0;
  bad.recovery.spares = -1;
  bad.recovery.hosts = 2;
  bad.recovery.may_miss = 2;
  bad.recovery.kept = 0.0;
  CHECK(run_problems(bad).size() == 8);
  const std::string all = error_of([&] { (void)goodput::goodput(bad); });
  CHECK(says(all, "the mean time between failures is 0"));
  CHECK(says(all, "the run's work is 0"));
  CHECK(says(all, "the detection time is"));
  CHECK(says(all, "a share is 0 to 1"));

  Run slow = run_of(3.0 * hour, hour, 4.0 * hour, minute);
  CHECK(says(error_of([&] { (void)goodput::goodput(slow); }),
             "a checkpoint takes 4.00 h and the job fails every 3.00 h: no run gets ahead"));
  slow.save.mode = SaveMode::asynchronous;  // a write that never ends in time helps nobody either
  CHECK(says(error_of([&] { (void)goodput::goodput(slow); }), "faster storage"));
  const Run rare = run_of(minute, 2.0 * hour, Seconds{1.0}, Seconds{1.0});
  CHECK(says(error_of([&] { (void)goodput::goodput(rare); }), "save every 10."));
  const Run late = run_of(minute, minute, Seconds{1.0}, 2.0 * hour);
  CHECK(says(error_of([&] { (void)goodput::goodput(late); }), "no restart succeeds"));
}

TEST_CASE("a checkpoint that cannot be written says why") {
  CheckpointStore store;
  store.mode = SaveMode::asynchronous;
  store.ranks = 0;
  store.writers = -1;
  const std::string all = error_of([&] { (void)checkpoint_time(Bytes{}, store); });
  CHECK(says(all, "a checkpoint of 0"));
  CHECK(says(all, "on 0 ranks"));
  CHECK(says(all, "of -1 writers"));
  CHECK(says(all, "the storage rate is zero"));
  CHECK(says(all, "stalls for its copy to the host"));
  store = {};
  store.storage = BytesPerSecond{-1.0};
  CHECK(says(error_of([&] { (void)checkpoint_time(Bytes{1.0}, store); }), "the rate of the storage is"));
}
