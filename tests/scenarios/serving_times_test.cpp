// SPDX-License-Identifier: Apache-2.0
// Times of serving plans and of measured rows: what they stay above, what they add up to, which rows are refused.
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>

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

Plan plan_of(std::vector<std::string> changes) {
  const std::string path = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/serve/llama3-70b.toml";
  return make_plan(load_scenario(path, changes, sources()), false);
}

const ServePlan& answer_of(const Plan& plan) {
  return std::get<ServePlan>(plan.answer);
}

ServingConfiguration run() {
  ServingConfiguration c;
  c.model = "Llama-3.1-8B";
  c.gpu = "H100-SXM5-80GB";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "bf16";
  c.engine = "vLLM";
  c.engine_version = "0.9.0";
  c.gpus = c.tp = 1;
  c.isl = 1000;
  c.osl = 200;
  c.concurrency = 16;
  c.options["scenario"] = "closed";
  return c;
}

RowPrediction predicted(const ServingConfiguration& c,
                        std::string_view metric = "tpot_ms_mean",
                        std::string_view unit = "ms") {
  static ServingRowModel model{sources()};
  return model.predict(c, metric, unit);
}

}  // namespace

TEST_CASE("clients that sample with top-p wait for a sort of the vocabulary, by releases that sort it") {
  ServingConfiguration c = run();
  const auto token = [&](const char* version, const char* top_p) {
    c.engine_version = version;
    c.options["top_p"] = top_p;
    const RowPrediction p = predicted(c);
    REQUIRE(p.status == RowStatus::ok);
    return p.predicted;
  };
  // 16 rows of 128,256 logits, 400 bytes each, at 3.35 TB/s
  CHECK(token("0.11.0", "0.95") - token("0.11.0", "1") == near(16 * 128256 * 400.0 / 3.35e9, 0.1));
  CHECK(token("0.19.0", "0.95") == token("0.19.0", "1"));
}

TEST_CASE("ML.ENERGY's client samples with top-p, those of other publications are not known to") {
  const PublishedLaunches& launches = published_launches(sources().data);
  RunRow r;
  r.serving = run();
  r.source = "Dump of last year";
  CHECK_FALSE(launched(r, launches).run.options.contains("top_p"));
  r.source = "ML.ENERGY leaderboard 3.0";
  CHECK(launched(r, launches).run.options.at("top_p") == "0.95");
}

TEST_CASE("a row that drafts by its network's own modules takes the acceptance that is published of them") {
  ServingConfiguration c = run();
  c.model = "DeepSeek-R1";
  c.gpu = "H200-SXM-141GB";
  c.engine = "TensorRT-LLM";
  c.engine_version = "1.1.0";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "fp8";
  c.gpus = c.tp = 8;
  c.concurrency = 1;
  const RowPrediction plain = predicted(c);
  REQUIRE(plain.status == RowStatus::ok);
  c.options["speculative"] = "mtp";
  CHECK(predicted(c).why == "speculative decoding without a published acceptance");  // of how many tokens?
  c.options["draft_tokens"] = "3";
  const RowPrediction drafted = predicted(c);
  REQUIRE(drafted.status == RowStatus::ok);
  // 2.18 and 2.37 tokens a step are published of its architecture: 2.27 in the mean. Alone, a step reads nearly the
  // same weights for four tokens as for one, but for experts, of which they meet up to four times as many; drafting
  // takes three layers of 61 more.
  CHECK(drafted.predicted * 2.27 > plain.predicted * (1.0 + 3.0 / 61.0));
  CHECK(drafted.predicted * 2.27 < plain.predicted * 2.0);
  CHECK(drafted.assumed.find("2.27 tokens a step (") != std::string::npos);
  CHECK(drafted.assumed.find("DeepSeek-V3, DeepSeek-R1") != std::string::npos);
  // What a further task may accept widens the interval beyond that of a run without drafts.
  CHECK(drafted.high / drafted.low > 1.05 * plain.high / plain.low);
  CHECK(predicted(c, "ttft_ms_mean").status == RowStatus::ok);
  CHECK(predicted(c, "ttft_ms_p99").status == RowStatus::ok);
  c.options["speculative"] = "eagle3";
  CHECK(predicted(c).status == RowStatus::unsupported);
}

TEST_CASE("drafts of a row wait for SGLang's host in every step, unless its launch overlaps them") {
  ServingConfiguration c = run();
  c.model = "DeepSeek-R1";
  c.gpu = "H200-SXM-141GB";
  c.engine = "SGLang";
  c.engine_version = "0.5.9";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "fp8";
  c.gpus = c.tp = 8;
  c.concurrency = 1;
  c.options["speculative"] = "mtp";
  c.options["draft_tokens"] = "3";
  ServingConfiguration burst = c;
  burst.concurrency.reset();
  burst.max_batch = 1;
  burst.options["scenario"] = "burst";
  burst.options["requests"] = "10";
  for (ServingConfiguration one : {c, burst}) {
    CAPTURE(one.options.at("scenario"));
    const RowPrediction waits = predicted(one);
    one.options["overlap_drafts"] = "1";
    const RowPrediction overlaps = predicted(one);
    REQUIRE(waits.status == RowStatus::ok);
    REQUIRE(overlaps.status == RowStatus::ok);
    // A step of 2.27 tokens waits 1.95 ms and 85 us for its one sequence.
    CHECK((waits.predicted - overlaps.predicted) * 2.27 == doctest::Approx(1.95 + 0.085).epsilon(0.03));
  }
}

TEST_CASE("no acceptance of drafts exceeds a row's bound: it is that of a run whose every draft is accepted") {
  ServingConfiguration c = run();
  c.model = "DeepSeek-R1";
  c.gpu = "H200-SXM-141GB";
  c.engine = "TensorRT-LLM";
  c.engine_version = "1.1.0";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "fp8";
  c.gpus = c.tp = 8;
  c.isl = 100;
  c.osl = 2000;
  ServingConfiguration at_limits = c;
  at_limits.concurrency.reset();
  at_limits.max_batch = 16;
  at_limits.request_rate = 1.0;
  at_limits.options["scenario"] = "server";
  at_limits.options["ttft_p99_ms"] = "2000";
  at_limits.options["tpot_p99_ms"] = "80";
  const auto drafting = [](ServingConfiguration plain) {
    plain.options["speculative"] = "mtp";
    plain.options["draft_tokens"] = "3";
    return plain;
  };
  for (const ServingConfiguration& one : {c, at_limits}) {
    CAPTURE(one.options.at("scenario"));
    // Alone a step reads the same bytes at least, whatever it verifies, and yields four tokens at most.
    const RowPrediction plain = predicted(one);
    const RowPrediction drafted = predicted(drafting(one));
    REQUIRE(plain.status == RowStatus::ok);
    REQUIRE(drafted.status == RowStatus::ok);
    CHECK(drafted.fastest == doctest::Approx(plain.fastest / 4.0).epsilon(0.02));
    // Where arithmetic binds, a token that is drafted and accepted multiplies as much as one without drafts.
    CHECK(predicted(drafting(one), "requests_per_s", "1/s").fastest >=
          0.999 * predicted(one, "requests_per_s", "1/s").fastest);
  }
}

TEST_CASE(
    "a run with drafts is simulated: its steps yield what is accepted, and the interval holds both ends of that") {
  ServingConfiguration c = run();
  c.model = "DeepSeek-R1";
  c.gpu = "H200-SXM-141GB";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "fp8";
  c.gpus = c.tp = 8;
  c.concurrency.reset();
  c.max_batch = 4;
  c.options["scenario"] = "burst";
  c.options["requests"] = "40";
  const RowPrediction plain = predicted(c, "tpot_ms_mean");
  c.options["speculative"] = "mtp";
  c.options["draft_tokens"] = "3";
  const RowPrediction drafted = predicted(c, "tpot_ms_mean");
  REQUIRE(plain.status == RowStatus::ok);
  REQUIRE(drafted.status == RowStatus::ok);
  // 2.27 tokens a step in the mean, as above: never more than so many times as fast, but faster in batches of four
  CHECK(drafted.predicted * 2.27 > plain.predicted);
  CHECK(drafted.predicted < plain.predicted);
  CHECK(drafted.high / drafted.low > 1.05 * plain.high / plain.low);
  CHECK(drafted.assumed.find("2.27 tokens a step (") != std::string::npos);
  CHECK(predicted(c, "tpot_ms_p99").predicted > drafted.predicted);
  const double drafted_rate = predicted(c, "requests_per_s").predicted;
  c.options.erase("speculative");
  c.options.erase("draft_tokens");
  const double plain_rate = predicted(c, "requests_per_s").predicted;
  CHECK(drafted_rate > plain_rate);
  CHECK(drafted_rate < 2.27 * plain_rate);
}

TEST_CASE("weights that no GPU of a layout holds are no run of it, unless part of them lies elsewhere") {
  ServingConfiguration c = run();
  c.model = "llama3-70b";  // 141 GB in 16 bit
  const RowPrediction wrong = predicted(c);
  CHECK(wrong.status == RowStatus::rejected);
  CHECK(wrong.why.find("the weights alone take 131 GiB of 79") != std::string::npos);
  CHECK(wrong.why.find("'tp', 'gpus' or 'weight_dtype' is another") != std::string::npos);
  c.options["offload"] = "weights";
  CHECK(predicted(c).status == RowStatus::unsupported);
  CHECK(predicted(c).why.find("host's memory, which is not modelled") != std::string::npos);
  c.options.erase("offload");
  c.gpus = c.tp = 2;
  CHECK(predicted(c).status == RowStatus::ok);
}

TEST_CASE("a serving plan: no TPOT below the least iteration, inside its interval, and the terms are the step") {
  const Plan plan = plan_of({});
  const ServePlan& a = answer_of(plan);
  REQUIRE(a.times);
  CHECK(a.times->least_decode.raw() > 0.0);
  CHECK(a.times->least_decode <= a.times->state.decode_step);
  CHECK(a.times->state.decode_step <= a.tpot.mid);
  CHECK(a.times->decode.total() == near(a.times->state.decode_step.raw()));
  CHECK(a.tpot.low < a.tpot.mid);
  CHECK(a.tpot.mid < a.tpot.high);
  CHECK(a.times->prompt_alone < a.ttft.mid);  // nobody else there
  // 141 GB over eight GPUs of 3.35 TB/s, and 64 caches of 2176 tokens at 320 KiB
  const double bytes = ((70.55e9 - 128256 * 8192.0) * 2 + 64 * 2176 * 327680.0) / 8;  // but for the table of tokens
  CHECK(a.times->least_decode.raw() == near(bytes / 3.35e12, 2e-3));
  // Little: requests in flight over the time that one takes
  const double seconds = a.ttft.mid.raw() + 255 * a.tpot.mid.raw();
  CHECK(a.requests_per_s.mid == near(64 / seconds));
  CHECK(a.output_tokens_per_s.mid == near(256 * 64 / seconds));
}

TEST_CASE("a serving plan: money for a million tokens in and out adds up to what everything costs") {
  for (const std::vector<std::string>& changes : std::vector<std::vector<std::string>>{
           {}, {"serving.isl=16"}, {"serving.osl=2"}, {"serving.concurrency=512"}, {"serving.engine=tensorrt-llm"}}) {
    const Plan plan = plan_of(changes);
    const ServePlan& a = answer_of(plan);
    REQUIRE(a.times);
    const auto& work = std::get<ServeScenario>(plan.scenario.question).work;
    const auto isl = static_cast<double>(work.isl);
    const auto osl = static_cast<double>(work.osl);
    const auto sum = [&](Dollars in, Dollars out) { return in.raw() * isl + out.raw() * osl; };
    CHECK(a.cost_per_million_output_tokens.mid.raw() > 0.0);
    CHECK(sum(a.cost_per_million_input_tokens_apart.low, a.cost_per_million_output_tokens_apart.low) ==
          near(a.cost_per_million_output_tokens.low.raw() * osl));
    CHECK(sum(a.cost_per_million_input_tokens_apart.mid, a.cost_per_million_output_tokens_apart.mid) ==
          near(a.cost_per_million_output_tokens.mid.raw() * osl));
    CHECK(sum(a.cost_per_million_input_tokens_apart.high, a.cost_per_million_output_tokens_apart.high) ==
          near(a.cost_per_million_output_tokens.high.raw() * osl));
    // eight GPUs at 2.99 $/h, as the price list says, over the tokens of an hour
    const double price = a.cost_per_million_output_tokens.mid.raw() * a.output_tokens_per_s.mid * 3600 / 1e6 / 8;
    CHECK(price == near(2.99, 1e-6));
  }
}

TEST_CASE("a serving plan: more requests raise rate and TPOT, more prompt raises TTFT, replicas divide the load") {
  const auto ask = [](const std::vector<std::string>& changes) { return answer_of(plan_of(changes)); };
  const ServePlan usual = ask({});
  const ServePlan few = ask({"serving.concurrency=8"});
  CHECK(few.tpot.mid < usual.tpot.mid);
  CHECK(few.output_tokens_per_s.mid < usual.output_tokens_per_s.mid);
  CHECK(ask({"serving.isl=6000"}).ttft.mid > usual.ttft.mid);
  const ServePlan halves = ask({"strategy.tp=4"});
  REQUIRE(halves.times);
  CHECK(halves.estimate.replicas == 2);
  CHECK(halves.requests_per_s.mid == near(2 * halves.times->state.requests_per_s));
  CHECK(halves.times->decode[IterationTerm::products] > usual.times->decode[IterationTerm::products]);
}

TEST_CASE("measured rows: the engine's release, the load and the layout reach the answer") {
  const double usual = predicted(run()).predicted;
  REQUIRE(predicted(run()).status == RowStatus::ok);
  ServingConfiguration c = run();
  // Before V1 each iteration took the host longer (vLLM, blog of 27 January 2025), which long answers show: few
  // prompts.
  c.osl = 2000;
  const double later = predicted(c).predicted;
  c.engine_version = "0.7.0";
  CHECK(predicted(c).predicted > 1.05 * later);
  c = run();
  c.concurrency = 64;
  CHECK(predicted(c).predicted > usual);
  c = run();
  c.tp = c.gpus = 4;
  CHECK(predicted(c).predicted < usual);
  c = run();
  c.concurrency = 32;
  c.gpus = 2;  // two replicas of sixteen
  CHECK(predicted(c).predicted == near(usual));
  CHECK(predicted(c, "output_tokens_per_s", "tokens/s").predicted ==
        near(2 * predicted(run(), "output_tokens_per_s", "tokens/s").predicted));
  c = run();
  const double rate = predicted(c, "requests_per_s", "requests/s").predicted;
  CHECK(predicted(c, "output_tokens_per_s", "tokens/s").predicted == near(200 * rate));
  CHECK(predicted(c, "total_tokens_per_s", "tokens/s").predicted == near(1200 * rate));
  c.concurrency.reset();
  c.options["scenario"] = "interactive";  // one at a time
  ServingConfiguration lone = run();
  lone.concurrency = 1;
  CHECK(predicted(c).predicted == near(predicted(lone).predicted));
}

TEST_CASE("measured rows: what no run beats lies on the good side of the prediction, the sheet beyond it") {
  for (const std::string_view scenario : {"closed", "static", "offline"}) {
    for (const std::string_view name : {"Llama-3.1-8B", "Mixtral-8x7B"}) {
      for (const double concurrency : {1.0, 16.0, 200.0}) {
        ServingConfiguration c = run();
        c.model = name;
        c.tp = c.gpus = 2;
        c.concurrency = concurrency;
        c.options["scenario"] = scenario;
        CAPTURE(scenario);
        CAPTURE(name);
        CAPTURE(concurrency);
        const RowPrediction rate = predicted(c, "output_tokens_per_s", "tokens/s");
        REQUIRE(rate.status == RowStatus::ok);
        CHECK(rate.predicted < rate.fastest);
        CHECK(rate.roofline <= rate.fastest);
        CHECK(rate.low < rate.predicted);
        CHECK(rate.predicted < rate.high);
        if (scenario != "offline") {
          CHECK(predicted(c).predicted > predicted(c).fastest);
          CHECK(predicted(c, "ttft_ms_mean").predicted > predicted(c, "ttft_ms_mean").fastest);
        }
      }
    }
  }
}

TEST_CASE("measured rows that nothing answers are unsupported, each with the reason") {
  const auto why = [](const ServingConfiguration& c, std::string_view metric = "tpot_ms_mean") {
    const RowPrediction p = predicted(c, metric);
    CHECK(p.status == RowStatus::unsupported);
    return p.why;
  };
  ServingConfiguration c = run();
  c.concurrency.reset();
  CHECK(why(c) == "not published: concurrency");
  c = run();
  c.tp.reset();
  c.gpus.reset();
  c.isl.reset();
  CHECK(why(c) == "not published: tp");
  c.gpus = 1;  // on which one rank is the only layout
  CHECK(why(c) == "not published: isl");
  c.tp = 1;
  CHECK(why(c) == "not published: isl");
  c = run();
  c.options["scenario"] = "online";
  CHECK(why(c) == "not published: request_rate");
  c.request_rate = 4.0;
  CHECK(why(c) == "not published: options.requests, how many were sent");
  c.options["scenario"] = "offline";
  CHECK(why(c) == "not published: options.requests, how many were sent");
  c.options["scenario"] = "multistream";
  CHECK(why(c) == "a load of scenario 'multistream' has no closed form: a run to simulate");
  c.options.erase("scenario");
  CHECK(predicted(c).predicted == predicted(run()).predicted);  // requests in flight tell a closed loop
  c.concurrency.reset();
  CHECK(why(c) == "not published: options.scenario, and no concurrency tells a closed loop");
  c = run();
  CHECK(why(c, "tpot_ms_p75") == "metric 'tpot_ms_p75' in 'ms' is not predicted for serving yet");
  c.options["speculative"] = "eagle3";
  CHECK(why(c) == "speculative decoding without a published acceptance");
  c = run();
  c.engine = "LMDeploy";
  CHECK(why(c) == "engine 'LMDeploy' is of no stack");
  c.engine = "SambaFlow";
  CHECK(why(c) == "engine 'SambaFlow' compiles dataflow for SN40L, which no kernel of a GPU stands for");
  c = run();
  c.model = "nobody's";
  CHECK(why(c) == "the network is neither a preset nor whole in the columns");
  c = run();
  c.weight_dtype = "fp7";
  CHECK(why(c) == "format 'fp7' is not known");
  c = run();
  c.tp = c.gpus = 3;
  CHECK(why(c) == "32 heads do not divide by tp 3");
  c = run();
  c.model = "llama3-70b";
  c.gpus = c.tp = 2;
  c.options["memory_fraction"] = "0.8";  // 63 GiB of each GPU, of which the weights take 66
  CHECK(why(c).find("does not fit") != std::string::npos);
}

namespace {

ServingConfiguration experts() {
  ServingConfiguration c = run();
  c.model = "Qwen3-30B-A3B";
  c.engine = "TensorRT-LLM (PyTorch backend)";
  c.engine_version = "1.0";
  c.gpus = c.tp = 4;
  c.concurrency = 256;
  return c;
}

}  // namespace

TEST_CASE("attention-DP without a published ep runs attention and experts over all of its tensor ranks") {
  ServingConfiguration blank = experts();
  blank.options["attention_dp"] = "1";
  ServingConfiguration stated = experts();
  stated.tp = 1;
  stated.ep = 4;
  REQUIRE(predicted(blank).status == RowStatus::ok);
  CHECK(predicted(blank).predicted == predicted(stated).predicted);
  CHECK(predicted(blank).predicted != predicted(experts()).predicted);
  // of a network without experts there is no such layout
  ServingConfiguration dense = run();
  dense.gpus = dense.tp = 4;
  dense.options["attention_dp"] = "1";
  CHECK(predicted(dense).status == RowStatus::unsupported);
}

TEST_CASE("a disaggregated row's TPOT is its decode pool's: no prompts of others, its clients over its workers") {
  ServingConfiguration whole = experts();
  ServingConfiguration apart = experts();
  apart.disaggregated = true;
  apart.gpus = 20;
  apart.options["decode_workers"] = "4";
  apart.concurrency = 4 * 256;
  const RowPrediction pool = predicted(apart);
  REQUIRE(pool.status == RowStatus::ok);
  CHECK(pool.predicted < predicted(whole).predicted);
  // what one worker of as many clients takes, however long the prompts that another pool computed
  ServingConfiguration one = apart;
  one.options["decode_workers"] = "1";
  one.concurrency = 256;
  CHECK(predicted(one).predicted == near(pool.predicted));
  CHECK(predicted(apart, "ttft_ms_mean").why.find("no one pool's") != std::string::npos);
  CHECK(predicted(apart, "output_tokens_per_s", "tokens/s").status == RowStatus::unsupported);
  apart.dp = 4;
  apart.options["decode_moe_tp"] = "4";
  CHECK(predicted(apart).why.find("decode_moe_tp") != std::string::npos);
}

TEST_CASE("a pool measured by itself: the rate of its decodes, or of its prompts") {
  ServingConfiguration decode = experts();
  decode.options["pool"] = "decode";
  CHECK(predicted(decode).why.find("not published: decode_workers") != std::string::npos);
  decode.options["decode_workers"] = "1";
  decode.options.erase("scenario");
  const double tpot = predicted(decode).predicted;
  CHECK(predicted(decode, "output_tokens_per_s", "tokens/s").predicted == near(256 / (1e-3 * tpot)));
  decode.options["scenario"] = "closed";
  CHECK(predicted(decode, "ttft_ms_mean").why.find("no one pool's") != std::string::npos);
  ServingConfiguration prefill = experts();
  prefill.options["pool"] = "prefill";
  prefill.osl.reset();
  prefill.concurrency.reset();
  const RowPrediction input = predicted(prefill, "input_tokens_per_s", "tokens/s");
  REQUIRE(input.status == RowStatus::ok);
  CHECK(input.predicted < input.fastest);
  CHECK(predicted(prefill).status == RowStatus::unsupported);
  CHECK(predicted(experts(), "input_tokens_per_s", "tokens/s").status == RowStatus::unsupported);
}
