// SPDX-License-Identifier: Apache-2.0
// Questions as they are first typed: without a layout, with several loads, of images.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

const ConfigValue& at(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.find(key);
  REQUIRE_MESSAGE(value != nullptr, std::string{key});
  return *value;
}

ConfigValue json_of(const std::string& command, int code = 0) {
  const Run run = run_headroom(command + " --format json");
  REQUIRE_MESSAGE(run.code == code, run.err);
  return parse_json(run.out, "stdout");
}

}  // namespace

TEST_CASE("a 70B that is typed without tp and pp is searched, and fits") {
  const std::string asked = "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --seq-len 8192 --global-batch 1024";
  const ConfigValue found = json_of(asked);
  CHECK(at(found, "schema").text == "headroom.search/1");
  CHECK(at(at(found, "plan"), "verdict").text == "feasible");
  CHECK(at(found, "assumed").items.front().text.find("every layout was tried") != std::string::npos);
  // What is stated is priced as stated, whether it fits or not.
  const ConfigValue stated = json_of(asked + " --tp 1 --pp 1", 1);
  CHECK(at(stated, "schema").text == "headroom.plan/1");
  CHECK(at(stated, "verdict").text == "out_of_memory");
  // A model that one rank holds is planned on one rank, as ever.
  const ConfigValue small = json_of("plan --model gpt2 --gpu h100-sxm-80gb --gpus 8 --seq-len 1024 --global-batch 512");
  CHECK(at(small, "schema").text == "headroom.plan/1");
}

TEST_CASE("a served 70B that is typed without tp gets the tp that serves its load best") {
  const std::string asked =
      "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 256 --concurrency 64";
  const ConfigValue found = json_of(asked);
  CHECK(at(found, "schema").text == "headroom.box/1");
  const auto taken = static_cast<std::size_t>(at(found, "taken").integer);
  const ConfigValue& best = at(found, "points").items.at(taken);
  CHECK(at(best, "tp").integer > 1);
  CHECK(at(best, "in_flight").integer == 64);
  // 140 GB of weights in 16 bit lie on two GPUs at the least.
  CHECK(at(at(found, "left_out").items.front(), "changes").items.front().text == "strategy.tp=1");
}

TEST_CASE("a fixed load that states no GPUs gets the fewest that hold all its requests") {
  const std::string asked = "plan --model llama3.1-70b --gpu h100-sxm-80gb --isl 1024 --osl 256 --concurrency 64";
  const ConfigValue found = json_of(asked);
  // 141 GB of weights in 16 bit fill two GPUs of 85 GB but for no pool that surely holds 27 GB.
  CHECK(at(found, "gpus").integer == 4);
  CHECK(at(found, "tp").integer == 4);
  const Run told = run_headroom(asked);
  CHECK(told.out.find("hardware.gpus = 4 (not stated; the least power of two that surely holds all requests at once: "
                      "1 replica of tp 4, pp 1)") != std::string::npos);
  // Half as many do not surely hold them.
  const ConfigValue fewer = json_of(asked + " --gpus 2 --tp 2", 1);
  CHECK(at(fewer, "verdict").text != "feasible");
  // A stated layout takes as many replicas as hold the requests; of these 21 to 24 fit on one.
  const ConfigValue replicas = json_of(
      "plan --model llama3-8b --gpu l4 --tp 1 --isl 4096 --osl 512 --concurrency 64 --weights int4 --only memory");
  CHECK(at(replicas, "gpus").integer == 4);
  CHECK(at(replicas, "tp").integer == 1);
}

TEST_CASE("a curve over fixed loads asks for its number of GPUs") {
  const Run run = run_headroom("plan --model llama3-8b --gpu l4 --isl 1024 --osl 256 --concurrency '1..8 x2'");
  CHECK(run.code == 2);
  CHECK(run.err.find("missing key 'gpus' in [hardware], an integer: a curve over fixed loads is of a stated number of "
                     "GPUs; give --gpus") != std::string::npos);
}

TEST_CASE("several loads are a curve, whose taken point the plan shows in full") {
  const std::string asked =
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 4 --isl 1024 --osl 256 --concurrency '1..128 x2' "
      "--set 'slo.tpot_mean=20 ms'";
  const ConfigValue curve = json_of(asked);
  CHECK(at(curve, "combinations").integer == 4);
  CHECK(at(curve, "points").items.size() == 4 * 8 - 8);  // tp 8 is more than the GPUs
  const auto taken = static_cast<std::size_t>(at(curve, "taken").integer);
  const ConfigValue& best = at(curve, "points").items.at(taken);
  CHECK(at(at(best, "tpot_s"), "mid").number == at(at(at(curve, "plan"), "tpot_s"), "mid").number);
  const Run text = run_headroom(asked);
  CHECK(text.out.find("Pareto front") != std::string::npos);
  CHECK(text.out.find("take ") != std::string::npos);
  CHECK(run_headroom(asked + " --set slo.tpot_mean=1us").code == 1);
  CHECK(run_headroom(asked + " --format html").out.find("Throughput against latency") != std::string::npos);
}

TEST_CASE("a list where an option takes one value holds plans side by side, each as it is asked alone") {
  const std::string rest = "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --osl 128 --concurrency 8 ";
  const ConfigValue both = json_of(rest + "--isl 512,4k");
  const std::vector<ConfigValue>& plans = at(both, "plans").items;
  REQUIRE(plans.size() == 2);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ConfigValue alone = json_of(rest + (i == 0 ? "--isl 512" : "--isl 4096"));
    CHECK(at(plans[i], "output_tokens_per_s").number == at(at(alone, "output_tokens_per_s"), "mid").number);
  }
  const Run many = run_headroom(rest + "--isl 1..1000");
  CHECK(many.code == 2);
  CHECK(many.err.find("make more than 100 questions") != std::string::npos);
  const ConfigValue fleets = json_of(
      "plan --model llama3-8b --gpu h100-sxm-80gb --tp 1 --isl 512,1024 --osl 128 --rate '2 req/s' --set "
      "traffic.requests=200");
  CHECK(at(fleets, "schema").text == "headroom.compare_fleets/1");
  CHECK(at(fleets, "fleets").items.size() == 2);
}

TEST_CASE("images are trained in micro-batches that fill a GPU, and are told a second") {
  const std::string asked = "plan --model vit-b-16 --gpu a100-sxm-80gb --gpus 8 --global-batch 4096";
  const ConfigValue plan = json_of(asked);
  CHECK(at(at(plan, "strategy"), "micro_batch").integer > 8);
  // timm's published training rates of ViT-B/16 on an A100 with mixed precision: 400 to 1,400 images/s a GPU.
  const double rate = 4096.0 / at(at(plan, "step_time_s"), "mid").number / 8.0;
  CHECK(rate > 400.0);
  CHECK(rate < 1400.0);
  CHECK(run_headroom(asked).out.find("images/s") != std::string::npos);
}

TEST_CASE("a model larger than one host gets stages where the layout is open, with a fixed load and with traffic") {
  // Llama 3.1 405B in 16 bit: 812 GB of weights, more than eight GPUs of 85 GB hold.
  for (const std::string model : {"llama3.1-405b", "deepseek-v3"}) {
    CAPTURE(model);
    const ConfigValue found =
        json_of("plan --model " + model + " --gpu h100-sxm-80gb --gpus 16 --isl 2k --osl 300 --concurrency 32");
    CHECK(at(found, "schema").text == "headroom.box/1");
    const auto taken = static_cast<std::size_t>(at(found, "taken").integer);
    const ConfigValue& best = at(found, "points").items.at(taken);
    CHECK(at(best, "pp").integer > 1);
    CHECK(at(best, "tp").integer * at(best, "pp").integer == 16);
  }
  const ConfigValue fleet = json_of(
      "plan --model llama3.1-405b --gpu h100-sxm-80gb --isl 2k --osl 300 --rate '1 req/s' --set traffic.requests=200");
  CHECK(at(at(fleet, "options").items.front(), "pp").integer > 1);
  // A model that fits a host is looked at without stages.
  const ConfigValue small =
      json_of("plan --model llama3-70b --gpu h100-sxm-80gb --gpus 16 --isl 1024 --osl 256 --concurrency 64");
  for (const ConfigValue& point : at(small, "points").items) {
    CHECK(at(point, "pp").integer == 1);
  }
}

TEST_CASE("GPUs that hold the model in no layout are told so of every layout, with the change that helps") {
  const Run run =
      run_headroom("plan --model llama3.1-405b --gpu h100-sxm-80gb --gpus 8 --isl 2k --osl 300 --concurrency 32");
  CHECK(run.code == 1);
  CHECK(run.out.find("no layout of 4 can be answered") != std::string::npos);
  CHECK(run.out.find("smallest change that fits: hardware.gpus = 16, strategy.tp = 8, strategy.pp = 2") !=
        std::string::npos);
  const Run stated =
      run_headroom("plan --model llama3.1-405b --gpu h100-sxm-80gb --tp 8 --isl 2k --osl 300 --rate '1 req/s'");
  CHECK(stated.code == 1);
  CHECK(stated.out.find("no fleet: of 1 way to serve it none holds the model; does not fit: needs ") !=
        std::string::npos);
  CHECK(stated.out.find("strategy.pp = 2") != std::string::npos);
}

TEST_CASE("the text of a long curve is a page: a front of twenty rows, ten settings, the rest is counted") {
  const std::string rest = "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 256 --concurrency ";
  const std::string several = "'1..512 step 8' --search kv_cache=any --search max_num_seqs=64,128,256,512";
  for (const std::string& loads : {std::string{"1..512"}, several}) {
    CAPTURE(loads);
    const Run run = run_headroom(rest + loads);
    CHECK(run.code == 0);
    CHECK(std::count(run.out.begin(), run.out.end(), '\n') < 120);
    CHECK(run.out.find("more points of the front: all of them with --format json") != std::string::npos);
    CHECK(run.out.find("  taken") != std::string::npos);
    CHECK(run.out.find("most of each") != std::string::npos);
    CHECK((loads != several ||
           run.out.find("more layouts and settings: all of them with --format json") != std::string::npos));
  }
}

TEST_CASE("an open training layout is answered in its first lines: the model, what to take, whether it fits") {
  const Run run =
      run_headroom("plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --seq-len 8192 --global-batch 1024");
  std::istringstream lines{run.out};
  std::string line;
  std::getline(lines, line);
  CHECK(line.starts_with("Llama 3 70B on 512 x h100-sxm-80gb, bf16"));
  std::getline(lines, line);
  CHECK(line.starts_with("take tp "));
  std::getline(lines, line);
  CHECK(line.starts_with("fits: "));
  CHECK(line.find("with probability") != std::string::npos);
}

TEST_CASE("a value of a list that has no answer is told with its reason beside the others") {
  const std::string rest = "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --osl 128 --concurrency 8 --isl ";
  const Run run = run_headroom(rest + "1k,4k,128k");
  CHECK(run.code == 0);
  CHECK(run.out.find("-  isl 128k: no answer\n   isl + osl = 131200, beyond the 8192 positions") != std::string::npos);
  const ConfigValue both = json_of(rest + "1k,128k");
  CHECK(at(both, "plans").items.size() == 1);
  CHECK(at(at(both, "refused").items.front(), "why").text.find("beyond the 8192 positions") != std::string::npos);
  const Run none = run_headroom(rest + "32k,128k");
  CHECK(none.code == 2);
  CHECK(none.err.find("131200") != std::string::npos);
}

TEST_CASE("what people type is taken as they mean it, or explained") {
  const std::string served = "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 1024 --osl 128 ";
  const std::string rest = served + "--concurrency 8 ";
  CHECK(at(json_of(rest + "--search weights=fp8,bf16"), "combinations").integer == 8);
  CHECK(at(json_of(rest + "--tp 1 --search max_num_tokens=2048,8192"), "combinations").integer == 2);
  CHECK(at(json_of("plan --model mixtral-8x7b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 128 --concurrency 8 "
                   "--search any"),
           "combinations")
            .integer == 4 * 3 * 4);
  CHECK(at(json_of(rest + "--search any"), "combinations").integer == 4 * 3);  // no experts
  const ConfigValue priced = json_of(rest + "--price 2.99");
  CHECK(at(priced, "price_usd_per_s_per_gpu").number == doctest::Approx(2.99 / 3600.0));
  CHECK(at(json_of(rest + "--confidence 90%"), "asked_probability").number == doctest::Approx(0.9));
  const auto refused = [](const std::string& command) {
    const Run run = run_headroom(command);
    CHECK(run.code == 2);
    return run.err;
  };
  CHECK(refused("plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 1,024 --osl 128 --concurrency 8")
            .find("for the one number write 1024") != std::string::npos);
  CHECK(refused(served + "--concurrency 512..1").find("it runs upward, \"1..512\"") != std::string::npos);
  for (const auto& [family, id] : {std::pair<std::string, std::string>{"llama3", "llama3-8b"},
                                   {"llama-70b", "llama3.1-70b"},
                                   {"mixtral", "mixtral-8x22b and mixtral-8x7b"},
                                   {"qwen", "qwen2.5-72b"},
                                   {"deepseek", "deepseek-v3"}}) {
    const std::string said = refused("plan --model " + family + " --gpu h100-sxm-80gb --gpus 8 --seq-len 4096");
    CAPTURE(said);
    CHECK(said.find("is a family: it comes as ") != std::string::npos);
    CHECK(said.find(id) != std::string::npos);
    CHECK(said.find("say which") != std::string::npos);
  }
  CHECK(refused("plan --model acme/Big-13B --gpu h100-sxm-80gb --gpus 8 --seq-len 4096")
            .find("no preset has the network of 'acme/Big-13B'") != std::string::npos);
  const std::string launch =
      "export --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 1024 --osl 128 --concurrency 8 --to ";
  CHECK(run_headroom(launch + "ray").out == run_headroom(launch + "ray-serve").out);
  CHECK(run_headroom(launch + "ray").code == 0);
}

TEST_CASE("plan takes promises and compare takes --set, as the other does") {
  const std::string served = "--model llama3-8b --gpu h100-sxm-80gb --gpus 1 --tp 1 --isl 1024 --osl 128 ";
  const ConfigValue kept = json_of("plan " + served + "--concurrency 8 --ttft '5.5 s' --tpot '1.5 s'");
  CHECK(at(kept, "tpot_mean_limit_s").number == doctest::Approx(1.5));
  CHECK(at(kept, "ttft_mean_limit_s").number == doctest::Approx(5.5));
  CHECK(run_headroom("plan " + served + "--concurrency 8 --tpot '1 us'").code == 1);
  const std::string trained =
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 8 --seq-len 8192 --global-batch 64 --tokens 1T --search any ";
  CHECK(run_headroom(trained + "--deadline '1 h'").code == 1);
  const ConfigValue both =
      json_of("compare scenarios/serve/llama3-70b.toml scenarios/serve/llama3-70b.toml --set serving.osl=100");
  const ConfigValue alone = json_of("plan scenarios/serve/llama3-70b.toml --set serving.osl=100");
  CHECK(at(at(both, "plans").items.front(), "output_tokens_per_s").number ==
        at(at(alone, "output_tokens_per_s"), "mid").number);
}
