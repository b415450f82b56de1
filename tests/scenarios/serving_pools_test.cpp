// SPDX-License-Identifier: Apache-2.0
// Measured rows of disaggregated deployments, and of power: which pool answers what, and what a row must state.
#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/scenarios/measured/serving_disaggregated.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/serving_watts.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

using namespace headroom;
using headroom::test::sources;
using test::near;

namespace {

/// Two prefilling workers of four ranks and three decoding ones of eight, both under attention-DP.
ServingConfiguration deployment() {
  ServingConfiguration c;
  c.model = "DeepSeek-R1";
  c.gpu = "GB200";
  c.weight_dtype = c.act_dtype = "nvfp4";
  c.kv_dtype = "fp8";
  c.engine = "Dynamo+TensorRT-LLM";
  c.gpus = 32;
  c.tp = 1;
  c.ep = c.dp = 8;
  c.isl = 8192;
  c.osl = 1024;
  c.concurrency = 96;
  c.disaggregated = true;
  for (const auto& [key, value] : {std::pair{"scenario", "closed"},
                                   {"disaggregated", "1"},
                                   {"prefill_workers", "2"},
                                   {"prefill_tp", "1"},
                                   {"prefill_pp", "1"},
                                   {"prefill_attention_dp", "4"},
                                   {"prefill_ep", "4"},
                                   {"decode_workers", "3"},
                                   {"decode_tp", "1"},
                                   {"decode_attention_dp", "8"},
                                   {"decode_ep", "8"}}) {
    c.options[key] = value;
  }
  return c;
}

ServingConfiguration dense(double concurrency = 32) {
  ServingConfiguration c;
  c.model = "Llama-3.1-8B";
  c.gpu = "H100-SXM5-80GB";
  c.weight_dtype = c.act_dtype = c.kv_dtype = "bf16";
  c.engine = "vLLM";
  c.engine_version = "0.11.1";
  c.gpus = c.tp = 1;
  c.isl = 500;
  c.osl = 500;
  c.concurrency = concurrency;
  c.options["scenario"] = "sustained";
  return c;
}

RowPrediction predicted(const ServingConfiguration& c, std::string_view metric) {
  static ServingRowModel model{sources()};
  return model.predict(c, metric, "");
}
double value(const ServingConfiguration& c, std::string_view metric) {
  const RowPrediction p = predicted(c, metric);
  REQUIRE_MESSAGE(p.status == RowStatus::ok, p.why);
  CHECK(p.low < p.predicted);
  CHECK(p.predicted < p.high);
  return p.predicted;
}

}  // namespace

TEST_CASE("a deployment of two pools answers for both: TPOT, TTFT and the rate are those of one closed loop") {
  const ServingConfiguration c = deployment();
  const double tpot = value(c, "tpot_ms_mean");
  const double ttft = value(c, "ttft_ms_p50");  // without the first burst
  const double rate = value(c, "output_tokens_per_s");
  CHECK(rate == near(96 * 1024 / (1e-3 * (ttft + 1023 * tpot)), 2e-3));
  CHECK(value(c, "total_tokens_per_s") == near(9 * rate));
  CHECK(value(c, "ttft_ms_mean") > ttft);
  // none faster than its bound, which counts every request as if alone
  for (const char* metric : {"tpot_ms_mean", "ttft_ms_mean"}) {
    CHECK(predicted(c, metric).fastest < predicted(c, metric).predicted);
  }
  CHECK(predicted(c, "output_tokens_per_s").fastest > rate);
}

TEST_CASE("a deployment: more prefilling workers shorten the wait for the first token, more decoding ones the next") {
  const ServingConfiguration c = deployment();
  ServingConfiguration prompts = c;
  prompts.options["prefill_workers"] = "4";
  CHECK(value(prompts, "ttft_ms_mean") < value(c, "ttft_ms_mean"));
  // no faster, as far as the loop's fixed point is found
  CHECK(value(prompts, "tpot_ms_mean") >= (1.0 - 2e-4) * value(c, "tpot_ms_mean"));
  ServingConfiguration tokens = c;
  tokens.options["decode_workers"] = "6";
  CHECK(value(tokens, "tpot_ms_mean") < value(c, "tpot_ms_mean"));
  CHECK(value(tokens, "output_tokens_per_s") > value(c, "output_tokens_per_s"));
}

TEST_CASE("a first token waits for the handover of the pools' engine, and the tokens behind it do not") {
  ServingPlaces places{sources()};
  RowPrediction refusal;
  ServingConfiguration c = deployment();
  const auto asked = [&](std::string_view metric) {
    const std::optional<DisaggregatedQuestion> q = disaggregated_question(c, metric, places.catalog(), places, refusal);
    REQUIRE_MESSAGE(q.has_value(), refusal.why);
    return *q;
  };
  const double bytes_only = asked("ttft_ms_p50").transfer.raw();  // TensorRT-LLM has none of its own
  c.engine = "SGLang";
  c.concurrency = 1;
  DisaggregatedQuestion ttft = asked("ttft_ms_p50");
  DisaggregatedQuestion tpot = asked("tpot_ms_mean");
  const double handover = ttft.prefill.stack->time.handover.raw();
  CHECK(handover > 0.05);
  CHECK(handover < 0.5);
  CHECK(ttft.transfer.raw() == near(bytes_only + handover));
  const IterationPhysics physics = iteration_physics(places.data());
  const double with = predict_deployment(ttft, physics);
  const double tokens = predict_deployment(tpot, physics);
  ttft.transfer = tpot.transfer = ttft.transfer - Seconds{handover};
  CHECK(with - predict_deployment(ttft, physics) == near(1e3 * handover, 1e-3));
  CHECK(tokens == near(predict_deployment(tpot, physics)));
}

TEST_CASE("a deployment that kept limits answers the rate at which both of its pools keep them") {
  ServingConfiguration c = deployment();
  c.engine = "TensorRT-LLM (MLPerf harness)";
  c.concurrency.reset();
  c.max_batch = 32;
  c.request_rate = 1e6;  // what was sent is no part of the question
  c.options["scenario"] = "server";
  c.options["ttft_p99_ms"] = "4000";
  c.options["tpot_p99_ms"] = "60";
  const double rate = value(c, "requests_per_s");
  CHECK(value(c, "output_tokens_per_s") == near(1024 * rate));
  CHECK(value(c, "ttft_ms_p99") <= 4000.0);
  CHECK(value(c, "tpot_ms_p99") <= 60.0);
  ServingConfiguration more = c;
  more.options["prefill_workers"] = "4";
  more.options["decode_workers"] = "6";
  CHECK(value(more, "requests_per_s") == near(2 * rate, 0.2));  // found to 4 %, and more servers queue less
  ServingConfiguration prompts = c;
  prompts.options["prefill_workers"] = "1";  // one of two: prompts of 8,192 tokens hold first tokens up
  CHECK(value(prompts, "requests_per_s") < 0.9 * rate);
  c.options.erase("prefill_workers");
  CHECK(predicted(c, "requests_per_s").why == "not published: prefill_workers");
}

TEST_CASE("a deployment says what it leaves out, and whose the problem is") {
  ServingConfiguration c = deployment();
  c.concurrency.reset();
  CHECK(predicted(c, "ttft_ms_mean").why == "not published: concurrency");
  c = deployment();
  c.options.erase("prefill_workers");  // the decoding pool answers alone, as before
  CHECK(predicted(c, "tpot_ms_mean").status == RowStatus::ok);
  CHECK(predicted(c, "ttft_ms_mean").status == RowStatus::unsupported);
  c = deployment();
  c.options["prefill_moe_tp"] = "4";  // slices of every expert on each of the four ranks
  c.options["prefill_ep"] = "1";
  CHECK(predicted(c, "ttft_ms_mean").status == RowStatus::ok);
  c.options["prefill_moe_tp"] = "2";
  CHECK(predicted(c, "ttft_ms_mean").why.starts_with("prefilling workers: experts cut over some ranks"));
  c = deployment();
  CHECK(asks_for_deployment(c, "ttft_ms_mean"));
  CHECK_FALSE(asks_for_deployment(c, "power_w_per_gpu"));
  c.options["pool"] = "decode";
  CHECK_FALSE(asks_for_deployment(c, "tpot_ms_mean"));
}

TEST_CASE("watts: between idle and limit, more with a larger batch, joules a token are all GPUs' watts over the rate") {
  const double few = value(dense(4), "power_w_per_gpu");
  const double many = value(dense(256), "power_w_per_gpu");
  CHECK(few > 70.0);
  CHECK(many > few);
  CHECK(many <= 700.0);
  for (const double concurrency : {4.0, 256.0}) {
    const ServingConfiguration c = dense(concurrency);
    CHECK(value(c, "j_per_output_token") == near(value(c, "power_w_per_gpu") / value(c, "output_tokens_per_s")));
  }
  // Llama 3.1 8B on one H100 of 700 W, a batch of 8: 486 W (ML.ENERGY benchmark 3.0, vLLM 0.11.1)
  CHECK(value(dense(8), "power_w_per_gpu") == near(486.0, 0.15));
  ServingConfiguration two = dense(32);
  two.gpus = two.tp = 2;
  CHECK(value(two, "power_w_per_gpu") < value(dense(32), "power_w_per_gpu"));  // ranks wait for each other
}

TEST_CASE("watts of a batch of 768 of an 8B on one H100: 685 W (ML.ENERGY benchmark 3.0, vLLM 0.11.1)") {
  CHECK(value(dense(768), "power_w_per_gpu") == near(685.0, 0.15));
}

TEST_CASE("watts of a row whose rate nobody can tell: the reason is the rate's") {
  ServingConfiguration c = dense();
  c.isl.reset();
  CHECK(predicted(c, "power_w_per_gpu").why == "not published: isl");
  CHECK(predicted(c, "j_per_output_token").why == "not published: isl");
}
