// SPDX-License-Identifier: Apache-2.0
// [serving.speculative]: who drafts, what fixed loads and fleets make of it, and what is refused.
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

using Texts = std::vector<std::string>;

Texts together(Texts all, const Texts& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const Texts base{"kind=serve",      "model=llama3.1-70b", "hardware.gpu=h100-sxm-80gb",
                 "hardware.gpus=4", "strategy.tp=4",      "serving.weights=fp8"};
const Texts fixed = together(base, {"serving.isl=1024", "serving.osl=256"});
const Texts open = together(base,
                            {"traffic.rate=6 req/s", "traffic.requests=3000", "fleet.replicas=1",
                             R"(traffic.prompt={mean=1000, law="lognormal", cv=0.8, most=6000})",
                             R"(traffic.output={mean=200, law="lognormal", cv=0.6, most=1500})"});
const Texts one_billion{"serving.speculative.draft=4", "serving.speculative.acceptance=0.7",
                        "serving.speculative.draft_model=llama3.2-1b", "serving.speculative.draft_tp=1",
                        "serving.speculative.draft_weights=bf16"};
const Texts ngrams{"serving.speculative.draft=4", "serving.speculative.acceptance=0.7",
                   "serving.speculative.method=ngram"};

Scenario question(const Texts& some, const Texts& more) {
  return scenario_from_overrides(together(some, more), sources());
}

Plan plan(const Texts& more, std::int64_t concurrency) {
  return make_plan(question(fixed, together(more, {"serving.concurrency=" + std::to_string(concurrency)})), false);
}
const ServePlan& served(const Plan& plan) {
  return std::get<ServePlan>(plan.answer);
}

ServingSimulation simulated(const Texts& more) {
  const Scenario s = question(open, more);
  return simulate_serving(std::get<ServeScenario>(s.question), s.money);
}

std::string problem(const Texts& more) {
  try {
    static_cast<void>(question(fixed, together(more, {"serving.concurrency=8"})));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a draft without an acceptance takes the published one of its method, and is less sure") {
  const Texts stated{"serving.speculative.draft=3", "serving.speculative.method=eagle3",
                     "serving.speculative.acceptance=0.762"};
  const Texts open_one{"serving.speculative.draft=3", "serving.speculative.method=eagle3"};
  const Scenario asked = question(fixed, together(open_one, {"serving.concurrency=8"}));
  const DraftPlan& draft = *std::get<ServeScenario>(asked.question).work.draft;
  CHECK(draft.speculation.acceptance == doctest::Approx(0.762).epsilon(0.001));
  CHECK(draft.acceptance_low < 0.71);
  CHECK(draft.acceptance_high > 0.81);
  CHECK(std::any_of(asked.assumptions.begin(), asked.assumptions.end(), [](const std::string& text) {
    return text.starts_with("serving.speculative.acceptance = 0.762 (80 % lie within");
  }));
  const Plan sure = plan(stated, 8);
  const Plan unsure = plan(open_one, 8);
  const auto ratio = [](const auto& interval) { return interval.high / interval.low; };
  CHECK(served(unsure).tpot.mid / served(sure).tpot.mid == doctest::Approx(1.0).epsilon(0.01));
  CHECK(ratio(served(unsure).tpot) > 1.04 * ratio(served(sure).tpot));
  CHECK(ratio(served(unsure).output_tokens_per_s) > 1.02 * ratio(served(sure).output_tokens_per_s));
  CHECK(ratio(served(unsure).ttft) == doctest::Approx(ratio(served(sure).ttft)).epsilon(1e-6));
}

TEST_CASE("eagle3 drafts by one layer of the served model and what fuses its states, priced on its GPUs") {
  const Texts eagle{"serving.speculative.draft=4", "serving.speculative.acceptance=0.7",
                    "serving.speculative.method=eagle3"};
  const Scenario asked = question(fixed, together(eagle, {"serving.concurrency=8"}));
  const auto& serve = std::get<ServeScenario>(asked.question);
  REQUIRE(serve.work.draft->model);
  const Architecture& head = *serve.work.draft->model;
  CHECK(serve.work.draft->heads);
  CHECK(serve.work.draft->weights == Precision::bf16);  // beside fp8
  CHECK(head.layers == 1);
  CHECK(head.vocab == serve.architecture.vocab);
  // Of Llama 3.1 70B: 8192 x (3 x 8192 + 10 240) that fuse, above one layer of 0.856e9 and a table of 1.051e9.
  CHECK(count_parameters(head).total == doctest::Approx(0.285e9 + 0.856e9 + 1.051e9).epsilon(0.005));
  CHECK(head.ffn_hidden % 256 == 0);
  const Plan priced = plan(eagle, 8);
  const ServePlan& answer = served(priced);
  REQUIRE(answer.speculation);
  CHECK(answer.speculation->speedup() > 1.5);
  CHECK(answer.speculation->speedup() < 2.77);
  // A time that is stated is taken instead, and a table of heads is no draft_model.
  const Scenario timed =
      question(fixed, together(eagle, {"serving.concurrency=8", "serving.speculative.draft_time=1 ms"}));
  CHECK_FALSE(std::get<ServeScenario>(timed.question).work.draft->model);
  CHECK(problem(together(eagle, {"serving.speculative.draft_tp=8"})).find("more than the 4 tensor ranks") !=
        std::string::npos);
  CHECK(problem(
            {"serving.speculative.draft=4", "serving.speculative.acceptance=0.7", "serving.speculative.method=medusa"})
            .find("without what drafting takes") != std::string::npos);
}

TEST_CASE("speculative plans: a fixed load's answer is that of verifying and drafting, beside the one without") {
  const Plan with = plan(one_billion, 4);
  const Plan without = plan({}, 4);
  const ServePlan& draft = served(with);
  const ServePlan& plain = served(without);
  REQUIRE(draft.speculation);
  CHECK_FALSE(plain.speculation);
  CHECK(draft.speculation->tpot_without.raw() == plain.tpot.mid.raw());
  CHECK(draft.speculation->output_tokens_per_s_without == plain.output_tokens_per_s.mid);
  CHECK(draft.tpot.mid < plain.tpot.mid);
  CHECK(draft.times->decode_drafting.raw() > 4 * 2 * 1.2358e9 / 3.35e12);  // four times the draft's weights
  // tokens come in steps: what prompts of others add is on top
  CHECK(draft.tpot.mid >= draft.times->state.decode_step / draft.times->step_tokens);
  CHECK(draft.estimate.memory.terms[MemoryTerm::weights] > plain.estimate.memory.terms[MemoryTerm::weights]);
  // n-grams cost no time, so that they are the faster at the same acceptance
  CHECK(served(plan(ngrams, 4)).tpot.mid < draft.tpot.mid);
}

TEST_CASE("speculative plans: SGLang waits for the host in each step unless its launch overlaps drafts") {
  const Texts sglang = together(one_billion, {"serving.engine=sglang"});
  const Plan waits = plan(sglang, 16);
  const Plan said = plan(together(sglang, {"serving.speculative.overlap=false"}), 16);
  const Plan overlaps = plan(together(sglang, {"serving.speculative.overlap=true"}), 16);
  const IterationStack host =
      std::get<ServeScenario>(question(fixed, together(sglang, {"serving.concurrency=16"})).question).engine.time;
  REQUIRE(host.draft_step.raw() > 0.0);
  const double exposed = (host.draft_step + 16.0 * host.draft_sequence).raw();
  CHECK(served(waits).times->drafting_host.raw() == near(exposed, 0.02));  // of those that are not in their prompts
  CHECK(served(overlaps).times->drafting_host.raw() == 0.0);
  CHECK(served(waits).times->decode_drafting - served(overlaps).times->decode_drafting >
        0.9 * served(waits).times->drafting_host);
  CHECK(served(said).tpot.mid == served(waits).tpot.mid);
  CHECK(served(overlaps).tpot.mid < served(waits).tpot.mid);
  const auto tells = [](const Plan& p) {
    return std::any_of(p.notes.begin(), p.notes.end(), [](const std::string& line) {
      return line.find("serving.speculative.overlap = false") != std::string::npos;
    });
  };
  CHECK(tells(waits));
  CHECK_FALSE(tells(said));
  CHECK(problem(together(ngrams, {"serving.speculative.overlap=true"}))
            .find("known to wait for the host, and vLLM is not; leave it out") != std::string::npos);
}

TEST_CASE("speculative plans: at a batch that multiplies the line says that it slows down") {
  const Texts worse{"serving.speculative.draft=6", "serving.speculative.acceptance=0.3",
                    "serving.speculative.method=ngram"};
  const Plan small = plan(worse, 1);
  CHECK(served(small).speculation->speedup() > 1.0);
  CHECK(served(small).speculation->text().find("times as fast") != std::string::npos);
  const Plan large = plan(worse, 256);
  CHECK(served(large).speculation->speedup() < 1.0);
  CHECK(served(large).speculation->text().find("draft fewer, or none") != std::string::npos);
}

TEST_CASE("speculative fleets: simulated tokens come as much faster as a step gives more of them") {
  const ServingSimulation plain = simulated({});
  const ServingSimulation draft = simulated(ngrams);
  CHECK(draft.replica.simulated.engine.speculation.draft == 4);
  CHECK(draft.metrics.all.tpot.mean < plain.metrics.all.tpot.mean);
  // not more than the 2.77 tokens of a step
  CHECK(draft.metrics.all.tpot.mean.raw() > plain.metrics.all.tpot.mean.raw() / 2.9);
  const ServingSimulation small = simulated(one_billion);
  CHECK(small.metrics.all.tpot.mean > draft.metrics.all.tpot.mean);
  CHECK(small.replica.simulated.engine.blocks < draft.replica.simulated.engine.blocks);
  // the bound of one token: every draft accepted
  CHECK(draft.replica.least_token < 0.3 * plain.replica.least_token);
  CHECK(draft.metrics.all.tpot.p50 > draft.replica.least_token);
}

TEST_CASE("speculative fleets: few sequences at once answer more with drafts, as many as the memory holds no more") {
  const auto most = [](const Texts& who, std::string_view sequences) {
    return simulated(together(who, {"serving.max_num_seqs=" + std::string{sequences}})).saturation.mid.raw();
  };
  CHECK(most(ngrams, "64") > 1.15 * most({}, "64"));
  CHECK(most(ngrams, "1024") < 1.02 * most({}, "1024"));
}

TEST_CASE("speculative fleets: none accepted and none drafted are as slow as verifying costs, no faster") {
  const ServingSimulation plain = simulated({});
  const ServingSimulation never = simulated(
      {"serving.speculative.draft=1", "serving.speculative.acceptance=0", "serving.speculative.method=ngram"});
  CHECK(never.metrics.all.tpot.mean >= plain.metrics.all.tpot.mean);
  CHECK(never.metrics.all.tpot.mean < 1.15 * plain.metrics.all.tpot.mean);
}

TEST_CASE("speculative fleets: the screen agrees with the simulation") {
  for (const Texts& who : {ngrams, one_billion}) {
    const Scenario s = question(open, together(who, {"traffic.requests=10000", "serving.max_num_seqs=256"}));
    const auto& asked = std::get<ServeScenario>(s.question);
    const ServingSimulation run = simulate_serving(asked, s.money);
    const ServingScreen screened = screen(serving_fleet(asked, run.replica, 1), screened_traffic(*asked.traffic));
    CHECK(screened.saturation.raw() == near(run.saturation.mid.raw(), 0.03));
    CHECK(screened.tpot.mean() == near(run.metrics.all.tpot.mean.raw(), 0.06));
    CHECK(screened.tpot.quantile(0.95) == near(run.metrics.all.tpot.p95.raw(), 0.12));
    CHECK(screened.ttft.quantile(0.95) == near(run.metrics.all.ttft.p95.raw(), 0.08));
  }
}

TEST_CASE("speculative fleets: a fleet is sized with drafts, and prompts apart hand on the draft's cache too") {
  const Texts promised{"slo.tpot_p95=20 ms", "slo.ttft_p95=2 s", "traffic.requests=2000"};
  const auto sized = [&](const Texts& more) {
    Texts all = together(together(open, promised), more);
    all.erase(
        std::remove_if(all.begin(), all.end(),
                       [](const std::string& t) { return t.starts_with("fleet.") || t.starts_with("hardware.gpus"); }),
        all.end());
    return plan_fleet(read_fleet(scenario_tree(all), "command line", sources()));
  };
  const FleetPlan plain = sized({});
  const FleetPlan draft = sized(ngrams);
  REQUIRE(plain.feasible());
  REQUIRE(draft.feasible());
  CHECK(draft.options.front().gpus <= plain.options.front().gpus);
  const Scenario apart = question(
      open, together(one_billion, {"fleet.prefill.tp=2", "fleet.prefill.replicas=1", "fleet.prefill.link=50 GB/s"}));
  const ServedReplica split = served_replica(std::get<ServeScenario>(apart.question));
  CHECK(split.prefill->engine.speculation.draft == 0);
  // 80 layers of 8 KV heads of 128 and 16 of 8 of 64, keys and values in 16 bit
  CHECK(split.cache_per_token.raw() == near(80 * 8 * 128 * 4.0 + 16 * 8 * 64 * 4.0));
}

TEST_CASE("speculative plans: the same bytes whatever the number of threads") {
  const Texts all = together(open, together(ngrams, {"slo.tpot_p95=30 ms"}));
  const ConfigValue root = scenario_tree(all);
  const FleetPlan one = plan_fleet(read_fleet(root, "command line", sources()), {1, 2});
  const FleetPlan four = plan_fleet(read_fleet(root, "command line", sources()), {4, 2});
  CHECK(one.options.front().sized->metrics.all.tpot.p95.raw() ==
        four.options.front().sized->metrics.all.tpot.p95.raw());
}

TEST_CASE("speculative plans: what no draft can be is refused with the way out") {
  const auto with = [](const Texts& more) {
    return problem(together({"serving.speculative.draft=4", "serving.speculative.acceptance=0.7"}, more));
  };
  CHECK(with({}).find("without what drafting takes: name the draft_model") != std::string::npos);
  CHECK(with({"serving.speculative.draft_time=1 ms"}) == "none");
  CHECK(with({"serving.speculative.method=mtp"}).find("without what drafting takes") != std::string::npos);
  CHECK(with({"serving.speculative.draft_model=llama3.2-2b"}).find("llama3.2-1b") != std::string::npos);
  CHECK(with({"serving.speculative.draft_model=bert-base"}).find("encoder") != std::string::npos);
  CHECK(with({"serving.speculative.draft_model=qwen2.5-0.5b", "serving.speculative.draft_tp=1"})
            .find("writes 151936 tokens, llama3.1-70b reads 128256") != std::string::npos);
  CHECK(with({"serving.speculative.draft_model=llama3.2-1b", "serving.speculative.draft_tp=3"})
            .find("state a draft_tp that does") != std::string::npos);
  CHECK(with({"serving.speculative.draft_model=llama3.2-1b", "serving.speculative.draft_tp=8"}).find("use 4 or less") !=
        std::string::npos);
  CHECK(with({"serving.speculative.draft_model=llama3.2-1b", "strategy.tp=2", "strategy.pp=2"}).find("use pp 1") !=
        std::string::npos);
  CHECK(problem({"serving.speculative.draft=16", "serving.speculative.acceptance=0.7",
                 "serving.speculative.method=ngram", "serving.max_num_tokens=64"})
            .find("verify 17 tokens each, 136, and a step takes 64") != std::string::npos);
}
