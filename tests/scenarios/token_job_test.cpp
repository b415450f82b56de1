// SPDX-License-Identifier: Apache-2.0
// Jobs of a language model: the law of a job on replicas in closed form, the replica that is taken, and what is
// refused.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/inference/job_time.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/token_job/token_job_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

using namespace headroom;
using headroom::test::sources;

namespace {

/// The document of the manual, or another, with more in its tables.
struct Asked {
  std::string model = "llama3.1-8b", gpu = "h100-sxm-80gb";
  std::string hardware, serving = "isl = 1000\nosl = 100\n", strategy, job = "records = 1e7\ndeadline = \"8 h\"\n";
  std::string more;
  [[nodiscard]] std::string text() const {
    return "schema = 1\nkind = \"batch\"\nmodel = \"" + model + "\"\n[hardware]\ngpu = \"" + gpu + "\"\n" + hardware +
           "[serving]\n" + serving + "[strategy]\n" + strategy + (job.empty() ? "" : "[job]\n" + job) + more;
  }
};
TokenJob read(const std::string& text) {
  return read_token_job(parse_toml(text, "job.toml"), "job.toml", sources());
}
TokenJobPlan planned(const Asked& asked) {
  return plan_token_job(read(asked.text()), false);
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}
bool refuses(const Asked& asked, std::string_view sentence) {
  const std::string said = refused(asked.text());
  const bool found = said.find(sentence) != std::string::npos && said.starts_with("job.toml:");
  CHECK_MESSAGE(found, said);
  return found;
}

BatchJob job_of(double records, std::int64_t chunk, double interruptions) {
  BatchJob job;
  job.records = records;
  job.chunk = chunk;
  job.interruptions = interruptions;
  return job;
}
JobUnit unit_of(double rate, std::int64_t gpus, double slow = 0.0, double fast = 0.0) {
  JobUnit unit;
  unit.called = rate;
  unit.slow = slow;
  unit.fast = fast;
  unit.gpus = gpus;
  return unit;
}

}  // namespace

TEST_CASE("token job: without a width the fewest units are records over rate and deadline, in whole chunks") {
  BatchJob job = job_of(1e6, 1000, 0.0);
  job.deadline = Seconds{1000.0};
  const JobTime time{job, unit_of(7.0, 1)};
  const std::int64_t units = time.fewest(*job.deadline, 0.8);
  CHECK(units == 143);  // 1e6 / (7 x 1000) = 142.86, and 7 rounds of chunks end within the deadline
  CHECK(time.seconds(units, 0.0) <= 1000.0);
  CHECK(time.seconds(units - 1, 0.0) > 1000.0);
  CHECK(time.probability(units, *job.deadline) == 1.0);
  job.start = Seconds{500.0};
  const JobTime late{job, unit_of(7.0, 1)};
  CHECK(late.fewest(*job.deadline, 0.8) >= 2 * 142);
}

TEST_CASE("token job: each side of the rate's interval spreads the time by its own width") {
  const BatchJob job = job_of(1e9, 1, 0.0);
  const double slow = std::log(1.25) / normal_quantile(0.9), fast = std::log(1.5) / normal_quantile(0.9);
  const JobTime time{job, unit_of(100.0, 1, slow, fast)};
  CHECK(time.quantile(1, 0.9).raw() == doctest::Approx(1.25e7));
  CHECK(time.quantile(1, 0.1).raw() == doctest::Approx(1e7 / 1.5));
  CHECK(time.probability(1, Seconds{1.25e7}) == doctest::Approx(0.9));
}

TEST_CASE("token job: a replica of two GPUs is interrupted twice as often, and loses a chunk each time") {
  // A chunk takes 100 s; once in a day: half of a chunk in 86400 s is lost on the mean.
  const BatchJob job = job_of(1e7, 1000, 1.0 / 86400.0);
  const double one = 1.0 - JobTime{job, unit_of(10.0, 1)}.useful(0.0);
  const double two = 1.0 - JobTime{job, unit_of(10.0, 2)}.useful(0.0);
  CHECK(one == doctest::Approx(0.5 * 100.0 / 86400.0).epsilon(1e-3));
  CHECK(two == doctest::Approx(2.0 * one).epsilon(1e-3));
  CHECK(JobTime{job, unit_of(10.0, 2)}.interruptions_of_chunk() ==
        doctest::Approx(2.0 * JobTime{job, unit_of(10.0, 1)}.interruptions_of_chunk()));
  CHECK(JobTime{job, unit_of(10.0, 2)}.seconds(8, 0.0) > JobTime{job, unit_of(10.0, 1)}.seconds(8, 0.0));
}

TEST_CASE("token job: GPUs are those of whole replicas, and so are those that get no chunk") {
  BatchJob job = job_of(1e5, 1000, 0.0);
  job.deadline = Seconds{1000.0};
  const JobPlan sized = size_job({job, std::nullopt, 0.8, std::nullopt}, unit_of(10.0, 4));
  CHECK(sized.units == 10);
  CHECK(sized.gpus == 40);
  const JobPlan stated = size_job({job, 800, 0.8, DollarsPerSecond{1.0}}, unit_of(10.0, 4));
  CHECK(stated.units == 200);
  REQUIRE(stated.notes.size() == 1);
  CHECK(stated.notes.front().starts_with("400 GPUs get no chunk"));
  CHECK(stated.cost->raw() == doctest::Approx(800.0 * 100.0));  // one round of chunks of 100 s
  CHECK(stated.per_million->raw() == doctest::Approx(10.0 * 800.0 * 100.0));
}

TEST_CASE("token job: the GPUs do the records by the deadline at the middle, and one less would not") {
  const TokenJobPlan plan = planned({});
  REQUIRE(plan.job);
  CHECK(plan.feasible());
  const JobPlan& job = *plan.job;
  const double needed = 1e7 / (8.0 * 3600.0);
  CHECK(job.rate_needed == doctest::Approx(needed));
  CHECK(static_cast<double>(job.gpus_at_middle) * job.rate >= needed);
  CHECK(static_cast<double>(job.gpus_at_middle - 1) * job.rate < needed * 1.02);  // whole rounds of chunks
  CHECK(job.gpus >= job.gpus_at_middle);
  CHECK(*job.probability >= 0.8);
  CHECK(plan.serve().work.layout.tp == 1);
  CHECK(job.rate == doctest::Approx(plan.served().requests_per_s.mid));
  CHECK(job.time[0] < job.time[1]);
  CHECK(job.time[1] < job.time[2]);
  CHECK_FALSE(job.cost);
  CHECK(plan.tokens_of_record() == doctest::Approx(100.0).epsilon(0.02));
}

TEST_CASE("token job: twice the records are twice the GPUs, and a surer answer takes more") {
  const TokenJobPlan one = planned({});
  Asked twice;
  twice.job = "records = 2e7\ndeadline = \"8 h\"\n";
  const double ratio = static_cast<double>(planned(twice).job->gpus) / static_cast<double>(one.job->gpus);
  CHECK(ratio == doctest::Approx(2.0).epsilon(0.1));
  const std::string sure = "confidence = 0.99\n" + Asked{}.text();
  CHECK(plan_token_job(read(sure), false).job->gpus > one.job->gpus);
}

TEST_CASE("token job: interruptions and a share of the time lengthen it") {
  Asked on_four;
  on_four.hardware = "gpus = 4\n";
  on_four.job = "records = 1e6\n";
  const Seconds plain = planned(on_four).job->time[0];
  on_four.job = "records = 1e6\ninterruptions = \"1 req/h\"\nstart = \"10 min\"\n";
  const TokenJobPlan lost = planned(on_four);
  CHECK(lost.job->time[0] > plain);
  CHECK(lost.job->useful < 0.9);
  on_four.job = "records = 1e6\nutilisation = 0.5\n";
  CHECK(planned(on_four).job->time[0].raw() == doctest::Approx(2.0 * plain.raw()));
  // A chunk that takes hours is never done under interruptions by the minute.
  on_four.job = "records = 1e6\nchunk = 1000000\ninterruptions = \"10 req/h\"\n";
  const TokenJobPlan never = planned(on_four);
  CHECK_FALSE(never.feasible());
  CHECK(never.job->why.find("smaller chunks (job.chunk)") != std::string::npos);
}

TEST_CASE("token job: what is taken has the most records a second per GPU of what was tried, and surely fits") {
  const TokenJobPlan plan = planned({});
  std::set<std::int64_t> tps, loads;
  for (const TriedReplica& each : plan.tried) {
    CHECK(each.rate_per_gpu <= plan.job->rate / static_cast<double>(plan.job->unit_gpus) * (1.0 + 1e-12));
    CHECK(each.fits);
    tps.insert(each.layout.tp);
    if (each.layout.tp == 1) {
      loads.insert(each.in_flight);
    }
  }
  CHECK(tps == std::set<std::int64_t>{1, 2, 4, 8});
  CHECK(loads.contains(1));
  CHECK(loads.contains(128));
  CHECK(plan.serve().work.concurrency <= plan.served().estimate.memory.capacity_low);
  // No more in flight than records there are.
  Asked few;
  few.job = "records = 50\ndeadline = \"8 h\"\n";
  CHECK(planned(few).serve().work.concurrency <= 50);
}

TEST_CASE("token job: stated ranks and requests in flight are taken as they are, on plans of kind serve") {
  Asked asked;
  asked.strategy = "tp = 2\n";
  asked.serving += "concurrency = 64\n";
  const TokenJobPlan plan = planned(asked);
  REQUIRE(plan.job);
  CHECK(plan.tried.size() == 1);
  CHECK(plan.job->unit_gpus == 2);
  CHECK(plan.job->gpus % 2 == 0);
  const Scenario served = read_scenario(
      parse_toml(
          "schema = 1\nkind = \"serve\"\nmodel = \"llama3.1-8b\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 2\n"
          "[serving]\nisl = 1000\nosl = 100\nconcurrency = 64\n[strategy]\ntp = 2\n",
          "serve.toml"),
      "serve.toml", sources());
  const Plan alone = make_plan(served, false);
  const auto& answer = std::get<ServePlan>(alone.answer);
  CHECK(plan.job->rate == doctest::Approx(answer.requests_per_s.mid).epsilon(1e-12));
}

TEST_CASE("token job: dollars are of all GPUs, those of tokens by the tokens of a record, energy by the plan's watts") {
  Asked asked;
  asked.hardware = "gpus = 8\n";
  asked.job = "records = 1e6\nbudget = \"1 $\"\n";
  asked.more = "[money]\nprice = \"2 $/h\"\ndate = \"2026-08\"\n";
  const TokenJobPlan plan = planned(asked);
  const double hours = plan.job->time[0].raw() / 3600.0;
  CHECK(plan.job->cost->raw() == doctest::Approx(8.0 * 2.0 * hours));
  CHECK(plan.job->per_million->raw() == doctest::Approx(plan.job->cost->raw()));
  CHECK(plan.per_million_output_tokens()->raw() == doctest::Approx(plan.job->cost->raw() / plan.tokens_of_record()));
  CHECK_FALSE(plan.feasible());
  CHECK(plan.job->why.find("1.00 $ is the budget") != std::string::npos);
  REQUIRE(plan.job->energy);
  const PlanEnergy& energy = *plan.served().energy;
  CHECK(plan.job->energy->raw() == doctest::Approx(8.0 * (energy.gpu + energy.host).raw() * plan.job->time[0].raw()));
}

TEST_CASE(
    "token job: a model that one host does not hold is tried over stages, one that nothing holds says its needs") {
  Asked large;
  large.model = "deepseek-v3";
  large.gpu = "h100-sxm-80gb";
  const TokenJobPlan plan = planned(large);
  REQUIRE(plan.job);
  CHECK(plan.serve().work.layout.gpus() == 16);
  CHECK(plan.serve().work.layout.pp == 2);
  Asked tight;
  tight.model = "llama3.1-70b";
  tight.hardware = "gpus = 1\n";
  const TokenJobPlan none = planned(tight);
  CHECK_FALSE(none.feasible());
  CHECK_FALSE(none.job);
  CHECK(none.why.find("the weights alone need 2 GPUs") != std::string::npos);
  CHECK(none.way_out == Changes{{Knob::tp, 4}, {Knob::gpus, 4}});
  CHECK(none.way_out_of_weights == Changes{});  // 70 GB of fp8 leave no room either
  // Stated ranks that do not hold it: the least that do, whatever is stated.
  tight.hardware = "";
  tight.strategy = "tp = 1\n";
  CHECK(planned(tight).way_out.size() == 4);
}

TEST_CASE("token job: a SKU that no layout can be priced on is refused as kind serve refuses it") {
  Asked asked;
  asked.gpu = "v100-sxm2-32gb";
  CHECK_THROWS_WITH_AS(static_cast<void>(planned(asked)), doctest::Contains("has no bf16 rate"), ConfigError);
}

TEST_CASE("token job: whole chunks that leave replicas without work are told") {
  Asked asked;
  asked.hardware = "gpus = 8\n";
  asked.job = "records = 90000\nchunk = 10000\n";
  const TokenJobPlan plan = planned(asked);
  REQUIRE(plan.job);
  const bool told = std::any_of(plan.notes.begin(), plan.notes.end(), [](const std::string& note) {
    return note.find("a replica answers 2 chunks of 10 000 records, 78 % more than an even share") == 0;
  });
  CHECK(told);
}

TEST_CASE("token job: with stated GPUs only layouts that divide them are tried") {
  Asked asked;
  asked.hardware = "gpus = 6\n";
  for (const TriedReplica& each : planned(asked).tried) {
    CHECK(6 % each.layout.gpus() == 0);
  }
  asked.strategy = "tp = 4\n";
  CHECK(refuses(asked, "6 GPUs are no whole number of replicas of 4; use 4 or 8"));
}

TEST_CASE("token job: what other questions take is refused with its reason") {
  const auto with = [](const std::string& more) {
    Asked asked;
    asked.more = more;
    return asked;
  };
  CHECK(refuses(with("[traffic]\nrate = \"1 req/s\"\n"), "the prompts of a job lie there"));
  CHECK(refuses(with("[slo]\nttft_p95 = \"1 s\"\n"), "state job.deadline"));
  CHECK(refuses(with("[fleet]\nspare = 1\n"), "how many replicas work is the answer"));
  CHECK(refuses(with("[requests]\nrate = \"1 req/s\"\n"), "asked with kind 'serve' and [traffic] rate"));
  CHECK(refuses(with("[clients]\nclients = 4\n"), "kind 'serve' and serving.concurrency"));
  CHECK(refuses(with("[inference]\nmax_batch = 4\n"), "described by [serving]"));
  CHECK(refuses(with("[data]\ncpu_time = \"1 ms\"\n"), "prompts are text"));
  CHECK(refuses(with("[search]\ntp = \"any\"\n"), "a job tries layouts"));
  CHECK(refuses(with("[money]\nprice = \"2 $/h\"\ndate = \"2026-08\"\n[money.api]\ninput = \"1 $\"\n"),
                "hold no offers against each other"));
  Asked keys;
  keys.job += "longest_call = \"1 s\"\n";
  CHECK(refuses(keys, "job.toml:13:1: error: an engine runs its requests iteration by iteration"));
  keys = {};
  keys.strategy = "dp = 4\n";
  CHECK(refuses(keys, "the number of replicas is the answer to a job"));
  for (const char* const key :
       {"pool = \"decode\"\n", "distinct_prompts = 8\n", "prefix_caching = true\n", "preemption_mode = \"swap\"\n"}) {
    keys = {};
    keys.serving += key;
    CHECK(refuses(keys, "job"));
  }
  keys = {};
  keys.hardware = "host_memory = \"1 TB\"\nhost_link = \"1 GB/s\"\n";
  CHECK(refuses(keys, "leave 'host_memory' out"));
  CHECK(refuses(keys, "leave 'host_link' out"));
}

TEST_CASE("token job: what is missing or cannot be is told at once, with its place") {
  Asked asked;
  asked.serving = "";
  asked.job = "deadline = \"8 h\"\nchunk = 0\n";
  const std::string said = refused(asked.text());
  for (const char* const each : {"'isl'", "'osl'", "'records'", "'chunk'"}) {
    CHECK_MESSAGE(said.find(each) != std::string::npos, said);
  }
  asked = {};
  asked.job = "";
  CHECK(refuses(asked, "[job] records = 1e7"));
  asked.job = "records = 1e7\n";
  CHECK(refuses(asked, "nothing says how many GPUs work"));
  asked.job = "records = 1e7\ndeadline = \"1 h\"\nstart = \"2 h\"\n";
  CHECK(refuses(asked, "a start of 2.00 h takes the whole deadline of 1.00 h"));
  asked.job = "records = 1e7\ndeadline = \"8 h\"\nbudget = \"5 $\"\n";
  CHECK(refuses(asked, "'budget' needs a price"));
  asked = {};
  asked.model = "bert-large";
  CHECK(refuses(asked, "is an encoder"));
  asked = {};
  asked.gpu = "h100-sxm-80g";
  CHECK(refuses(asked, "h100-sxm-80gb"));
  asked = {};
  asked.serving += "foo = 1\n";
  CHECK(refuses(asked, "unknown key"));
}

TEST_CASE("token job: which documents ask for one") {
  const NetworkLibrary networks{sources().data.files()};
  const auto asks = [&](const std::string& text) {
    return asks_for_token_job(parse_toml(text, "job.toml"), sources().models, networks);
  };
  CHECK(asks(Asked{}.text()));
  CHECK(asks("kind = \"batch\"\nmodel = \"llama3-70b\"\n"));
  CHECK(asks("kind = \"batch\"\nmodel = \"meta-llama/Llama-3.1-8B-Instruct\"\n"));
  CHECK(asks("kind = \"batch\"\nmodel = \"model/config.json\"\n"));
  CHECK_FALSE(asks("kind = \"batch\"\nmodel = \"resnet-50\"\n"));
  CHECK_FALSE(asks("kind = \"batch\"\nmodel = \"net.toml\"\n"));
  CHECK_FALSE(asks("kind = \"batch\"\n[[inference.call]]\nbatch = 1\ntime = \"1 ms\"\n"));
  CHECK_FALSE(asks("kind = \"serve\"\nmodel = \"llama3-70b\"\n"));
}
