// SPDX-License-Identifier: Apache-2.0
// What publications are known to have launched, and which blank cells of a row that fills.
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>

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

PublishedLaunches launches_of(const std::string& tables, Diagnostics& diagnostics) {
  return read_published_launches(
      parse_toml("schema = 1\nid = \"serve-launches\"\nsource = \"a test\"\n" + tables, "launches.toml"), diagnostics);
}

const std::string dump =
    "[[launch]]\nid = \"few\"\nsources = [\"Dump\"]\nengines = [\"SGLang\"]\nmodels = [\"Llama\"]\n"
    "concurrency = [1, 15]\nkv_cache = \"fp8\"\nrecv_interval = 10\nsource = \"a test\"\n"
    "[[launch]]\nid = \"all\"\nsources = [\"Dump\"]\nrecv_interval = 30\nrange_ratio = 0.8\nsource = \"a test\"\n"
    "[[refused]]\nengines = [\"abacus\"]\nwhy = \"counts by hand\"\n";

RunRow row() {
  RunRow r;
  r.source = "Dump of last year";
  r.source_ref = "dump@1:tasks/chat.json";
  r.metric = "ttft_ms_mean";
  r.unit = "ms";
  ServingConfiguration& c = r.serving;
  c.model = "Llama-3.1-8B";
  c.gpu = "H100-SXM5-80GB";
  c.weight_dtype = c.act_dtype = "bf16";
  c.engine = "SGLang";
  c.gpus = c.tp = 1;
  c.isl = 1000;
  c.osl = 100;
  c.concurrency = 8.0;
  c.options["scenario"] = "closed";
  return r;
}

}  // namespace

TEST_CASE("a launch fills the cells that a row leaves blank, the first table first, and says so") {
  Diagnostics diagnostics;
  const PublishedLaunches launches = launches_of(dump, diagnostics);
  REQUIRE(diagnostics.empty());
  LaunchedRow filled = launched(row(), launches);
  CHECK(filled.run.kv_dtype == "fp8");
  CHECK(filled.run.options.at("recv_interval") == "10");
  CHECK(filled.run.options.at("range_ratio") == "0.8");
  CHECK(filled.assumed == "recv_interval 10, kv_cache fp8, range_ratio 0.8 (few; all)");

  RunRow other = row();
  other.serving.kv_dtype = "bf16";
  other.serving.concurrency = 16.0;
  filled = launched(other, launches);
  CHECK(filled.run.kv_dtype == "bf16");
  CHECK(filled.assumed == "range_ratio 0.8, recv_interval 30 (all)");
  other.source = "Another";
  CHECK(launched(other, launches).assumed.empty());
  CHECK(launches.refusal("abacus") == "counts by hand");
  CHECK(launches.refusal("vLLM").empty());
}

TEST_CASE("every problem of the table of launches has its place") {
  const auto told = [](const std::string& tables) {
    Diagnostics diagnostics;
    static_cast<void>(launches_of(tables, diagnostics));
    std::string text;
    for (const Diagnostic& d : diagnostics.sorted()) {
      text += d.message + "\n";
    }
    return text;
  };
  const std::string head = "[[launch]]\nid = \"x\"\nsource = \"a test\"\n";
  CHECK(told(head + "range_ratio = 0.8\n").find("names the publications") != std::string::npos);
  CHECK(told(head + "sources = [\"S\"]\n").find("states no fact") != std::string::npos);
  CHECK(told(head + "sources = [\"S\"]\nrange_ratio = 2\n").find("range_ratio") != std::string::npos);
  CHECK(told(head + "sources = [\"S\"]\ntp = [4]\nrange_ratio = 1\n").find("two numbers") != std::string::npos);
  CHECK(told(head + "sources = [\"S\"]\nrange_ration = 1\n").find("range_ratio") != std::string::npos);
}

TEST_CASE("the launches that ship are read, and each names what it is from") {
  const PublishedLaunches& launches = published_launches(sources().data);
  CHECK(launches.launches.size() > 40);
  for (const PublishedLaunch& launch : launches.launches) {
    CHECK_FALSE(launch.source.empty());
    CHECK_FALSE(launch.facts.empty());
  }
  RunRow r = row();
  r.source = "AIC silicon_sample (InferenceX/InferenceMAX dump)";
  r.serving.model = "Llama-3.1-70B";
  r.serving.engine = "TensorRT-LLM";
  r.serving.isl = r.serving.osl = 1024;
  const ServingConfiguration filled = launched(r, launches).run;
  CHECK(filled.options.at("batch_wait") == "20");
  CHECK(filled.options.at("max_num_tokens") == "16384");
  r.serving.tp = r.serving.gpus = 8;
  CHECK(launched(r, launches).run.options.count("batch_wait") == 0);  // eight ranks did not wait
}

TEST_CASE("launches of NVIDIA's gap analysis hold one prompt and the decodes an iteration, of places less what pads") {
  const PublishedLaunches& launches = published_launches(sources().data);
  RunRow r = row();
  r.source = "AIC silicon_sample (NVIDIA AIC gap-analysis run)";
  r.serving.model = "Qwen3-32B";
  r.serving.engine = "TensorRT-LLM";
  r.serving.engine_version = "1.0.0rc3";
  r.serving.max_batch = 8;
  const ServingConfiguration filled = launched(r, launches).run;
  CHECK(filled.options.at("max_num_tokens") == "2508");  // 1000 tokens of the prompt, 8 clients and 1500
  CHECK(filled.max_batch == 8);
  r.serving.model = "Llama-3.1-8B";
  CHECK(launched(r, launches).run.max_batch == 7);
  r.serving.engine_version = "1.2.0";
  CHECK(launched(r, launches).run.max_batch == 8);
  CHECK(launched(r, launches).run.options.count("max_num_tokens") == 0);
}

TEST_CASE("launches with drafts state how many tokens: fewer with attention-DP, and none for runs without") {
  const PublishedLaunches& launches = published_launches(sources().data);
  RunRow r = row();
  r.source = "AIC silicon_sample (InferenceX/InferenceMAX dump)";
  r.serving.model = "DeepSeek-R1";
  r.serving.engine = "TensorRT-LLM";
  r.serving.engine_version = "1.2.0rc6.post3";
  r.serving.tp = 8;
  CHECK(launched(r, launches).run.options.at("speculative") == "mtp");
  CHECK(launched(r, launches).run.options.at("draft_tokens") == "3");
  r.serving.tp = 1;
  CHECK(launched(r, launches).run.options.at("draft_tokens") == "1");
  r.serving.engine_version = "1.2.0rc6.post2";
  CHECK(launched(r, launches).run.options.count("draft_tokens") == 0);
}

TEST_CASE("launches of AMD's vLLM under MLPerf state its iterations of decodes alone, those of other engines none") {
  const PublishedLaunches& launches = published_launches(sources().data);
  RunRow r = row();
  r.source = "MLPerf Inference v6.0";
  r.serving.engine = "vLLM (AMD MLPerf harness)";
  r.serving.model = "Llama-2-70B";
  r.serving.gpu = "MI355X";
  r.serving.options = {{"scenario", "interactive"}};
  ServingConfiguration filled = launched(r, launches).run;
  CHECK(filled.options.at("decode_steps") == "6");
  CHECK(filled.options.count("decode_steps_from") == 0);
  r.serving.options["scenario"] = "server";
  filled = launched(r, launches).run;
  CHECK(filled.options.at("decode_steps") == "2");
  CHECK(filled.options.at("decode_steps_from") == "1216");
  r.serving.gpu = "MI300X";
  CHECK(launched(r, launches).run.options.at("decode_steps") == "9");
  r.serving.engine = "TensorRT-LLM (MLPerf harness)";
  CHECK(launched(r, launches).run.options.count("decode_steps") == 0);
}

TEST_CASE(
    "launches of MLPerf: prompts of balanced attention-DP wait, sets are those that were sent, articles are long") {
  const PublishedLaunches& launches = published_launches(sources().data);
  RunRow r = row();
  r.source = "MLPerf Inference v6.0";
  r.serving.engine = "TensorRT-LLM (MLPerf harness)";
  r.serving.model = "DeepSeek-R1";
  r.serving.gpu = "GB200";
  r.serving.concurrency.reset();
  r.serving.options = {{"scenario", "offline"}};
  r.notes = "system GB200-NVL72_GB200-186GB_aarch64x72_TRT; config CoreWeave/configs/GB200";
  ServingConfiguration filled = launched(r, launches).run;
  CHECK(filled.options.at("attention_dp_timeout") == "50");
  CHECK(filled.options.at("attention_dp_batching") == "10");
  CHECK(filled.options.at("set_of_requests") == "561664");
  r.notes = "system GB200-NVL72_GB200-186GB_aarch64x72_TRT; config Google/configs/GB200";
  CHECK(launched(r, launches).run.options.at("set_of_requests") == "210624");
  r.serving.options["scenario"] = "server";
  CHECK(launched(r, launches).run.options.at("attention_dp_timeout") == "9");
  r.serving.model = "GPT-OSS-120B";
  r.serving.isl.reset();
  filled = launched(r, launches).run;
  CHECK(filled.options.count("attention_dp_timeout") == 0);
  CHECK(filled.isl == 5011.0);
}

TEST_CASE("facts that exclude each other reject a row by name") {
  ServingRowModel model{sources()};
  RunRow r = row();
  r.serving.options["stream_interval"] = "101";
  RowPrediction p = model.predict(r);
  CHECK(p.status == RowStatus::rejected);
  CHECK(p.why.find("'stream_interval' is 101, above the answer's 100 tokens") != std::string::npos);
  r.serving.options["stream_interval"] = "100";
  CHECK(model.predict(r).status == RowStatus::ok);
  r.serving.options["distinct_prompts"] = "10";
  r.serving.options["prefix_caching"] = "0";
  CHECK(model.predict(r).status == RowStatus::rejected);
}

TEST_CASE("facts of the launch reach the answer: shorter prompts, prompts that come again, later looks") {
  ServingRowModel model{sources()};
  const auto predicted = [&](std::string_view metric, std::string_view key, std::string_view value) {
    RunRow r = row();
    r.metric = metric;
    if (!key.empty()) {
      r.serving.options[std::string{key}] = value;
    }
    return model.predict(r).predicted;
  };
  const auto beside = [&](RunRow r, std::string_view key, std::string_view value) {
    r.metric = "tpot_ms_mean";
    r.serving.options["mixed_chunks"] = "1";
    r.serving.options[std::string{key}] = value;
    return model.predict(r).predicted;
  };
  CHECK(predicted("ttft_ms_mean", "distinct_prompts", "10") < predicted("ttft_ms_mean", "", ""));
  CHECK(predicted("ttft_ms_mean", "distinct_prompts", "80") == near(predicted("ttft_ms_mean", "", "")));
  CHECK(beside(row(), "distinct_prompts", "10") < beside(row(), "stream_interval", "1"));
  CHECK(beside(row(), "distinct_prompts", "80") == near(beside(row(), "stream_interval", "1")));  // ten for each client
  // Eight equal prompts share one iteration of 8,192 tokens, and clients that start together end together: none waits
  // for another's prompt, which they do once chunks are mixed or lengths differ.
  CHECK(predicted("tpot_ms_mean", "distinct_prompts", "10") == near(predicted("tpot_ms_mean", "", "")));
  CHECK(predicted("tpot_ms_mean", "mixed_chunks", "1") > predicted("tpot_ms_mean", "", ""));
  CHECK(predicted("tpot_ms_mean", "range_ratio", "0.99") > predicted("tpot_ms_mean", "", ""));
  // Lengths between 0.8 of the nominal ones and all of them are 0.9 of them in the mean, and clients leave step, so
  // that prompts no longer come all at once. Tokens take as long as those of such lengths: less for the prompt's part,
  // and no less for the answer's, as shorter answers let prompts in between more often.
  CHECK(predicted("ttft_ms_mean", "range_ratio", "0.8") < predicted("ttft_ms_mean", "", ""));
  RunRow shorter = row();
  shorter.metric = "tpot_ms_mean";
  shorter.serving.isl = 900;
  CHECK(model.predict(shorter).predicted < predicted("tpot_ms_mean", "", ""));
  shorter.serving.osl = 90;
  // But for the prompts that share an iteration: all that it holds of clients in step, few of others.
  CHECK(beside(row(), "range_ratio", "0.8") == near(beside(shorter, "stream_interval", "1"), 0.05));
  // Clients of equal answers stay in step and meet an engine that idles, which looks at once.
  RunRow r = row();
  r.serving.options["range_ratio"] = "0.8";
  const double plain = model.predict(r).predicted;
  r.serving.options["recv_interval"] = "30";
  const double later = model.predict(r).predicted - plain;
  const double step = predicted("tpot_ms_mean", "", "");
  CHECK(later > 3 * step);
  CHECK(later < 30 * step);
}

TEST_CASE("a policy that a launch states schedules the simulated run, and one that is unknown is refused") {
  ServingRowModel model{sources()};
  RunRow r = row();
  r.metric = "output_tokens_per_s";
  r.unit = "tokens/s";
  r.serving.engine = "TensorRT-LLM";
  r.serving.engine_version = "0.12.0";
  r.serving.concurrency.reset();
  r.serving.isl = r.serving.osl = 2000;
  r.serving.options = {{"scenario", "offline"}, {"requests", "600"}};
  const double kept = model.predict(r).predicted;
  // Prompts are admitted before their answers have room: those that are put back compute what they had again.
  r.serving.options["scheduler"] = "tensorrt-llm-max-utilization";
  const RowPrediction paused = model.predict(r);
  REQUIRE(paused.status == RowStatus::ok);
  CHECK(paused.predicted < kept);
  r.serving.options["scheduler"] = "fastest";
  CHECK(model.predict(r).why == "options.scheduler is 'fastest', which is no scheduler that is simulated");
}

TEST_CASE("a layout that nobody published is the fastest that its GPUs hold, and widens the interval") {
  ServingRowModel model{sources()};
  RunRow r = row();
  r.metric = "output_tokens_per_s";
  r.unit = "tokens/s";
  r.serving.options["scenario"] = "offline";
  r.serving.concurrency.reset();
  r.serving.gpus = 8;
  r.serving.tp.reset();
  const RowPrediction open = model.predict(r);
  REQUIRE(open.status == RowStatus::ok);
  r.serving.tp = 1;
  const RowPrediction one = model.predict(r);
  r.serving.tp = 2;
  const RowPrediction two = model.predict(r);
  CHECK(open.predicted == one.predicted);  // an 8B is fastest as eight replicas
  CHECK(one.predicted > two.predicted);
  CHECK(open.low == std::min(one.low, two.low));
  CHECK(open.high == std::max(one.high, two.high));
  r.serving.tp.reset();
  r.serving.gpus.reset();
  CHECK(model.predict(r).why == "not published: tp");
}

TEST_CASE("a server that kept limits answers the highest rate at which it keeps them, and the times at that rate") {
  ServingRowModel model{sources()};
  RunRow r = row();
  ServingConfiguration& c = r.serving;
  c.engine = "TensorRT-LLM (MLPerf harness)";
  c.concurrency.reset();
  c.request_rate = 1e6;  // far more than it serves: the rate at the limits is not the rate that was sent
  c.options["scenario"] = "server";
  c.options["ttft_p99_ms"] = "2000";
  c.options["tpot_p99_ms"] = "200";
  const auto predicted = [&](std::string_view metric) {
    r.metric = metric;
    const RowPrediction p = model.predict(r);
    REQUIRE(p.status == RowStatus::ok);
    return p.predicted;
  };
  const double rate = predicted("requests_per_s");
  CHECK(rate > 1.0);
  CHECK(rate < 1e3);
  CHECK(predicted("output_tokens_per_s") == near(100 * rate));
  const double first = predicted("ttft_ms_p99") / 2000.0;
  const double each = predicted("tpot_ms_p99") / 200.0;
  CHECK(first <= 1.0);
  CHECK(each <= 1.0);
  CHECK(std::max(first, each) > 0.4);  // a twenty-fifth more breaks one of them in 600 s: queues are steep there
  CHECK(predicted("ttft_ms_p50") < predicted("ttft_ms_p90"));
  CHECK(predicted("ttft_ms_p90") < predicted("ttft_ms_p99"));
  c.options["tpot_p99_ms"] = "20";
  CHECK(predicted("requests_per_s") < rate);
  const double at_limits = predicted("ttft_ms_mean");
  c.request_rate = 0.5;  // what was sent followed from what the submitter's engine kept, and is no part of it
  CHECK(predicted("ttft_ms_mean") == at_limits);
  c.options["ttft_p99_ms"] = "1";  // which no rate keeps here, but did where the run was valid
  CHECK(predicted("ttft_ms_p99") == near(1.0));
}

TEST_CASE("chunks that are barely larger than a batch serve more where prompts may be split") {
  ServingRowModel model{sources()};
  RunRow r = row();
  r.metric = "requests_per_s";
  ServingConfiguration& c = r.serving;
  c.engine = "TensorRT-LLM (MLPerf harness)";
  c.concurrency.reset();
  c.isl = c.osl = 300;
  c.max_batch = 384;
  c.options["scenario"] = "interactive";
  c.request_rate = 10.0;
  c.options["max_num_tokens"] = "384";
  c.options["ttft_p99_ms"] = "450";
  c.options["tpot_p99_ms"] = "40";
  const auto rate = [&](const char* chunked) {
    c.options["chunked_prefill"] = chunked;
    const RowPrediction p = model.predict(r);
    REQUIRE(p.status == RowStatus::ok);
    return p.predicted;
  };
  // A prompt of 300 waits until 84 sequences decode at most, unless it is split.
  CHECK(rate("1") > 1.5 * rate("0"));
}

TEST_CASE("a row's chunks are 0, 1 or their tokens, also of an engine that splits prompts by default") {
  ServingRowModel model{sources()};
  RunRow r = row();
  ServingConfiguration& c = r.serving;
  c.engine = "vLLM";
  c.isl = 4000;
  c.concurrency = 64.0;
  c.options["max_num_tokens"] = "4096";
  const auto first_token = [&](const char* chunked) {
    c.options["chunked_prefill"] = chunked;
    const RowPrediction p = model.predict(r);
    REQUIRE(p.status == RowStatus::ok);
    return p.predicted;
  };
  const double split = first_token("1");
  CHECK(first_token("") == split);
  CHECK(first_token("4096") == split);
  CHECK(first_token("0") != split);
  for (const char* bad : {"true", "-1", "nan"}) {
    c.options["chunked_prefill"] = bad;
    const RowPrediction p = model.predict(r);
    CHECK(p.status == RowStatus::unsupported);
    CHECK(p.why.find("chunked_prefill") != std::string::npos);
  }
}

TEST_CASE("a set that has to last longer, and answers of several beams over one prompt") {
  ServingRowModel model{sources()};
  RunRow r = row();
  r.metric = "requests_per_s";
  r.unit = "requests/s";
  r.serving.concurrency.reset();
  r.serving.options["scenario"] = "offline";
  r.serving.options["set_of_requests"] = "300";
  const auto predicted = [&](std::string_view option, const std::string& value) {
    RunRow with = r;
    with.serving.options[std::string{option}] = value;
    const RowPrediction p = model.predict(with);
    REQUIRE(p.status == RowStatus::ok);
    return p.predicted;
  };
  const double few = predicted("beams", "1");
  CHECK(predicted("set_seconds", "600") > 1.2 * few);
  r.serving.options["set_seconds"] = "600";
  const double one = predicted("beams", "1");
  const double four = predicted("beams", "4");
  CHECK(four < 0.8 * one);
  CHECK(four > 0.25 * one);  // their prompt is computed once
}

TEST_CASE("GB300 of MLPerf v5.1 ran that round's TensorRT-LLM, whatever CUDA its container had, which is told") {
  RunRow r = row();
  r.source = "MLPerf Inference v5.1";
  r.serving.engine = "TensorRT-LLM (MLPerf harness)";
  r.serving.engine_version = "TensorRT 10.13, CUDA 13.0";
  r.serving.gpu = "GB300";
  const auto stack = [&](const LaunchedRow& filled) {
    return stack_of_release(serving_stacks(sources().data), filled.run.engine, filled.run.engine_version)->id;
  };
  const PublishedLaunches& launches = published_launches(sources().data);
  const LaunchedRow filled = launched(r, launches);
  CHECK(stack(filled) == "tensorrt-llm-mlperf-2025");
  CHECK(filled.assumed.find("in place of the row's 'TensorRT 10.13, CUDA 13.0'") != std::string::npos);
  r.source = "MLPerf Inference v6.0";
  r.serving.model = "Llama-2-70B";  // of those that run on compiled engines
  CHECK(stack(launched(r, launches)) == "tensorrt-llm-mlperf");
}

TEST_CASE("MLPerf v6.0: TensorRT-LLM's server and executor go by one name, and the launch tells which ran") {
  RunRow r = row();
  r.source = "MLPerf Inference v6.0";
  r.serving.engine = "TensorRT-LLM (MLPerf harness)";
  r.serving.engine_version = "TensorRT 10.14, CUDA 13.1";
  const auto stack = [&](std::string_view model) {
    r.serving.model = model;
    const LaunchedRow filled = launched(r, published_launches(sources().data));
    return stack_of_release(serving_stacks(sources().data), filled.run.engine, filled.run.engine_version)->id;
  };
  CHECK(stack("Llama-2-70B") == "tensorrt-llm-mlperf");
  CHECK(stack("GPT-OSS-120B") == "tensorrt-llm-mlperf-serve");
  CHECK(stack("Llama-3.1-8B") == "tensorrt-llm-mlperf-serve");
  CHECK(launched(r, published_launches(sources().data)).assumed.find("trtllm-serve") != std::string::npos);
  r.source = "MLPerf Inference v5.1";
  CHECK(stack("Llama-3.1-8B") != "tensorrt-llm-mlperf-serve");
}

TEST_CASE("a launch that asks for whole experts has as many expert ranks as tensor ranks, whatever the row says") {
  RunRow r = row();
  r.source = "InferenceX";
  r.serving.engine = "vLLM";
  r.serving.engine_version = "0.17.0";
  r.serving.model = "MiniMax-M2.5";
  r.serving.gpu = "B200-SXM";
  r.serving.tp = 4;
  r.serving.ep = 1;
  const LaunchedRow filled = launched(r, published_launches(sources().data));
  CHECK(filled.run.ep == 4);
  CHECK(filled.assumed.find("ep 4, of whole experts") != std::string::npos);
  r.serving.engine_version = "0.19.0";
  CHECK(launched(r, published_launches(sources().data)).run.ep == 1);
}

TEST_CASE("a range of mean prompts widens the interval by both of its ends") {
  ServingRowModel model{sources()};
  RunRow r = row();
  r.metric = "tpot_ms_mean";
  const RowPrediction stated = model.predict(r);
  r.serving.options["prompt_tokens_low"] = "100";
  r.serving.options["prompt_tokens_high"] = "4000";
  const RowPrediction open = model.predict(r);
  CHECK(open.predicted == stated.predicted);
  CHECK(open.low < stated.low);
  CHECK(open.high > stated.high);
}

TEST_CASE("requests that the publication's own files count replace a row's, which is told") {
  Diagnostics diagnostics;
  const PublishedLaunches launches = launches_of(
      "[[launch]]\nid = \"counted\"\nsources = "
      "[\"Dump\"]\nsent_requests = 100\nquantization = \"gptq\"\nsource = \"a test\"\n",
      diagnostics);
  REQUIRE(diagnostics.empty());
  RunRow one = row();
  one.serving.options["requests"] = "300";
  const LaunchedRow filled = launched(one, launches);
  CHECK(filled.run.options.at("requests") == "100");
  CHECK(filled.run.options.at("quantization") == "gptq");
  CHECK(filled.assumed == "requests 100 in place of the row's 300, quantization gptq (counted)");
  one.serving.options["requests"] = "100";
  CHECK(launched(one, launches).assumed == "quantization gptq (counted)");
}

TEST_CASE(
    "places that the publication's own script launched replace a row's, and a range of them widens the interval") {
  Diagnostics diagnostics;
  const PublishedLaunches launches = launches_of(
      "[[launch]]\nid = \"script\"\nsources = [\"Dump\"]\nlaunched_places = 4\nlaunched_places_low = 2\n"
      "launched_places_high = 8\nrequests_per_place = 10\nsource = \"a test\"\n",
      diagnostics);
  REQUIRE(diagnostics.empty());
  RunRow one = row();
  one.serving.max_batch = 512;
  one.serving.concurrency = 512.0;
  const LaunchedRow filled = launched(one, launches);
  CHECK(filled.run.max_batch == 4);
  CHECK(filled.run.options.at("requests") == "40");
  CHECK(filled.assumed.find("max_num_seqs 4") != std::string::npos);

  // A token of 4 sequences takes no longer than one of 512, and the interval holds that of 2 and of 8.
  ServingRowModel model{sources()};
  const auto tpot = [&](std::int64_t places, bool range) {
    ServingConfiguration run = filled.run;
    run.max_batch = places;
    for (const char* key : {"launched_places_low", "launched_places_high", "requests_per_place"}) {
      if (!range) {
        run.options.erase(key);
      }
    }
    return model.predict(run, "tpot_ms_mean", "ms");
  };
  const RowPrediction ranged = tpot(4, true);
  CHECK(ranged.predicted == tpot(4, false).predicted);
  CHECK(ranged.predicted < tpot(512, false).predicted);
  CHECK(ranged.low == std::min(tpot(2, false).low, tpot(4, false).low));
  CHECK(ranged.high == std::max(tpot(8, false).high, tpot(4, false).high));
}
