// SPDX-License-Identifier: Apache-2.0
// The JSON of a fleet, and the rates that its page adds.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

using namespace headroom;
using namespace headroom::test;

namespace {

const ConfigValue& at(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.find(key);
  REQUIRE_MESSAGE(value != nullptr, std::string{key});
  return *value;
}

double number(const ConfigValue& object, std::string_view key) {
  const ConfigValue& value = at(object, key);
  REQUIRE((value.kind == ConfigValue::Kind::number || value.kind == ConfigValue::Kind::integer));
  return value.kind == ConfigValue::Kind::number ? value.number : static_cast<double>(value.integer);
}

/// A document inside a page.
ConfigValue document_of(const std::string& page, const std::string& name) {
  const std::string open = "<script type=\"application/json\" data-document=\"" + name + "\">";
  const std::size_t start = page.find(open);
  REQUIRE(start != std::string::npos);
  const std::size_t end = page.find("</script>", start);
  return parse_json(page.substr(start + open.size(), end - start - open.size()), name);
}

/// GPU-hours that following the load takes fewer than the fixed fleet.
double saved(const ConfigValue& day) {
  return number(at(day, "fixed"), "gpu_hours") - number(at(day, "following"), "gpu_hours");
}

const std::string fleet = "plan scenarios/serve/llama3-70b-fleet.toml --set traffic.requests=1000 --set confidence=0.9";

}  // namespace

TEST_CASE("the tightest promise is the one that takes most of its limit at the slow end") {
  const Run run = run_headroom(fleet + " --format json");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const ConfigValue json = parse_json(run.out, "fleet");
  double most = 0.0;
  std::string name;
  for (const ConfigValue& promise : at(json, "promises").items) {
    const double share = number(at(promise, "reached_s"), "high") / number(promise, "limit_s");
    name = share > most ? at(promise, "promise").text : name;
    most = std::max(most, share);
  }
  const ConfigValue& tightest = at(at(json, "options").items.front(), "tightest_promise");
  CHECK(at(tightest, "promise").text == name);
  CHECK(at(tightest, "class").text == "all");
  CHECK(number(tightest, "of_limit_share") == near(most));
  CHECK(most > 0.0);
  CHECK(most <= 1.0);  // it keeps them
}

TEST_CASE("a fleet is taken when each promise is kept at the slow end, of each the middle is said apart") {
  const Run taken = run_headroom(fleet + " --format json");
  REQUIRE_MESSAGE(taken.code == 0, taken.err);
  const ConfigValue json = parse_json(taken.out, "fleet");
  CHECK(at(json, "feasible").boolean);
  const ConfigValue& best = at(json, "options").items.front();
  const double middle = number(at(best, "at_middle"), "replicas");
  CHECK(middle < number(at(best, "sized"), "replicas"));
  CHECK(at(json, "middle_text").text.starts_with("at the middle "));
  const auto judged = [](const ConfigValue& answer, const char* member) {
    bool all = true;
    for (const ConfigValue& promise : at(answer, "promises").items) {
      const bool high = number(at(promise, "reached_s"), "high") <= number(promise, "limit_s");
      const bool mid = number(at(promise, "reached_s"), "mid") <= number(promise, "limit_s");
      CHECK(at(promise, "kept").boolean == mid);
      CHECK(at(promise, "kept_at_slow_end").boolean == high);
      all = all && at(promise, member).boolean;
    }
    return all;
  };
  CHECK(judged(json, "kept_at_slow_end"));
  // As many as the middle takes, and no more, are kept at the middle alone: no recommendation, and what would be.
  const Run few = run_headroom(fleet + " --format json --set fleet.replicas=" + std::to_string(std::lround(middle)));
  CHECK(few.code == 1);
  const ConfigValue missed = parse_json(few.out, "fleet");
  CHECK_FALSE(at(missed, "feasible").boolean);
  CHECK_FALSE(judged(missed, "kept_at_slow_end"));
  CHECK(judged(missed, "kept"));
  CHECK(at(missed, "verdict_text").text.find("at the slow end") != std::string::npos);
  CHECK(at(missed, "way_out").text.find("such replicas") != std::string::npos);
}

TEST_CASE("a fleet that answers nothing has no load, no energy and no number that would be enough") {
  const std::string slow =
      "plan --model llama3-8b --gpu h100-sxm-80gb --tp 1 --isl 500 --osl 7000 --rate '10 req/d' --set "
      "serving.speculative.draft=3 --set serving.speculative.acceptance=0.5 --set 'serving.speculative.draft_time=1 h'";
  const Run run = run_headroom(slow);
  CHECK(run.code == 1);
  CHECK(run.out.find("answers nothing: ") != std::string::npos);
  CHECK(run.out.find("nothing is answered\n") != std::string::npos);
  for (const char* nonsense : {"energy", "0 J", "- %", "0 req/s at which", "fast end"}) {
    CHECK_MESSAGE(run.out.find(nonsense) == std::string::npos, nonsense);
  }
  const Run document = run_headroom(slow + " --format json");
  CHECK(document.out.find("j_per_million_output_tokens") == std::string::npos);
  const ConfigValue json = parse_json(document.out, "fleet");
  const ConfigValue& option = at(json, "options").items.front();
  CHECK(at(at(option, "replicas_needed"), "low").kind == ConfigValue::Kind::null);
  CHECK(at(at(option, "sized"), "load_share").kind == ConfigValue::Kind::null);
}

TEST_CASE("ways that differ in their price list or in who prefills say so") {
  const std::string lists =
      "plan --model llama3-8b --gpu h100-sxm-80gb --tp 1 --isl 512 --osl 128 --rate '10 req/s' --set "
      "traffic.requests=200 --search 'prices=[\"lambda-2026-08\", \"nebius-2026-08\"]'";
  const Run prices = run_headroom(lists);
  CHECK_MESSAGE(prices.code == 0, prices.err);
  // What they share stands in a line above.
  CHECK(prices.out.find("  alike in all: h100-sxm-80gb, tp 1, vLLM, weights ") != std::string::npos);
  for (const char* list : {"\n  prices lambda-2026-08 ", "\n  prices nebius-2026-08 "}) {
    CHECK_MESSAGE(prices.out.find(list) != std::string::npos, list);
  }
  // The document has the same words, and the page shows them.
  const ConfigValue json = parse_json(run_headroom(lists + " --format json").out, "fleet");
  const std::string page = run_headroom(lists + " --format html").out;
  REQUIRE(at(json, "options").items.size() == 2);
  const std::string& taken = at(at(json, "options").items.front(), "option_text").text;
  CHECK(at(json, "verdict_text").text.find(taken) != std::string::npos);
  for (const ConfigValue& option : at(json, "options").items) {
    const std::string& words = at(option, "option_text").text;
    CHECK_MESSAGE(page.find(">" + words + "</th>") != std::string::npos, words);
    CHECK(words.ends_with(", prices " +
                          at(option, "changes").items.back().text.substr(std::string{"money.prices="}.size())));
  }
  const Run apart = run_headroom(fleet + " --set fleet.prefill.tp=4 --set 'fleet.prefill.link=50 GB/s'");
  CHECK_MESSAGE((apart.code == 0 || apart.code == 1), apart.err);
  CHECK(apart.out.find("(prompts apart on ") != std::string::npos);
  CHECK(apart.out.find(" of tp 4)") != std::string::npos);
}

TEST_CASE("the day of a fleet that follows its load: its mean, its peak, its dollars, the hours that are free") {
  const Run run = run_headroom("plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000 --format json");
  REQUIRE_MESSAGE((run.code == 0 || run.code == 1), run.err);
  const ConfigValue json = parse_json(run.out, "fleet");
  const ConfigValue& day = at(json, "autoscaling");
  CHECK(number(day, "period_s") == 86400.0);
  const double price = number(at(json, "money"), "price_usd_per_s_per_gpu");
  for (const char* way : {"fixed", "following"}) {
    CHECK(number(at(day, way), "cost_usd") == near(3600.0 * price * number(at(day, way), "gpu_hours")));
  }
  const double fixed = number(at(day, "fixed"), "most_replicas");
  double sum = 0.0;
  double peak = 0.0;
  double idle = 0.0;
  const std::vector<ConfigValue>& curve = at(day, "curve").items;
  REQUIRE(curve.size() == 96);
  for (const ConfigValue& point : curve) {
    const double rate = number(point, "rate_requests_per_s");
    sum += rate;
    peak = std::max(peak, rate);
    CHECK(number(point, "fixed_replicas") == fixed);
    CHECK(number(point, "following_replicas") <= number(point, "following_paid_replicas"));
    CHECK(number(point, "floor_replicas") <= fixed);
    const double gpus = number(day, "gpus_per_replica");
    for (const std::string way : {"fixed", "following", "following_paid", "floor"}) {
      CHECK(number(point, (way + "_gpus").c_str()) == gpus * number(point, (way + "_replicas").c_str()));
    }
    idle += std::max(0.0, 1.0 - number(point, "following_paid_replicas") / fixed);
  }
  CHECK(sum / 96.0 == doctest::Approx(40.0).epsilon(1e-3));  // the scenario's mean
  CHECK(peak == doctest::Approx(1.8 * 40.0).epsilon(1e-3));  // and its peak over it
  // Of every minute instead of every quarter of an hour.
  CHECK(number(day, "freed_gpu_hours") ==
        doctest::Approx(idle / 96.0 * number(at(day, "fixed"), "gpu_hours")).epsilon(0.02));
  CHECK(saved(day) == near(number(day, "freed_gpu_hours") - number(day, "above_gpu_hours"), 1e-6));
  // What no autoscaler goes below takes no more than the fleet of its peak, and no fewer hours than the simulated
  // lowest.
  const double floor = number(at(day, "floor"), "gpu_hours");
  CHECK(floor < number(at(day, "fixed"), "gpu_hours"));
  CHECK(floor > 24.0 * number(day, "gpus_per_replica") * number(at(day, "floor_sizes").items.front(), "replicas"));
  CHECK(at(day, "floor_sizes").items.size() == 4);
  CHECK(number(day, "cold_start_s") == 300.0);
  // The text has the same in twelve rows, of each the most.
  const Run text = run_headroom("plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000");
  std::istringstream lines{text.out.substr(text.out.find("  from "))};
  std::string line;
  std::getline(lines, line);
  for (const std::string_view column : {"req/s, at most", "GPUs at the floor", "following", "fixed"}) {
    CHECK(line.find(column) != std::string::npos);
  }
  std::size_t rows = 0;
  std::string largest;
  while (std::getline(lines, line) && !line.empty() && line.find("following the load") == std::string::npos) {
    ++rows;
    largest = std::max(largest, line.substr(line.rfind(' ') + 1));
  }
  CHECK(rows == 12);
  CHECK(std::stod(largest) == number(curve.front(), "fixed_gpus"));
}

TEST_CASE("a fleet that follows too late to give anything back frees no hours of the fixed one") {
  const std::string late =
      "plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000 --set "
      "'fleet.autoscale.cold_start=3 d'";
  const Run text = run_headroom(late);
  CHECK(text.out.find("following the load saves ") == text.out.find("following the load saves nothing"));
  CHECK(text.out.find("are free for other work") == std::string::npos);
  const Run run = run_headroom(late + " --format json");
  const ConfigValue day = at(parse_json(run.out, "fleet"), "autoscaling");
  const ConfigValue& following = at(day, "following");
  CHECK(number(day, "freed_gpu_hours") == 0.0);
  CHECK(number(following, "gpu_hours") > number(at(day, "fixed"), "gpu_hours"));
  constexpr double gpus = 4.0;  // of a replica
  CHECK(number(following, "gpu_hours") <= 24.0 * gpus * number(following, "most_replicas") * (1.0 + 1e-9));
  CHECK(saved(day) == near(-number(day, "above_gpu_hours"), 1e-6));
}

TEST_CASE("following that costs more hours and keeps more promises is no saving that failed, and tells its replicas") {
  const std::string few = "plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000 --set fleet.replicas=6";
  const Run text = run_headroom(few);
  CHECK(text.code == 1);
  const ConfigValue day = at(parse_json(run_headroom(few + " --format json").out, "fleet"), "autoscaling");
  const ConfigValue& following = at(day, "following");
  // 6 replicas saturate below the peak: most of the day's requests come while they are behind.
  CHECK(number(at(day, "fixed"), "most_replicas") == 6.0);
  CHECK(number(at(day, "fixed"), "missed_share") > 0.5);
  CHECK(number(following, "missed_share") < 0.05);
  REQUIRE(number(following, "most_replicas") > 6.0);
  CHECK(saved(day) < 0.0);
  CHECK(saved(day) == near(number(day, "freed_gpu_hours") - number(day, "above_gpu_hours"), 1e-6));
  CHECK(number(day, "freed_gpu_hours") > 0.0);  // at night
  CHECK(at(day, "fixed_is_stated").boolean);

  const auto most = static_cast<int>(number(following, "most_replicas"));
  CHECK(text.out.find("saves nothing") == std::string::npos);
  CHECK(text.out.find("fixed, as stated") != std::string::npos);
  for (const std::string& said : {std::string{"following the load costs "}, std::string{" are free for other work"},
                                  std::string{"it keeps what is promised to more requests: "},
                                  "it takes up to " + std::to_string(most) + " replicas, " + std::to_string(most - 6) +
                                      " more than are stated"}) {
    CHECK_MESSAGE(text.out.find(said) != std::string::npos, said);
  }
  const std::string page = run_headroom(few + " --format html").out;
  REQUIRE(at(day, "following_texts").items.size() == 3);
  for (const ConfigValue& sentence : at(day, "following_texts").items) {
    CHECK_MESSAGE(text.out.find("  " + sentence.text + "\n") != std::string::npos, sentence.text);
    CHECK_MESSAGE(page.find("<p class=\"note\">" + sentence.text + "</p>") != std::string::npos, sentence.text);
  }
}

TEST_CASE("following that costs more hours and keeps fewer promises saves nothing") {
  const std::string slow =
      "plan scenarios/serve/llama3-70b-day.toml --set traffic.requests=1000 --set fleet.replicas=12 --set "
      "'fleet.autoscale.cold_start=6 h'";
  const Run text = run_headroom(slow);
  const ConfigValue day = at(parse_json(run_headroom(slow + " --format json").out, "fleet"), "autoscaling");
  REQUIRE(saved(day) < 0.0);
  REQUIRE(number(at(day, "following"), "missed_share") > number(at(day, "fixed"), "missed_share"));
  CHECK(text.out.find("following the load saves nothing: it takes ") != std::string::npos);
  CHECK(text.out.find("it keeps what is promised to fewer requests: ") != std::string::npos);
  CHECK(saved(day) == near(number(day, "freed_gpu_hours") - number(day, "above_gpu_hours"), 1e-6));
}

TEST_CASE("at the asked rate the page's other rates are the answer's, and beyond the knee a promise is missed") {
  const Run run = run_headroom(fleet + " --format html");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  const ConfigValue answer = document_of(run.out, "fleet");
  const ConfigValue load = document_of(run.out, "load");
  const ConfigValue& sized = at(at(answer, "options").items.front(), "sized");
  CHECK(number(load, "saturation_requests_per_s") == number(sized, "saturation_requests_per_s"));
  const double knee = number(load, "knee_requests_per_s");
  std::size_t asked = 0;
  double last = 0.0;
  for (const ConfigValue& point : at(load, "points").items) {
    const double rate = number(point, "rate_requests_per_s");
    CHECK(rate >= last);
    last = rate;
    if (at(point, "asked").boolean) {
      ++asked;
      CHECK(rate == number(answer, "peak_requests_per_s"));
      CHECK(number(point, "ttft_p95_s") == number(at(sized, "ttft_s"), "p95"));
      CHECK(number(point, "tpot_p50_s") == number(at(sized, "tpot_s"), "p50"));
      CHECK(number(point, "good_share") == number(sized, "good_share"));
    }
    bool kept = true;
    for (const ConfigValue& promise : at(answer, "promises").items) {
      const bool first = at(promise, "promise").text == "ttft_p95";
      kept = kept && number(point, first ? "ttft_p95_s" : "tpot_p95_s") <= number(promise, "limit_s");
    }
    // The knee is to a hundredth of the saturation, and tails of a thousand requests rise and fall by as much.
    const double tail = 0.02 * number(load, "saturation_requests_per_s");
    CHECK((rate > knee - tail || kept));
    CHECK((rate < knee + tail || !kept));
  }
  CHECK(asked == 1);
  CHECK(last == number(load, "saturation_requests_per_s"));
}

TEST_CASE("the quick form fixes no format that --search frees") {
  const Run serving = run_headroom(
      "plan --model llama3-8b --gpu h100-sxm-80gb --tp 1 --isl 512 --osl 128 --rate '10 req/s' --set "
      "traffic.requests=200 --search 'weights=[\"bf16\",\"fp8\"]'");
  CHECK_MESSAGE(serving.code == 0, serving.err);
  for (const char* way : {"\n  weights bf16  ", "\n  weights fp8  "}) {
    CHECK_MESSAGE(serving.out.find(way) != std::string::npos, way);
  }
  const Run training = run_headroom(
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 8 --seq-len 4096 --global-batch 64 --search "
      "'precision=[\"bf16\",\"fp8\"]'");
  CHECK_MESSAGE(training.code == 0, training.err);
  for (const char* way : {"precision bf16", "precision fp8"}) {
    CHECK_MESSAGE(training.out.find(way) != std::string::npos, way);
  }
}
